//! Text to tokens and back, built from a GGUF file's own metadata.

use std::collections::HashMap;
use std::ops::Range;

use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior};

use crate::gguf::Gguf;
use crate::{LmError, Segment, Segments};

/// What a file has to be converted with so that it holds a whole tokenizer.
const CONVERSION: &str =
    "convert the model anew with llama.cpp's converter, which writes the tokenizer into the file";

/// How text is cut into pieces before byte-pair encoding, by the name in `tokenizer.ggml.pre`.
enum Pieces {
    /// GPT-2's rule.
    Gpt2,
    /// Digits one by one, then GPT-2's rule.
    DigitsThenGpt2,
    /// A rule of the model's own, as a regular expression.
    Pattern(&'static str),
}

/// The rules that this engine knows. The patterns are those that the models were trained with.
fn pieces(pre: &str) -> Option<Pieces> {
    Some(match pre {
        "gpt-2" => Pieces::Gpt2,
        "smollm" => Pieces::DigitsThenGpt2,
        "llama-bpe" | "llama3" | "llama-v3" => Pieces::Pattern(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        _ => return None,
    })
}

const KNOWN_PIECES: &str = "gpt-2, smollm, llama-bpe";

/// GGUF's token types that are written only by a template, never by a person.
const CONTROL: f64 = 3.0;
const USER_DEFINED: f64 = 4.0;

/// A model's tokenizer.
///
/// The byte-pair encoder knows no special tokens at all: text of a person goes through it alone, so no
/// spelling in it can become one (P4). Special tokens are found by this type, in template text only.
pub struct Tokenizer {
    encoder: tokenizers::Tokenizer,
    /// Special tokens by spelling, longest spelling first.
    special: Vec<(String, u32)>,
    /// Bytes of each token.
    bytes: Vec<Vec<u8>>,
    begin: Option<u32>,
    add_begin: bool,
    ends: Vec<u32>,
}

impl Tokenizer {
    /// Builds it from the file's metadata.
    ///
    /// # Errors
    /// [`LmError::MissingKey`] names the key that is absent (P45); [`LmError::Unsupported`] the kind of
    /// tokenizer; [`LmError::Damaged`] what does not fit together.
    pub fn read(gguf: &Gguf, vocabulary: usize) -> Result<Self, LmError> {
        let unsupported = |what: String, instead: &str| LmError::Unsupported {
            name: gguf.name.clone(),
            what,
            instead: instead.to_owned(),
        };
        let kind = gguf.required("tokenizer.ggml.model", gguf.text("tokenizer.ggml.model")?, CONVERSION)?;
        if kind != "gpt2" {
            return Err(unsupported(
                format!("the tokenizer \"{kind}\""),
                "choose a model with byte-pair encoding (\"gpt2\"), for example SmolLM2 or Llama 3",
            ));
        }
        let pre = gguf.text("tokenizer.ggml.pre")?.unwrap_or("gpt-2");
        let Some(pieces) = pieces(pre) else {
            return Err(unsupported(
                format!("the pre-tokenizer \"{pre}\""),
                &format!("choose a model whose file says one of: {KNOWN_PIECES}"),
            ));
        };
        let tokens_key = "tokenizer.ggml.tokens";
        let tokens = gguf.required(tokens_key, gguf.texts(tokens_key)?, CONVERSION)?;
        if tokens.len() != vocabulary {
            return Err(gguf.damaged(
                tokens_key,
                format!("{} tokens for an embedding table of {vocabulary} rows", tokens.len()),
            ));
        }
        let merges_key = "tokenizer.ggml.merges";
        let merges = gguf.required(merges_key, gguf.texts(merges_key)?, CONVERSION)?;
        // Without the types every special token of the template would be read as ordinary text.
        let types_key = "tokenizer.ggml.token_type";
        let types = gguf.required(types_key, gguf.numbers(types_key)?, CONVERSION)?;
        if types.len() != vocabulary {
            return Err(gguf.damaged(types_key, format!("{} types for {vocabulary} tokens", types.len())));
        }

        let ids: HashMap<&str, u32> =
            tokens.iter().zip(0u32..).map(|(token, id)| (token.as_str(), id)).collect();
        let alphabet = byte_alphabet();
        // Rare control bytes are absent from real vocabularies (SmolLM2's lacks some) and are dropped from
        // text, as the models' own tokenizers do; without ASCII no question could be asked.
        for letter in (b' '..=b'~').chain([b'\n']).map(|byte| alphabet[usize::from(byte)]) {
            if !ids.contains_key(letter.encode_utf8(&mut [0; 4]) as &str) {
                return Err(gguf.damaged(tokens_key, format!("it lacks the byte token \"{letter}\"")));
            }
        }
        let mut pairs = Vec::with_capacity(merges.len());
        for (index, merge) in merges.iter().enumerate() {
            // A space inside a token is written as another letter, so the first space parts the two.
            let pair = merge.split_once(' ').filter(|(a, b)| {
                ids.contains_key(a) && ids.contains_key(b) && ids.contains_key(format!("{a}{b}").as_str())
            });
            match pair {
                Some((a, b)) => pairs.push((a.to_owned(), b.to_owned())),
                None => {
                    return Err(
                        gguf.damaged(merges_key, format!("merge {index}, \"{merge}\", joins unknown tokens"))
                    );
                }
            }
        }
        let vocab: Vec<(String, u32)> = tokens.iter().cloned().zip(0..).collect();
        let refused = |error: tokenizers::Error| LmError::Compute { problem: error.to_string() };
        let model = BPE::builder()
            .vocab_and_merges(vocab.into_iter().collect::<tokenizers::models::bpe::Vocab>(), pairs)
            .build()
            .map_err(refused)?;
        let mut encoder = tokenizers::Tokenizer::new(model);
        let byte_level = |use_regex| PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, true, use_regex));
        encoder.with_pre_tokenizer(Some(match pieces {
            Pieces::Gpt2 => byte_level(true),
            Pieces::DigitsThenGpt2 => {
                PreTokenizerWrapper::Sequence(Sequence::new(vec![Digits::new(true).into(), byte_level(true)]))
            }
            Pieces::Pattern(pattern) => {
                let split = Split::new(
                    SplitPattern::Regex(pattern.to_owned()),
                    SplitDelimiterBehavior::Isolated,
                    false,
                )
                .map_err(refused)?;
                PreTokenizerWrapper::Sequence(Sequence::new(vec![split.into(), byte_level(false)]))
            }
        }));

        let is_special =
            |id: usize| matches!(types.get(id), Some(&kind) if kind == CONTROL || kind == USER_DEFINED);
        let mut special: Vec<(String, u32)> = tokens
            .iter()
            .zip(0u32..)
            .filter(|(text, id)| !text.is_empty() && is_special(*id as usize))
            .map(|(text, id)| (text.clone(), id))
            .collect();
        special.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));

        let bytes_of: HashMap<char, u8> = alphabet.into_iter().zip(0..=255).collect();
        let bytes = tokens
            .iter()
            .enumerate()
            .map(|(id, token)| {
                let decoded: Option<Vec<u8>> =
                    token.chars().map(|letter| bytes_of.get(&letter).copied()).collect();
                match decoded {
                    Some(bytes) if !is_special(id) => bytes,
                    _ => token.as_bytes().to_vec(),
                }
            })
            .collect();

        let id_at = |key: &str| match gguf.count(key)? {
            Some(id) if id >= vocabulary => {
                Err(gguf.damaged(key, format!("token {id} is not in the vocabulary")))
            }
            #[expect(clippy::cast_possible_truncation, reason = "below the vocabulary's size")]
            id => Ok(id.map(|id| id as u32)),
        };
        let mut ends: Vec<u32> = Vec::new();
        for key in ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"] {
            ends.extend(id_at(key)?);
        }
        ends.extend(
            special
                .iter()
                .filter(|(text, _)| {
                    matches!(text.as_str(), "<|im_end|>" | "<|endoftext|>" | "<|eot_id|>" | "<|end_of_text|>")
                })
                .map(|(_, id)| *id),
        );
        ends.sort_unstable();
        ends.dedup();
        Ok(Self {
            encoder,
            special,
            bytes,
            begin: id_at("tokenizer.ggml.bos_token_id")?,
            add_begin: gguf.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(false),
            ends,
        })
    }

    /// Tokens of text in which nothing is special.
    ///
    /// # Errors
    /// [`LmError::Compute`] if the encoder refuses the text.
    pub fn encode_user(&self, text: &str) -> Result<Vec<u32>, LmError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let encoding = self.encoder.encode_fast(text, false);
        encoding
            .map(|e| e.get_ids().to_vec())
            .map_err(|e| LmError::Compute { problem: format!("tokenizing: {e}") })
    }

    /// Tokens of text in which spellings of special tokens are those tokens.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode_template(&self, text: &str) -> Result<Vec<u32>, LmError> {
        let mut ids = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // The earliest special token; the longest of those that begin there.
            let next = self
                .special
                .iter()
                .filter_map(|(spelling, id)| rest.find(spelling.as_str()).map(|at| (at, spelling.len(), *id)))
                .min_by_key(|&(at, len, _)| (at, std::cmp::Reverse(len)));
            let Some((at, len, id)) = next else { break };
            ids.extend(self.encode_user(&rest[..at])?);
            ids.push(id);
            rest = &rest[at + len..];
        }
        ids.extend(self.encode_user(rest)?);
        Ok(ids)
    }

    /// Tokens of all pieces, each encoded on its own.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode(&self, text: &Segments) -> Result<Vec<u32>, LmError> {
        let mut ids = Vec::new();
        for piece in text.pieces() {
            ids.extend(self.encode_piece(piece)?);
        }
        Ok(ids)
    }

    fn encode_piece(&self, piece: &Segment) -> Result<Vec<u32>, LmError> {
        match piece {
            Segment::Template(text) => self.encode_template(text),
            Segment::User(text) => self.encode_user(text),
        }
    }

    /// As [`encode`](Self::encode), for the beginning of a prompt: with the begin token where the model was
    /// trained with one and the template has not written it. Also says which tokens came from which piece.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode_start(&self, text: &Segments) -> Result<(Vec<u32>, Vec<Range<usize>>), LmError> {
        let mut ids = Vec::new();
        let mut pieces = Vec::new();
        for piece in text.pieces() {
            let start = ids.len();
            ids.extend(self.encode_piece(piece)?);
            pieces.push(start..ids.len());
        }
        if let Some(begin) = self.begin
            && self.add_begin
            && ids.first() != Some(&begin)
        {
            ids.insert(0, begin);
            for piece in &mut pieces {
                *piece = piece.start + 1..piece.end + 1;
            }
        }
        Ok((ids, pieces))
    }

    /// The bytes of a token; empty for an id outside the vocabulary. A character may be spread over tokens.
    #[must_use]
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether the model ends its answer with this token.
    #[must_use]
    pub fn is_end(&self, token: u32) -> bool {
        self.ends.binary_search(&token).is_ok()
    }

    /// The spelling of a special token, or of any token.
    #[must_use]
    pub fn spelling(&self, token: u32) -> String {
        String::from_utf8_lossy(self.bytes(token)).into_owned()
    }

    /// The token that begins every text, if the file names one.
    #[must_use]
    pub fn begin(&self) -> Option<u32> {
        self.begin
    }
}

/// Byte-level BPE writes every byte as a visible letter: printable Latin-1 bytes as themselves, the others
/// as the letters from U+0100 on, in order (Radford et al. 2019, section 2.2).
pub(crate) fn byte_alphabet() -> [char; 256] {
    let mut next = 0x100;
    std::array::from_fn(|byte| {
        let byte = byte as u32;
        let printable = matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
        let code = if printable {
            byte
        } else {
            next += 1;
            next - 1
        };
        char::from_u32(code).unwrap_or(' ')
    })
}
