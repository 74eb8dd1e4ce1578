//! From a file's text to checked rubrics, or to everything that is wrong with it.

use std::collections::{BTreeMap, HashMap};

use crate::check::{Field, MAX_OPTIONS, Problem, Severity};
use crate::diagnostic::{Diagnostic, ReadError, line_and_column};
use crate::tree::{self, Entry, Kind, Node};
use crate::wording::{looks_like_path, nearest, slug};
use crate::{Ability, Rubric, RubricOption};

const RUBRIC_FIELDS: [&str; 9] =
    ["id", "name", "ability", "criterion", "question", "scale", "levels", "option", "options"];
const OPTION_FIELDS: [&str; 3] = ["label", "value", "description"];
const SCALE_FIELDS: [&str; 3] = ["min", "max", "step"];
const SCALE_HINT: &str = "add scale = { min = 1, max = 5 }, or options with a label and a value each";

/// Most findings that are listed: nobody reads more, and each costs a pass over the file for its place.
const MAX_FINDINGS: usize = 100;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// Told from the content.
    #[default]
    Auto,
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The rubrics in the file's order; at least one, each of which passes [`Rubric::check`], no id twice.
    pub rubrics: Vec<Rubric>,
    /// What is doubtful about them, in the file's order.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the rubrics in a file's text. `name` is the file's name and serves messages only.
///
/// In TOML a file is one rubric, or several under `[[rubric]]`; in JSON one rubric, a list of rubrics, or
/// `{"rubrics": […]}`. A rubric is written as follows, here in TOML; JSON takes the same fields:
///
/// ```toml
/// [[rubric]]
/// name = "Patience"
/// criterion = "The response stays patient."
/// id = "patience"                     # may be left out: then made from the name
/// question = "Is it patient?"         # may be left out
/// ability = "user_alignment"          # may be left out
/// scale = { min = 0, max = 1, step = 0.5 }   # step may be left out: 1
/// [rubric.levels]                     # may be left out
/// 0 = "Loses all patience."
/// "0.5" = "Is short with the reader once."
/// 1 = "Explains again, without a sign of annoyance."
/// ```
///
/// or, instead of `scale` and `levels`, with options of any labels, lowest value first; a label that is a number
/// needs no value:
///
/// ```toml
/// [[rubric.option]]
/// label = "fail"
/// value = 0
/// description = "Annoyed."            # may be left out
/// [[rubric.option]]
/// label = "pass"
/// value = 1
/// ```
///
/// The serde JSON of [`Rubric`] is read too. A byte-order mark is skipped, white space around texts is
/// dropped.
///
/// # Errors
/// All mistakes in the file, of which the first hundred found are listed: where it is not valid TOML or JSON, those; otherwise every unknown, missing,
/// doubled or mistyped field, every id that is used twice, and all that [`Rubric::check`] finds.
pub fn read(text: &str, name: &str, format: Format) -> Result<Reading, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, file: name, diagnostics: Vec::new(), failed: false, more: 0 };
    let rubrics = reader.file(format);
    let (failed, more) = (reader.failed, reader.more);
    let mut diagnostics = reader.diagnostics;
    // Stable: findings at one place stay in the order in which they were made.
    diagnostics.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
    if let (Some(last), 1..) = (diagnostics.last().cloned(), more) {
        let severity = if failed { Severity::Error } else { Severity::Warning };
        let message = format!("{more} more findings are not listed");
        let hint = Some("put these right first".to_owned());
        diagnostics.push(Diagnostic { severity, path: String::new(), message, hint, ..last });
    }
    if failed { Err(ReadError { diagnostics }) } else { Ok(Reading { rubrics, warnings: diagnostics }) }
}

/// JSON where the text begins as JSON does and TOML does not; TOML otherwise.
fn recognise(text: &str) -> Format {
    let mut significant = text.chars().filter(|c| !c.is_whitespace());
    match (significant.next(), significant.next()) {
        // TOML begins with a bracket too, but then with one more, or a name that needs no quotes.
        (Some('{'), _) | (Some('['), Some('{' | ']' | '"')) => Format::Json,
        _ => Format::Toml,
    }
}

/// A place in the file: where it is and what it is called.
#[derive(Debug, Clone)]
struct Place {
    offset: usize,
    path: String,
}

