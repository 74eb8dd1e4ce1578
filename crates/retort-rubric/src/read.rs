//! From a file's text to checked rubrics, or to everything that is wrong with it.

use std::collections::{BTreeMap, HashMap};

use crate::check::{Field, MAX_OPTIONS, Problem, Severity};
use crate::diagnostic::{Diagnostic, ReadError, line_and_column};
use crate::tree::{self, Entry, Kind, Node};
use crate::wording::{looks_like_path, nearest, plain, slug};
use crate::{Ability, Rubric, RubricOption};

const RUBRIC_FIELDS: [&str; 14] = [
    "id",
    "name",
    "extends",
    "ability",
    "criterion",
    "criterion_also",
    "question",
    "weight",
    "not_applicable",
    "scale",
    "levels",
    "examples",
    "option",
    "options",
];
const OPTION_FIELDS: [&str; 4] = ["label", "value", "description", "examples"];
const SCALE_FIELDS: [&str; 3] = ["min", "max", "step"];
const SCALE_HINT: &str = "add scale = { min = 1, max = 5 }, or options with a label and a value each";

/// Deepest nesting that is read. Rubrics need five levels.
const MAX_DEPTH: usize = 16;

/// Most findings that are listed: nobody reads more, and each costs a pass over the file for its place.
const MAX_FINDINGS: usize = 100;

/// Most rubrics that one may build upon, each upon the next. With [`MAX_INHERITED`] it bounds what a small file can
/// grow into.
const MAX_ANCESTORS: usize = 8;

/// Most bytes of text that the rubrics of one file may inherit in all.
const MAX_INHERITED: usize = 1 << 24;

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

impl Format {
    /// JSON where the text begins as JSON does and TOML does not; TOML otherwise.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut significant = text.chars().filter(|c| !c.is_whitespace());
        match (significant.next(), significant.next()) {
            // TOML begins with a bracket too, but then with one more, or a name that needs no quotes.
            (Some('{'), _) | (Some('['), Some('{' | ']' | '"')) => Self::Json,
            _ => Self::Toml,
        }
    }
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
/// weight = 2                          # may be left out: 1; negative for points against
/// not_applicable = "Nothing was asked."   # may be left out: when the rubric does not apply
/// scale = { min = 0, max = 1, step = 0.5 }   # step may be left out: 1
/// [rubric.levels]                     # may be left out
/// 0 = "Loses all patience."
/// "0.5" = "Is short with the reader once."
/// 1 = "Explains again, without a sign of annoyance."
/// [rubric.examples]                   # may be left out
/// 0 = ["As I have told you twice now …"]
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
/// examples = ["Read it again."]       # may be left out
/// [[rubric.option]]
/// label = "pass"
/// value = 1
/// ```
///
/// A rubric may build upon another, which is built in or stands in the same file before or after it, by its id or
/// name:
///
/// ```toml
/// name = "Readability for children"
/// extends = "readability"
/// criterion_also = "The reader is a child of eight, so sentences are short and words are those of every day."
/// levels.5 = "A child of eight reads it alone and with pleasure."
/// ```
///
/// What is not given is the parent's; what is given takes its place, in `levels` and `examples` level by level, and
/// `criterion_also` follows the parent's criterion. A criterion that differs from the parent's leaves the parent's
/// question behind, which says the parent's criterion in short. The result is a rubric like any other, with an id of
/// its own, and knows nothing of its parent.
///
/// The serde JSON of [`Rubric`] is read too. A byte-order mark is skipped, white space around texts is
/// dropped.
///
/// # Errors
/// All mistakes in the file, of which the first hundred found are listed: where it is not valid TOML or JSON, those; otherwise every unknown, missing,
/// doubled or mistyped field, every parent that is not known or in the end the rubric itself, every id that is used
/// twice, and all that [`Rubric::check`] finds.
pub fn read(text: &str, name: &str, format: Format) -> Result<Reading, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        Reader { text, file: name, diagnostics: Vec::new(), failed: false, more: 0, inherited: 0 };
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
    /// Bytes of text taken over from parents so far.
    inherited: usize,
}

/// A rubric as it was read, and where it and its id stand.
struct Found {
    place: Place,
    id_place: Place,
    rubric: Rubric,
    /// How many rubrics it builds upon.
    ancestors: usize,
}

