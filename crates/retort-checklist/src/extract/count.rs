//! Limits on what can be counted: their amounts, their units, and what they are put on.

use super::mood::Mood;
use super::token::{What, Words, ordinal};
use super::{REACH, Reader, is_negator};
use crate::instruction::is_in;
use crate::{Constraint, Limit, Place, Unit, Which};

/// A number with the words that make it a limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) limit: Limit,
    pub(super) sort: Sort,
    /// Where what is counted stands.
    pub(super) next: usize,
}

/// How a limit is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A number by itself.
    Bare,
    About,
    /// "Only", "just", "exactly".
    Exact,
    Least,
    Most,
    /// "Fewer than": turned round by a negation.
    Under,
    /// "More than": turned round by a negation.
    Over,
    Range,
}

/// Something that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Unit(Unit),
    /// A sign, such as `!`.
    Sign(&'static str),
}

impl Thing {
    pub(super) fn constraint(self, limit: Limit) -> Constraint {
        match self {
            Self::Unit(what) => Constraint::Count { what, limit },
            Self::Sign(text) => Constraint::Phrase {
                text: text.to_owned(),
                limit,
                inside_words: false,
                case_sensitive: false,
            },
        }
    }

    /// Whether it measures the length of a text.
    pub(super) const fn is_length(self) -> bool {
        matches!(
            self,
            Self::Unit(
                Unit::Word
                    | Unit::Sentence
                    | Unit::Paragraph
                    | Unit::Line
                    | Unit::Character
                    | Unit::NonSpaceCharacter
            )
        )
    }

    /// Whether it is a form that a response is given, rather than something in a text.
    pub(super) const fn is_form(self) -> bool {
        matches!(
            self,
            Self::Unit(
                Unit::Bullet
                    | Unit::NumberedItem
                    | Unit::Paragraph
                    | Unit::Sentence
                    | Unit::Heading
                    | Unit::Emoji
                    | Unit::Highlight
            )
        )
    }

    /// Whether it can be asked for, or forbidden, without a number.
    pub(super) const fn is_named(self) -> bool {
        !self.is_length()
    }
}

const LEAST: &str = "at least|at the very least|at the least|at a minimum|at minimum|no fewer than|no less than|not less than|not fewer than|\
    never fewer than|never less than|a minimum of|minimum of|a minimum length of|minimum length of|minimum length|minimum|min|> =|≥|upwards of|\
    not under|not below|no shorter than|not any fewer than|not any less than|anything from|minimally|nothing below|nothing under|nothing shorter than|nothing less than|nothing fewer than|not shorter than|never under|not any shorter than|no smaller than|a bare minimum of|not be shorter than|no lower than";
const MOST: &str = "at most|at the most|at the very most|at max|at maximum|no more than|not more than|never more than|no longer than|not longer than|\
    never longer than|up to|max|max length|maximum of|a maximum of|a max of|max of|the maximum of|maximum|maximum length of|a maximum length of|\
    maximum length|< =|≤|no greater than|no bigger than|no larger than|not over|not above|never over|no over|within|not exceeding|\
    not to exceed|without exceeding|without going over|without going above|without going past|limited to|limit of|capped at|cap of|not beyond|never exceeding|\
    restricted to|confined to|no higher than|tops|nothing more than|nothing beyond|at the outside|not to surpass|not any longer than|not any more than|nothing over|nothing longer than|as many as|anything up to|never above|nothing above|upper limit of|not go over|not go beyond|not go above|not to go over";
const UNDER: &str = "under|below|fewer than|less than|shorter than|<|smaller than|lower than|just under|well under|strictly under|strictly fewer than|strictly less than";
const OVER: &str = "more than|over|above|longer than|exceeding|exceed|exceeds|greater than|>|beyond|in excess of|go over|goes over|go beyond|go above|go past|larger than|just over|well over|surpass|surpassing|any longer than|any more than|strictly more than";
const ABOUT: &str = "about|around|roughly|approximately|approx|~|≈|circa|ca|close to|nearly|almost|in the region of|\
    in the neighborhood of|in the neighbourhood of|more or less|somewhere around|somewhere near|in the ballpark of|of around|some|give or take|very roughly|or so";
const EXACT: &str = "exactly|precisely|exact|just|only|strictly|no more and no less than|no more or less than|no more , no less than|no more no less than|neither more nor less than|no fewer and no more than|no less and no more than|not more and not less than|no more and no fewer than|no more nor less than|literally|merely";
const PLAIN: &str = "a total of|total of|a full|a good|a length of|the number of";

fn qualifier(words: Words<'_>, at: usize) -> Option<(Sort, usize)> {
    let (sort, length) = words.get(at)?.known.sort?;
    Some((sort, (at + length).min(words.len())))
}

/// The words with which a qualifier begins: most tokens are none of them.
const FIRST: &str = "at no a minimum min > ≥ upwards not never max up maximum < ≤ within without limited limit capped \
    restricted confined nothing as anything cap upper inside under below fewer less shorter smaller lower just well strictly more \
    over above longer exceeding exceed exceeds greater beyond in go goes larger surpass surpassing any about around roughly \
    approximately approx ~ ≈ circa ca close nearly almost somewhere of some give very or exactly precisely exact only \
    neither literally merely total the";

pub(super) fn read_qualifier(words: Words<'_>, at: usize) -> Option<(Sort, usize)> {
    if !words.is(at, FIRST) {
        return None;
    }
    let skip = |next: usize| {
        let is_short = words.is(next.saturating_sub(1), "max min approx ca maximum minimum length");
        if words.is(next, ". :") && is_short { next + 1 } else { next }
    };
    // The longest that fits decides: "no more and no less than" against "no more".
    let lists = [
        (Sort::Exact, EXACT),
        (Sort::Least, LEAST),
        (Sort::Most, MOST),
        (Sort::Under, UNDER),
        (Sort::Over, OVER),
        (Sort::About, ABOUT),
        (Sort::Bare, PLAIN),
    ];
    let mut best: Option<(Sort, usize)> = None;
    if words.number(at).is_some() {
        return None;
    }
    for (sort, list) in lists {
        for sequence in list.split('|') {
            if sequence.as_bytes().first() != words.low(at).as_bytes().first() {
                continue;
            }
            if let Some(next) = words.seq(at, sequence)
                && best.is_none_or(|(_, longest)| next > longest)
            {
                best = Some((sort, next));
            }
        }
    }
    let (sort, next) = best?;
    let next = skip(next);
    // "Just under 100", "only about 50", "of no more than": what stands nearer to the number decides.
    if matches!(sort, Sort::Exact | Sort::About | Sort::Bare)
        && let Some((nearer, end)) = qualifier(words, next)
    {
        return Some((nearer, end));
    }
    Some((sort, next))
}

/// A number behind which a range may end: "3 to 5", "3-5", "two or three".
fn range_end(words: Words<'_>, at: usize, low: u64) -> Option<(u64, usize)> {
    let at = if words.is(at, "-") && words.is(at + 1, "to or") { at + 1 } else { at };
    let is_sign = words.is(at, "- — – to through till until");
    let is_or = words.low(at) == "or";
    if !is_sign && !is_or {
        return None;
    }
    let (high, next) = words.number(at + 1)?;
    if is_or {
        return (high > low && high <= low + 2).then_some((high, next));
    }
    (high > low).then_some((high, next))
}

/// A tolerance behind a number or its unit, in the same measure: "± 10", "give or take 20", "(+/- 10%)".
fn tolerance(words: Words<'_>, at: usize, of: u64) -> Option<(u64, usize)> {
    let at = if words.is(at, "long") { at + 1 } else { at };
    let at = if words.is(at, "( ,") { at + 1 } else { at };
    let next = words.any(at, "±|+ / -|+ -|give or take|plus or minus|plus / minus|plus minus|+/-|with a tolerance of|within a margin of|tolerance of|tolerance :|with a margin of")?;
    let next = if words.low(next) == "about" { next + 1 } else { next };
    let (value, next) = words.number(next)?;
    if words.is(next, "% percent") {
        return Some((of.checked_mul(value)? / 100, next + 1));
    }
    let next = if words.is(next, "words characters word sentences lines chars") { next + 1 } else { next };
    Some((value, next))
}

/// An amount at a place, from its first word on.
pub(super) fn limit(words: Words<'_>, at: usize) -> Option<Amount> {
    let amount = words.get(at)?.known.amount?;
    Some(Amount { next: (at + amount.next).min(words.len()), ..amount })
}

pub(super) fn read_limit(words: Words<'_>, at: usize) -> Option<Amount> {
    if at >= words.len() {
        return None;
    }
    let between = words.any(at, "between|anywhere between|somewhere between|from|anywhere from|ranging from|in between|somewhere from");
    if let Some(start) = between {
        let (low, next) = words.number(start)?;
        let glue = words.is(next, "and to - — or");
        let unit = if glue { None } else { counted(words, next).map(|(_, next)| next) };
        let next = unit.unwrap_or(next);
        if !words.is(next, "and to - — or") {
            return None;
        }
        let next = words.any(next + 1, "at most|no more than").unwrap_or(next + 1);
        let (high, next) = words.number(next)?;
        if high >= low {
            return Some(Amount { limit: Limit::Between(low, high), sort: Sort::Range, next });
        }
        // "Cut it from 500 words to 100."
        let limit = Limit::Exactly(high);
        return Some(Amount { limit, sort: Sort::Bare, next });
    }
    let (sort, start) = qualifier(words, at).unwrap_or((Sort::Bare, at));
    let (value, mut next) = words.number(start)?;
    // "4 (four)"
    if words.low(next) == "("
        && words.number(next + 1).is_some_and(|(again, end)| again == value && words.low(end) == ")")
    {
        next += 3;
    }
    let amount = |limit, sort, next| Some(Amount { limit, sort, next });
    if let Some((spread, end)) = tolerance(words, next, value) {
        let limit = Limit::Between(value.saturating_sub(spread), value.saturating_add(spread));
        return amount(limit, Sort::Range, if words.low(end) == ")" { end + 1 } else { end });
    }
    if matches!(sort, Sort::Bare | Sort::About | Sort::Exact | Sort::Most)
        && let Some((high, next)) = range_end(words, next, value)
    {
        return amount(Limit::Between(value, high), Sort::Range, next);
    }
    // "no fewer than five and no more than eight paragraphs"
    if matches!(sort, Sort::Least | Sort::Over | Sort::Most | Sort::Under) {
        let joined = if words.is(next, "and but , to") { next + 1 } else { next };
        let joined = if joined > next && words.is(joined, "and but") { joined + 1 } else { joined };
        if joined > next
            && let Some((second_sort, start)) = qualifier(words, joined)
            && let Some((second, next)) = words.number(start)
            && counted(words, next).is_some()
        {
            let one = bounds(sort, value);
            let other = bounds(second_sort, second);
            if let (Limit::AtLeast(low), Limit::AtMost(high)) | (Limit::AtMost(high), Limit::AtLeast(low)) =
                (one, other)
                && low <= high
            {
                return amount(Limit::Between(low, high), Sort::Range, next);
            }
        }
    }
    if matches!(sort, Sort::Bare | Sort::About | Sort::Exact) {
        if let Some(end) = words
            .any(next, "or fewer|or less|or under|or below|at most|max|maximum|tops|and under|and no more")
        {
            return amount(Limit::AtMost(value), Sort::Most, end);
        }
        if let Some(end) =
            words.any(next, "or more|or over|or above|and more|and up|plus|minimum|min|at least|and above|+")
        {
            return amount(Limit::AtLeast(value), Sort::Least, end);
        }
        if let Some(end) = words.any(next, "or so|ish|or thereabouts|odd") {
            return amount(Limit::About(value), Sort::About, end);
        }
    }
    amount(bounds(sort, value), sort, next)
}

