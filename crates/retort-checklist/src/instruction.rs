//! Whose words an instruction's words are: the *voice* of the one who asks, and *material* to be worked on.
//!
//! Material is what stands in a fence, a block quote, a pair of tags or triple quotation marks, behind a lead-in such as
//! "Text:" or "Translate this email:", or in long quotation marks. Short quotations and text in braces stay in the voice
//! as tokens whose inside is never read as the voice. Sentences and clauses are of the voice alone.
//!
//! Everything here is one pass or looks a bounded way ahead or back.

use std::ops::Range;

use crate::outline::lines;

/// Up to how many words a quotation is an expression that is talked about and not a text that is worked on.
const SHORT_QUOTATION: usize = 12;
/// How many marks ahead the end of a quotation is looked for.
const MARKS_AHEAD: usize = 16;
/// How far back a lead-in is read, in bytes.
const LEAD_IN: usize = 400;
/// How many words of it.
const LEAD_WORDS: usize = 30;
/// How often the end of a pair of tags is looked for in vain.
const FAILED_TAGS: usize = 16;

/// What an opaque span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In quotation marks or in backticks.
    Quoted,
    /// In braces, as JSON is.
    Braced,
    /// A fenced code block.
    Fenced,
    /// Any other text to be worked on: block quotes, tags, and what stands behind a lead-in.
    Passage,
}

/// A stretch of the instruction that is not read as the voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) kind: Kind,
    /// With its marks.
    pub(crate) range: Range<usize>,
    /// Without them.
    pub(crate) inner: Range<usize>,
    /// Whether it is a text to be worked on. What is not can be an operand: the word in `the word "rust"`.
    pub(crate) is_material: bool,
}

/// A sentence of the voice. Ranges are bytes of the instruction, begin and end without white space, and may hold spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) range: Range<usize>,
    /// Its parts between semicolons, colons, spaced dashes, and commas before "and", "but", "then", "so".
    pub(crate) clauses: Vec<Range<usize>>,
    /// Which line-broken paragraph of the instruction it stands in: 0, 1, …
    pub(crate) paragraph: usize,
    /// Whether it begins with a mark of a list.
    pub(crate) is_item: bool,
}

/// An instruction, taken apart.
#[derive(Debug)]
pub(crate) struct Instruction<'t> {
    pub(crate) text: &'t str,
    /// In their order; they do not overlap.
    pub(crate) spans: Vec<Span>,
    /// In their order.
    pub(crate) sentences: Vec<Sentence>,
}

impl<'t> Instruction<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let spans = passages(text, opaque(text));
        let sentences = sentences(text, &spans);
        Self { text, spans, sentences }
    }

    pub(crate) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The texts that are to be worked on.
    pub(crate) fn material(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(|span| span.is_material)
    }
}

/// Whether a word is one of those that a list names, with spaces between them: a tenth of the size of a list of texts.
pub(crate) fn is_in(word: &str, list: &str) -> bool {
    let (word, list) = (word.as_bytes(), list.as_bytes());
    let Some(first) = word.first() else { return false };
    let mut at = 0;
    while let Some(byte) = list.get(at) {
        if byte == first
            && list.get(at..at + word.len()) == Some(word)
            && list.get(at + word.len()).is_none_or(|next| *next == b' ')
        {
            return true;
        }
        while list.get(at).is_some_and(|byte| *byte != b' ') {
            at += 1;
        }
        at += 1;
    }
    false
}

fn words_up_to(text: &str, most: usize) -> usize {
    text.split_whitespace().take(most).count()
}

/// Fences, block quotes, tags, quotations and braces.
#[expect(clippy::collapsible_match, reason = "within a fence nothing else is looked for")]
fn opaque(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut fence: Option<(usize, usize, usize, char)> = None;
    // Fences and block quotes are of whole lines; they are found first.
    for line in lines(text) {
        let content = text.get(line.clone()).unwrap_or_default();
        let trimmed = content.trim_start();
        let first = trimmed.chars().next().unwrap_or(' ');
        let run = trimmed.chars().take_while(|c| *c == first).count();
        let is_fence = matches!(first, '`' | '~') && run >= 3;
        match fence {
            Some((start, inner, length, mark)) => {
                if is_fence && first == mark && run >= length && trimmed.trim_end().len() == run {
                    let range = start..line.end;
                    spans.push(Span {
                        kind: Kind::Fenced,
                        range,
                        inner: inner..line.start,
                        is_material: true,
                    });
                    fence = None;
                }
            }
            None if is_fence && !trimmed.get(run..).unwrap_or_default().contains(first) => {
                fence = Some((line.start, line.end, run, first));
            }
            None if first == '>' => match spans.last_mut() {
                Some(last)
                    if last.kind == Kind::Passage
                        && text.get(last.range.end..line.start).is_some_and(|gap| gap.trim().is_empty()) =>
                {
                    last.range.end = line.end;
                    last.inner.end = line.end;
                }
                _ => spans.push(Span {
                    kind: Kind::Passage,
                    range: line.clone(),
                    inner: line.clone(),
                    is_material: true,
                }),
            },
            None => {}
        }
    }
    if let Some((start, inner, ..)) = fence {
        let range = start..text.len();
        spans.push(Span { kind: Kind::Fenced, range, inner: inner..text.len(), is_material: true });
    }
    let spans = with_blocks(text, spans);
    // What lies between them is read for marks.
    let mut found = Vec::new();
    let mut at = 0;
    let mut failed_tags = 0;
    for span in spans {
        quotations(text, at..span.range.start, &mut failed_tags, &mut found);
        at = span.range.end;
        found.push(span);
    }
    quotations(text, at..text.len(), &mut failed_tags, &mut found);
    found
}

