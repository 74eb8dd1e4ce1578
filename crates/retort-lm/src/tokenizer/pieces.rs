//! How text is cut into pieces before byte-pair encoding: the rules that models were trained with.
//!
//! Each rule is published as a regular expression with look-ahead; here it is read off by hand, because an engine for
//! such expressions, with Unicode's tables for all that they may name, is as large as the rest of the tokenizer many
//! times over, and the page downloads it. A test holds every rule to its expression, which an independent library runs.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A rule for cutting text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// GPT-2's: `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
    Gpt2,
    /// Numeric characters one by one; what is between them by GPT-2's rule.
    DigitsThenGpt2,
    /// Llama 3's and Qwen 2's: ``(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,most}|
    /// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+``, with at most so many digits in a piece.
    Letters {
        /// 3 in Llama 3, 1 in Qwen 2.
        most_digits: usize,
    },
    /// Tekken's, which also cuts where capitals begin after small letters.
    Cases,
}

impl Pieces {
    /// Gives every piece of the text to `each`, in order; together they are the text.
    pub(crate) fn cut<'t>(self, text: &'t str, each: &mut dyn FnMut(&'t str)) {
        if self == Self::DigitsThenGpt2 {
            let mut start = 0;
            for (at, digit) in text.match_indices(char::is_numeric) {
                Self::Gpt2.cut(&text[start..at], each);
                each(digit);
                start = at + digit.len();
            }
            return Self::Gpt2.cut(&text[start..], each);
        }
        let mut rest = text;
        while !rest.is_empty() {
            let length = match self {
                Self::Gpt2 | Self::DigitsThenGpt2 => gpt2(rest),
                Self::Letters { most_digits } => letters(rest, most_digits),
                Self::Cases => cases(rest),
            };
            let (piece, after) = rest.split_at(length);
            each(piece);
            rest = after;
        }
    }
}

/// What the rules tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `\p{Lu}` and `\p{Lt}`.
    Capital,
    /// `\p{Ll}`.
    Small,
    /// `\p{Lm}` and `\p{Lo}`.
    Letter,
    /// `\p{M}`.
    Mark,
    /// `\p{N}`.
    Number,
    /// `\s`.
    Space,
    /// Everything else.
    Other,
}

impl Class {
    fn of(character: char) -> Self {
        use GeneralCategory as G;
        match character {
            'a'..='z' => return Self::Small,
            'A'..='Z' => return Self::Capital,
            '0'..='9' => return Self::Number,
            ascii if ascii.is_ascii() => {
                return if ascii.is_whitespace() { Self::Space } else { Self::Other };
            }
            space if space.is_whitespace() => return Self::Space,
            _ => {}
        }
        match character.general_category() {
            G::UppercaseLetter | G::TitlecaseLetter => Self::Capital,
            G::LowercaseLetter => Self::Small,
            G::ModifierLetter | G::OtherLetter => Self::Letter,
            G::NonspacingMark | G::SpacingMark | G::EnclosingMark => Self::Mark,
            G::DecimalNumber | G::LetterNumber | G::OtherNumber => Self::Number,
            _ => Self::Other,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Capital | Self::Small | Self::Letter)
    }

    /// `[^\s\p{L}\p{N}]`
    fn is_sign(self) -> bool {
        matches!(self, Self::Mark | Self::Other)
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    fn may_begin(self) -> bool {
        matches!(self, Self::Capital | Self::Letter | Self::Mark)
    }

    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    fn may_end(self) -> bool {
        matches!(self, Self::Small | Self::Letter | Self::Mark)
    }
}

/// The length in bytes of the run of such characters at the beginning.
fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|character| !wanted(character)).unwrap_or(text.len())
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\r' | '\n')
}

