//! Formats: JSON, CSV, tables, code, headings, sections, separators, case, language, quotation marks.

use std::ops::Range;

use serde_json::Value;

use super::mood::Mood;
use super::token::{What, Words};
use super::{Extracted, Memory, REACH, Reader, count, phrase};
use crate::instruction::{Instruction, is_in};
use crate::{Case, Constraint, Limit, Place, Unit, code, language};

/// Words that stand between a request and a format.
const ADJECTIVES: &str = "a an the valid single raw pure well formed plain strict proper compact minified formatted one pretty printed \
    simple standard clean short small fenced markdown your bare correct parseable machine readable syntactically flat nested complete just only semicolon separated tab pipe comma delimited";

/// Words right before a format that ask for it.
const ASKING: &str = "as in with into to return output produce generate give me provide respond using use format create write emit \
    be print reply answer : but only just deliver send — , export present show make render formatted is";

impl Reader<'_, '_, '_> {
    /// Every matcher for formats.
    pub(super) fn forms(&mut self) {
        self.sections();
        self.json();
        self.csv();
        self.table();
        self.code();
        self.headings();
        self.case();
        self.language();
        self.quoted();
        self.loose_shape();
        self.label_requests();
    }

    /// Whether the words before a format ask for it, and where they begin.
    fn asked_format(&self, at: usize) -> Option<usize> {
        let words = self.words;
        if !self.asks(at) {
            return None;
        }
        let mut start = at;
        while start > 0 && start + 6 > at && words.is(start - 1, ADJECTIVES) {
            start -= 1;
        }
        let before = words.back(start, 1);
        if start == 0 {
            return Some(0);
        }
        // "Only JSON": the adjective itself asks.
        let asks = is_in(before, ASKING) || before == "of" || self.is_only(at);
        if !asks {
            return None;
        }
        match before {
            "to" => {
                // "Convert it to JSON", against "similar to JSON".
                let converts = (start.saturating_sub(REACH)..start).any(|at| {
                    words.is(at, "convert converts turn transform change translate reformat port migrate serialize serialise export parse format switch")
                });
                converts.then_some(start - 1)
            }
            "with" => {
                let answers =
                    (start.saturating_sub(4)..start).any(|at| words.is(at, "respond reply answer come"));
                (answers || self.is_only(at)).then_some(start - 1)
            }
            "use" | "using" | "is" => {
                let knows = words.is(start.saturating_sub(2), "to i we when why people");
                (!knows
                    && !(before == "is"
                        && !words.is(start.saturating_sub(2), "format output response answer")))
                .then_some(start - 1)
            }
            "of" => (words.is(start.saturating_sub(2), "form") && start > 1).then_some(start - 1),
            "write" | "make" | "create" | "show" | "me" | "give" => Some(start - 1),
            "," => (start > 1 && words.is(at + 1, "only format . please output")
                || at + 1 >= words.len()
                || words.is_what(at + 1, What::Sign))
            .then_some(start),
            _ => Some(start - 1),
        }
    }

    /// Whether a format is only for an example or another part.
    fn is_partial(&self, at: usize) -> bool {
        let words = self.words;
        if self.is_only(at) {
            return false;
        }
        (at.saturating_sub(9)..at).any(|at| {
            words.is(at, "include add along plus followed attach append embed contains containing including")
                || words.is(at, "example sample snippet payload excerpt")
                    && !words.is(at.saturating_sub(1), "this the following")
        })
    }

    fn json(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if words.low(at) != "json" || self.is_used(at) {
                continue;
            }
            if words.is(at + 1, "schema") && self.asks(at)
                && (at.saturating_sub(8)..at).any(|at| words.is(at, "match matches matching conform conforms conforming follow follows following fit fits validate validates satisfy satisfies adhere to against according comply"))
                && !self.is_negated(at)
                && let Some((Template::Schema(value), end)) = self.schema(at)
            {
                self.push(Constraint::Json { place: Place::Whole, keys: Vec::new(), schema: Some(value) }, at, end.min(words.len()));
                continue;
            }
            if words.is(at + 1, "parser parsers library libraries schema schemas api apis syntax validator web parsing feed databases database editor serialisation serialization")
            {
                continue;
            }
            let Some(from) = self.asked_format(at) else { continue };
            let mut end = at + 1;
            while words.is(end, "object array format document string list only code block file")
                && end < at + 4
            {
                end += 1;
            }
            if words.is(end, "or") && words.is(end + 1, "yaml xml toml html plain markdown prose") {
                continue;
            }
            if self.is_negated(at) {
                let constraint = Constraint::Json { place: Place::Whole, keys: Vec::new(), schema: None };
                self.in_form_part(Constraint::Not { constraint: Box::new(constraint) }, from, end);
                continue;
            }
            let place = if self.is_partial(at) { Place::Somewhere } else { Place::Whole };
            let mut keys = Vec::new();
            let mut schema = None;
            if let Some((found, next)) = self
                .names(end, "key keys field fields property properties attribute attributes members member")
            {
                keys = found;
                end = next;
            } else if let Some((found, next)) = self.schema(at) {
                match found {
                    Template::Schema(value) => schema = Some(value),
                    Template::Keys(found) => keys = found,
                }
                end = next;
            } else if let Some(quoted) = (end..end + 14).find(|at| words.is_what(*at, What::Quoted)) {
                // "with "name" and "age" keys"
                let each = words.is(quoted - 1, "with containing having including")
                    && words.is(quoted.saturating_sub(2), "each objects object one");
                if words.is(end, "with containing that") && quoted < end + 3 || each {
                    let mut next = quoted;
                    let mut found = Vec::new();
                    while words.is_what(next, What::Quoted) || words.is(next, ", and") {
                        if words.is_what(next, What::Quoted) {
                            found.push(self.text(next).to_owned());
                        }
                        next += 1;
                    }
                    if words.is(next, "key keys field fields properties as") {
                        keys = found;
                        end = next + 1;
                    } else if each {
                        keys = found;
                        end = next;
                    }
                }
            }
            self.in_form_part(Constraint::Json { place, keys, schema }, from, end);
        }
        if self.memory.header.is_empty()
            && self.asks(0)
            && !phrase::somewhere(words, "json|csv|table")
            && (words.is(0, "header headers columns")
                || words.is(0, "first top header column the")
                    && words.is(1, "row line header columns headers headings names"))
            && let Some((found, _)) = self.names(0, "header headers row columns line headings names")
            && found.len() > 1
        {
            self.memory.header = found;
        }
        // Keys in a sentence of their own.
        if self.memory.keys.is_empty()
            && self.asks(0)
            && !phrase::somewhere(words, "json")
            && let Some((found, _)) = self.names(0, "keys fields properties")
        {
            self.memory.keys = found;
        }
    }

    /// A format of a part of the response; of one that cannot be found, nothing.
    fn in_form_part(&mut self, constraint: Constraint, from: usize, to: usize) {
        self.push(constraint, from, to);
    }

    /// Names of keys or columns: a noun of the list, and the names behind it.
    fn names(&self, from: usize, nouns: &str) -> Option<(Vec<String>, usize)> {
        let words = self.words;
        let noun = (from..words.len().min(from + 14)).find(|at| words.is(*at, nouns))?;
        let mut next = noun + 1;
        while words.is(next, ": named called and titled are must be should labelled labeled row in this order reading — ( exactly = following the with names as values headed line for") && next < noun + 7 {
            next += 1;
        }
        let mut found: Vec<String> = Vec::new();
        let is_listed = words.is(next.wrapping_sub(1), ": named called ( titled be are");
        while found.len() < 40 {
            let start = next;
            if words.number(next).is_some_and(|(_, end)| {
                words.is(end, "rows row columns data records") || words.is(end + 1, "rows columns")
            }) {
                break;
            }
            if words.is_what(next, What::Quoted) {
                // A whole header within one pair of marks.
                let text = self.text(next).trim();
                if text.contains(',') && found.is_empty() {
                    found.extend(text.split(',').map(|name| name.trim().to_owned()));
                    return Some((found, next + 1));
                }
                found.push(text.trim_end_matches(',').to_owned());
                next += 1;
            } else {
                while next < start + 4 && (words.is_word(next) || matches!(words.get(next).map(|t| t.what), Some(What::Number(_)))) && !words.is(next, "and or only nothing with for about where which that in of each but then no as to from on is are so please do listing showing covering comparing") {
                    next += 1;
                }
                if next == start {
                    break;
                }
                // One that runs on is no name.
                let ends = next >= words.len()
                    || words.is_what(next, What::Sign)
                    || words.is(next, "and only in for with about of to from where which on each so listing showing covering comparing");
                if !ends {
                    break;
                }
                found.push(self.text_of(start..next).to_owned());
            }
            // "name (string), age (number)"
            if words.low(next) == "("
                && let Some(close) = (next..next + 8).find(|at| words.low(*at) == ")")
            {
                next = close + 1;
            }
            let mut separator = next;
            while words.is(separator, ", and & / | ;") {
                separator += 1;
            }
            if separator == next || words.is(separator, "nothing no only do then output") {
                break;
            }
            // "Name, Score and Rank, and keep it short"
            if words.is(separator, super::REQUESTS) && separator > next + 1 {
                break;
            }
            next = separator;
        }
        let named = found.iter().all(|name| !name.is_empty());
        let is_plural = words.low(noun).ends_with('s') || is_in(words.low(noun), "header row line");
        let is_quoted = words.is_what(noun + 1, What::Quoted) || found.len() > 1;
        (named && !found.is_empty() && (is_quoted || is_listed) && (is_plural || found.len() == 1))
            .then_some((found, next))
    }

    /// A schema or an example of the object in braces.
    fn schema(&self, at: usize) -> Option<(Template, usize)> {
        let words = self.words;
        let is_object = |at: usize| words.is_what(at, What::Braced) || words.is_what(at, What::Material);
        let here = (at..words.len().min(at + REACH)).find(|at| is_object(*at));
        let is_schema = (at.saturating_sub(12)..words.len().min(at + REACH)).any(|at| words.is(at, "schema"));
        let (text, end) = match here {
            Some(here) => (self.words.get(here).map(|token| self.instruction.slice(&token.range))?, here + 1),
            None => {
                // Behind the sentence: in a fence or on a line of its own.
                let sentence = self.instruction.sentences.get(self.memory.sentence)?;
                if !is_schema && !words.is(words.len().saturating_sub(1), ":") {
                    return None;
                }
                let spans = &self.instruction.spans;
                let span = spans.get(spans.partition_point(|span| span.range.start < sentence.range.end))?;
                let gap = self.instruction.slice(&(sentence.range.end..span.range.start));
                if !gap.trim().is_empty() {
                    return None;
                }
                let is_braced = span.kind == crate::instruction::Kind::Braced;
                (self.instruction.slice(if is_braced { &span.range } else { &span.inner }), words.len())
            }
        };
        let text = text.trim().trim_start_matches("json").trim();
        let value: Value = serde_json::from_str(text).ok()?;
        if is_schema {
            return Some((Template::Schema(value), end));
        }
        let keys = value.as_object()?.keys().cloned().collect();
        Some((Template::Keys(keys), end))
    }

    fn csv(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            let next = words.any(at, "csv|tsv|comma separated values|comma separated format|tab separated values|tab separated table|tab separated list|tab separated text|comma separated table|semicolon separated values");
            let Some(mut end) = next else { continue };
            if self.is_used(at) || words.is(end, "parser library reader parsing import exporter") {
                continue;
            }
            let Some(from) = self.asked_format(at) else { continue };
            while words.is(end, "format file data only text table block output document") && end < at + 5 {
                end += 1;
            }
            if self.is_negated(at) {
                continue;
            }
            let place = if self.is_partial(at) { Place::Somewhere } else { Place::Whole };
            let separator = if words.is(at, "tsv tab")
                || phrase::somewhere(
                    words,
                    "separated by tabs|tab separated|tabs as the separator|tabs as separators|use tabs|tab delimited",
                ) {
                '\t'
            } else if phrase::somewhere(
                words,
                "separated by semicolons|semicolon separated|semicolons as the separator|semicolons as separators|semicolon as the separator|semicolon as separator|semicolon as the delimiter|semicolons as delimiters|semicolons as the delimiter|semicolons instead of commas|semicolons as separator|use semicolons|semicolon delimited|semicolons between",
            ) {
                ';'
            } else if phrase::somewhere(
                words,
                "pipe separated|separated by pipes|pipes as separators|pipes as the separator|pipe delimited|pipes as delimiters",
            ) {
                '|'
            } else {
                ','
            };
            let (columns, rows, last) = self.shape(end);
            let of = if words.low(end) == "(" {
                (end..end + 6).find(|at| words.low(*at) == ")").map_or(end, |close| close + 1)
            } else {
                end
            };
            let rows = rows.or_else(|| self.rows_of(of));
            let mut header = Vec::new();
            if let Some((found, next)) = self.names(end, "header headers") {
                header = found;
                end = next;
            } else if columns.is_none()
                && let Some((found, next)) = self.names(end, "columns")
            {
                if found.iter().all(|name| !name.contains(' '))
                    || words.is_what(next.saturating_sub(1), What::Quoted)
                {
                    header = found;
                }
                end = next;
            }
            let constraint = Constraint::Csv { place, separator, header, columns, rows };
            self.push(constraint, from, end.max(last).min(words.len()));
            return;
        }
    }

    /// "A table of six animals": one row for each.
    fn rows_of(&self, at: usize) -> Option<Limit> {
        let words = self.words;
        if !words.is(at, "of listing containing showing") {
            return None;
        }
        let start = if words.is(at + 1, "the") { at + 2 } else { at + 1 };
        let amount = count::limit(words, start)?;
        let near = (amount.next..amount.next + 2)
            .any(|at| words.is(at, "columns column rows row fields words sentences years days"));
        (words.is_word(amount.next) && !near).then_some(amount.limit)
    }

    /// Columns and rows in a sentence of their own: "Five rows."
    pub(super) fn loose_shape(&mut self) {
        let words = self.words;
        let is_here = self.found.iter().any(|one| {
            matches!(
                one.constraint,
                Constraint::Csv { .. } | Constraint::Table { .. } | Constraint::Only { .. }
            )
        });
        if words.len() == 0 || !self.asks(0) || is_here {
            return;
        }
        let (columns, rows, _) = self.shape(0);
        self.memory.columns = self.memory.columns.or(columns);
        self.memory.rows = self.memory.rows.or(rows);
    }

    /// Columns and rows that a sentence gives from a place on.
    fn shape(&mut self, from: usize) -> (Option<Limit>, Option<Limit>, usize) {
        let words = self.words;
        let mut columns = None;
        let mut rows = None;
        let mut last = from;
        let mut at = from.saturating_sub(10);
        while at < words.len().min(from + REACH * 2) {
            if let Some(amount) = count::limit(words, at) {
                let mut noun = amount.next;
                while words.is(noun, "data body more full separate different total") && noun < amount.next + 2
                {
                    noun += 1;
                }
                let slot = if words.is(noun, "columns column fields") {
                    Some(&mut columns)
                } else if words.is(noun, "rows row records") {
                    Some(&mut rows)
                } else {
                    None
                };
                if let Some(slot) = slot {
                    if slot.is_none() {
                        let value = match amount.limit {
                            Limit::AtLeast(least) if self.is_negated(at) => {
                                Limit::AtMost(least.saturating_sub(1))
                            }
                            limit => limit,
                        };
                        *slot = Some(value);
                    }
                    last = last.max(noun + 1);
                    self.pass(at, noun + 1);
                    at = noun;
                } else {
                    at = amount.next.saturating_sub(1).max(at);
                }
            }
            at += 1;
        }
        (columns, rows, last)
    }

    fn table(&mut self) {
        let words = self.words;
        // "Tabulate the first four presidents with the columns Name and Party."
        if let Some(at) = (0..words.len().min(8)).find(|at| words.low(*at) == "tabulate" && self.asks(*at))
            && !self.is_negated(at)
        {
            let (columns, rows, last) = self.shape(at + 1);
            let rows = rows.or_else(|| {
                let start = (at + 1..at + 5).find(|at| !words.is(*at, "the first last top following my"))?;
                count::limit(words, start)
                    .filter(|amount| words.is_word(amount.next))
                    .map(|amount| amount.limit)
            });
            let (header, end) =
                self.names(at, "columns headers header headings").unwrap_or((Vec::new(), at + 1));
            let columns = columns.filter(|_| header.is_empty());
            self.push(Constraint::Table { header, columns, rows }, at, last.max(end).min(words.len()));
        }
        for at in 0..words.len() {
            let is_form = words.is(at, "tabular") && words.is(at + 1, "form format");
            if !(words.low(at) == "table" || is_form) || self.is_used(at) || self.mood(at) != Mood::Asked {
                continue;
            }
            if words.is(
                at + 1,
                "tennis salt manners lamp top cloth saw leg legs wine setting football tops decoration",
            ) || words.is(at + 1, "of") && words.is(at + 2, "contents")
                || words.is(at + 1, "for") && words.is(at + 2, "two four six eight one three my our the")
            {
                continue;
            }
            let mut start = at;
            while start > 0 && start + 8 > at && (words.is(start - 1, "a an the one single markdown simple small short comparison clear neat formatted github pipe summary column columns row well two three four five six seven eight of just only proper plain basic style your formatted gfm flavored flavoured compact comparative but structured data") || words.number(start - 1).is_some()) {
                start -= 1;
            }
            let before = words.back(start, 1);
            let markdown = (start..at).any(|at| words.is(at, "markdown github gfm pipe"));
            let is_made = is_in(
                before,
                "as in into use using make create draw produce include add provide give me with show present build output return generate but format write put of prepare construct insert through via formatted : , compile has have contain containing to us want need by",
            ) || is_in(before, "or and")
                && (start.saturating_sub(5)..start).any(|at| {
                    count::thing(words, at).is_some_and(|(found, next)| found.is_named() && next + 1 == start)
                });
            if !is_made && start > 0 && !self.is_only(at) && !markdown {
                continue;
            }
            if is_in(before, "to")
                && !(start.saturating_sub(8)..start).any(|at| words.is(at, "convert turn transform change"))
            {
                continue;
            }
            if self.is_negated(at) && !self.is_only(at) {
                continue;
            }
            if words.is(start.saturating_sub(1), "the") && !self.is_only(at)
                || words.is(at, "table") && words.is(at - usize::from(at > 0), "this above each every per")
            {
                continue;
            }
            let mut end = if is_form { at + 2 } else { at + 1 };
            if words.is(end, "format form") {
                end += 1;
            }
            if self.is_only(at) || self.is_only_behind(end) {
                self.push(Constraint::Only { what: Unit::Table }, at, end);
                let (columns, rows, last) = self.shape(end);
                let header = self.names(end, "columns headers header headings column");
                if columns.is_some() || rows.is_some() || header.is_some() {
                    let header = header.map_or(Vec::new(), |(names, _)| names);
                    self.push(Constraint::Table { header, columns, rows }, at, last.max(end));
                }
                continue;
            }
            let (columns, rows, last) = self.shape(end);
            let rows = rows.or_else(|| self.rows_of(end));
            let mut header = Vec::new();
            let mut to = last.max(end);
            if let Some((found, next)) = self.names(end, "columns headers header headings column") {
                header = found;
                to = to.max(next);
            } else if let Some((found, next)) = self.names_without_noun(end) {
                header = found;
                to = to.max(next);
            }
            let rows = rows.or_else(|| self.rows_of(to));
            let columns =
                columns.filter(|limit| header.is_empty() || *limit != Limit::Exactly(header.len() as u64));
            self.push(
                Constraint::Table { header, columns, rows },
                if is_in(before, "or and me us") { start } else { start.saturating_sub(1).min(at) },
                to.min(words.len()),
            );
        }
    }

    /// "… with Name, Score and Rank columns", "… with "A" and "B" as headers".
    fn names_without_noun(&self, from: usize) -> Option<(Vec<String>, usize)> {
        let words = self.words;
        if !words.is(from, "with having containing") {
            return None;
        }
        let mut found = Vec::new();
        let mut next = from + 1;
        while next < from + 16 {
            if words.is_what(next, What::Quoted) {
                found.push(self.text(next).to_owned());
            } else if words.is(next, "columns headers column")
                || words.is(next, "as") && words.is(next + 1, "columns headers the column header")
            {
                return (found.len() > 1).then_some((found, next + 1));
            } else if words.is_word(next) && self.text(next).starts_with(char::is_uppercase) {
                found.push(self.text(next).to_owned());
            } else if !words.is(next, ", and") {
                return None;
            }
            next += 1;
        }
        None
    }

    /// The language of code that a token names.
    fn code_name(&self, at: usize) -> Option<String> {
        let words = self.words;
        let low = words.low(at);
        if low.is_empty()
            || is_in(
                low,
                "text txt plain plaintext node console h less csv json md markdown shell tex latex toml cc octave",
            )
        {
            return None;
        }
        let name = code::canonical_name(low)?;
        // Names that are words, too, stand in capitals.
        let text = self.text(at);
        let is_word = is_in(
            low,
            "go c r swift rust dart julia ruby java scala perl lua python pl rb kt cs ts js hs sh py rs jl",
        );
        (!is_word
            || text.starts_with(char::is_uppercase)
            || is_in(low, "python java ruby js ts py rs rust")
                && words.is(at + 1, "code function script program snippet block"))
        .then(|| name.to_owned())
    }

    fn code(&mut self) {
        let words = self.words;
        let block = |at: usize| {
            words.any(at, "code block|code blocks|code snippet|code snippets|codeblock|fenced block|code fence|fenced code block|fenced code|block|code|snippet|fenced code blocks")
        };
        for at in 0..words.len() {
            let Some(name) = self.code_name(at) else { continue };
            if self.mood(at) == Mood::Told || self.is_used(at) {
                continue;
            }
            let makes = words.is(at + 1, "function script program class code snippet solution implementation query example method one module block") || words.is(at.saturating_sub(1), "in using") && (at.saturating_sub(12)..at).any(|at| words.is(at, "function script program class code snippet solution implementation method code implement loop algorithm code"));
            if makes && self.memory.code_language.is_none() && self.asks(at) {
                self.memory.code_language = Some(name.clone());
            }
            if !self.asks(at) {
                continue;
            }
            // "If you show code, it must be Python."
            let must_be = words.ends_before(at, "must be|should be|must be in|should be in|must be written in|should be written in|has to be|has to be in|have to be in|needs to be in|be in|be written in|must use|use only|has to be written in|to be in").is_some()
                && (0..at).any(|at| words.is(at, "it code they that snippet snippets"));
            let names_block = block(at + 1).filter(|next| {
                let is_plain =
                    words.is(at + 1, "code snippet") && !words.is(at + 2, "block blocks snippet snippets");
                !is_plain || self.is_only(at) || words.is(*next, "only") || words.low(at + 1) == "snippet"
            });
            let behind = words.ends_before(at, "code block in|code blocks in|code snippet in|code block with|code block of|code block containing|code snippet in|fenced block in|code block that contains|only code in|code block written in|snippet in|only with code in|code in").filter(|start| words.low(*start) == "fenced" || words.is(*start, "code only snippet") && (!words.is(*start + 1, "in") || words.low(*start) == "snippet" || self.is_only(*start)));
            if self.is_negated(at) {
                continue;
            }
            let (from, to) = match (names_block, behind) {
                (Some(next), _) => (at, next),
                (None, Some(start)) => (start, at + 1),
                (None, None) if must_be => (at, at + 1),
                (None, None) => continue,
            };
            let is_whole = self.is_only(from)
                || self.is_only_behind(to)
                || words.any(to, "and nothing else|, nothing else").is_some();
            let place = if is_whole { Place::Whole } else { Place::Somewhere };
            self.push(Constraint::Code { language: name, place }, from, to);
        }
        // "Output only the code", where the language stands elsewhere.
        for at in 0..words.len() {
            if words.low(at) == "code" && self.asks(at) && !self.is_used(at) && (self.is_only(at) || words.is(at + 1, "only") || words.any(at + 1, "and nothing else|, nothing else|, no explanation|, no explanations|, no comments or explanation").is_some()) && !words.is(at + 1, "block blocks snippet snippets") && !self.is_negated(at)
                && let (Some(first), Some(last)) = (words.get(at.saturating_sub(1)), words.get(at)) {
                    self.memory.has_code_block = Some((Place::Whole, first.range.start..last.range.end));
                }
            let is_block =
                words.any(at, "code block|codeblock|fenced block|code fence|code blocks").is_some();
            if is_block
                && self.asks(at)
                && self.is_only(at)
                && let (Some(first), Some(last)) = (words.get(at), words.get(at + 1).or(words.get(at)))
            {
                self.memory.has_code_block = Some((Place::Whole, first.range.start..last.range.end));
            }
        }
        // "No code, please."
        for at in 0..words.len() {
            if words.low(at) == "code"
                && !self.is_used(at)
                && self.mood(at) == Mood::Asked
                && words.is(at.saturating_sub(1), "no any without include using show write")
                && self.is_negated(at)
                && !words.is(at + 1, "block blocks snippet snippets of comments names review")
            {
                self.push(Constraint::Count { what: Unit::CodeBlock, limit: Limit::NONE }, at, at + 1);
            }
        }
    }

    fn headings(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if self.is_used(at) || self.mood(at) != Mood::Asked {
                continue;
            }
            // A level: "level-2 headings", "H2 headings", "second-level headings", "## headings".
            let heading = |at: usize| {
                words.any(at, "markdown headings|markdown heading|headings|heading|headers|header|markdown headers|subheadings|atx headings|section headings")
            };
            let level = if words.low(at) == "level" {
                words.number(at + 1)
            } else if words.is(at, "h1 h2 h3 h4 h5 h6 h1s h2s h3s h4s h5s h6s") {
                words.low(at).as_bytes().get(1).map(|digit| (u64::from(digit - b'0'), at + 1))
            } else if let Some(nth) =
                super::token::ordinal(words.low(at)).or(if words.is(at, "top") { Some(1) } else { None })
            {
                (words.low(at + 1) == "level").then_some((nth, at + 2))
            } else if words.is(at, "# ## ### #### ##### ######") {
                Some((words.low(at).len() as u64, at + 1))
            } else {
                None
            };
            if let Some((level, next)) = level {
                let is_short = words.is(at, "h1s h2s h3s h4s h5s h6s");
                // "Headings only at level three", "headings of level 2"
                let is_behind = words.low(at) == "level"
                    && (1..9).any(|back| {
                        back <= at
                            && words.is(at - back, "headings heading headers subheadings")
                            && (at - back + 1..at).all(|at| words.is(at, "only at of just on in your the answer response should must be are article have"))
                    });
                let Some(mut end) = heading(next).or((is_short || is_behind).then_some(next)) else {
                    continue;
                };
                let Ok(level) = u8::try_from(level) else { continue };
                if !(1..=6).contains(&level) {
                    continue;
                }
                let mut limit = Limit::SOME;
                let mut from = at;
                // "four level-2 headings", "…, four of them"
                for back in 1..6 {
                    let Some(start) = at.checked_sub(back) else { break };
                    if let Some(amount) = count::limit(words, start)
                        && amount.next <= at
                        && (amount.next..at).all(|at| words.is(at, "markdown different distinct separate"))
                    {
                        limit = amount.limit;
                        from = start;
                    }
                }
                let behind = end + (0..4).take_while(|ahead| words.is(end + ahead, ", ( please and")).count();
                if let Some(amount) = count::limit(words, behind)
                    && words.any(amount.next, "of them|in total|in all|of these").is_some()
                {
                    limit = amount.limit;
                    end = amount.next + 2;
                }
                if self.is_negated(at) {
                    limit = match limit {
                        Limit::AtLeast(1) => Limit::NONE,
                        Limit::AtLeast(least) => Limit::AtMost(least - 1),
                        other => other,
                    };
                }
                if let Some((texts, next)) = self.titles(end) {
                    for text in texts {
                        self.push(
                            Constraint::Heading { level: Some(level), text: Some(text), limit: Limit::SOME },
                            from,
                            next,
                        );
                    }
                    continue;
                }
                self.push(Constraint::Heading { level: Some(level), text: None, limit }, from, end);
                continue;
            }
            // A text: "a heading "Risks"".
            if words.is(at, "heading headings header subheading headings subheadings") && !self.is_negated(at)
            {
                if words.is(at.saturating_sub(1), "each every row column") {
                    continue;
                }
                let Some((texts, next)) = self.titles(at + 1) else { continue };
                let quoted = words.is_what(next - 1, What::Quoted);
                if !quoted && texts.len() < 2 && !words.is(at + 1, "called titled named :") {
                    continue;
                }
                for text in texts {
                    self.push(
                        Constraint::Heading { level: None, text: Some(text), limit: Limit::SOME },
                        at,
                        next,
                    );
                }
            }
        }
    }

    /// Titles from a place on: quotations, or words in capitals, with commas and "and" between them.
    fn titles(&self, at: usize) -> Option<(Vec<String>, usize)> {
        let words = self.words;
        let mut next = at;
        if words.is(next, ", —")
            && (words.is_what(next + 1, What::Quoted)
                || words.is(next + 1, "in") && words.is(next + 2, "this the that exactly"))
        {
            next += 1;
        }
        while next < at + 8 && words.is(next, "titled called named headed labelled labeled : with the titles title headings headers entitled reading reads that says saying should be must are ( following names and as exactly heading in this order — for on covering") {
            next += 1;
        }
        if matches!(words.get(next).map(|token| token.what), Some(What::Number(1)))
            && words.is(next + 1, ". )")
        {
            next += 2;
        }
        let mut found = Vec::new();
        let mut end = next;
        let colon = (at..next).any(|at| words.low(at) == ":");
        while found.len() < 24 {
            let start = next;
            if words.is_what(next, What::Quoted) {
                found.push(self.text(next).trim_end_matches(',').trim().to_owned());
                next += 1;
            } else {
                // A title begins with a capital; in a list it may go on in small letters.
                let is_capital =
                    |at: usize| words.is_word(at) && self.text(at).starts_with(|c: char| c.is_uppercase());
                if !is_capital(next) && !(colon && words.is_word(next)) {
                    break;
                }
                while next < start + 6
                    && (words.is_word(next) || words.low(next) == "&")
                    && !words.is(next, "and or")
                    && !words.is(next, "in with each then")
                {
                    next += 1;
                }
                if next == start {
                    break;
                }
                found.push(self.text_of(start..next).to_owned());
            }
            end = next;
            let mut separator = next;
            while words.is(separator, ", and & ; / then plus")
                || matches!(words.get(separator).map(|token| token.what), Some(What::Number(_)))
                    && words.is(separator + 1, ". )")
                || words.is(separator, ". )")
                    && matches!(
                        words.get(separator.wrapping_sub(1)).map(|token| token.what),
                        Some(What::Number(_))
                    )
            {
                separator += 1;
            }
            if separator == next {
                break;
            }
            next = separator;
        }
        (!found.is_empty() && found.iter().all(|title| !title.is_empty())).then_some((found, end))
    }

    fn sections(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if self.mood(at) != Mood::Asked {
                continue;
            }
            if words.is(at, "sections parts chapters") && self.memory.sections.is_none() {
                for back in 1..6 {
                    let Some(start) = at.checked_sub(back) else { break };
                    if let Some(amount) = count::limit(words, start)
                        && amount.next <= at
                    {
                        self.memory.sections = Some(amount.limit);
                    }
                }
            }
            if self.is_used(at) || !words.is(at, "section sections") || self.is_negated(at) {
                continue;
            }
            if words.is(at.saturating_sub(1), "each every per this") {
                continue;
            }
            let Some((titles, next)) = self.titles(at + 1) else { continue };
            let quoted = words.is_what(at + 1, What::Quoted)
                || words.is_what(at + 2, What::Quoted)
                || words.is_what(at + 3, What::Quoted);
            if !quoted
                && titles.len() < 2
                && !words.is(at + 1, "called titled named headed labelled labeled entitled :")
            {
                continue;
            }
            // "Section 1, Section 2" are marked by numbers.
            if titles.iter().any(|title| title.ends_with(|c: char| c.is_ascii_digit())) {
                continue;
            }
            let mut end = next;
            let ordered = phrase::somewhere(
                words,
                "in this order|in that order|in the following order|in exactly this order|in this exact order|in order|in the order given|in exactly that order|in that exact order|in the given order|in precisely this order|in the same order|in the order shown|in the order listed|in just this order|in this sequence|in that sequence",
            );
            if ordered && let Some(order) = (next..next + 4).find(|at| words.is(*at, "order")) {
                end = order + 1;
            }
            self.push(Constraint::Sections { titles, ordered }, at, end);
        }
        // "in this order" in a sentence of its own is not looked for.
    }

    pub(super) fn numbered_sections(&mut self) {
        let words = self.words;
        let marks = phrase::somewhere(
            words,
            "into|mark|label|labelled|labeled|marked|start|starting|begin|beginning|headed|titled|number|numbered|named|called|introduce|introduced|precede|heading|title|prefix|prefixed|denoted|head|starts|begins|as",
        );
        if !marks {
            return;
        }
        let is_digit = |at: usize| match words.get(at).map(|token| token.what) {
            Some(What::Number(value)) => Some(value),
            _ => None,
        };
        for at in 0..words.len() {
            if self.is_used(at) || self.mood(at) != Mood::Asked {
                continue;
            }
            let (marker, first, from, to) = if words.is_what(at, What::Quoted) {
                // "Section 1", 'Part X', "Day #"
                let text = self.text(at).trim().trim_end_matches([':', '.', ',']);
                let Some((marker, number)) = text.rsplit_once(' ') else { continue };
                let number = number.trim_matches(['[', ']', '{', '}', '(', ')', '<', '>']);
                let value = number.parse::<u64>().ok();
                if value.is_none() && !is_in(number, "X N # n x number NUMBER") {
                    continue;
                }
                (marker.to_owned(), value, at, at + 1)
            } else if words.is_word(at) && self.text(at).starts_with(char::is_uppercase) && at > 0 {
                let next = words.low(at + 1);
                let value = is_digit(at + 1);
                if value.is_none()
                    && !(is_in(next, "x n #")
                        && (words.is(at + 1, "#") || self.text(at + 1).starts_with(['X', 'N'])))
                {
                    continue;
                }
                (self.text(at).to_owned(), value, at, at + 2)
            } else {
                continue;
            };
            if !marker.chars().all(|c| c.is_alphabetic()) || marker.is_empty() {
                continue;
            }
            let speaks_of_sections = is_in(&marker.to_lowercase(), "section part chapter day week stage phase step") || (0..words.len()).any(|at| words.is(at, "section sections part parts each chapter chapters day days week weeks stage stages phase phases step steps"));
            if !speaks_of_sections || first.is_some_and(|first| first != 1) {
                continue;
            }
            // "Section 1, Section 2 and Section 3": as many as are named; else as many as were asked for.
            let mut named = first.unwrap_or(0);
            let mut end = to;
            for more in to..words.len().min(to + REACH) {
                let value = if words.is_what(more, What::Quoted) {
                    self.text(more)
                        .trim_end_matches(':')
                        .rsplit_once(' ')
                        .filter(|(word, _)| *word == marker)
                        .and_then(|(_, n)| n.parse().ok())
                } else if self.text(more) == marker {
                    is_digit(more + 1)
                } else {
                    None
                };
                if let Some(value) = value {
                    named = named.max(value);
                    end = if words.is_what(more, What::Quoted) { more + 1 } else { more + 2 };
                }
            }
            let open = phrase::somewhere(
                words,
                "and so on|etc|and so forth|…|...|such as|for example|e.g.|like|e.g",
            );
            let counted = self.sections_count(&marker);
            let limit = match (counted, named) {
                (Some(limit), _) => limit,
                (None, named) if named > 1 && !open => Limit::Exactly(named),
                _ => continue,
            };
            self.push(Constraint::NumberedSections { marker, limit }, from, end);
            self.pass(0, words.len());
            return;
        }
    }

    /// How many sections are asked for, in this sentence or before.
    fn sections_count(&self, marker: &str) -> Option<Limit> {
        let words = self.words;
        let plural = format!("{}s", marker.to_lowercase());
        for at in 0..words.len() {
            if let Some(amount) = count::limit(words, at) {
                let noun = (amount.next..amount.next + 3).find(|at| {
                    words
                        .is(*at, "sections parts chapters days weeks stages phases steps stanzas acts scenes")
                        || words.low(*at) == plural
                });
                if noun.is_some() {
                    return Some(amount.limit);
                }
            }
        }
        if self.memory.sections.is_some() {
            return self.memory.sections;
        }
        // The sentence before: "Plan a trip of 3 days."
        let tail = Words { tokens: &self.memory.tail };
        (0..tail.len()).find_map(|at| {
            let amount = count::limit(tail, at)?;
            (tail.low(amount.next) == plural || tail.low(amount.next) == marker.to_lowercase())
                .then_some(amount.limit)
        })
    }

    /// "… separated by six asterisks (******)".
    pub(super) fn divided(&mut self) {
        let words = self.words;
        let is_separator = |at: usize| {
            let text = self.text(at);
            let long = text.chars().count() >= 2;
            match words.get(at).map(|token| token.what) {
                Some(What::Sign) => long && text.chars().all(|c| "*-=#~_+|@".contains(c)),
                Some(What::Quoted) => {
                    !text.trim().is_empty()
                        && text.chars().all(|c| !c.is_alphanumeric() && !c.is_whitespace() || c == ' ')
                        && !is_in(text, ", . ; ! ?")
                        && text.chars().any(|c| !c.is_whitespace())
                        || text.starts_with('[') && text.ends_with(']')
                }
                _ => false,
            }
        };
        for at in 0..words.len() {
            if self.mood(at) == Mood::Told || !words.is(at, "separated divided split delimited separate divide separating put dividing insert place separator use line row add draw with") {
                continue;
            }
            let put = words.is(at, "put insert place use line row add draw with");
            if words.is(at, "with") && !(is_separator(at + 1) && words.any(at + 2, "in between|between them|between each|between the|between every|as a separator|as separator|as the separator|as a divider|as divider|as the divider").is_some()) {
                continue;
            }
            if words.is(at, "line row")
                && !words.is(at + 1, "of that reading with containing saying consisting made :")
            {
                continue;
            }
            let Some(by) = (at + 1..words.len().min(at + REACH))
                .find(|at| is_separator(*at))
                .or_else(|| self.described_separator(at))
            else {
                continue;
            };
            if put && !(0..words.len()).any(|at| words.is(at, "between separate divide separator divider")) {
                continue;
            }
            if !put && !(at..by).any(|at| words.is(at, "by with using through separator : via")) {
                continue;
            }
            let (text, end) = if is_separator(by) {
                let close = if words.low(by + 1) == ")" { by + 2 } else { by + 1 };
                (self.text(by).trim().to_owned(), close)
            } else {
                match self.separator_in_words(by) {
                    Some(found) => found,
                    None => continue,
                }
            };
            if self.is_negated(at) {
                continue;
            }
            // The parts: the number that stands before, or in the sentence before.
            let mut parts = None;
            let mut from = at;
            for start in 0..words.len() {
                if self.mood(start) == Mood::Told {
                    continue;
                }
                if let Some(amount) = count::limit(words, start)
                    && words.is_word(amount.next)
                    && !words.is(amount.next, "asterisks stars dashes hyphens equals hashes words asterisk symbols times characters pound tildes sentences")
                    && !(amount.next..amount.next + 2).any(|at| words.is(at, "words sentences characters asterisks dashes hyphens signs stars hashes"))
                {
                    parts = Some(amount.limit);
                    from = from.min(start);
                    break;
                }
            }
            if parts.is_none() {
                let tail = Words { tokens: &self.memory.tail };
                parts = (0..tail.len()).find_map(|start| {
                    let amount = count::limit(tail, start)?;
                    (amount.next..amount.next + 3).any(|at| tail.is(at, "answers responses versions parts sections options paragraphs poems replies variants stanzas drafts alternatives suggestions haikus jokes stories texts examples headlines slogans solutions")).then_some(amount.limit)
                });
            }
            let parts = match parts {
                Some(Limit::About(value)) => Limit::Exactly(value),
                Some(limit) => limit,
                None => Limit::AtLeast(2),
            };
            self.push(Constraint::Divided { by: text, parts }, at.max(from), end);
            return;
        }
    }

    /// "six asterisks" without the signs themselves.
    fn described_separator(&self, at: usize) -> Option<usize> {
        let words = self.words;
        (at + 1..words.len().min(at + REACH)).find(|at| self.separator_in_words(*at).is_some())
    }

    fn separator_in_words(&self, at: usize) -> Option<(String, usize)> {
        let words = self.words;
        let (value, next) = words.number(at)?;
        let next = if words.is(next, "consecutive") { next + 1 } else { next };
        let sign = match words.low(next) {
            "asterisks" | "asterisk" | "stars" => "*",
            "dashes" | "hyphens" => "-",
            "equals" | "equal" => "=",
            "hashes" | "hash" | "pound" => "#",
            "tildes" => "~",
            "underscores" => "_",
            "pipes" => "|",
            "plus" => "+",
            _ => return None,
        };
        let count = usize::try_from(value).ok().filter(|count| (2..=40).contains(count))?;
        let end = if words.is(next + 1, "signs symbols marks") { next + 2 } else { next + 1 };
        Some((sign.repeat(count), end))
    }

    fn case(&mut self) {
        let words = self.words;
        const LOWER: &str = "in all lowercase letters|all lowercase letters|in all lowercase|all lowercase|all lower case|in lowercase letters only|in lowercase letters|in lowercase only|in lowercase|in lower case letters|in lower case|only lowercase letters|lowercase letters only|only lowercase|entirely in lowercase|entirely lowercase|lowercase only|lower case only|only lower case|lowercase letters|all in lowercase|in small letters|all small letters|only small letters|be lowercase|be lower case|only in lowercase|completely lowercase|in all small letters";
        const UPPER: &str = "in all caps|all caps|in all capital letters|all capital letters|in all capitals|all capitals|in capital letters only|in capital letters|in capitals|in uppercase letters|in uppercase only|in uppercase|in all uppercase|all uppercase letters|all uppercase|all upper case|in upper case|only capital letters|capital letters only|only capitals|entirely in capitals|entirely uppercase|uppercase only|in block capitals|block capitals|block letters|be uppercase|be capitalised throughout|only uppercase letters|uppercase letters only|only uppercase|fully capitalized|fully capitalised|in all upper case|in block letters|in full caps|in full capitals|entirely in capital letters";
        const TITLE: &str = "in title case|title case|in title capitalization|in headline case";
        const NO_UPPER: &str = "capital letters|capitals|uppercase letters|upper case letters|capital letter|uppercase|upper case|uppercase letter|capitalisation|capitalization|capitalized letters|caps|capitalised letters";
        const NO_LOWER: &str =
            "lowercase letters|lower case letters|lowercase|small letters|lowercase letter";
        let mut at = 0;
        while at < words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                at += 1;
                continue;
            }
            if !words.is(at, "in all lowercase lower only entirely lowercase small be completely uppercase upper capital capitals block fully title caps capitalisation capitalization capitalized capitalised") {
                at += 1;
                continue;
            }
            let negated = || self.is_negated(at);
            // Bans of one kind of letters.
            let ban = |list: &str| {
                words.any(at, list).filter(|_| {
                    words.is(
                        at.saturating_sub(1),
                        "no any without using use a single of or avoid contain containing include omit",
                    ) && negated()
                })
            };
            let found = if let Some(end) = ban(NO_UPPER) {
                Some((Case::Lower, end, false))
            } else if let Some(end) = ban(NO_LOWER) {
                Some((Case::Upper, end, false))
            } else if let Some(end) = words.any(at, LOWER) {
                Some((Case::Lower, end, negated()))
            } else if let Some(end) = words.any(at, UPPER) {
                Some((Case::Upper, end, negated()))
            } else {
                words.any(at, TITLE).map(|end| (Case::Title, end, negated()))
            };
            let Some((case, end, is_not)) = found else {
                at += 1;
                continue;
            };
            if words.is(end, "words word acronyms") || self.is_other_case(at, end) {
                at = end;
                continue;
            }
            // Outside of what is asked only an ending says it: "… about the moon in all lowercase".
            if self.mood(at) == Mood::Topic
                && !(end >= words.len()
                    || words.is_what(end, What::Sign)
                    || words.is(end, "and with letters only"))
            {
                at = end;
                continue;
            }
            let mut constraint = Constraint::Case { case };
            if is_not {
                constraint = Constraint::Not { constraint: Box::new(constraint) };
            }
            match self.part_before(at, end) {
                None => self.push(constraint, at, end),
                Some(Some((which, unit))) => {
                    let constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
                    self.push(constraint, at, end);
                }
                Some(None) => self.pass(at, end),
            }
            at = end;
        }
    }

    /// Whether a case is asked of something else than the response: "the word X in all caps", "file names in lowercase".
    fn is_other_case(&self, at: usize, _end: usize) -> bool {
        let words = self.words;
        for back in 1..6 {
            let Some(index) = at.checked_sub(back) else { break };
            if words.is(index, "response answer reply output text everything entire whole it letters") {
                return false;
            }
            if words.is_what(index, What::Quoted) {
                return true;
            }
            if words.is(index, "spelled spelt typed letters' word words name names acronym acronyms term terms keyword keywords phrase letter variables constants heading's author surname button keys key warning headers labels label initial proper header identifiers filename filenames") {
                return true;
            }
            if words.is_what(index, What::Sign) {
                break;
            }
        }
        false
    }

    /// The code of a language that a token names.
    fn tongue(&self, at: usize) -> Option<(&'static str, usize)> {
        let words = self.words;
        let low = words.low(at);
        if low.is_empty() || !words.is_word(at) {
            return None;
        }
        if words.is(at, "brazilian british american simplified traditional mexican european castilian canadian modern swiss australian plain simple standard latin modern formal colloquial informal") && !is_in(low, "latin") {
            return self.tongue(at + 1).filter(|_| !words.is(at + 1, "brazilian british american simplified traditional mexican european castilian canadian modern swiss australian plain simple standard formal colloquial informal"));
        }
        let extra = match low {
            "mandarin" => Some("zh"),
            "farsi" => Some("fa"),
            "filipino" => Some("tl"),
            "castilian" => Some("es"),
            "bangla" => Some("bn"),
            _ => None,
        };
        if let Some(code) = extra {
            let next = if words.low(at + 1) == "chinese" { at + 2 } else { at + 1 };
            return Some((code, next));
        }
        language::languages().find(|(_, name)| name.eq_ignore_ascii_case(low)).map(|(code, _)| (code, at + 1))
    }

    fn language(&mut self) {
        let words = self.words;
        let mut at = 0;
        while at < words.len() {
            if self.is_used(at) || self.mood(at) == Mood::Told {
                at += 1;
                continue;
            }
            let Some((code, next)) = self.tongue(at) else {
                at += 1;
                continue;
            };
            // "Plain English" is a tone.
            if code == "en"
                && (words.is(at, "plain simple everyday")
                    || words
                        .is(at.saturating_sub(1), "plain simple everyday clear good proper correct better")
                        && at > 0)
            {
                at = next;
                continue;
            }
            match self.asked_language(at, next) {
                Some((from, end)) => {
                    self.one_language(code, at, from, end);
                    at = end.max(next);
                }
                None => at = next,
            }
        }
    }

    fn one_language(&mut self, code: &str, at: usize, from: usize, end: usize) {
        let words = self.words;
        let tongue = |code: &str| Constraint::Language { code: code.to_owned() };
        let mut constraint = tongue(code);
        let mut end = end;
        if words.is(end, "or") {
            // "in French or German", "in French or in German"
            let next = if words.is(end + 1, "in into") { end + 2 } else { end + 1 };
            if let Some((other, behind)) = self.tongue(next) {
                constraint = Constraint::Any { of: vec![constraint, tongue(other)] };
                end = behind;
            }
        } else if words.is(end, "and")
            && (end + 1..end + 4).any(|at| words.is(at, "in into") && self.tongue(at + 1).is_some())
        {
            self.pass(from, (end + 5).min(words.len()));
            return;
        } else if words.is(end, "and & ,")
            && (self.tongue(end + 1).is_some() || self.is_other_tongue(end + 1))
        {
            // Two languages in one answer: no detector tells that.
            self.pass(from, end + 2);
            return;
        }
        if words.is(from.saturating_sub(1), "both") || words.is(from + 1, "both") {
            return;
        }
        if self.is_negated(at) {
            if let Constraint::Any { of } = constraint {
                for one in of {
                    self.push(Constraint::Not { constraint: Box::new(one) }, from, end);
                }
                return;
            }
            constraint = Constraint::Not { constraint: Box::new(constraint) };
        }
        match self.part_before(from, end) {
            None => self.push(constraint, from, end),
            Some(Some((which, unit))) => {
                let constraint = Constraint::Within { which, unit, constraint: Box::new(constraint) };
                self.push(constraint, from, end);
            }
            Some(None) => self.pass(from, end),
        }
    }

    /// Whether a word looks like the name of a language that no detector knows.
    fn is_other_tongue(&self, at: usize) -> bool {
        let low = self.words.low(at);
        self.text(at).starts_with(char::is_uppercase)
            && (is_in(low, "breton scots basque gaelic latin quechua yoruba zulu xhosa")
                || low.ends_with("ish")
                || low.ends_with("ese")
                || low.ends_with("ian"))
    }

    /// Whether a language is that of the answer, and the words that say so.
    fn asked_language(&self, at: usize, next: usize) -> Option<(usize, usize)> {
        let words = self.words;
        let end = if words.is(next, "language") { next + 1 } else { next };
        let follows = end >= words.len()
            || words.is_what(end, What::Sign)
            || words.is(end, "from thx thanks and or but with using only please then not for so without because by if when rather instead as at that throughout exclusively — no in too also even about to while pls explaining what how why within under max no of");
        if !follows || words.is(end, "of") {
            return None;
        }
        let mut prep = at.checked_sub(1)?;
        while prep > 0 && words.is(prep, "both either the only plain simple fluent good clear idiomatic brazilian british american simplified traditional mexican european modern canadian formal proper correct perfect natural standard conversational everyday colloquial informal swiss castilian") {
            prep -= 1;
        }
        let low = words.low(prep);
        let before = words.back(prep, 1);
        let translates = (prep.saturating_sub(REACH)..prep).any(|at| {
            words
                .is(at, "translate translated translating translation render convert put rendered translates")
        });
        match low {
            "into" => (translates || (prep.saturating_sub(8)..prep).any(|at| words.is(at, "turn rewrite localise localize transcribe rephrase"))).then_some((prep, end)),
            "to" => {
                let from_other = words.is(prep.saturating_sub(1), "from") || self.tongue(prep.saturating_sub(1)).is_some() && words.is(prep.saturating_sub(2), "from");
                (translates && (!words.is(prep.saturating_sub(1), "speak") || from_other)).then_some((prep, end))
            }
            "in" => {
                let spoken = "published spoken sung living printed taught said called born recorded available fluent lessons course courses books films movies words classes degree phrases \
                    expressions proficient named used means known lecture speeches tests word phrase term equivalent novels songs signs titles lyrics speaker speakers literature interest conversation conversations idioms verb verbs \
                    grammar sounds originally exam beginner proficiency fluency menus menu say exams nouns communicate communicates hello";
                let written = before == "written" && !(0..prep).any(|at| words.is(at, "be must should answer response reply written"))
                    || before == "written" && !words.is(prep.saturating_sub(2), "be is are it entirely fully completely")
                    && prep > 1;
                if is_in(before, spoken) || written && self.mood(at) == Mood::Topic || written && words.is(prep.saturating_sub(2), "text texts email emails letter book books message review original article articles post posts poem") {
                    return None;
                }
                if self.mood(at) == Mood::Topic && is_in(before, "written published conducted taught signed drafted") {
                    return None;
                }
                // In a question's or topic's midst it speaks of the world.
                if self.mood(at) == Mood::Topic && !(end >= words.len() || words.is_what(end, What::Sign) || words.is(end, "and in with using please only but")) {
                    return None;
                }
                Some((prep, end))
            }
            "use" | "using" | "speak" => {
                let learns = words.is(prep.saturating_sub(1), "to i we who people");
                let knows = self.mood(at) == Mood::Topic;
                (!learns && !knows && (end >= words.len() || words.is_what(end, What::Sign) || words.is(end, "only for throughout in please and exclusively"))).then_some((prep, end))
            }
            ":" => words.is(prep.saturating_sub(1), "language").then_some((prep - 1, end)),
            "is" | "be" => (words.ends_before(prep, "language|language of the answer|language of your answer|language should|language must|output language|response language|answer language|language of the response|language of your response|language has to").is_some() && !words.is(prep.saturating_sub(2), "native first official").to_owned()).then_some((prep, end)),
            "than" | "except" => None,
            _ => {
                // "Spanish only, please", "reply only Spanish"
                let alone = at == 0 || words.is_what(at - 1, What::Sign);
                let is_rest = at > 1 && words.is(at - 1, "only just") && words.is_what(at - 2, What::Sign) && self.asks(at);
                let is_bare = is_rest || alone && words.is(next, "only please") || self.is_only(at) && words.is(prep, "only just") && words.is(prep.saturating_sub(1), "answer reply respond write speak use in");
                is_bare.then_some((at, end))
            }
        }
    }

    fn quoted(&mut self) {
        let words = self.words;
        for at in 0..words.len() {
            if self.mood(at) != Mood::Asked || self.is_used(at) {
                continue;
            }
            let Some(end) = words.any(at, "quotation marks|quotes|double quotes|double quotation marks|inverted commas|quote marks|speech marks|doublequotes|quotations marks|quotation mark characters") else { continue };
            let lead = at.saturating_sub(12)..at;
            let Some(verb) = lead.clone().rev().find(|at| words.is(*at, "wrap wrapped put enclose enclosed surround surrounded place placed encase encased be wrapping enclosing inside within between")) else { continue };
            let inside = (verb..at).any(|at| words.is(at, "in with within inside between by"));
            let names = |list: &str| (lead.start..at).any(|at| words.is(at, list));
            let whole = names("response answer reply output everything whole entire it all result");
            let other = (verb + 1..at).any(|at| words.is_what(at, What::Quoted))
                || (lead.start..at).any(|at| words.is(at, "title titles word words name names each every any sentence phrase phrases term terms dialogue speech key keys string strings") && !words.is(at.saturating_sub(1), "of"));
            if !inside || !whole || other {
                continue;
            }
            let mut constraint = Constraint::Quoted {};
            if self.is_negated(verb) || self.is_negated(at) && !words.is(verb, "wrap") {
                constraint = Constraint::Not { constraint: Box::new(constraint) };
            }
            self.push(constraint, verb, end);
            return;
        }
    }
}

