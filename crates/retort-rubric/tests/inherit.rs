//! Rubrics that build upon others, and the fields that came with them: weights, conditions, examples.

#![expect(clippy::panic, reason = "a test fails by it")]

use retort_rubric::{Format, Rubric, builtin, overall, read, select, to_json, to_toml};

fn rubrics(text: &str) -> Vec<Rubric> {
    match read(text, "test", Format::Auto) {
        Ok(reading) => reading.rubrics,
        Err(error) => panic!("{error}"),
    }
}

fn findings(text: &str, name: &str) -> String {
    match read(text, name, Format::Auto) {
        Ok(reading) => {
            let warnings: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
            warnings.join("\n")
        }
        Err(error) => error.to_string(),
    }
}

const FOR_CHILDREN: &str = r#"name = "Readability for children"
extends = "readability"
criterion_also = "The reader is a child of eight, so sentences are short and words are those of every day."
levels.5 = "A child of eight reads it alone and with pleasure."
"#;

#[test]
fn like_readability_but_for_children_is_four_lines() {
    let parent = &select("readability").unwrap()[0];
    let reading = read(FOR_CHILDREN, "children.toml", Format::Auto).unwrap();
    assert_eq!(reading.warnings, []);
    let [rubric] = &reading.rubrics[..] else { panic!("{:?}", reading.rubrics) };
    assert_eq!(rubric.id, "readability_for_children");
    assert_eq!(rubric.name, "Readability for children");
    assert_eq!(rubric.ability, parent.ability);
    assert_eq!(
        rubric.criterion,
        format!(
            "{} The reader is a child of eight, so sentences are short and words are those of every day.",
            parent.criterion
        )
    );
    // The parent's question says nothing of children.
    assert_eq!(rubric.question, None);
    assert_eq!(rubric.options[..4], parent.options[..4]);
    assert_eq!(
        rubric.options[4].description.as_deref(),
        Some("A child of eight reads it alone and with pleasure.")
    );
    assert_ne!(rubric.sha256(), parent.sha256());
    // What is written is the whole rubric, without its parent.
    assert_eq!(rubrics(&to_toml(&reading.rubrics).unwrap()), reading.rubrics);
    assert!(!to_toml(&reading.rubrics).unwrap().contains("extends"));
}

const FAMILY: &str = r#"
[[rubric]]
name = "Strict tone"
extends = "Tone"
weight = -2
[rubric.levels]
fail = "Scolds the reader."

[[rubric]]
name = "Tone"
criterion = "The tone suits the reader"
question = "Does the tone suit the reader?"
weight = 3
not_applicable = "The response has no words."
[[rubric.option]]
label = "fail"
value = 0
description = "Talks down to the reader."
examples = ["As anyone knows …", "Obviously, this is wrong."]
[[rubric.option]]
label = "pass"
value = 1
description = "Speaks as to an equal."

[[rubric]]
id = "tone_5"
extends = "strict_tone"
criterion_also = "Slang is welcome."
question = "Does the tone suit the reader, slang included?"
scale = { min = 1, max = 3 }
levels = { 1 = "Stiff.", 2 = "Neutral.", 3 = "Warm." }
examples = { 3 = "Hey there!", 1 = ["Dear Sir or Madam"] }

[[rubric]]
name = "Overall, twice"
extends = "overall"
weight = 2
"#;

