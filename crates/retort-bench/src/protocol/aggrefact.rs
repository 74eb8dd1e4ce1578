//! LLM-AggreFact's protocol over those of its sets that are at hand: whether a document supports a claim.
//!
//! A claim is called supported where the probability of yes is above 0.5, the same threshold for every set. Balanced
//! accuracy per set, and the plain mean over the sets, which is not the benchmark's average: that is over eleven sets.
//! Source: Tang et al., "MiniCheck: Efficient fact-checking of LLMs on grounding documents" (2024), section 3.

use retort_judge::{Field, Question};
use retort_rubric::Rubric;
use retort_stats::{Statistic, auc, balanced_accuracy};

use super::shared::{ProtocolError, characters, gather, none, row, uniform, unread};
use crate::pair::{Way, Ways, agnostic, fields, inquiry, overlap};
use crate::{Answers, Ask, DataDir, Exam, Example, Kind, Measure, Problem, Row, Seen, Table, Task};

/// Above this a claim is called supported.
pub const THRESHOLD: f64 = 0.5;

/// The sets of LLM-AggreFact that can be read.
pub const SETS: [&str; 2] = ["wice_claims", "factcheck_gpt"];

/// LLM-AggreFact, in part.
#[derive(Debug, Clone)]
pub struct AggreFact {
    sets: Vec<Set>,
    agnostic: Rubric,
    ways: Ways,
    problems: Vec<Problem>,
}

#[derive(Debug, Clone)]
struct Set {
    task: Task,
    rubric: Rubric,
    examples: Vec<Example>,
}

/// What one judge says of the claims of a set.
struct Scores {
    judge: String,
    /// How sure it is that the claim is supported.
    scores: Vec<Option<f64>>,
    /// Whether the threshold has a meaning for these.
    decides: bool,
}

impl AggreFact {
    /// An exam of these sets. Of the ways, `alone` is the task's question and `agnostic` that of overall quality; the
    /// others do not apply.
    ///
    /// # Errors
    /// A task is no classification by `no` and `yes`.
    pub fn new(sets: Vec<(Task, Vec<Example>)>, ways: Ways) -> Result<Self, ProtocolError> {
        let sets = sets.into_iter().map(|(task, examples)| {
            let labels: Vec<&str> = task.options.iter().map(|option| option.label.as_str()).collect();
            match task.rubric() {
                Some(rubric) if task.kind == Kind::Classification && labels == ["no", "yes"] => {
                    Ok(Set { task, rubric, examples })
                }
                _ => Err(ProtocolError::Unsuitable {
                    name: task.name,
                    needed: "a classification with the options no and yes",
                }),
            }
        });
        let sets = sets.collect::<Result<_, _>>()?;
        Ok(Self { sets, agnostic: agnostic(), ways, problems: Vec::new() })
    }

    /// An exam of all of [`SETS`].
    ///
    /// # Errors
    /// The data of one of them cannot be read at all.
    pub fn read(data: &DataDir, ways: Ways) -> Result<Self, ProtocolError> {
        let (mut sets, mut problems) = (Vec::new(), Vec::new());
        for name in SETS {
            let gathered = gather(name, data)?;
            sets.push((gathered.task, gathered.examples));
            problems.extend(gathered.problems);
        }
        Ok(Self { problems, ..Self::new(sets, ways)? })
    }

    /// Rows that could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many claims of each set are supported and how many not; those on which people are divided are neither.
    #[must_use]
    pub fn classes(&self) -> Vec<(&str, usize, usize)> {
        let count =
            |set: &Set, class| set.examples.iter().filter(|one| one.target.majority() == Some(class)).count();
        self.sets.iter().map(|set| (set.task.name.as_str(), count(set, 1), count(set, 0))).collect()
    }
}

impl Set {
    fn id(&self, example: &Example) -> String {
        format!("{}/{}", self.task.name, example.id)
    }