impl Place {
    fn field(&self, name: &str, offset: usize) -> Self {
        let bare = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        let name = if bare { name.to_owned() } else { format!("{name:?}") };
        let path = if self.path.is_empty() { name } else { format!("{}.{name}", self.path) };
        Self { offset, path }
    }

    fn item(&self, index: usize, offset: usize) -> Self {
        Self { offset, path: format!("{}[{index}]", self.path) }
    }
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    diagnostics: Vec<Diagnostic>,
    /// There was an error, listed or not.
    failed: bool,
    /// Findings beyond [`MAX_FINDINGS`].
    more: usize,
}

/// The known fields of one table that were given, by name: where each stands, and its value.
struct Fields<'n> {
    /// The table itself.
    place: Place,
    given: HashMap<&'static str, (Place, &'n Node)>,
}

/// A rubric in the making: where its parts stand, and which of them have been found wrong already.
struct Draft {
    place: Place,
    places: BTreeMap<Field, Place>,
    faulty: Vec<Field>,
    /// The scale could not be made out, so that nothing can be said of its options.
    no_scale: bool,
}

impl Draft {
    fn faulty(&mut self, field: Field) {
        self.faulty.push(field);
    }

    /// Whether a finding would only repeat what has been said.
    fn repeats(&self, problem: &Problem) -> bool {
        self.faulty.contains(&problem.field)
            || (self.no_scale
                && matches!(
                    problem.field,
                    Field::Options | Field::Label(_) | Field::Value(_) | Field::Description(_)
                ))
    }
}

