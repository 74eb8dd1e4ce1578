//! Whether a sentence asks something of the response at a place, or only tells, quotes or wonders.

use super::token::{What, Words};
use super::{Survey, count};
use crate::instruction::is_in;

/// How a token is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// Something is asked of the response.
    Asked,
    /// What the response is about: only clear limits are taken there.
    Topic,
    /// What somebody says, does, or is allowed: nothing is taken there.
    Told,
}

/// What a response, or its parts, may be called.
pub(super) const RESPONSES: &str = "answer answers response responses reply replies output text essay story poem letter \
    email message post article summary list paragraph paragraphs sentence sentences line lines bullet bullets item items \
    word words title heading headings result report description explanation review speech note haiku limerick tweet \
    caption slogan blurb headline piece composition draft translation version song ballad sonnet account memo bio \
    biography introduction intro overview outline guide script dialogue document page blog everything content length \
    table code block json object array header row rows column columns point points entry entries step steps tip tips \
    section sections verse riddle joke toast recap abstract statement announcement invitation advert ad pitch copy \
    proposal template format plan newsletter review press release product total whole rest reasons reason ending definition comparison obituary eulogy analysis commentary critique argument lesson lecture sermon question questions comment diary letter's profile reference recipe instruction instructions manual faq \
    opening beginning start end phrase phrases term terms keyword keywords letter letters name names expression lyrics monologue fable tale acrostic twister quiz narrative thing";

/// Words that begin a request.
const IMPERATIVES: &str = "have write compose draft create make give provide list name explain describe summarise summarize sum \
    use keep include add start begin end finish answer respond reply return output produce generate put format structure \
    present avoid don't dont do never limit ensure wrap mention say tell translate convert compare discuss outline suggest \
    invent design show state define analyse analyze recommend recap retell rewrite rephrase paraphrase shorten expand \
    condense reword classify pick choose select decide repeat restate print enclose surround please pls kindly let stick aim \
    cap restrict leave omit skip organise organize divide split separate mark number highlight bold italicise italicize close open conclude sign \
    finish insert weave incorporate feature work employ follow prepare develop devise imagine act pretend assume be consider \
    introduce advertise congratulate invite apologise apologize thank ask pose export extract render display respect \
    help plan review critique evaluate assess argue defend refute persuade narrate report quote cite rank sort group arrange \
    order label tag capitalise capitalize type spell capture pen craft formulate phrase express offer share teach illustrate \
    elaborate clarify break address cover focus talk speak go try remember note finally also then first next now only just \
    simply always fit cut reduce trim stay drop exclude refrain wrap lead begin derive solve calculate compute find identify \
    prove turn change correct proofread fix edit improve polish jot tabulate typeset hold ditch crown round top lay \
    set fill complete supply deliver submit send reformat post announce warn remind greet welcome respond echo copy propose \
    brainstorm picture rhyme sketch map chart draw build construct code implement debug document";

const REPORTS: &str = "says said say tells told claims claimed insists insisted thinks thought believes believed asked asks \
    recommends recommended suggested suggests demanded demands advised advises argues argued stated states wrote writes \
    complained complains mentioned explained announced reads heard learned read requires required wants wanted expects \
    expected instructed forbids allows allowed prefers preferred keeps likes hates loves lets";

const QUESTION_WORDS: &str = "what why how who whom whose which when where is are was were do does did can could should \
    would will has have had am may might what's who's where's how's isn't aren't doesn't didn't whats";

fn is_break(words: Words<'_>, at: usize) -> bool {
    words.is_what(at, What::Sign) && is_in(words.low(at), ", ; : — ( ) . ! ? - •")
}

/// The mood at each token.
pub(super) fn moods(words: Words<'_>, is_question: bool, survey: Survey) -> Vec<Mood> {
    let length = words.len();
    let mut moods = vec![Mood::Asked; length];
    // Main clauses stand between semicolons and the like, and where "so" or "please" takes the word again.
    let mut start = 0;
    while start < length {
        let end = (start..length)
            .find(|at| {
                *at > start
                    && (words.is(*at, "; : — !")
                        || words.is(*at, ", or and because since so but though although")
                            && speaks_anew(words, *at + 1)
                        || words.is(*at, ",") && takes_the_word(words, *at + 1)
                        || words.is(*at, "but so and then")
                            && takes_the_word(words, *at + 1)
                            && !words.is(*at + 1, "do"))
            })
            .unwrap_or(length);
        let is_last = (end..length).all(|at| words.is_what(at, What::Sign));
        clause(words, start, end, is_question && is_last, survey, &mut moods);
        // "The competition says: …": what follows the colon is reported, too.
        if words.low(end) == ":"
            && (start..end).any(|at| words.is(at, SAYS))
            && mood_of(&moods, end.saturating_sub(1)) == Mood::Told
        {
            for mood in moods.iter_mut().skip(end) {
                *mood = Mood::Told;
            }
            break;
        }
        start = end + 1;
    }
    topics(words, &mut moods);
    moods
}