enum Template {
    Schema(Value),
    Keys(Vec<String>),
}

/// What holds over several sentences.
pub(super) fn across(_instruction: &Instruction<'_>, found: &mut Vec<Extracted>, memory: &Memory) {
    // A code block whose language was named elsewhere.
    if let Some(name) = &memory.code_language {
        for one in found.iter_mut() {
            match one.constraint {
                Constraint::Count { what: Unit::CodeBlock, limit: Limit::AtLeast(1) } => {
                    one.constraint = Constraint::Code { language: name.clone(), place: Place::Somewhere };
                }
                Constraint::Only { what: Unit::CodeBlock } => {
                    one.constraint = Constraint::Code { language: name.clone(), place: Place::Whole };
                }
                _ => {}
            }
        }
        if let Some((place, passage)) = &memory.has_code_block {
            found.push(Extracted {
                constraint: Constraint::Code { language: name.clone(), place: *place },
                passage: passage.clone(),
            });
        }
    } else if let Some((Place::Whole, _)) = &memory.has_code_block {
        for one in found.iter_mut() {
            if let Constraint::Code { place, .. } = &mut one.constraint {
                *place = Place::Whole;
            }
        }
    }
    if !memory.header.is_empty() {
        for one in found.iter_mut() {
            if let Constraint::Csv { header, columns, .. } | Constraint::Table { header, columns, .. } =
                &mut one.constraint
                && header.is_empty()
            {
                header.clone_from(&memory.header);
                if *columns == Some(Limit::Exactly(memory.header.len() as u64)) {
                    *columns = None;
                }
            }
        }
    }
    // Nothing but JSON has no list of Markdown.
    if found.iter().any(|one| matches!(one.constraint, Constraint::Json { place: Place::Whole, .. })) {
        found.retain(|one| !matches!(one.constraint, Constraint::Count { what: Unit::Item, .. }));
    }
    if memory.rows.is_some() || memory.columns.is_some() {
        for one in found.iter_mut() {
            if let Constraint::Csv { rows, columns, .. } | Constraint::Table { rows, columns, .. } =
                &mut one.constraint
            {
                *rows = rows.or(memory.rows);
                *columns = columns.or(memory.columns);
            }
        }
    }
    // Keys that a later sentence gives.
    if !memory.keys.is_empty() {
        for one in found.iter_mut() {
            match &mut one.constraint {
                Constraint::Json { keys, schema: None, .. } if keys.is_empty() => {
                    keys.clone_from(&memory.keys)
                }
                _ => {}
            }
        }
    }
    // Rows of a table are the things that are asked for.
    let items = found.iter().position(|one| {
        matches!(
            one.constraint,
            Constraint::Count {
                what: Unit::Item,
                limit: Limit::Exactly(_) | Limit::AtLeast(2..) | Limit::Between(..)
            }
        )
    });
    let tabled = found.iter().position(|one| {
        matches!(one.constraint, Constraint::Csv { place: Place::Whole, .. } | Constraint::Table { .. })
    });
    let starts = |index: Option<usize>| index.and_then(|index| found.get(index)).map(|one| one.passage.start);
    // "A table and a list of three items" are two things.
    let items = items.filter(|_| starts(items) < starts(tabled));
    if let Some(table) = tabled {
        let mut limit = memory
            .things
            .map(|(value, _)| Limit::Exactly(value))
            .filter(|_| matches!(found.get(table).map(|one| &one.constraint), Some(Constraint::Csv { .. })));
        if let Some(items) = items
            && let Some(Extracted { constraint: Constraint::Count { limit: count, .. }, .. }) =
                found.get(items)
        {
            limit = Some(*count);
        }
        let mut took = false;
        if let Some(one) = found.get_mut(table)
            && let Constraint::Csv { rows, .. } | Constraint::Table { rows, .. } = &mut one.constraint
        {
            took = items.is_some();
            if rows.is_none() {
                *rows = limit;
            }
        }
        if took && let Some(items) = items {
            found.remove(items);
        }
    }
    // "Nothing in English: the answer must be in Spanish."
    if found.iter().any(|one| matches!(one.constraint, Constraint::Language { .. })) {
        found.retain(|one| {
            !matches!(&one.constraint, Constraint::Not { constraint } if matches!(**constraint, Constraint::Language { .. }))
        });
    }
    // "True or false? … Answer True or False, then explain": the later request says how.
    let choices: Vec<(usize, Vec<String>)> = found
        .iter()
        .enumerate()
        .filter_map(|(index, one)| match &one.constraint {
            Constraint::Choice { options, .. } => {
                let mut options: Vec<String> = options.iter().map(|option| option.to_lowercase()).collect();
                options.sort();
                Some((index, options))
            }
            _ => None,
        })
        .take(12)
        .collect();
    for (place, (index, options)) in choices.iter().enumerate().rev() {
        if choices.iter().skip(place + 1).any(|(_, other)| other == options) {
            found.remove(*index);
        }
    }
    label(found, memory);
}

/// "Reply with the label and nothing else", "answer with the letter only".
fn label(found: &mut Vec<Extracted>, memory: &Memory) {
    let Some((is_letter, passage)) = &memory.label_request else { return };
    let earlier = found.iter().position(|one| matches!(one.constraint, Constraint::Choice { .. }));
    let goes = |passage: &Range<usize>| passage.clone();
    if *is_letter && memory.letters.len() >= 2 {
        if let Some(earlier) = earlier {
            found.remove(earlier);
        }
        let constraint = Constraint::Choice { options: memory.letters.clone(), place: Place::Whole };
        found.push(Extracted { constraint, passage: goes(passage) });
        return;
    }
    if let Some(one) = earlier.and_then(|earlier| found.get_mut(earlier)) {
        if let Constraint::Choice { place: place @ Place::Somewhere, .. } = &mut one.constraint {
            *place = Place::Whole;
        }
        return;
    }
    if memory.options.len() >= 2 {
        let constraint = Constraint::Choice { options: memory.options.clone(), place: Place::Whole };
        found.push(Extracted { constraint, passage: goes(passage) });
    }
}