/// Adds code that stands in no fence, texts between two rules, and what a customer says in a script.
fn with_blocks(text: &str, spans: Vec<Span>) -> Vec<Span> {
    let all: Vec<Range<usize>> = lines(text).collect();
    let line = |index: usize| all.get(index).and_then(|range| text.get(range.clone())).unwrap_or_default();
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let content = line(at);
        let mut end = at;
        if is_code(content) {
            // Further code, what is indented, and blank lines between.
            let mut next = at + 1;
            while next < all.len() {
                let content = line(next);
                if is_code(content) || content.starts_with(['\t', '}', ')']) || content.starts_with("  ") {
                    end = next + 1;
                } else if !content.trim().is_empty() {
                    break;
                }
                next += 1;
            }
            end = end.max(at + 1);
        } else if let Some(mark) = rule(content)
            && at > 0
            && introduces(text.get(..all.get(at).map_or(0, |range| range.start)).unwrap_or_default())
        {
            end = (at + 1..all.len())
                .find(|next| rule(line(*next)) == Some(mark))
                .map_or(all.len(), |close| close + 1);
        } else if at > 0 && is_turn(content) {
            end = at + 1;
            while end < all.len() && !line(end).trim().is_empty() && !is_turn(line(end)) && !asks(line(end)) {
                end += 1;
            }
        }
        if end > at {
            if let (Some(first), Some(last)) = (all.get(at), all.get(end - 1)) {
                blocks.push(first.start..last.end);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    if blocks.is_empty() {
        return spans;
    }
    // What overlaps with a fence or a block quote is that already.
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len() + blocks.len());
    let mut blocks = blocks.into_iter().peekable();
    let mut free = 0;
    let passage =
        |range: Range<usize>| Span { kind: Kind::Passage, inner: range.clone(), range, is_material: true };
    for span in spans {
        while let Some(block) = blocks.next_if(|block| block.start < span.range.start) {
            if block.start >= free && block.end <= span.range.start {
                free = block.end;
                merged.push(passage(block));
            }
        }
        free = free.max(span.range.end);
        merged.push(span);
    }
    for block in blocks {
        if block.start >= free {
            free = block.end;
            merged.push(passage(block));
        }
    }
    merged
}

/// Whether a line is of a programming language for certain.
fn is_code(line: &str) -> bool {
    let trimmed = line.trim();
    let first =
        trimmed.split(|c: char| !c.is_alphanumeric() && !"_#<?".contains(c)).next().unwrap_or_default();
    let ends = |marks: &[char]| trimmed.ends_with(marks);
    match first {
        "def" | "class" | "for" | "while" | "if" | "elif" | "with" | "try" | "else" | "async" => {
            ends(&[':', '{'])
                && (trimmed.contains('(') || line.starts_with(' ') || trimmed.len() < 7)
                && (first != "if" && first != "for" && first != "with"
                    || trimmed.contains(['=', '(', '[', '{', '<', '>', '_']))
        }
        "function" | "fn" | "func" | "public" | "private" | "static" | "void" | "int" => {
            trimmed.contains('(') && ends(&['{', '}', ';', ')'])
        }
        "const" | "let" | "var" => trimmed.contains(" = ") && (ends(&[';', '{', '(', '[']) || first != "let"),
        "import" | "from" | "package" | "use" => {
            first == "import" && trimmed.split_whitespace().count() <= 4 && !ends(&['.', '?', '!'])
                || first == "from" && trimmed.contains(" import ")
                || first == "use" && trimmed.contains("::")
        }
        "return" => line.starts_with([' ', '\t']),
        "#include" | "<?php" | "printf" => true,
        "print" | "console" => trimmed.contains('(') && ends(&[')', ';']),
        _ => ends(&[';']) && trimmed.contains(['=', '(']) && !trimmed.contains(". "),
    }
}

/// The sign of a line that is nothing but a rule: `---`, `***`, `===`.
fn rule(line: &str) -> Option<char> {
    let line = line.trim();
    let first = line.chars().next().filter(|c| "-*=_#~".contains(*c))?;
    (line.len() >= 3 && line.chars().all(|c| c == first)).then_some(first)
}

/// Whether what stands before a rule says that a text to be worked on follows: "below is …", "the following email".
fn introduces(before: &str) -> bool {
    let end = before.trim_end().len();
    let mut from = end.saturating_sub(LEAD_IN);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let lead = before.get(from..end).unwrap_or_default();
    let lead = lead.rsplit_once("\n\n").map_or(lead, |(_, last)| last);
    let words: Vec<String> = lead.split_whitespace().map(plain).collect();
    let has = |list: &str| words.iter().any(|word| is_in(word, list));
    !has("follow obey adhere rules requirements guidelines respond")
        && (points(lead)
            || words.first().is_some_and(|word| is_in(word, "here here's below"))
            || has("below") && has(TEXTS))
}

/// Whether a line is what another person says: "Customer: …".
fn is_turn(line: &str) -> bool {
    line.trim_start_matches(['*', '[', '#', ' ']).split_once([':', ']']).is_some_and(|(name, rest)| {
        name.len() <= 10
            && !rest.trim().is_empty()
            && is_in(&plain(name), "customer client guest patient caller visitor buyer tenant reviewer passenger student shopper subscriber")
    })
}

/// The mark that ends a quotation, and whether it may be far away.
const fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' => '"',
        '\'' => '\'',
        '“' => '”',
        '‘' => '’',
        '„' => '“',
        '«' => '»',
        '「' => '」',
        '`' => '`',
        _ => return None,
    })
}