fn mood_of(moods: &[Mood], at: usize) -> Mood {
    moods.get(at).copied().unwrap_or(Mood::Asked)
}

/// Verbs with which a text or a person is quoted.
const SAYS: &str = "says said say states stated reads read went asked told wrote writes";

/// Whether somebody else becomes the subject here, as in "…, or I'll write a 1,000-word review".
fn speaks_anew(words: Words<'_>, at: usize) -> bool {
    words.is(at, "i'll i've i'm he she they they'll he'll she'll we'll we've")
        || words.is(at, "i we")
            && words.is(at + 1, "will have had am are was were wrote think know used got said")
}

/// Whether a request begins here, behind a comma or an "and".
fn takes_the_word(words: Words<'_>, at: usize) -> bool {
    words.is(at, "please pls kindly")
        || words.is(at, "so and but then now")
            && (words.is(at + 1, "please pls can could keep write give make use"))
        || words.is(at, "can could would will") && words.is(at + 1, "you u")
        || words.is(at, "you")
            && words
                .is(at + 1, "answer respond reply must should shall always only never speak write will have")
        || words.is(at, "write keep use give make answer respond reply summarise summarize suggest help")
            && !words.is(at.saturating_sub(2), "to")
}

/// The mood of a main clause.
fn clause(words: Words<'_>, start: usize, end: usize, is_question: bool, survey: Survey, moods: &mut [Mood]) {
    let mut tell = |from: usize, to: usize| {
        for mood in moods.iter_mut().take(to).skip(from) {
            *mood = Mood::Told;
        }
    };
    let mut at = start;
    while at < end
        && (words.is_what(at, What::Sign)
            || words.is(at, "please pls kindly hey hi hello ok okay so and but then now also well yo finally lastly additionally furthermore moreover actually however important note nb remember btw still again"))
    {
        at += 1;
    }
    let first = words.low(at);
    // "Would it be possible to get this in bullet form?"
    if is_in(first, "would is could can may might") && words.any(at + 1, "it be possible to get|it be possible to have|it be possible for you|it be ok to get|it be okay to get|it possible to get|it possible to have|it possible for you|i get|i have|we have|we get|it be possible to see").is_some() {
        return;
    }
    // "Can you …", "Would you mind …", "Could I get …": requests in the form of questions.
    if is_in(first, "can could would will may might") && words.is(at + 1, "you u ya we i") {
        if words.is(at + 1, "i we") && !words.is(at + 2, "have get see please ask request") {
            tell(at, end);
        }
        return;
    }
    // An opening such as "In one sentence," stands before the question.
    let mut asked = at;
    if (is_in(first, "in using with within without under at as for avoiding") || words.number(at).is_some())
        && let Some(comma) = (at..end.min(at + 14)).find(|at| words.is(*at, ", :"))
    {
        asked = comma + 1;
    }
    let opener = words.low(asked);
    let is_contracted = is_in(opener, "what's who's where's how's");
    if is_in(opener, QUESTION_WORDS)
        && (is_question || is_in(opener, "what why how who did does was were is are") || is_contracted)
        && !(is_in(opener, "do have") && !words.is(asked + 1, "you i we they people") || opener == "whose")
    {
        question(words, asked, end, &mut tell);
        return;
    }
    if words.ends_before(at + 2, "according to").is_some() {
        tell(at, end);
        return;
    }
    // "I wrote …", "We have …" against "I need …", "I want you to …".
    if is_in(first, "i we i'm i've i'd we've we're i'll we'd") {
        // A task of one's own that is handed on: "we have to write …", where "can you write it" stands elsewhere.
        if survey.delegates
            && (at + 1..end.min(at + 6))
                .any(|at| words.is(at, "to allowed must supposed should need required can't cannot"))
        {
            return;
        }
        let mut verb = at + 1;
        while words.is(verb, "really just also only would do still kindly 'd am don't not never rather") {
            verb += 1;
        }
        let wants = words.is(
            verb,
            "need want like expect require prefer request ask looking after appreciate love insist",
        ) || words.is(verb, "have see get read")
            && (at + 1..verb).any(|at| words.low(at) == "rather");
        let wants = wants
            || first == "i'd" && words.low(at + 1) == "rather"
            || first == "i'm" && words.is(verb, "hoping aiming");
        let wants = wants || words.is(verb, "hope");
        let lifts = words.is(verb, "need require expect insist")
            && (at + 1..verb).any(|at| words.is(at, "don't not never"));
        let own = lifts
            || words.low(verb + 1) == "to"
                && !words.is(verb + 2, "see get have receive ask request hear know understand learn read");
        if !wants || own || (first == "i've" || first == "we've") {
            tell(at, end);
        }
        return;
    }
    let is_noun = words.is(at + 1, "is are should must has was were can may cannot needs shall will");
    if is_in(first, IMPERATIVES) && !is_noun && !(first == "note" && words.is(at + 1, "that")) {
        return;
    }
    // "In three or four sentences, tell me who …"
    if asked > at && is_in(words.low(asked), IMPERATIVES) {
        return;
    }
    if survey.delegates
        && (at..end.min(at + 8)).any(|at| {
            words.is(at, "i we")
                && words.is(at + 1, "have must need got should gotta")
                && !words.is(at + 2, "a an the some")
        })
    {
        return;
    }
    // "You have 50 words."
    if is_in(first, "you you've u") {
        let number = (at + 1..at + 5).find(|at| count::limit(words, *at).is_some());
        if let Some(number) = number
            && (at + 1..number).all(|at| words.is(at, "have got only just exactly about"))
        {
            return;
        }
    }
    // "In my job I answer emails in Dutch."
    if is_in(first, "in at for on as during")
        && let Some(speaker) = (at + 1..end.min(at + 6)).find(|at| words.is(*at, "i we"))
        && (at + 1..speaker).all(|at| words.is_word(at) && !words.is(at, "what which that"))
        && words.is_word(speaker + 1)
        && !words.is(speaker + 1, "need want would like expect require must have should prefer just really only also do don't can't")
    {
        tell(at, end);
        return;
    }
    // "He answered in one word."
    if is_in(first, "he she")
        || is_in(first, "they it")
            && words.is(
                at + 1,
                "answered gave wrote used said replied made told listed produced sent ended began",
            )
    {
        tell(at, end);
        return;
    }
    // "Previously you answered in bullet points."
    if (at..end.min(at + 5)).any(|at| {
        words.is(at, "you u") && words.is(at + 1, "answered gave wrote used said responded replied made told listed produced sent included started ended provided did were had")
    }) {
        tell(at, end);
        return;
    }
    // A statement: does it speak of the response?
    // "Bullet points are optional", "emojis are allowed": permissions.
    // "My teacher wants …", where the text is asked for here: demands on it.
    if survey.makes
        && is_in(first, "my our the her his")
        && (at + 1..at + 4).any(|at| words.is(at, "teacher client boss editor professor prof lecturer instructor publisher manager tutor supervisor customer"))
        && (at + 2..end.min(at + 8)).any(|at| words.is(at, "wants needs requires insists expects demands asks wanted asked insisted required requested specified"))
        && !(at..end.min(at + 10)).any(|at| words.is(at, "always usually often i we"))
    {
        return;
    }
    let has = |list: &str| (at..end.min(at + 14)).any(|at| words.is(at, list));
    if has("is are be")
        && (has("optional unnecessary welcome acceptable fine okay ok")
            && !has("not isn't aren't must should")
            || has("allowed permitted") && !has("not no only aren't isn't never neither nor"))
    {
        tell(at, end);
        return;
    }
    // "Emojis are not allowed": a rule, whatever it is about.
    if (at..end.min(at + 14))
        .any(|at| words.is(at, "allowed forbidden banned prohibited permitted unwelcome"))
        && !is_in(first, "why")
        && !(at..end).any(|at| {
            words.is(at, "was were used school schools country countries law library i we he she they")
        })
    {
        return;
    }
    let verb = (at..end.min(at + 16)).find(|at| {
        is_in(
            words.low(*at),
            "is are was were has have had can could may might must should shall will needs need does do did contains consists cannot won't wouldn't isn't aren't wasn't ought got went gets gives takes uses lets",
        ) || is_in(words.low(*at), REPORTS) && *at > start
    });
    let Some(verb) = verb else {
        // "The poem I like best ends with …"
        let is_mine =
            first == "the" && (at + 2..end.min(at + 5)).any(|at| words.is(at, "i we he she they my our"));
        if is_mine {
            tell(at, end);
            return;
        }
        // "My essay begins with …", "A ship steers two headings"
        let is_past =
            (at + 1..end.min(at + 8)).any(|at| words.low(at) == "used" && words.low(at + 1) == "to");
        if is_in(first, "my our his her their") || is_past || tells_of_the_world(words, at, end) {
            tell(at, end);
        }
        return;
    };
    if verb == at {
        return;
    }
    if (at..verb).any(|at| words.is(at, ",")) && words.number(at).is_some() {
        return;
    }
    let low = words.low(verb);
    let subject = at..verb;
    let names = |list: &str| subject.clone().any(|at| words.is(at, list));
    if is_in(low, REPORTS) && !is_in(low, "need needs") {
        // "The text reads well": whoever speaks, it is not the one who asks.
        let is_request =
            names("it you your that which") || words.is(verb, "say read") && names("should must");
        let is_plural_noun = is_in(low, "states reports reads keeps likes");
        if !is_request && !(is_plural_noun && words.is_what(verb + 1, What::Sign)) {
            tell(at, end);
        }
        return;
    }
    let speaks_of_response = names(
        "first second third fourth last former latter it that you your u each every no all words letters there everything nothing neither this these only",
    ) || names(RESPONSES)
        && !is_in(first, "a an most many some their his her my our many tweets haiku haikus sonnets");
    let comprises = survey.makes
        && is_in(first, "the this each")
        && verb <= at + 4
        && is_in(low, "should must shall needs has")
        && (verb + 1..verb + 4).any(|at| words.is(at, "contain comprise exceed run span"));
    let quotes = comprises
        || subject.clone().any(|at| words.is_what(at, What::Quoted))
            && is_in(low, "must should has needs may can cannot shall");
    let speaks_of_response = speaks_of_response
        || quotes
        || words.is(verb.saturating_sub(1), "limit maximum minimum max length count")
            && verb <= start + 5
            && !is_in(first, "my our his her their a an")
        || survey.makes
            && is_in(low, "should must")
            && words.is(verb.saturating_sub(1), "emails letters essays posts messages articles poems reports stories summaries captions tweets");
    let is_past = is_in(low, "was were had did got went wasn't")
        || subject.clone().any(|at| words.low(at) == "used" && words.low(at + 1) == "to")
        || is_in(low, "has have") && words.is(verb + 1, "been");
    let describes_kinds = names("average typical usual normal standard ordinary classic traditional")
        && is_in(low, "is are has have contains consists takes can does");
    let is_owned = is_in(first, "my our his her their")
        && !(subject.clone().any(|at| words.is(at, "answer response reply output summary")));
    let describes = (is_in(first, "this these")
        || first == "the" && words.is(at + 1, "following above attached original given below"))
        && is_in(low, "is are has have contains consists")
        && !words.is(verb + 1, "to");
    if is_past || describes_kinds || is_owned || describes || !speaks_of_response {
        tell(at, end);
    }
}