/// The limit that a qualifier makes of a number.
const fn bounds(sort: Sort, value: u64) -> Limit {
    match sort {
        Sort::Least => Limit::AtLeast(value),
        Sort::Most => Limit::AtMost(value),
        Sort::Under => Limit::AtMost(value.saturating_sub(1)),
        Sort::Over => Limit::AtLeast(value.saturating_add(1)),
        Sort::About => Limit::About(value),
        Sort::Bare | Sort::Exact | Sort::Range => Limit::Exactly(value),
    }
}

/// A thing that is named at a place, and where its name ends.
pub(super) fn thing(words: Words<'_>, at: usize) -> Option<(Thing, usize)> {
    let (thing, length) = words.get(at)?.known.thing?;
    Some((thing, (at + length).min(words.len())))
}

pub(super) fn read_thing(words: Words<'_>, at: usize) -> Option<(Thing, usize)> {
    let unit = |unit, next| Some((Thing::Unit(unit), next));
    let sign = |text, next| Some((Thing::Sign(text), next));
    let low = words.low(at);
    if !words.is_word(at) {
        return if low == "#" && words.low(at + 1) == "headings" {
            unit(Unit::Heading, at + 2)
        } else {
            None
        };
    }
    // Names of several words come before those that they end in.
    if let Some(next) = words.any(at, "all caps words|all caps word|uppercase words|upper case words|capitalised words|capitalized words|words in all caps|words in all capitals|words in all capital letters|words in capital letters|words in capitals|words in uppercase|words in all uppercase|words in upper case|words in caps|words all in capitals|words all in caps|words all in capital letters|words entirely in capitals|words entirely in capital letters|words fully in capitals|words written in all caps|words written in capitals|words written in capital letters|word in all caps|word in all capitals|word in capital letters|word in capitals|word in uppercase|fully capitalized words|fully capitalised words|all capital words|words that are in all caps|words that are all caps|words with all capital letters|words of all capital letters") {
        return unit(Unit::UppercaseWord, next);
    }
    if let Some(next) = words.any(at, "exclamation marks|exclamation mark|exclamation points|exclamation point|exclamations|exclamation signs") {
        return sign("!", next);
    }
    if let Some(next) = words.any(at, "question marks|question mark") {
        return sign("?", next);
    }
    if let Some(next) = words.any(at, "em dashes|em dash|emdashes|emdash|long dashes") {
        return sign("—", next);
    }
    if let Some(next) = words.any(at, "bullet points list|bullet point list|bullet point lists|bullet point form|bullet point format|bullet points|bullet point|bulleted points|bulleted list|bulleted lists|bullet list|bullet lists|bullet point list|bullet point lists|bullet points list|bullet pointed list|bulleted items|bulleted item|bullet items|unordered list|unordered lists|bulletpoints|bulletpoint|bullet form|bullet format|bulleted form|bulleted format|bullet point form|bullet point format|dot points|bulleted lines|dashed list|bullets|bullet") {
        return (!words.is(next, "train trains journal journals holes hole proof vest wound wounds journaling")).then_some(Thing::Unit(Unit::Bullet)).map(|thing| (thing, next));
    }
    if let Some(next) = words.any(at, "numbered list|numbered lists|ordered list|ordered lists|numbered items|numbered item|numbered steps|numbered step|numbered points|numbered point|list numbered|numeric list|numbered entries|numbered lines") {
        return unit(Unit::NumberedItem, next);
    }
    if low == "numbered"
        && words.is(at.wrapping_sub(1), ", (")
        && (words.is(at + 1, ". , ; ! )") || at + 1 == words.len())
    {
        return unit(Unit::NumberedItem, at + 1);
    }
    if low == "numbered"
        && words.is_word(at + 1)
        && !words.is(at + 1, "section sections paragraphs and from with")
    {
        return unit(Unit::NumberedItem, at + 2);
    }
    if low == "bulleted" && words.is_word(at + 1) && !words.is(at + 1, "section sections and") {
        return unit(Unit::Bullet, at + 2);
    }
    if let Some(next) = words.any(at, "list items|list item|items|item|list entries|entries|entry") {
        return (low != "item" || !words.is(next, "of number")).then_some((Thing::Unit(Unit::Item), next));
    }
    if let Some(next) = words.any(at, "code blocks|code block|code snippets|code snippet|codeblocks|codeblock|fenced code blocks|fenced code block|code fences|code fence|fenced blocks|blocks of code|block of code|snippets of code|fenced code") {
        return unit(Unit::CodeBlock, next);
    }
    if let Some(next) = words.any(at, "headings|heading|headers|section headings|section headers|subheadings|sub headings|subheading|markdown headings|markdown headers|markdown heading|subheaders|section heading") {
        return unit(Unit::Heading, next);
    }
    if let Some(next) = words.any(at, "markdown tables|tables") {
        return unit(Unit::Table, next);
    }
    if let Some(next) = words.any(at, "latex formulas|latex formula|formulas in latex|formulae in latex|equations in latex|latex equations|latex equation|formula in latex|equation in latex|display equations") {
        return unit(Unit::Formula, next);
    }
    if let Some(next) = words.any(at, "highlighted sections|highlighted section|highlighted passages|highlighted passage|highlighted phrases|highlighted phrase|highlighted words|highlighted parts|bold phrases|bolded phrases|bold passages|bold words|bolded words|italic phrases|italicised phrases|italicized phrases|emphasised phrases|emphasized phrases|phrases in bold|words in bold|highlights|bolded terms|terms in bold|bold terms|passages in bold|key phrases in bold|phrases in italics|words in italics|terms in italics|italicised words|italicized words|bolded passages|emphasised words|emphasized words|italic words") {
        return unit(Unit::Highlight, next);
    }
    if let Some(next) = words.any(
        at,
        "direct quotations|direct quotation|quotations|quotation|direct quotes|direct quote|quotes|quote",
    ) {
        return (!words.is(next, "mark marks")).then_some((Thing::Unit(Unit::Quotation), next));
    }
    if matches!(low, "words" | "word" | "wds") {
        // "Words" of a kind are other things than a length.
        return (!words.is(
            at + 1,
            "games game problem problems puzzle search processor documents document limit art choice",
        ))
        .then_some((Thing::Unit(Unit::Word), at + 1));
    }
    let found = match low {
        "sentence" | "sentences" => Unit::Sentence,
        "sentance" | "sentances" => Unit::Sentence,
        "paragraph" | "paragraphs" | "para" | "paras" => Unit::Paragraph,
        "line" | "lines" => Unit::Line,
        "characters" | "character" | "chars" | "char" => {
            let end = words.any(
                at + 1,
                "not counting spaces|without spaces|excluding spaces|not including spaces|without counting spaces|( excluding spaces )|( without spaces )|( not counting spaces )|( not including spaces )|, not counting spaces|, excluding spaces|, without spaces|, not including spaces|, spaces not counted|, spaces excluded|( spaces not counted )|( spaces excluded )|( no spaces )|, without counting spaces|if you leave out spaces|, ignoring spaces|ignoring spaces|( ignoring spaces )|spaces not included|, spaces not included|( spaces not included )|disregarding spaces",
            );
            if let Some(end) = end {
                return unit(Unit::NonSpaceCharacter, end);
            }
            if let Some((counts, end)) = spaces(words, at + 1) {
                return unit(if counts { Unit::Character } else { Unit::NonSpaceCharacter }, end);
            }
            let end = words.any(at + 1, "including spaces|with spaces|counting spaces|( including spaces )|( with spaces )|, including spaces|, spaces included|( spaces included )|( counting spaces )|, counting spaces|including spaces and punctuation|spaces included");
            if let Some(end) = end {
                return unit(Unit::Character, end);
            }
            Unit::Character
        }
        "placeholders" | "placeholder" => Unit::Placeholder,
        "links" | "link" | "urls" | "url" | "hyperlinks" | "hyperlink" => Unit::Link,
        "emoji" | "emojis" | "emoticons" | "emoticon" | "smileys" => Unit::Emoji,
        "digits" | "digit" | "numerals" | "numeral" => Unit::Number,
        "numbers" if !words.is(at + 1, "of") => Unit::Number,
        "questions" | "question" => Unit::Question,
        "commas" | "comma" => Unit::Comma,
        "semicolons" | "semicolon" => return sign(";", at + 1),
        "colons" | "colon" => return sign(":", at + 1),
        "ampersands" | "ampersand" => return sign("&", at + 1),
        "hashtags" | "hashtag" => return sign("#", at + 1),
        "asterisks" | "asterisk" => return sign("*", at + 1),
        "ellipses" | "ellipsis" => return sign("...", at + 1),
        _ => return None,
    };
    unit(found, at + 1)
}

/// "(spaces don't count)", ", counting the spaces": whether spaces count, in brackets or behind a comma.
fn spaces(words: Words<'_>, at: usize) -> Option<(bool, usize)> {
    let opens = words.is(at, "( ,");
    if !opens && !words.is(at, "ignoring excluding without counting including") {
        return None;
    }
    let is_bracket = words.low(at) == "(";
    let end = (at + 1..at + 8).find(|end| {
        if is_bracket {
            words.low(*end) == ")"
        } else {
            *end >= words.len() || words.is(*end, ", . ; : ! ) and but")
        }
    })?;
    let has = |list: &str| (at..end).any(|at| words.is(at, list));
    if !has("spaces space whitespace blanks") {
        return None;
    }
    let excluded = has(
        "not don't doesn't aren't excluding excluded exclude without no ignore ignored ignoring minus disregard disregarding except leaving",
    );
    if !excluded && !has("count counts counted counting include included including with incl") {
        return None;
    }
    Some((!excluded, if is_bracket { end + 1 } else { end }))
}

