//! The items of a checklist in a judgement: what code decides, what the model is asked, and what does not apply.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

mod fake;

use fake::{Fake, answer, failure};
use retort_checklist::{AnswerForm, Checklist, Constraint, Item, Limit, Unit, Verdict as Found};
use retort_judge::{
    Decision, ItemVerdict, JudgeError, Judgement, NoObserver, Observer, Request, Unscored, Verdict, judge,
};
use retort_lm::{PromptTree, Segment};
use retort_rubric::{Rubric, builtin};

/// One item that code decides between two that it does not.
fn request() -> Request {
    let short = Constraint::Count { what: Unit::Word, limit: Limit::AtMost(5) };
    let items = vec![
        Item::asking("height", "Does the response give a height?"),
        Item { constraint: Some(short), ..Item::asking("short", "Is it at most 5 words long?") },
        Item {
            condition: Some("the user asks for feet".into()),
            ..Item::asking("feet", "Does the response give the height in feet?")
        },
    ];
    Request {
        prompt: "How tall is Ben Nevis? At most 5 words.".into(),
        response: "It is 1,345 metres tall today.".into(),
        checklist: Some(Checklist { name: None, instruction_sha256: None, items }),
        ..Request::default()
    }
}

fn run(model: &mut Fake, request: &Request) -> Result<Judgement, JudgeError> {
    pollster::block_on(judge(model, request, &mut NoObserver))
}

/// The ordinary text of each branch.
fn asked(tree: &PromptTree) -> Vec<String> {
    let words = |piece: &Segment| match piece {
        Segment::User(text) => Some(text.clone()),
        Segment::Template(_) => None,
    };
    tree.branches.iter().map(|branch| branch.text.pieces().iter().filter_map(words).collect()).collect()
}

fn verdict(item: &ItemVerdict) -> &Verdict {
    match &item.decision {
        Decision::Model { verdict } => verdict,
        Decision::Code { finding } => panic!("code decided: {finding:?}"),
    }
}

#[test]
fn code_decides_what_it_can_and_the_model_the_rest() {
    // no 0.2, yes 0.6: of their mass three quarters are on yes. Then N/A has 0.5 of 0.9.
    let mut model = Fake::answering([answer(&[0.2, 0.6]), answer(&[0.2, 0.2, 0.5])]);
    let judgement = run(&mut model, &request()).unwrap();
    assert_eq!(
        asked(&model.asked[0]),
        [
            "Answer only with one of: no, yes.\n\nCriterion: Does the response give a height?\nWhat is the answer?",
            "Answer only with one of: no, yes, NA.\n\nCriterion: Does the response give the height in feet?\n\
             NA: It does not hold that the user asks for feet.\nWhat is the answer?",
        ]
    );
    let ids: Vec<&str> = judgement.items.iter().map(|item| item.item_id.as_str()).collect();
    assert_eq!(ids, ["height", "short", "feet"]);
    let Verdict::Scored { expected, min, max, .. } = verdict(&judgement.items[0]) else { panic!() };
    assert!((expected - 0.75).abs() < 1e-12 && (*min, *max) == (0.0, 1.0));
    // "It is 1,345 metres tall today": six words.
    let Decision::Code { finding } = &judgement.items[1].decision else { panic!() };
    assert_eq!((finding.verdict, finding.count), (Found::NotMet, Some(6)));
    // (0.75 + 0) / 2: the third item does not apply.
    let score = judgement.sums.unwrap().score;
    assert!((score.score.unwrap() - 0.375).abs() < 1e-12);
    assert_eq!((score.verified, score.judged, score.not_applicable, score.unscored), (1, 1, 1, 0));
    // P15: not applicable is no verdict, and no 0 either. 0.5 / 0.9 is more than a half.
    let Verdict::Unscored(Unscored::NotApplicable { probability }) = verdict(&judgement.items[2]) else {
        panic!()
    };
    assert!((probability - 0.5 / 0.9).abs() < 1e-12);
}

#[test]
fn p15_a_probability_of_not_applicable_below_a_half_is_left_out_and_told() {
    let mut model = Fake::answering([answer(&[0.5, 0.5]), answer(&[0.3, 0.3, 0.4])]);
    let judgement = run(&mut model, &request()).unwrap();
    let Verdict::Scored { expected, distribution, not_applicable, mass, .. } = verdict(&judgement.items[2])
    else {
        panic!()
    };
    // Half and half among yes and no; 0.4 of 1 on N/A.
    assert!((expected - 0.5).abs() < 1e-12 && (mass - 1.0).abs() < 1e-9);
    assert_eq!(distribution.len(), 2);
    assert!((not_applicable.unwrap() - 0.4).abs() < 1e-12);
}

#[test]
fn items_stand_in_one_tree_with_rubrics_and_touch_no_score() {
    let rubrics =
        builtin()[..2].iter().map(|rubric| Rubric { not_applicable: None, ..rubric.clone() }).collect();
    let with = Request { rubrics, ..request() };
    let mut model = Fake::answering([
        answer(&[0.0, 0.0, 0.0, 0.0, 0.5]),
        answer(&[0.5, 0.0, 0.0, 0.0, 0.0]),
        answer(&[0.1, 0.9]),
    ]);
    let judgement = run(&mut model, &with).unwrap();
    assert_eq!(model.asked.len(), 1, "one tree");
    assert_eq!(model.asked[0].branches.len(), 4);
    assert_eq!((judgement.verdicts.len(), judgement.items.len()), (2, 3));
    // What a rubric's question reads is the same without the checklist, piece by piece.
    let mut alone = Fake::new();
    run(&mut alone, &Request { checklist: None, ..with.clone() }).unwrap();
    let path = |tree: &PromptTree, branch: usize| {
        tree.prefix.clone().then(&tree.branches[branch].text).pieces().to_vec()
    };
    for branch in 0..2 {
        assert_eq!(path(&alone.asked[0], branch), path(&model.asked[0], branch));
    }
}