/// "A toddler knows at least 20 words": a noun with an article, and what it does. A response is no such noun, and what
/// is asked for has no verb in the third person.
fn tells_of_the_world(words: Words<'_>, at: usize, end: usize) -> bool {
    let usually = (at + 1..end.min(at + 10)).any(|at| {
        words.is(at, "usually typically often generally normally traditionally sometimes rarely")
            && words.is_word(at + 1)
            && !is_in(words.back(at, 1), "should must to")
    });
    if usually && !words.is(at, IMPERATIVES) {
        return true;
    }
    if !words.is(at, "a an the most some many") || words.is(at + 1, RESPONSES) {
        return false;
    }
    for verb in at + 2..end.min(at + 9) {
        let low = words.low(verb);
        if !words.is_word(verb)
            || words.number(verb).is_some()
            || words.is(verb, "in with under within using that which")
        {
            return false;
        }
        if is_in(low, "of from about on at for") {
            // "A toddler of 18 months knows …": the verb may stand behind.
            continue;
        }
        let is_verb = low.len() > 3
            && low.ends_with('s')
            && !low.ends_with("ss")
            && !low.ends_with("'s")
            && !is_in(
                low,
                "series news sports sales business physics mathematics this always perhaps plus less express thus campus months years days weeks hours minutes",
            )
            && words.is(at, "a an the")
            && (words.number(verb + 1).is_some()
                || words.is(verb + 1, "at a an the up in about more only no between to"))
            && !words.is(verb - 1, "of from about on at for and")
            && (words.is(at, "a an")
                || words.number(verb + 1).is_some()
                || count::limit(words, verb + 1).is_some());
        // "A bot replied in all caps."
        let is_past = verb == at + 2
            && words.is(at, "a an the")
            && low.ends_with("ed")
            && words.is(verb + 1, "in with to at that by")
            && !is_in(
                low,
                "titled named called based written inspired aimed addressed entitled dedicated limited",
            );
        if is_verb || is_past {
            return true;
        }
    }
    false
}

