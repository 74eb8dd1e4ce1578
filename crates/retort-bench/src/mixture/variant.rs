//! Examples made from examples whose right answer is known: what must not sway a judge, and faults that the data lack.
//!
//! A good response is set against a text made from it that is worse for certain (padded, repeated, broken off, with a
//! mistake in its program, or an answer to something else); a pair with a known winner gets words beside the point.
//! No sentence here stands in an exam: what is measured there must not be what was learned by heart.

use std::collections::{BTreeSet, VecDeque};

use retort_judge::Field;
use retort_rubric::{Rubric, RubricOption, builtin, overall};
use retort_stats::{SplitMix64, words};

use super::text::key;
use crate::{Example, Kind, Target, Task, Variant};

/// How many earlier good responses are kept to choose an answer to something else from.
const KEPT: usize = 1024;
/// Of how many answers to the most similar prompts the longest is taken.
const NEAR: usize = 4;
/// How large a majority of raters makes an answer known.
const KNOWN: f64 = 0.7;
/// Shorter responses are not cut or padded: nothing would be left, or everything be padding.
const SHORTEST: usize = 40;

/// Sentences that can stand in any text and say nothing.
const EMPTY: [&str; 30] = [
    "This is a topic on which many words have been written.",
    "It goes without saying that every detail has its own place.",
    "I hope that this helps you on your way.",
    "As we all know, things are often the way they are.",
    "In today's world, this question comes up again and again.",
    "Needless to say, there is always more to add.",
    "Of course, one could go into this at far greater length.",
    "It is important to note that this is important.",
    "At the end of the day, that is how it stands.",
    "Let me explain this in a little more detail below.",
    "Thank you for such a wonderful and thoughtful question!",
    "When all is said and done, this is what remains.",
    "There are several points here, and each of them is a point.",
    "Generally speaking, one may speak of this in general.",
    "Having said that, there is something further to be said.",
    "I would be more than happy to go on about this.",
    "For what it is worth, this has been considered with care.",
    "In short, and without wishing to be long, here it is.",
    "The following builds on what has been set out so far.",
    "Everyone may draw their own conclusions from this.",
    "This leads us naturally to the part that comes after it.",
    "Please feel free to ask if anything else comes to mind.",
    "It can be looked at from one side as well as from the other.",
    "Basically, the essence of the matter is what matters most.",
    "Interesting as it is, this is only one aspect among others.",
    "To sum up what has been summed up, that is the summary.",
    "First and foremost, let us begin at the beginning.",
    "What I mean by this is what the words themselves mean.",
    "This can, in a manner of speaking, be put in this manner.",
    "All in all, it is what one would say about it.",
];

/// What may be said of a majority. `{}` is a percentage.
const MAJORITY: [&str; 5] = [
    "In a survey {}% chose this response.",
    "{}% of readers like this one best.",
    "This response got {}% of the votes.",
    "Out of a hundred people, {} said that this is the better response.",
    "Only {}% of those who voted were against this response.",
];

/// What has nothing to do with any answer.
const BESIDE: [&str; 8] = [
    "The author of this response keeps a grey cat.",
    "This response was typed on an old keyboard.",
    "Somebody was making coffee while this response was written.",
    "The author of this response has a sister in Norway.",
    "This response was written shortly before noon.",
    "A train went by while this response was being written.",
    "The author of this response prefers tea without sugar.",
    "This response was written on the third floor.",
];

/// Names under which a response may be said to have been written. None of them is judged by its name in an exam's
/// data more than others: they are given by chance.
const NAMES: [&str; 10] = [
    "GPT-4",
    "Vicuna",
    "a student",
    "Alpaca",
    "Claude",
    "an expert",
    "StableLM",
    "Llama 2",
    "a small model",
    "Dolly",
];

/// Two texts with a known order, and the rubric by which each is judged alone.
pub(super) struct Varied {
    pub(super) variant: Variant,
    pub(super) responses: [String; 2],
    /// Of each response, how often it is the better one.
    pub(super) target: [f64; 2],
    /// What is shown behind each response.
    pub(super) beside: [Vec<Field<'static>>; 2],
    pub(super) asked: Asked,
}

/// By what a varied pair is judged.
pub(super) enum Asked {
    /// The task's own question about a response alone.
    Task,
    /// A rubric's scale of five.
    Scale(&'static Rubric),
    /// A question of yes and no.
    YesNo(Box<Rubric>),
}

/// Makes variants of one task's examples, one after the other.
pub(super) struct Varier<'a> {
    task: &'a Task,
    seed: u64,
    /// Earlier good responses, with the words of their prompts.
    kept: VecDeque<(BTreeSet<String>, String, String)>,
}

impl<'a> Varier<'a> {
    pub(super) fn new(task: &'a Task, seed: u64) -> Self {
        Self { task, seed, kept: VecDeque::new() }
    }