/// A thing that is counted at a place, with up to two adjectives before its name.
pub(super) fn counted(words: Words<'_>, at: usize) -> Option<(Thing, usize)> {
    // "of the following 3 sentences" is no count; adjectives are words that say nothing else.
    for (name, skipped) in (at..).zip(0..4) {
        if let Some((found, next)) = thing(words, name) {
            // "Three French words" are words to learn, "three clear sentences" are a length.
            let is_length_of_words = matches!(found, Thing::Unit(Unit::Word | Unit::Character));
            if is_length_of_words
                && (at..name).any(|at| {
                    !words.is(at, "total more whole extra full or fewer less max maximum printed plain")
                })
            {
                return None;
            }
            // "Four bulleted sentences", "two-sentence paragraphs": the last noun is what is counted.
            if words.is_glued(next)
                && let Thing::Unit(_) = found
                && thing(words, next).is_some()
            {
                return None;
            }
            return Some((found, next));
        }
        if skipped == 3
            || !words.is_word(name) && !(words.low(name) == "," && skipped > 0)
            || words.is(name, NO_ADJECTIVES)
            || words.number(name).is_some() && !words.is(name, "single second")
        {
            return None;
        }
    }
    None
}

const NO_ADJECTIVES: &str = "a an the of in on at to for from with without by and or but that which who is are was were be \
    has have had as than per each every my your his her our their its this these those about into if when not no most \
    reasons ways things people tips ideas steps times minutes hours days weeks months years pages chapters examples facts \
    points parts sections countries books films movies students characters percent";

/// Units of time and space: "words per minute" is no length.
const RATES: &str =
    "minute hour day week month year second page night time episode lesson semester game round";

/// Parts of a response that cannot be told from the rest: a limit on them is not one on the whole.
const UNKNOWN_PARTS: &str = "introduction intro conclusion caption signature footnote subject greeting closing salutation \
    preface prologue epilogue teaser hook abstract tagline slogan byline disclaimer footer subtitle outro stanza verse chapter \
    section sections answer's example examples definition definitions cell cells row rows column columns slide slides scene dialogue \
    stanzas verses chapters scenes explanation justification rationale note turn turns line's question questions part parts half \
    description descriptions names name key keys value values username variable variables function functions password slug";

/// Whether a word names a part that cannot be told by its form.
pub(super) fn is_other_part(word: &str) -> bool {
    is_in(word, UNKNOWN_PARTS)
}

/// What a limit is put on.
enum Scope {
    Whole,
    Part(Which, Unit),
    /// Something that code cannot find.
    Unknown,
}

/// The unit that a word names as a part of a response.
fn part_unit(words: Words<'_>, at: usize, list: Option<Unit>) -> Option<Unit> {
    if let Some((Thing::Unit(unit), _)) = thing(words, at)
        && unit.is_part()
    {
        return Some(match unit {
            Unit::Item => list.unwrap_or(Unit::Item),
            other => other,
        });
    }
    if words.is(at, "point tip reason step idea suggestion benefit fact example answer entry option recommendation rule lesson advantage argument ingredient name title pro con element points tips reasons steps ideas suggestions facts") {
        return list;
    }
    None
}

