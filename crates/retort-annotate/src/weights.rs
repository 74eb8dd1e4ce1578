//! How much each kind of task and each domain calls for each skill: judgements by hand, from what the skills mean.
//! One point is what makes a skill as likely as Comprehension, which every instruction needs.

use Skill::{
    CommonsenseUnderstanding as Common, Completeness as Full, Comprehension as Grasp, Conciseness as Short,
    Factuality as Fact, Harmlessness as Harm, Insightfulness as Insight, LogicalCorrectness as Right,
    LogicalEfficiency as Lean, LogicalRobustness as Robust, Metacognition as Meta, Readability as Clear,
};
use retort_rubric::{Domain, Skill};

use crate::lexicon::Cue;

/// What every instruction calls for, in the order of [`Skill::ALL`]: above all to be understood, then everyday and
/// factual knowledge, then a good form.
pub(crate) const BASE: [f64; 12] = [0.0, 0.15, 0.0, 0.35, 0.5, 1.0, 0.1, 0.3, 0.0, 0.3, 0.2, 0.0];

/// What a kind of task calls for.
pub(crate) const fn of_cue(cue: Cue) -> &'static [(Skill, f64)] {
    match cue {
        Cue::Fiction => &[(Insight, 1.1), (Clear, 0.2), (Fact, -0.5), (Grasp, 0.2)],
        Cue::Ideas => &[(Insight, 0.9), (Common, 0.1), (Fact, -0.2)],
        Cue::Rewrite => &[(Grasp, 0.4), (Clear, 0.6), (Short, 0.4), (Fact, -0.4), (Common, -0.2)],
        Cue::Summary => &[(Grasp, 0.4), (Short, 0.9), (Clear, 0.4), (Common, -0.3)],
        Cue::Translate => &[(Grasp, 0.3), (Right, 0.2), (Clear, 0.4), (Fact, 0.2)],
        Cue::Sort => &[(Grasp, 0.3), (Common, 0.4), (Right, 0.3), (Short, 0.2), (Full, -0.3)],
        Cue::Choose => &[(Common, 0.3), (Right, 0.5), (Fact, 0.2), (Clear, -0.2), (Full, -0.2)],
        Cue::Advice => &[(Common, 0.4), (Full, 0.3)],
        Cue::Steps => &[(Full, 0.4), (Clear, 0.4), (Common, 0.2)],
        Cue::Explain => &[(Fact, 0.4), (Full, 0.4), (Common, -0.1)],
        Cue::Compare => &[(Full, 0.4), (Fact, 0.3)],
        Cue::Fact => &[(Fact, 0.4), (Common, -0.1)],
        Cue::Opinion => &[(Insight, 0.4), (Common, 0.1), (Robust, 0.2), (Full, 0.2)],
        Cue::Plan => &[(Full, 0.5), (Clear, 0.3), (Insight, 0.1), (Common, 0.1)],
        Cue::Message => &[(Clear, 0.6), (Fact, -0.3), (Insight, 0.1), (Short, 0.1)],
        Cue::Essay => &[(Full, 0.4), (Clear, 0.4), (Fact, 0.2)],
        Cue::Program => &[(Right, 0.4), (Lean, 0.4), (Robust, 0.2)],
        Cue::Repair => &[(Right, 0.4), (Grasp, 0.3)],
        Cue::Sum => &[(Right, 0.6), (Robust, 0.1)],
        Cue::Proof => &[(Robust, 0.9), (Right, 0.6)],
        Cue::Riddle => &[(Right, 0.6), (Robust, 0.4), (Common, 0.3)],
        Cue::Extract => &[(Grasp, 0.4), (Short, 0.3), (Full, -0.2), (Common, -0.1)],
        Cue::Brief => &[(Short, 0.8), (Full, -0.3)],
        Cue::Detailed => &[(Full, 0.4)],
        Cue::Limits => &[(Grasp, 0.3)],
        Cue::Unknowable => &[(Meta, 0.9), (Common, 0.1)],
        Cue::Risk => &[(Harm, 1.1)],
        Cue::Advise => &[(Harm, 0.5), (Fact, 0.1)],
        Cue::Child => &[(Clear, 0.5), (Common, 0.2)],
        Cue::Everyday => &[(Common, 0.3), (Fact, -0.1)],
        Cue::Advanced => &[(Fact, 0.1), (Right, 0.1), (Robust, 0.1), (Common, -0.3)],
        Cue::Contest => &[(Robust, 0.5), (Right, 0.4), (Lean, 0.3)],
        Cue::Professional => &[(Full, 0.3), (Fact, 0.1), (Common, -0.2)],
        Cue::Trivial => &[(Common, 0.2), (Full, -0.2)],
    }
}

/// What a domain calls for.
pub(crate) const fn of_domain(domain: Domain) -> &'static [(Skill, f64)] {
    match domain {
        Domain::Language => &[(Clear, 0.2), (Insight, 0.1), (Fact, -0.1)],
        Domain::Culture => &[(Common, 0.2), (Fact, 0.1)],
        Domain::Health => &[(Fact, 0.3), (Common, 0.1), (Harm, 0.1)],
        Domain::History => &[(Fact, 0.7), (Full, 0.1), (Common, -0.2)],
        Domain::NaturalScience => &[(Fact, 0.6), (Full, 0.1), (Common, -0.1)],
        Domain::Math => &[(Right, 1.0), (Robust, 0.4), (Lean, 0.2), (Fact, -0.3)],
        Domain::SocialScience => &[(Fact, 0.4), (Full, 0.1), (Common, -0.1)],
        Domain::Technology => &[(Fact, 0.2), (Full, 0.2), (Common, -0.1)],
        Domain::Coding => &[(Right, 1.0), (Lean, 0.9), (Robust, 0.5), (Fact, -0.2), (Common, -0.4)],
        Domain::Humanities => &[(Common, 0.3), (Insight, 0.1)],
    }
}