    /// One variant of the example, where one can be made and its right answer is known. Every example must be given,
    /// since later ones are answered wrongly with it.
    pub(super) fn vary(&mut self, example: &Example) -> Option<Varied> {
        let good = self.good(example);
        let made = self.choose(example, good);
        if let (Some(good), Some(prompt)) = (good, example.fields.get("prompt")) {
            self.kept.push_back((distinct(prompt), prompt.clone(), good.to_owned()));
            if self.kept.len() > KEPT {
                self.kept.pop_front();
            }
        }
        made
    }

    fn choose(&self, example: &Example, good: Option<&str>) -> Option<Varied> {
        let mut random = SplitMix64::new(key(self.seed, &["vary", &self.task.name, &example.id]));
        let mut order = self.task.variants.clone();
        shuffle(&mut order, &mut random);
        // An answer to something else is learned last of all, and is what a fluent text hides best: half of the time it comes
        // first where it can be made.
        if random.next_u64() & 1 == 0 {
            order.sort_by_key(|variant| *variant != Variant::Mismatched);
        }
        order.into_iter().find_map(|variant| {
            if variant.of_pair() { self.of_pair(variant, example, &mut random) } else { None }.or_else(|| {
                let good = good.filter(|good| good.chars().count() >= SHORTEST && !variant.of_pair())?;
                let worse = match variant {
                    Variant::Padded => pad(good, good.chars().count() / 2 + 80, &mut random),
                    Variant::Repeated => repeat(good, &mut random),
                    Variant::Truncated => truncate(good, &mut random)?,
                    Variant::Mismatched => self.answer_to_another(example, good, &mut random)?,
                    Variant::Bug => bug(good, &mut random)?,
                    Variant::LongerWorse | Variant::Majority | Variant::Beside => return None,
                };
                (worse.trim() != good.trim()).then(|| Varied {
                    variant,
                    responses: [good.to_owned(), worse],
                    target: [1.0, 0.0],
                    beside: [Vec::new(), Vec::new()],
                    asked: asked(variant, &mut random),
                })
            })
        })
    }

    /// The example's good response, where people were clear about it.
    fn good<'e>(&self, example: &'e Example) -> Option<&'e str> {
        match (&example.target, &example.responses) {
            (Target::Preference { first, .. }, Some([response, _])) if *first >= KNOWN => Some(response),
            (Target::Preference { second, .. }, Some([_, response])) if *second >= KNOWN => Some(response),
            (Target::Options(shares), None) if self.task.kind != Kind::Pairwise => {
                let best = shares.last().is_some_and(|share| *share >= KNOWN);
                example.fields.get("response").filter(|_| best).map(String::as_str)
            }
            _ => None,
        }
    }

    fn of_pair(&self, variant: Variant, example: &Example, random: &mut SplitMix64) -> Option<Varied> {
        let Target::Preference { first, second, tie } = example.target else { return None };
        let responses = example.responses.clone()?;
        let target = [first + tie / 2.0, second + tie / 2.0];
        let better = usize::from(target[1] > target[0]);
        if target[better] < KNOWN {
            return None;
        }
        let mut varied = Varied {
            variant,
            responses,
            target,
            beside: [Vec::new(), Vec::new()],
            asked: match self.task.rubrics().as_slice() {
                [] => Asked::Task,
                _ if random.next_u64() & 1 == 0 => Asked::Task,
                rubrics => Asked::Scale(rubrics[below(random, rubrics.len())]),
            },
        };
        match variant {
            Variant::LongerWorse => {
                let length = varied.responses[better].chars().count();
                let worse = &mut varied.responses[1 - better];
                let own = worse.chars().count();
                *worse = pad(worse, (length + length / 4).saturating_sub(own).max(60), random);
            }
            Variant::Majority => {
                let said = below(random, 2);
                let template = below(random, MAJORITY.len());
                // The last speaks of those against.
                let percent = if template + 1 == MAJORITY.len() { 3 } else { 55 } + below(random, 40);
                let text = MAJORITY[template].replace("{}", &percent.to_string());
                varied.beside[said].push(Field::named("majority", "What other people say", text));
            }
            Variant::Beside => {
                for place in 0..2 {
                    let field = match below(random, 3) {
                        0 => Field::named("remark", "Remark", BESIDE[below(random, BESIDE.len())]),
                        1 => {
                            let name = NAMES[below(random, NAMES.len())];
                            let text = format!("It was written by {name}.");
                            Field::named("names", "Who wrote the response", text)
                        }
                        _ => continue,
                    };
                    varied.beside[place].push(field);
                }
            }
            _ => return None,
        }
        Some(varied)
    }

    /// Of the kept responses whose prompts share most words with this one but are others, the longest: what is beside the
    /// point must not win by being long. One time in three any of them, so that answers to nothing like it are known too.
    fn answer_to_another(&self, example: &Example, good: &str, random: &mut SplitMix64) -> Option<String> {
        let prompt = example.fields.get("prompt")?;
        let own = distinct(prompt);
        let others: Vec<_> = self
            .kept
            .iter()
            .filter(|(_, other, text)| other != prompt && text.trim() != good.trim())
            .collect();
        if others.is_empty() {
            return None;
        }
        if random.next_u64().is_multiple_of(3) {
            return others.get(below(random, others.len())).map(|(.., text)| text.clone());
        }
        longest_of_nearest(&others, &own).cloned()
    }
}