/// What a rubric builds upon.
enum Parent {
    None,
    BuiltIn(&'static Rubric),
    /// Another one of the file.
    Item(usize),
    /// It names a parent that it cannot have, which has been reported.
    Unusable,
}

/// The parent itself, as [`Parent`] but with the rubric in hand.
enum Base {
    None,
    Rubric(Box<Rubric>),
    Unusable,
}

impl Base {
    fn rubric(&self) -> Option<&Rubric> {
        match self {
            Self::Rubric(rubric) => Some(rubric),
            Self::None | Self::Unusable => None,
        }
    }
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
        let format = if format == Format::Auto { Format::of(text) } else { format };
        let tree = if format == Format::Json {
            tree::json(text, MAX_DEPTH).map_err(|error| vec![error])
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
        let mut found: Vec<(Place, &Node)> = Vec::new();
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
                        found.push((root, node));
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
                            Kind::Table(_) => found.push((place, &entry.value)),
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
        let found = self.rubrics(&found);
        self.doubled_ids(&found);
        found.into_iter().map(|found| found.rubric).collect()
    }

    fn list<'n>(&mut self, items: &'n [Node], place: &Place, found: &mut Vec<(Place, &'n Node)>) {
        if items.is_empty() {
            self.error(place, "the list of rubrics is empty", "give at least one rubric");
        }
        for (index, item) in items.iter().enumerate() {
            found.push((place.item(index, item.offset), item));
        }
    }

