//! What an instruction asks for, ask by ask: imperatives, questions, conditions and listed requirements of its own voice.
//!
//! By rules over words, without a grammar: where the rules cannot be sure of a sentence's shape, they keep it whole and
//! quote it, because a question that repeats the instruction's own words is never wrong, and a bad inversion is.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::instruction::{self, Instruction};
use crate::question::quoted;

/// The most asks that are kept of one instruction.
pub(crate) const MAX_REQUESTS: usize = 20;

/// How many words back a verb looks for what governs it.
const LOOK_BACK: usize = 60;

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// "Does the response …?", without its condition.
    pub(crate) question: String,
    /// When it is asked for, as a clause behind "if".
    pub(crate) condition: Option<String>,
    /// The passage of the instruction.
    pub(crate) range: Range<usize>,
    /// 0 what is asked for outright, 1 how it should be, 2 what only seems to be asked for.
    pub(crate) rank: u8,
}

/// Verbs that ask for something wherever they stand at the head of a clause.
const VERBS: Class = Class(0);

/// Words that are verbs at the head of a sentence, and elsewhere only before an object that shows it.
const VERBS_OR_NOUNS: Class = Class(1);

/// Verbs that need no object.
const ALONE: Class = Class(2);

/// What a person does in the mind: nothing that a response would show.
const SILENT: Class = Class(3);

/// What makes a new text; with an object it is plainer to say that the response gives it.
const MAKING: Class = Class(4);

/// Words that stand before the words that matter.
const OPENERS: Class = Class(5);

const WH: Class = Class(6);
const AUXILIARIES: Class = Class(7);
const FORMS_OF_BE: Class = Class(8);
const MODALS: Class = Class(9);
const PREPOSITIONS: Class = Class(10);
const ARTICLES: Class = Class(11);
const DETERMINERS: Class = Class(12);

/// Parts and kinds of a response: what stands before "should" where a response is spoken of.
const PARTS: Class = Class(13);

/// Behind these, "if" means "whether".
const ASKING: Class = Class(14);

/// Verbs whose objects may be given as a list below.
const LEADS: Class = Class(15);

/// What may remain of a clause beside what code verifies without there being anything else to ask.
const LIGHT: Class = Class(16);

/// The words of each class, in the order of their numbers.
const CLASSES: [&str; 17] = [
    // VERBS
    "explain describe compare recommend suggest include avoid give tell identify discuss analyze analyse \
    provide create generate compose write translate summarise summarize rewrite rephrase paraphrase reword proofread \
    convert calculate compute solve find determine evaluate assess classify categorise categorize extract define \
    demonstrate illustrate justify prove derive mention choose select pick add remove replace ensure make keep ask argue \
    propose predict estimate invent craft develop prepare produce organise organize arrange highlight improve edit \
    implement refactor optimise optimize simplify shorten expand elaborate clarify specify cite say teach help respond \
    act apologise apologize thank tailor apply begin conclude continue insert inform advise warn encourage reassure \
    invite remind convince persuade verify validate confirm adopt adapt adjust introduce interpret infer deduce divide \
    combine merge critique brainstorm narrate recount retell examine explore investigate compile collect gather \
    construct formulate pose let put omit skip ignore exclude restate redact capitalise capitalize punctuate transform \
    emphasise emphasize acknowledge refuse decline admit express convey maintain preserve follow congratulate greet \
    incorporate reference imitate mimic debug correct fix fill relate connect refer stick start spell visualise \
    visualize enumerate weigh contrast pretend respond roleplay elaborate finish tabulate sketch",
    // VERBS_OR_NOUNS
    "list name state outline plan design draft report note test answer order group structure link \
    model map graph plot sign show offer use quote reply return address end close open complete check format limit focus \
    present detail label mark number count sum break split rank rate score grade review rate phrase set take get turn \
    change move leave repeat send read run print output round cover support back base sort match build form draw talk \
    speak walk act summarise detail question stress title script code rate separate account look treat pay do be have \
    trace reflect research work try",
    // ALONE
    "explain respond apologise apologize continue elaborate conclude",
    // SILENT
    "consider imagine suppose assume think read note remember look pretend recall picture",
    // MAKING
    "write compose create draft generate produce craft develop prepare design invent build provide construct make",
    // OPENERS
    "please then also next finally first firstly second secondly third thirdly lastly last afterwards now and \
    but so ok okay additionally furthermore moreover kindly just further instead therefore or plus always too",
    // WH
    "what why how when where who whom whose which what's who's where's how's why's when's",
    // AUXILIARIES
    "is are was were do does did can could should would will must may might has have had am isn't aren't \
    wasn't weren't don't doesn't didn't can't couldn't shouldn't wouldn't won't",
    // FORMS_OF_BE
    "is are was were",
    // MODALS
    "can could should would will must may might",
    // PREPOSITIONS
    "in on at by for from of to with within under over about as using based given during before after \
    between without through like via per into among against regarding concerning assuming starting drawing besides since",
    // ARTICLES
    "a an another one two three four five six seven eight nine ten some several",
    // DETERMINERS
    "a an the my your its their his her our this these those that each every all both any some several no \
    one two three four five six seven eight nine ten at exactly about another more only whether what why how when where \
    which who if me them it him us yourself possible further other examples relevant key important specific",
    // PARTS
    "essay poem story answer response output reply letter email text summary list table report article \
    explanation code function program script speech post title paragraph paragraphs section sections sentence sentences \
    line lines word words tone style language format ending conclusion introduction plan recipe review description \
    dialogue song lyrics message result results headline slogan song menu schedule itinerary email abstract outline \
    stanza stanzas verse item items entry entries bullet bullets point points heading headings example examples solution \
    post tweet caption proposal memo document analysis argument story joke riddle quiz question questions answers name \
    names test tests class method query page blog piece narrative protagonist character characters haiku limerick \
    translation version rewrite draft advice bio biography account guide overview text reply",
    // ASKING
    "ask tell know check see decide say wonder explain determine clear sure state find judge note mention test \
    verify discuss consider understand indicate assess and as even but only",
    // LEADS
    "include includes including cover covers covering contain contains containing address addresses addressing \
    mention mentions mentioning discuss discusses explain explains describe describes describing with compare provide \
    provides list give have has define use on about",
    // LIGHT
    "use keep make write answer respond reply response your the a an it to be in please limit give should must do \
    don't not avoid no and or with of only exactly include that text words is are i want need would like you as by for on \
    ensure sure entire whole all output format provide put have has list point points letter answers replies this my at \
    least most long length than more result them each contain using word just return there can also so if then within \
    under up into its they used any never anywhere both must start begin end finish number separate present",
];

/// A class of words, by its number in [`CLASSES`].
#[derive(Debug, Clone, Copy)]
struct Class(u32);

/// Which classes each word is of, as bits: looking a word up is then one step, however many words a class has.
static LEXICON: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut lexicon = HashMap::new();
    for (class, words) in CLASSES.iter().enumerate() {
        for word in words.split_ascii_whitespace() {
            *lexicon.entry(word).or_insert(0) |= 1 << class;
        }
    }
    lexicon
});

/// A few words with spaces between them, or a class.
trait Words {
    fn hold(&self, word: &str) -> bool;

    /// The same for a word of which the classes are known.
    fn hold_one_of(&self, word: &str, classes: u32) -> bool;
}

impl Words for &str {
    fn hold(&self, word: &str) -> bool {
        instruction::is_in(word, self)
    }

    fn hold_one_of(&self, word: &str, _classes: u32) -> bool {
        self.hold(word)
    }
}

impl Words for Class {
    fn hold(&self, word: &str) -> bool {
        self.hold_one_of(word, LEXICON.get(word).copied().unwrap_or(0))
    }

