//! Responses shown together: both orders, by their own numbers, with what was not answered said so.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod fake;

use fake::{Fake, answer, characters, failure};
use retort_judge::{
    CalibrationUse, CompareRecord, CompareRequest, Comparison, JudgeError, ModelIdentity, NoObserver,
    Observer, PairVerdict, Planned, Preference, RunContext, Shown, TextRole, compare, compared_number,
    sha256_hex, which_is_better,
};
use retort_lm::{Answer, BackendKind, Flow, LmError};

fn request(responses: &[&str]) -> CompareRequest {
    CompareRequest {
        prompt: "What is 2 + 2?".into(),
        responses: responses.iter().map(ToString::to_string).collect(),
        ..CompareRequest::default()
    }
}

fn run(model: &mut Fake, request: &CompareRequest) -> Result<Comparison, JudgeError> {
    pollster::block_on(compare(model, request, &mut NoObserver))
}

/// The model says that whichever is shown first is better with this share of a mass of 0.8. B is offered before A.
fn says(a: f64) -> Result<Answer, LmError> {
    answer(&[0.8 * (1.0 - a), 0.8 * a])
}

#[track_caller]
fn scored(pair: &PairVerdict) -> (Option<usize>, f64, bool) {
    match &pair.verdict {
        Preference::Scored { preferred, probability_first, flipped } => {
            (*preferred, *probability_first, *flipped)
        }
        Preference::Unscored(reason) => panic!("{reason}"),
    }
}

#[track_caller]
fn close(found: f64, right: f64) {
    assert!((found - right).abs() < 1e-12, "{found} instead of {right}");
}

#[test]
fn p18_both_orders_are_asked_and_their_mean_decides() {
    // In the first order the first response has 0.9; in the second it is shown behind, and A, which is the other one, has
    // 0.3: 0.7 for the first. The mean is 0.8.
    let mut model = Fake::answering([says(0.9), says(0.3)]);
    let found = run(&mut model, &request(&["four", "five"])).unwrap();
    let [pair] = &found.pairs[..] else { panic!("{:?}", found.pairs) };
    assert_eq!((pair.first, pair.second), (0, 1));
    let (preferred, first, flipped) = scored(pair);
    close(first, 0.8);
    assert_eq!((preferred, flipped), (Some(0), false));
    let [one, other] = pair.shown[..] else { panic!("{:?}", pair.shown) };
    assert_eq!((one.shown_first, other.shown_first), (0, 1));
    for (Shown { first, second, mass, .. }, right) in [(one, 0.9), (other, 0.7)] {
        close(first, right);
        close(second, 1.0 - right);
        close(mass, 0.8);
    }
    let texts: Vec<String> = model.asked.iter().map(|tree| tree.prefix.to_display()).collect();
    assert_eq!(texts.len(), 2);
    assert!(
        texts[0].contains("Response A:\n\"\"\"\nfour\n\"\"\"\n\nResponse B:\n\"\"\"\nfive\n"),
        "{}",
        texts[0]
    );
    assert!(
        texts[1].contains("Response A:\n\"\"\"\nfive\n\"\"\"\n\nResponse B:\n\"\"\"\nfour\n"),
        "{}",
        texts[1]
    );
    // Tokens of both prompts count.
    assert_eq!((found.usage.computed, found.usage.reused), (80, 4));
}

#[test]
fn p18_a_flip_is_said_and_both_orders_stand_beside_it() {
    // Whichever is first has 0.9: the first response has 0.9 and 0.1, which is a tie of a judge that goes by the place.
    let found = run(&mut Fake::answering([says(0.9), says(0.9)]), &request(&["four", "five"])).unwrap();
    let (preferred, first, flipped) = scored(&found.pairs[0]);
    close(first, 0.5);
    assert_eq!((preferred, flipped), (None, true));
    assert_eq!(found.pairs[0].shown.len(), 2);
    // 0.9 and 0.4: each won once, and the mean of 0.65 still decides.
    let found = run(&mut Fake::answering([says(0.9), says(0.6)]), &request(&["four", "five"])).unwrap();
    let (preferred, first, flipped) = scored(&found.pairs[0]);
    close(first, 0.65);
    assert_eq!((preferred, flipped), (Some(0), true));
}

#[test]
fn p21_a_tie_is_a_tie_and_no_flip() {
    // 0.505 and 0.495 are both within 0.01 of a half: nobody won in any order.
    let found = run(&mut Fake::answering([says(0.505), says(0.505)]), &request(&["four", "five"])).unwrap();
    assert_eq!((scored(&found.pairs[0]).0, scored(&found.pairs[0]).2), (None, false));
    // 0.6 and 0.5: one winner and one tie is no flip; the mean of 0.55 decides.
    let found = run(&mut Fake::answering([says(0.6), says(0.5)]), &request(&["four", "five"])).unwrap();
    assert_eq!((scored(&found.pairs[0]).0, scored(&found.pairs[0]).2), (Some(0), false));
    // The margin itself: a mean of 0.51 is a tie (0.5 + 0.01), 0.5125 is none.
    let found = run(&mut Fake::answering([says(0.52), says(0.505)]), &request(&["four", "five"])).unwrap();
    assert_eq!(scored(&found.pairs[0]).0, None, "{:?}", found.pairs);
    let found = run(&mut Fake::answering([says(0.5125), says(0.4875)]), &request(&["four", "five"])).unwrap();
    assert_eq!(scored(&found.pairs[0]).0, Some(0));
}

