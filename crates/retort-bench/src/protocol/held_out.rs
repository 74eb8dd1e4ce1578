//! Parts of tasks that were kept back, as an exam: one table per family, in-domain figures beside those of the
//! benchmarks.
//!
//! What is measured is the task's [`Metric`]. Which examples are kept back is not decided here.

use std::collections::BTreeMap;

use retort_judge::{Field, Question};
use retort_rubric::Rubric;
use retort_stats::{Statistic, balanced_accuracy, spearman};

use super::pairs::{judged, right, truth};
use super::shared::{ProtocolError, characters, mean, none, row, uniform};
use crate::pair::{Pair, PairRubrics, Way, Ways, agnostic, fields, inquiry, overlap};
use crate::{Answers, Ask, Chance, Exam, Example, Measure, Metric, Row, Seen, Table, Target, Task};

/// Parts of tasks that were kept back.
#[derive(Debug, Clone)]
pub struct HeldOut {
    parts: Vec<Part>,
    agnostic: Rubric,
    ways: Ways,
}

#[derive(Debug, Clone)]
struct Part {
    task: Task,
    form: Form,
    examples: Vec<Example>,
    /// Each example's id within the exam.
    ids: Vec<String>,
}

#[derive(Debug, Clone)]
enum Form {
    Pairs(Box<PairRubrics>),
    Options(Rubric),
}

/// What a judge says of an item that has options.
#[derive(Debug, Clone, Copy)]
struct Said {
    /// The option.
    option: usize,
    /// Any number that rises with the value.
    value: f64,
}

impl HeldOut {
    /// An exam of these examples of each task. Of the ways, `alone` is the task's question where it has options; `skills`
    /// and `together` are for pairs only.
    ///
    /// # Errors
    /// A task is for generation, whose texts are not compared here.
    pub fn new(parts: Vec<(Task, Vec<Example>)>, ways: Ways) -> Result<Self, ProtocolError> {
        let parts = parts.into_iter().map(|(task, mut examples)| {
            let form = match (PairRubrics::new(&task), task.rubric()) {
                (Some(rubrics), _) => Form::Pairs(Box::new(rubrics)),
                (None, Some(rubric)) if !task.options.is_empty() => Form::Options(rubric),
                _ => {
                    let needed = "a pairwise or pointwise task or a classification";
                    return Err(ProtocolError::Unsuitable { name: task.name, needed });
                }
            };
            if matches!(form, Form::Pairs(_)) {
                examples.retain(|example| example.responses.is_some());
            }
            let ids = examples.iter().map(|example| format!("{}/{}", task.name, example.id)).collect();
            Ok(Part { task, form, examples, ids })
        });
        Ok(Self { parts: parts.collect::<Result<_, _>>()?, agnostic: agnostic(), ways })
    }
}

impl Exam for HeldOut {
    fn name(&self) -> &str {
        "held-out"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let mut asks = Vec::new();
        for part in &self.parts {
            match &part.form {
                Form::Pairs(rubrics) => {
                    asks.extend(part.pairs().iter().flat_map(|pair| pair.asks(rubrics, &self.ways)));
                }
                Form::Options(rubric) => {
                    let (mut keys, mut questions) = (Vec::new(), Vec::new());
                    if self.ways.alone {
                        keys.push("answer");
                        questions.push(Question::of_task(rubric));
                    }
                    if self.ways.agnostic {
                        keys.push("overall");
                        questions.push(Question::of_rubric(&self.agnostic));
                    }
                    if questions.is_empty() {
                        continue;
                    }
                    asks.extend(part.examples.iter().zip(&part.ids).map(|(example, id)| Ask {
                        id: id.clone(),
                        keys: keys.clone(),
                        inquiry: inquiry(&part.task, example, questions.clone(), self.ways.wording),
                    }));
                }
            }
        }
        asks
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let mut families: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
        for part in &self.parts {
            families.entry(&part.task.family).or_default().push(part);
        }
        families.into_iter().map(|(family, parts)| self.table(family, &parts, answers)).collect()
    }
}