    /// Reads the rubrics, each after the one that it builds upon.
    fn rubrics(&mut self, items: &[(Place, &Node)]) -> Vec<Found> {
        let mut parents = self.parents(items);
        let mut found: Vec<Option<Found>> = items.iter().map(|_| None).collect();
        let mut state = vec![Progress::Waiting; items.len()];
        for start in 0..items.len() {
            // From the rubric up to one that has been read, or that builds upon none of the file.
            let mut chain: Vec<usize> = Vec::new();
            let mut at = start;
            loop {
                match state.get(at) {
                    Some(Progress::Waiting) => {}
                    Some(Progress::Chained) => {
                        self.circle(items, &chain, at);
                        if let Some(parent) = chain.last().and_then(|last| parents.get_mut(*last)) {
                            *parent = Parent::Unusable;
                        }
                        break;
                    }
                    Some(Progress::Done) | None => break,
                }
                if let Some(state) = state.get_mut(at) {
                    *state = Progress::Chained;
                }
                chain.push(at);
                match parents.get(at) {
                    Some(Parent::Item(parent)) => at = *parent,
                    _ => break,
                }
            }
            while let Some(index) = chain.pop() {
                let (Some((place, node)), Some(parent)) = (items.get(index), parents.get(index)) else {
                    continue;
                };
                let (base, ancestors) = self.base(parent, &found, node, place);
                let read = self.rubric(node, place, &base, ancestors);
                if let (Some(slot), Some(state)) = (found.get_mut(index), state.get_mut(index)) {
                    *slot = read;
                    *state = Progress::Done;
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    /// What each rubric of the file builds upon.
    fn parents(&mut self, items: &[(Place, &Node)]) -> Vec<Parent> {
        let mut names: HashMap<String, usize> = HashMap::new();
        if items.iter().all(|(_, node)| extends(node).is_none()) {
            return items.iter().map(|_| Parent::None).collect();
        }
        let heads: Vec<Head> = items.iter().map(|(_, node)| Head::of(node)).collect();
        // An id is what a rubric is called; its name will do where no other's id is that.
        for key in [|head: &Head| plain(&head.id), |head: &Head| plain(&head.name)] {
            for (index, head) in heads.iter().enumerate() {
                let key = key(head);
                if !key.is_empty() {
                    names.entry(key).or_insert(index);
                }
            }
        }
        items
            .iter()
            .enumerate()
            .map(|(index, (place, node))| {
                let Some((parent, offset)) = extends(node) else { return Parent::None };
                let in_file = names.get(&plain(parent)).copied();
                if let Some(other) = in_file.filter(|other| *other != index) {
                    return Parent::Item(other);
                }
                if let Some(rubric) = crate::select::named(parent) {
                    return Parent::BuiltIn(rubric);
                }
                let place = place.field("extends", offset);
                if in_file.is_some() {
                    self.error(&place, "the rubric builds upon itself", "name another rubric");
                } else {
                    // Beyond the findings that are listed nobody reads a hint, and each is a pass over all ids.
                    let listed = self.diagnostics.len() < MAX_FINDINGS;
                    let own = heads.iter().enumerate().filter(|(other, _)| listed && *other != index);
                    let mut known: Vec<&str> = own.map(|(_, head)| head.id.as_str()).collect();
                    known.extend(crate::select::ids().map(|id| -> &str { id }));
                    let hint = match nearest(parent, known.iter().copied()) {
                        Some(near) => format!("did you mean {near:?}?"),
                        None => {
                            "name a built-in rubric, such as \"readability\", or another one of this file"
                                .to_owned()
                        }
                    };
                    self.error(&place, format!("there is no rubric {parent:?} to build upon"), hint);
                }
                Parent::Unusable
            })
            .collect()
    }

    /// Reports that the last rubric of the chain builds upon one that stands in it already.
    fn circle(&mut self, items: &[(Place, &Node)], chain: &[usize], again: usize) {
        let from = chain.iter().position(|index| *index == again).unwrap_or(0);
        let ids: Vec<String> = chain
            .iter()
            .skip(from)
            .chain([&again])
            .filter_map(|index| items.get(*index))
            .map(|(_, node)| format!("{:?}", Head::of(node).id))
            .collect();
        // A circle may be as long as the file.
        let shown = if ids.len() > 10 {
            format!("{} and so on", ids.get(..10).unwrap_or_default().join(", which builds upon "))
        } else {
            ids.join(", which builds upon ")
        };
        let Some((place, node)) = chain.last().and_then(|last| items.get(*last)) else { return };
        let Some((_, offset)) = extends(node) else { return };
        self.error(
            &place.field("extends", offset),
            format!("the rubrics build upon each other in a circle: {shown}"),
            "let one of them build upon nothing, or upon a built-in rubric",
        );
    }

    /// The parent, and how many ancestors the child has.
    fn base(
        &mut self,
        parent: &Parent,
        found: &[Option<Found>],
        node: &Node,
        place: &Place,
    ) -> (Base, usize) {
        let (rubric, ancestors) = match parent {
            Parent::None => return (Base::None, 0),
            Parent::Unusable => return (Base::Unusable, 0),
            Parent::BuiltIn(rubric) => (*rubric, 1),
            Parent::Item(index) => match found.get(*index) {
                Some(Some(found)) => (&found.rubric, found.ancestors + 1),
                // It is no table, which has been reported.
                _ => return (Base::Unusable, 0),
            },
        };
        let place = place.field("extends", extends(node).map_or(node.offset, |(_, offset)| offset));
        if ancestors > MAX_ANCESTORS {
            self.error(
                &place,
                format!("it builds upon {ancestors} rubrics, each upon the next"),
                format!("build upon one further up: at most {MAX_ANCESTORS} are allowed"),
            );
            return (Base::Unusable, 0);
        }
        self.inherited += size(rubric);
        if self.inherited > MAX_INHERITED {
            self.error(
                &place,
                format!("the rubrics of this file take over more than {} MiB of text", MAX_INHERITED >> 20),
                "shorten the rubrics that others build upon",
            );
            return (Base::Unusable, 0);
        }
        (Base::Rubric(Box::new(rubric.clone())), ancestors)
    }

    fn doubled_ids(&mut self, found: &[Found]) {
        let mut first: HashMap<&str, &Place> = HashMap::new();
        for Found { place, id_place, rubric, .. } in found {
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

    /// Reads one rubric and checks it; `None`, reported, if it is no table. A faulty one is returned too, so that ids
    /// are compared over all of them.
    fn rubric(&mut self, node: &Node, place: &Place, base: &Base, ancestors: usize) -> Option<Found> {
        let fields = self.fields(node, place, "a rubric", &RUBRIC_FIELDS)?;
        let mut draft = Draft {
            place: fields.place.clone(),
            places: BTreeMap::new(),
            faulty: Vec::new(),
            no_scale: false,
        };
        if let Some((place, node)) = fields.given.get("extends")
            && !matches!(node.kind, Kind::Text(_) | Kind::Null)
        {
            self.error(
                place,
                format!("expected the id of a rubric, found {}", node.kind.describe()),
                "name one, such as extends = \"readability\"",
            );
        }
        let parent = base.rubric();
        let name = self.inheritable(&fields, "name", Field::Name, base, |rubric| &rubric.name, &mut draft);
        let (criterion, changed) = self.criterion(&fields, base, &mut draft);
        let question = self
            .text_field(&fields, "question", Field::Question, &mut draft)
            .or_else(|| parent.filter(|_| !changed).and_then(|rubric| rubric.question.clone()));
        let id = match self.text_field(&fields, "id", Field::Id, &mut draft) {
            Some(id) => id,
            None if parent.is_some() && !draft.places.contains_key(&Field::Name) => {
                draft.faulty(Field::Id);
                self.error(
                    &fields.place,
                    "the rubric has no name of its own",
                    "add a name, of which its id is made, or an id",
                );
                String::new()
            }
            None => self.derived_id(&name, &mut draft),
        };
        let ability = self.text_field(&fields, "ability", Field::Ability, &mut draft);
        let ability = match ability {
            Some(text) => {
                let ability = Ability::from_id(&text);
                if ability.is_none() {
                    let place = draft.places.get(&Field::Ability).unwrap_or(&draft.place);
                    let hint = suggestion(&text, &Ability::ALL.map(Ability::id));
                    self.error(place, format!("unknown ability {text:?}"), hint);
                }
                ability
            }
            None => parent.and_then(|rubric| rubric.ability),
        };
        let weight = match fields.given.get("weight").filter(|(_, node)| !matches!(node.kind, Kind::Null)) {
            Some((place, node)) => {
                draft.places.insert(Field::Weight, place.clone());
                self.number(place, node).unwrap_or_else(|| {
                    draft.faulty(Field::Weight);
                    1.0
                })
            }
            None => parent.map_or(1.0, |rubric| rubric.weight),
        };
        let not_applicable = self
            .text_field(&fields, "not_applicable", Field::NotApplicable, &mut draft)
            .or_else(|| parent.and_then(|rubric| rubric.not_applicable.clone()));
        let options = self.options(&fields, base, &mut draft);
        let rubric = Rubric { id, name, ability, criterion, question, weight, not_applicable, options };
        let inherited = parent.map(Rubric::check).unwrap_or_default();
        for problem in rubric.check() {
            // What is wrong with the parent has been said of the parent.
            if draft.repeats(&problem) || inherited.contains(&problem) {
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
        Some(Found { place: draft.place, id_place, rubric, ancestors })
    }

    /// A text field that must be there, or be the parent's; empty, reported, if it is not.
    fn inheritable(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        field: Field,
        base: &Base,
        of: fn(&Rubric) -> &String,
        draft: &mut Draft,
    ) -> String {
        match base {
            Base::None => self.required(fields, name, field, draft),
            Base::Rubric(parent) => {
                let own = self.text_field(fields, name, field, draft);
                own.unwrap_or_else(|| of(parent).clone())
            }
            Base::Unusable => {
                let own = self.text_field(fields, name, field, draft);
                if own.is_none() {
                    draft.faulty(field);
                }
                own.unwrap_or_default()
            }
        }
    }

    /// The criterion, and whether it is another than the parent's.
    fn criterion(&mut self, fields: &Fields<'_>, base: &Base, draft: &mut Draft) -> (String, bool) {
        let given = |name: &str| fields.given.get(name).filter(|(_, node)| !matches!(node.kind, Kind::Null));
        let Some((also_place, _)) = given("criterion_also") else {
            let criterion = self.inheritable(
                fields,
                "criterion",
                Field::Criterion,
                base,
                |rubric| &rubric.criterion,
                draft,
            );
            let changed = base.rubric().is_some_and(|parent| parent.criterion != criterion);
            return (criterion, changed);
        };
        if given("criterion").is_some() {
            self.error(
                also_place,
                "“criterion” and “criterion_also” are given both",
                "keep “criterion” to replace the parent's, or “criterion_also” to add to it",
            );
            draft.faulty(Field::Criterion);
        } else if matches!(base, Base::None) {
            self.error(
                also_place,
                "there is no criterion to add to, for the rubric extends no other",
                "write it as “criterion”, or add extends = \"…\"",
            );
            draft.faulty(Field::Criterion);
        }
        let also = self.text_field(fields, "criterion_also", Field::Criterion, draft);
        let Some(parent) = base.rubric() else {
            draft.faulty(Field::Criterion);
            return (also.unwrap_or_default(), true);
        };
        match also {
            // Alone, so that what is wrong with the part is said of it.
            Some(also) if also.is_empty() => (also, true),
            Some(also) => {
                let ended = parent.criterion.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '…']);
                (format!("{}{} {also}", parent.criterion, if ended { "" } else { "." }), true)
            }
            None => (parent.criterion.clone(), false),
        }
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

    fn options(&mut self, fields: &Fields<'_>, base: &Base, draft: &mut Draft) -> Vec<RubricOption> {
        let given = |name: &str| fields.given.get(name).filter(|(_, node)| !matches!(node.kind, Kind::Null));
        let (option, options) = (given("option"), given("options"));
        let (scale, levels, examples) = (given("scale"), given("levels"), given("examples"));
        let list = match (option, options) {
            (Some(_), Some((place, _))) => {
                self.error(place, "options are given under “option” and “options” both", "keep one of them");
                draft.no_scale = true;
                return Vec::new();
            }
            (one, other) => one.or(other),
        };
        if let Some((place, node)) = list {
            for (place, _) in [scale, levels, examples].into_iter().flatten() {
                self.error(
                    place,
                    "the rubric has options, which are its scale and levels already",
                    "keep the options, or scale, levels and examples",
                );
            }
            return self.option_list(place, node, draft);
        }
        let made = match scale {
            Some((place, node)) => self.scale(place, node, draft),
            None if !matches!(base, Base::None) => base.rubric().map(|parent| parent.options.clone()),
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
        if let Some((place, node)) = examples {
            self.examples(place, node, &mut options, draft);
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
            let mut option = RubricOption::new("", f64::NAN);
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
        if let Some((place, node)) = fields.given.get("examples") {
            option.examples = self.texts(place, node, index, draft);
        }
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

    /// The examples of the option with this index: a list of texts, or one text.
    fn texts(&mut self, place: &Place, node: &Node, index: usize, draft: &mut Draft) -> Vec<String> {
        let items = match &node.kind {
            Kind::Null => return Vec::new(),
            Kind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let at = if matches!(node.kind, Kind::List(_)) {
                place.item(number, item.offset)
            } else {
                place.clone()
            };
            if let Kind::Text(text) = &item.kind {
                draft.places.insert(Field::Example(index, texts.len()), at);
                texts.push(text.trim().to_owned());
            } else {
                self.error(
                    &at,
                    format!("expected a text, found {}", item.kind.describe()),
                    "put the example in quotes",
                );
            }
        }
        texts
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
            let Some(index) = self.level(entry, &at_key, options) else { continue };
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

    /// Which option a level's key means, by label or value; `None`, reported, if none.
    fn level(&mut self, entry: &Entry, at_key: &Place, options: &[RubricOption]) -> Option<usize> {
        let number = plain_number(&entry.key);
        let index = options
            .iter()
            .position(|option| option.label == entry.key)
            .or_else(|| options.iter().position(|option| Some(option.value) == number));
        if index.is_none() {
            let (message, hint) = stray_level(&entry.key, number, options);
            self.error(at_key, message, hint);
        }
        index
    }

    /// The examples of levels, each a list of texts or one text, which take the place of a parent's.
    fn examples(&mut self, place: &Place, node: &Node, options: &mut [RubricOption], draft: &mut Draft) {
        let Kind::Table(entries) = &node.kind else {
            self.error(
                place,
                format!("expected a table of examples by level, found {}", node.kind.describe()),
                "write one line for each level: 1 = [\"…\"]",
            );
            return;
        };
        let mut given = vec![false; options.len()];
        for entry in entries {
            let at_key = place.field(&entry.key, entry.key_offset);
            let Some(index) = self.level(entry, &at_key, options) else { continue };
            if given.get_mut(index).is_some_and(|given| std::mem::replace(given, true)) {
                self.error(
                    &at_key,
                    format!(
                        "examples of level {} are given twice",
                        options.get(index).map_or("", |o| &o.label)
                    ),
                    "put them into one list",
                );
                continue;
            }
            let at_value = Place { offset: entry.value.offset, ..at_key };
            let texts = self.texts(&at_value, &entry.value, index, draft);
            if let Some(option) = options.get_mut(index) {
                option.examples = texts;
            }
        }
    }
}

/// Where a rubric stands on its way to being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// In the chain that is being followed.
    Chained,
    Done,
}

/// What other rubrics may call a rubric.
struct Head {
    id: String,
    name: String,
}

impl Head {
    fn of(node: &Node) -> Self {
        let text = |key| match entry(node, key).map(|node| &node.kind) {
            Some(Kind::Text(text)) => text.trim().to_owned(),
            _ => String::new(),
        };
        let (id, name) = (text("id"), text("name"));
        Self { id: if id.is_empty() { slug(&name) } else { id }, name }
    }
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Table(entries) = &node.kind else { return None };
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

/// What a rubric says that it builds upon, and where it says so.
fn extends(node: &Node) -> Option<(&str, usize)> {
    match entry(node, "extends") {
        Some(Node { offset, kind: Kind::Text(text) }) => Some((text.trim(), *offset)),
        _ => None,
    }
}

/// Bytes of text in a rubric.
fn size(rubric: &Rubric) -> usize {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let options = rubric.options.iter().map(|option| {
        let examples: usize = option.examples.iter().map(String::len).sum();
        option.label.len() + optional(&option.description) + examples
    });
    let own = [&rubric.question, &rubric.not_applicable].map(optional).iter().sum::<usize>();
    rubric.name.len() + rubric.criterion.len() + own + options.sum::<usize>()
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
            Ok(RubricOption::new(value.to_string(), value))
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
