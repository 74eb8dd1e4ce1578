//! Reading rubrics: every way to write one, and every mistake with its place and remedy.

#![expect(clippy::panic, reason = "a test fails by it")]

use retort_rubric::{Ability, Format, ReadError, Rubric, builtin, read, to_json, to_toml};

fn rubrics(text: &str) -> Vec<Rubric> {
    match read(text, "test", Format::Auto) {
        Ok(reading) => reading.rubrics,
        Err(error) => panic!("{error}"),
    }
}

fn scale(rubric: &Rubric) -> Vec<(&str, f64, Option<&str>)> {
    rubric.options.iter().map(|o| (o.label.as_str(), o.value, o.description.as_deref())).collect()
}

fn errors(text: &str, name: &str) -> ReadError {
    match read(text, name, Format::Auto) {
        Ok(reading) => panic!("read without an error: {reading:?}"),
        Err(error) => error,
    }
}

const TONE: &str = r#"
[[rubric]]
name = "Tone & style"
criterion = """
The tone suits a child.
"""
ability = "user_alignment"
scale = { min = 1, max = 3 }

[rubric.levels]
1 = "Harsh."
3 = " Warm. "
2 = "Neutral."
"#;

#[test]
fn toml_with_a_scale_and_levels() {
    let all = rubrics(TONE);
    let [rubric] = &all[..] else { panic!("{all:?}") };
    assert_eq!(rubric.id, "tone_style");
    assert_eq!(rubric.name, "Tone & style");
    assert_eq!(rubric.ability, Some(Ability::UserAlignment));
    assert_eq!(rubric.criterion, "The tone suits a child.");
    assert_eq!(rubric.question, None);
    assert_eq!(
        scale(rubric),
        [("1", 1.0, Some("Harsh.")), ("2", 2.0, Some("Neutral.")), ("3", 3.0, Some("Warm."))]
    );
}

#[test]
fn p14_a_scale_from_0_to_10_has_eleven_options() {
    let all = rubrics("name='X'\ncriterion='It is x.'\nscale={min=0,max=10}");
    assert_eq!(all[0].options.len(), 11);
    assert_eq!((all[0].scale().unwrap().min(), all[0].scale().unwrap().max()), (0.0, 10.0));
}

#[test]
fn steps_are_exact_decimals() {
    let all = rubrics("name='X'\ncriterion='It is x.'\nscale={min=-0.2,max=0.4,step=0.1}");
    let labels: Vec<&str> = all[0].options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["-0.2", "-0.1", "0", "0.1", "0.2", "0.3", "0.4"]);
    // 3 · 0.1 in binary is 0.30000000000000004.
    assert_eq!(all[0].options[5].value, 0.3);
}

#[test]
fn options_of_any_label() {
    let all = rubrics(
        "name='X'\ncriterion='It is x.'\n[[option]]\nlabel='fail'\nvalue=0\n[[option]]\nlabel='pass'\nvalue=1\ndescription='Good.'",
    );
    assert_eq!(scale(&all[0]), [("fail", 0.0, None), ("pass", 1.0, Some("Good."))]);
    let all = rubrics("name='X'\ncriterion='It is x.'\n[[option]]\nlabel='-1'\n[[option]]\nlabel=2");
    assert_eq!(scale(&all[0]), [("-1", -1.0, None), ("2", 2.0, None)]);
}

#[test]
fn json_as_one_as_a_list_and_under_a_key() {
    let one = r#"{"name": "X", "criterion": "It is x.", "scale": {"min": 0, "max": 1}, "levels": {"0": "No.", "1.0": "Yes."}, "question": null}"#;
    let expected = rubrics(one);
    assert_eq!(scale(&expected[0]), [("0", 0.0, Some("No.")), ("1", 1.0, Some("Yes."))]);
    assert_eq!(rubrics(&format!("[ {one} ]")), expected);
    assert_eq!(rubrics(&format!("{{\"rubrics\": [{one}]}}")), expected);
    assert_eq!(rubrics(&format!("{{\"rubric\": {one}}}")), expected);
}

#[test]
fn p26_a_byte_order_mark_is_skipped() {
    assert_eq!(rubrics(&format!("\u{feff}{TONE}")), rubrics(TONE));
    let json = to_json(&rubrics(TONE)).unwrap();
    assert_eq!(rubrics(&format!("\u{feff}{json}")), rubrics(TONE));
}