impl Reader<'_, '_, '_> {
    /// What the words from one place to another are put on.
    fn scope(&self, from: usize, to: usize, thing: Thing) -> Scope {
        let words = self.words;
        let own = match thing {
            Thing::Unit(unit) => Some(unit),
            Thing::Sign(_) => None,
        };
        if words.any(to, "in total|total|overall|altogether|in all|all together|long in total").is_some() {
            return Scope::Whole;
        }
        // "…, and close with the line …" begins anew.
        if is_in(words.low(from), super::REQUESTS)
            && words.is(from.saturating_sub(1), "and but please , also")
            && from > 2
            && !(from.saturating_sub(12)..from).any(|at| words.is(at, "each every whose with all none which"))
            && !(words.is(0, "for in within") && words.is(1, "each every the"))
        {
            return Scope::Whole;
        }
        let is_apart = words.is(from, "no without leave avoid omit skip never don't")
            && words.is(from.saturating_sub(1), ", and please but");
        if is_apart && from > 0 && !words.is(to, "in within on per") {
            return Scope::Whole;
        }
        let list = self.memory.list;
        let each = |unit: Option<Unit>| match unit {
            Some(unit) if unit.is_part() && Some(unit) != own => Scope::Part(Which::Each, unit),
            _ => Scope::Unknown,
        };
        // "three sentences each", "per bullet", "in each paragraph"
        let mut end = to;
        if words.is(end, "long maximum max or at in") && !words.is(end, "in or at") {
            end += 1;
        }
        if words.is(end, "each apiece") && !words.is(end + 1, "day week time month year") {
            return each(
                self.memory
                    .unit
                    .or_else(|| self.unit_before(from))
                    .filter(|unit| unit.is_part() && Some(*unit) != own)
                    .or(list),
            );
        }
        let behind = words.any(end, "per|in each|for each|in every|for every|to each|on each|within each|to a|in any|each|to every|a|on every|in the|in your|for the|of each|of every");
        if let Some(next) = behind {
            if words.is(next, "title headline") {
                return Scope::Part(Which::First, Unit::Heading);
            }
            if let Some(which) = which(words, next) {
                if let Some(unit) = part_unit(words, next + 1, list).filter(|unit| Some(*unit) != own) {
                    return Scope::Part(which, unit);
                }
            } else if !words.is(end, "a") || words.low(end) == "to" {
                let is_each = words.seq(end, "in the").is_none()
                    && words.seq(end, "in your").is_none()
                    && words.seq(end, "for the").is_none();
                if let Some(unit) = part_unit(words, next, list) {
                    if is_each {
                        return each(Some(unit));
                    }
                } else if is_each
                    && words.is(end, "per for in")
                    && words.is_word(next)
                    && !words.is(next, RATES)
                {
                    // "One paragraph per planet": how many there are code cannot tell.
                    return Scope::Unknown;
                } else if words.is(next, UNKNOWN_PARTS) && (is_each || !words.is(next, "example examples")) {
                    return Scope::Unknown;
                }
            }
        }
        // What stands before: the nearest that names a part, or the whole.
        let mut seen = 0;
        let mut at = from;
        while at > 0 && seen < REACH {
            at -= 1;
            seen += 1;
            let low = words.low(at);
            if is_in(low, "; ! .") {
                break;
            }
            if words.is_what(at, What::Quoted) && !words.is(at + 1, ", and") {
                continue;
            }
            // "…, and there must be six lines", "and the poem must …"
            if low == "there" && words.is(at + 1, "should must has have needs shall are is") && at > 0
                || low == "the"
                    && words.is(at.saturating_sub(1), "and ,")
                    && words.is(
                        at + 1,
                        "poem text whole story essay email letter article response answer post entire",
                    )
                    && words.is(at + 2, "should must has needs shall may can thing")
            {
                return Scope::Whole;
            }
            // A coordinate request begins anew, unless it speaks of "each" itself.
            if (is_in(low, super::REQUESTS) || is_in(low, "leave avoid skip omit never don't"))
                && at > 0
                && words.is(at - 1, "and but then please , also")
                && !(at + 1..from).any(|at| words.is(at, "each every"))
                && !(words.is(0, "for in within")
                    && words.is(1, "each every the")
                    && words.low(at - 1) == ",")
            {
                if words.is(at - 1, "then") || words.low(at) == "then" {
                    return self.after_then(at, thing);
                }
                // "Show the function, and describe it in one sentence": a second text.
                if thing.is_length()
                    && is_in(low, "explain describe summarise summarize")
                    && words.is(at + 1, "it this them why how what each your the")
                    && (0..at).take(4).any(|at| words.is(at, "show write give provide list create draw translate generate output classify name implement"))
                {
                    return Scope::Unknown;
                }
                return Scope::Whole;
            }
            if low == "then" && at > 0 && words.is(at + 1, super::REQUESTS) {
                return self.after_then(at, thing);
            }
            if is_in(low, "total overall whole entire altogether response answer reply output")
                && !words.is(at.saturating_sub(1), "each every")
            {
                return Scope::Whole;
            }
            // "Every reply must …", "each of your answers": the response.
            if is_in(low, "each every all")
                && let Some(noun) = words.any(at + 1, "of your|of the|your|the|single|of my").or(Some(at + 1))
                && words.is(noun, "reply response message output replies responses messages outputs answer answers turn email post")
                && !(words.is(noun, "answer answers") && (self.memory.things.is_some() || self.memory.unit.is_some_and(|unit| Some(unit) != own)))
            {
                return Scope::Whole;
            }
            if is_in(low, "each every any all both")
                || low == "no" && words.is(at + 2, "may should can must longer over with shorter exceeding above of exceeds is has that contains under to shall or exceed may")
            {
                let named = (at + 1..from.min(at + 5)).find_map(|next| part_unit(words, next, list));
                if is_in(low, "any all both") {
                    if low == "all" && let Some(unit) = named && words.is(at + 1, "paragraphs sentences lines bullets bullet items headings the") {
                        return each(Some(unit));
                    }
                    continue;
                }
                // "Whose lines each have …"
                let named = named.or_else(|| part_unit(words, at.checked_sub(1)?, list).filter(|_| low == "each"));
                if let Some(unit) = named {
                    return each(Some(unit));
                }
                if words.is(at + 1, "of , under at no with in between about a being one must should has have having exactly over is may can needs limited roughly around up approximately containing has shorter longer single max maximum not more fewer less to consisting will only just ending starting beginning opening closing concluding ends starts begins") || limit(words, at + 1).is_some() {
                    return each(self.unit_before(at).or(self.memory.unit).filter(|unit| unit.is_part() && Some(*unit) != own).or(list));
                }
                return Scope::Unknown;
            }
            if low == "with"
                && words.is(at + 1, "a an")
                && words.is(at + 2, "title headline heading")
                && !words.is(from.saturating_sub(1), "and plus &")
                || is_in(low, "heading") && words.is(at.saturating_sub(1), "the its") && is_subject(words, at)
                || is_in(low, "title headline") && is_subject(words, at) && !is_main_object(words, at)
            {
                if own == Some(Unit::Heading) {
                    continue;
                }
                return Scope::Part(Which::First, Unit::Heading);
            }
            // "Two paragraphs, the first with three sentences"
            if words.is(at.saturating_sub(1), "the")
                && words.is(at + 1, "with of has having should must being contains containing at no in")
                && let Some(which) = which(words, at)
                && let Some(unit) = self
                    .unit_before(at)
                    .or(self.memory.unit)
                    .filter(|unit| unit.is_part() && Some(*unit) != own)
            {
                return Scope::Part(which, unit);
            }
            if let Some(which) = which(words, at)
                && let Some(unit) = part_unit(words, at + 1, list)
                && Some(unit) != own
            {
                return Scope::Part(which, unit);
            }
            if low == "subject" && words.low(at + 1) == "line" {
                return Scope::Unknown;
            }
            if low == "none"
                && let Some(noun) = words.any(at + 1, "of the|of your|of these|of its")
                && let Some(unit) = part_unit(words, noun, list)
            {
                return each(Some(unit));
            }
            if low == "none" && words.is(at + 1, "longer shorter of over with exceeding more") {
                return each(self.memory.unit.filter(|unit| unit.is_part() && Some(*unit) != own).or(list));
            }
            if is_in(low, UNKNOWN_PARTS) && is_subject(words, at) && !is_main_object(words, at) {
                // "Your description has to …": what was asked for as a whole.
                if self.memory.made.iter().any(|made| made == low)
                    && words.is(at.saturating_sub(1), "the your this its our whole entire final")
                {
                    return Scope::Whole;
                }
                // "Restrict your explanation to fifty words."
                if self.memory.sentence == 0
                    && is_in(low, "explanation description definition")
                    && words.is(at.saturating_sub(1), "your")
                {
                    return Scope::Whole;
                }
                return Scope::Unknown;
            }
        }
        // "A summary of at most three sentences, followed by a list": of a part.
        if thing.is_length()
            && words.any(to, ", followed by|followed by|, then a|and then a|plus a|, plus a").is_some()
        {
            return Scope::Unknown;
        }
        // "Explain it in two sentences", once code or a choice was asked for.
        if thing.is_length()
            && self.memory.holds
            && (0..2).any(|at| {
                words.is(at, "explain justify describe comment summarise summarize")
                    && words.is(at + 1, "it this them why how what your the in briefly")
            })
        {
            return Scope::Unknown;
        }
        // A part that is added: "followed by a two-sentence summary".
        if thing.is_length() && self.is_addition(from, to) {
            return Scope::Unknown;
        }
        Scope::Whole
    }

    /// The parts that are named last before a place: "six sentences, the last of which …".
    fn unit_before(&self, at: usize) -> Option<Unit> {
        (at.saturating_sub(12)..at).rev().find_map(|at| match thing(self.words, at) {
            Some((Thing::Unit(unit), next)) if unit.is_part() && is_plural(self.words, next - 1) => {
                Some(unit)
            }
            _ => None,
        })
    }

    /// "…, then explain it in two sentences": a limit on what follows, not on the whole.
    fn after_then(&self, at: usize, thing: Thing) -> Scope {
        if thing.is_length() && (at > 2 || self.memory.sentence > 0) { Scope::Unknown } else { Scope::Whole }
    }

    /// Whether a length is that of something added to the rest.
    fn is_addition(&self, from: usize, to: usize) -> bool {
        let words = self.words;
        let lead = if words.is(from.saturating_sub(1), "a an the brief short") {
            from.saturating_sub(1)
        } else {
            from
        };
        let article = lead < from;
        let is_noun_behind = words.is_word(to) && words.is_glued(to.saturating_sub(1));
        let adds = words.ends_before(lead, "followed by|along with|together with|as well as|plus|preceded by|ending with|starting with|beginning with|end with|finish with|begin with|start with|conclude with|add|append|attach|opening with|open with|close with|closing with|include|and include|and add|accompanied by|including|and then|wrap up with|lead with|after that|ends with|starts with|begins with|up with|prepend|insert|adding|add another|then").is_some();
        if adds {
            return true;
        }
        // "a title and a 50-word summary"
        article && is_noun_behind && words.is(lead.saturating_sub(1), "and with plus") && lead > 2
    }

    /// Puts a constraint on what it is meant for.
    fn scoped(&mut self, constraint: Constraint, thing: Thing, from: usize, to: usize) {
        match self.scope(from, to, thing) {
            Scope::Whole => self.push(constraint, from, to),
            Scope::Part(which, unit) => {
                let constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
                self.push(constraint, from, to);
            }
            Scope::Unknown => self.pass(from, to),
        }
    }

    /// Limits with a number.
    pub(super) fn counts(&mut self) {
        let words = self.words;
        if self.two_texts() {
            return;
        }
        self.note_made();
        let mut at = 0;
        let mut pending: Option<Pending> = None;
        while at < words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                at += 1;
                continue;
            }
            if let Some(next) = self.named_limit(at) {
                at = next;
                continue;
            }
            if let Some(next) = self.appears(at) {
                at = next;
                continue;
            }
            if let Some((next, list)) = self.list_of(at) {
                if let Some(list) = list {
                    pending = Some(list);
                }
                at = next;
                continue;
            }
            let Some(amount) = limit(words, at) else {
                at += 1;
                continue;
            };
            if let Some(next) = self.parts_of_a_length(at, amount) {
                at = next;
                continue;
            }
            if words.is(at.saturating_sub(1), "highlight bold italicise italicize emphasise emphasize highlighting bolding") && at > 0
                && let Some(noun) = (amount.next..amount.next + 3).find(|at| words.is(*at, "passages sections phrases parts terms words passage phrase section part term points sentences ideas things"))
            {
                self.count(at, amount, Thing::Unit(Unit::Highlight), noun + 1);
                at = noun + 1;
                continue;
            }
            let Some((thing, next)) = counted(words, amount.next) else {
                // "At most ten steps.", where numbered steps were asked for.
                if let Some(list) = self.memory.list
                    && pending.is_none()
                    && (amount.sort != Sort::Bare || at == 0)
                    && words.is(amount.next, "steps points items tips entries reasons ideas")
                    && (amount.next + 1 >= words.len()
                        || words.is_what(amount.next + 1, What::Sign)
                        || words.is(amount.next + 1, "max maximum in please"))
                    && self.asks(at)
                    && (!self.is_negated(at) || amount.sort == Sort::Most)
                {
                    let found = Thing::Unit(list);
                    self.scoped(found.constraint(amount.limit), found, at, amount.next + 1);
                    at = amount.next + 1;
                    continue;
                }
                // "Suggest 3 to 5 names … in a numbered list."
                if pending.is_none() && self.is_asked_number(at) {
                    pending = Some(Pending {
                        limit: amount.limit,
                        from: at,
                        to: amount.next,
                        is_list: false,
                        of_them: false,
                    });
                    self.note_things(amount);
                }
                if pending.is_none()
                    && let Some(end) =
                        words.any(amount.next, "of them|of these|of those|in all|in total|altogether")
                    && self.asks(at)
                {
                    pending = Some(Pending {
                        limit: amount.limit,
                        from: at,
                        to: end,
                        is_list: false,
                        of_them: true,
                    });
                }
                self.elliptical(at, amount);
                at = amount.next.max(at + 1);
                continue;
            };
            if matches!(thing, Thing::Unit(Unit::Question))
                && pending.is_none()
                && (words.is(at.saturating_sub(1), "of with") || self.is_asked_number(at))
            {
                pending =
                    Some(Pending { limit: amount.limit, from: at, to: next, is_list: false, of_them: false });
            }
            let emphasises = words.is(
                at.saturating_sub(1),
                "highlight bold italicise italicize emphasise emphasize highlighting bolding",
            ) && at > 0;
            let thing = if emphasises { Thing::Unit(Unit::Highlight) } else { thing };
            self.count(at, amount, thing, next);
            at = next.max(at + 1);
        }
        self.lists(pending);
    }

    /// "Words in all caps should appear fewer than five times."
    fn appears(&mut self, at: usize) -> Option<usize> {
        let words = self.words;
        let (found, next) = thing(words, at)?;
        if found.is_length()
            || !self.asks(at)
            || limit(words, at.saturating_sub(1)).is_some_and(|amount| amount.next <= at) && at > 0
        {
            return None;
        }
        if !words.is(next, "should must may can shall have has need") {
            return None;
        }
        let verb = (next..next + 4).find(|at| words.is(*at, "appear occur used feature show"))?;
        let behind = if words.low(verb) == "show" { verb + 2 } else { verb + 1 };
        let (mut limit, end) = self.times(behind)?;
        if (next..verb).any(|at| words.is(at, "not never")) {
            limit = match limit {
                Limit::AtLeast(least) if least > 1 => Limit::AtMost(least - 1),
                _ => return None,
            };
        }
        self.scoped(found.constraint(limit), found, at, end);
        Some(end)
    }

    /// "A 200-word story and a 50-word summary": two texts, and neither length is that of the whole.
    fn two_texts(&mut self) -> bool {
        let words = self.words;
        let mut texts: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let next = limit(words, at).and_then(|amount| {
                let (found, next) = thing(words, amount.next)?;
                let is_text = found.is_length()
                    && words.is_glued(next - 1)
                    && words.is_word(next)
                    && !words.is(next, "limit maximum max minimum cap long range and or paragraphs paragraph sentences lines bullets bullet points")
                    && words.is(at.saturating_sub(1), "a an one another the followed");
                is_text.then_some(next)
            });
            if let Some(next) = next {
                texts.push((at, next));
                at = next;
            }
            at += 1;
        }
        let (Some((first, _)), Some((_, last))) = (texts.first(), texts.last()) else { return false };
        let joined =
            texts.len() > 1 && (*first..*last).any(|at| words.is(at, "and plus followed then also with by"));
        if joined {
            for (from, to) in texts.clone() {
                self.pass(from, to);
            }
        }
        false
    }

    /// Notes what is asked for by a name that a part may have, too: "describe Naples" asks for a description.
    fn note_made(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if self.memory.made.len() >= 8 {
                return;
            }
            let noun = match words.low(at) {
                "describe" => "description",
                "explain" => "explanation",
                "define" => "definition",
                "introduce" => "introduction",
                "justify" => "justification",
                low if is_in(low, UNKNOWN_PARTS) && is_main_object(words, at) && self.asks(at) => low,
                low if is_in(low, UNKNOWN_PARTS)
                    && self.asks(at)
                    && (1..5).any(|back| {
                        words.is(at.saturating_sub(back), "a an")
                            && words.is(
                                at.saturating_sub(back + 1),
                                "deliver write need compose draft create provide",
                            )
                    }) =>
                {
                    low
                }
                _ => continue,
            };
            if self.asks(at)
                && (at == 0
                    || !words.is(at, "describe explain define introduce justify")
                    || !words.is(at - 1, "then and"))
            {
                self.memory.made.push(noun.to_owned());
            }
        }
    }

    /// One limit with its unit.
    fn count(&mut self, at: usize, amount: Amount, thing: Thing, next: usize) {
        let words = self.words;
        let mut limit = amount.limit;
        let mut sort = amount.sort;
        let mut end = next;
        // "100 words or fewer", "50 words max", "200 words give or take 20"
        if let (Sort::Bare | Sort::About | Sort::Exact, Some(value)) = (sort, plain_value(limit)) {
            let open = if words.is(end, "( ,") { end + 1 } else { end };
            let open = if words.is(open, "long") { open + 1 } else { open };
            let open = if words.is(open, "in") && words.is(open + 1, "length") { open + 2 } else { open };
            let open = if words.is(open, "or") && words.is(open + 1, "so") || !words.is(open, ",") {
                open
            } else {
                open + 1
            };
            if let Some((spread, after)) = tolerance(words, end, value).or_else(|| tolerance(words, open, value)) {
                limit = Limit::Between(value.saturating_sub(spread), value.saturating_add(spread));
                sort = Sort::Range;
                end = after;
            } else if let Some(after) = words.any(open, "or fewer|or less|or under|or shorter|or below|max|maximum|at most|at the most|at the very most|tops|and no more|no more|at max|and not more|and under|or lower|but no more|but not more|and not a word more|limit|cap|and no longer|or fewer than that|upper limit|is the limit|is the maximum|is the max|is the upper limit|is my limit") {
                // "Five bullets, max 10 words each": that is of the next number.
                if words.number(if words.low(after) == "." { after + 1 } else { after }).is_some() {
                } else if let Some(exact) = words.any(after, ", no less|no less|and no less|and no fewer|or less|, no fewer|and no less|, not less|nor less") {
                    limit = Limit::Exactly(value);
                    sort = Sort::Exact;
                    end = exact;
                } else if !(words.is(open, "no") && words.is(after, "than")) {
                    limit = Limit::AtMost(value);
                    sort = Sort::Most;
                    end = after;
                }
            } else if let Some(after) = words.any(open, "or more|or longer|minimum|min|at least|and up|or over|or above|at the least|at the very least|at a minimum|and no fewer|no fewer|no less|is the minimum|and more|at minimum") {
                if (!words.is(after, "than , and") || words.is(open, "or minimum min at")) && words.number(after).is_none() {
                    limit = Limit::AtLeast(value);
                    sort = Sort::Least;
                    end = after;
                    if let Some(exact) = words.any(after, ", no more|and no more|no more") {
                        limit = Limit::Exactly(value);
                        sort = Sort::Exact;
                        end = exact;
                    }
                }
            } else if let Some(after) = words.any(open, "or so|or thereabouts|give or take|more or less|approximately|approx|ish|or around that|roughly") {
                limit = Limit::About(value);
                sort = Sort::About;
                end = after;
            } else if let Some(after) = words.any(open, "exactly|precisely|on the dot|flat|sharp|on the nose") {
                limit = Limit::Exactly(value);
                sort = Sort::Exact;
                end = after;
            } else if let Some((high, after)) = (words.low(end) == "to").then(|| words.number(end + 1)).flatten()
                && counted(words, after).is_some_and(|(other, _)| other == thing)
                && high > value
            {
                limit = Limit::Between(value, high);
                sort = Sort::Range;
                end = counted(words, after).map_or(after, |(_, end)| end);
            }
            if end > next && words.low(end) == ")" && words.is(next, "(") {
                end += 1;
            }
        }
        // "Within 10 words of 200"
        if sort == Sort::Most
            && words.low(at) == "within"
            && words.low(next) == "of"
            && let (Some((centre, after)), Limit::AtMost(spread)) = (words.number(next + 1), limit)
        {
            limit = Limit::Between(centre.saturating_sub(spread), centre.saturating_add(spread));
            sort = Sort::Range;
            end = after;
        }
        // "Anything over 90 words will be cut off."
        if let (Sort::Over, Limit::AtLeast(least)) = (sort, limit)
            && words.is(
                at.saturating_sub(1),
                "anything everything whatever responses answers replies texts entries submissions",
            )
            && at > 0
        {
            let is_lost = (next..next + 10).any(|at| {
                words.is(at, "cut truncated ignored rejected discarded deleted removed lost dropped unread disqualified chopped binned")
            });
            if !is_lost {
                self.pass(at, end);
                return;
            }
            limit = Limit::AtMost(least.saturating_sub(1));
            sort = Sort::Most;
        }
        let is_bare = sort == Sort::Bare;
        if is_bare && let Some(value) = plain_value(limit) {
            if words.is(at.saturating_sub(1), "is : be")
                && at > 2
                && (words.is(at - 2, "length minimum min") && words.is(at - 3, "minimum min the"))
                && (at - 3..at).any(|at| words.is(at, "minimum min"))
            {
                limit = Limit::AtLeast(value);
                sort = Sort::Least;
            } else if self.limits_to(at) {
                limit = Limit::AtMost(value);
                sort = Sort::Most;
            } else if matches!(thing, Thing::Unit(Unit::Word)) {
                // "In one word" is no length that varies.
                limit = if value == 1 { Limit::Exactly(1) } else { Limit::About(value) };
            } else if matches!(thing, Thing::Unit(Unit::Character | Unit::NonSpaceCharacter))
                && words.is(at.saturating_sub(1), "in into inside")
                && words.is(at.saturating_sub(2), "fit fits fitting")
            {
                limit = Limit::AtMost(value);
                sort = Sort::Most;
            }
        }
        // "Just 50 words": a bare number, said with emphasis.
        if sort == Sort::Exact
            && words.is(at, "just merely")
            && matches!(thing, Thing::Unit(Unit::Word))
            && let Some(value) = plain_value(limit)
        {
            limit = Limit::About(value);
        }
        let negated = self.is_negated(at);
        let mut constraint = None;
        if negated {
            let value = plain_value(limit);
            match (sort, limit) {
                (Sort::Over, Limit::AtLeast(least)) => limit = Limit::AtMost(least.saturating_sub(1)),
                (Sort::Under, Limit::AtMost(most)) => limit = Limit::AtLeast(most.saturating_add(1)),
                (Sort::Bare, _) if value == Some(1) => limit = Limit::NONE,
                (Sort::Exact, _) if value.is_some() => {
                    constraint = Some(Constraint::Not { constraint: Box::new(thing.constraint(limit)) });
                }
                // "No emojis, at most 90 words": the negation is of something else.
                (Sort::Most | Sort::Least | Sort::Range | Sort::About | Sort::Bare | Sort::Exact, _)
                    if self.has_own_ground(at) => {}
                (Sort::Most | Sort::Range, _) => {}
                _ => {
                    self.pass(at, end);
                    return;
                }
            }
        }
        if !self.is_of_response(at, amount, sort, thing, next) {
            self.pass(at, end);
            return;
        }
        // "at least 3 bullets" of a list that is asked for.
        let thing = match (thing, self.memory.list) {
            (Thing::Unit(Unit::Item), Some(list)) => Thing::Unit(list),
            (thing, _) => thing,
        };
        if let Thing::Unit(unit) = thing {
            let is_whole = matches!(self.scope(at, end, thing), Scope::Whole);
            if is_whole && unit.is_part() {
                self.memory.unit = Some(unit);
            }
            if is_whole && matches!(unit, Unit::Item | Unit::Bullet | Unit::NumberedItem) {
                self.memory.list = Some(unit);
            }
        }
        if let Thing::Unit(unit @ (Unit::Bullet | Unit::NumberedItem)) = thing
            && words
                .any(end, "and nothing else|, nothing else|— nothing else|, and nothing else|only")
                .is_some()
            && matches!(self.scope(at, end, thing), Scope::Whole)
        {
            self.push(Constraint::Only { what: unit }, at, end);
        }
        let constraint = constraint.unwrap_or_else(|| thing.constraint(limit));
        self.scoped(constraint, thing, at, end);
    }

    /// "Two 100-word paragraphs": a number of parts, and the length of each.
    fn parts_of_a_length(&mut self, at: usize, amount: Amount) -> Option<usize> {
        let words = self.words;
        let length = limit(words, amount.next)?;
        let (found, next) = thing(words, length.next)?;
        if !found.is_length() || !words.is_glued(next - 1) || !self.asks(at) {
            return None;
        }
        let (part, end) = counted(words, next)?;
        let Thing::Unit(unit) = part else { return None };
        if !unit.is_part() || !is_plural(words, end - 1) {
            return None;
        }
        let most = match (found, plain_value(length.limit)) {
            (Thing::Unit(Unit::Word), Some(value)) if length.sort == Sort::Bare => Limit::About(value),
            _ => length.limit,
        };
        self.memory.unit = Some(unit);
        let constraint = Box::new(found.constraint(most));
        self.push(part.constraint(amount.limit), at, end);
        self.push(Constraint::Within { which: Which::Each, unit, constraint }, amount.next, end);
        Some(end)
    }

    /// Whether a limit stands behind a comma and thus apart from a negation before.
    fn has_own_ground(&self, at: usize) -> bool {
        (at.saturating_sub(2)..at).any(|at| self.words.is(at, ", in and ( with"))
    }

    /// "Limit it to 50 words", "keep it to three sentences", "cap it at 200 words".
    fn limits_to(&self, at: usize) -> bool {
        let words = self.words;
        let near = |list: &str| (at.saturating_sub(7)..at).any(|at| words.is(at, list));
        match words.back(at, 1) {
            "to" => near(
                "limit limited limiting restrict restricted restricting keep kept confine confined cap stick held hold limits keeping",
            ),
            "at" => near("cap capped capping"),
            "of" => words.is(at.saturating_sub(2), "limit cap maximum max ceiling") && at > 1,
            "into" | "in" | "within" => near("fit fits fitting squeeze"),
            "is" | ":" | "be" => {
                (at.saturating_sub(4)..at).any(|at| words.is(at, "limit maximum max cap ceiling"))
                    && words.is(at.saturating_sub(2), "limit maximum max cap ceiling length be should must")
                    && at > 1
            }
            "have" | "got" | "only" => {
                (at.saturating_sub(4)..at).any(|at| words.is(at, "you you've u"))
                    && !(at.saturating_sub(4)..at).any(|at| words.is(at, "must should to do if"))
            }
            _ => false,
        }
    }

    /// Whether a count is one of the response, and not of a thing in the world or of a text that is at hand.
    fn is_of_response(&self, at: usize, amount: Amount, sort: Sort, thing: Thing, next: usize) -> bool {
        let words = self.words;
        let before = words.back(at, 1);
        let is_attributive = words.is_glued(next.saturating_sub(1));
        if is_in(
            before,
            "this these those my our his her their its first last next top same other another previous following above given original $ € £ # page chapter opening both attached latest of_these existing current whose",
        ) && !(is_in(before, "its their") && !matches!(sort, Sort::Bare))
        {
            return false;
        }
        if before == "the" && matches!(sort, Sort::Bare) && !words.is(next, "limit maximum max minimum") {
            return false;
        }
        if before.ends_with("'s") && !is_in(before, "let's it's") && sort == Sort::Bare {
            return false;
        }
        // "One sentence in French and one in German"
        if sort == Sort::Bare
            && thing.is_length()
            && (next..next + 6).any(|at| {
                words.is(at, "and") && words.is(at + 1, "one another") && words.is(at + 2, "in about on for")
            })
        {
            return false;
        }
        // "…: one sentence that names the dish, …": a part that its form does not show.
        if sort == Sort::Bare
            && thing.is_length()
            && words.is(next, "that which naming")
            && words.is(at.saturating_sub(1), ": , and then plus")
            && at > 1
        {
            return false;
        }
        // "Words per minute", "lines of code", "characters in the play".
        if words.is(next, "per a an each every") && words.is(next + 1, RATES) {
            return false;
        }
        if words.is(next, "of") && words.is(next + 1, "code dialogue defence defense credit the text this my that these html python javascript sql wisdom a advice encouragement thanks praise caution") && words.is(next + 1, if matches!(thing, Thing::Unit(Unit::Line)) { "code dialogue defence defense credit the text this my that these html python javascript sql" } else { "the this my that these text" }) {
            return false;
        }
        if words.is(next, "about with for and from in who that")
            && matches!(thing, Thing::Unit(Unit::Character | Unit::NonSpaceCharacter))
            && limit_size(amount.limit) < 20
        {
            return false;
        }
        let limit_is_small = limit_size(amount.limit) < 15;
        match thing {
            Thing::Unit(Unit::Character) if limit_is_small => return false,
            // Words to be named: "five words that rhyme with blue".
            Thing::Unit(Unit::Word) if !is_attributive => {
                let asks_for_words = (at.saturating_sub(4)..at).any(|at| words.is(at, "list name teach find suggest learn give choose pick think know highlight bold underline define translate using containing include identify add replace remove extract circle capitalise capitalize"));
                let describes = words.is(next, "that which to for with beginning starting ending related describing meaning from rhyming used associated synonymous i commonly of like such english french spanish in")
                    && !(words.is(next, "that which") && words.is(next + 1, "explain explains describe describes summarise summarises"))
                    && !(words.is(next, "for of in to with") && sort != Sort::Bare)
                    && !(words.is(next, "with in to") && !limit_is_small);
                if asks_for_words && describes && limit_size(amount.limit) < 40 {
                    return false;
                }
                if words.is(next, "that") && words.is(next + 1, "rhyme start begin mean end describe are") {
                    return false;
                }
                if asks_for_words && (at.saturating_sub(4)..at).any(|at| words.is(at, "teach highlight bold underline replace remove learn define translate extract circle capitalise capitalize")) {
                    return false;
                }
            }
            Thing::Unit(Unit::Number) => {
                return limit_size(amount.limit) == 0 || sort != Sort::Bare || words.is(next - 1, "digits");
            }
            Thing::Unit(Unit::Heading | Unit::Paragraph)
                if words.is(next, ",")
                    && words
                        .number(next + 1)
                        .is_some_and(|(value, end)| value > 30 && !words.is_word(end)) =>
            {
                return false;
            }
            Thing::Unit(Unit::Question) => {
                // Questions that are asked, not a quiz that is made or an exam that is taken.
                let adjectives = next.saturating_sub(1).saturating_sub(amount.next);
                let verb = (at.saturating_sub(5)..at).any(|at| words.is(at, "ask asks asking pose include contain contains raise with end start begin has have including use containing posing rhetorical")) || (amount.next..next).any(|at| words.is(at, "rhetorical follow-up"));
                let quiz = (amount.next..next).any(|at| {
                    words.is(
                        at,
                        "interview quiz exam trivia multiple choice comprehension test review practice",
                    )
                });
                return verb
                    && !quiz
                    && adjectives <= 1
                    && !words.is(at.saturating_sub(1), "following these");
            }
            Thing::Unit(Unit::Table) => {
                if (amount.next..next).any(|at| words.is(at, "dining coffee round wooden periodic pool picnic times kitchen oak restaurant free long side")) {
                    return false;
                }
                return words.is(next.saturating_sub(2), "markdown")
                    || self.asks(at) && !words.is(next, "at for of");
            }
            Thing::Unit(Unit::Link) => {
                if words.is(next, "in of between") && words.is(next + 1, "the a chain") && sort == Sort::Bare
                {
                    return false;
                }
            }
            Thing::Unit(Unit::Item) => {
                // "Five items to pack" are things; they are a list only where it is one.
                let near_list = (at.saturating_sub(8)..at)
                    .chain(next..next + 3)
                    .any(|at| words.is(at, "list lists listing checklist"))
                    || self.memory.list.is_some()
                    || words.low(next.saturating_sub(2)) == "list";
                return near_list && self.mood(at) != Mood::Told;
            }
            Thing::Unit(Unit::Line) => {
                if (amount.next..next).any(|at| {
                    words.is(at, "subject tag punch log pickup storage bus subway metro train railway parallel product straight power tram")
                }) || words.is(next, "manager intersect cross")
                {
                    return false;
                }
            }
            Thing::Unit(Unit::Quotation)
                if sort == Sort::Bare
                    && (at.saturating_sub(4)..at)
                        .any(|at| words.is(at, "give list find share suggest get")) =>
            {
                return false;
            }
            Thing::Sign("#") if self.is_negated(at) => {}
            _ => {}
        }
        match self.mood(at) {
            Mood::Told => false,
            Mood::Asked => true,
            Mood::Topic => {
                let is_clear =
                    matches!(sort, Sort::Least | Sort::Most | Sort::Under | Sort::Over | Sort::Range)
                        || sort == Sort::Exact;
                let lead = if is_in(before, "a an one") { words.back(at, 2) } else { before };
                let is_adverbial =
                    is_in(lead, "in within using with into") && thing.is_length() && !is_attributive;
                let ends = next >= words.len()
                    || words.is_what(next, What::Sign)
                    || words.is(
                        next,
                        "or and max maximum long total in each per but with please that using for to of thx thanks pls ty cheers",
                    );
                // "why tweets are limited to 280 characters"
                let is_told = words.is(at.saturating_sub(1), "limited restricted capped to")
                    && words.is(at.saturating_sub(2), "is are was were limited restricted capped")
                    || words.is(at, "limited restricted capped")
                        && words.is(at.saturating_sub(1), "is are was were only");
                (is_clear || is_adverbial) && ends && !is_told && !(is_attributive && !is_clear)
            }
        }
    }

    /// "Word limit: 150", "the word count should be between 90 and 110", "a 100-word limit".
    fn named_limit(&mut self, at: usize) -> Option<usize> {
        let words = self.words;
        if let Some(next) = words.any(at, "not a word over|not a word more than|not one word over|not one word more than|not a single word over|not a word past|not a word above|not a single word more than|not a word beyond")
            && let Some((value, end)) = words.number(next)
            && self.asks(at)
        {
            let found = Thing::Unit(Unit::Word);
            self.scoped(found.constraint(Limit::AtMost(value)), found, at, end);
            return Some(end);
        }
        let attributive = || -> Option<(Thing, Amount, usize, usize)> {
            let amount = limit(words, at)?;
            let (found, next) = thing(words, amount.next)?;
            let name = if words.is(next, "upper lower") { next + 1 } else { next };
            (found.is_length()
                && words.is(name, "limit maximum max cap minimum ceiling min")
                && words.is_glued(next - 1))
            .then_some((found, amount, name, name + 1))
        };
        if let Some((found, amount, name, end)) = attributive() {
            let value = plain_value(amount.limit)?;
            let limit =
                if words.is(name, "minimum min") { Limit::AtLeast(value) } else { Limit::AtMost(value) };
            if self.asks(at) {
                self.scoped(found.constraint(limit), found, at, end);
            } else {
                self.pass(at, end);
            }
            return Some(end);
        }
        let (found, mut next) = thing(words, at)
            .or_else(|| words.is(at, "word").then_some((Thing::Unit(Unit::Word), at + 1)))
            .filter(|(found, _)| found.is_length())?;
        if !words.is(next, "limit count maximum max minimum min cap length budget total target limits") {
            return None;
        }
        let kind = words.low(next);
        next += 1;
        for _ in 0..4 {
            if words.is(next, ": of is = should must be — to at ( - has needs range strictly set target") {
                next += 1;
            }
        }
        let amount = limit(words, next)?;
        if !self.asks(at) {
            return None;
        }
        let mut limit = amount.limit;
        if amount.sort == Sort::Bare {
            let value = plain_value(limit)?;
            limit = match kind {
                "limit" | "maximum" | "max" | "cap" | "budget" | "limits" => Limit::AtMost(value),
                "minimum" | "min" => Limit::AtLeast(value),
                _ if found == Thing::Unit(Unit::Word) => Limit::About(value),
                _ => Limit::Exactly(value),
            };
        } else if self.is_negated(next) {
            match (amount.sort, limit) {
                (Sort::Over, Limit::AtLeast(least)) => limit = Limit::AtMost(least.saturating_sub(1)),
                (Sort::Under, Limit::AtMost(most)) => limit = Limit::AtLeast(most.saturating_add(1)),
                _ => {}
            }
        }
        let end = counted(words, amount.next)
            .filter(|(other, _)| *other == found)
            .map_or(amount.next, |(_, end)| end);
        self.scoped(found.constraint(limit), found, at, end);
        Some(end)
    }

    /// A second limit without its unit: "at least 100 words but not more than 150".
    fn elliptical(&mut self, at: usize, amount: Amount) {
        let words = self.words;
        // "In numbered steps, between five and nine of them."
        if let Some(end) = words.any(amount.next, "of them|of these|of those|in all|in total|altogether")
            && let Some(last) = self.found.last_mut()
            && let Constraint::Count { limit: limit @ Limit::AtLeast(1), .. } = &mut last.constraint
            && last.to + 6 > at
        {
            *limit = amount.limit;
            last.to = end;
            return;
        }
        if !matches!(amount.sort, Sort::Least | Sort::Most | Sort::Under | Sort::Over)
            || !words.is(at.saturating_sub(1), "and but , or not be or than")
        {
            return;
        }
        if amount.next < words.len()
            && !words.is_what(amount.next, What::Sign)
            && !words.is(amount.next, "and in long either though max at please or")
        {
            return;
        }
        let Some(last) = self.found.last().cloned() else { return };
        let mut limit = amount.limit;
        if self.is_negated(at) {
            match (amount.sort, limit) {
                (Sort::Over, Limit::AtLeast(least)) => limit = Limit::AtMost(least.saturating_sub(1)),
                (Sort::Under, Limit::AtMost(most)) => limit = Limit::AtLeast(most.saturating_add(1)),
                _ => {}
            }
        }
        let constraint = match last.constraint {
            Constraint::Count { what, .. } if last.to + 6 > at => Constraint::Count { what, limit },
            Constraint::Within { which, unit, constraint } if last.to + 6 > at => match *constraint {
                Constraint::Count { what, .. } => Constraint::Within {
                    which,
                    unit,
                    constraint: Box::new(Constraint::Count { what, limit }),
                },
                _ => return,
            },
            _ => return,
        };
        self.push(constraint, at, amount.next);
    }

    /// Whether a number of things is asked for: "suggest five names".
    fn is_asked_number(&self, at: usize) -> bool {
        let words = self.words;
        let skipped = (1..=4)
            .take_while(|back| *back < at && words.is(at - back, "me us the out of my top down best your"))
            .count();
        let verb = at.checked_sub(1 + skipped);
        (at == 0 || verb.is_some_and(|verb| words.is(verb, "jot enumerate note collect give suggest name list provide write share recommend offer propose invent generate create make produce find tell describe show present come think outline state explain mention identify include need want with brainstorm up for") || verb == 0 && words.is(0, "the top please")))
            && self.asks(at)
    }

    fn note_things(&mut self, amount: Amount) {
        if let Limit::Exactly(value) = amount.limit
            && amount.sort == Sort::Bare
            && !self.words.is(amount.next, "% percent of year years day days minute minutes week weeks hour hours column columns row rows km")
            && self.words.is_word(amount.next)
            && self.memory.things.is_none()
        {
            self.memory.things = Some((value, self.memory.sentence));
        }
    }

    /// "List five reasons", "a list of ten", "a numbered list of six", "a 5-item list".
    fn list_of(&mut self, at: usize) -> Option<(usize, Option<Pending>)> {
        let words = self.words;
        if !words.is(at, "list listing lists") || !self.asks(at) {
            return None;
        }
        let before = words.back(at, 1);
        let kind = list_kind(words, at);
        let is_noun = kind.is_some()
            || is_in(
                before,
                "a the this complete short ranked long quick simple your my comprehensive of brief item point new packing shopping step entry reading in as checked top sorted alphabetical prioritised prioritized ordered curated final",
            );
        if is_noun {
            let unit = kind.unwrap_or(Unit::Item);
            let start = if kind.is_some() { at - 1 } else { at };
            // "a top-10 list", "a 5-item list", "a list of five …", "a list with ten …"
            let behind = words.any(at + 1, "of the top|of the|of|with|containing|that has|that contains|naming|including|featuring|consisting of|comprising|: the|has|have|contain|contains|should have|should contain|must have|must contain").or_else(|| {
                (words.is(at + 1, "of") || words.is(at + 1, "containing")).then_some(at + 2)
            })?;
            let amount = limit(words, behind)?;
            if words.is_what(amount.next, What::Sign) && !words.is(amount.next, ". , ; )")
                || words.is(amount.next, "% year years")
            {
                return None;
            }
            let found = counted(words, amount.next);
            {
                let is_kind =
                    matches!(found, Some((Thing::Unit(Unit::Bullet | Unit::NumberedItem | Unit::Item), _)));
                let end = found.filter(|_| is_kind).map_or(amount.next, |(_, end)| end);
                let unit = match found {
                    Some((Thing::Unit(found @ (Unit::Bullet | Unit::NumberedItem)), _)) => found,
                    _ => unit,
                };
                let mut limit = amount.limit;
                if self.is_negated(behind) {
                    limit = flipped(amount)?;
                }
                if self.is_only(start) {
                    self.push(Constraint::Only { what: unit }, start, start + 1);
                }
                let pending = Pending { limit, from: start, to: end, is_list: true, of_them: false };
                if unit == Unit::Item {
                    self.pass(start, end);
                    return Some((end, Some(pending)));
                }
                self.memory.list = Some(unit);
                self.memory.unit = Some(unit);
                self.push(Constraint::Count { what: unit, limit }, start, end);
                return Some((end, None));
            }
        }
        // The verb.
        if at > 0
            && !words.is_what(at - 1, What::Sign)
            && !is_in(before, "and then please to kindly just also pls can you u now or i'd should must")
        {
            return None;
        }
        let start = words
            .any(at + 1, "me the top|the top|out the|me the|for me|me|out|down|up|off|your top|your|us|the names of|the|any|all of the|my|here")
            .unwrap_or(at + 1);
        let amount = limit(words, start)?;
        if words.is(amount.next, "% year years percent") || !words.is_word(amount.next) {
            return None;
        }
        // "List three bullet points": they are bullets.
        if let Some((Thing::Unit(Unit::Bullet | Unit::NumberedItem | Unit::Item), _)) =
            counted(words, amount.next)
        {
            return None;
        }
        // "Three advantages and three disadvantages" are not three.
        let more = (amount.next + 1..amount.next + 5).any(|at| {
            words.is(at, "and")
                && words.number(at + 1).is_some()
                && words.is_word(at + 2)
                && thing(words, at + 2).is_none()
        });
        if more {
            self.pass(at, amount.next);
            return Some((amount.next, None));
        }
        let mut limit = amount.limit;
        if self.is_negated(at) {
            limit = flipped(amount)?;
        }
        self.note_things(amount);
        self.pass(at, amount.next);
        Some((amount.next, Some(Pending { limit, from: at, to: amount.next, is_list: true, of_them: false })))
    }

    /// Whether "nothing but", "only" or "just" stands before a thing.
    pub(super) fn is_only(&self, at: usize) -> bool {
        let words = self.words;
        let mut start = at;
        while words.is(
            start.saturating_sub(1),
            "a an the one single simple markdown plain raw bare fenced with of as in numbered bulleted valid",
        ) && start > 0
        {
            start -= 1;
        }
        words
            .ends_before(start, "nothing but|nothing other than|nothing else than|nothing except|only|just|solely|exclusively|purely|consist only|consists only|consist solely|consists solely|no text other than|no text except|no text but|consist entirely|consists entirely|consisting only|made up only|made up entirely|nothing more than|entirely|no text besides|nothing besides")
            .is_some()
    }

    /// Things without a number: forbidden ones, and those that are asked for.
    pub(super) fn things(&mut self) {
        let words = self.words;
        let mut at = 0;
        while at < words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                at += 1;
                continue;
            }
            if self.number_the_steps(at) {
                at += 1;
                continue;
            }
            let Some((found, next)) = self.named_thing(at) else {
                at += 1;
                continue;
            };
            match self.amount_behind(at, next) {
                Some((limit, end)) => {
                    if let Thing::Unit(unit @ (Unit::Bullet | Unit::NumberedItem)) = found {
                        self.memory.list = Some(unit);
                    }
                    self.scoped(found.constraint(limit), found, at, end);
                    at = end;
                }
                None => {
                    self.named(at, found, next);
                    at = next.max(at + 1);
                }
            }
        }
    }

    /// "Bullet points please, 3 max.": the number behind the thing.
    fn amount_behind(&self, at: usize, next: usize) -> Option<(Limit, usize)> {
        let words = self.words;
        let mut behind = next;
        while behind < next + 3 && words.is(behind, "please , ( : —") {
            behind += 1;
        }
        if behind == next
            || words.low(next) == "."
            || !self.asks(at)
            || self.is_negated(at)
            || self.is_used(behind)
        {
            return None;
        }
        let amount = limit(words, behind)?;
        let ends = amount.next >= words.len()
            || words.is(amount.next, ". ) ! ;")
            || words.any(amount.next, "of them|in total|in all|please").is_some();
        (ends
            && (amount.sort != Sort::Bare
                || amount.next > behind + 1
                || words.any(amount.next, "of them|in total|in all").is_some()))
        .then_some((amount.limit, amount.next))
    }

    /// "Number the steps."
    fn number_the_steps(&mut self, at: usize) -> bool {
        let words = self.words;
        let is_verb = words.is(at, "number numbering")
            && (at == 0 || words.is(at - 1, "and please , then also but should must"))
            && words.is(at + 1, "the each your them every all these it")
            && self.asks(at);
        if is_verb
            && !words.is(at + 2, "of section sections paragraph paragraphs heading headings page pages")
            && !words.is(at + 3, "section sections paragraph paragraphs")
        {
            let limit = if self.is_negated(at) { Limit::NONE } else { Limit::SOME };
            self.memory.list = Some(Unit::NumberedItem);
            self.push(Constraint::Count { what: Unit::NumberedItem, limit }, at, at + 3);
            return true;
        }
        false
    }

    fn named_thing(&self, at: usize) -> Option<(Thing, usize)> {
        let words = self.words;
        if let Some((found, next)) = thing(words, at) {
            return found.is_named().then_some((found, next));
        }
        // "lists" and "list" by themselves.
        if words.is(at, "lists list") && !is_in(words.back(at, 1), "to please and") && at > 0 {
            return Some((Thing::Unit(Unit::Item), at + 1));
        }
        if words.is(at, "table tables") && self.is_negated(at) {
            return Some((Thing::Unit(Unit::Table), at + 1));
        }
        // "in bullets", "bulleted"
        if words.is(at, "bulleted") && words.is_what(at + 1, What::Sign) {
            return Some((Thing::Unit(Unit::Bullet), at + 1));
        }
        if words.is(at, "latex") {
            let near = (at.saturating_sub(8)..at + 5).any(|at| words.is(at, "formula formulas formulae equation equations math maths mathematics expressions expression mathematical notation"));
            return (near
                || words.is(at + 1, "notation formatting")
                || self.is_negated(at) && words.is(at.saturating_sub(1), "no any use using without"))
            .then_some((Thing::Unit(Unit::Formula), at + 1));
        }
        None
    }

    /// A thing that is named without a number.
    fn named(&mut self, at: usize, found: Thing, next: usize) {
        let words = self.words;
        let before = words.back(at, 1);
        let negated = self.is_negated(at);
        // "No bullet may be longer than …": a part, not a ban.
        let is_formula = matches!(found, Thing::Unit(Unit::Formula));
        let is_part = is_in(before, "each every per this that another")
            || before == "no" && !is_plural(words, next - 1) && words.is(next, "may should can must longer over with shorter exceeding above that which shall of is has contains to under")
            || is_in(before, "the") && !negated && !is_formula && !self.is_format(at);
        if is_part {
            return;
        }
        if let Thing::Unit(
            Unit::Heading | Unit::Number | Unit::Question | Unit::Quotation | Unit::Item | Unit::Highlight,
        )
        | Thing::Sign(_) = found
            && is_in(before, "section row column phone page ref house serial these those first last second")
        {
            return;
        }
        if let Some(end) = self.banned_behind(next) {
            self.scoped(found.constraint(Limit::NONE), found, at, end);
            return;
        }
        if negated {
            if self.mood(at) != Mood::Asked && !words.is(at.saturating_sub(1), "no without any or using") {
                return;
            }
            // "No numbers" forbids digits, "no phone numbers" something else; a question may be asked to the reader.
            let is_odd = matches!(found, Thing::Unit(Unit::Question)) && !words.is(at, "questions");
            let is_adjective = !is_in(
                before,
                "no any without using use of or and , avoid include not the a single all including with have contain containing adding add emphatic markdown have nor neither never than rather exclude excluding omit skip as in into put your insert put give avoiding both even direct at my drop from any out like",
            ) && !is_in(words.back(at, 1), "no");
            if is_odd || is_adjective {
                return;
            }
            // "Don't answer the question": a verb of its own.
            if is_in(before, "the")
                && matches!(found, Thing::Unit(Unit::Question | Unit::Item | Unit::Link | Unit::Quotation))
            {
                return;
            }
            let start = self.negator_at(at).unwrap_or(at);
            if words.is(next, "other more longer") {
                return;
            }
            self.scoped(found.constraint(Limit::NONE), found, start, next);
            return;
        }
        if !self.asks(at) {
            return;
        }
        match found {
            Thing::Unit(unit @ (Unit::Bullet | Unit::NumberedItem)) => {
                if self.is_format(at) {
                    if self.is_only(at) || self.is_only_behind(next) {
                        self.push(Constraint::Only { what: unit }, at, next);
                    } else {
                        self.scoped_plain(found, at, next);
                    }
                    self.memory.list = Some(unit);
                    self.memory.unit = Some(unit);
                }
            }
            Thing::Unit(Unit::Item) => {
                let is_list = words.is(at, "list lists");
                let as_list = is_list && words.ends_before(at, "as a|in a|in|into a|format as a|as a simple|as a short|as an alphabetical|as|as a plain").is_some()
                    && !words.is(next, "of")
                    && (!words.is(back_two(at), "in") || words.is(next, "form format , . ; : )") || next >= words.len());
                if is_list && self.is_only(at) && !words.is(next, "of") {
                    self.push(Constraint::Only { what: Unit::Item }, at, next);
                } else if as_list {
                    self.scoped_plain(found, at, next);
                }
            }
            Thing::Unit(Unit::Heading)
                if (at.saturating_sub(7)..at)
                    .any(|at| words.is(at, "html page website web webpage site form component app")) => {}
            Thing::Unit(unit @ (Unit::Heading | Unit::CodeBlock)) => {
                let wants = (at.saturating_sub(4)..at).any(|at| words.is(at, "use using include with add insert give provide structure organise organize under into put has have contain in has as through including format output return respond reply answer only just produce post"));
                if wants && !words.is(before_index(at), "the") {
                    if unit == Unit::CodeBlock {
                        let place = if self.is_only(at) || self.is_only_behind(next) {
                            Place::Whole
                        } else {
                            Place::Somewhere
                        };
                        if place == Place::Whole {
                            self.push(Constraint::Only { what: unit }, at, next);
                        } else {
                            self.scoped_plain(found, at, next);
                        }
                    } else if is_plural(words, next - 1) || words.is(at.saturating_sub(1), "a one") {
                        self.scoped_plain(found, at, next);
                    }
                }
            }
            Thing::Unit(Unit::Formula) => self.scoped_plain(found, at, next),
            Thing::Unit(Unit::Placeholder | Unit::Emoji | Unit::Link | Unit::Highlight | Unit::Quotation) => {
                let wants = (at.saturating_sub(4)..at).any(|at| {
                    words.is(at, "use using include add insert leave put incorporate including with sprinkle")
                });
                let with = words.is(at.saturating_sub(1), "with") || words.is(at.saturating_sub(2), "with");
                let wants =
                    wants && !(matches!(found, Thing::Unit(Unit::Link)) && is_in(before, "the this my our"));
                let is_loose = matches!(found, Thing::Unit(Unit::Quotation | Unit::Link))
                    && (with || words.is(next, "from to between of"));
                if wants && !is_loose {
                    self.scoped_plain(found, at, next);
                }
            }
            _ => {}
        }
    }

    fn scoped_plain(&mut self, found: Thing, at: usize, next: usize) {
        self.scoped(found.constraint(Limit::SOME), found, at, next);
    }

    /// "Emojis are not allowed", "bullet points are forbidden".
    fn banned_behind(&self, next: usize) -> Option<usize> {
        self.words.any(
            next,
            "are not allowed|is not allowed|are forbidden|is forbidden|are banned|is banned|are prohibited|not allowed|are off limits|are not permitted|aren't allowed|are a no go|must not be used|should not be used|must not appear|should not appear|must be avoided|should be avoided|are to be avoided|are not welcome|are not wanted|may not be used|can't be used|cannot be used|forbidden|prohibited|are unwelcome|are not acceptable|may not appear|are not to be used|is prohibited|is not permitted",
        )
    }

    /// The place of the negation before a thing.
    fn negator_at(&self, at: usize) -> Option<usize> {
        (at.saturating_sub(4)..at).rev().find(|at| is_negator(self.words, *at))
    }

    /// "…, nothing else", "only" behind a thing.
    pub(super) fn is_only_behind(&self, next: usize) -> bool {
        self.words.any(next, "only|and nothing else|, nothing else|, no other text|and no other text|alone|, and nothing else|— nothing else|, with no other text|without any other text|with no other text|, no introduction|without any introduction|with nothing else|with no additional text|and no more text|with nothing before or after|, without any other text|; nothing else|, no explanation|and no explanation|with no text before or after|— no other text|, no additional text").is_some()
    }

    /// Whether the words before a list say that the response is to be one.
    fn is_format(&self, at: usize) -> bool {
        let words = self.words;
        let mut start = at;
        let mut steps = 0;
        while start > 0 && steps < 4 && words.is(start - 1, "a an the short simple concise brief clear single some neat plain quick of form your markdown crisp their only well nested") {
            start -= 1;
            steps += 1;
        }
        words.is(start.saturating_sub(1), "as in use using with into format formatted include via through to produce make write give create return provide output present including add by list answer respond reply put or either just only but consist consists be contain summarise want need prefer preferably me us structure") && start > 0
            || start == 0
            || words.is_what(start - 1, What::Sign)
    }

    /// What is left of a list that was asked for by a number.
    fn lists(&mut self, pending: Option<Pending>) {
        let words = self.words;
        // A kind of list that is named without a number in the same sentence takes the number.
        let kind = (0..words.len()).find_map(|at| {
            if self.is_used(at) || !self.asks(at) || self.is_negated(at) {
                return None;
            }
            let (Thing::Unit(unit @ (Unit::Bullet | Unit::NumberedItem)), next) = thing(words, at)? else {
                return None;
            };
            (!is_in(words.back(at, 1), "each every per no") && self.is_format(at)).then_some((unit, at, next))
        });
        let Some(pending) = pending else { return };
        if let Some((unit, at, _)) = kind
            && pending.of_them
            && at < pending.from
        {
            self.push(Constraint::Count { what: unit, limit: pending.limit }, at, pending.to);
            return;
        }
        if let Some((unit, at, next)) = kind
            && at > pending.from
            && at < pending.from + REACH * 2
        {
            if self.is_only(at) {
                self.push(Constraint::Only { what: unit }, at, next);
            }
            self.memory.list = Some(unit);
            self.memory.unit = Some(unit);
            self.push(Constraint::Count { what: unit, limit: pending.limit }, pending.from, next);
            return;
        }
        if pending.is_list {
            self.memory.list = self.memory.list.or(Some(Unit::Item));
            self.memory.unit = Some(Unit::Item);
            self.push(Constraint::Count { what: Unit::Item, limit: pending.limit }, pending.from, pending.to);
        }
    }
}