impl HeldOut {
    fn table<'a>(&'a self, family: &str, parts: &[&'a Part], answers: &Answers) -> Table<Measure<'a>> {
        let mut rows = Vec::new();
        let mut notes = vec![
            "Examples of a training task whose prompts or documents are not trained on. majority: always what is most \
             frequent here. Of tasks with options, longer and shorter order the judged text by its characters and lay \
             equal parts of that order onto the options; overlap (the share of the text's different words that the other \
             texts have), random and overall quality lay equal parts of their range onto them."
                .to_owned(),
        ];
        for part in parts {
            let undecided = match &part.form {
                Form::Pairs(_) => part.pair_rows(&self.ways, answers, &mut rows),
                Form::Options(_) => part.option_rows(&self.ways, answers, &mut rows),
            };
            if undecided > 0 {
                notes.push(format!(
                    "{}: no answer leads alone among people in {undecided} of {} examples, which are left out.",
                    part.task.name,
                    part.examples.len()
                ));
            }
        }
        Table { title: format!("Held out: {family}"), rows, notes }
    }
}

impl Part {
    fn pairs(&self) -> Vec<Pair<'_>> {
        let pairs = self.examples.iter().zip(&self.ids);
        pairs.filter_map(|(example, id)| Some(Pair { id, ..Pair::of(&self.task, example)? })).collect()
    }