impl Reader<'_> {
    fn report(&mut self, severity: Severity, place: &Place, message: String, hint: Option<String>) {
        self.failed |= severity == Severity::Error;
        if self.diagnostics.len() == MAX_FINDINGS {
            self.more += 1;
            return;
        }
        let (line, column) = line_and_column(self.text, place.offset);
        self.diagnostics.push(Diagnostic {
            severity,
            file: self.file.to_owned(),
            line,
            column,
            path: place.path.clone(),
            message,
            hint,
        });
    }

    fn error(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<String>) {
        self.report(Severity::Error, place, message.into(), Some(hint.into()));
    }

    fn file(&mut self, format: Format) -> Vec<Rubric> {
        let root = Place { offset: 0, path: String::new() };
        let text = self.text;
        if text.trim().is_empty() {
            self.error(&root, "the text is empty", "give a rubric as TOML or JSON");
            return Vec::new();
        }
        if looks_like_path(text.trim().trim_matches(['"', '\''])) {
            self.error(
                &root,
                format!("the text {:?} is a file's path, not a rubric", shortened(text)),
                "give what the file holds",
            );
            return Vec::new();
        }
        let format = if format == Format::Auto { recognise(text) } else { format };
        let tree = if format == Format::Json {
            tree::json(text).map_err(|error| vec![error])
        } else {
            tree::toml(text)
        };
        let node = match tree {
            Ok(node) => node,
            Err(_) if format == Format::Toml && !text.contains(['=', '[', '{']) => {
                self.error(
                    &root,
                    format!("the text {:?} is neither TOML nor JSON", shortened(text)),
                    "write a rubric as: name = \"…\", criterion = \"…\", scale = { min = 1, max = 5 }, a line each",
                );
                return Vec::new();
            }
            Err(errors) => {
                for error in errors {
                    let place = Place { offset: error.offset, path: String::new() };
                    self.report(Severity::Error, &place, error.message, None);
                }
                return Vec::new();
            }
        };
        self.root(&node, &root)
    }

    fn root(&mut self, node: &Node, root: &Place) -> Vec<Rubric> {
        let root = Place { offset: node.offset, path: root.path.clone() };
        let mut found: Vec<(Place, Place, Rubric)> = Vec::new();
        match &node.kind {
            Kind::List(items) => self.list(items, &root, &mut found),
            Kind::Table(entries) => {
                let holds = |entry: &&Entry| matches!(entry.key.as_str(), "rubric" | "rubrics");
                let mut holders = entries.iter().filter(holds).peekable();
                if holders.peek().is_none() {
                    if entries.is_empty() {
                        self.error(
                            &root,
                            "there is no rubric in it",
                            "give a rubric a name, a criterion and a scale",
                        );
                    } else {
                        self.rubric(node, &root, &mut found);
                    }
                } else {
                    for entry in entries.iter().filter(|entry| !holds(entry)) {
                        let place = root.field(&entry.key, entry.key_offset);
                        let message = format!("unknown field {:?} beside the list of rubrics", entry.key);
                        let hint = if RUBRIC_FIELDS.contains(&entry.key.as_str()) {
                            "move it into a rubric".to_owned()
                        } else {
                            suggestion(&entry.key, &["rubrics"])
                        };
                        self.error(&place, message, hint);
                    }
                    for entry in holders {
                        let place = root.field(&entry.key, entry.value.offset);
                        match &entry.value.kind {
                            Kind::List(items) => self.list(items, &place, &mut found),
                            Kind::Table(_) => self.rubric(&entry.value, &place, &mut found),
                            other => self.error(
                                &place,
                                format!("expected a list of rubrics, found {}", other.describe()),
                                not_the_file(other),
                            ),
                        }
                    }
                }
            }
            other => self.error(
                &root,
                format!("expected a rubric or a list of rubrics, found {}", other.describe()),
                not_the_file(other),
            ),
        }
        self.doubled_ids(&found);
        found.into_iter().map(|(_, _, rubric)| rubric).collect()
    }

    fn list(&mut self, items: &[Node], place: &Place, found: &mut Vec<(Place, Place, Rubric)>) {
        if items.is_empty() {
            self.error(place, "the list of rubrics is empty", "give at least one rubric");
        }
        for (index, item) in items.iter().enumerate() {
            self.rubric(item, &place.item(index, item.offset), found);
        }
    }

    fn doubled_ids(&mut self, found: &[(Place, Place, Rubric)]) {
        let mut first: HashMap<&str, &Place> = HashMap::new();
        for (place, id_place, rubric) in found {
            if rubric.id.is_empty() {
                continue;
            }
            if let Some(earlier) = first.get(rubric.id.as_str()) {
                let (line, _) = line_and_column(self.text, earlier.offset);
                self.error(
                    id_place,
                    format!("the id {:?} is that of {} in line {line} too", rubric.id, earlier.path),
                    "give one of them another id",
                );
            } else {
                first.insert(&rubric.id, place);
            }
        }
    }

    /// Reads one rubric and checks it. It is added even if faulty, so that ids are compared over all of them.
    fn rubric(&mut self, node: &Node, place: &Place, found: &mut Vec<(Place, Place, Rubric)>) {
        let Some(fields) = self.fields(node, place, "a rubric", &RUBRIC_FIELDS) else { return };
        let mut draft = Draft {
            place: fields.place.clone(),
            places: BTreeMap::new(),
            faulty: Vec::new(),
            no_scale: false,
        };
        let name = self.required(&fields, "name", Field::Name, &mut draft);
        let criterion = self.required(&fields, "criterion", Field::Criterion, &mut draft);
        let question = self.text_field(&fields, "question", Field::Question, &mut draft);
        let id = match self.text_field(&fields, "id", Field::Id, &mut draft) {
            Some(id) => id,
            None => self.derived_id(&name, &mut draft),
        };
        let ability = self.text_field(&fields, "ability", Field::Ability, &mut draft).and_then(|text| {
            let ability = Ability::from_id(&text);
            if ability.is_none() {
                let place = draft.places.get(&Field::Ability).unwrap_or(&draft.place);
                let hint = suggestion(&text, &Ability::ALL.map(Ability::id));
                self.error(place, format!("unknown ability {text:?}"), hint);
            }
            ability
        });
        let options = self.options(&fields, &mut draft);
        let rubric = Rubric { id, name, ability, criterion, question, options };
        for problem in rubric.check() {
            if draft.repeats(&problem) {
                continue;
            }
            let place = match draft.places.get(&problem.field) {
                Some(place) => place.clone(),
                None => {
                    Place { offset: draft.place.offset, ..draft.place.field(&problem.field.to_string(), 0) }
                }
            };
            self.report(problem.severity, &place, problem.message, Some(problem.hint));
        }
        let id_place = draft.places.remove(&Field::Id).unwrap_or_else(|| draft.place.clone());
        found.push((draft.place, id_place, rubric));
    }

    fn derived_id(&mut self, name: &str, draft: &mut Draft) -> String {
        if let Some(place) = draft.places.get(&Field::Name).cloned() {
            draft.places.insert(Field::Id, place);
        }
        let id = slug(name);
        if id.is_empty() {
            if !draft.faulty.contains(&Field::Id) && !name.is_empty() {
                let place = draft.places.get(&Field::Id).unwrap_or(&draft.place).clone();
                self.error(
                    &place,
                    format!("no id can be made from the name {name:?}"),
                    "add an id of letters and digits",
                );
            }
            draft.faulty(Field::Id);
        }
        id
    }

    /// The fields of a table, unknown and doubled ones reported; `None`, reported, if it is no table.
    fn fields<'n>(
        &mut self,
        node: &'n Node,
        place: &Place,
        what: &str,
        known: &[&'static str],
    ) -> Option<Fields<'n>> {
        let Kind::Table(entries) = &node.kind else {
            self.error(
                place,
                format!("expected {what}, found {}", node.kind.describe()),
                not_the_file(&node.kind),
            );
            return None;
        };
        let mut given: HashMap<&'static str, (Place, &'n Node)> = HashMap::new();
        for entry in entries {
            let at_key = place.field(&entry.key, entry.key_offset);
            let Some(&name) = known.iter().find(|name| **name == entry.key) else {
                let hint = suggestion(&entry.key, known);
                self.error(&at_key, format!("unknown field {:?}", entry.key), hint);
                continue;
            };
            let at_value = Place { offset: entry.value.offset, ..at_key.clone() };
            if given.insert(name, (at_value, &entry.value)).is_some() {
                self.error(&at_key, format!("the field {name:?} is given twice"), "keep one of them");
            }
        }
        Some(Fields { place: place.clone(), given })
    }

    /// A text field; `None` if it is absent, null, or reported as no text.
    fn text_field(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        field: Field,
        draft: &mut Draft,
    ) -> Option<String> {
        let (place, node) = fields.given.get(name)?;
        draft.places.insert(field, place.clone());
        match &node.kind {
            Kind::Text(text) => Some(text.trim().to_owned()),
            Kind::Number(_, written) if matches!(field, Field::Label(_)) => Some(written.clone()),
            Kind::Null => None,
            other => {
                draft.faulty(field);
                self.error(place, format!("expected a text, found {}", other.describe()), "put it in quotes");
                None
            }
        }
    }

    /// A text field that must be there; empty, reported, if it is not.
    fn required(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        field: Field,
        draft: &mut Draft,
    ) -> String {
        let text = self.text_field(fields, name, field, draft);
        if text.is_none() && !draft.faulty.contains(&field) {
            draft.faulty(field);
            self.error(&fields.place, format!("the field {name:?} is missing"), "add it");
        }
        text.unwrap_or_default()
    }

    fn options(&mut self, fields: &Fields<'_>, draft: &mut Draft) -> Vec<RubricOption> {
        let given = |name: &str| fields.given.get(name).filter(|(_, node)| !matches!(node.kind, Kind::Null));
        let (option, options) = (given("option"), given("options"));
        let (scale, levels) = (given("scale"), given("levels"));
        let list = match (option, options) {
            (Some(_), Some((place, _))) => {
                self.error(place, "options are given under “option” and “options” both", "keep one of them");
                draft.no_scale = true;
                return Vec::new();
            }
            (one, other) => one.or(other),
        };
        if let Some((place, node)) = list {
            for (place, _) in [scale, levels].into_iter().flatten() {
                self.error(
                    place,
                    "the rubric has options, which are its scale and levels already",
                    "keep the options, or scale and levels",
                );
            }
            return self.option_list(place, node, draft);
        }
        let made = match scale {
            Some((place, node)) => self.scale(place, node, draft),
            None => {
                let hint =
                    levels.and_then(|(_, node)| spanning(node)).unwrap_or_else(|| SCALE_HINT.to_owned());
                self.error(&fields.place, "the rubric has no scale", hint);
                None
            }
        };
        let Some(mut options) = made else {
            draft.no_scale = true;
            return Vec::new();
        };
        if let Some((place, node)) = levels {
            self.levels(place, node, &mut options, draft);
        }
        options
    }

    fn option_list(&mut self, place: &Place, node: &Node, draft: &mut Draft) -> Vec<RubricOption> {
        draft.places.insert(Field::Options, place.clone());
        let Kind::List(items) = &node.kind else {
            draft.no_scale = true;
            self.error(
                place,
                format!("expected a list of options, found {}", node.kind.describe()),
                "write [[rubric.option]] in TOML, [{\"label\": …, \"value\": …}, …] in JSON",
            );
            return Vec::new();
        };
        let mut options = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = place.item(index, item.offset);
            // A faulty option keeps its place, so that the others are checked and counted as they stand.
            let mut option = RubricOption { label: String::new(), value: f64::NAN, description: None };
            match self.fields(item, &at, "an option with a label and a value", &OPTION_FIELDS) {
                Some(fields) => self.option(&fields, index, draft, &mut option),
                None => draft.faulty.extend([Field::Label(index), Field::Value(index)]),
            }
            options.push(option);
        }
        options
    }

    fn option(&mut self, fields: &Fields<'_>, index: usize, draft: &mut Draft, option: &mut RubricOption) {
        option.label = self.required(fields, "label", Field::Label(index), draft);
        option.description = self.text_field(fields, "description", Field::Description(index), draft);
        let field = Field::Value(index);
        let value = match fields.given.get("value") {
            Some((place, node)) => {
                draft.places.insert(field, place.clone());
                self.number(place, node)
            }
            None => {
                if let Some(place) = draft.places.get(&Field::Label(index)).cloned() {
                    draft.places.insert(field, place);
                }
                let value = plain_number(&option.label);
                if value.is_none() {
                    self.error(
                        &fields.place,
                        "the field \"value\" is missing",
                        "say what the answer is worth, such as value = 0",
                    );
                }
                value
            }
        };
        match value {
            Some(value) => option.value = value,
            None => draft.faulty(field),
        }
    }

    fn number(&mut self, place: &Place, node: &Node) -> Option<f64> {
        match &node.kind {
            Kind::Number(number, _) if number.is_finite() => Some(*number),
            Kind::Number(_, written) => {
                self.error(place, format!("{written} is not a finite number"), "give a finite number");
                None
            }
            other => {
                let hint = if matches!(other, Kind::Text(text) if plain_number(text).is_some()) {
                    "write it without quotes"
                } else {
                    "give a number"
                };
                self.error(place, format!("expected a number, found {}", other.describe()), hint);
                None
            }
        }
    }

    fn scale(&mut self, place: &Place, node: &Node, draft: &mut Draft) -> Option<Vec<RubricOption>> {
        draft.places.insert(Field::Options, place.clone());
        let what = "a scale such as { min = 1, max = 5 }";
        let fields = self.fields(node, place, what, &SCALE_FIELDS)?;
        let mut ends = [None, None];
        for (end, name) in ends.iter_mut().zip(["min", "max"]) {
            match fields.given.get(name) {
                Some((place, node)) => *end = self.number(place, node),
                None => {
                    self.error(place, format!("the field {name:?} is missing"), "give the scale both ends")
                }
            }
        }
        let step = match fields.given.get("step") {
            Some((place, node)) => self.number(place, node),
            None => Some(1.0),
        };
        let ([Some(min), Some(max)], Some(step)) = (ends, step) else { return None };
        match scale_options(min, max, step) {
            Ok(options) => Some(options),
            Err((message, hint)) => {
                self.error(place, message, hint);
                None
            }
        }
    }

    fn levels(&mut self, place: &Place, node: &Node, options: &mut [RubricOption], draft: &mut Draft) {
        let Kind::Table(entries) = &node.kind else {
            self.error(
                place,
                format!("expected a table of levels, found {}", node.kind.describe()),
                "write one line for each level: 1 = \"…\"",
            );
            return;
        };
        draft.places.insert(Field::Options, place.clone());
        let findings = self.diagnostics.len() + self.more;
        for entry in entries {
            let at_key = place.field(&entry.key, entry.key_offset);
            let number = plain_number(&entry.key);
            let index = options
                .iter()
                .position(|option| option.label == entry.key)
                .or_else(|| options.iter().position(|option| Some(option.value) == number));
            let Some(index) = index else {
                let (message, hint) = stray_level(&entry.key, number, options);
                self.error(&at_key, message, hint);
                continue;
            };
            let field = Field::Description(index);
            if draft.places.contains_key(&field) {
                self.error(
                    &at_key,
                    format!("level {} is described twice", options.get(index).map_or("", |o| &o.label)),
                    "keep one description",
                );
                continue;
            }
            draft.places.insert(field, Place { offset: entry.value.offset, ..at_key.clone() });
            match &entry.value.kind {
                Kind::Text(text) => {
                    if let Some(option) = options.get_mut(index) {
                        option.description = Some(text.trim().to_owned());
                    }
                }
                Kind::Null => {}
                other => {
                    draft.faulty(field);
                    // In TOML, 0.5 = "…" is the key 5 in a table 0.
                    let hint = match other {
                        Kind::Table(inner) if inner.len() == 1 && number.is_some() => format!(
                            "if the level is a number with a point, put it in quotes: \"{}.{}\"",
                            entry.key,
                            inner.first().map_or("", |entry| &entry.key)
                        ),
                        _ => "describe the level in quotes".to_owned(),
                    };
                    self.error(&at_key, format!("expected a text, found {}", other.describe()), hint);
                }
            }
        }
        if self.diagnostics.len() + self.more > findings {
            // Which levels are described is not known before these are put right.
            draft.faulty(Field::Options);
        }
    }
}