/// In a question only an ending such as "in two sentences" asks something of the response.
fn question(words: Words<'_>, start: usize, end: usize, tell: &mut impl FnMut(usize, usize)) {
    let last = (start..end)
        .rev()
        .find(|at| !words.is_what(*at, What::Sign) && !words.is(*at, "thx thanks pls ty cheers please"))
        .map_or(start, |at| at + 1);
    let wonders = words.low(start) == "how"
        && words.is(start + 1, "many much long do can to should does")
        && !words.ends_before(start + 3, "how do you|how does a|how does the|how does an").is_some()
        && !(words.low(start + 1) == "does");
    let is_open = words.is(start, "what why how who what's whats who's") && !wonders;
    for at in (start + 1..last).rev().take(14) {
        let is_apart = words.is(at - 1, ", ( —");
        if !(is_apart || is_open) || !(words.is(at, "in using within with at max under") || is_apart) {
            continue;
        }
        // "Why should one keep emails under 125 words?"
        if !is_apart
            && (at.saturating_sub(4)..at).any(|at| {
                words.is(at, "keep keeping kept limit limited be stay staying cut restrict restricted")
            })
        {
            continue;
        }
        let begins = if words.is(at, "in using within with") { at + 1 } else { at };
        if let Some(limit) = count::limit(words, begins)
            && let Some((thing, next)) = count::counted(words, limit.next)
            && (next >= last
                || words.is(next, ", ) and or max maximum in with please thx thanks pls ty cheers")
                || is_apart)
            && (thing.is_length() || is_apart)
        {
            tell(start, at);
            return;
        }
        // "…, as bullet points?", "…? Answer in French"
        if is_apart && words.is(at, "as in with using") {
            tell(start, at);
            return;
        }
    }
    tell(start, end);
}