/// Quotations, braces, tags and triple quotation marks within one range.
fn quotations(text: &str, within: Range<usize>, failed_tags: &mut usize, found: &mut Vec<Span>) {
    let part = text.get(within.clone()).unwrap_or_default();
    let marks: Vec<(usize, char)> = part
        .char_indices()
        .filter(|(_, c)| {
            matches!(
                c,
                '"' | '\''
                    | '“'
                    | '”'
                    | '‘'
                    | '’'
                    | '„'
                    | '«'
                    | '»'
                    | '「'
                    | '」'
                    | '`'
                    | '{'
                    | '}'
                    | '<'
            )
        })
        .collect();
    let partners = braces(&marks);
    let before = |at: usize| part.get(..at).and_then(|text| text.chars().next_back());
    let behind = |at: usize| part.get(at..).and_then(|text| text.chars().next());
    let mut push = |kind, range: Range<usize>, inner: Range<usize>, is_material| {
        let shift = |range: Range<usize>| within.start + range.start..within.start + range.end;
        found.push(Span { kind, range: shift(range), inner: shift(inner), is_material });
    };
    let mut free = 0;
    let mut index = 0;
    while let Some(&(at, mark)) = marks.get(index) {
        index += 1;
        if at < free {
            continue;
        }
        let after = at + mark.len_utf8();
        match mark {
            '{' => {
                if let Some(end) = partners.get(index - 1).copied().flatten() {
                    let inner = part.get(after..end).unwrap_or_default();
                    if inner.contains(['"', ':', '\'']) {
                        push(Kind::Braced, at..end + 1, after..end, false);
                        free = end + 1;
                    }
                }
            }
            '<' => {
                let rest = part.get(after..).unwrap_or_default();
                let length = rest
                    .bytes()
                    .take(24)
                    .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
                    .count();
                let name = rest.get(..length).unwrap_or_default();
                if length == 0
                    || !rest.get(length..).is_some_and(|rest| rest.starts_with('>'))
                    || *failed_tags >= FAILED_TAGS
                {
                    continue;
                }
                let inner = after + length + 1;
                let end = format!("</{name}>");
                match part.get(inner..).and_then(|rest| rest.find(&end)) {
                    Some(more) => {
                        free = inner + more + end.len();
                        let is_material =
                            words_up_to(part.get(inner..inner + more).unwrap_or_default(), 4) > 3;
                        push(Kind::Passage, at..free, inner..inner + more, is_material);
                    }
                    None => *failed_tags += 1,
                }
            }
            _ => {
                let Some(close) = closing(mark) else { continue };
                let opens = before(at).is_none_or(|c| !c.is_alphanumeric())
                    && behind(after).is_some_and(|c| !c.is_whitespace());
                if !opens && matches!(mark, '"' | '\'' | '‘' | '`') {
                    continue;
                }
                // Triple quotation marks hold whole texts, quotations and all.
                if mark == '"' && part.get(after..).is_some_and(|rest| rest.starts_with("\"\"")) {
                    let triple = marks.get(index + 2..).unwrap_or_default();
                    let end = triple.windows(3).find(
                        |three| matches!(three, [(a, '"'), (b, '"'), (c, '"')] if a + 1 == *b && b + 1 == *c),
                    );
                    if let Some(&[(end, _), ..]) = end {
                        push(Kind::Passage, at..end + 3, at + 3..end, true);
                        free = end + 3;
                        continue;
                    }
                    // No further triple can be closed either: look no more at this one.
                    free = at + 3;
                    index += 2;
                    if marks.len() > 3 * MARKS_AHEAD {
                        continue;
                    }
                }
                let end = marks.iter().skip(index).take(MARKS_AHEAD).find(|(end, c)| {
                    let next = behind(end + c.len_utf8());
                    *c == close
                        && match close {
                            '"' | '\'' | '’' => {
                                before(*end).is_some_and(|c| !c.is_whitespace())
                                    && next.is_none_or(|c| !c.is_alphanumeric())
                            }
                            _ => true,
                        }
                });
                let Some(&(end, _)) = end else { continue };
                let inner = part.get(after..end).unwrap_or_default();
                // Single marks are apostrophes more often than they hold several paragraphs.
                if inner.trim().is_empty() || (matches!(mark, '\'' | '`') && inner.contains("\n\n")) {
                    continue;
                }
                let is_material =
                    inner.contains('\n') || words_up_to(inner, SHORT_QUOTATION + 1) > SHORT_QUOTATION;
                free = end + close.len_utf8();
                push(Kind::Quoted, at..free, after..end, is_material);
            }
        }
    }
}

