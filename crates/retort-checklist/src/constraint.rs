//! The vocabulary: everything that code can verify about a response, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Limit, code, json, language};

/// How deeply constraints may stand within constraints.
pub const MAX_DEPTH: usize = 16;

/// Something that is asked of a response and that code can decide.
///
/// In files a constraint is an object whose `kind` names the variant:
///
/// ```
/// use retort_checklist::{Constraint, Limit, Unit};
///
/// let constraint: Constraint =
///     serde_json::from_str(r#"{"kind": "count", "what": "word", "limit": {"at_most": 100}}"#)?;
/// assert_eq!(constraint, Constraint::Count { what: Unit::Word, limit: Limit::AtMost(100) });
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// One wish can often be written in several ways; [`canonical`](Self::canonical) gives the one that this crate
/// writes. What the words mean ("word", "sentence", "bullet") is said at [`Unit`]; how texts are compared, at
/// [`Constraint::Phrase`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "crate::read::Raw")]
pub enum Constraint {
    /// So many of something: lengths, and whatever can be counted. "Use bullet points" is at least one bullet, "no
    /// commas" at most no comma, "write the formulas in LaTeX" at least one formula.
    Count {
        /// What is counted.
        what: Unit,
        /// How many are asked for.
        limit: Limit,
    },
    /// A text occurs so many times: required words (at least 1, the default), forbidden ones (at most 0).
    ///
    /// Texts are compared after Unicode normalisation, without regard to case unless `case_sensitive`; a run of white
    /// space equals one space, curly quotation marks and apostrophes equal straight ones, and a non-breaking hyphen
    /// equals a hyphen. A text that begins (ends) with a letter or digit matches only where a word begins (ends),
    /// unless `inside_words`: "art" is not in "party". Letters, digits, `_`, and apostrophes between letters hold a
    /// word together, except a final `'s`: "Ann" is in "Ann's", "can" is not in "can't". In scripts written without
    /// spaces (Han, kana, Thai, Lao, Khmer, Burmese) every place is a boundary. Other forms of a word are other words:
    /// "run" is not in "running". Occurrences do not overlap and are counted from the left.
    Phrase {
        /// The words, or any other text.
        text: String,
        /// How often.
        #[serde(skip_serializing_if = "is_some_limit")]
        limit: Limit,
        /// Whether it also counts within words: for letters and parts of words.
        #[serde(skip_serializing_if = "is_false")]
        inside_words: bool,
        /// Whether capitals matter.
        #[serde(skip_serializing_if = "is_false")]
        case_sensitive: bool,
    },
    /// The response begins with this text, compared as in [`Phrase`](Self::Phrase). White space and Markdown's marks
    /// (`#`, `*`, `_`, `>`, `` ` ``, `~`) before it are passed over, unless the text begins with one itself.
    Starts {
        /// The beginning.
        text: String,
        /// Whether a word may go on behind it.
        #[serde(skip_serializing_if = "is_false")]
        inside_words: bool,
        /// Whether capitals matter.
        #[serde(skip_serializing_if = "is_false")]
        case_sensitive: bool,
    },
    /// The response ends with this text, compared as in [`Phrase`](Self::Phrase). Behind it white space, Markdown's
    /// emphasis marks and closing quotation marks are passed over, and one `.`, `!`, `?`, `…` or `。` when the text
    /// itself ends in a letter or digit.
    Ends {
        /// The ending.
        text: String,
        /// Whether a word may have begun before it.
        #[serde(skip_serializing_if = "is_false")]
        inside_words: bool,
        /// Whether capitals matter.
        #[serde(skip_serializing_if = "is_false")]
        case_sensitive: bool,
    },
    /// JSON as RFC 8259 defines it: no comments, no trailing commas.
    Json {
        /// Whether the response is nothing else, or holds JSON somewhere (by default: nothing else). One code block
        /// round the whole is allowed.
        #[serde(skip_serializing_if = "is_whole")]
        place: Place,
        /// Keys that the outermost object has (of an array: that each of its objects has). Others may stand beside.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        keys: Vec<String>,
        /// A JSON Schema of the keywords in [`SCHEMA_KEYWORDS`](crate::SCHEMA_KEYWORDS); any other is refused, since a
        /// keyword passed over would make a verdict that is not exact.
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<Value>,
    },
    /// Comma-separated values as RFC 4180 defines them: all records of equal length, at least two columns (unless a
    /// single one is asked for), quotation marks doubled within quotation marks. Lines may end in LF or CRLF.
    Csv {
        /// Whether the response is nothing else, or holds a code block with CSV (by default: nothing else; one code
        /// block round the whole is allowed).
        #[serde(skip_serializing_if = "is_whole")]
        place: Place,
        /// What stands between two fields: `,`, `;`, `|` or a tab.
        #[serde(skip_serializing_if = "is_comma")]
        separator: char,
        /// The columns' names in the first record, in this order; compared as in [`Phrase`](Self::Phrase).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        header: Vec<String>,
        /// How many columns.
        #[serde(skip_serializing_if = "Option::is_none")]
        columns: Option<Limit>,
        /// How many records behind the first, which is taken for the header.
        #[serde(skip_serializing_if = "Option::is_none")]
        rows: Option<Limit>,
    },
    /// A Markdown table, as GitHub defines it, that has what is asked for.
    Table {
        /// The columns' names, in this order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        header: Vec<String>,
        /// How many columns.
        #[serde(skip_serializing_if = "Option::is_none")]
        columns: Option<Limit>,
        /// How many rows below the header.
        #[serde(skip_serializing_if = "Option::is_none")]
        rows: Option<Limit>,
    },
    /// A code block in a language. What is then checked is said at [`CodeCheck`](crate::CodeCheck): some languages are
    /// parsed, others only checked for balance, and the finding says which.
    Code {
        /// The language by one of the names that it goes by, such as `python` or `js`.
        language: String,
        /// Whether the response is nothing else but the block (or the bare code), or holds it (by default: holds it).
        #[serde(skip_serializing_if = "is_somewhere")]
        place: Place,
    },
    /// Headings of a level, or with a text. All headings of any level: count [`Unit::Heading`].
    Heading {
        /// 1 to 6.
        #[serde(skip_serializing_if = "Option::is_none")]
        level: Option<u8>,
        /// The whole text, compared as in [`Phrase`](Self::Phrase).
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// How many.
        #[serde(skip_serializing_if = "is_some_limit")]
        limit: Limit,
    },
    /// Sections with these titles are all there. A title is a Markdown heading, a line that is emphasised as a whole,
    /// or a line that ends in a colon; numbers before it (`2.`) and a colon behind it are passed over. `Title: text` on
    /// one line counts too.
    Sections {
        /// The titles.
        titles: Vec<String>,
        /// Whether they stand in this order.
        #[serde(skip_serializing_if = "is_false")]
        ordered: bool,
    },
    /// Sections that are marked by a word and a number, as in `Section 1`, `Section 2`: lines that begin so.
    NumberedSections {
        /// The word, such as `Section` or `Day`.
        marker: String,
        /// How many.
        limit: Limit,
    },
    /// Parts with a separator between them: three parts have two separators. White space alone is not a part.
    Divided {
        /// The separator, such as `***`.
        by: String,
        /// How many parts.
        parts: Limit,
    },
    /// Every line that is not blank belongs to one of these, and there is one: "only a bulleted list", "nothing but
    /// the table". For bullets, numbered items, items, tables, code blocks and headings.
    Only {
        /// What the response consists of.
        what: Unit,
    },
    /// How capitals are used, over the whole response. Not applicable where no letter has a case.
    Case {
        /// Which way.
        case: Case,
    },
    /// The language of the response, code and links left out. Not applicable where the text is too short or too mixed
    /// to tell.
    Language {
        /// ISO 639-1, such as `fr`; see [`languages`](crate::languages).
        code: String,
    },
    /// The whole response stands within quotation marks: `"…"`, `“…”`, `„…“`, `«…»`, `「…」`.
    Quoted {},
    /// A postscript: a line behind some other text that begins with the marker. Full stops within the marker may be
    /// left out (`PS`), and marks of emphasis may stand before it.
    Postscript {
        /// `P.S.` or `P.P.S.`.
        #[serde(skip_serializing_if = "is_ps")]
        marker: String,
    },
    /// The response begins with this text, word for word ([`Starts`](Self::Starts) says how it is compared; quotation
    /// marks round it are allowed too).
    Repeats {
        /// What is to be repeated.
        text: String,
        /// Whether something has to follow.
        #[serde(skip_serializing_if = "is_true")]
        then_answer: bool,
    },
    /// The response chooses one of the options, compared as in [`Phrase`](Self::Phrase).
    Choice {
        /// What may be chosen.
        options: Vec<String>,
        /// `whole`: the response is one option and nothing else but punctuation, quotation marks and marks of emphasis.
        /// `start`: it begins with one. `somewhere`: exactly one of them occurs in it; an option within a longer one
        /// ("blue" in "light blue") does not count.
        #[serde(skip_serializing_if = "is_whole")]
        place: Place,
    },
    /// A part of the response, or each of its parts, meets a constraint. Not applicable to each of no parts; not met by
    /// a part that is asked for by its number and is missing.
    Within {
        /// Which of the parts.
        which: Which,
        /// What a part is: word, sentence, paragraph, line, item, bullet, numbered item, heading, table, code block.
        /// An item is its own text without its mark and without the items within it, a heading its text without `#`, a
        /// code block what stands between its fences.
        unit: Unit,
        /// What is asked of it.
        constraint: Box<Constraint>,
    },
    /// All are met. Those that are not applicable are left out; when none is left, this is not applicable either.
    All {
        /// The constraints.
        of: Vec<Constraint>,
    },
    /// At least one is met. Those that are not applicable are left out.
    Any {
        /// The constraints.
        of: Vec<Constraint>,
    },
    /// It is not met. What is not applicable stays so.
    Not {
        /// What must not be.
        constraint: Box<Constraint>,
    },
    /// Where the response meets the condition it must meet the consequence; where not, this is not applicable.
    If {
        /// What the response may or may not do.
        condition: Box<Constraint>,
        /// What is then asked of it.
        then: Box<Constraint>,
    },
}