const MAKERS: &str = "function script program code class query tool app parser method command macro regex workflow loop \
    library library api algorithm procedure bot website form page snippet routine module package component test tests \
    expression system software formula spreadsheet";

/// Marks what the response is about, and what others do or may do.
fn topics(words: Words<'_>, moods: &mut [Mood]) {
    let mut mood = None;
    let mut lifted = false;
    let mut open = false;
    let mut from = 0;
    for at in 0..words.len() {
        let low = words.low(at);
        let before = words.back(at, 1);
        let joins = words.is(at, "and but then or")
            && takes_the_word_again(words, at + 1)
            && !(lifted && low == "or")
            // "A character who never … and always ends …"
            && !(mood == Some(Mood::Told) && words.is(at + 1, "always never only also") && words.low(at + 2).ends_with('s'));
        if is_break(words, at) || joins {
            mood = None;
            lifted = false;
            open = false;
        }
        // "… on osmosis with the following sections", "how to descale a kettle as a numbered list".
        let names_block = words.is(at, "in inside")
            && (at + 2..at + 6).any(|at| words.any(at, "code block|code fence").is_some())
            && (at + 1..at + 3).all(|at| words.is_word(at));
        if mood.is_some()
            && (open && leaves_the_topic(words, from, at)
                || names_block && words.is(at + 1, "a an one the single"))
        {
            mood = None;
            open = false;
        }
        let counts = || {
            count::limit(words, at + 1).is_some_and(|limit| {
                let counted = count::counted(words, limit.next);
                let is_told =
                    low == "about" && counted.is_some_and(|(_, next)| words.is(next, "that which who whose"));
                counted.is_some() && !is_told || words.low(limit.next) == "%"
            })
        };
        let next = match low {
            "who" | "whom" => Some(Mood::Told),
            "that" | "which" | "to" | "for"
                if is_in(before, MAKERS) && !(low == "for" && before == "code") =>
            {
                Some(Mood::Told)
            }
            "that" | "which" | "whose" | "where" => relative(words, at, mood),
            "about" | "on" | "regarding" | "concerning" | "describing" | "explaining" | "featuring"
            | "around"
                if !counts()
                    && !(low == "on" && words.is(at + 1, "separate a new its"))
                    && !(low == "on" && words.is(before_at(at), "end finish close carry")) =>
            {
                Some(Mood::Topic)
            }
            "how" | "what" | "why" | "whether" | "when"
                if at > 0
                    && is_in(
                        before,
                        "explain describe tell me us discuss show know outline teach of on about state and define say summarise summarize them him her report",
                    ) =>
            {
                Some(if low == "how" && words.is(at + 1, "to many much long") {
                    Mood::Told
                } else {
                    Mood::Topic
                })
            }
            "not" | "needn't" if (low == "needn't" || before == "need") => Some(Mood::Told),
            "have" | "need" if is_in(before, "don't doesn't not dont") && words.is(at + 1, "to") => {
                Some(Mood::Told)
            }
            "necessarily" | "optional" | "optionally" => Some(Mood::Told),
            "necessary" | "required" | "needed" if is_in(before, "not isn't aren't") => Some(Mood::Told),
            "need" if before == "no" => Some(Mood::Told),
            "worry" if is_in(before, "don't not dont never") => Some(Mood::Told),
            "feel"
                if words
                    .is(at + 1, "free obliged obligated bound compelled pressured restricted limited") =>
            {
                Some(Mood::Told)
            }
            "fine" | "ok" | "okay" | "alright" | "welcome" | "acceptable"
                if is_in(before, "it's is that's are be you're totally perfectly") =>
            {
                Some(Mood::Told)
            }
            "may" | "can" | "could" | "might"
                if before == "you" && at > 1 || (before == "you" && at == 1) =>
            {
                // A permission; with a most it is a limit.
                let is_limit = (at + 1..words.len().min(at + 8)).any(|at| {
                    words.is(at, "most to than maximum max only not never no neither") || words.is(at, "up")
                });
                (!is_limit).then_some(Mood::Told)
            }
            "unlike" => Some(Mood::Told),
            "if" | "whether" if is_in(before, "check see verify test determine know wonder") => {
                Some(Mood::Told)
            }
            _ => None,
        };
        if let Some(next) = next {
            lifted |= is_in(low, "have need needn't") || low == "not" && before == "need";
            if mood.is_none() {
                from = at;
            }
            open = match low {
                "who" | "whom" | "that" | "which" | "to" | "for" | "whose" | "where" => false,
                "how" | "what" | "why" | "whether" | "when" | "about" | "on" | "regarding" | "concerning"
                | "describing" | "explaining" | "featuring" | "around" => mood.is_none() || open,
                _ => false,
            };
            // A story does not leave what is told within it.
            mood = Some(if mood == Some(Mood::Told) { Mood::Told } else { next });
        }
        if let (Some(mood), Some(slot)) = (mood, moods.get_mut(at))
            && *slot != Mood::Told
        {
            *slot = mood;
        }
    }
}