/// A number of things that may turn out to be a list.
#[derive(Debug, Clone, Copy)]
struct Pending {
    limit: Limit,
    from: usize,
    to: usize,
    is_list: bool,
    /// Whether it counts what was named before: "between five and nine of them".
    of_them: bool,
}

fn list_kind(words: Words<'_>, at: usize) -> Option<Unit> {
    match words.back(at, 1) {
        "bulleted" | "bullet" | "unordered" | "bullet-point" => Some(Unit::Bullet),
        "numbered" | "ordered" => Some(Unit::NumberedItem),
        "point" if words.is(at.saturating_sub(2), "bullet") => Some(Unit::Bullet),
        _ => None,
    }
}

fn flipped(amount: Amount) -> Option<Limit> {
    match (amount.sort, amount.limit) {
        (Sort::Over, Limit::AtLeast(least)) => Some(Limit::AtMost(least.saturating_sub(1))),
        (Sort::Under, Limit::AtMost(most)) => Some(Limit::AtLeast(most.saturating_add(1))),
        (Sort::Most | Sort::Least | Sort::Range, limit) => Some(limit),
        _ => None,
    }
}

const fn back_two(at: usize) -> usize {
    at.saturating_sub(2)
}

const fn before_index(at: usize) -> usize {
    at.saturating_sub(1)
}