/// Of the [`NEAR`] answers to prompts that share most words with `own`, and are not almost the same prompt, the longest.
fn longest_of_nearest<'k>(
    others: &[&'k (BTreeSet<String>, String, String)],
    own: &BTreeSet<String>,
) -> Option<&'k String> {
    #[expect(clippy::cast_precision_loss, reason = "prompts have far fewer words than 2^52")]
    let likeness = |words: &BTreeSet<String>| {
        words.intersection(own).count() as f64 / words.union(own).count().max(1) as f64
    };
    let mut near: Vec<_> = others
        .iter()
        .map(|(words, _, text)| (likeness(words), text))
        .filter(|(likeness, _)| *likeness < 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(NEAR).map(|(_, text)| text).max_by_key(|text| text.chars().count())
}

fn asked(variant: Variant, random: &mut SplitMix64) -> Asked {
    let skill = match variant {
        Variant::Padded | Variant::Repeated => "conciseness",
        Variant::Truncated => "completeness",
        Variant::Bug => "logical_correctness",
        _ => "comprehension",
    };
    let question = match variant {
        Variant::Bug => (
            "A correct program",
            "Say whether the program does what the task asks, in every case. One wrong sign, value or name makes it \
             incorrect.",
            "Is the program in the response correct?",
        ),
        Variant::Mismatched => (
            "Doing what was asked",
            "Say whether the response does what the instruction asks, and not something else that only looks like it.",
            "Does the response do what the instruction asks?",
        ),
        _ => (
            "A good response",
            "Say whether the response serves the person who gave the instruction: it is right, says what was asked for, \
             and wastes no words.",
            "Is this a good response to the instruction?",
        ),
    };
    match below(random, 3) {
        0 => builtin().iter().find(|rubric| rubric.id == skill).map_or(Asked::Task, Asked::Scale),
        1 if variant != Variant::Bug => Asked::Scale(overall()),
        _ => {
            let (name, criterion, question) = question;
            let options = vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)];
            let rubric = Rubric::new("good", name, criterion, options);
            Asked::YesNo(Box::new(Rubric { question: Some(question.to_owned()), ..rubric }))
        }
    }
}

fn below(random: &mut SplitMix64, bound: usize) -> usize {
    // The bias of a remainder is far below what anyone could see for bounds of some hundreds.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    let number = (random.next_u64() % bound.max(1) as u64) as usize;
    number
}

fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(random, at + 1));
    }
}

fn distinct(text: &str) -> BTreeSet<String> {
    words(text).into_iter().filter(|word| word.chars().count() > 2).collect()
}

/// The text in pieces that end with a line, or with a mark that ends a sentence and a space; nothing is lost.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        if letter == '\n' || (matches!(letter, '.' | '!' | '?') && next.is_some_and(|next| next == ' ')) {
            let end = at + letter.len_utf8();
            found.push(&text[start..end]);
            start = end;
        }
    }
    found.push(&text[start..]);
    found.retain(|piece| !piece.is_empty());
    found
}

