//! From words to skills, domains and difficulty.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use retort_rubric::{Annotation, Annotator, Difficulty, Domain, DomainLabel, SKILLS_PER_INSTRUCTION, Skill};
use serde::Serialize;

use crate::lexicon::{CUES, Cue, FIELDS};
use crate::weights::{BASE, of_cue, of_domain};
use crate::words::{Index, MAX_PHRASE, Words};

/// Most pieces of evidence that are reported; the weightiest are kept.
pub const MAX_EVIDENCE: usize = 64;

/// A domain with less evidence than this (one telling word is 3, one that occurs elsewhere too is 1) is not named.
const MIN_DOMAIN: f64 = 1.0;

/// A second domain is named from this share of the first one's evidence on.
const SECOND_SHARE: f64 = 0.5;

/// What a telling word is worth, and one that occurs elsewhere too.
const STRONG: f64 = 3.0;
const WEAK: f64 = 1.0;

/// What the second, third, … occurrence of a term is worth; later ones nothing, so that a long pasted text does not
/// drown the question about it.
const AGAIN: [f64; 3] = [1.0, 0.5, 0.25];

/// In a long instruction these many words at either end are the request, and what is between them is material, which
/// counts for less.
const REQUEST_WORDS: usize = 50;
const MATERIAL: f64 = 0.4;

/// The middle level: evidence about difficulty counts from it.
const MIDDLE: f64 = 3.0;

/// The level where the field is not known: of everyday instructions most.
const UNKNOWN_FIELD: f64 = 2.0;

/// An annotation, and what it was read from, so that a person can see why and correct it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Annotated {
    /// What the instruction asks.
    pub annotation: Annotation,
    /// What was seen for it, the weightiest first, at most [`MAX_EVIDENCE`] pieces.
    pub evidence: Vec<Evidence>,
    /// Evidence for each domain, in the order of [`Domain::ALL`]; 0 and up, comparable within one instruction only.
    pub domain_scores: [f64; 10],
    /// Evidence for each skill, in the order of [`Skill::ALL`]; comparable within one instruction only.
    pub skill_scores: [f64; 12],
    /// The difficulty before it was rounded to a level, 1 to 5; `None` for an instruction without a word.
    pub difficulty_estimate: Option<f64>,
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// Where it stands in the instruction, in bytes; empty where it is a property of the whole.
    pub range: Range<usize>,
    /// The words as they stand there, or the property, such as `code` or `long words`.
    pub words: Cow<'static, str>,
    /// What it speaks for.
    #[serde(flatten)]
    pub for_what: ForWhat,
    /// Why, as the end of a sentence that begins with the words: `asks for a summary`.
    pub reason: Cow<'static, str>,
    /// How strongly; of domains and skills as in the scores, of difficulty in levels up from the middle one, down if
    /// negative.
    pub weight: f64,
}

/// As a sentence without its full stop, such as `"sonnet" belongs to this field: Language (poetry)`.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.range.is_empty() {
            write!(f, "{} {}: ", self.words, self.reason)?;
        } else {
            let words: Vec<&str> = self.words.split_whitespace().collect();
            write!(f, "\"{}\" {}: ", words.join(" "), self.reason)?;
        }
        match &self.for_what {
            ForWhat::Domain(label) => {
                write!(f, "{}", label.domain.name())?;
                match label.subdomain.as_deref() {
                    Some(part) if label.domain.subdomains().len() > 1 => write!(f, " ({part})"),
                    _ => Ok(()),
                }
            }
            ForWhat::Skill(skill) => write!(f, "{}", skill.name()),
            ForWhat::Difficulty if self.weight < 0.0 => write!(f, "less difficult"),
            ForWhat::Difficulty => write!(f, "more difficult"),
        }
    }
}

/// What a piece of evidence speaks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "for", content = "what", rename_all = "snake_case")]
pub enum ForWhat {
    /// A domain, and its part.
    Domain(DomainLabel),
    /// A skill.
    Skill(Skill),
    /// A higher or, if the weight is negative, a lower difficulty.
    Difficulty,
}