    fn hold_one_of(&self, _word: &str, classes: u32) -> bool {
        classes & (1 << self.0) != 0
    }
}

fn is_in(word: &str, list: impl Words) -> bool {
    list.hold(word)
}

#[derive(Debug, Clone)]
struct Token<'t> {
    /// As it is written, with the marks round it.
    raw: &'t str,
    /// In small letters, without marks; empty where it is opaque.
    word: String,
    /// Which classes the word is of, as bits.
    classes: u32,
    range: Range<usize>,
    is_opaque: bool,
    is_covered: bool,
}

impl Token<'_> {
    fn ends_with(&self, marks: &[char]) -> bool {
        self.raw.trim_end_matches(['"', '”', ')', '*']).ends_with(marks)
    }

    /// Is one of these words.
    fn is(&self, list: impl Words) -> bool {
        !self.is_opaque && list.hold_one_of(&self.word, self.classes)
    }

    fn breaks(&self) -> bool {
        if self.is_opaque {
            // A comma within the quotation marks is the quotation's.
            return self.raw.ends_with([',', ';', ':']);
        }
        self.ends_with(&[',', ';', ':']) || matches!(self.raw, "-" | "–" | "—")
    }
}

/// Everything that the voice asks for, but for what `covered` says already; at most [`MAX_REQUESTS`], in the order of
/// the instruction.
pub(crate) fn requests(instruction: &Instruction<'_>, covered: &[Range<usize>]) -> Vec<Ask> {
    let mut reader = Reader { asks: Vec::new(), condition: None, lead: None };
    let covered = &merged(covered);
    for sentence in &instruction.sentences {
        let tokens = tokens(instruction, &sentence.range, covered);
        reader.sentence(&tokens, sentence.is_item);
    }
    let mut asks = reader.asks;
    if asks.is_empty() {
        asks.extend(whole(instruction, covered));
    }
    // The first of what matters most, then back in order.
    if asks.len() > MAX_REQUESTS {
        asks.sort_by_key(|ask| (ask.rank, ask.range.start));
        asks.truncate(MAX_REQUESTS);
        asks.sort_by_key(|ask| ask.range.start);
    }
    asks
}

/// The same bytes as ranges in order that do not touch.
fn merged(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted: Vec<Range<usize>> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Where nothing in particular is asked for, such as in "Blog intro on winter cycling".
fn whole(instruction: &Instruction<'_>, covered: &[Range<usize>]) -> Option<Ask> {
    let mut words: Vec<&str> = Vec::new();
    let mut is_wanted = false;
    let mut ends: Option<Range<usize>> = None;
    for sentence in &instruction.sentences {
        let tokens = tokens(instruction, &sentence.range, covered);
        let is_greeting = is_greeting(&tokens);
        for token in tokens.iter().filter(|token| !token.is_covered && !is_greeting) {
            is_wanted |= !token.is(LIGHT) && token.raw.chars().any(char::is_alphanumeric);
            words.push(token.raw);
            let range = ends.get_or_insert(token.range.clone());
            range.end = token.range.end;
        }
    }
    let text = words.join(" ");
    let text =
        text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '?' | '!'));
    let range = ends.filter(|_| is_wanted && !text.is_empty())?;
    let question = format!("Does the response do what is asked for: {}?", quoted(text));
    Some(Ask { question, condition: None, range, rank: 2 })
}

fn tokens<'t>(
    instruction: &Instruction<'t>,
    range: &Range<usize>,
    covered: &[Range<usize>],
) -> Vec<Token<'t>> {
    let mut found = Vec::new();
    let mut at = range.start;
    let first = instruction.spans.partition_point(|span| span.range.end <= range.start);
    let spans = instruction.spans.get(first..).unwrap_or_default();
    let mut spans = spans.iter().take_while(|span| span.range.start < range.end).peekable();
    let mut push = |part: Range<usize>, is_opaque: bool| {
        let raw = instruction.slice(&part);
        let word = if is_opaque {
            String::new()
        } else {
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
            match word.as_str() {
                "u" => "you".to_owned(),
                "pls" | "plz" => "please".to_owned(),
                "dont" => "don't".to_owned(),
                _ => word,
            }
        };
        // The marks behind a word may lie outside.
        let end = part.start + raw.trim_end_matches(|c: char| !c.is_alphanumeric()).len().max(1);
        let cover = covered.partition_point(|cover| cover.end < end);
        let is_covered =
            covered.get(cover).is_some_and(|cover| cover.start <= part.start && end <= cover.end);
        let classes = LEXICON.get(word.as_str()).copied().unwrap_or(0);
        found.push(Token { raw, word, classes, range: part, is_opaque, is_covered });
    };
    while at < range.end {
        let rest = instruction.slice(&(at..range.end));
        let space = rest.len() - rest.trim_start().len();
        at += space;
        let Some(rest) = rest.get(space..).filter(|rest| !rest.is_empty()) else { break };
        while spans.peek().is_some_and(|span| span.range.end <= at) {
            spans.next();
        }
        let mut end = at + rest.find(char::is_whitespace).unwrap_or(rest.len());
        match spans.peek() {
            Some(span) if span.range.start < end => {
                if span.is_material {
                    at = span.range.end;
                    continue;
                }
                // A quotation with the marks that hang on it.
                let tail = instruction.slice(&(span.range.end.min(range.end)..range.end));
                end = span.range.end.min(range.end) + tail.find(char::is_whitespace).unwrap_or(tail.len());
                push(at..end, true);
            }
            _ => push(at..end, false),
        }
        at = end;
    }
    found
}