/// For each mark that is an outermost opening brace, where its partner stands.
fn braces(marks: &[(usize, char)]) -> Vec<Option<usize>> {
    let mut partners = vec![None; marks.len()];
    let mut open = Vec::new();
    for (index, &(at, mark)) in marks.iter().enumerate() {
        match mark {
            '{' => open.push(index),
            '}' => {
                if let Some(partner) = open.pop().and_then(|opened: usize| partners.get_mut(opened)) {
                    *partner = Some(at);
                }
            }
            _ => {}
        }
    }
    partners
}

/// What a text that is worked on may be called.
const TEXTS: &str = "text texts email emails mail article passage paragraph paragraphs review reviews sentence sentences \
    message messages letter poem essay code snippet transcript abstract story note notes input content \
    document excerpt draft post tweet comment comments quote speech dialogue conversation report \
    description announcement memo prompt instruction instructions brief assignment exercise function \
    query log data statement lyrics headline bio feedback complaint extract chat script copy blurb ad \
    ticket minutes recipe joke line lines verse phrase word paper thread reply answer response customer \
    client user request caption slogan title program method class string original source notice advert \
    summary proverb quotation wording job";

/// Labels that always stand before a text to be worked on.
const LABELS: &str = "text input passage article transcript original source excerpt document context content data abstract \
    draft snippet extract";

/// Labels that do so unless they begin the instruction, where they name what is to be written.
const LATER_LABELS: &str = "email mail review message letter poem essay code story note notes post tweet comment speech dialogue \
    conversation report memo prompt statement lyrics feedback complaint sentence paragraph chat ticket \
    minutes announcement recipe query log";

/// Labels behind which the voice speaks again.
const VOICE_LABELS: &str = "task instruction instructions question questions output format requirements requirement constraints \
    constraint rules rule length style tone language request summary answer limits limit response \
    deliverable";

/// What is done to a text.
const WORK: &str = "translate summarise summarize proofread correct edit rewrite rephrase paraphrase reword improve fix \
    shorten polish analyse analyze classify critique review condense simplify convert check comment \
    grade extract reply respond evaluate assess debug refactor continue tag label rate turn read explain \
    answer describe shorten tidy clean expand revise reformat format identify find count sum adapt \
    render put transform consider complete interpret annotate discuss judge react capitalise capitalize \
    given redact punctuate translation summary proof-read spell-check categorise categorize compress";

/// Of these, those that need no object: "Translate into French: …".
const WORK_ALONE: &str = "translate summarise summarize proofread correct rewrite rephrase paraphrase reword fix shorten \
    polish condense simplify";

/// Words with which a line goes back to asking.
const ASKS: &str = "use keep write make answer respond reply give limit do don't please your include avoid summarise \
    summarize translate rewrite list output return format ensure no never start begin end finish now \
    only mention explain classify rephrase paraphrase proofread correct shorten at max maximum minimum \
    exactly provide present put also then just stick remember what which who when where why how identify \
    extract describe rate between under not wrap repeat each every without";

fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
        .replace('’', "'")
        .replace("e-mail", "email")
}

/// Where the sentence that ends at `end` begins, looking back a bounded way.
fn lead_start(text: &str, start: usize, end: usize) -> usize {
    let mut from = end.saturating_sub(LEAD_IN).max(start);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let lead = text.get(from..end).unwrap_or_default();
    let mut best = from;
    let mut previous = ' ';
    for (at, character) in lead.char_indices() {
        if character == '\n' || (character.is_whitespace() && matches!(previous, '.' | '!' | '?')) {
            best = from + at;
        }
        previous = character;
    }
    best
}