/// Says what an instruction needs, by its words alone, with what was seen for it.
///
/// Always three skills, unless there is no word at all: then nothing is said. Rules for English; an instruction in
/// another language gets what its code, formulas and international words say. Time is linear in the text.
#[must_use]
pub fn explain(instruction: &str) -> Annotated {
    let words = Words::new(instruction);
    if words.len() == 0 {
        return Annotated {
            annotation: Annotation {
                skills: Vec::new(),
                domains: Vec::new(),
                difficulty: None,
                by: Annotator::Code,
            },
            evidence: Vec::new(),
            domain_scores: [0.0; 10],
            skill_scores: [0.0; 12],
            difficulty_estimate: None,
        };
    }
    let mut reading = Reading { text: instruction, words: &words, evidence: Vec::new() };
    let shape = Shape::of(instruction, &words);
    let cues = reading.cues(shape);
    let (domain_scores, domains) = reading.domains(&cues, shape);
    let (skill_scores, skills) = reading.skills(&cues, &domains);
    let estimate = reading.difficulty(&cues, &domains, shape);
    let mut evidence = reading.evidence;
    evidence.retain(|piece| match &piece.for_what {
        ForWhat::Domain(label) => domains.iter().any(|chosen| chosen.domain == label.domain),
        ForWhat::Skill(skill) => skills.contains(skill),
        ForWhat::Difficulty => true,
    });
    evidence
        .sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(a.range.start.cmp(&b.range.start)));
    evidence.truncate(MAX_EVIDENCE);
    Annotated {
        annotation: Annotation { skills, domains, difficulty: level(estimate), by: Annotator::Code },
        evidence,
        domain_scores,
        skill_scores,
        difficulty_estimate: Some(estimate),
    }
}

/// Says what an instruction needs, by its words alone: [`explain`] without the evidence.
#[must_use]
pub fn annotate(instruction: &str) -> Annotation {
    explain(instruction).annotation
}

fn level(estimate: f64) -> Option<Difficulty> {
    Difficulty::ALL.into_iter().min_by(|a, b| {
        let distance = |difficulty: &Difficulty| (f64::from(difficulty.level()) - estimate).abs();
        distance(a).total_cmp(&distance(b))
    })
}

/// What is seen of a text before its words are understood.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    words: usize,
    /// Whether it shows program code.
    code: bool,
    /// Whether it shows formulas.
    formula: bool,
    /// Words with digits in them.
    numbers: usize,
    /// Whether a year from 1000 to 1999 is named.
    year: bool,
    /// Lines that begin as options do: `A)`, `(b)`, `- ` are not told apart from lists; two letters in order are.
    options: bool,
    /// Mean bytes of a word.
    length: f64,
}

impl Shape {
    fn of(text: &str, words: &Words) -> Self {
        let (mut code_lines, mut symbols) = (0, 0);
        let mut fenced = false;
        let mut next_option = b'a';
        let mut options = 0;
        for line in text.lines() {
            let line = line.trim();
            fenced |= line.starts_with("```");
            let ends = line.ends_with([';', '{', '}']) && line.len() > 1 || line.ends_with("):");
            let begins = [
                "def ", "import ", "#include", "for (", "if (", "public ", "SELECT ", "return ", "</",
                "const ",
            ];
            if ends
                || begins.iter().any(|begin| line.starts_with(begin))
                    && line.contains(['(', '<', ';', '*', '=', '.'])
            {
                code_lines += 1;
            }
            let mut letters = line.bytes().skip_while(|&byte| byte == b'(').take(2);
            if let (Some(letter), Some(b')' | b'.' | b':')) = (letters.next(), letters.next())
                && letter.to_ascii_lowercase() == next_option
            {
                next_option = next_option.saturating_add(1);
                options += 1;
            }
        }
        for at in text.bytes() {
            symbols += usize::from(matches!(at, b'=' | b'^' | b'\\' | b'$'));
        }
        let formula = [
            "\\frac", "\\sqrt", "\\sum", "\\int", "^2", "^n", "\\le", "\\ge", "x +", "x =", "= x", "√", "∑",
            "∫", "≤", "≥",
        ];
        let numbers = words.iter().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).count();
        let letters: usize = words.iter().map(|word| word.chars().count()).sum();
        Self {
            words: words.len(),
            code: fenced || code_lines >= 2,
            formula: formula.iter().any(|sign| text.contains(sign))
                || (symbols >= 4 && symbols * 8 > words.len()),
            numbers,
            year: words.iter().any(|word| {
                word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1000..2000).contains(&year))
            }),
            options: options >= 3,
            length: letters as f64 / words.len().max(1) as f64,
        }
    }
}

/// How strongly each cue is there, 0 to 1.
type Strengths = [f64; CUES.len()];

struct Reading<'a> {
    text: &'a str,
    words: &'a Words,
    evidence: Vec<Evidence>,
}