#[test]
fn a_parent_may_stand_anywhere_in_the_file_and_have_a_parent() {
    let all = rubrics(FAMILY);
    let ids: Vec<&str> = all.iter().map(|rubric| rubric.id.as_str()).collect();
    assert_eq!(ids, ["strict_tone", "tone", "tone_5", "overall_twice"]);
    let (strict, tone, five) = (&all[0], &all[1], &all[2]);
    assert_eq!((strict.weight, &strict.criterion, &strict.question), (-2.0, &tone.criterion, &tone.question));
    assert_eq!(strict.not_applicable, tone.not_applicable);
    assert_eq!(strict.options[0].description.as_deref(), Some("Scolds the reader."));
    assert_eq!(strict.options[0].examples, tone.options[0].examples);
    assert_eq!(strict.options[1], tone.options[1]);
    // The name is the parent's where only an id is given; a full stop ends the parent's criterion.
    assert_eq!((five.name.as_str(), five.weight), ("Strict tone", -2.0));
    assert_eq!(five.criterion, "The tone suits the reader. Slang is welcome.");
    assert_eq!(five.question.as_deref(), Some("Does the tone suit the reader, slang included?"));
    let labels: Vec<&str> = five.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["1", "2", "3"]);
    assert_eq!(five.options[2].examples, ["Hey there!"]);
    assert_eq!(
        all[3],
        Rubric {
            id: "overall_twice".into(),
            name: "Overall, twice".into(),
            weight: 2.0,
            ..overall().clone()
        }
    );
    assert_eq!(rubrics(&to_toml(&all).unwrap()), all);
    assert_eq!(rubrics(&to_json(&all).unwrap()), all);
}

#[test]
fn all_fields_are_written_as_a_person_would() {
    insta::assert_snapshot!(to_toml(&rubrics(FAMILY)[..3]).unwrap());
}

#[test]
fn json_inherits_as_toml_does() {
    let json = r#"[{"name": "Readability for children", "extends": "Readability", "weight": null,
        "criterion_also": "The reader is a child of eight, so sentences are short and words are those of every day.",
        "levels": {"5": "A child of eight reads it alone and with pleasure."}}]"#;
    assert_eq!(rubrics(json), rubrics(FOR_CHILDREN));
}

/// A rubric of the file comes before a built-in one of the same name, and is not its own parent.
#[test]
fn a_file_may_give_a_built_in_rubric_another_wording() {
    let all = rubrics(
        "[[rubric]]\nname='Readability'\nextends='readability'\nweight=2\n[[rubric]]\nname='Child'\nextends='readability'",
    );
    assert_eq!((all[0].id.as_str(), all[0].weight, all[1].weight), ("readability", 2.0, 2.0));
    assert_eq!(all[1].options, builtin()[9].options);
}

const WRONG: &str = r#"# Every mistake that building upon others allows.
[[rubric]]
name = "A"
extends = "B"
[[rubric]]
name = "B"
extends = "c"
[[rubric]]
name = "C"
extends = "a"
[[rubric]]
name = "Self"
extends = "self"
[[rubric]]
name = "Nobody's"
extends = "readibility"
criterion_also = "More."
[[rubric]]
name = "Stranger's"
extends = "zzzzzz"
[[rubric]]
extends = "readability"
[[rubric]]
name = "No parent"
criterion_also = "It is x."
scale = { min = 0, max = 1 }
[[rubric]]
name = "Both"
extends = "readability"
criterion = "It is x."
criterion_also = "It is y."
[[rubric]]
name = "Levels"
extends = "readability"
levels = { 6 = "Beyond.", 2 = "" }
examples = { 7 = "x", 1 = 5, 2 = ["", 3], "2.0" = "y" }
[[rubric]]
name = "Kinds"
extends = 5
criterion = "It is x."
weight = 0
not_applicable = ""
options = [{ label = "N/A", value = 0 }, { label = "y", value = 1, examples = {} }]
[[rubric]]
name = "Weights"
extends = "overall"
weight = inf
not_applicable = "{condition}"
[[rubric]]
name = "Heavy"
extends = "overall"
weight = 1e12
[[rubric]]
name = "Text"
extends = "overall"
weight = "2"
"#;

#[test]
fn every_mistake_is_named_with_its_place_and_remedy() {
    insta::assert_snapshot!(findings(WRONG, "my.toml"));
}