#[test]
fn the_format_is_told_from_the_content_or_given() {
    let json = to_json(builtin()).unwrap();
    let toml = to_toml(builtin()).unwrap();
    for (text, format) in
        [(&json, Format::Json), (&json, Format::Auto), (&toml, Format::Toml), (&toml, Format::Auto)]
    {
        assert_eq!(read(text, "x", format).unwrap().rubrics, builtin());
    }
    assert!(read(&json, "x", Format::Toml).is_err());
    assert!(read(&toml, "x", Format::Json).is_err());
}

#[test]
fn toml_is_written_as_a_person_would() {
    let mut all = rubrics(TONE);
    all.extend(rubrics("name='Half \"steps\"'\ncriterion='It is x.'\nscale={min=0,max=1,step=0.5}\n[levels]\n'0.5'='Half.'\n0='No.'\n1='Yes.'"));
    all.extend(rubrics(
        "name='Y'\ncriterion='It is y.'\n[[option]]\nlabel='no'\nvalue=0\n[[option]]\nlabel='yes'\nvalue=2.5",
    ));
    insta::assert_snapshot!(to_toml(&all).unwrap());
}

#[test]
fn doubtful_rubrics_are_read_with_warnings() {
    let text =
        "name='X'\ncriterion='It is x.'\nscale={min=1,max=4}\n[levels]\n1='Bad.'\n2='bad!'\n3='Good.'\n";
    let reading = read(text, "x.toml", Format::Auto).unwrap();
    let warnings: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn p9_no_rubric_but_a_path_an_empty_text_or_prose() {
    let all: Vec<String> = [
        ("", "empty.toml"),
        ("\u{feff} \n", "blank.toml"),
        ("rubrics/tone.toml", "--rubric"),
        ("C:\\My rubrics\\tone.json\n", "--rubric"),
        ("Is the response polite?", "--rubric"),
        ("\"tone.toml\"", "tone.json"),
        ("[\"tone.toml\"]", "list.toml"),
        ("[]", "none.json"),
        ("{}", "none.json"),
        ("{\"rubrics\": \"tone.toml\"}", "path.json"),
        ("[ {}, \"tone.toml\" ]", "mixed.json"),
    ]
    .map(|(text, name)| format!("{text:?}\n{}\n", errors(text, name)))
    .into();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn p9_placeholders_and_paths_in_texts() {
    let text = r#"
[[rubric]]
name = "<your name here>"
id = "a"
criterion = "{{criterion}}"
question = "Does it fit {instruction}?"
scale = { min = 0, max = 1 }
[rubric.levels]
0 = "<...>"
1 = "levels/good.txt"

[[rubric]]
name = "B"
criterion = "./criterion.md"
scale = { min = 0, max = 1 }
"#;
    insta::assert_snapshot!(errors(text, "my.toml"));
}

const WRONG_TOML: &str = r#"# Every kind of mistake, none hiding another.
[[rubric]]
name = "Levels outside"
criterion = "It is x."
scale = { min = 1, max = 5 }
[rubric.levels]
1 = "Bad."
7 = "Too good."
2.5 = "Half."
good = "Good."
"3.5" = "Between."
4 = 4

[[rubric]]
nmae = "Misspelt"
criteria = "It is x."
wieght = 3
scale = { min = 5, max = 1, stp = 2 }

[[rubric]]
name = "Options"
criterion = ""
ability = "user_alingment"
[[rubric.option]]
label = "é — pass"
value = 1
[[rubric.option]]
label = "É — Pass"
value = 1
[[rubric.option]]
label = "line\nbreak"
value = inf
[[rubric.option]]
label = "a label that is a good deal longer than forty characters"
value = "2"
[[rubric.option]]
lable = "x"

[[rubric]]
name = "Options"
criterion = "It is x."
question = 5
[[rubric.option]]
label = "only"
value = 1

[[rubric]]
name = "No scale"
criterion = "It is x."
[rubric.levels]
0 = "Bad."
3 = "Good."

[[rubric]]
name = "?!"
criterion = "It is x."
scale = { min = 0, max = 100 }

[[rubric]]
id = "a b"
name = "Both"
criterion = "It is x."
scale = { min = 0, max = 1, step = 0.3 }
options = [{ label = "a", value = 0 }, { label = "b", value = 0 }, { label = "b", value = -1 }, { label = "c", value = 1e12 }]
"#;

#[test]
fn every_mistake_in_toml_is_named_with_its_place_and_remedy() {
    insta::assert_snapshot!(errors(WRONG_TOML, "my.toml"));
}

const WRONG_JSON: &str = r#"{"rubrics": [
  {"name": "Levels outside", "criterion": "It is x.",
   "scale": {"min": 1, "max": 5},
   "levels": {"1": "Bad.", "7": "Too good.", "4": 4}},
  {"nmae": "Misspelt \"name\"", "criteria": "It is x.", "wieght": 3,
   "scale": {"min": "0", "max": 1}},
  {"name": "é", "criterion": "", "ability": "logic", "name": "f",
   "options": [{"label": "x", "value": 1}, {"label": "x", "value": 1}]},
  {"name": "f", "criterion": "It is x.", "options": [{"label": "x", "value": null}, {"label": "y", "value": true}]},
  {"name": "g", "criterion": "It is x.", "options": [{"label": "x", "value": 1}], "levels": {}},
  7
]}
"#;