/// Whether the form of the response is spoken of from here on, and no longer what it is about: "with the following
/// sections", "as a numbered list", "in at most three bullet points", "using at least six full sentences".
fn leaves_the_topic(words: Words<'_>, from: usize, at: usize) -> bool {
    if !words.is(at, "with in as using under within") {
        return false;
    }
    // "How to write a paragraph with …", "on the poem with …": that is part of what it is about.
    let speaks_of_texts = (from.max(at.saturating_sub(8))..at).any(|index| {
        words.is(index, "essay poem paragraph story article letter email text report list poems essays paragraphs stories letters emails texts cv resume sonnet haiku book novel song tweet document documents file page html code sentence sentences function table tables json write format")
            && (index + 1..at).all(|index| !words.is_what(index, What::Sign))
    });
    if speaks_of_texts {
        return false;
    }
    let mut next = at + 1;
    if words.is(next, "the") && words.low(next + 1) == "following" {
        next += 2;
        while words.is(next, "exact five four three six two titled named") {
            next += 1;
        }
        return words.is(next, "sections headings headers parts format columns keys structure section");
    }
    if let Some(amount) = count::limit(words, next) {
        let is_form = count::counted(words, amount.next).is_some_and(|(thing, end)| {
            (thing.is_form() || words.low(at) != "with" && thing.is_length())
                && (end >= words.len()
                    || words.is_what(end, What::Sign)
                    || words.is(end, "or and max maximum total in each per with please for to using of long as titled named"))
        });
        return is_form || words.is(amount.next, "sections headings");
    }
    while words.is(next, "a an the short simple plain clear valid markdown numbered bulleted ordered")
        && next < at + 5
    {
        if words.is(next, "numbered bulleted ordered") && words.is(next + 1, "list steps") {
            return true;
        }
        next += 1;
    }
    if words.is(next, "sections headings")
        && words.is(next + 1, "titled named called : for labelled labeled headed")
        || words.is(next, "html python javascript rust java json")
            && words.is(next + 1, "code")
            && words.is(next + 2, "block snippet")
    {
        return true;
    }
    words.is(at, "as in using")
        && (count::thing(words, next).is_some_and(|(thing, end)| {
            thing.is_form()
                && (end >= words.len()
                    || words.is_what(end, What::Sign)
                    || words.is(end, "with of and please"))
        }) || words.is(next, "json csv table")
            && (next + 1 >= words.len()
                || words.is_what(next + 1, What::Sign)
                || words.is(next + 1, "with and format")))
}