fn is_plural(words: Words<'_>, at: usize) -> bool {
    words.low(at).ends_with('s')
}

/// The number of a limit that is a number by itself.
const fn plain_value(limit: Limit) -> Option<u64> {
    match limit {
        Limit::Exactly(value) | Limit::About(value) => Some(value),
        _ => None,
    }
}

const fn limit_size(limit: Limit) -> u64 {
    match limit {
        Limit::Exactly(value) | Limit::About(value) | Limit::AtLeast(value) | Limit::AtMost(value) => value,
        Limit::Between(_, high) => high,
    }
}

/// "First", "last", "second": which of the parts.
pub(super) fn which(words: Words<'_>, at: usize) -> Option<Which> {
    match words.low(at) {
        "first" | "opening" | "1st" => Some(Which::First),
        "last" | "final" | "closing" | "concluding" => Some(Which::Last),
        low => ordinal(low).map(|nth| if nth == 1 { Which::First } else { Which::Nth(nth) }),
    }
}

/// Whether a noun is what is spoken of, and not the object of a request: "the title must", "a title of at most".
fn is_subject(words: Words<'_>, at: usize) -> bool {
    words.is(at + 1, "should must has have is needs can may of with under that ( at no which below in to shall max maximum , cannot between will : contains longer must's over exceeding ought limited using uses consists not shorter consisting exactly about around up containing may starts ends in all lowercase long ( roughly within")
        || words.is(at.saturating_sub(1), "the its your keep with whose")
            && !words.is(at.saturating_sub(1), "for")
}