/// Whether the words before a colon say that a text to be worked on follows.
fn leads_in(lead: &str, is_first: bool) -> bool {
    let mut words: Vec<String> =
        lead.split_whitespace().rev().take(LEAD_WORDS).map(plain).filter(|word| !word.is_empty()).collect();
    words.reverse();
    let has = |list: &str| words.iter().any(|word| is_in(word, list));
    let Some(last) = words.last().map(String::as_str) else { return false };
    // "Format your answer like this:", "a table with three columns:": names or a form follow.
    let second_last = words.len().checked_sub(2).and_then(|at| words.get(at)).map_or("", String::as_str);
    let is_counted = is_in(last, "words phrases") && {
        let is_number = second_last.bytes().all(|byte| byte.is_ascii_digit()) && !second_last.is_empty();
        // "under 100 words:" is a length; "these 3 words:" are words that follow.
        let before = words.len().checked_sub(3).and_then(|at| words.get(at)).map_or("", String::as_str);
        is_number && !is_in(before, "these following the")
    };
    if !is_counted
        && is_in(
            last,
            "columns column headers header keys key fields sections headings rules requirements constraints options labels categories classes order format structure schema words phrases",
        )
        || last == "this" && is_in(second_last, "like")
    {
        return false;
    }
    let is_text = |word: &str| is_in(word, TEXTS);
    if words.len() <= 3 && !has(WORK) {
        let is_pointed = has("original customer my the this source input given");
        return is_in(last, LABELS)
            || ((!is_first || is_pointed) && is_in(last, LATER_LABELS) && !has("your"));
    }
    // "Here is the email", "below is my draft".
    let first = words.first().map_or("", String::as_str);
    if matches!(first, "here" | "here's" | "below" | "this")
        && words.len() <= 14
        && words.iter().any(|w| is_text(w))
    {
        return true;
    }
    if !has(WORK) {
        // "What is wrong with this sentence:"
        return words.windows(2).any(|pair| {
            matches!(pair, [a, b] if matches!(a.as_str(), "this" | "following" | "these") && is_text(b))
        });
    }
    let is_pointed = words.iter().enumerate().any(|(index, word)| {
        let next = |ahead: usize| words.get(index + ahead).map_or("", String::as_str);
        let is_named = (1..=3).any(|ahead| is_text(next(ahead)));
        match word.as_str() {
            "this" | "these" | "following" | "below" => {
                is_named
                    || matches!(
                        next(1),
                        "" | "in" | "into" | "to" | "from" | "as" | "using" | "for" | "with" | "so"
                    )
            }
            "my" | "our" | "the" => is_named && index <= 4 && words.len() <= 16,
            _ => false,
        }
    });
    is_pointed
        || (is_in(first, WORK_ALONE)
            || (first == "please" && is_in(words.get(1).map_or("", String::as_str), WORK_ALONE)))
            && matches!(
                words.get(if first == "please" { 2 } else { 1 }).map_or("", String::as_str),
                "" | "in" | "into" | "to" | "as" | "it" | "using" | "from"
            )
}

/// Whether a line asks for something.
fn asks(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut words = line.split_whitespace().map(plain);
    let Some(first) = words.next() else { return false };
    if is_in(&first, ASKS) {
        return true;
    }
    let second = words.next().unwrap_or_default();
    if matches!(first.as_str(), "the" | "this")
        && matches!(
            second.as_str(),
            "summary"
                | "answer"
                | "response"
                | "translation"
                | "reply"
                | "rewrite"
                | "output"
                | "result"
                | "rewritten"
                | "new"
                | "final"
                | "translated"
                | "corrected"
                | "revised"
        )
    {
        return true;
    }
    if first == "in" || first == "for" {
        return matches!(second.as_str(), "your" | "one" | "two" | "three" | "four" | "five" | "the")
            || second.starts_with(|c: char| c.is_ascii_digit());
    }
    line.split_once(':').is_some_and(|(label, _)| is_in(&plain(label), VOICE_LABELS))
}

/// The rest of a text behind a lead-in: where the material ends and the voice speaks again.
fn passage_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let all: Vec<Range<usize>> =
        lines(rest).filter(|line| !rest.get(line.clone()).unwrap_or_default().trim().is_empty()).collect();
    let line = |range: &Range<usize>| rest.get(range.clone()).unwrap_or_default();
    let Some(first) = all.first() else { return text.len() };
    // A label of the voice ends it for certain.
    for range in all.iter().skip(1) {
        if line(range)
            .split_once(':')
            .is_some_and(|(label, _)| label.len() <= 24 && is_in(&plain(label), VOICE_LABELS))
        {
            return start + range.start;
        }
    }
    let greeting = plain(line(first).split_whitespace().next().unwrap_or_default());
    let is_letter = matches!(greeting.as_str(), "dear" | "hi" | "hello" | "hey" | "subject" | "from" | "to");
    // A text that asks itself is ended by nothing that asks.
    if asks(line(first)) || is_letter && all.len() < 3 {
        return text.len();
    }
    let mut end = text.len();
    for (index, range) in all.iter().enumerate().skip(1).rev() {
        let content = line(range);
        let gap = all.get(index - 1).and_then(|before| rest.get(before.end..range.start)).unwrap_or_default();
        let is_apart = gap.matches('\n').count() > 1;
        if !asks(content)
            || (is_letter
                && (!is_apart || plain(content.split_whitespace().next().unwrap_or_default()) == "please"))
        {
            break;
        }
        end = start + range.start;
    }
    end
}