/// The options of a numeric scale, each labelled with its value; or what is wrong with it, and what to do.
pub(crate) fn scale_options(min: f64, max: f64, step: f64) -> Result<Vec<RubricOption>, (String, String)> {
    if step <= 0.0 {
        return Err((format!("the step is {step}"), "give a step of more than 0".to_owned()));
    }
    if min >= max {
        return Err((
            format!("the scale runs from {min} to {max}"),
            "make “max” larger than “min”".to_owned(),
        ));
    }
    let steps = (max - min) / step;
    if steps > MAX_OPTIONS as f64 - 0.5 {
        return Err((
            format!("the scale {min} to {max} in steps of {step} has more than {MAX_OPTIONS} options"),
            "take a larger step, such as one tenth of the range".to_owned(),
        ));
    }
    let whole = steps.round();
    if (steps - whole).abs() > 1e-6 {
        return Err((
            format!("steps of {step} do not lead from {min} to {max}"),
            "choose a step that divides the range".to_owned(),
        ));
    }
    // `whole` is at most MAX_OPTIONS by the test above.
    (0..=whole as u32)
        .map(|index| {
            // Through nine decimals, so that 0 + 3 · 0.1 is 0.3.
            let text = format!("{:.9}", min + f64::from(index) * step);
            let value: f64 =
                text.parse().map_err(|_| (format!("{text} is no number"), SCALE_HINT.to_owned()))?;
            let value = if value == 0.0 { 0.0 } else { value };
            Ok(RubricOption { label: value.to_string(), value, description: None })
        })
        .collect()
}