/// What can be counted in a response, and what its parts are.
///
/// The text is normalised (NFC), and white space at either end and a byte order mark at the start are passed over.
/// Markdown is read as CommonMark and GitHub define it, in so far as is said here. Lines end in LF, CRLF or CR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A word by Unicode Standard Annex 29: what stands between word boundaries and has a letter or digit. "don't",
    /// "3.14" and "example.com" are one word, "well-known" is two, `https://example.com/a` is three; each Han or
    /// hiragana character is one, a run of katakana is one. The number of a list item counts, as does code.
    Word,
    /// A sentence by Unicode Standard Annex 29 within one paragraph or list item, with a letter or digit in it. Beyond
    /// the annex: a line break within a paragraph does not end a sentence; neither does a title or other abbreviation
    /// of [`ABBREVIATIONS`](crate::ABBREVIATIONS), nor an initial; a closing quotation mark before a lower-case letter
    /// does not; and where a paragraph has no capitals at all, a full stop and white space do. Headings, tables and
    /// code have no sentences.
    Sentence,
    /// A run of lines between blank lines that has a line of running text in it. Headings, rules, tables, code blocks
    /// and lists are no paragraphs, and neither is a line that stands alone and is emphasised as a whole; a list
    /// directly below a line of text belongs to that paragraph.
    Paragraph,
    /// A line that is not blank.
    Line,
    /// What a reader sees as one character: an extended grapheme cluster, spaces and line breaks counted.
    Character,
    /// A character that is not white space.
    NonSpaceCharacter,
    /// An item of any list that does not stand within another item.
    Item,
    /// An item that begins with `-`, `*`, `+`, or a sign such as `•`, and does not stand within another such. A line
    /// of `---` or `***` is a rule. Items in code blocks do not count.
    Bullet,
    /// An item that begins with a number of one to three digits and `.` or `)`, and does not stand within another such.
    /// Directly below a line of text only the numbers 0 and 1 begin a list. Bold may begin before the number.
    NumberedItem,
    /// A Markdown heading: `#` to `######`, or a line underlined with `===` or `---`.
    Heading,
    /// A Markdown table.
    Table,
    /// A code block in a fence of three or more backticks or tildes; one that is never closed runs to the end.
    CodeBlock,
    /// A formula in LaTeX: `$…$` (no space inside the dollars, no digit behind them), `$$…$$`, `\(…\)`, `\[…\]`,
    /// `\begin{…}…\end{…}`; its braces balance. Not in code.
    Formula,
    /// Something to be filled in: `[…]`, `{…}`, `{{…}}` with a letter inside, or `<…>` whose inside is in capitals or has
    /// a space between words. Not links, check boxes, footnotes, code, or formulas.
    Placeholder,
    /// A passage within `*…*`, `**…**`, `***…***` or the same of `_` on one line, outside code.
    Highlight,
    /// A passage within `"…"`, `“…”`, `„…“`, `«…»` or `「…」`, outside code.
    Quotation,
    /// An address that begins with `http://`, `https://` or `www.`.
    Link,
    /// An emoji: a character that is shown as a picture, with all that joins it.
    Emoji,
    /// A number in digits, with the full stops and commas between digits. Numbers in words do not count.
    Number,
    /// A word of at least two letters that are all capitals.
    UppercaseWord,
    /// A sentence that ends in a question mark.
    Question,
    /// A comma: `,`, and those of other scripts (`，`, `、`, `﹐`, `،`). Those in numbers and code count too.
    Comma,
}

