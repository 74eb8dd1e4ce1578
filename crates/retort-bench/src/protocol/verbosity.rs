//! Verbosity.
use retort_rubric::{Rubric, RubricOption};

use crate::pair::{PairRubrics, agnostic};

/// How responses are judged where a protocol has no task file.
pub(super) fn rubrics() -> PairRubrics {
    let together = Rubric {
        question: Some("Which response is better?".to_owned()),
        ..Rubric::new(
            "better",
            "The better response",
            "Say which of the two responses serves the person who gave the instruction better. What counts is whether a \
             response is right and says what was asked for; words that say nothing add nothing.",
            vec![
                RubricOption::new("B", 0.0).described("Response B is better."),
                RubricOption::new("A", 1.0).described("Response A is better."),
            ],
        )
    };
    let alone = Rubric {
        question: Some("Is the response right, and does it say what was asked for?".to_owned()),
        ..Rubric::new(
            "good",
            "A good response",
            "Say whether the response serves the person who gave the instruction: it is right, and it says what was asked \
             for. Words that say nothing add nothing.",
            vec![RubricOption::new("no", 0.0), RubricOption::new("yes", 1.0)],
        )
    };
    PairRubrics { together, alone, agnostic: agnostic() }
}