#[test]
fn p19_the_winner_is_named_by_its_own_number() {
    // Three responses: 0 and 1, 0 and 2, 1 and 2. The third wins whenever it is shown, else it is even.
    let answers = [says(0.5), says(0.5), says(0.2), says(0.8), says(0.2), says(0.8)];
    let mut model = Fake::answering(answers);
    let found = run(&mut model, &request(&["Response B", "B_A", "A"])).unwrap();
    let pairs: Vec<_> =
        found.pairs.iter().map(|pair| (pair.first, pair.second, scored(pair).0, scored(pair).2)).collect();
    assert_eq!(pairs, [(0, 1, None, false), (0, 2, Some(2), false), (1, 2, Some(2), false)]);
    let shown: Vec<_> = found.pairs.iter().flat_map(|pair| &pair.shown).map(|one| one.shown_first).collect();
    assert_eq!(shown, [0, 1, 0, 2, 1, 2]);
    // Four make six pairs, in both orders.
    assert_eq!(run(&mut Fake::new(), &request(&["a", "b", "c", "d"])).unwrap().pairs.len(), 6);
}

#[test]
fn p8_an_order_without_an_answer_leaves_the_pair_undecided() {
    let mut model = Fake::answering([says(0.9), answer(&[0.001, 0.002])]);
    let found = run(&mut model, &request(&["four", "five"])).unwrap();
    let pair = &found.pairs[0];
    let Preference::Unscored(reason) = &pair.verdict else { panic!("{pair:?}") };
    assert_eq!(reason.code(), "outside_options");
    assert!(reason.to_string().contains("0.30% of the probability"), "{reason}");
    assert!(reason.to_string().ends_with("(asked with response 2 shown first)"), "{reason}");
    // What the other order said stands.
    assert_eq!(pair.shown.len(), 1);
    assert_eq!(pair.shown[0].shown_first, 0);
    // P16: no distribution is no answer either.
    let nan = Ok(Answer { log_probabilities: vec![f64::NAN, 0.0], ..Answer::default() });
    let found = run(&mut Fake::answering([nan]), &request(&["four", "five"])).unwrap();
    let Preference::Unscored(reason) = &found.pairs[0].verdict else { panic!("{found:?}") };
    assert_eq!(reason.code(), "scale");
}

#[test]
fn p11_what_is_offered_is_what_is_read() {
    let mut model = Fake::new();
    run(&mut model, &request(&["four", "five"])).unwrap();
    let tree = &model.asked[0];
    let offered: Vec<&str> =
        tree.branches[0].readout.options.iter().map(|option| option.spellings[0].as_str()).collect();
    assert_eq!(offered, ["B", "A"]);
    let whole = tree.prefix.to_display() + &tree.branches[0].text.to_display();
    assert!(whole.contains("Answer only with one of: B, A."), "{whole}");
    assert!(whole.contains(&which_is_better().criterion), "{whole}");
}

#[test]
fn a_reference_is_read_and_an_empty_one_is_none() {
    let with = CompareRequest { reference: Some("4".into()), ..request(&["four", "five"]) };
    let mut model = Fake::new();
    run(&mut model, &with).unwrap();
    assert!(model.asked[0].prefix.to_display().contains("Reference answer:\n\"\"\"\n4\n\"\"\""));
    let mut model = Fake::new();
    run(&mut model, &CompareRequest { reference: Some(" \n".into()), ..with }).unwrap();
    assert!(!model.asked[0].prefix.to_display().contains("Reference answer:"));
}

#[test]
fn p48_what_was_cut_is_called_by_the_responses_number() {
    let long = "abcdefghij".repeat(300);
    let mut model = Fake::of(3000, characters);
    let found = run(&mut model, &request(&["four", &long, "five"])).unwrap();
    assert!(model.longest <= 3000);
    let [cut] = &found.truncations[..] else { panic!("{:?}", found.truncations) };
    assert_eq!((&cut.text, compared_number(&cut.text)), (&TextRole::Named("response_2".into()), Some(2)));
    assert_eq!(cut.total_characters, 3000);
    assert!(cut.kept_characters < 3000 && cut.kept_characters > 500, "{cut:?}");
    assert_eq!(compared_number(&TextRole::Response), None);
}