    /// The text that is judged and those that it is judged by: the last field is the claim.
    fn claim<'a>(&self, example: &'a Example) -> Option<(Field<'a>, Vec<Field<'a>>)> {
        let mut fields = fields(&self.task, example);
        let claim = fields.pop()?;
        Some((claim, fields))
    }

    /// Claims that people decided.
    fn decided(&self) -> Vec<(&Example, bool)> {
        self.examples.iter().filter_map(|example| Some((example, example.target.majority()? == 1))).collect()
    }

    fn scores(&self, ways: &Ways, answers: &Answers) -> Vec<Scores> {
        let decided = self.decided();
        let of = |judge: &str, decides: bool, score: &dyn Fn(&Example) -> Option<f64>| Scores {
            judge: judge.to_owned(),
            scores: decided.iter().map(|(example, _)| score(example)).collect(),
            decides,
        };
        let length = |example: &Example| Some(characters(&self.claim(example)?.0.text));
        let mut all = Vec::new();
        if ways.alone {
            all.push(of(Way::Alone.name(), true, &|example| {
                answers.probability(&self.id(example), "supported", "yes")
            }));
        }
        if ways.agnostic {
            // 1 to 5 become 0 to 1.
            all.push(of(Way::Agnostic.name(), true, &|example| {
                Some((answers.expected(&self.id(example), "overall")? - 1.0) / 4.0)
            }));
        }
        all.push(of("random", true, &|example| Some(uniform(0, &self.id(example)))));
        let supported = decided.iter().filter(|(_, supported)| *supported).count();
        let most = if 2 * supported > decided.len() { 1.0 } else { 0.0 };
        all.push(of("majority", true, &|_| Some(most)));
        all.push(of("longer", false, &length));
        all.push(of("shorter", false, &|example| Some(-length(example)?)));
        all.push(of("overlap", true, &|example| {
            let (claim, documents) = self.claim(example)?;
            Some(overlap(&claim.text, &documents))
        }));
        all
    }
}

/// One claim: its set, whether it is supported, and the score.
type Claim = (usize, bool, f64);

fn accuracy(claims: &[Claim]) -> Statistic {
    let truth: Vec<f64> = claims.iter().map(|claim| f64::from(u8::from(claim.1))).collect();
    let said: Vec<f64> = claims.iter().map(|claim| f64::from(u8::from(claim.2 > THRESHOLD))).collect();
    balanced_accuracy(&truth, &said).unwrap_or_else(|_| none())
}

fn area(claims: &[Claim]) -> Statistic {
    let truth: Vec<bool> = claims.iter().map(|claim| claim.1).collect();
    let scores: Vec<f64> = claims.iter().map(|claim| claim.2).collect();
    auc(&truth, &scores).unwrap_or_else(|_| none())
}

/// The plain mean over the sets of a figure of each.
fn over_sets(sets: usize, claims: &[Claim], figure: fn(&[Claim]) -> Statistic) -> Statistic {
    let mut sum = 0.0;
    for set in 0..sets {
        let of_set: Vec<Claim> = claims.iter().copied().filter(|claim| claim.0 == set).collect();
        match figure(&of_set) {
            Statistic::Value(value) => sum += value,
            undefined => return undefined,
        }
    }
    Statistic::Value(sum / sets as f64)
}

impl Exam for AggreFact {
    fn name(&self) -> &str {
        "aggrefact"
    }