/// Where in the response something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// It is the whole response.
    #[default]
    Whole,
    /// The response begins with it.
    Start,
    /// Anywhere.
    Somewhere,
}

/// Which parts of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Every one.
    Each,
    /// The first.
    First,
    /// The last.
    Last,
    /// The one with this number, from 1.
    Nth(u64),
}

/// A use of capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// No capital letter.
    Lower,
    /// No small letter.
    Upper,
    /// Every word begins with a capital letter, except those of [`MINOR_WORDS`](crate::MINOR_WORDS) that are not the
    /// first, and words that begin with a digit or a letter without case.
    Title,
}

/// A constraint that cannot be checked, or that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}; {hint}")]
pub struct InvalidConstraint {
    /// Where in the constraint, such as `of[1].limit`; `constraint` for the constraint itself.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Constraint {
    /// A forbidden word or phrase.
    #[must_use]
    pub fn forbidden(text: impl Into<String>) -> Self {
        Self::Phrase { text: text.into(), limit: Limit::NONE, inside_words: false, case_sensitive: false }
    }

    /// A required word or phrase.
    #[must_use]
    pub fn required(text: impl Into<String>) -> Self {
        Self::Phrase { text: text.into(), limit: Limit::SOME, inside_words: false, case_sensitive: false }
    }