#[test]
fn calibration_is_applied_where_verdicts_are_made() {
    // A temperature of 2: the share of A is √0.9 / (√0.9 + √0.1) = 0.75 of a mass whose own share was 0.9.
    let text = r#"{"form": 1, "rows": 10, "mixture_sha256": "",
        "scales": [{"labels": ["B", "A"], "temperature": 2.0, "bias": [0.0, 0.0], "rows": 10}]}"#;
    let fake = || Fake { adapter_text: Some(text.into()), ..Fake::answering([says(0.9), says(0.1)]) };
    let found = run(&mut fake(), &request(&["four", "five"])).unwrap();
    assert_eq!(found.calibration, CalibrationUse::Applied);
    close(scored(&found.pairs[0]).1, 0.75);
    close(found.pairs[0].shown[0].mass, 0.8);
    let raw = CompareRequest { uncalibrated: true, ..request(&["four", "five"]) };
    let found = run(&mut fake(), &raw).unwrap();
    assert_eq!(found.calibration, CalibrationUse::Off);
    close(scored(&found.pairs[0]).1, 0.9);
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    for (responses, right) in [
        (vec!["one"], "two to four at a time, and there are 1;"),
        (vec!["a", "b", "c", "d", "e"], "two to four at a time, and there are 5;"),
        (vec!["a", " \n"], "the second response is empty"),
    ] {
        let error = run(&mut Fake::new(), &request(&responses)).unwrap_err();
        assert!(error.to_string().contains(right), "{error}");
    }
    let error = run(&mut Fake::new(), &CompareRequest { prompt: " ".into(), ..request(&["a", "b"]) });
    assert!(error.unwrap_err().to_string().contains("the prompt is empty"));
    let error = run(&mut Fake::of(60, characters), &request(&["a", "b"])).unwrap_err();
    assert_eq!(error.code(), "too_long");
}

#[test]
fn a_failure_on_the_way_keeps_what_was_ready() {
    let answers = [says(0.9), says(0.1), says(0.9), Err(failure())];
    let found = run(&mut Fake::answering(answers), &request(&["a", "b", "c"])).unwrap();
    assert_eq!(scored(&found.pairs[0]).0, Some(0));
    for pair in &found.pairs[1..] {
        let Preference::Unscored(reason) = &pair.verdict else { panic!("{pair:?}") };
        assert_eq!(reason.code(), failure().code());
    }
    assert_eq!([found.pairs[1].shown.len(), found.pairs[2].shown.len()], [1, 0]);
    assert!(found.failure.is_some() && !found.cancelled);
    // Where nothing was ready, the failure is the answer.
    let error = run(&mut Fake::answering([Err(failure())]), &request(&["a", "b"])).unwrap_err();
    assert_eq!(error.code(), failure().code());
}

/// Stops when so many prompts were begun.
#[derive(Default)]
struct StopAt {
    begun: usize,
    last: usize,
    seen: Vec<(usize, usize)>,
    planned: usize,
}

impl Observer for StopAt {
    fn planned(&mut self, plan: &Planned) {
        self.planned = plan.questions;
    }

    fn progress(&mut self, done: usize, total: usize) -> Flow {
        self.seen.push((done, total));
        self.begun += 1;
        if self.begun > self.last { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn cancelling_keeps_what_was_ready_and_progress_is_of_all_prompts() {
    let mut observer = StopAt { last: 3, ..StopAt::default() };
    let found =
        pollster::block_on(compare(&mut Fake::new(), &request(&["a", "b", "c"]), &mut observer)).unwrap();
    assert!(found.cancelled && found.failure.is_none());
    assert_eq!(scored(&found.pairs[0]).0, None);
    let Preference::Unscored(reason) = &found.pairs[1].verdict else { panic!("{found:?}") };
    assert_eq!(reason.code(), "cancelled");
    assert_eq!(observer.planned, 6);
    // All six prompts are as long as each other, so that the fourth begins at the half.
    let (done, total) = observer.seen[3];
    assert_eq!(2 * done, total);
}

#[test]
fn the_record_is_one_line_and_reads_back() {
    let request = CompareRequest { reference: Some("4".into()), ..request(&["four it is", "five", "six"]) };
    let answers = [says(0.9), says(0.2), answer(&[0.001, 0.001]), says(0.2), says(0.5), says(0.5)];
    let found = run(&mut Fake::answering(answers), &request).unwrap();
    let context = RunContext {
        model: ModelIdentity { name: "fake.gguf".into(), sha256: None, adapter: None },
        backend: BackendKind::Cpu,
        device: "none".into(),
        notices: Vec::new(),
        total_ms: 1.5,
    };
    let record = CompareRecord::new(&request, &found, context);
    let line = serde_json::to_string(&record).unwrap();
    assert!(!line.contains('\n') && line.starts_with(r#"{"format":"retort.comparison/1","#), "{line}");
    assert!(line.contains(r#""verdict":{"kind":"scored","preferred":0,"probability_first":0.85"#), "{line}");
    assert!(
        line.contains(r#""verdict":{"kind":"unscored","code":"outside_options","message":"The model"#),
        "{line}"
    );
    assert!(line.contains(r#""preferred":null"#), "{line}");
    assert_eq!(record.input.responses_words, [3, 1, 1]);
    assert_eq!(record.input.reference_sha256.as_deref(), Some(sha256_hex(b"4").as_str()));
    let read: CompareRecord = serde_json::from_str(&line).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), line);
}