fn is_greeting(tokens: &[Token<'_>]) -> bool {
    tokens.first().is_some_and(|first| {
        (tokens.len() <= 3 && first.is("hi hello hey dear greetings good"))
            || (tokens.len() <= 10 && first.is("thanks thank cheers sorry"))
    })
}

/// What a list stands under.
struct Lead {
    /// The verb that its noun phrases are objects of.
    verb: Option<String>,
    /// Whether it says that what follows is required.
    requires: bool,
    condition: Option<String>,
}

struct Reader {
    asks: Vec<Ask>,
    /// The last condition, for "otherwise".
    condition: Option<String>,
    lead: Option<Lead>,
}

impl Reader {
    fn sentence(&mut self, tokens: &[Token<'_>], is_item: bool) {
        let tokens = without_mark(tokens, is_item);
        if tokens.is_empty() || is_greeting(tokens) {
            return;
        }
        // A greeting before the sentence's own words: "Hi Ann, could you …".
        let tokens = match tokens {
            [first, ..] if first.is("hi hello hey") => {
                let end = tokens.iter().take(4).position(|t| t.ends_with(&[',', '!'])).map_or(1, |at| at + 1);
                tokens.get(end..).unwrap_or_default()
            }
            _ => tokens,
        };
        let before = self.asks.len();
        if is_item {
            let condition = self.lead.as_ref().and_then(|lead| lead.condition.clone());
            self.statement(tokens, condition);
            if self.asks.len() == before {
                self.listed(tokens);
            }
            return;
        }
        self.statement(tokens, None);
        let is_lead = tokens.last().is_some_and(|last| last.ends_with(&[':']));
        self.lead = is_lead.then(|| {
            let last = tokens.last().map(|token| token.word.clone()).unwrap_or_default();
            let words = || tokens.iter().rev().take(6);
            let verb = if is_in(&last, LEADS) {
                Some(last)
            } else if words().any(|t| t.is("following these points topics aspects things elements questions items sections")) {
                words().find(|t| t.is(LEADS) && !t.is("on about with use")).map(|t| t.word.clone())
            } else {
                None
            };
            let requires = tokens.iter().any(|t| {
                t.is("requirements requirement rules rule constraints guidelines criteria conditions must should instructions")
            });
            Lead { verb, requires, condition: self.condition.clone().filter(|_| tokens.first().is_some_and(|t| t.is("if when"))) }
        });
    }

    /// A noun phrase in a list.
    fn listed(&mut self, tokens: &[Token<'_>]) {
        let Some(lead) = &self.lead else { return };
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        if is_all_covered(tokens) {
            return;
        }
        let phrase = person(tokens, false);
        let question = match lead.verb.as_deref() {
            Some("with" | "has" | "have") => format!("Does the response have {}?", lowered(&phrase, tokens)),
            Some("on" | "about" | "covers" | "covering") => {
                format!("Does the response cover {}?", lowered(&phrase, tokens))
            }
            Some(verb) => {
                let verb = base_form(verb);
                format!("Does the response {verb} {}?", lowered(&phrase, tokens))
            }
            None if lead.requires => format!("Does the response meet the requirement {}?", quoted(&phrase)),
            None => return,
        };
        let range = first.range.start..last.range.end;
        self.asks.push(Ask { question, condition: lead.condition.clone(), range, rank: 1 });
    }

    /// One sentence, or what stands behind its condition.
    fn statement(&mut self, tokens: &[Token<'_>], condition: Option<String>) {
        let mut tokens = tokens;
        let mut condition = condition;
        let skipped = openers(tokens);
        let Some(first) = tokens.get(skipped) else { return };
        if first.is("otherwise else") {
            tokens = tokens.get(skipped + 1..).unwrap_or_default();
            condition = self.condition.take().map(|condition| negated(&condition)).or(condition);
        } else if first.is("if when whenever unless")
            && !is_question_at(tokens, skipped)
            && let Some((clause, rest)) = split_condition(tokens.get(skipped..).unwrap_or_default())
        {
            let clause = if first.is("unless") { negated(&clause) } else { clause };
            self.condition = Some(clause.clone());
            // "If X, do Y; otherwise do Z": two statements under opposite conditions.
            match rest.iter().position(|t| t.is("otherwise else")) {
                Some(at) => {
                    let (held, other) = rest.split_at(at);
                    self.segments(held, Some(clause.clone()));
                    self.segments(other.get(1..).unwrap_or_default(), Some(negated(&clause)));
                }
                None => self.segments(rest, Some(clause)),
            }
            return;
        }
        self.segments(tokens, condition);
    }

    /// Splits at the heads of asks, and turns each part into its question.
    fn segments(&mut self, tokens: &[Token<'_>], condition: Option<String>) {
        if tokens.is_empty() {
            return;
        }
        let ends_in_question = tokens.last().is_some_and(|last| last.ends_with(&['?']));
        let mut adverbial: &[Token<'_>] = &[];
        let mut start = openers(tokens);
        // "In two sentences, explain …": what stands before the first ask belongs to it.
        if head(tokens, start, true, ends_in_question).is_none() {
            let found = (start + 1..tokens.len()).take(30).find(|&at| {
                let after = at + openers(tokens.get(at..).unwrap_or_default());
                tokens.get(at - 1).is_some_and(Token::breaks)
                    && head(tokens, after, false, ends_in_question).is_some()
            });
            let Some(at) = found else {
                if ends_in_question {
                    self.push(&Part { tokens, head: Head::Question, adverbial, verb: None }, condition);
                }
                return;
            };
            let is_adverbial = tokens.get(start).is_some_and(|first| {
                first.is(PREPOSITIONS) || (first.word.ends_with("ing") && first.word.len() > 4)
            }) && tokens.get(at - 1).is_some_and(|last| last.ends_with(&[',', ':']));
            if is_adverbial {
                adverbial = tokens.get(start..at).unwrap_or_default();
            }
            start = at + openers(tokens.get(at..).unwrap_or_default());
        }
        let mut kind = head(tokens, start, true, ends_in_question).unwrap_or(Head::Question);
        let mut at = start + 1;
        while at <= tokens.len() {
            let boundary = boundary(tokens, start, at, kind, ends_in_question);
            if at == tokens.len() || boundary.is_some() {
                let part = tokens.get(start..at).unwrap_or_default();
                self.embedded(&Part { tokens: part, head: kind, adverbial, verb: None }, condition.clone());
                let Some((next, head)) = boundary else { break };
                start = next;
                kind = head;
                adverbial = &[];
                at = start;
            }
            at += 1;
        }
    }

    /// "Explain what X is and why it matters" asks for two things.
    fn embedded(&mut self, part: &Part<'_, '_>, condition: Option<String>) {
        let tokens = part.tokens;
        let verb_is_saying = tokens.first().is_some_and(|t| {
            t.is("explain describe tell say discuss show state clarify explore outline understand know")
        });
        let opening = tokens.iter().take(3).skip(1).position(|t| t.is(WH)).map(|at| at + 1);
        if let (Head::Imperative, true, Some(opening)) = (part.head, verb_is_saying, opening) {
            let verb = tokens.get(..opening).unwrap_or_default();
            let mut start = opening;
            let mut first = true;
            for at in opening + 1..=tokens.len() {
                let joins = tokens.get(at).is_some_and(|t| t.is(WH))
                    && tokens.get(at - 1).is_some_and(|t| t.is("and") || t.ends_with(&[',']))
                    && at > start + 1;
                if !(joins || at == tokens.len()) {
                    continue;
                }
                let mut end = at;
                if joins && tokens.get(end - 1).is_some_and(|t| t.is("and")) {
                    end -= 1;
                }
                if first {
                    let tokens = tokens.get(..end).unwrap_or_default();
                    self.push(&Part { tokens, verb: None, ..*part }, condition.clone());
                } else {
                    let tokens = tokens.get(start..end).unwrap_or_default();
                    self.push(
                        &Part { tokens, verb: Some(verb), head: part.head, adverbial: &[] },
                        condition.clone(),
                    );
                }
                first = false;
                start = at;
            }
            return;
        }
        self.push(part, condition);
    }

    fn push(&mut self, part: &Part<'_, '_>, condition: Option<String>) {
        let (mut tokens, mut condition) = (part.tokens, condition);
        // A condition behind what is asked for.
        if condition.is_none()
            && part.head != Head::Question
            && let Some(at) = tokens.iter().enumerate().skip(2).position(|(at, t)| {
                t.is("if unless")
                    && !means_whether(tokens, at)
                    && tokens.get(at + 1).is_some_and(|next| {
                        !next.is("possible needed necessary any applicable relevant not so you")
                    })
            })
        {
            let at = at + 2;
            let clause = clause(tokens.get(at + 1..).unwrap_or_default());
            condition =
                Some(if tokens.get(at).is_some_and(|t| t.is("unless")) { negated(&clause) } else { clause });
            self.condition = condition.clone();
            tokens = tokens.get(..at).unwrap_or_default();
        }
        let all = tokens;
        if is_all_covered(tokens) {
            return;
        }
        tokens = without_covered_tail(tokens);
        // "Give the guide three headings" asks for nothing new when the headings are verified and the guide was asked for.
        if tokens.len() < all.len()
            && self
                .asks
                .iter()
                .any(|ask| tokens.iter().all(|t| t.is(LIGHT) || ask.question.contains(bare(t.raw))))
        {
            return;
        }
        let adverbial = if part.adverbial.iter().filter(|t| !t.is(LIGHT)).any(|t| t.is_covered) {
            &[]
        } else {
            part.adverbial
        };
        let Some((question, rank)) = convert(&Part { tokens, adverbial, ..*part }) else { return };
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        let from = part.adverbial.first().map_or(first.range.start, |t| t.range.start);
        self.asks.push(Ask { question, condition, range: from..last.range.end, rank });
    }
}

#[derive(Clone, Copy)]
struct Part<'p, 't> {
    tokens: &'p [Token<'t>],
    head: Head,
    /// "in two sentences", from before the ask.
    adverbial: &'p [Token<'t>],
    /// The verb that an earlier part has in common with this one.
    verb: Option<&'p [Token<'t>]>,
}

/// Whether the "if" here, behind two words at least, says "whether": "check if", "tell me if", but not "add a note if".
fn means_whether(tokens: &[Token<'_>], at: usize) -> bool {
    let before = |back: usize, list: Class| {
        at.checked_sub(back).and_then(|at| tokens.get(at)).is_some_and(|token| token.is(list))
    };
    let asks_someone =
        at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|t| t.is("ask tell explain know"));
    asks_someone || (before(1, ASKING) && !before(2, DETERMINERS))
}

/// How an ask begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// With a verb.
    Imperative,
    /// "don't", "never".
    Prohibition,
    /// With a question word or an auxiliary.
    Question,
    /// "can you", "you should", "I want you to": a verb follows.
    Polite(usize),
    /// The same, negated.
    PoliteNot(usize),
    /// "I need", "I'd like": a noun phrase follows, or "to know".
    Wish(usize),
    /// "the essay should": so many words before it.
    Should(usize),
}

/// The ask that begins at a token. `is_first` where it is the first of its sentence.
fn head(tokens: &[Token<'_>], at: usize, is_first: bool, in_question: bool) -> Option<Head> {
    let word = |ahead: usize| tokens.get(at + ahead).map_or("", |t| t.word.as_str());
    let token = tokens.get(at)?;
    if token.is_opaque {
        return None;
    }
    let first = token.word.as_str();
    match (first, word(1), word(2), word(3)) {
        ("feel", "free", ..) => return None,
        ("don't" | "never", ..) | ("do", "not", ..) => return Some(Head::Prohibition),
        ("would", "you", "mind", _) => return Some(Head::Polite(3)),
        ("can" | "could" | "would" | "will", "you", next, _) => {
            return Some(Head::Polite(if is_in(next, "please kindly also maybe perhaps") { 3 } else { 2 }));
        }
        ("you", "should" | "must" | "shall" | "will" | "can", "not" | "never", _) => {
            return Some(Head::PoliteNot(3));
        }
        ("you", "shouldn't" | "mustn't" | "can't" | "cannot", ..) => return Some(Head::PoliteNot(2)),
        ("you", "are", "asked" | "requested" | "required", "to") => return Some(Head::Polite(4)),
        ("you", "are", "kindly", "asked" | "requested") => return Some(Head::Polite(5)),
        ("you", "should" | "must" | "shall", next, _) => {
            return Some(Head::Polite(if is_in(next, "also always then") { 3 } else { 2 }));
        }
        ("you", "need" | "have" | "are", "to", _) => return Some(Head::Polite(3)),
        ("i", "want" | "need", "you", "to") => return Some(Head::Polite(4)),
        ("i'd", "like" | "love", "you", "to") => return Some(Head::Polite(4)),
        ("i", "would", "like" | "love", "you") => return Some(Head::Polite(5)),
        ("i", "need" | "want", ..) => return Some(Head::Wish(2)),
        ("i'd", "like" | "love" | "appreciate", ..) => return Some(Head::Wish(2)),
        ("i", "would", "like" | "love" | "appreciate", _) => return Some(Head::Wish(3)),
        ("i'm", "looking", "for", _) => return Some(Head::Wish(3)),
        ("i", "am", "looking", "for") => return Some(Head::Wish(4)),
        ("make" | "be", "sure", "to", _) => return Some(Head::Polite(3)),
        ("make" | "be", "sure", "you", _) => return Some(Head::Polite(3)),
        ("remember" | "try", "to", ..) => return Some(Head::Polite(2)),
        _ => {}
    }
    let is_wh = is_in(first, WH);
    if is_question_at(tokens, at) && (in_question || (is_wh && is_first)) {
        return Some(Head::Question);
    }
    if first == "how" && word(1) == "to" && is_first {
        return Some(Head::Question);
    }
    if is_wh && in_question {
        return Some(Head::Question);
    }
    // An adverb before the verb: "briefly explain".
    let is_adverb =
        first.ends_with("ly") && first.len() > 4 && !is_in(first, VERBS) && !is_in(first, VERBS_OR_NOUNS);
    let verb = usize::from(is_adverb);
    let is_alone = |ahead: usize| tokens.get(at + ahead).is_some_and(Token::breaks);
    // A label: "Format: CSV".
    if is_in(word(verb), VERBS_OR_NOUNS) && token.ends_with(&[':']) {
        return None;
    }
    if is_in(word(verb), VERBS) {
        let is_object_missing = !is_first
            && (is_alone(verb) || word(verb + 1).is_empty() || matches!(word(verb + 1), "and" | "or"))
            && !is_in(word(verb), ALONE)
            && !tokens.get(at + verb + 1).is_some_and(|t| t.is_opaque);
        return (!is_object_missing).then_some(Head::Imperative);
    }
    if is_in(word(verb), VERBS_OR_NOUNS) && !(is_in(word(verb), "do have be") && in_question) {
        let next = tokens.get(at + verb + 1);
        let has_object = next.is_some_and(|t| {
            t.is_opaque
                || t.is(DETERMINERS)
                || (t.is("to") && is_in(word(verb), "offer try work"))
                || t.raw.starts_with(|c: char| c.is_ascii_digit())
        });
        let is_adjective_too = is_in(word(verb), "present open close complete separate back");
        if has_object || (is_first && !is_adjective_too && next.is_some()) {
            return Some(Head::Imperative);
        }
    }
    if is_in(first, SILENT) && is_first {
        return None;
    }
    // Any other word at the front with an object behind it that is no word of grammar: "Advertise a used car".
    let has_object =
        tokens.get(at + 1).is_some_and(|t| t.is("a an the my your its this these those me each every"));
    if at == openers(tokens) && is_first && has_object && !token.breaks() && is_likely_verb(first) {
        return Some(Head::Imperative);
    }
    // "The essay should …"; "it must …".
    (1..=7).find_map(|ahead| {
        let next = tokens.get(at + ahead)?;
        let subject = tokens.get(at..at + ahead)?;
        if !next.is("should must shall needs has ought")
            || (next.is("needs has ought") && word(ahead + 1) != "to")
        {
            return None;
        }
        let last = subject.last()?;
        let is_response = subject.len() == 1 && last.is("it this there they everything nothing each all")
            || first == "your"
            || subject.iter().any(|t| t.is(PARTS))
                && subject.first()?.is("the this each every all its any no both these");
        (is_response && !subject.iter().any(Token::breaks)).then_some(Head::Should(ahead))
    })
}

/// A sentence of advice as what it says to do: "preheat the oven"; `None` where it is no advice.
pub(crate) fn advice(instruction: &Instruction<'_>, range: &Range<usize>) -> Option<String> {
    let tokens = tokens(instruction, range, &[]);
    let start = openers(&tokens);
    let tokens = tokens.get(start..)?;
    // An ambiguous word is a verb only where an object shows it.
    let is_certain = !tokens.first()?.is(VERBS_OR_NOUNS);
    if head(tokens, 0, is_certain, false)? != Head::Imperative
        || tokens.first()?.is("do have be")
        || tokens.len() < 2
    {
        return None;
    }
    Some(person(tokens, true))
}

fn is_likely_verb(word: &str) -> bool {
    const OTHERS: &str = "all both half such not no yes once than what here there that while where because though although \
        until till unless if when or nor yet except despite plus minus near off out up down i you he she it we they who \
        nothing many few even only quite rather what";
    let is_plural = word.ends_with('s') && !word.ends_with("ss");
    word.len() > 2
        && !is_plural
        && word.chars().all(|c| c.is_alphabetic() || c == '-')
        && !["ly", "ing", "ed"].iter().any(|ending| word.ends_with(ending))
        && !is_in(word, OTHERS)
        && ![PREPOSITIONS, AUXILIARIES, WH, DETERMINERS, OPENERS, SILENT]
            .iter()
            .any(|list| is_in(word, *list))
}

/// Whether a question begins here: with a question word, or with an auxiliary and what could be its subject.
fn is_question_at(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(first) = tokens.get(at) else { return false };
    let ends = tokens.last().is_some_and(|last| last.ends_with(&['?']));
    let next_is = |list: Class| tokens.get(at + 1).is_some_and(|t| t.is(list));
    if first.is(WH) {
        // Without a mark, an auxiliary or verb has to show it.
        return ends || (next_is(AUXILIARIES) && !first.is("when who which where"));
    }
    ends && first.is(AUXILIARIES)
}

/// Whether a new ask begins behind `at`, and where its own words begin. `start` is where the present part begins.
fn boundary(
    tokens: &[Token<'_>],
    start: usize,
    at: usize,
    kind: Head,
    in_question: bool,
) -> Option<(usize, Head)> {
    let before = tokens.get(at.checked_sub(1)?)?;
    let here = tokens.get(at)?;
    let after_mark = before.breaks() || before.ends_with(&['.', '?', '!']);
    let joins = here.is("and then but or") && !here.is_opaque;
    if !(after_mark || joins) {
        return None;
    }
    let next = at + openers(tokens.get(at..)?);
    if next >= tokens.len() {
        return None;
    }
    let part = tokens.get(start..at)?;
    let found = head(tokens, next, false, in_question)?;
    let is_explicit = tokens.get(at..next)?.iter().any(|t| t.is("please then also finally"));
    let ok = match found {
        Head::Question => {
            // "… and why": of questions and after a colon only; a relative clause follows its noun without "and".
            let is_wh = tokens.get(next).is_some_and(|t| t.is(WH));
            (kind == Head::Question || before.ends_with(&[':']))
                && (joins || is_wh || here.is("and"))
                && (joins
                    || before.ends_with(&[':', '?', ';'])
                    || kind == Head::Question && is_wh && after_mark)
        }
        Head::Imperative => {
            let verb = |t: &Token<'_>| t.is(VERBS) || t.is(VERBS_OR_NOUNS);
            // One verb alone shares its object with the next: "name and explain three causes".
            if part.len() == 1 && !part.first().is_some_and(|t| t.is(ALONE)) {
                return None;
            }
            // Behind "a program that reads a file and …", "how to plan and …" the verb may belong there.
            let part = part.get(part.len().saturating_sub(LOOK_BACK)..).unwrap_or_default();
            let own = match kind {
                Head::Polite(skip) | Head::Wish(skip) => part.get(skip..).unwrap_or_default(),
                _ => part,
            };
            let governed = own.windows(2).any(|pair| match pair {
                [a, b] => {
                    (a.is("to") && verb(b))
                        || a.is("that which who can could would should must will you they we people")
                }
                _ => false,
            });
            let is_verb_list = {
                let chunk = part.iter().rev().skip(1).take_while(|t| !t.breaks()).count() + 1;
                chunk == 1 && before.ends_with(&[',']) && verb(before)
            };
            let is_ask = !matches!(kind, Head::Question | Head::Should(_)) || is_explicit;
            is_ask
                && !is_verb_list
                && (!governed || after_mark || is_explicit)
                && (after_mark || !here.is("or"))
        }
        Head::Should(_) => after_mark || here.is("and"),
        Head::Wish(_) => after_mark,
        _ => true,
    };
    ok.then_some((next, found))
}

/// How many words stand before those that matter: "and then, please".
fn openers(tokens: &[Token<'_>]) -> usize {
    let mut count = 0;
    while let Some(token) = tokens.get(count) {
        let is_dash = matches!(token.raw, "-" | "–" | "—" | "&");
        // "First names are …" is no opener, "First explain …" is.
        if !(token.is(OPENERS) || is_dash) || (count + 1 == tokens.len()) {
            break;
        }
        count += 1;
    }
    match tokens.get(count..count + 3) {
        Some([a, b, _]) if a.is("in") && b.is("addition") => count + 2,
        Some([a, b, _]) if a.is("after") && b.is("that") => count + 2,
        _ => count,
    }
}

fn without_mark<'a, 't>(tokens: &'a [Token<'t>], is_item: bool) -> &'a [Token<'t>] {
    let Some((first, rest)) = tokens.split_first() else { return tokens };
    let digits = first.raw.trim_start_matches('(').trim_end_matches(['.', ')', ':']);
    let is_mark = matches!(first.raw, "-" | "*" | "+" | "•" | "–" | "—" | "·" | "▪" | "◦")
        || (first.raw.len() > digits.len()
            && (digits.chars().all(|c| c.is_ascii_digit())
                || (digits.len() == 1 && digits.chars().all(|c| c.is_ascii_alphabetic())))
            && !digits.is_empty());
    if is_mark && (is_item || first.raw.chars().all(|c| !c.is_alphabetic())) { rest } else { tokens }
}

/// "if X, Y": X as a clause, and Y.
fn split_condition<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(String, &'a [Token<'t>])> {
    if tokens.get(1)?.word.ends_with("ing") || tokens.get(1)?.is("possible needed necessary applicable") {
        return None;
    }
    let ends_in_question = tokens.last()?.ends_with(&['?']);
    let mut first_comma = None;
    for at in 2..tokens.len() {
        if tokens.get(at)?.is("then") || tokens.get(at - 1)?.ends_with(&[',', ':']) {
            let rest = tokens.get(at..)?;
            let start = openers(rest);
            first_comma = first_comma.or(Some(at));
            if head(rest, start, true, ends_in_question).is_some() {
                return Some((clause(tokens.get(1..at)?), rest));
            }
        }
    }
    let at = first_comma?;
    Some((clause(tokens.get(1..at)?), tokens.get(at..)?))
}

/// A condition's clause: in it, "you" is the response.
fn clause(tokens: &[Token<'_>]) -> String {
    let text = person(tokens, false);
    match text.strip_prefix("it ") {
        Some(rest) if tokens.first().is_some_and(|t| t.is("you")) => format!("the response {rest}"),
        _ => text,
    }
}

fn negated(condition: &str) -> String {
    match condition.strip_prefix("it is not the case that ") {
        Some(held) => held.to_owned(),
        None => format!("it is not the case that {condition}"),
    }
}

fn is_all_covered(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|t| t.is_covered)
        && tokens.iter().all(|t| t.is_covered || t.is(LIGHT) || !t.raw.chars().any(char::is_alphanumeric))
}

/// Without what code verifies, where it stands at the end and something else is left to be asked.
fn without_covered_tail<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let mut end = tokens.len();
    let is_last = |end: usize, wanted: &dyn Fn(&Token<'_>) -> bool| {
        end > 1 && tokens.get(end - 1).is_some_and(|t| !t.is_opaque && wanted(t))
    };
    let is_joint = "in of with using at as to by within under that which and it should must is are has have on for be but only into";
    loop {
        let before = end;
        while end > 1 && tokens.get(end - 1).is_some_and(|t| t.is_covered) {
            end -= 1;
        }
        if end == tokens.len() {
            return tokens;
        }
        while is_last(end, &|t| t.is(is_joint)) {
            end -= 1;
        }
        // "… and use": what was to be used is verified.
        if is_last(end, &|t| t.is("use include have contain add keep give put"))
            && is_last(end - 1, &|t| t.is("and then also") || t.raw.ends_with(','))
        {
            end -= 1;
        }
        if end == before {
            break;
        }
    }
    // "Write" alone asks for nothing, and a noun may be missing: then the clause stays whole.
    let left = tokens.get(..end).unwrap_or_default();
    if left.iter().filter(|t| !t.is(LIGHT)).count() == 0 && left.len() < 3 { tokens } else { left }
}

/// The question, and its rank.
fn convert(part: &Part<'_, '_>) -> Option<(String, u8)> {
    let tokens = part.tokens;
    let tail = match part.adverbial {
        [] => String::new(),
        words => format!(" {}", lowered(&person(words, false), words)),
    };
    let does = |phrase: String| format!("Does the response {phrase}{tail}?");
    if let Some(verb) = part.verb {
        return Some((does(format!("{} {}", person(verb, true), person(tokens, false))), 0));
    }
    match part.head {
        Head::Imperative => Some((does(imperative(tokens)?), 0)),
        Head::Prohibition => {
            let skip = if tokens.first()?.is("do") { 2 } else { 1 };
            let rest = tokens.get(skip..)?;
            if rest.first()?.is("forget hesitate worry") {
                let inner = rest.get(2..).filter(|_| rest.first().is_some_and(|t| t.is("forget")))?;
                return Some((does(imperative(inner)?), 0));
            }
            Some((does(avoiding(rest)?), 1))
        }
        Head::Polite(skip) => {
            let rest = tokens.get(skip..)?;
            let start = openers(rest);
            Some((does(imperative(rest.get(start..)?)?), 0))
        }
        Head::PoliteNot(skip) => Some((does(avoiding(tokens.get(skip..)?)?), 1)),
        Head::Wish(skip) => wish(tokens.get(skip..)?).map(|phrase| (does(phrase), 0)),
        Head::Should(ahead) => should(tokens, ahead, &tail).map(|question| (question, 1)),
        Head::Question => {
            let phrase = indirect(tokens);
            Some(match phrase {
                Some(phrase) => (does(format!("say {phrase}")), 0),
                None => {
                    let mut words = part.adverbial.to_vec();
                    words.extend_from_slice(tokens);
                    (
                        format!(
                            "Does the response answer the question {}?",
                            quoted(&capitalised(&plain(&words)))
                        ),
                        0,
                    )
                }
            })
        }
    }
}

/// A verb phrase in its plain form.
fn imperative(tokens: &[Token<'_>]) -> Option<String> {
    let start = openers(tokens);
    let tokens = tokens.get(start..).unwrap_or_default();
    let tokens = match tokens {
        [a, b, rest @ ..]
            if a.is("make be") && b.is("sure") && rest.first().is_some_and(|t| t.is("to you")) =>
        {
            return imperative(rest.get(1..)?);
        }
        [a, b, rest @ ..] if a.is("go") && b.is("ahead") => rest.get(1..)?,
        _ => tokens,
    };
    let [first, rest @ ..] = tokens else { return None };
    if first.is(SILENT) {
        return None;
    }
    if first.is("don't never") {
        return avoiding(rest);
    }
    // What is asked for are the questions, not that they be answered.
    if first.is("answer") && rest.last().is_some_and(|t| t.is("questions question") && t.ends_with(&[':'])) {
        return None;
    }
    // A list follows, or a material text: "Include:", "Text:".
    let tokens = without_dangling(tokens);
    let [first, rest @ ..] = tokens else { return None };
    if rest.is_empty() && !first.is(ALONE) && first.is(LEADS) {
        return None;
    }
    if first.is("be") {
        return (!rest.is_empty()).then(|| format!("stay {}", person(rest, false)));
    }
    let to_someone = rest.first().is_some_and(|t| t.is("me us"));
    let object = rest.get(usize::from(to_someone)).filter(|t| {
        t.is(ARTICLES)
            || t.raw.starts_with(|c: char| c.is_ascii_digit())
            || (t.is("the my") && !first.is("make build"))
    });
    if first.is(MAKING) && object.is_some() {
        return Some(format!("give {}", person(rest, false)));
    }
    Some(person(tokens, true))
}

/// Without "that includes", "and include" before a list.
fn without_dangling<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let Some(last) = tokens.last() else { return tokens };
    let mut end = tokens.len();
    if last.is(LEADS) && last.ends_with(&[':']) && tokens.len() > 1 {
        end -= 1;
        while end > 1 && tokens.get(end - 1).is_some_and(|t| t.is("that which and should must to it")) {
            end -= 1;
        }
    }
    tokens.get(..end).unwrap_or_default()
}

fn avoiding(tokens: &[Token<'_>]) -> Option<String> {
    let (verb, rest) = tokens.split_first()?;
    if verb.is_opaque {
        return None;
    }
    let rest = person(rest, false);
    Some(format!("avoid {} {rest}", gerund(&verb.word)).trim_end().to_owned())
}

/// Behind "I need", "I'd like".
fn wish(tokens: &[Token<'_>]) -> Option<String> {
    let first = tokens.first()?;
    if first.is("to") {
        let verb = tokens.get(1)?;
        if !verb.is("know understand see learn hear") {
            return None;
        }
        let rest = tokens.get(2..)?;
        let next = rest.first()?;
        return if next.is(WH) || next.is("if whether") {
            Some(format!("say {}", person(rest, false)))
        } else if next.is("about more") {
            Some(format!("tell the user {}", person(rest, false)))
        } else {
            Some(format!("give {}", person(rest, false)))
        };
    }
    if first.is("help") {
        return Some(format!("give {}", person(tokens, false)));
    }
    (!first.is("you it them him her this that")).then(|| format!("give {}", person(tokens, false)))
}

/// "The essay should mention …".
fn should(tokens: &[Token<'_>], ahead: usize, tail: &str) -> Option<String> {
    let subject = tokens.get(..ahead)?;
    let mut rest = tokens.get(ahead + 1..)?;
    if tokens.get(ahead)?.is("needs has ought") {
        rest = rest.get(1..)?;
    }
    let is_not = rest.first()?.is("not never");
    if is_not {
        rest = rest.get(1..)?;
    }
    while rest.first()?.is("also always then only") && rest.len() > 1 {
        rest = rest.get(1..)?;
    }
    let rest = without_dangling(rest);
    let first = rest.first()?;
    let last = subject.last()?;
    let is_whole = subject.len() <= 2 && last.is("it this everything response answer output reply result");
    let many = !is_whole
        && (last.is("they all both") || (last.word.ends_with('s') && !last.word.ends_with("ss")))
        && !subject.first()?.is("each every");
    let name = if is_whole {
        "the response".to_owned()
    } else if subject.first()?.is("your") {
        format!("the {}", plain(subject.get(1..)?))
    } else {
        lowered(&plain(subject), subject)
    };
    let phrase = person(rest.get(1..)?, false);
    if last.is("there") {
        let is_many = rest.iter().skip(1).take(3).any(|t| t.word.ends_with('s') && !t.word.ends_with("ss"));
        let verb = if is_many { "Are" } else { "Is" };
        return Some(if is_not {
            format!("Does the response avoid {phrase}{tail}?")
        } else {
            format!("{verb} there {phrase}{tail}?")
        });
    }
    if first.is("be") {
        let not = if is_not { "not " } else { "" };
        return Some(format!("{} {name} {not}{phrase}{tail}?", if many { "Are" } else { "Is" }));
    }
    let verb = if is_not { format!("avoid {}", gerund(&first.word)) } else { first.word.clone() };
    let phrase = if phrase.is_empty() { phrase } else { format!(" {phrase}") };
    Some(format!("{} {name} {verb}{phrase}{tail}?", if many { "Do" } else { "Does" }))
}

/// A question as a clause behind "say", where it is safe: "what inflation is".
fn indirect(tokens: &[Token<'_>]) -> Option<String> {
    let first = tokens.first()?;
    if !first.is(WH) || tokens.iter().any(|t| t.is("you your")) {
        return None;
    }
    let second = tokens.get(1);
    let Some(second) = second else { return Some(first.word.clone()) };
    let wh = first.word.trim_end_matches("'s");
    let words = |from: usize| person(tokens.get(from..).unwrap_or_default(), false);
    let count = tokens.len();
    let last = tokens.last()?;
    if first.is("how") && second.is("to") {
        return Some(words_from(tokens));
    }
    // "How do I", "what should I".
    if let Some(third) = tokens.get(2).filter(|t| t.is("i we one"))
        && count > 3
    {
        let _ = third;
        let who = if third.is("one") { "one" } else { "the user" };
        return if first.is("how") && second.is("do can could would should") {
            Some(format!("how to {}", words(3)))
        } else if second.is(MODALS) {
            Some(format!("{wh} {who} {} {}", second.word, words(3)))
        } else if second.is("do") {
            let verb = third_person(&tokens.get(3)?.word);
            Some(format!("{wh} {who} {verb} {}", words(4)).trim_end().to_owned())
        } else {
            None
        };
    }
    if let Some(third) = tokens.get(2).filter(|t| t.is("it he she they this that there these those")) {
        let who = third.word.as_str();
        let is_pronoun = third.is("it he she they there") || count == 3;
        if is_pronoun && (second.is(FORMS_OF_BE) || second.is(MODALS)) {
            // "What is it like" turns round too: "what it is like".
            return Some(format!("{wh} {who} {} {}", second.word, words(3)).trim_end().to_owned());
        }
        if second.is("does do") && count >= 4 && is_pronoun {
            let verb = &tokens.get(3)?.word;
            let verb = if second.is("does") { third_person(verb) } else { verb.clone() };
            return Some(format!("{wh} {who} {verb} {}", words(4)).trim_end().to_owned());
        }
        if !third.is("this that these those") {
            return None;
        }
    }
    let predicates = "called used made known named meant considered required needed found located like supposed involved doing \
        going written born spoken";
    let has_predicate = last.is(PREPOSITIONS)
        || last.word.ends_with("ing")
        || tokens.get(2..)?.iter().any(|t| t.is(predicates));
    let contracted = matches!(first.word.as_str(), "what's" | "who's" | "where's" | "how's");
    if second.is(FORMS_OF_BE) || contracted {
        let (from, be) = if contracted { (1, "is") } else { (2, second.word.as_str()) };
        let subject = tokens.get(from..)?;
        if subject.is_empty() {
            return None;
        }
        if wh == "which" || subject.first()?.is("wrong happening missing new different special meant") {
            return Some(format!("{wh} {be} {}", words(from)));
        }
        // "How is vinegar made", "where are pandas found".
        let participle = |t: &Token<'_>| {
            (t.word.ends_with("ed") && t.word.len() > 4)
                || t.is("made found built grown born sold written called spoken held")
        };
        if subject.len() == 2 && participle(subject.last()?) && !subject.first()?.is("the a an") {
            return Some(format!("{wh} {} {be} {}", bare(subject.first()?.raw), bare(subject.last()?.raw)));
        }
        let longest = match wh {
            "what" | "who" => 12,
            "where" | "when" => 4,
            _ => 0,
        };
        let is_phrase = subject.len() <= longest
            && !has_predicate
            && !participle(subject.last()?)
            && !subject.iter().any(|t| t.is("if when because so"))
            && !subject.iter().rev().skip(1).any(Token::breaks)
            && (wh != "when" || subject.len() <= 3);
        return is_phrase.then(|| format!("{wh} {} {be}", person(subject, false)));
    }
    // "How tall is Mount Everest", "how many moons are there".
    if first.is("how")
        && tokens.get(2).is_some_and(|t| t.is(FORMS_OF_BE))
        && count > 3
        && !has_predicate
        && !second.is("many much")
        && count <= 8
    {
        return Some(format!("how {} {} {}", second.word, words(3), tokens.get(2)?.word));
    }
    // "How does X work", "what does X mean".
    if second.is("does do") && last.is("work mean") && count <= 9 && count > 3 {
        let verb = if second.is("does") { third_person(&last.word) } else { last.word.clone() };
        return Some(format!("{wh} {} {verb}", person(tokens.get(2..count - 1)?, false)));
    }
    if second.is(AUXILIARIES) || second.is("about not come") {
        return None;
    }
    // The question word is the subject or stands with it: the order stays.
    let turned = tokens.iter().skip(2).any(|t| t.is(AUXILIARIES));
    let is_subject = first.is("who what") && !second.is("the a an kind kinds type types sort colour color");
    let keeps_order = if first.is("which") {
        !tokens.iter().skip(2).any(|t| t.is("do does did should can could would will"))
    } else {
        !turned
    };
    let is_counted = first.is("which") || (first.is("how") && second.is("many much"));
    ((is_subject || is_counted) && keeps_order).then(|| words_from(tokens))
}

fn words_from(tokens: &[Token<'_>]) -> String {
    lowered(&person(tokens, false), tokens)
}

/// The words as they stand, on one line, without marks at the end.
fn plain(tokens: &[Token<'_>]) -> String {
    let words: Vec<&str> = tokens.iter().map(|t| t.raw).collect();
    trimmed(&words.join(" ")).to_owned()
}

fn trimmed(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let next = text.trim_end_matches([',', ';', ':', '?', '!', '–', '—', ' ']);
        // The full stop of an abbreviation stays.
        let next = match next.strip_suffix('.') {
            Some(rest) => {
                let word = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
                let is_abbreviated =
                    (word.contains('.') && word.len() <= 5) || matches!(word, "etc" | "Inc" | "Jr");
                if is_abbreviated || rest.ends_with('.') { next } else { rest }
            }
            _ => next,
        };
        let next = next.trim_start_matches([',', ';', ':', '–', '—', ' ']);
        let next = if next.contains('(') { next } else { next.trim_end_matches(')') };
        if next == text {
            return next;
        }
        text = next;
    }
}

fn bare(raw: &str) -> &str {
    trimmed(raw)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// With a small first letter, unless the word has capitals of its own.
fn lowered(text: &str, tokens: &[Token<'_>]) -> String {
    let is_plain = tokens.first().is_some_and(|t| {
        let word = t.raw.trim_matches(|c: char| !c.is_alphanumeric());
        !t.is_opaque
            && !word.chars().skip(1).any(char::is_uppercase)
            && (word.chars().count() > 1 || word == "A")
    });
    if !is_plain {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// The words with the one who asks called "the user". A verb at the front gets a small letter.
fn person(tokens: &[Token<'_>], begins_with_verb: bool) -> String {
    let mut out = String::new();
    let mut agree = false;
    for (index, token) in tokens.iter().enumerate() {
        if !out.is_empty() {
            out.push(' ');
        }
        if token.is_opaque {
            out.push_str(&token.raw.split_whitespace().collect::<Vec<_>>().join(" "));
            agree = false;
            continue;
        }
        let next = tokens.get(index + 1).map_or("", |t| t.word.as_str());
        let replaced: Option<String> = match token.word.as_str() {
            "me" | "us" => Some("the user".to_owned()),
            "my" => Some("the user's".to_owned()),
            "mine" => Some("the user's".to_owned()),
            "myself" => Some("themselves".to_owned()),
            "i" if token.raw.starts_with(['I', 'i'])
                && token.raw.trim_end_matches([',', '.', '?', '!']).len() == 1 =>
            {
                agree = true;
                out.push_str("the user");
                continue;
            }
            "i'm" => Some("the user is".to_owned()),
            "i've" => Some("the user has".to_owned()),
            "i'll" => Some("the user will".to_owned()),
            "i'd" => Some("the user would".to_owned()),
            "your" => {
                Some(if is_in(next, "answer response reply output") { "the" } else { "its" }.to_owned())
            }
            "you" => {
                let next = tokens.get(index + 1).filter(|t| !t.is_opaque).map_or("", |t| t.word.as_str());
                agree = next == "have"
                    || next == "do"
                    || next == "don't"
                    || (is_in(next, VERBS) || is_in(next, VERBS_OR_NOUNS));
                out.push_str("it");
                out.push_str(token.raw.trim_start_matches(char::is_alphanumeric));
                continue;
            }
            "are"
                if out.ends_with("it ")
                    && index > 0
                    && tokens.get(index - 1).is_some_and(|t| t.is("you")) =>
            {
                Some("is".to_owned())
            }
            "you're" => Some("it is".to_owned()),
            "am" if agree => Some("is".to_owned()),
            "have" if agree => Some("has".to_owned()),
            "do" if agree => Some("does".to_owned()),
            "don't" if agree => Some("doesn't".to_owned()),
            word if agree && is_present(word) => Some(third_person(word)),
            _ => None,
        };
        agree = agree && is_adverb(&token.word);
        match replaced {
            Some(replaced) => {
                let end = token.raw.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
                let start =
                    token.raw.len() - token.raw.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
                out.push_str(token.raw.get(..start).unwrap_or_default());
                out.push_str(&replaced);
                out.push_str(token.raw.get(end..).unwrap_or_default());
            }
            None if index == 0 && (begins_with_verb || token.is(WH)) => {
                let raw = token.raw.to_lowercase();
                out.push_str(&raw);
            }
            None => out.push_str(token.raw),
        }
    }
    trimmed(&out).to_owned()
}

fn is_adverb(word: &str) -> bool {
    word.ends_with("ly")
        || is_in(word, "also just often never always only still already usually sometimes really now both")
}

/// Whether a word behind "I" is a verb in the present, which "the user" gives an ending: not one in the past, a modal, or
/// no verb at all.
fn is_present(word: &str) -> bool {
    const OTHERS: &str = "was were had did went bought saw took got made found wrote thought gave told came left lost felt said knew \
        heard kept ate ran met paid sent spent began broke built fell grew held led won wore drove sold taught slept sat \
        stood chose became could can should would will may might must shall cannot and or but that to in on at for with \
        if when because while who which not if won drank flew caught fought brought forgot understood swam sang \
        cut put set hit hurt let quit";
    word.chars().all(char::is_alphabetic) && !word.ends_with("ed") && !is_adverb(word) && !is_in(word, OTHERS)
}

fn third_person(verb: &str) -> String {
    match verb {
        "have" => return "has".to_owned(),
        "be" => return "is".to_owned(),
        _ => {}
    }
    if verb.ends_with(['s', 'x', 'o']) || verb.ends_with("ch") || verb.ends_with("sh") {
        return format!("{verb}es");
    }
    match verb.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{verb}s"),
    }
}

fn base_form(verb: &str) -> String {
    match verb {
        "including" => "include",
        "covering" => "cover",
        "containing" => "contain",
        "addressing" | "addresses" => "address",
        "discusses" => "discuss",
        "mentioning" => "mention",
        "describing" => "describe",
        "use" => "use",
        _ => {
            return verb
                .strip_suffix('s')
                .filter(|_| verb != "discuss" && verb != "address")
                .unwrap_or(verb)
                .to_owned();
        }
    }
    .to_owned()
}

/// Verbs of one syllable double their last letter.
fn gerund(verb: &str) -> String {
    if is_in(verb, "put set get let cut run stop plan begin refer sum skip swap split stop tag win") {
        let last = verb.chars().next_back().map_or(String::new(), String::from);
        return format!("{verb}{last}ing");
    }
    if verb == "be" {
        return "being".to_owned();
    }
    match verb.strip_suffix('e') {
        Some(stem) if !verb.ends_with("ee") => format!("{stem}ing"),
        _ => format!("{verb}ing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Row {
        id: String,
        /// Written before the rules, after them, or after they were done.
        part: String,
        instruction: String,
        asks: Vec<String>,
    }

    /// Of the corpus, by ask: what is found is expected, and what is expected is found, word for word.
    #[test]
    fn asks_are_found_as_they_are_expected() {
        for part in ["before", "after", "unseen"] {
            let (mut found_count, mut expected_count, mut both) = (0_u32, 0_u32, 0_u32);
            for line in include_str!("../tests/corpus/requests.jsonl").lines().filter(|line| !line.is_empty())
            {
                let row: Row = serde_json::from_str(line).unwrap();
                if row.part != part {
                    continue;
                }
                let found: Vec<String> = requests(&Instruction::new(&row.instruction), &[])
                    .into_iter()
                    .map(|ask| crate::Item {
                        condition: ask.condition,
                        ..crate::Item::asking("", ask.question)
                    })
                    .map(|item| item.full_question())
                    .collect();
                if found != row.asks {
                    println!(
                        "{}: {:?}\n   found    {found:#?}\n   expected {:#?}",
                        row.id, row.instruction, row.asks
                    );
                }
                for ask in &found {
                    found_count += 1;
                    both += u32::from(row.asks.contains(ask));
                }
                expected_count += u32::try_from(row.asks.len()).unwrap();
            }
            let precision = f64::from(both) / f64::from(found_count);
            let recall = f64::from(both) / f64::from(expected_count);
            println!(
                "{part}: {both} of {found_count} found, of {expected_count} expected: {precision:.3}, {recall:.3}"
            );
            assert!(
                expected_count >= 40 && precision >= 0.95 && recall >= 0.95,
                "{part}: {precision:.3}, {recall:.3}"
            );
        }
    }

    fn ask(instruction: &str, covered: &[&str]) -> Vec<String> {
        let covered: Vec<Range<usize>> = covered
            .iter()
            .filter_map(|passage| instruction.find(passage).map(|at| at..at + passage.len()))
            .collect();
        requests(&Instruction::new(instruction), &covered).into_iter().map(|ask| ask.question).collect()
    }

    #[test]
    fn what_is_verified_is_not_asked_again() {
        assert_eq!(
            ask("Write a poem in 8 lines. Use at most 100 words.", &["in 8 lines", "at most 100 words"]),
            ["Does the response give a poem?"]
        );
        assert_eq!(
            ask(
                "In two sentences, explain tides and do not use commas.",
                &["In two sentences", "do not use commas"]
            ),
            ["Does the response explain tides?"]
        );
        assert_eq!(
            ask("Write a limerick that contains the word \"rust\".", &["contains the word \"rust\""]),
            ["Does the response give a limerick?"]
        );
        // In the middle it stays: without it, the sentence would not be whole.
        assert_eq!(
            ask("List five reasons to swim.", &["List five reasons"]),
            ["Does the response list five reasons to swim?"]
        );
        assert_eq!(ask("Max 50 words, no commas.", &["Max 50 words", "no commas"]), Vec::<String>::new());
    }

    #[test]
    fn at_most_twenty_asks_are_kept_and_wishes_of_form_go_first() {
        let mut instruction = "The text should be warm. ".to_owned();
        for number in 0..25 {
            instruction.push_str(&format!("Explain topic {number}. "));
        }
        let asks = ask(&instruction, &[]);
        assert_eq!(asks.len(), MAX_REQUESTS);
        assert_eq!(asks.first().map(String::as_str), Some("Does the response explain topic 0?"));
    }
}