    /// The form in which this crate writes the same wish.
    ///
    /// Limits are in their plainest form, a negated limit is the opposite limit where there is one, two negations are
    /// none, `All` and `Any` of one are that one and of their own kind are merged, and languages of code go by their
    /// first name. What is met, not met or not applicable stays the same.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Count { what, limit } => Self::Count { what, limit: limit.canonical() },
            Self::Phrase { text, limit, inside_words, case_sensitive } => {
                Self::Phrase { text, limit: limit.canonical(), inside_words, case_sensitive }
            }
            Self::Heading { level, text, limit } => Self::Heading { level, text, limit: limit.canonical() },
            Self::NumberedSections { marker, limit } => {
                Self::NumberedSections { marker, limit: limit.canonical() }
            }
            Self::Divided { by, parts } => Self::Divided { by, parts: parts.canonical() },
            Self::Csv { place, separator, header, columns, rows } => Self::Csv {
                place,
                separator,
                header,
                columns: columns.map(Limit::canonical),
                rows: rows.map(Limit::canonical),
            },
            Self::Table { header, columns, rows } => Self::Table {
                header,
                columns: columns.map(Limit::canonical),
                rows: rows.map(Limit::canonical),
            },
            Self::Code { language, place } => {
                let language = code::canonical_name(&language).map_or(language, str::to_owned);
                Self::Code { language, place }
            }
            Self::Within { which, unit, constraint } => {
                Self::Within { which, unit, constraint: Box::new(constraint.canonical()) }
            }
            Self::All { of } => {
                let mut flat = Vec::new();
                for constraint in of {
                    match constraint.canonical() {
                        Self::All { of } => flat.extend(of),
                        other => flat.push(other),
                    }
                }
                if flat.len() == 1 { flat.remove(0) } else { Self::All { of: flat } }
            }
            Self::Any { of } => {
                let mut flat = Vec::new();
                for constraint in of {
                    match constraint.canonical() {
                        Self::Any { of } => flat.extend(of),
                        other => flat.push(other),
                    }
                }
                if flat.len() == 1 { flat.remove(0) } else { Self::Any { of: flat } }
            }
            Self::Not { constraint } => constraint.canonical().negated(),
            Self::If { condition, then } => {
                Self::If { condition: Box::new(condition.canonical()), then: Box::new(then.canonical()) }
            }
            other => other,
        }
    }

    /// The negation of a constraint that is in canonical form.
    fn negated(self) -> Self {
        let wrap = |constraint| Self::Not { constraint: Box::new(constraint) };
        match self {
            Self::Not { constraint } => *constraint,
            Self::Count { what, limit } => match limit.complement() {
                Some(limit) => Self::Count { what, limit },
                None => wrap(Self::Count { what, limit }),
            },
            Self::Phrase { text, limit, inside_words, case_sensitive } => match limit.complement() {
                Some(limit) => Self::Phrase { text, limit, inside_words, case_sensitive },
                None => wrap(Self::Phrase { text, limit, inside_words, case_sensitive }),
            },
            Self::Heading { level, text, limit } => match limit.complement() {
                Some(limit) => Self::Heading { level, text, limit },
                None => wrap(Self::Heading { level, text, limit }),
            },
            other => wrap(other),
        }
    }

    /// Whether the constraint makes sense and this crate can check it.
    ///
    /// # Errors
    /// With the first thing that is wrong: an empty text, a range that is the wrong way round, an unknown language, a
    /// keyword of a schema that is not supported, a combination of nothing, more than [`MAX_DEPTH`] levels.
    pub fn check(&self) -> Result<(), InvalidConstraint> {
        self.check_at("", 1)
    }

    fn check_at(&self, path: &str, depth: usize) -> Result<(), InvalidConstraint> {
        let wrong = |field: &str, message: String, hint: &str| {
            let path = match (path.is_empty(), field.is_empty()) {
                (true, true) => "constraint".to_owned(),
                (true, false) => field.to_owned(),
                (false, true) => path.to_owned(),
                (false, false) => format!("{path}.{field}"),
            };
            InvalidConstraint { path, message, hint: hint.to_owned() }
        };
        let filled = |field: &str, text: &str| {
            if text.trim().is_empty() {
                Err(wrong(field, "the text is empty".to_owned(), "say which text is meant"))
            } else {
                Ok(())
            }
        };
        let sound = |field: &str, limit: &Limit| match *limit {
            Limit::Between(least, most) if least > most => Err(wrong(
                field,
                format!("a range from {least} to {most} holds nothing"),
                "write the smaller number first",
            )),
            _ => Ok(()),
        };
        if depth > MAX_DEPTH {
            return Err(wrong(
                "",
                format!("constraints stand more than {MAX_DEPTH} deep within each other"),
                "split it into several",
            ));
        }
        let join = |field: String| if path.is_empty() { field } else { format!("{path}.{field}") };
        match self {
            Self::Count { limit, .. } => sound("limit", limit),
            Self::Phrase { text, limit, .. } => filled("text", text).and_then(|()| sound("limit", limit)),
            Self::Starts { text, .. } | Self::Ends { text, .. } | Self::Repeats { text, .. } => {
                filled("text", text)
            }
            Self::Json { place, keys, schema } => {
                if *place == Place::Start {
                    return Err(wrong(
                        "place",
                        "JSON cannot be asked for at the start alone".to_owned(),
                        "use whole or somewhere",
                    ));
                }
                for (index, key) in keys.iter().enumerate() {
                    filled(&format!("keys[{index}]"), key)?;
                }
                match schema {
                    Some(schema) => json::check_schema(schema, depth).map_err(|(at, message)| {
                        wrong(
                            &format!("schema{at}"),
                            message,
                            "use the supported keywords only, and use them as JSON Schema defines them",
                        )
                    }),
                    None => Ok(()),
                }
            }
            Self::Csv { place, separator, header, columns, rows } => {
                if *place == Place::Start {
                    return Err(wrong(
                        "place",
                        "CSV cannot be asked for at the start alone".to_owned(),
                        "use whole or somewhere",
                    ));
                }
                if !matches!(separator, ',' | ';' | '|' | '\t') {
                    return Err(wrong(
                        "separator",
                        format!("{separator:?} does not separate fields"),
                        "use a comma, a semicolon, a bar or a tab",
                    ));
                }
                for (index, name) in header.iter().enumerate() {
                    filled(&format!("header[{index}]"), name)?;
                }
                columns.iter().try_for_each(|limit| sound("columns", limit))?;
                rows.iter().try_for_each(|limit| sound("rows", limit))
            }
            Self::Table { header, columns, rows } => {
                for (index, name) in header.iter().enumerate() {
                    filled(&format!("header[{index}]"), name)?;
                }
                columns.iter().try_for_each(|limit| sound("columns", limit))?;
                rows.iter().try_for_each(|limit| sound("rows", limit))
            }
            Self::Code { language, place } => {
                if *place == Place::Start {
                    return Err(wrong(
                        "place",
                        "code cannot be asked for at the start alone".to_owned(),
                        "use whole or somewhere",
                    ));
                }
                filled("language", language)
            }
            Self::Heading { level, text, limit } => {
                if let Some(level) = level.filter(|level| !(1..=6).contains(level)) {
                    return Err(wrong(
                        "level",
                        format!("there are no headings of level {level}"),
                        "use 1 to 6",
                    ));
                }
                text.iter().try_for_each(|text| filled("text", text))?;
                sound("limit", limit)
            }
            Self::Sections { titles, .. } => {
                if titles.is_empty() {
                    return Err(wrong("titles", "there is no title".to_owned(), "name at least one"));
                }
                titles.iter().enumerate().try_for_each(|(i, title)| filled(&format!("titles[{i}]"), title))
            }
            Self::NumberedSections { marker, limit } => {
                filled("marker", marker).and_then(|()| sound("limit", limit))
            }
            Self::Divided { by, parts } => filled("by", by).and_then(|()| sound("parts", parts)),
            Self::Only { what } => {
                if what.is_block() {
                    Ok(())
                } else {
                    Err(wrong(
                        "what",
                        format!("a response does not consist of {}", what.name(2)),
                        "use bullet, numbered_item, item, table, code_block or heading",
                    ))
                }
            }
            Self::Language { code } => match language::Tongue::from_code(code) {
                Some(_) => Ok(()),
                None => Err(wrong(
                    "code",
                    format!("the language {code:?} is not known"),
                    "use one of the ISO 639-1 codes that languages() lists",
                )),
            },
            Self::Postscript { marker } => filled("marker", marker),
            Self::Choice { options, .. } => {
                if options.len() < 2 {
                    return Err(wrong(
                        "options",
                        "there is no choice between fewer than two options".to_owned(),
                        "name at least two",
                    ));
                }
                options
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, option)| filled(&format!("options[{i}]"), option))
            }
            Self::Within { which, unit, constraint } => {
                if *which == Which::Nth(0) {
                    return Err(wrong("which", "there is no part 0".to_owned(), "count from 1"));
                }
                if !unit.is_part() {
                    return Err(wrong(
                        "unit",
                        format!("{} are no parts of a response", unit.name(2)),
                        "use word, sentence, paragraph, line, item, bullet, numbered_item, heading, table or code_block",
                    ));
                }
                constraint.check_at(&join("constraint".to_owned()), depth + 1)
            }
            Self::All { of } | Self::Any { of } => {
                if of.is_empty() {
                    return Err(wrong(
                        "of",
                        "a combination of nothing".to_owned(),
                        "name at least one constraint",
                    ));
                }
                of.iter()
                    .enumerate()
                    .try_for_each(|(i, constraint)| constraint.check_at(&join(format!("of[{i}]")), depth + 1))
            }
            Self::Not { constraint } => constraint.check_at(&join("constraint".to_owned()), depth + 1),
            Self::If { condition, then } => {
                condition.check_at(&join("condition".to_owned()), depth + 1)?;
                then.check_at(&join("then".to_owned()), depth + 1)
            }
            Self::Case { .. } | Self::Quoted {} => Ok(()),
        }
    }
}