#[test]
fn every_mistake_in_json_is_named_with_its_place_and_remedy() {
    insta::assert_snapshot!(errors(WRONG_JSON, "my.json"));
}

#[test]
fn syntax_errors_name_their_place() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let all: Vec<String> = [
        ("name = \"x\ncriterion = 'ok'\n[[rubric]\n", "a.toml"),
        ("name = \"x\"\nname = \"y\"\n", "doubled.toml"),
        ("{\n  \"name\": \"é\" \"x\"\n}", "a.json"),
        ("{\n  \"name\": \"é\",\n", "cut.json"),
        ("{\"name\": \"\\ud800\"}", "surrogate.json"),
        ("{\"name\": \"x\",\n \"scale\": {\"min\": 1e999}}", "range.json"),
        ("{\"name\": NaN}", "nan.json"),
        (deep.as_str(), "deep.json"),
    ]
    .map(|(text, name)| errors(text, name).to_string())
    .into();
    insta::assert_snapshot!(all.join("\n"));
}

/// The place, by hand: line 8 holds `7 = "Too good."` from its first column on.
#[test]
fn a_finding_can_be_taken_apart() {
    let error = errors(WRONG_TOML, "my.toml");
    let level = error.diagnostics.iter().find(|d| d.path == "rubric[0].levels.7").unwrap();
    assert_eq!((level.line, level.column), (8, 1));
    assert_eq!(
        level.to_string(),
        "my.toml:8:1: rubric[0].levels.7: level 7 lies outside the scale 1 to 5; remove it or widen the scale"
    );
}

/// P16: by TOML's `inf` and `nan`, by JSON's overflow, or from code.
#[test]
fn p16_no_value_that_is_not_finite_is_read_or_written() {
    for value in ["inf", "-inf", "nan", "1e999", "1e10"] {
        let text = format!(
            "name='X'\ncriterion='It is x.'\n[[option]]\nlabel='a'\nvalue=0\n[[option]]\nlabel='b'\nvalue={value}"
        );
        assert!(read(&text, "x.toml", Format::Toml).is_err(), "{value}");
    }
    let mut all = rubrics(TONE);
    all[0].options[2].value = f64::NAN;
    assert!(to_json(&all).is_err());
    assert!(to_toml(&all).is_err());
}

#[test]
fn a_file_full_of_mistakes_is_refused_quickly_and_briefly() {
    // Were a place sought for each of 50,000 findings, this would take long.
    let fields: String = (0..50_000).map(|index| format!("x{index} = 1\n")).collect();
    let error = errors(&fields, "x.toml");
    assert_eq!(error.diagnostics.len(), 101);
    // 50,000 unknown fields, and name, criterion and scale missing.
    assert_eq!(error.diagnostics[100].message, "49903 more findings are not listed");
    // An error after a hundred warnings still refuses the file.
    let alike =
        "[[rubric]]\nname='N'\ncriterion='It is x.'\nscale={min=1,max=3}\nlevels={1='A.',2='A.',3='A.'}\n";
    let many: String = (0..60).map(|index| alike.replace('N', &format!("N{index}"))).collect();
    assert_eq!(read(&many, "x.toml", Format::Auto).unwrap().warnings.len(), 101);
    assert!(read(&format!("{many}[[rubric]]\n"), "x.toml", Format::Auto).is_err());
}