const DOUBTFUL: &str = r#"
[[rubric]]
name = "Vague"
criterion = "A good response."
scale = { min = 1, max = 4 }
levels = { 1 = "Bad.", 2 = "Not bad at all", 3 = "Good", 4 = "Cites every source." }
[[rubric]]
name = "Alike"
criterion = "The response cites its sources."
scale = { min = 1, max = 5 }
[rubric.levels]
1 = "The response cites none of its sources."
2 = "Cites its sources in the text."
3 = "The response cites its sources in a text"
4 = "Cites its sources in the text and in a list with authors, titles, years, pages and publishers."
5 = "Cites its sources in the text and in a list with authors, titles, years, pages and publishers, neatly."
[[rubric]]
name = "Gap and order"
criterion = "The response is right."
options = [
    { label = "1", value = 1, description = "Excellent work, every result correct." },
    { label = "2", value = 2, description = "One slip." },
    { label = "3", value = 3, description = "Several slips." },
    { label = "5", value = 5, description = "Every result is wrong." },
]
[[rubric]]
name = "Not applicable"
criterion = "The response is right."
options = [{ label = "N/A", value = 0 }, { label = "wrong", value = 1 }, { label = "right", value = 2 }]
[[rubric]]
name = "Examples"
criterion = "The response is right."
scale = { min = 0, max = 1 }
examples = { 0 = ["It is 5.", "answers/wrong.txt", "It is 5."], 1 = ["It is 4.", "It is 5."] }
"#;

#[test]
fn every_doubt_names_its_field_and_what_to_do() {
    let long = "x".repeat(401);
    let more = format!(
        "[[rubric]]\nname='Long'\ncriterion='It is x.'\nnot_applicable='{long}'\nscale={{min=0,max=1}}\nexamples={{0='{long}',1='{long}{long}'}}\n"
    );
    assert!(read(&format!("{DOUBTFUL}{more}"), "my.toml", Format::Auto).is_ok());
    insta::assert_snapshot!(findings(&format!("{DOUBTFUL}{more}"), "my.toml"));
}

/// What is wrong with a parent is said of the parent alone.
#[test]
fn a_child_does_not_repeat_its_parents_faults() {
    let text = "[[rubric]]\nname='P'\ncriterion='It is x.'\nscale={min=1,max=3}\nlevels={1='Bad.',2='Half of it is x.'}\n[[rubric]]\nname='C'\nextends='p'\nweight=2\n";
    let found = findings(text, "x");
    assert_eq!(found.lines().count(), 2, "{found}");
    assert!(found.lines().all(|line| line.contains("rubric[0]")), "{found}");
}

#[test]
fn long_lines_of_descent_and_long_circles_are_refused_quickly() {
    let links: String = (1..20_000)
        .map(|index| {
            format!("[[rubric]]\nname='R{index}'\nextends='r{}'\ncriterion_also='And y.'\n", index - 1)
        })
        .collect();
    let line = format!("[[rubric]]\nname='R0'\ncriterion='It is x.'\nscale={{min=0,max=1}}\n{links}");
    let found = findings(&line, "x");
    assert!(found.contains("it builds upon 9 rubrics, each upon the next"), "{found}");
    let circle: String = (0..20_000)
        .map(|index| format!("[[rubric]]\nname='R{index}'\nextends='r{}'\n", (index + 1) % 20_000))
        .collect();
    let found = findings(&circle, "x");
    assert!(found.contains("in a circle: \"r0\", which builds upon \"r1\""), "{found}");
    assert!(found.len() < 50_000);
    // A large parent is not copied without end.
    let large = "x".repeat(100_000);
    let children: String =
        (0..1000).map(|index| format!("[[rubric]]\nname='C{index}'\nextends='p'\n")).collect();
    let text = format!("[[rubric]]\nname='P'\ncriterion='{large}'\nscale={{min=0,max=1}}\n{children}");
    assert!(findings(&text, "x").contains("take over more than 16 MiB of text"));
}