/// Adds the passages behind lead-ins to the spans, in the place of those within them.
fn passages(text: &str, spans: Vec<Span>) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::with_capacity(spans.len());
    let mut spans = spans.into_iter().peekable();
    let mut at = 0;
    let mut is_first = true;
    // The lead-in of a sentence before a new paragraph: "Translate this email into English.\n\n…".
    let mut taken = false;
    while at < text.len() {
        let next = spans.peek().map_or(text.len(), |span| span.range.start);
        let gap = text.get(at..next).unwrap_or_default();
        let mut passage = None;
        let bytes = gap.as_bytes();
        for (offset, byte) in bytes.iter().enumerate() {
            let here = at + offset;
            let behind = bytes.get(offset + 1).copied();
            let is_colon = *byte == b':' && behind.is_none_or(|b| b.is_ascii_whitespace());
            let is_break = *byte == b'\n' && behind == Some(b'\n');
            if !is_colon && !is_break || taken {
                continue;
            }
            let lead_end = if is_break {
                // The first line break of several, and a few marks before it.
                if offset > 0 && bytes.get(offset - 1) == Some(&b'\n') {
                    continue;
                }
                let marks = bytes.get(..offset).unwrap_or_default().iter().rev().take(8);
                here - marks.take_while(|byte| b".\n\r ?!:".contains(byte)).count()
            } else {
                here
            };
            let from = lead_start(text, 0, lead_end);
            let lead = text.get(from..lead_end).unwrap_or_default();
            let leads = leads_in(lead, is_first && from == 0)
                && (!is_break || lead.split_whitespace().count() > 3 && points(lead));
            is_first = false;
            if !leads {
                continue;
            }
            let mut start = here + 1;
            start += text.get(start..).map_or(0, |rest| rest.len() - rest.trim_start().len());
            if start >= next && next < text.len() {
                break;
            }
            if start < text.len()
                && !(is_break
                    && text.get(start..).is_some_and(|rest| asks(rest.lines().next().unwrap_or_default())))
            {
                passage = Some((start, start + label(text.get(start..).unwrap_or_default())));
                break;
            }
        }
        if let Some((from, start)) = passage {
            taken = true;
            let end = passage_end(text, start);
            let inner = start..start + text.get(start..end).unwrap_or_default().trim_end().len();
            while spans.next_if(|span| span.range.start < end).is_some() {}
            found.push(Span { kind: Kind::Passage, range: from..inner.end, inner, is_material: true });
            at = end.max(start);
            continue;
        }
        match spans.next() {
            Some(mut span) => {
                // A quotation behind a lead-in is worked on, however short it is.
                if matches!(span.kind, Kind::Quoted | Kind::Braced) && !span.is_material {
                    let before = text.get(..span.range.start).unwrap_or_default().trim_end();
                    if before.ends_with(':') {
                        let end = before.len() - 1;
                        let from = lead_start(text, 0, end);
                        span.is_material = leads_in(text.get(from..end).unwrap_or_default(), false);
                    }
                }
                at = span.range.end.max(at);
                found.push(span);
            }
            None => break,
        }
    }
    found
}

/// The length of the label that a text to be worked on begins with, and of the white space behind it.
fn label(text: &str) -> usize {
    let end = text.bytes().take(20).position(|byte| byte == b':');
    let Some(end) = end else { return 0 };
    if !is_in(&plain(text.get(..end).unwrap_or_default()), LABELS) {
        return 0;
    }
    let rest = text.get(end + 1..).unwrap_or_default();
    end + 1 + rest.len() - rest.trim_start().len()
}

/// Whether a lead-in points at what follows: "this email", "the text below".
fn points(lead: &str) -> bool {
    let words: Vec<String> = lead.split_whitespace().map(plain).collect();
    words.iter().enumerate().any(|(index, word)| {
        let near = |range: Range<usize>| {
            words
                .get(range.start..range.end.min(words.len()))
                .unwrap_or_default()
                .iter()
                .any(|word| is_in(word, TEXTS))
        };
        match word.as_str() {
            "this" | "these" | "following" => near(index + 1..index + 4),
            "below" => near(index.saturating_sub(3)..index),
            _ => false,
        }
    })
}

/// Abbreviations whose full stop ends no sentence of an instruction.
const NO_END: &str = "e.g i.e eg ie dr mr mrs ms prof st vs max min approx ca no cf incl excl p.s p.p.s p.p.p.s fig vol \
    viz etc";