/// Whether a noun is what the sentence asks for as a whole: "invent a slogan with …".
fn is_main_object(words: Words<'_>, at: usize) -> bool {
    let mut start = at;
    for _ in 0..6 {
        let Some(before) = start.checked_sub(1) else {
            return at < 6
                && (words.is(0, "a an one")
                    || at < 3
                        && !words.is(at, "title headline heading")
                        && !words.is(0, "the its each your every this no all any in for per"));
        };
        if words.is(before, "write invent give create compose draft make suggest provide generate produce me need want craft come devise design propose offer pen think up find tell describe summarise summarize prepare explain answer of") {
            return !words.is(at.saturating_sub(1), "the its each your");
        }
        if !words.is_word(before)
            || words.is(before, "it include add with and plus followed by append the its each your in for whose which that about on")
        {
            return false;
        }
        start = before;
    }
    false
}

/// The scope that stands before or behind a constraint on form, for the other matchers.
impl Reader<'_, '_, '_> {
    pub(super) fn part_before(&self, at: usize, to: usize) -> Option<Option<(Which, Unit)>> {
        match self.scope(at, to, Thing::Sign("")) {
            Scope::Whole => None,
            Scope::Part(which, unit) => Some(Some((which, unit))),
            Scope::Unknown => Some(None),
        }
    }

    /// The part that a noun names, and where its name ends.
    pub(super) fn unit_named(&self, at: usize) -> Option<(Unit, usize)> {
        let unit = part_unit(self.words, at, self.memory.list)?;
        Some((unit, thing(self.words, at).map_or(at + 1, |(_, end)| end)))
    }

    /// The part that is named at a place: "each line", "the second paragraph", "every bullet point".
    pub(super) fn named_part(&self, at: usize) -> Option<(Which, Unit, usize)> {
        let words = self.words;
        let list = self.memory.list;
        let (which, next) = if words.is(at, "each every") {
            (
                Which::Each,
                if words.low(at + 1) == "of" {
                    words.any(at + 1, "of the|of your|of these").unwrap_or(at + 1)
                } else {
                    at + 1
                },
            )
        } else if words.is(at, "all")
            && words.is(at + 1, "sentences lines paragraphs bullets bullet items headings the")
        {
            (Which::Each, if words.low(at + 1) == "the" { at + 2 } else { at + 1 })
        } else if words.is(at, "title headline")
            && (words.is(at.saturating_sub(1), "the its your a") || at == 0)
        {
            return Some((Which::First, Unit::Heading, at + 1));
        } else {
            (which(words, at)?, at + 1)
        };
        let unit = part_unit(words, next, list)?;
        let end = thing(words, next).map_or(next + 1, |(_, end)| end);
        Some((which, unit, end))
    }
}