    /// Accuracy over pairs that people decided; gives the number of the others.
    fn pair_rows<'a>(&'a self, ways: &Ways, answers: &Answers, rows: &mut Vec<Row<Measure<'a>>>) -> usize {
        let decided: Vec<(usize, f64)> =
            (0..self.examples.len()).filter_map(|i| Some((i, truth(&self.examples[i].target)?))).collect();
        let mut add = |judge: &str, win: &dyn Fn(usize) -> Option<f64>| {
            let items: Vec<(&str, Option<f64>)> = decided
                .iter()
                .map(|&(index, truth)| {
                    (self.examples[index].group.as_str(), win(index).map(|win| right(win, truth)))
                })
                .collect();
            rows.push(row(&self.task.name, judge, "accuracy", Measure::mean(&items)));
        };
        for judge in judged(&self.pairs(), ways, answers) {
            add(&judge.name, &|index| judge.wins[index]);
        }
        let firsts = decided.iter().filter(|(_, truth)| *truth > 0.5).count();
        let most = if 2 * firsts > decided.len() { 1.0 } else { 0.0 };
        add("majority", &|_| Some(most));
        self.examples.len() - decided.len()
    }

    /// The task's metric; gives the number of examples without a right answer, where the metric needs one.
    fn option_rows<'a>(&'a self, ways: &Ways, answers: &Answers, rows: &mut Vec<Row<Measure<'a>>>) -> usize {
        let known: Vec<usize> = (0..self.examples.len())
            .filter(|&index| match self.task.metric {
                Metric::Spearman => self.value(index).is_some(),
                _ => self.examples[index].target.majority().is_some(),
            })
            .collect();
        let mut add = |judge: &str, said: &dyn Fn(usize) -> Option<Said>| {
            let said: Vec<Option<Said>> = known.iter().map(|&index| said(index)).collect();
            let (metric, figure) = self.figure(&known, &said);
            rows.push(row(&self.task.name, judge, metric, figure));
        };
        let options = self.task.options.len();
        // Equal parts of 0 to 1.
        let part_of = |share: f64| ((share * options as f64) as usize).min(options.saturating_sub(1));
        let of_share = |share: f64| Said { option: part_of(share), value: share };
        if ways.alone {
            add(Way::Alone.name(), &|index| self.answer(&self.ids[index], answers));
        }
        if ways.agnostic {
            add(Way::Agnostic.name(), &|index| {
                Some(of_share((answers.expected(&self.ids[index], "overall")? - 1.0) / 4.0))
            });
        }
        let mut frequency = vec![0usize; options];
        for &index in &known {
            if let Some(count) =
                self.examples[index].target.majority().and_then(|option| frequency.get_mut(option))
            {
                *count += 1;
            }
        }
        let most = frequency.iter().max().copied().unwrap_or(0);
        let option = frequency.iter().position(|count| *count == most).unwrap_or(0);
        add("majority", &|_| Some(Said { option, value: 0.0 }));
        add("random", &|index| Some(of_share(uniform(0, &self.ids[index]))));
        let lengths: Vec<f64> =
            self.examples.iter().map(|example| characters(&self.judged_text(example).0.text)).collect();
        let place = |index: usize| {
            let own = lengths[index];
            let below = known.iter().filter(|&&other| lengths[other] < own).count() as f64;
            let equal = known.iter().filter(|&&other| lengths[other] == own).count() as f64;
            (below + equal / 2.0) / known.len() as f64
        };
        add("longer", &|index| Some(of_share(place(index))));
        add("shorter", &|index| Some(of_share(1.0 - place(index))));
        add("overlap", &|index| {
            let (text, others) = self.judged_text(&self.examples[index]);
            Some(of_share(overlap(&text.text, &others)))
        });
        self.examples.len() - known.len()
    }

    fn answer(&self, id: &str, answers: &Answers) -> Option<Said> {
        let shares: Vec<f64> = self
            .task
            .options
            .iter()
            .map(|option| answers.probability(id, "answer", &option.label))
            .collect::<Option<_>>()?;
        let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let option = shares.iter().position(|share| *share == most)?;
        Some(Said { option, value: answers.expected(id, "answer")? })
    }

    /// The mean of what people said, as a value.
    fn value(&self, index: usize) -> Option<f64> {
        match &self.examples[index].target {
            Target::Options(shares) if shares.len() == self.task.options.len() => {
                Some(shares.iter().zip(&self.task.options).map(|(share, option)| share * option.value).sum())
            }
            _ => None,
        }
    }

    /// The response, or the last text where there is none, and the other texts.
    fn judged_text<'a>(&self, example: &'a Example) -> (Field<'a>, Vec<Field<'a>>) {
        let mut fields = fields(&self.task, example);
        let place = fields.iter().position(|field| field.role == retort_judge::TextRole::Response);
        let place = place.unwrap_or(fields.len().saturating_sub(1));
        let text = if place < fields.len() { fields.remove(place) } else { Field::response("") };
        (text, fields)
    }

    fn figure<'a>(&'a self, known: &[usize], said: &[Option<Said>]) -> (&'static str, Measure<'a>) {
        let group = |index: usize| self.examples[index].group.as_str();
        let metric = match self.task.metric {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced_accuracy",
            Metric::Spearman => "spearman",
            Metric::RougeL => {
                let items: Vec<(&str, Option<f64>)> =
                    known.iter().map(|&index| (group(index), None)).collect();
                let because = "ROUGE-L is for texts, and this task has options";
                return ("rouge_l", Measure::mean(&items).withheld(because));
            }
        };
        let right = |index: usize| match self.task.metric {
            Metric::Spearman => self.value(index).unwrap_or_default(),
            _ => self.examples[index].target.majority().unwrap_or_default() as f64,
        };
        let items = known
            .iter()
            .zip(said)
            .map(|(&index, said)| (group(index), Seen::from(said.map(|said| (right(index), said)))));
        let figure = Measure::of(items, |items: &[(f64, Said)]| {
            let truth: Vec<f64> = items.iter().map(|(truth, _)| *truth).collect();
            let of = |value: &dyn Fn(Said) -> f64| -> Vec<f64> {
                items.iter().map(|(_, said)| value(*said)).collect()
            };
            match self.task.metric {
                Metric::Spearman => spearman(&truth, &of(&|said| said.value)),
                Metric::BalancedAccuracy => balanced_accuracy(&truth, &of(&|said| said.option as f64)),
                _ if items.is_empty() => Ok(none()),
                _ => {
                    let said = of(&|said| said.option as f64);
                    Ok(share(&truth, &said))
                }
            }
        });
        // One of the options by lot; the rank correlation of a guess is 0, as its name says.
        let figure = match self.task.metric {
            Metric::Spearman => figure,
            _ => figure.with_chance(Chance::Value(1.0 / self.task.options.len().max(1) as f64)),
        };
        (metric, figure)
    }
}