fn sentences(text: &str, spans: &[Span]) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut paragraph = 0;
    let mut start = 0;
    let mut breaks: Vec<(usize, bool)> = Vec::new();
    let mut next_span = 0;
    let mut characters = text.char_indices().peekable();
    let mut token = 0;
    let mut enumerated = 0_u32;
    let mut cut = |start: &mut usize, end: usize, breaks: &mut Vec<(usize, bool)>, paragraph| {
        push_sentence(text, *start..end, breaks, paragraph, &mut found);
        *start = end;
    };
    while let Some((at, character)) = characters.next() {
        if let Some(span) = spans.get(next_span).filter(|span| span.range.start <= at) {
            next_span += 1;
            while characters.next_if(|(at, _)| *at < span.range.end).is_some() {}
            let end = span.range.end.max(at);
            token = end;
            if matches!(span.kind, Kind::Fenced | Kind::Passage) {
                // Material is in no sentence; what leads in to it ends there.
                let mut rest = span.range.start;
                cut(&mut start, rest, &mut breaks, paragraph);
                rest = end;
                start = rest;
            } else {
                let inner = text.get(span.inner.clone()).unwrap_or_default();
                let behind = text.get(end..).unwrap_or_default();
                let goes_on = behind.trim_start_matches([' ', '\t']).chars().next();
                if inner.ends_with(['.', '!', '?'])
                    && behind.starts_with(char::is_whitespace)
                    && goes_on.is_some_and(char::is_uppercase)
                {
                    cut(&mut start, end, &mut breaks, paragraph);
                }
            }
            continue;
        }
        let end = at + character.len_utf8();
        let next = characters.peek().map(|(_, c)| *c);
        match character {
            '\n' => {
                let rest = text.get(end..).unwrap_or_default();
                let line = rest.trim_start_matches([' ', '\t', '\r']);
                let is_blank = line.starts_with('\n') || line.is_empty();
                let ended = text.get(start..at).unwrap_or_default().trim_end().ends_with([',']);
                let goes_on = line.chars().next().is_some_and(char::is_lowercase);
                if is_blank || !(ended || goes_on) {
                    cut(&mut start, end, &mut breaks, paragraph);
                }
                if is_blank {
                    paragraph += 1;
                }
                token = end;
            }
            '.' | '!' | '?' | '…' | '。' => {
                // No abbreviation is longer, and a text without spaces is not read again at each mark.
                let short = if at - token <= 12 { text.get(token..at).unwrap_or_default() } else { "" };
                let word = short.trim_start_matches(|c: char| !c.is_alphanumeric());
                let marks = next.is_none_or(char::is_whitespace) || character == '。';
                let goes_on = text.get(end..).unwrap_or_default().trim_start().chars().next();
                // An initial: "e. e. cummings".
                let is_initial = word.len() == 1
                    && word.starts_with(|c: char| c.is_ascii_alphabetic())
                    && goes_on.is_some_and(char::is_lowercase);
                let is_short =
                    character == '.' && (is_in(&word.to_lowercase(), NO_END) && word.len() < 8 || is_initial);
                // "1." begins an item; "P.S." may end a sentence where a capital follows.
                let is_item = word.bytes().all(|b| b.is_ascii_digit())
                    && text.get(start..token).unwrap_or_default().trim().is_empty()
                    && !word.is_empty();
                // "… in this order: 1. Introduction 2. Findings"
                let number = word.parse::<u32>().ok().filter(|_| word.len() <= 2);
                let is_enumerated = number.is_some_and(|number| {
                    number == 1 && text.get(..token).unwrap_or_default().trim_end().ends_with(':')
                        || number > 1 && number == enumerated + 1
                }) && goes_on.is_some_and(char::is_alphabetic);
                enumerated = if is_enumerated {
                    number.unwrap_or(0)
                } else if word.len() > 2 && marks {
                    0
                } else {
                    enumerated
                };
                let ends_postscript = word.len() >= 3
                    && word.to_lowercase().starts_with("p.")
                    && goes_on.is_some_and(char::is_uppercase);
                let ends = if word.to_lowercase() == "no" {
                    !goes_on.is_some_and(|c| c.is_ascii_digit())
                } else {
                    !is_short || ends_postscript || (word == "etc" && goes_on.is_none_or(char::is_uppercase))
                };
                if marks && ends && !is_item && !is_enumerated {
                    cut(&mut start, end, &mut breaks, paragraph);
                }
            }
            ')' if next.is_some_and(char::is_whitespace)
                && text.get(..at).is_some_and(|before| before.ends_with(['.', '!', '?'])) =>
            {
                let goes_on = text.get(end..).unwrap_or_default().trim_start().chars().next();
                if goes_on.is_some_and(char::is_uppercase) {
                    cut(&mut start, end, &mut breaks, paragraph);
                }
            }
            ';' => breaks.push((end, true)),
            ':' if next.is_none_or(char::is_whitespace) => breaks.push((end, true)),
            '—' => breaks.push((end, true)),
            '–' | '-' if next == Some(' ') && text.get(..at).is_some_and(|before| before.ends_with(' ')) => {
                breaks.push((end, true));
            }
            ',' => breaks.push((end, false)),
            _ => {}
        }
        if character.is_whitespace() || matches!(character, '(' | '[') {
            token = end;
        }
    }
    cut(&mut start, text.len(), &mut breaks, paragraph);
    found
}