    fn asks(&self) -> Vec<Ask<'_>> {
        let mut asks = Vec::new();
        for set in &self.sets {
            let (mut keys, mut questions) = (Vec::new(), Vec::new());
            if self.ways.alone {
                keys.push("supported");
                questions.push(Question::of_task(&set.rubric));
            }
            if self.ways.agnostic {
                keys.push("overall");
                questions.push(Question::of_rubric(&self.agnostic));
            }
            if questions.is_empty() {
                continue;
            }
            asks.extend(set.examples.iter().map(|example| Ask {
                id: set.id(example),
                keys: keys.clone(),
                inquiry: inquiry(&set.task, example, questions.clone(), self.ways.wording),
            }));
        }
        asks
    }

    fn measures<'a>(&'a self, answers: &Answers) -> Vec<Table<Measure<'a>>> {
        let of_sets: Vec<Vec<Scores>> = self.sets.iter().map(|set| set.scores(&self.ways, answers)).collect();
        let judges = of_sets.first().map_or(0, Vec::len);
        let mut rows: Vec<Row<Measure<'a>>> = Vec::new();
        let mut means: Vec<Row<Measure<'a>>> = Vec::new();
        let mean_part = format!("mean of {} sets", self.sets.len());
        for judge in 0..judges {
            let mut claims: Vec<((usize, &str), Seen<Claim>)> = Vec::new();
            let name = &of_sets[0][judge].judge;
            let decides = of_sets[0][judge].decides;
            for (number, (set, scores)) in self.sets.iter().zip(&of_sets).enumerate() {
                let start = claims.len();
                for ((example, supported), score) in set.decided().into_iter().zip(&scores[judge].scores) {
                    let claim = score.map(|score| (number, supported, score));
                    claims.push(((number, example.group.as_str()), Seen::from(claim)));
                }
                let own = &claims[start..];
                let figure = |of: fn(&[Claim]) -> Statistic| {
                    Measure::of(own.iter().copied(), move |claims| Ok(of(claims)))
                };
                if decides {
                    rows.push(row(&set.task.name, name, "balanced_accuracy", figure(accuracy)));
                }
                rows.push(row(&set.task.name, name, "auc", figure(area)));
            }
            if self.sets.len() > 1 {
                let figure = |of: fn(&[Claim]) -> Statistic| {
                    Measure::of(claims.iter().copied(), move |drawn| {
                        Ok(over_sets(self.sets.len(), drawn, of))
                    })
                };
                if decides {
                    means.push(row(&mean_part, name, "balanced_accuracy", figure(accuracy)));
                }
                means.push(row(&mean_part, name, "auc", figure(area)));
            }
        }
        // Set by set, and each set's judges together.
        rows.sort_by_key(|row| self.sets.iter().position(|set| set.task.name == row.part));
        let mut sorted = rows;
        sorted.extend(means);
        let mut notes = vec![
            "Balanced accuracy: a claim is called supported where the probability of yes is above 0.5; overall quality \
             counts from 1 to 5 as 0 to 1, and overlap is the share of the claim's different words that the document has. \
             longer and shorter have a claim's characters for a score, which no threshold suits, so only their AUC is \
             given."
                .to_owned(),
            "The mean is over the sets here and is not LLM-AggreFact's average, which is over eleven sets.".to_owned(),
        ];
        for set in &self.sets {
            let divided = set.examples.len() - set.decided().len();
            if divided > 0 {
                notes.push(format!(
                    "{}: {divided} of {} claims were called both supported and not, equally often, and are left out.",
                    set.task.name,
                    set.examples.len()
                ));
            }
        }
        notes.extend(unread(&self.problems));
        vec![Table { title: "LLM-AggreFact: the sets at hand".into(), rows: sorted, notes }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::testing::{answers, close, figure, unscored, value, yes};
    use super::*;
    use crate::{Target, tasks};

    fn claim(id: &str, document: &str, claim: &str, supported: f64) -> Example {
        Example {
            id: id.to_owned(),
            group: id.to_owned(),
            fields: [("document", document), ("claim", claim)]
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into(),
            target: Target::Options(vec![1.0 - supported, supported]),
            raters: 1,
            ..Example::default()
        }
    }

    fn exam() -> AggreFact {
        let task = |name: &str| tasks().unwrap()[name].clone();
        let first = vec![
            claim("1", "the cat sat on the mat", "the cat sat", 1.0),
            claim("2", "the cat sat on the mat", "a dog ran away", 0.0),
            claim("3", "rain fell", "rain fell today again", 0.0),
            claim("4", "rain fell", "rain", 1.0),
            claim("5", "rain fell", "snow fell", 0.0),
            claim("6", "rain fell", "divided", 0.5),
        ];
        let second = vec![claim("1", "one", "one", 1.0), claim("2", "one", "two", 0.0)];
        AggreFact::new(vec![(task("wice_claims"), first), (task("factcheck_gpt"), second)], Ways::default())
            .unwrap()
    }

    #[test]
    fn balanced_accuracy_and_auc_by_hand() {
        let given = answers(&[
            ("wice_claims/1", "supported", yes(0.9)),
            ("wice_claims/2", "supported", yes(0.2)),
            ("wice_claims/3", "supported", yes(0.6)),
            ("wice_claims/4", "supported", yes(0.5)),
            ("wice_claims/5", "supported", unscored()),
            ("factcheck_gpt/1", "supported", yes(0.3)),
            ("factcheck_gpt/2", "supported", yes(0.1)),
        ]);
        let tables = exam().tables(&given);
        // Supported: 0.9 yes, 0.5 no, as the threshold itself is not above it: 1/2. Not supported: 0.2 no, 0.6 yes: 1/2.
        let found = figure(&tables, "wice_claims", "alone", "balanced_accuracy");
        close(found.value.unwrap(), 0.5);
        assert_eq!((found.n, found.left_out), (4, 1));
        // Of the four pairs of a supported and an unsupported claim only 0.5 against 0.6 is in the wrong order: 3/4.
        close(value(&tables, "wice_claims", "alone", "auc"), 0.75);
        // Both below 0.5: 0 of the supported, 1 of the others.
        close(value(&tables, "factcheck_gpt", "alone", "balanced_accuracy"), 0.5);
        close(value(&tables, "factcheck_gpt", "alone", "auc"), 1.0);
        close(value(&tables, "mean of 2 sets", "alone", "balanced_accuracy"), 0.5);
        close(value(&tables, "mean of 2 sets", "alone", "auc"), 0.875);
        let note = |text: &str| tables[0].notes.iter().any(|note| note.contains(text));
        assert!(note("is not LLM-AggreFact's average") && note("1 of 6 claims"), "{:?}", tables[0].notes);
    }

    #[test]
    fn rules_by_hand() {
        let tables = exam().tables(&Answers::default());
        // Shares of the claim's words in the document: 1: 3/3, 2: 0/4, 3: 2/4 (not above 0.5), 4: 1/1, 5: 1/2.
        close(value(&tables, "wice_claims", "overlap", "balanced_accuracy"), 1.0);
        close(value(&tables, "wice_claims", "overlap", "auc"), 1.0);
        // Two of five are supported, so the rule says no: 0 and 1.
        close(value(&tables, "wice_claims", "majority", "balanced_accuracy"), 0.5);
        close(value(&tables, "wice_claims", "majority", "auc"), 0.5);
        // Characters: supported 11 and 4; others 14, 21, 9. 11 beats 9; 4 beats none: 1 of 6.
        close(value(&tables, "wice_claims", "longer", "auc"), 1.0 / 6.0);
        close(value(&tables, "wice_claims", "shorter", "auc"), 5.0 / 6.0);
        assert!(tables[0].rows.iter().all(|row| row.judge != "longer" || row.metric == "auc"));
        // Without any answer there is a reason and no number.
        let alone = figure(&tables, "wice_claims", "alone", "balanced_accuracy");
        assert_eq!((alone.value, alone.n, alone.left_out), (None, 0, 5));
        assert!(alone.because.is_some());
        assert_eq!(exam().classes(), [("wice_claims", 2, 3), ("factcheck_gpt", 1, 1)]);
    }

    #[test]
    fn each_claim_is_one_inquiry_with_both_questions() {
        let exam = exam();
        let asks = exam.asks();
        assert_eq!(asks.len(), 8);
        assert_eq!(asks[0].id, "wice_claims/1");
        assert_eq!(asks[0].keys, ["supported", "overall"]);
        let headings: Vec<&str> = asks[0].inquiry.fields.iter().map(|field| field.heading.as_ref()).collect();
        assert_eq!(headings, ["Document", "Claim"]);
        let refused = AggreFact::new(vec![(tasks().unwrap()["hhh"].clone(), Vec::new())], Ways::default());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "task \"hhh\" is no task for this exam, which needs a classification with the options no and yes"
        );
    }
}