#[test]
fn a_checklist_that_code_decides_alone_needs_no_model() {
    let mut with = request();
    if let Some(checklist) = &mut with.checklist {
        checklist.items.retain(|item| item.constraint.is_some());
    }
    let mut model = Fake::new();
    let judgement = run(&mut model, &with).unwrap();
    assert!(model.asked.is_empty());
    assert_eq!((judgement.items.len(), judgement.usage.computed), (1, 0));
}

#[test]
fn hard_items_are_scored_from_one_to_five_against_the_reference() {
    let mut with = request();
    if let Some(checklist) = &mut with.checklist {
        checklist.items.truncate(1);
        checklist.items[0].answer = AnswerForm::OneToFive;
    }
    let mut model = Fake::answering([answer(&[0.0, 0.0, 0.25, 0.25, 0.0])]);
    let judgement = run(&mut model, &with).unwrap();
    // Half on 3 and half on 4.
    let Verdict::Scored { expected, min, max, .. } = verdict(&judgement.items[0]) else { panic!() };
    assert!((expected - 3.5).abs() < 1e-12 && (*min, *max) == (1.0, 5.0));
    // (3.5 - 1) / 4.
    assert_eq!(judgement.sums.unwrap().score.score, Some(0.625));
    assert!(asked(&model.asked[0])[0].contains("than the reference answer"));
}

#[test]
fn a_failure_keeps_what_code_and_the_model_had_decided() {
    let mut model = Fake::answering([Err(failure())]);
    let judgement = run(&mut model, &request()).unwrap();
    assert!(judgement.failure.is_some());
    assert!(matches!(judgement.items[1].decision, Decision::Code { .. }));
    for index in [0, 2] {
        let Verdict::Unscored(reason) = verdict(&judgement.items[index]) else { panic!() };
        assert_eq!(reason.code(), "gpu_failed");
    }
}

/// Notes which items it is told of, in order.
#[derive(Default)]
struct Told(Vec<(usize, String)>);

impl Observer for Told {
    fn item(&mut self, index: usize, verdict: &ItemVerdict) {
        self.0.push((index, verdict.item_id.clone()));
    }
}

#[test]
fn verified_items_are_told_first() {
    let mut told = Told::default();
    pollster::block_on(judge(&mut Fake::new(), &request(), &mut told)).unwrap();
    let right = [(1, "short"), (0, "height"), (2, "feet")].map(|(index, id)| (index, id.to_owned()));
    assert_eq!(told.0, right);
}

#[test]
fn an_item_reads_back_from_its_file() {
    let judgement = run(&mut Fake::answering([answer(&[0.2, 0.6])]), &request()).unwrap();
    for item in &judgement.items {
        let json = serde_json::to_string(item).unwrap();
        assert_eq!(serde_json::from_str::<ItemVerdict>(&json).unwrap(), *item, "{json}");
    }
}

#[test]
fn a_checklist_that_cannot_be_used_is_refused_with_every_mistake() {
    let mut with = request();
    if let Some(checklist) = &mut with.checklist {
        checklist.items[0].weight = 0.0;
        checklist.items[2].id = "short".into();
    }
    let mut model = Fake::new();
    let error = run(&mut model, &with).unwrap_err();
    assert_eq!(error.code(), "invalid_checklist");
    let message = error.to_string();
    assert!(message.contains("items[0].weight") && message.contains("items[2].id"), "{message}");
    assert!(model.asked.is_empty());
}

#[test]
fn code_does_not_decide_what_applies_only_sometimes() {
    let mut with = request();
    if let Some(checklist) = &mut with.checklist {
        checklist.items[1].condition = Some("the user is in a hurry".into());
    }
    let mut model = Fake::new();
    let judgement = run(&mut model, &with).unwrap();
    assert_eq!(asked(&model.asked[0]).len(), 3);
    assert!(matches!(verdict(&judgement.items[1]), Verdict::Scored { .. }));
}

#[test]
fn answers_of_both_forms_are_summed_together_and_apart() {
    let mut with = request();
    if let Some(checklist) = &mut with.checklist {
        checklist.items[2] =
            Item { answer: AnswerForm::OneToFive, ..Item::asking("depth", "How deep does it go?") };
    }
    // yes 0.25; code finds six words; all on 4, which is 0.75 of the way from 1 to 5.
    let mut model = Fake::answering([answer(&[0.75, 0.25]), answer(&[0.0, 0.0, 0.0, 0.5, 0.0])]);
    let sums = run(&mut model, &with).unwrap().sums.unwrap();
    let near = |found: Option<f64>, right: f64| assert!((found.unwrap() - right).abs() < 1e-12, "{found:?}");
    near(sums.score.score, (0.25 + 0.0 + 0.75) / 3.0);
    assert_eq!(sums.by_form.len(), 2);
    near(sums.by_form[0].1.score, 0.125);
    near(sums.by_form[1].1.score, 0.75);
    assert_eq!((sums.by_form[0].0, sums.by_form[1].0), (AnswerForm::YesNo, AnswerForm::OneToFive));
}