/// `'s|'t|'re|'ve|'m|'ll|'d`
fn contraction(text: &str, any_case: bool) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    ["s", "t", "re", "ve", "m", "ll", "d"].into_iter().find_map(|ending| {
        let mut length = 1;
        let mut found = rest.chars();
        for letter in ending.chars() {
            let next = found.next()?;
            // Without regard to case, the long s is an s (Unicode's simple case folding); no other such letter is here.
            let same = next == letter
                || any_case && (next.to_ascii_lowercase() == letter || next == 'ſ' && letter == 's');
            if !same {
                return None;
            }
            length += next.len_utf8();
        }
        Some(length)
    })
}

/// `\s+(?!\S)|\s+`: white space, but for its last character where something follows.
fn white(text: &str) -> Option<usize> {
    let length = run(text, char::is_whitespace);
    let last = text[..length].chars().next_back()?;
    Some(if length == text.len() || length == last.len_utf8() { length } else { length - last.len_utf8() })
}

/// ` ?x+`
fn spaced(text: &str, wanted: impl Fn(Class) -> bool) -> Option<usize> {
    let start = usize::from(text.starts_with(' '));
    match run(&text[start..], |c| wanted(Class::of(c))) {
        0 => None,
        length => Some(start + length),
    }
}

/// Never 0: whatever matches nothing is a piece of one character.
fn or_one(text: &str, found: Option<usize>) -> usize {
    found
        .filter(|&length| length > 0)
        .or_else(|| text.chars().next().map(char::len_utf8))
        .unwrap_or(text.len())
}

fn gpt2(text: &str) -> usize {
    let found = contraction(text, false)
        .or_else(|| spaced(text, Class::is_letter))
        .or_else(|| spaced(text, |class| class == Class::Number))
        .or_else(|| spaced(text, Class::is_sign))
        .or_else(|| white(text));
    or_one(text, found)
}

/// `[^\r\n\p{L}\p{N}]?` at the beginning: its length, where there is such a character.
fn lead(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let class = Class::of(first);
    (!is_line_end(first) && !class.is_letter() && class != Class::Number).then_some(first.len_utf8())
}

/// ` ?[^\s\p{L}\p{N}]+x*|\s*[\r\n]+|\s+(?!\S)|\s+`, where `x` is what may follow signs.
fn signs_and_white(text: &str, follows: impl Fn(char) -> bool) -> Option<usize> {
    if let Some(length) = spaced(text, Class::is_sign) {
        return Some(length + run(&text[length..], follows));
    }
    let space = run(text, char::is_whitespace);
    match text[..space].rfind(is_line_end) {
        Some(last) => Some(last + 1),
        None => white(text),
    }
}