/// A number in its usual notation; no `inf`, no `nan`.
fn plain_number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The scale that levels without one seem to be meant for.
fn spanning(levels: &Node) -> Option<String> {
    let Kind::Table(entries) = &levels.kind else { return None };
    let numbers: Vec<f64> = entries.iter().map(|entry| plain_number(&entry.key)).collect::<Option<_>>()?;
    let min = numbers.iter().copied().reduce(f64::min)?;
    let max = numbers.iter().copied().reduce(f64::max)?;
    (min < max).then(|| format!("for these levels add scale = {{ min = {min}, max = {max} }}"))
}

fn stray_level(key: &str, number: Option<f64>, options: &[RubricOption]) -> (String, String) {
    let (Some(first), Some(last)) = (options.first(), options.last()) else {
        return (format!("level {key:?} has no scale"), SCALE_HINT.to_owned());
    };
    match number {
        Some(number) if number < first.value || number > last.value => (
            format!("level {key} lies outside the scale {} to {}", first.label, last.label),
            "remove it or widen the scale".to_owned(),
        ),
        _ => {
            let labels: Vec<&str> = options.iter().map(|option| option.label.as_str()).collect();
            (
                format!("there is no level {key:?} on the scale {} to {}", first.label, last.label),
                format!("its levels are {}", labels.join(", ")),
            )
        }
    }
}

fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("the known ones are {}", known.join(", ")),
    }
}

/// What to do where something else stands in a rubric's place.
fn not_the_file(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text(text) if looks_like_path(text) => "this is a file's path: put what the file holds here",
        _ => "give a table of fields such as name, criterion and scale",
    }
}

/// The beginning of a text on one line, for messages.
fn shortened(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(60).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}