/// The share of equal entries.
fn share(truth: &[f64], said: &[f64]) -> Statistic {
    mean(truth.iter().zip(said).map(|(truth, said)| if truth == said { 1.0 } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::super::shared::testing::{a, answers, close, figure, scored, value, yes};
    use super::*;
    use crate::tasks;

    fn item(id: &str, document: &str, claim: &str, shares: &[f64]) -> Example {
        Example {
            id: id.to_owned(),
            group: id.to_owned(),
            fields: [("document", document), ("claim", claim)]
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into(),
            target: Target::Options(shares.to_vec()),
            raters: 1,
            ..Example::default()
        }
    }

    fn binary(metric: Metric) -> Task {
        Task { metric, ..tasks().unwrap()["wice_claims"].clone() }
    }

    fn items() -> Vec<Example> {
        vec![
            item("1", "one two three", "one", &[0.0, 1.0]),
            item("2", "one two three", "four five", &[1.0, 0.0]),
            item("3", "one two three", "one two three four", &[1.0, 0.0]),
            item("4", "one two three", "six", &[0.5, 0.5]),
        ]
    }

    #[test]
    fn classes_by_hand() {
        let given = answers(&[
            ("wice_claims/1", "answer", yes(0.7)),
            ("wice_claims/2", "answer", yes(0.2)),
            ("wice_claims/3", "answer", yes(0.9)),
        ]);
        for (metric, name, alone) in [
            // Of yes 1/1, of no 1/2.
            (Metric::BalancedAccuracy, "balanced_accuracy", 0.75),
            (Metric::Accuracy, "accuracy", 2.0 / 3.0),
        ] {
            let exam = HeldOut::new(vec![(binary(metric), items())], Ways::default()).unwrap();
            let tables = exam.tables(&given);
            assert_eq!(tables[0].title, "Held out: aggrefact");
            close(value(&tables, "wice_claims", "alone", name), alone);
            let overlap = value(&tables, "wice_claims", "overlap", name);
            // Shares of words: 1, 0 and 3/4, and from 0.5 on yes: as the judge.
            close(overlap, alone);
            assert!(
                tables[0].notes.iter().any(|note| note.contains("1 of 4 examples")),
                "{:?}",
                tables[0].notes
            );
        }
        let exam = HeldOut::new(vec![(binary(Metric::BalancedAccuracy), items())], Ways::default()).unwrap();
        let tables = exam.tables(&given);
        // Two of three are no.
        close(value(&tables, "wice_claims", "majority", "balanced_accuracy"), 0.5);
        // Characters 3, 9 and 18: places 1/6, 1/2, 5/6, so no, yes, yes: of yes 0, of no 0.
        close(value(&tables, "wice_claims", "longer", "balanced_accuracy"), 0.0);
        // 5/6, 1/2, 1/6: yes, yes, no: of yes 1, of no 1/2.
        close(value(&tables, "wice_claims", "shorter", "balanced_accuracy"), 0.75);
        let agnostic = figure(&tables, "wice_claims", "agnostic", "balanced_accuracy");
        assert_eq!((agnostic.value, agnostic.left_out), (None, 3));
    }

    #[test]
    fn ranks_by_hand() {
        let exam = HeldOut::new(vec![(binary(Metric::Spearman), items())], Ways::default()).unwrap();
        let given = answers(&[
            ("wice_claims/1", "answer", yes(0.9)),
            ("wice_claims/2", "answer", yes(0.1)),
            ("wice_claims/3", "answer", yes(0.2)),
            ("wice_claims/4", "answer", yes(0.3)),
        ]);
        let tables = exam.tables(&given);
        // People 1, 0, 0, 0.5: ranks 4, 1.5, 1.5, 3; the judge 4, 1, 2, 3. Deviations from 2.5: (1.5, −1, −1, 0.5) and
        // (1.5, −1.5, −0.5, 0.5): 4.5/√(4.5·5) = 0.948683.
        let found = value(&tables, "wice_claims", "alone", "spearman");
        assert!((found - 0.948_683_298_050_514).abs() < 1e-12, "{found}");
        let majority = figure(&tables, "wice_claims", "majority", "spearman");
        assert!(majority.value.is_none() && majority.because.is_some(), "{majority:?}");
    }

    #[test]
    fn scales_by_their_most_probable_option() {
        let mut task = binary(Metric::Accuracy);
        task.options.push(crate::TaskOption { label: "more".into(), value: 2.0, description: None });
        let examples = vec![item("1", "d", "c", &[0.2, 0.2, 0.6]), item("2", "d", "c", &[0.0, 1.0, 0.0])];
        let exam = HeldOut::new(vec![(task, examples)], Ways::default()).unwrap();
        let three = |no, yes, more| scored(&[("no", 0.0, no), ("yes", 1.0, yes), ("more", 2.0, more)]);
        let given = answers(&[
            ("wice_claims/1", "answer", three(0.35, 0.2, 0.45)),
            // The expected value is 1, which nobody would say.
            ("wice_claims/2", "answer", three(0.45, 0.1, 0.45)),
        ]);
        close(value(&exam.tables(&given), "wice_claims", "alone", "accuracy"), 0.5);
    }

    #[test]
    fn pairs_are_asked_and_measured_as_pairs() {
        let pair = |id: &str, first: &str, second: &str, share: f64| Example {
            id: id.to_owned(),
            group: id.to_owned(),
            fields: [("prompt".to_owned(), "Why?".to_owned())].into(),
            responses: Some([first.to_owned(), second.to_owned()]),
            target: Target::Preference { first: share, second: 1.0 - share, tie: 0.0 },
            raters: 1,
            ..Example::default()
        };
        let examples = vec![
            pair("1", "long", "s", 1.0),
            pair("2", "long", "s", 1.0),
            pair("3", "s", "long", 0.0),
            pair("4", "s", "long", 0.5),
        ];
        let task = tasks().unwrap()["hhh"].clone();
        let ways = Ways { alone: false, agnostic: false, ..Ways::default() };
        let exam = HeldOut::new(vec![(task, examples), (binary(Metric::Accuracy), items())], ways).unwrap();
        // Eight questions about pairs; none about the claims, which are judged alone only.
        let ids: Vec<String> = exam.asks().into_iter().map(|ask| ask.id).collect();
        assert_eq!(ids.len(), 8);
        assert_eq!(&ids[..2], ["hhh/1/ab", "hhh/1/ba"]);
        let given = answers(&[
            ("hhh/1/ab", "better", a(0.8)),
            ("hhh/1/ba", "better", a(0.3)),
            ("hhh/2/ab", "better", a(0.6)),
            ("hhh/2/ba", "better", a(0.9)),
        ]);
        let tables = exam.tables(&given);
        assert_eq!(tables.len(), 2);
        // Right, wrong, no answer; the fourth pair is undecided.
        let found = figure(&tables, "hhh", "together", "accuracy");
        assert_eq!((found.value, found.n, found.left_out), (Some(0.5), 2, 1));
        close(value(&tables, "hhh", "longer", "accuracy"), 1.0);
        close(value(&tables, "hhh", "majority", "accuracy"), 2.0 / 3.0);
    }

    #[test]
    fn generation_is_refused() {
        let task = Task { kind: crate::Kind::Generation, options: Vec::new(), ..binary(Metric::RougeL) };
        let refused = HeldOut::new(vec![(task, Vec::new())], Ways::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "task \"wice_claims\" is no task for this exam, which needs a pairwise or pointwise task or a classification"
        );
    }
}