fn letters(text: &str, most_digits: usize) -> usize {
    let word = || {
        let start = lead(text).unwrap_or(0);
        let length = run(&text[start..], |c| Class::of(c).is_letter());
        (length > 0).then_some(start + length)
    };
    let digits = || {
        let all = text.char_indices().take(most_digits).take_while(|(_, c)| Class::of(*c) == Class::Number);
        all.last().map(|(at, c)| at + c.len_utf8())
    };
    let found =
        contraction(text, true).or_else(word).or_else(digits).or_else(|| signs_and_white(text, is_line_end));
    or_one(text, found)
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` as far as backtracking lets it go.
fn small_word(text: &str) -> Option<usize> {
    let beginning = run(text, |c| Class::of(c).may_begin());
    let small = run(&text[beginning..], |c| Class::of(c).may_end());
    if small > 0 {
        return Some(beginning + small);
    }
    // What may begin and may end a word, too, can end it; the last such character does.
    let mut ends = text[..beginning].char_indices().rev().filter(|(_, c)| Class::of(*c).may_end());
    ends.next().map(|(at, c)| at + c.len_utf8())
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
fn capital_word(text: &str) -> Option<usize> {
    match run(text, |c| Class::of(c).may_begin()) {
        0 => None,
        length => Some(length + run(&text[length..], |c| Class::of(c).may_end())),
    }
}

fn cases(text: &str) -> usize {
    // The character before a word belongs to it if it can; else the word must begin at once.
    let word = |word: fn(&str) -> Option<usize>| {
        let led = lead(text).and_then(|start| Some(start + word(&text[start..])?));
        led.or_else(|| word(text))
    };
    let number = || text.chars().next().filter(|c| Class::of(*c) == Class::Number).map(char::len_utf8);
    let found = word(small_word)
        .or_else(|| word(capital_word))
        .or_else(number)
        .or_else(|| signs_and_white(text, |c| is_line_end(c) || c == '/'));
    or_one(text, found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;
    use tokenizers::pre_tokenizers::digits::Digits;
    use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
    use tokenizers::{
        OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, SplitDelimiterBehavior,
    };

    use super::*;

    const QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    const LLAMA: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

    /// The pieces by the library and its regular expressions.
    fn by_library(pieces: Pieces, text: &str) -> Vec<String> {
        let mut split = PreTokenizedString::from(text);
        let pattern = |pattern: &str| {
            Split::new(SplitPattern::Regex(pattern.into()), SplitDelimiterBehavior::Isolated, false).unwrap()
        };
        match pieces {
            Pieces::Gpt2 => ByteLevel::new(false, true, true).pre_tokenize(&mut split).unwrap(),
            Pieces::DigitsThenGpt2 => {
                Digits::new(true).pre_tokenize(&mut split).unwrap();
                ByteLevel::new(false, true, true).pre_tokenize(&mut split).unwrap();
            }
            Pieces::Letters { most_digits: 1 } => pattern(QWEN).pre_tokenize(&mut split).unwrap(),
            Pieces::Letters { .. } => pattern(LLAMA).pre_tokenize(&mut split).unwrap(),
            Pieces::Cases => pattern(TEKKEN).pre_tokenize(&mut split).unwrap(),
        }
        // By their places in the text, since byte-level pieces are written in other letters.
        let found = split.get_splits(OffsetReferential::Original, OffsetType::Byte);
        found.into_iter().map(|(_, (start, end), _)| text[start..end].to_owned()).collect()
    }

    const ALL: [Pieces; 5] = [
        Pieces::Gpt2,
        Pieces::DigitsThenGpt2,
        Pieces::Letters { most_digits: 1 },
        Pieces::Letters { most_digits: 3 },
        Pieces::Cases,
    ];

    fn ours(pieces: Pieces, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        pieces.cut(text, &mut |piece| found.push(piece.to_owned()));
        found
    }

    #[test]
    fn every_rule_cuts_as_its_expression_does() {
        for text in [
            "",
            " ",
            "  ",
            " a",
            "  a",
            "a ",
            "a  \n",
            "\n\n a",
            " \n \n  b",
            "\r\n\r\nx",
            "\t\tx",
            "I'll we'VE it'S don't 'sx '",
            "'ſ 'Reading",
            "3.1415 12345 ١٢٣ ½ Ⅻ",
            "HelloWorld helloWORLD ÀÉx ǅx",
            "e\u{301}\u{301} \u{301}A \u{301}",
            "日本語テキスト です。",
            "a/b//c\n/ ;;\n\n",
            "!? !!\n\n  ok",
            "ʰA ʰa Aʰ AʰB \u{301}AB",
            "👩\u{200d}👩 ❤\u{fe0f}",
            "\u{a0}x \u{a0}\u{a0}y \u{85}z \u{2028}w",
            "ªº ⓐ",
            "x\u{0}y",
        ] {
            for pieces in ALL {
                assert_eq!(ours(pieces, text), by_library(pieces, text), "{pieces:?} on {text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_cut_as_the_library_cuts_it(
            text in prop_oneof![
                "[ \\t\\r\\n'a-zA-Z0-9/.,;!?éÀſʰªǅ\u{301}日١½\u{a0}\u{85}👩]{0,24}",
                "\\PC{0,16}",
                "[\\p{L}\\p{M}\\p{N}\\s]{0,16}",
            ],
        ) {
            for pieces in ALL {
                prop_assert_eq!(ours(pieces, &text), by_library(pieces, &text), "{:?}", pieces);
                prop_assert_eq!(ours(pieces, &text).concat(), text.clone());
            }
        }
    }
}