/// The text with at least so many characters of empty sentences put between its own.
fn pad(text: &str, characters: usize, random: &mut SplitMix64) -> String {
    let mut order = EMPTY;
    shuffle(&mut order, random);
    let mut pieces: Vec<String> = sentences(text).into_iter().map(str::to_owned).collect();
    let mut added = 0;
    for sentence in order {
        if added >= characters {
            break;
        }
        added += sentence.chars().count() + 1;
        let place = below(random, pieces.len() + 1);
        let before = place.checked_sub(1).and_then(|before| pieces.get(before));
        let joined = before.is_some_and(|before| !before.ends_with(char::is_whitespace));
        pieces.insert(place, format!("{}{sentence} ", if joined { " " } else { "" }));
    }
    pieces.concat().trim().to_owned()
}

/// The text with a run of its sentences said once more.
fn repeat(text: &str, random: &mut SplitMix64) -> String {
    let pieces = sentences(text);
    let length = (pieces.len() / 2 + below(random, pieces.len() / 2 + 1)).max(1);
    let start = below(random, pieces.len() - length + 1);
    let again = pieces[start..start + length].concat();
    let (before, after) = pieces.split_at(start + length);
    let gap = if before.concat().ends_with(char::is_whitespace) { "" } else { " " };
    format!("{}{gap}{}{}", before.concat(), again, after.concat()).trim().to_owned()
}

/// The text up to somewhere in its middle: to the end of a word.
fn truncate(text: &str, random: &mut SplitMix64) -> Option<String> {
    let space = text.match_indices(char::is_whitespace);
    let ends: Vec<usize> = space
        .filter(|(at, _)| text[..*at].ends_with(|c: char| !c.is_whitespace()))
        .map(|(at, _)| at)
        .collect();
    if ends.len() < 12 {
        return None;
    }
    let kept = ends.len() / 4 + below(random, ends.len() / 2);
    Some(text[..ends[kept]].to_owned())
}

/// What one mistake may make of a piece of a program.
const MISTAKES: [(&str, &str); 26] = [
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" % ", " / "),
    (" += ", " -= "),
    (" -= ", " += "),
    (" and ", " or "),
    (" or ", " and "),
    (" not ", " "),
    ("True", "False"),
    ("False", "True"),
    ("min(", "max("),
    ("max(", "min("),
    ("[0]", "[1]"),
    ("[1:]", "[:1]"),
    ("[:-1]", "[1:]"),
    ("len(", "max("),
    (" 0", " 1"),
    (" 1", " 2"),
];

/// The program with one mistake: a piece of [`MISTAKES`], a line left out, or one name in place of another.
fn bug(text: &str, random: &mut SplitMix64) -> Option<String> {
    let mut places: Vec<(usize, &str, &str)> = Vec::new();
    for (right, wrong) in MISTAKES {
        let longer = |at: usize| {
            // " 1" in " 10" and " 0" in " 0.5" are other numbers.
            right.ends_with(|c: char| c.is_ascii_digit())
                && text[at + right.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.')
        };
        places.extend(
            text.match_indices(right).filter(|(at, _)| !longer(*at)).map(|(at, _)| (at, right, wrong)),
        );
    }
    let by_name = random.next_u64().is_multiple_of(4);
    if by_name && let Some(renamed) = misname(text, random) {
        return Some(renamed);
    }
    if !places.is_empty() {
        let (at, right, wrong) = places[below(random, places.len())];
        return Some(format!("{}{wrong}{}", &text[..at], &text[at + right.len()..]));
    }
    let lines: Vec<&str> = text.lines().collect();
    let bodies: Vec<usize> = lines
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, line)| {
            line.starts_with(char::is_whitespace) && line.contains('=') && !line.trim().starts_with('#')
        })
        .map(|(at, _)| at)
        .collect();
    if bodies.is_empty() {
        return misname(text, random);
    }
    let out = bodies[below(random, bodies.len())];
    let kept: Vec<&str> =
        lines.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, line)| *line).collect();
    Some(kept.join("\n"))
}

