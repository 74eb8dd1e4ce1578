//! Text to tokens and back, built from a GGUF file's own metadata.

mod pieces;
mod sentence_piece;
mod strings;

use std::collections::HashMap;
use std::ops::Range;

use tokenizers::Model as _;
use tokenizers::models::bpe::BPE;
use unicode_normalization::UnicodeNormalization;

use crate::gguf::Gguf;
use crate::{LmError, Segment, Segments};
use pieces::Pieces;
use sentence_piece::{SPACE, SentencePiece};
use strings::{Index, Spellings, Strings};

/// What a file has to be converted with so that it holds a whole tokenizer.
const CONVERSION: &str =
    "convert the model anew with llama.cpp's converter, which writes the tokenizer into the file";

/// What a name in `tokenizer.ggml.pre` means.
struct Rule {
    names: &'static [&'static str],
    pieces: Pieces,
    /// A piece that is a token as a whole becomes that token, whatever the merges would make of it.
    whole_pieces: bool,
    /// Whether a text begins with the begin token where the file does not say.
    add_begin: bool,
    /// Whether composed characters are written for decomposed ones first (Unicode's form C).
    composes: bool,
}

/// The rules that this engine knows.
const RULES: [Rule; 5] = [
    Rule { names: &["gpt-2"], pieces: Pieces::Gpt2, whole_pieces: false, add_begin: false, composes: false },
    Rule {
        names: &["smollm"],
        pieces: Pieces::DigitsThenGpt2,
        whole_pieces: false,
        add_begin: false,
        composes: false,
    },
    Rule {
        names: &["qwen2"],
        pieces: Pieces::Letters { most_digits: 1 },
        whole_pieces: false,
        add_begin: false,
        composes: true,
    },
    Rule {
        names: &["llama-bpe", "llama3", "llama-v3"],
        pieces: Pieces::Letters { most_digits: 3 },
        whole_pieces: true,
        add_begin: true,
        composes: false,
    },
    Rule { names: &["tekken"], pieces: Pieces::Cases, whole_pieces: true, add_begin: true, composes: false },
];

/// The name of the rule for a file that names none: older converters left it out, or wrote "default".
fn usual_rule(architecture: Option<&str>, vocabulary: usize) -> &'static str {
    match architecture {
        Some("qwen2" | "qwen3") => "qwen2",
        // Llama 3's vocabulary, which no other has.
        Some("llama") if vocabulary == 128_256 => "llama-bpe",
        _ => "gpt-2",
    }
}

/// GGUF's types of tokens. Those that no text becomes by itself:
const UNKNOWN: f64 = 2.0;
/// Written only by a template, never by a person.
const CONTROL: f64 = 3.0;
/// Added to the model's own: special in byte-level files, and in SentencePiece files some are (see [`is_text`]).
const USER_DEFINED: f64 = 4.0;
const UNUSED: f64 = 5.0;
/// One byte, for characters that have no piece.
const BYTE: f64 = 6.0;

/// Spellings of tokens with which models end their answer, in files that don't list them all.
const ENDS: [&str; 7] = [
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<|end|>",
];

/// Elements whose tags SentencePiece models read as pieces of text.
const ELEMENTS: [&str; 44] = [
    "a",
    "b",
    "bbox",
    "blockquote",
    "body",
    "br",
    "caption",
    "code",
    "div",
    "em",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "u",
    "ul",
    "video",
];

/// Whether an added token of a SentencePiece model is a piece of ordinary text: a run of white space or a tag of
/// HTML. Others (`<start_of_turn>` in some files) steer the model, and a person's text must not (P4).
fn is_text(spelling: &str) -> bool {
    let name = spelling.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let element = name.map(|name| name.strip_prefix('/').unwrap_or(name));
    spelling.chars().all(char::is_whitespace) || element.is_some_and(|name| ELEMENTS.contains(&name))
}

/// A model's tokenizer.
///
/// The encoder knows no special tokens at all: text of a person goes through it alone, so no spelling in it can
/// become one (P4). Special tokens are found by this type, in template text only.
pub struct Tokenizer {
    encoder: Encoder,
    special: Spellings,
    /// Special tokens that swallow the white space behind them, ascending.
    swallowing: Vec<u32>,
    /// What each token stands for.
    bytes: Strings,
    begin: Option<u32>,
    add_begin: bool,
    ends: Vec<u32>,
}

enum Encoder {
    /// Byte-level byte-pair encoding with merges: GPT-2, Llama 3, Qwen.
    ByteLevel(Box<ByteLevel>),
    SentencePiece(Box<SentencePiece>),
}

/// Byte-level byte-pair encoding, of one text at a time.
struct ByteLevel {
    model: BPE,
    pieces: Pieces,
    composes: bool,
    /// How each byte is written in the vocabulary.
    alphabet: [char; 256],
}