impl Reading<'_> {
    fn note(&mut self, range: Range<usize>, for_what: ForWhat, reason: &'static str, weight: f64) {
        let words = Cow::Owned(self.text.get(range.clone()).unwrap_or_default().to_owned());
        self.evidence.push(Evidence { range, words, for_what, reason: Cow::Borrowed(reason), weight });
    }

    fn note_whole(&mut self, words: &'static str, for_what: ForWhat, reason: &'static str, weight: f64) {
        let (words, reason) = (Cow::Borrowed(words), Cow::Borrowed(reason));
        self.evidence.push(Evidence { range: 0..0, words, for_what, reason, weight });
    }

    /// What a word here is worth beside one in the request.
    fn place_weight(&self, word: usize) -> f64 {
        let from_end = self.words.len() - word.min(self.words.len());
        if word < REQUEST_WORDS || from_end <= REQUEST_WORDS { 1.0 } else { MATERIAL }
    }

    /// Whether a word says how the answer is to look, and not what it is about: "at most 60 words", "no formulas".
    fn is_form(&self, word: usize) -> bool {
        const UNITS: &str = " word sentence paragraph line letter character syllable formula number digit table bullet \
                             heading list section page stanza verse comma emoji quotation link equation ";
        const COUNTS: &str = " no without any each every one two three four five six seven eight nine ten twelve twenty \
                              fifty hundred exactly most least than under over about maximum minimum max min ";
        let is_in =
            |word: &str, list: &str| list.split(' ').any(|listed| !listed.is_empty() && listed == word);
        let Some(unit) = self.words.phrase(word, 1) else { return false };
        if !is_in(unit.strip_suffix('s').unwrap_or(unit), UNITS) {
            return false;
        }
        (word.saturating_sub(3)..word)
            .filter_map(|before| self.words.phrase(before, 1))
            .any(|before| is_in(before, COUNTS) || before.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn cues(&mut self, shape: Shape) -> Found {
        let index = Index::cues();
        let mut strengths = [0.0; CUES.len()];
        let mut places: [Option<Range<usize>>; CUES.len()] = [const { None }; CUES.len()];
        let mut counts = [0usize; CUES.len()];
        for word in 0..self.words.len() {
            for count in 1..=MAX_PHRASE {
                let Some(phrase) = self.words.phrase(word, count) else { break };
                let colon = self.words.colon_after(word + count - 1);
                let weight = self.place_weight(word);
                index.find(phrase, count == 1, colon, |term| {
                    let group = usize::from(term.group);
                    counts[group] += 1;
                    if strengths[group] < weight {
                        strengths[group] = weight;
                        places[group] = Some(self.words.place(word, count));
                    }
                });
            }
        }
        if shape.options {
            strengths[Cue::Choose as usize] = 1.0;
        }
        Found { strengths, places, counts }
    }

    fn domains(&mut self, cues: &Found, shape: Shape) -> ([f64; 10], Vec<DomainLabel>) {
        let index = Index::fields();
        let mut fields = [0.0; FIELDS.len()];
        let mut seen: std::collections::BTreeMap<(&str, u8), usize> = std::collections::BTreeMap::new();
        let mut pieces: Vec<(usize, Range<usize>, bool, f64)> = Vec::new();
        let mut word = 0;
        while word < self.words.len() {
            if self.is_form(word) {
                word += 1;
                continue;
            }
            let mut step = 1;
            for count in (1..=MAX_PHRASE).rev() {
                let Some(phrase) = self.words.phrase(word, count) else { continue };
                let mut hit = false;
                let place_weight = self.place_weight(word);
                index.find(phrase, count == 1, false, |term| {
                    hit = true;
                    let times = seen.entry((term.text, term.group)).or_insert(0);
                    let again = AGAIN.get(*times).copied().unwrap_or(0.0);
                    *times += 1;
                    let weight = again * place_weight * if term.strong { STRONG } else { WEAK };
                    let group = usize::from(term.group);
                    if let Some(field) = fields.get_mut(group) {
                        *field += weight;
                    }
                    if *times == 1 {
                        pieces.push((group, self.words.place(word, count), term.strong, weight));
                    }
                });
                if hit {
                    // What is within a phrase that was understood speaks for nothing by itself.
                    step = count;
                    break;
                }
            }
            word += step;
        }
        for (group, range, strong, weight) in pieces {
            let reason = if strong { "belongs to this field" } else { "occurs in this field" };
            self.note(range, ForWhat::Domain(label(group)), reason, weight);
        }
        self.task_domains(&mut fields, cues, shape);

        let mut domains = [0.0; 10];
        for (domain, score) in Domain::ALL.iter().zip(&mut domains) {
            *score =
                FIELDS.iter().zip(&fields).filter(|(field, _)| field.domain == *domain).map(|(_, s)| s).sum();
        }
        let mut order: Vec<usize> = (0..domains.len()).collect();
        order.sort_by(|&a, &b| domains[b].total_cmp(&domains[a]));
        let first = order.first().map_or(0.0, |&first| domains[first]);
        let chosen = order
            .into_iter()
            .take(retort_rubric::MAX_DOMAINS)
            .filter(|&domain| domains[domain] >= MIN_DOMAIN && domains[domain] >= SECOND_SHARE * first);
        let labels = chosen.filter_map(|number| {
            let domain = *Domain::ALL.get(number)?;
            let parts =
                FIELDS.iter().enumerate().zip(&fields).filter(|((_, field), _)| field.domain == domain);
            // The earlier of two equal parts.
            let best = parts.rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
            best.map(|((group, _), _)| label(group))
        });
        (domains, labels.collect())
    }

    /// What the task itself says of the domain.
    fn task_domains(&mut self, fields: &mut [f64; FIELDS.len()], cues: &Found, shape: Shape) {
        let mut add = |this: &mut Self,
                       domain: Domain,
                       part: usize,
                       weight: f64,
                       cue: Option<Cue>,
                       whole: &'static str| {
            if weight <= 0.0 {
                return;
            }
            let Some(group) =
                FIELDS.iter().position(|f| f.domain == domain && usize::from(f.subdomain) == part)
            else {
                return;
            };
            fields[group] += weight;
            match cue.and_then(|cue| cues.place(cue)) {
                Some(range) => {
                    let reason = cue.map_or("", |cue| CUES[cue as usize].1);
                    this.note(range, ForWhat::Domain(label(group)), reason, weight);
                }
                None => this.note_whole(whole, ForWhat::Domain(label(group)), "stands in the text", weight),
            }
        };
        for (cue, domain, part, weight) in [
            (Cue::Program, Domain::Coding, 0, 3.0),
            (Cue::Repair, Domain::Coding, 0, 1.5),
            (Cue::Contest, Domain::Coding, 0, 1.5),
            (Cue::Rewrite, Domain::Language, 1, 2.0),
            (Cue::Translate, Domain::Language, 1, 2.0),
            (Cue::Fiction, Domain::Language, 1, 1.5),
            (Cue::Message, Domain::Humanities, 0, 1.5),
            (Cue::Proof, Domain::Math, 0, 1.0),
            (Cue::Riddle, Domain::Math, 1, 1.5),
            (Cue::Sum, Domain::Math, 0, 1.0),
        ] {
            add(self, domain, part, weight * cues.strength(cue), Some(cue), "");
        }
        if shape.code {
            add(self, Domain::Coding, 0, 4.0, None, "code");
        }
        if shape.formula && !shape.code {
            add(self, Domain::Math, 0, 3.0, None, "formulas");
        }
        if shape.year {
            add(self, Domain::History, 0, 1.5, None, "a year before 2000");
        }
        if shape.numbers >= 3 && cues.strength(Cue::Sum) > 0.0 {
            add(self, Domain::Math, 0, 3.0, None, "numbers to calculate with");
        }
    }

    fn skills(&mut self, cues: &Found, domains: &[DomainLabel]) -> ([f64; 12], Vec<Skill>) {
        let mut scores = BASE;
        let mut add = |this: &mut Self,
                       skill: Skill,
                       weight: f64,
                       cue: Option<(Range<usize>, &'static str)>,
                       domain: Option<Domain>| {
            if let Some(score) = scores.get_mut(skill as usize) {
                *score += weight;
            }
            match (cue, domain) {
                (Some((range, reason)), _) => this.note(range, ForWhat::Skill(skill), reason, weight),
                (None, Some(domain)) => {
                    this.note_whole(
                        domain.name(),
                        ForWhat::Skill(skill),
                        "is the domain, which calls for it",
                        weight,
                    );
                }
                (None, None) => {
                    this.note_whole("options", ForWhat::Skill(skill), "are offered to choose from", weight)
                }
            }
        };
        for (cue, reason, _) in CUES {
            let strength = cues.strength(cue);
            if strength == 0.0 {
                continue;
            }
            for &(skill, weight) in of_cue(cue) {
                add(self, skill, weight * strength, cues.place(cue).map(|range| (range, reason)), None);
            }
        }
        let share = 1.0 / domains.len().max(1) as f64;
        for label in domains {
            for &(skill, weight) in of_domain(label.domain) {
                add(self, skill, weight * share, None, Some(label.domain));
            }
        }
        let mut order = Skill::ALL;
        order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        (scores, order[..SKILLS_PER_INSTRUCTION].to_vec())
    }

    fn difficulty(&mut self, cues: &Found, domains: &[DomainLabel], shape: Shape) -> f64 {
        let levels: Vec<f64> =
            domains.iter().filter_map(|label| field_of(label).map(|field| field.level)).collect();
        let mut estimate = match levels.len() {
            0 => UNKNOWN_FIELD,
            count => levels.iter().sum::<f64>() / count as f64,
        };
        if let Some(first) = domains.first() {
            let step = estimate - MIDDLE;
            let reason = match step {
                step if step > 0.0 => "usually demands more than the middle level",
                step if step < 0.0 => "usually demands less than the middle level",
                _ => "usually demands the middle level",
            };
            self.note_whole(first.domain.name(), ForWhat::Difficulty, reason, step);
        }
        let exact =
            domains.first().is_some_and(|label| matches!(label.domain, Domain::Math | Domain::Coding));
        let mut steps: Vec<(Option<Cue>, &'static str, &'static str, f64)> = Vec::new();
        let advanced = cues.counts[Cue::Advanced as usize] as f64;
        if advanced > 0.0 {
            steps.push((Some(Cue::Advanced), "", "", (0.4 + 0.2 * advanced).min(1.2)));
        }
        let professional = cues.counts[Cue::Professional as usize] as f64;
        if professional > 0.0 {
            steps.push((Some(Cue::Professional), "", "", (0.2 + 0.1 * professional).min(0.6)));
        }
        for (cue, step) in [
            (Cue::Contest, 1.0),
            (Cue::Child, -0.5),
            (Cue::Everyday, if exact { -0.5 } else { -0.35 }),
            (Cue::Proof, 0.5),
            (Cue::Opinion, 0.2),
            (Cue::Explain, 0.2),
            (Cue::Sort, -0.3),
            (Cue::Brief, -0.2),
            (Cue::Rewrite, -0.2),
            (Cue::Ideas, -0.2),
            (Cue::Fiction, -0.1),
            (Cue::Choose, -0.2),
            (Cue::Extract, -0.2),
            (Cue::Message, -0.2),
            (Cue::Advice, -0.2),
            (Cue::Trivial, -0.4),
        ] {
            let step = step * cues.strength(cue);
            if step != 0.0 {
                steps.push((Some(cue), "", "", step));
            }
        }
        // Everyday English has about four and a half letters a word, textbooks five and more.
        let register = (0.6 * (shape.length - 4.7)).clamp(-0.6, 0.7);
        if !exact && register.abs() >= 0.1 {
            let (words, reason) = if register > 0.0 {
                ("long words", "are the language of textbooks")
            } else {
                ("short words", "are the language of every day")
            };
            steps.push((None, words, reason, register));
        }
        if exact && shape.formula {
            steps.push((None, "formulas", "are school mathematics at least", 0.4));
        }
        // A task that takes a page to state is seldom a simple one; a text to be worked on may be long and simple.
        let long =
            if domains.first().is_some_and(|label| label.domain == Domain::Coding) { 0.6 } else { 0.2 };
        if shape.words > 100 {
            steps.push((None, "a long instruction", "has more to keep in mind", long));
        }
        for (cue, words, reason, step) in steps {
            estimate += step;
            match cue.and_then(|cue| cues.place(cue).map(|range| (range, CUES[cue as usize].1))) {
                Some((range, reason)) => self.note(range, ForWhat::Difficulty, reason, step),
                None => self.note_whole(words, ForWhat::Difficulty, reason, step),
            }
        }
        estimate.clamp(1.0, 5.0)
    }
}

/// The cues of a text.
struct Found {
    strengths: Strengths,
    places: [Option<Range<usize>>; CUES.len()],
    counts: [usize; CUES.len()],
}

impl Found {
    fn strength(&self, cue: Cue) -> f64 {
        self.strengths[cue as usize]
    }

    fn place(&self, cue: Cue) -> Option<Range<usize>> {
        self.places[cue as usize].clone()
    }
}

fn label(group: usize) -> DomainLabel {
    let (domain, part) =
        FIELDS.get(group).map_or((Domain::Language, 0), |field| (field.domain, field.subdomain));
    DomainLabel { domain, subdomain: domain.subdomains().get(usize::from(part)).map(|&name| name.to_owned()) }
}

fn field_of(label: &DomainLabel) -> Option<&'static crate::lexicon::Field> {
    let part = label.domain.subdomains().iter().position(|name| Some(*name) == label.subdomain.as_deref())?;
    FIELDS.iter().find(|field| field.domain == label.domain && usize::from(field.subdomain) == part)
}