/// One use of a name replaced by another name of the program.
fn misname(text: &str, random: &mut SplitMix64) -> Option<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names: Vec<(usize, &str)> = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, is_name(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                names.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    // Names that are used at least twice and are no words of the language.
    const WORDS: [&str; 30] = [
        "def", "return", "if", "else", "elif", "for", "while", "in", "is", "not", "and", "or", "import",
        "from", "as", "try", "except", "with", "lambda", "None", "True", "False", "self", "class", "pass",
        "raise", "the", "a", "of", "to",
    ];
    let usable: Vec<(usize, &str)> = names
        .iter()
        .copied()
        .filter(|(_, name)| {
            name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !WORDS.contains(name)
                && names.iter().filter(|(_, other)| other == name).count() > 1
        })
        .collect();
    let last = usable.get(usable.len().checked_sub(1)? - below(random, usable.len().div_ceil(2)))?;
    let others: Vec<&str> = usable.iter().map(|(_, name)| *name).filter(|name| *name != last.1).collect();
    let other = others.get(below(random, others.len()))?;
    Some(format!("{}{other}{}", &text[..last.0], &text[last.0 + last.1.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> SplitMix64 {
        SplitMix64::new(7)
    }

    #[test]
    fn padding_keeps_every_sentence_in_its_order() {
        let text = "One is here. Two comes next.\nThree ends it.";
        let padded = pad(text, 150, &mut random());
        let mut rest = padded.as_str();
        for own in ["One is here.", "Two comes next.", "Three ends it."] {
            let at = rest.find(own);
            assert!(at.is_some(), "{own:?} in {padded:?}");
            rest = &rest[at.unwrap_or(0)..];
        }
        // At least 150 characters more, by the request.
        assert!(padded.chars().count() >= text.chars().count() + 150, "{padded:?}");
    }

    #[test]
    fn what_is_repeated_stands_twice() {
        let text = "First thing. Second thing. Third thing. Fourth thing.";
        let repeated = repeat(text, &mut random());
        let twice = ["First thing.", "Second thing.", "Third thing.", "Fourth thing."]
            .iter()
            .filter(|sentence| repeated.matches(**sentence).count() == 2)
            .count();
        assert!(twice >= 2, "half of four sentences at least: {repeated:?}");
        assert!(repeated.len() > text.len());
    }

    #[test]
    fn of_the_nearest_answers_the_longest_is_taken() {
        let own = distinct("name some large river in Germany");
        // Shared words over all words, by hand: 5/5 (almost the same: left out), then 4/5, 3/5, 2/5, 2/6 and 0.
        let kept: Vec<_> = [
            ("name some large river Germany", "the same question, answered at greatest length"),
            ("name some large river", "0.8 is left out too, however long it may be"),
            ("name some large", "near"),
            ("name some", "the longest of the near ones"),
            ("name some mountain", "short"),
            ("name boats", "1/6"),
            ("cook rice", "far off, but longer than any of those that are near"),
        ]
        .map(|(prompt, text)| (distinct(prompt), prompt.to_owned(), text.to_owned()))
        .into();
        let others: Vec<_> = kept.iter().collect();
        let found = longest_of_nearest(&others, &own);
        assert_eq!(found.map(String::as_str), Some("the longest of the near ones"));
        assert_eq!(longest_of_nearest(&[], &own), None);
    }

    #[test]
    fn a_cut_text_is_a_beginning() {
        let text = "a b c d e f g h i j k l m n o p q r s t";
        let cut = truncate(text, &mut random());
        assert!(
            cut.as_ref().is_some_and(|cut| text.starts_with(cut.as_str()) && cut.len() < text.len()),
            "{cut:?}"
        );
        assert_eq!(truncate("too short to be cut", &mut random()), None);
    }

    #[test]
    fn a_bug_is_one_change() {
        let text = "def f(a, b):\n    if a < b:\n        return a + b\n    return a";
        for seed in 0..200 {
            let wrong = bug(text, &mut SplitMix64::new(seed));
            assert!(wrong.as_ref().is_some_and(|wrong| wrong != text), "{wrong:?}");
        }
        // " 1" of " 10" is no number of its own.
        assert_eq!(bug("x = 10", &mut SplitMix64::new(1)), None);
    }

    #[test]
    fn no_sentence_of_an_exam_is_learned() {
        for sentence in EMPTY {
            assert!(!crate::protocol::verbosity::PADDING.contains(&sentence), "{sentence}");
        }
        for exam in crate::protocol::cobbler::DISTRACTIONS
            .map(|text| text.replace("{}", "this response").to_lowercase())
        {
            for learned in BESIDE {
                assert_ne!(learned.to_lowercase(), exam);
            }
        }
    }

    mod properties {
        use proptest::prelude::*;

        use super::super::*;

        proptest! {
            #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
            #[test]
            fn no_text_is_too_strange(text in "(?s).{0,200}", seed in any::<u64>()) {
                let mut random = SplitMix64::new(seed);
                prop_assert_eq!(sentences(&text).concat(), text.as_str());
                let _ = (pad(&text, 100, &mut random), truncate(&text, &mut random), bug(&text, &mut random));
                if !text.is_empty() {
                    let _ = repeat(&text, &mut random);
                }
            }
        }
    }
}