fn trim(text: &str, range: Range<usize>, also: &[char]) -> Range<usize> {
    let content = text.get(range.clone()).unwrap_or_default();
    let front = content.len() - content.trim_start().len();
    let inner = content.trim();
    let kept = inner.trim_end_matches(also).len();
    range.start + front..range.start + front + kept
}

fn push_sentence(
    text: &str,
    range: Range<usize>,
    breaks: &mut Vec<(usize, bool)>,
    paragraph: usize,
    found: &mut Vec<Sentence>,
) {
    let breaks = std::mem::take(breaks);
    let mut range = trim(text, range, &[]);
    let content = text.get(range.clone()).unwrap_or_default();
    // The mark of a list, or of a heading.
    let digits = content.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits)
        && matches!(content.as_bytes().get(digits), Some(b'.' | b')'))
        && content.as_bytes().get(digits + 1).is_some_and(u8::is_ascii_whitespace);
    let signed = content.starts_with(['-', '*', '•', '+', '–', '#'])
        && content.trim_start_matches(['-', '*', '•', '+', '–', '#']).starts_with(char::is_whitespace);
    let is_item = numbered || signed;
    if is_item {
        let mark = if numbered {
            digits + 1
        } else {
            content.len() - content.trim_start_matches(['-', '*', '•', '+', '–', '#']).len()
        };
        range = trim(text, range.start + mark..range.end, &[]);
    }
    if !text.get(range.clone()).unwrap_or_default().contains(char::is_alphanumeric) {
        return;
    }
    let mut clauses = Vec::new();
    let mut from = range.start;
    for (at, is_strong) in breaks {
        let is_break = is_strong || {
            let next = text.get(at..range.end.max(at)).unwrap_or_default().split_whitespace().next();
            next.is_some_and(|word| matches!(word, "and" | "but" | "then" | "so"))
        };
        if is_break && at > from && at < range.end {
            clauses.push(trim(text, from..at, &[',', ';', ':', '—', '–', '-', ' ']));
            from = at;
        }
    }
    clauses.push(trim(text, from..range.end, &['.', '!', '?', '…', ' ']));
    clauses.retain(|clause| text.get(clause.clone()).unwrap_or_default().contains(char::is_alphanumeric));
    found.push(Sentence { range, clauses, paragraph, is_item });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(text: &str) -> Vec<&str> {
        let instruction = Instruction::new(text);
        instruction
            .sentences
            .iter()
            .map(|sentence| instruction.text.get(sentence.range.clone()).unwrap())
            .collect()
    }

    fn material(text: &str) -> Vec<&str> {
        let instruction = Instruction::new(text);
        instruction.material().map(|span| instruction.text.get(span.inner.clone()).unwrap()).collect()
    }

    #[test]
    fn short_quotations_stay_and_texts_behind_lead_ins_go() {
        assert_eq!(
            voice("Use the word \"rust\". Don't say 'sorry'."),
            ["Use the word \"rust\".", "Don't say 'sorry'."]
        );
        assert_eq!(material("Use the word \"rust\"."), Vec::<&str>::new());
        assert_eq!(
            material("Correct this text: \"Please write three sentence.\""),
            ["Please write three sentence."]
        );
        let text = "Translate this email into English.\n\nHallo,\n\nantworte in 50 Worten.";
        assert_eq!(voice(text), ["Translate this email into English."]);
        assert_eq!(material(text), ["Hallo,\n\nantworte in 50 Worten."]);
        let text =
            "Summarise the text below.\n\nText: Bees fly. They use 3 words.\n\nKeep it under 50 words.";
        assert_eq!(material(text), ["Bees fly. They use 3 words."]);
        assert_eq!(voice(text), ["Summarise the text below.", "Keep it under 50 words."]);
    }

    #[test]
    fn fences_quotes_and_tags_are_material() {
        assert_eq!(material("Explain:\n```\nuse 3 words\n```\nBriefly."), ["\nuse 3 words\n"]);
        assert_eq!(voice("Explain:\n```\nuse 3 words\n```\nBriefly."), ["Explain:", "Briefly."]);
        assert_eq!(material("Fix:\n> use 3 words\n> or 4\n\nThanks."), ["> use 3 words\n> or 4"]);
        assert_eq!(material("Edit <text>Use three words only.</text> now"), ["Use three words only."]);
        assert_eq!(material("Edit \"\"\"Say \"hi\" now.\"\"\" please"), ["Say \"hi\" now."]);
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            voice("Use max. 3 lines, e.g. short ones. End with P.S. Then stop!"),
            ["Use max. 3 lines, e.g. short ones.", "End with P.S.", "Then stop!"]
        );
        assert_eq!(
            voice("Rules:\n- no commas\n2. be kind\nDone"),
            ["Rules:", "no commas", "be kind", "Done"]
        );
        assert_eq!(
            voice("It costs 3.50 at example.com. Say \"It is.\" Then go."),
            ["It costs 3.50 at example.com.", "Say \"It is.\"", "Then go."]
        );
    }
}