const fn before_at(at: usize) -> usize {
    at.saturating_sub(1)
}

fn takes_the_word_again(words: Words<'_>, at: usize) -> bool {
    let at = if words.is(at, "then also please finally") { at + 1 } else { at };
    words.is(at, IMPERATIVES)
        || words.is(at, "in") && (words.number(at + 1).is_some() || words.is(at + 1, "at no under"))
}

/// "A poem that has …" asks something of the poem, "a woman that …" does not.
fn relative(words: Words<'_>, at: usize, mood: Option<Mood>) -> Option<Mood> {
    let low = words.low(at);
    let before = words.back(at, 1);
    // "… in which you use the word X", "where the letter Q shows up": that is the assistant's.
    if (low == "which"
        && before == "in"
        && words.is(at + 1, "you")
        && words.is(at + 2, "use include mention avoid never do don't must")
        || low == "where" && words.is(at + 1, "the a") && words.is(at + 2, "letter word phrase first last")
        || low == "which"
            && before == "in"
            && words.is(at + 1, "the")
            && words.is(at + 2, "letter word phrase"))
        && (0..at).rev().take(REACH_BACK).any(|at| words.is(at, RESPONSES) || words.is(at, "something text"))
    {
        return Some(Mood::Asked);
    }
    if low == "which" && is_in(before, "in of") {
        // "A speech in which the word … appears".
        let noun = words.back(at, 2);
        return if is_in(noun, RESPONSES) || mood.is_none() { None } else { mood };
    }
    // "Where a boss demands …" tells what happens in a story.
    if low == "where" && !words.is(at + 1, "each every the no all") {
        return Some(Mood::Told);
    }
    if is_in(before, RESPONSES) || before.is_empty() || before == "," {
        return (mood == Some(Mood::Topic)).then_some(Mood::Told);
    }
    if low == "that"
        && is_in(
            before,
            "insists demands requires requests insisted demanded specified ensure sure make see check note so such remember say ensuring but and is be important essential vital crucial necessary imperative",
        )
    {
        return None;
    }
    if low == "whose" {
        let part = (at + 1..at + 4).any(|at| {
            words.is(
                at,
                "line lines sentence sentences title paragraph paragraphs word words heading headings stanza",
            )
        });
        return if part { Some(Mood::Asked) } else { Some(Mood::Told) };
    }
    // "A poem about clocks that has exactly eight lines."
    let speaks_of_form = (low == "that" || low == "which")
        && words.is(at + 1, "has have is contains consists uses ends starts begins rhymes fits does doesn't includes avoids never opens closes contain use start end begin")
        && (0..at).rev().take(REACH_BACK).any(|at| words.is(at, RESPONSES));
    if speaks_of_form {
        return Some(Mood::Asked);
    }
    Some(Mood::Told)
}

const REACH_BACK: usize = 16;