impl ByteLevel {
    fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), LmError> {
        let composed: String;
        let text = if self.composes && !text.is_ascii() {
            composed = text.nfc().collect();
            &composed
        } else {
            text
        };
        let mut written = String::new();
        let mut outcome = Ok(());
        self.pieces.cut(text, &mut |piece| {
            if outcome.is_err() {
                return;
            }
            written.clear();
            written.extend(piece.bytes().map(|byte| self.alphabet[usize::from(byte)]));
            match self.model.tokenize(&written) {
                Ok(tokens) => ids.extend(tokens.iter().map(|token| token.id)),
                Err(error) => outcome = Err(LmError::Compute { problem: format!("tokenizing: {error}") }),
            }
        });
        outcome
    }
}

/// What both kinds of tokenizers read.
struct Vocabulary<'a> {
    gguf: &'a Gguf,
    tokens: &'a [String],
    types: &'a [f64],
}

impl Tokenizer {
    /// Builds it from the file's metadata.
    ///
    /// # Errors
    /// [`LmError::MissingKey`] names the key that is absent (P45); [`LmError::Unsupported`] the kind of
    /// tokenizer; [`LmError::Damaged`] what does not fit together.
    pub fn read(gguf: &Gguf, vocabulary: usize) -> Result<Self, LmError> {
        let kind = gguf.required("tokenizer.ggml.model", gguf.text("tokenizer.ggml.model")?, CONVERSION)?;
        if !matches!(kind, "gpt2" | "llama") {
            return Err(LmError::Unsupported {
                name: gguf.name.clone(),
                what: format!("the tokenizer \"{kind}\""),
                instead:
                    "choose a model whose file says \"gpt2\" (SmolLM2, Llama 3, Qwen) or \"llama\" (Mistral, \
                          Gemma, Phi-3)"
                        .into(),
            });
        }
        let tokens_key = "tokenizer.ggml.tokens";
        let tokens = gguf.required(tokens_key, gguf.texts(tokens_key)?, CONVERSION)?;
        if tokens.len() != vocabulary {
            return Err(gguf.damaged(
                tokens_key,
                format!("{} tokens for an embedding table of {vocabulary} rows", tokens.len()),
            ));
        }
        // Without the types every special token of the template would be read as ordinary text.
        let types_key = "tokenizer.ggml.token_type";
        let types = gguf.required(types_key, gguf.numbers(types_key)?, CONVERSION)?;
        if types.len() != vocabulary {
            return Err(gguf.damaged(types_key, format!("{} types for {vocabulary} tokens", types.len())));
        }
        let id_at = |key: &str| match gguf.count(key)? {
            Some(id) if id >= vocabulary => {
                Err(gguf.damaged(key, format!("token {id} is not in the vocabulary")))
            }
            #[expect(clippy::cast_possible_truncation, reason = "below the vocabulary's size")]
            id => Ok(id.map(|id| id as u32)),
        };
        // SentencePiece's own numbers, for files that leave them out.
        let usual = |id: u32| (kind == "llama" && (id as usize) < vocabulary).then_some(id);
        let begin = id_at("tokenizer.ggml.bos_token_id")?.or(usual(1));
        let mut ends: Vec<u32> = id_at("tokenizer.ggml.eos_token_id")?.or(usual(2)).into_iter().collect();
        for key in ["tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"] {
            ends.extend(id_at(key)?);
        }
        let unknown = id_at("tokenizer.ggml.unknown_token_id")?.or(usual(0));

        let vocabulary = Vocabulary { gguf, tokens, types };
        let mut steering: Vec<u32> = ends.iter().copied().chain(begin).chain(unknown).collect();
        steering.extend(id_at("tokenizer.ggml.padding_token_id")?);
        if kind == "llama" {
            // Where these stand they are SentencePiece's own, whatever the file calls them: Phi-3's says of `</s>` that it
            // were text, which in other vocabularies, at other places, it is.
            let own = ["<unk>", "<s>", "</s>"];
            steering.extend(
                (0u32..).zip(tokens).take(3).filter(|(_, text)| own.contains(&&***text)).map(|(id, _)| id),
            );
        }
        // Tokens without a spelling are found in no text.
        let of_kind = |wanted: fn(f64, &str) -> bool| -> Vec<u32> {
            let all = (0u32..).zip(tokens.iter().zip(types));
            all.filter(|(_, (text, kind))| !text.is_empty() && wanted(**kind, text))
                .map(|(id, _)| id)
                .collect()
        };
        let (special, encoder, bytes, rule_begins) = if kind == "gpt2" {
            let special = of_kind(|kind, _| matches!(kind, UNKNOWN | CONTROL | USER_DEFINED));
            let (encoder, bytes, begins) = vocabulary.byte_level(&special)?;
            (special, Encoder::ByteLevel(Box::new(encoder)), bytes, begins)
        } else {
            let mut fixed = of_kind(|kind, text| kind == USER_DEFINED && is_text(text));
            fixed.retain(|id| !steering.contains(id));
            let mut special = of_kind(|kind, _| matches!(kind, UNKNOWN | CONTROL | USER_DEFINED));
            special.retain(|id| fixed.binary_search(id).is_err());
            let (encoder, bytes) = vocabulary.sentence_piece(&fixed, unknown)?;
            (special, Encoder::SentencePiece(Box::new(encoder)), bytes, true)
        };
        ends.extend(special.iter().filter(|&&id| ENDS.iter().any(|end| end.as_bytes() == bytes.get(id))));
        ends.sort_unstable();
        ends.dedup();
        // Phi-3's own tokenizer strips what follows its special tokens, but for three; no file says so.
        let mut swallowing = Vec::new();
        if kind == "llama" && gguf.text("general.architecture")? == Some("phi3") {
            let keeps = |id: &u32| matches!(bytes.get(*id), b"<unk>" | b"<s>" | b"<|endoftext|>");
            swallowing.extend(special.iter().copied().filter(|id| !keeps(id)));
        }
        Ok(Self {
            encoder,
            swallowing,
            special: Spellings::new(&bytes, &special),
            bytes,
            begin,
            add_begin: gguf.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(rule_begins),
            ends,
        })
    }