impl Unit {
    /// All units, in the order of their definition.
    pub const ALL: [Self; 22] = [
        Self::Word,
        Self::Sentence,
        Self::Paragraph,
        Self::Line,
        Self::Character,
        Self::NonSpaceCharacter,
        Self::Item,
        Self::Bullet,
        Self::NumberedItem,
        Self::Heading,
        Self::Table,
        Self::CodeBlock,
        Self::Formula,
        Self::Placeholder,
        Self::Highlight,
        Self::Quotation,
        Self::Link,
        Self::Emoji,
        Self::Number,
        Self::UppercaseWord,
        Self::Question,
        Self::Comma,
    ];

    /// What one, or several, are called.
    #[must_use]
    pub const fn name(self, count: u64) -> &'static str {
        let (one, many) = match self {
            Self::Word => ("word", "words"),
            Self::Sentence => ("sentence", "sentences"),
            Self::Paragraph => ("paragraph", "paragraphs"),
            Self::Line => ("line", "lines"),
            Self::Character => ("character", "characters"),
            Self::NonSpaceCharacter => ("character without spaces", "characters without spaces"),
            Self::Item => ("list item", "list items"),
            Self::Bullet => ("bullet point", "bullet points"),
            Self::NumberedItem => ("numbered item", "numbered items"),
            Self::Heading => ("heading", "headings"),
            Self::Table => ("table", "tables"),
            Self::CodeBlock => ("code block", "code blocks"),
            Self::Formula => ("formula in LaTeX", "formulas in LaTeX"),
            Self::Placeholder => ("placeholder", "placeholders"),
            Self::Highlight => ("highlighted passage", "highlighted passages"),
            Self::Quotation => ("quotation", "quotations"),
            Self::Link => ("link", "links"),
            Self::Emoji => ("emoji", "emoji"),
            Self::Number => ("number", "numbers"),
            Self::UppercaseWord => ("word in capitals", "words in capitals"),
            Self::Question => ("question", "questions"),
            Self::Comma => ("comma", "commas"),
        };
        if count == 1 { one } else { many }
    }

    /// Whether a response can consist of these alone.
    #[must_use]
    pub const fn is_block(self) -> bool {
        matches!(
            self,
            Self::Item | Self::Bullet | Self::NumberedItem | Self::Heading | Self::Table | Self::CodeBlock
        )
    }

    /// Whether a constraint can be put on one of these.
    #[must_use]
    pub const fn is_part(self) -> bool {
        self.is_block() || matches!(self, Self::Word | Self::Sentence | Self::Paragraph | Self::Line)
    }
}

fn is_some_limit(limit: &Limit) -> bool {
    *limit == Limit::SOME
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

fn is_whole(place: &Place) -> bool {
    *place == Place::Whole
}

fn is_somewhere(place: &Place) -> bool {
    *place == Place::Somewhere
}

fn is_comma(separator: &char) -> bool {
    *separator == ','
}

fn is_ps(marker: &String) -> bool {
    marker == "P.S."
}