    /// Tokens of text in which nothing is special, and which goes on from other text.
    ///
    /// # Errors
    /// [`LmError::Compute`] if the encoder refuses the text.
    pub fn encode_user(&self, text: &str) -> Result<Vec<u32>, LmError> {
        let mut ids = Vec::new();
        self.text_into(text, &mut false, &mut ids)?;
        Ok(ids)
    }

    /// Tokens of text in which spellings of special tokens are those tokens, and which goes on from other text.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode_template(&self, text: &str) -> Result<Vec<u32>, LmError> {
        let mut ids = Vec::new();
        self.template_into(text, &mut false, &mut ids)?;
        Ok(ids)
    }

    /// Appends the tokens of ordinary text. `at_start` says whether it begins everything or follows a special
    /// token, which is where some models expect a space; it is false afterwards, unless the text was empty.
    fn text_into(&self, text: &str, at_start: &mut bool, ids: &mut Vec<u32>) -> Result<(), LmError> {
        if text.is_empty() {
            return Ok(());
        }
        match &self.encoder {
            Encoder::ByteLevel(encoder) => encoder.encode(text, ids)?,
            Encoder::SentencePiece(encoder) => encoder.encode(&self.bytes, text, *at_start, ids),
        }
        *at_start = false;
        Ok(())
    }

    fn template_into(&self, text: &str, at_start: &mut bool, ids: &mut Vec<u32>) -> Result<(), LmError> {
        let mut rest = text;
        while let Some((before, id, after)) = self.special.split(&self.bytes, rest) {
            self.text_into(before, at_start, ids)?;
            ids.push(id);
            *at_start = true;
            rest = match self.swallowing.binary_search(&id) {
                Ok(_) => after.trim_start(),
                Err(_) => after,
            };
        }
        self.text_into(rest, at_start, ids)
    }

    /// Tokens of all pieces, each encoded on its own, of a text that goes on from another.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode(&self, text: &Segments) -> Result<Vec<u32>, LmError> {
        let (mut ids, mut at_start) = (Vec::new(), false);
        for piece in text.pieces() {
            self.piece_into(piece, &mut at_start, &mut ids)?;
        }
        Ok(ids)
    }

    fn piece_into(&self, piece: &Segment, at_start: &mut bool, ids: &mut Vec<u32>) -> Result<(), LmError> {
        match piece {
            Segment::Template(text) => self.template_into(text, at_start, ids),
            Segment::User(text) => self.text_into(text, at_start, ids),
        }
    }

    /// As [`encode`](Self::encode), for the beginning of a prompt: with the begin token where the model was
    /// trained with one and the template has not written it. An end token never follows, whatever the file says of
    /// it: prompts are there to be gone on from. Also says which tokens came from which piece.
    ///
    /// # Errors
    /// As for [`encode_user`](Self::encode_user).
    pub fn encode_start(&self, text: &Segments) -> Result<(Vec<u32>, Vec<Range<usize>>), LmError> {
        let (mut ids, mut at_start) = (Vec::new(), true);
        let mut pieces = Vec::new();
        for piece in text.pieces() {
            let start = ids.len();
            self.piece_into(piece, &mut at_start, &mut ids)?;
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
        self.bytes.get(token)
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

impl Vocabulary<'_> {
    /// The encoder, what its tokens stand for, and whether texts usually begin with the begin token.
    fn byte_level(&self, special: &[u32]) -> Result<(ByteLevel, Strings, bool), LmError> {
        let Self { gguf, tokens, types } = *self;
        let pre = gguf.text("tokenizer.ggml.pre")?.unwrap_or("default");
        let name = match pre {
            "default" | "" => usual_rule(gguf.text("general.architecture")?, tokens.len()),
            name => name,
        };
        let Some(rule) = RULES.iter().find(|rule| rule.names.contains(&name)) else {
            let known: Vec<&str> = RULES.iter().flat_map(|rule| rule.names).copied().collect();
            return Err(LmError::Unsupported {
                name: gguf.name.clone(),
                what: format!("the pre-tokenizer \"{pre}\""),
                instead: format!("choose a model whose file says one of: {}", known.join(", ")),
            });
        };
        let tokens_key = "tokenizer.ggml.tokens";
        let merges_key = "tokenizer.ggml.merges";
        let merges = gguf.required(merges_key, gguf.texts(merges_key)?, CONVERSION)?;
        // Of special tokens the encoder knows nothing.
        let ids: HashMap<&str, u32> = (0u32..)
            .zip(tokens.iter().zip(types))
            .filter(|(id, (_, kind))| **kind != UNUSED && special.binary_search(id).is_err())
            .map(|(id, (token, _))| (token.as_str(), id))
            .collect();
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
        let refused = |error: tokenizers::Error| LmError::Compute { problem: error.to_string() };
        let vocab = ids.iter().map(|(&token, &id)| (token.to_owned(), id));
        let model = BPE::builder()
            .vocab_and_merges(vocab.collect::<tokenizers::models::bpe::Vocab>(), pairs)
            .ignore_merges(rule.whole_pieces)
            // Its cache outlives it, one for every model that was ever loaded, with the words of a person's texts.
            .cache_capacity(0)
            .build()
            .map_err(refused)?;
        let encoder = ByteLevel { model, pieces: rule.pieces, composes: rule.composes, alphabet };
        let bytes_of: HashMap<char, u8> = alphabet.into_iter().zip(0..=255).collect();
        let mut bytes = Strings::default();
        for (id, token) in (0u32..).zip(tokens) {
            let decoded: Option<Vec<u8>> =
                token.chars().map(|letter| bytes_of.get(&letter).copied()).collect();
            match decoded {
                Some(decoded) if special.binary_search(&id).is_err() => bytes.push(&decoded),
                _ => bytes.push(token.as_bytes()),
            }
        }
        Ok((encoder, bytes, rule.add_begin))
    }

    /// The encoder and what its tokens stand for; `fixed` stand whole wherever they are spelled.
    fn sentence_piece(
        &self,
        fixed: &[u32],
        unknown: Option<u32>,
    ) -> Result<(SentencePiece, Strings), LmError> {
        let Self { gguf, tokens, types } = *self;
        let scores_key = "tokenizer.ggml.scores";
        let scores = gguf.required(scores_key, gguf.numbers(scores_key)?, CONVERSION)?;
        if scores.len() != tokens.len() {
            return Err(
                gguf.damaged(scores_key, format!("{} scores for {} tokens", scores.len(), tokens.len()))
            );
        }
        let (mut strings, mut ordinary, mut byte_tokens) = (Strings::default(), Vec::new(), [None; 256]);
        for (id, (token, &kind)) in (0u32..).zip(tokens.iter().zip(types)) {
            if kind == BYTE {
                let byte = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
                let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(|| {
                    gguf.damaged("tokenizer.ggml.tokens", format!("\"{token}\" does not name a byte"))
                })?;
                byte_tokens[usize::from(byte)] = Some(id);
                strings.push(&[byte]);
            } else if matches!(kind, UNKNOWN | CONTROL | USER_DEFINED | UNUSED) {
                strings.push(token.as_bytes());
            } else {
                strings.push(token.replace(SPACE, " ").as_bytes());
                ordinary.push(id);
            }
        }
        let pieces = Index::new(&strings, &ordinary);
        let has_token =
            |byte: u8| byte_tokens[usize::from(byte)].is_some() || pieces.find(&strings, &[byte]).is_some();
        if let Some(byte) = (b' '..=b'~').find(|&byte| !has_token(byte)) {
            let problem = format!("it has no token for \"{}\"", char::from(byte));
            return Err(gguf.damaged("tokenizer.ggml.tokens", problem));
        }
        let encoder = SentencePiece {
            pieces,
            #[expect(clippy::cast_possible_truncation, reason = "they are f32 in the file")]
            scores: scores.iter().map(|&score| score as f32).collect(),
            fixed: Spellings::new(&strings, fixed),
            bytes: byte_tokens,
            unknown,
            adds_space: gguf.flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true),
        };
        Ok((encoder, strings))
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
