//! The declarative reader, feature by feature, on files whose right reading was written down by hand.

#![expect(clippy::unwrap_used, reason = "a test file that cannot be written ends the test")]

use std::path::Path;

use retort_bench::{DataDir, DataError, Example, Item, Target, Task, read};

/// A task over the files of a folder: `options` (or pairwise, or generation) and the lines of its `[reader]`.
fn task(options: &str, reader: &str) -> Result<Task, String> {
    let (kind, rest) = match options {
        "pair" => {
            let alone = "[alone]\ninstructions = \"Is it good?\"\nquestion = \"Is it good?\"\n";
            ("pairwise", alone.to_owned())
        }
        "text" => ("generation", String::new()),
        labels => {
            let options: Vec<String> = labels
                .split(' ')
                .enumerate()
                .map(|(at, label)| {
                    let value = label.parse::<usize>().unwrap_or(at);
                    format!("[[options]]\nlabel = \"{label}\"\nvalue = {value}.0\n")
                })
                .collect();
            ("pointwise", options.concat())
        }
    };
    let text = format!(
        "name = \"t\"\ntitle = \"T\"\nfamily = \"f\"\ncapability = \"safety\"\nkind = \"{kind}\"\nmetric = \"accuracy\"\n\
         instructions = \"What is asked.\"\nquestion = \"What is asked?\"\n[[context]]\nname = \"prompt\"\n\
         [[context]]\nname = \"reference\"\noptional = true\n{rest}[source]\nrepository = \"o/n\"\npaper = \"p\"\n\
         licence = \"MIT\"\nlabels = \"human\"\npurpose = \"training\"\n[reader]\n{reader}\n"
    );
    Task::read("t.toml", &text).map_err(|error| error.problem)
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.join("o+n").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Reads files (name and text) with the task; gives the items and the number of rows.
fn try_reading(task: &Task, files: &[(&str, &[u8])]) -> Result<(Vec<Item>, usize), DataError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("o+n")).unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    let mut items = Vec::new();
    let counts = read(task, &DataDir::new(folder.path()), &mut |item| items.push(item))?;
    assert_eq!(counts.examples, items.iter().filter(|item| item.is_ok()).count());
    assert_eq!(counts.problems, items.iter().filter(|item| item.is_err()).count());
    Ok((items, counts.rows))
}

fn reading(options: &str, reader: &str, files: &[(&str, &[u8])]) -> (Vec<Example>, Vec<String>, usize) {
    let task = task(options, reader).unwrap();
    let (items, rows) = try_reading(&task, files).unwrap();
    let (mut examples, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Ok(example) => examples.push(example),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    (examples, problems, rows)
}

const PLAIN: &str = r#"
files = ["a.csv"]
fields = { prompt = "q" }
label = { columns = ["l"], map = { "1" = "yes", "0" = "no" } }
"#;

#[test]
fn a_table_becomes_examples_and_bad_rows_problems() {
    let text =
        b"\xef\xbb\xbfq,l\r\n\"two\r\nlines\",1\r\n\r\nplain,0\r\nx,2\r\n,1\r\nonly\r\n\xff,1\r\nlast,1.0";
    let (examples, problems, rows) = reading("no yes", PLAIN, &[("a.csv", text)]);
    let seen: Vec<_> = examples
        .iter()
        .map(|example| (example.id.as_str(), example.fields["prompt"].as_str(), &example.target))
        .collect();
    assert_eq!(
        seen,
        [
            ("a.csv#1", "two\r\nlines", &Target::Options(vec![0.0, 1.0])),
            ("a.csv#2", "plain", &Target::Options(vec![1.0, 0.0])),
            ("a.csv#7", "last", &Target::Options(vec![0.0, 1.0])),
        ]
    );
    assert_eq!(
        problems,
        [
            "a.csv:6: column \"l\" holds the label \"2\", which is none of \"0\", \"1\"; the row was skipped",
            "a.csv:7: column \"q\" is empty; the row was skipped",
            "a.csv:8: it has 1 columns where the line of names has 2; the row was skipped",
            "a.csv:9: column \"q\" is not UTF-8; the row was skipped",
        ]
    );
    assert_eq!(rows, 7);
}

fn shares(example: &Example) -> Vec<f64> {
    match &example.target {
        Target::Options(shares) => shares.clone(),
        Target::Preference { first, second, tie } => vec![*first, *second, *tie],
        Target::Unknown | Target::Text(_) => Vec::new(),
    }
}

fn close(found: &[f64], right: &[f64]) -> bool {
    found.len() == right.len() && found.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-12)
}

fn prompts(examples: &[Example]) -> Vec<(&str, &str)> {
    examples.iter().map(|example| (example.id.as_str(), example.fields["prompt"].as_str())).collect()
}

fn messages(problems: &[String]) -> Vec<&str> {
    problems.iter().map(|problem| problem.strip_suffix("; the row was skipped").unwrap_or(problem)).collect()
}

#[test]
fn a_json_table_gives_its_values_in_the_order_of_the_file() {
    let reader = r#"
files = ["d/a.json"]
rows = "data.items"
fields = { prompt = "q.0.text", reference = "r" }
group = "$key"
label = { columns = ["good"], map = { "true" = "yes", "false" = "no", "1" = "yes" } }
"#;
    let text = br#"{"data": {"items": {
        "z": {"q": [{"text": "one"}], "good": true, "r": ["x", "y"]},
        "a": {"q": [{"text": "two"}], "good": 1.0, "r": null},
        "m": {"q": [{"text": 3.50}], "good": false, "r": " "},
        "b": {"q": [{"text": {"deep": 1}}], "good": false},
        "c": {"q": [], "good": false},
        "d": {"q": [{"text": "six"}], "good": [1.5]}
    }}}"#;
    let (examples, problems, rows) = reading("no yes", reader, &[("d/a.json", text)]);
    assert_eq!(prompts(&examples), [("d/a.json#1", "one"), ("d/a.json#2", "two"), ("d/a.json#3", "3.5")]);
    assert_eq!(examples.iter().map(|example| example.group.as_str()).collect::<String>(), "zam");
    assert_eq!(examples.iter().map(shares).collect::<Vec<_>>(), [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]);
    // A list of texts becomes lines; null and white space are no text.
    assert_eq!(examples[0].fields["reference"], "x\ny");
    assert!(!examples[1].fields.contains_key("reference") && !examples[2].fields.contains_key("reference"));
    assert_eq!(
        messages(&problems),
        [
            "d/a.json:4: column \"q.0.text\" holds a table where a text should be",
            "d/a.json:5: there is nothing in column \"q.0.text\"",
            "d/a.json:6: column \"good\" holds the label \"1.5\", which is none of \"1\", \"false\", \"true\"",
        ]
    );
    assert_eq!(rows, 6);
}

#[test]
fn each_element_of_a_list_makes_an_example() {
    let reader = r#"
files = ["a.jsonl"]
each = "answers"
fields = { prompt = ".text", reference = "doc" }
group = "doc"
label = { columns = [".label"] }
only = [{ column = ".kind", not = ["note"] }]
"#;
    let text = br#"{"doc": "D", "answers": [{"text": "a", "label": "yes"}, {"text": "b", "label": "so"}, {"text": "c", "label": "no"}, {"text": "d", "kind": "note"}]}

{"doc": "E", "answers": []}
{"doc": "F", "answers": null}
{"doc": "G"}
{"doc": "H", "answers": [
"#;
    let (examples, problems, rows) = reading("no yes", reader, &[("a.jsonl", text)]);
    assert_eq!(prompts(&examples), [("a.jsonl#1.1", "a"), ("a.jsonl#1.3", "c")]);
    assert!(examples.iter().all(|example| example.group == "D" && example.fields["reference"] == "D"));
    assert_eq!(
        messages(&problems),
        [
            "a.jsonl:1: element 2 of \"answers\": column \".label\" holds the label \"so\", which is none of \"no\", \
             \"yes\"",
            "a.jsonl:4: column \"answers\" holds null where a list should be",
            "a.jsonl:5: column \"answers\" holds nothing where a list should be",
            "a.jsonl:6: it is not JSON at byte 25: EOF while parsing a list",
        ]
    );
    assert_eq!(rows, 5);
}

#[test]
fn an_element_may_itself_be_the_text() {
    let reader = r#"
files = ["a.json"]
each = "answers"
fields = { prompt = "." }
label = { columns = ["label"] }
"#;
    let text = br#"[{"label": "yes", "answers": ["a", "b"]}]"#;
    let (examples, _, _) = reading("no yes", reader, &[("a.json", text)]);
    assert_eq!(prompts(&examples), [("a.json#1.1", "a"), ("a.json#1.2", "b")]);
}

#[test]
fn lines_of_json_keep_their_physical_lines() {
    let reader = r#"
files = ["a.jsonl"]
fields = { prompt = "q" }
label = { columns = ["l"] }
"#;
    let text = b"\xef\xbb\xbf{\"q\": \"a\", \"l\": \"no\"}\r\n\r\n{\"q\": \"\xff\", \"l\": \"no\"}\nnot json\n[1]\n{\"q\": \"\\ud800\", \"l\": \"no\"}\n{\"q\": \"b\", \"l\": \"yes\"}";
    let (examples, problems, rows) = reading("no yes", reader, &[("a.jsonl", text)]);
    assert_eq!(prompts(&examples), [("a.jsonl#1", "a"), ("a.jsonl#6", "b")]);
    let lines: Vec<&str> =
        problems.iter().map(|problem| problem.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(lines, ["a.jsonl:3", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6"]);
    assert_eq!(messages(&problems)[2], "a.jsonl:5: there is no label in column \"l\"");
    assert_eq!(rows, 6);
}

#[test]
fn files_are_found_by_pattern_unpacked_and_read_in_order() {
    use std::io::Write as _;
    let reader = r#"
files = ["late/z.csv", "part-*/*.csv.gz", "late/*.csv"]
fields = { prompt = "q" }
subset = "$file"
extra = { place = "$row", note = "n" }
label = { columns = ["l"] }
"#;
    let packed = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let row = |text: &str| format!("q,l,n\n{text},no,n-{text}\n").into_bytes();
    let (b, a, z, y) = (packed(&row("b")), packed(&row("a")), row("z"), row("y"));
    let files = [
        ("part-2/x.csv.gz", b.as_slice()),
        ("part-1/w.b.csv.gz", &a),
        ("part-1/w.csv", b"not meant"),
        ("part-1/.hidden.csv.gz", b"not meant"),
        ("late/z.csv", &z),
        ("late/y.csv", &y),
    ];
    let (examples, problems, _) = reading("no yes", reader, &files);
    assert_eq!(
        prompts(&examples),
        [
            ("late/z.csv#1", "z"),
            ("part-1/w.b.csv.gz#1", "a"),
            ("part-2/x.csv.gz#1", "b"),
            ("late/y.csv#1", "y")
        ]
    );
    let subsets: Vec<_> = examples.iter().filter_map(|example| example.subset.as_deref()).collect();
    assert_eq!(subsets, ["z", "w.b", "x", "y"]);
    assert_eq!((&*examples[1].extra["place"], &*examples[1].extra["note"]), ("1", "n-a"));
    assert_eq!(problems, [""; 0]);

    let error = try_reading(&task("no yes", reader).unwrap(), &[("late/z.csv", &z)]).unwrap_err();
    assert_eq!(error, DataError::NoFile { repository: "o/n".into(), file: "part-*/*.csv.gz".into() });
    // A packed file that breaks off is not taken for a shorter one.
    let broken = &b[..b.len() - 9];
    let files = [("late/z.csv", z.as_slice()), ("part-1/w.csv.gz", broken)];
    let error = try_reading(&task("no yes", reader).unwrap(), &files).unwrap_err();
    assert!(matches!(error, DataError::Unreadable { file, .. } if file == "part-1/w.csv.gz"));
}

#[test]
fn quotes_mean_something_in_tsv_and_nothing_in_raw_tsv() {
    let reader = |format: &str| {
        format!(
            "files = [\"a.txt\"]\nformat = \"{format}\"\nfields = {{ prompt = \"q\" }}\nlabel = {{ columns = [\"l\"] }}"
        )
    };
    let text = b"q\tl\n\"a\tb\"\tno\n\"c\tyes\n";
    let (examples, problems, _) = reading("no yes", &reader("tsv"), &[("a.txt", text)]);
    assert_eq!(prompts(&examples), [("a.txt#1", "a\tb")]);
    assert_eq!(
        messages(&problems),
        ["a.txt:3: a quote is opened and never closed, so the row runs to the end of the file"]
    );
    let (examples, problems, _) = reading("no yes", &reader("rawtsv"), &[("a.txt", text)]);
    assert_eq!(prompts(&examples), [("a.txt#2", "\"c")]);
    assert_eq!(messages(&problems), ["a.txt:2: it has 3 columns where the line of names has 2"]);
}

/// A zip of files that are not packed, which is all that a workbook needs.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut sum = flate2::Crc::new();
        sum.update(text.as_bytes());
        let size = u32::try_from(text.len()).unwrap().to_le_bytes();
        let name_size = u16::try_from(name.len()).unwrap().to_le_bytes();
        // Version 2.0, no flags, stored, no time and date; sum, both sizes, length of name, no extra field.
        let mut shared = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        shared.extend(sum.sum().to_le_bytes());
        shared.extend([size, size].concat());
        shared.extend(name_size);
        shared.extend([0, 0]);
        let start = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        directory
            .extend([b"PK\x01\x02\x14\0".as_slice(), &shared, &[0; 10], &start, name.as_bytes()].concat());
        bytes.extend([b"PK\x03\x04".as_slice(), &shared, name.as_bytes(), text.as_bytes()].concat());
    }
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let start = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let size = u32::try_from(directory.len()).unwrap().to_le_bytes();
    bytes.extend(directory);
    bytes.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &size, &start, &[0, 0]].concat());
    bytes
}

/// A workbook with one sheet of these rows.
fn workbook(rows: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let leads = |kind: &str, to: &str| {
        format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{office}/{kind}\" Target=\"{to}\"/>\
             </Relationships>"
        )
    };
    let sheets = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/></sheets>\
         </workbook>"
    );
    let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>");
    zip(&[
        ("_rels/.rels", &leads("officeDocument", "xl/workbook.xml")),
        ("xl/workbook.xml", &sheets),
        ("xl/_rels/workbook.xml.rels", &leads("worksheet", "worksheets/sheet1.xml")),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

/// A cell of text at a place such as `B2`.
fn text_at(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

/// A cell of a number, or with `t="e"` of an error.
fn value_at(place: &str, kind: &str, value: &str) -> String {
    format!("<c r=\"{place}\"{kind}><v>{value}</v></c>")
}

const WORKBOOK: &str = r#"
files = ["a.xlsx"]
fields = { prompt = "q" }
label = { columns = ["l"], map = { "1" = "yes", "0" = "no" } }
"#;

#[test]
fn the_first_sheet_of_a_workbook_is_a_table() {
    let error = " t=\"e\"";
    // The sheet begins in its second row and column; the fourth row is empty.
    let rows: [&[String]; 5] = [
        &[text_at("B2", "q"), text_at("C2", "l"), text_at("E2", "unused")],
        &[text_at("B3", "first"), value_at("C3", "", "1"), value_at("E3", error, "#N/A")],
        &[value_at("B5", "", "2.5"), value_at("C5", "", "0"), value_at("D5", "", "7")],
        &[text_at("B6", "third"), value_at("C6", error, "#DIV/0!")],
        &[text_at("B7", "fourth"), value_at("C7", "", "3")],
    ];
    let rows: String = rows.iter().map(|cells| format!("<row>{}</row>", cells.concat())).collect();
    let (examples, problems, rows) = reading("no yes", WORKBOOK, &[("a.xlsx", &workbook(&rows))]);
    assert_eq!(prompts(&examples), [("a.xlsx#1", "first"), ("a.xlsx#2", "2.5")]);
    assert_eq!(examples.iter().map(shares).collect::<Vec<_>>(), [[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!(
        messages(&problems),
        [
            "a.xlsx:6: column \"l\" holds the error #DIV/0!",
            "a.xlsx:7: column \"l\" holds the label \"3\", which is none of \"0\", \"1\"",
        ]
    );
    assert_eq!(rows, 4);
}

#[test]
fn a_hostile_workbook_ends_in_an_error_or_in_little() {
    let error =
        |book: &[u8]| try_reading(&task("no yes", WORKBOOK).unwrap(), &[("a.xlsx", book)]).unwrap_err();
    assert!(matches!(error(b"no workbook"), DataError::Form { file, .. } if file == "a.xlsx"));
    assert!(error(&workbook("")).to_string().contains("its first sheet is empty"));
    // Two cells as far apart as a sheet allows: as a whole table they would be 17 thousand million.
    let names = text_at("A1", "q") + &text_at("XFD1", "l");
    let far = format!("<row>{names}</row><row>{}</row>", text_at("A1048576", "x"));
    let (examples, problems, rows) = reading("no yes", WORKBOOK, &[("a.xlsx", &workbook(&far))]);
    assert_eq!((examples.len(), rows), (0, 1));
    assert_eq!(messages(&problems), ["a.xlsx:1048576: there is no label in column \"l\""]);
    // A place whose number does not fit into 32 bits: an error, or in a build without checks some other place.
    let place = format!("<row>{names}</row><row>{}</row>", text_at("A99999999999999", "x"));
    let read = try_reading(&task("no yes", WORKBOOK).unwrap(), &[("a.xlsx", &workbook(&place))]);
    assert!(read.is_err() || read.is_ok_and(|(items, _)| items.iter().all(Result::is_err)));
}

#[test]
fn several_columns_are_several_raters() {
    let reader = r#"
files = ["a.csv"]
fields = { prompt = "q" }
label = { columns = ["l", "m", "n"], skip = ["unsure"] }
"#;
    let text = b"q,l,m,n\na,no,yes,yes\nb,no,,unsure\nc,,,\nd,unsure,,\ne,no,no,never\n";
    let (examples, problems, _) = reading("no yes", reader, &[("a.csv", text)]);
    // Two of three said yes; of b one rater is left; d is left out on purpose, c by mistake.
    assert!(close(&shares(&examples[0]), &[1.0 / 3.0, 2.0 / 3.0]));
    assert!(close(&shares(&examples[1]), &[1.0, 0.0]));
    assert_eq!(examples.iter().map(|example| example.raters).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(
        messages(&problems),
        [
            "a.csv:4: there is no label in column \"l\", \"m\", \"n\"",
            "a.csv:6: column \"n\" holds the label \"never\", which is none of \"no\", \"yes\"",
        ]
    );
}

#[test]
fn the_elements_of_a_list_are_raters() {
    let reader = |column: &str| {
        format!(
            "files = [\"a.json\"]\nfields = {{ prompt = \"q\" }}\nlabel = {{ columns = [\"{column}\"], skip = [\"0\"] }}"
        )
    };
    let text = br#"[{"q": "a", "l": [1, 2.0, "2", null, 0], "r": [{"l": 1}, {"l": 3}, {}]},
        {"q": "b", "l": [0, null], "r": [{"l": 0}]}, {"q": "c", "l": [[1]], "r": []}]"#;
    let (examples, problems, _) = reading("1 2 3", &reader("l"), &[("a.json", text)]);
    assert!(close(&shares(&examples[0]), &[1.0 / 3.0, 2.0 / 3.0, 0.0]));
    assert_eq!((examples.len(), examples[0].raters), (1, 3));
    assert_eq!(messages(&problems), ["a.json:3: column \"l\" holds a list where a text should be"]);

    let (examples, problems, _) = reading("1 2 3", &reader("r.*.l"), &[("a.json", text)]);
    assert!(close(&shares(&examples[0]), &[0.5, 0.0, 0.5]));
    assert_eq!((examples.len(), examples[0].raters), (1, 2));
    assert_eq!(messages(&problems), ["a.json:3: there is no label in column \"r.*.l\""]);
}

#[test]
fn a_number_is_shared_between_the_two_options_beside_it() {
    let reader = |range: &str| {
        format!(
            "files = [\"a.csv\"]\nfields = {{ prompt = \"q\" }}\nlabel = {{ columns = [\"l\", \"m\"], range = {range} }}"
        )
    };
    let text = b"q,l,m\na,7,\nb,0,\nc,10,\nd,2.5,7\ne,11,\nf,nan,\ng,high,\nh,1e400,\n";
    let (examples, problems, _) = reading("1 2 3 4 5", &reader("[0.0, 10.0]"), &[("a.csv", text)]);
    // 7 of 10 is 1 + 0.7 * 4 = 3.8 of 5; 2.5 is 2, and its mean with 3.8 has half of each.
    assert!(close(&shares(&examples[0]), &[0.0, 0.0, 0.2, 0.8, 0.0]));
    assert_eq!(shares(&examples[1]), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(shares(&examples[2]), [0.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(close(&shares(&examples[3]), &[0.0, 0.5, 0.1, 0.4, 0.0]));
    assert_eq!(
        messages(&problems),
        [
            "a.csv:6: column \"l\" holds 11, which is not from 0 to 10",
            "a.csv:7: column \"l\" holds \"nan\", which is not a number",
            "a.csv:8: column \"l\" holds \"high\", which is not a number",
            "a.csv:9: column \"l\" holds \"1e400\", which is not a number",
        ]
    );
    // The best number first: 10 is the worst, 0 the best, and 7 is 1 + 0.3 * 4 = 2.2.
    let (examples, _, _) = reading("1 2 3 4 5", &reader("[10.0, 0.0]"), &[("a.csv", text)]);
    assert!(close(&shares(&examples[0]), &[0.0, 0.8, 0.2, 0.0, 0.0]));
    assert_eq!(shares(&examples[1]), [0.0, 0.0, 0.0, 0.0, 1.0]);
    // Options need not be evenly spaced: 6 of 10 is 1 + 0.6 * 4 = 3.4, which is 0.7 of the way from 2 to 4.
    let (examples, _, _) = reading("1 2 4 5", &reader("[0.0, 10.0]"), &[("a.csv", b"q,l,m\na,6,\n")]);
    assert!(close(&shares(&examples[0]), &[0.0, 0.3, 0.7, 0.0]));
}

#[test]
fn a_mark_parts_the_label_from_the_rest() {
    let reader = |mark: &str| {
        format!(
            "files = [\"a.csv\"]\nfields = {{ prompt = \"q\" }}\nlabel = {{ columns = [\"l\"], after = \"{mark}\" }}"
        )
    };
    let text = b"q,l\na,so: no: yes\nb,yes (sure) (no)\nc,yes\n";
    let (examples, problems, _) = reading("no yes", &reader(":"), &[("a.csv", text)]);
    assert_eq!((prompts(&examples), shares(&examples[0])), (vec![("a.csv#1", "a")], vec![0.0, 1.0]));
    assert_eq!(
        messages(&problems),
        ["a.csv:3: the mark \":\" is not in column \"l\"", "a.csv:4: the mark \":\" is not in column \"l\""]
    );
    let (examples, _, _) = reading("no yes", &reader("before:("), &[("a.csv", text)]);
    assert_eq!((prompts(&examples), shares(&examples[0])), (vec![("a.csv#2", "b")], vec![0.0, 1.0]));
}

#[test]
fn the_right_text_of_generation_is_read() {
    let reader = r#"
files = ["a.csv"]
fields = { prompt = "q" }
label = { text = "t", after = "Critique:", skip = ["none"] }
"#;
    let text = b"q,t\na,Critique: It is wrong. \nb,Critique:\nc,Critique: none\nd,nothing\n";
    let (examples, problems, _) = reading("text", reader, &[("a.csv", text)]);
    assert_eq!(examples.len(), 1);
    assert_eq!(examples[0].target, Target::Text("It is wrong.".into()));
    assert_eq!(
        messages(&problems),
        [
            "a.csv:3: there is no text in column \"t\"",
            "a.csv:5: the mark \"Critique:\" is not in column \"t\""
        ]
    );
}

#[test]
fn only_rows_that_meet_all_conditions_are_taken() {
    let reader = r#"
files = ["a.jsonl"]
fields = { prompt = "q" }
label = { columns = ["l"] }
only = [{ column = "part", is = ["1", "test"] }, { column = "flag", not = ["true", ""] }]
"#;
    let text = br#"{"q": "a", "l": "no", "part": 1, "flag": false}
{"q": "b", "l": "no", "part": 1.0, "flag": "x"}
{"q": "c", "l": "no", "part": 2, "flag": "x"}
{"q": "d", "l": "no", "part": " test ", "flag": true}
{"q": "e", "l": "no", "part": "test"}
{"q": "f", "l": "no", "flag": false}
{"q": "g", "l": "no", "part": "test", "flag": 0}
{"q": "", "l": "what", "part": 3, "flag": 0}
"#;
    let (examples, problems, rows) = reading("no yes", reader, &[("a.jsonl", text)]);
    assert_eq!(prompts(&examples), [("a.jsonl#1", "a"), ("a.jsonl#2", "b"), ("a.jsonl#7", "g")]);
    // A row that is not meant is not looked at further.
    assert_eq!((problems, rows), (Vec::new(), 8));
}

#[test]
fn rows_of_the_same_texts_are_merged_and_every_rater_counts_the_same() {
    let reader = r#"
files = ["a.csv"]
fields = { prompt = "q", reference = "r" }
label = { columns = ["l", "m"] }
merge = true
"#;
    let text = b"q,r,l,m\na,x,no,no\nb,x,yes,\na,x,yes,\na,y,no,\nb,x,yes,yes\na,x,oops,\n";
    let (examples, problems, rows) = reading("no yes", reader, &[("a.csv", text)]);
    assert_eq!(prompts(&examples), [("a.csv#1", "a"), ("a.csv#2", "b"), ("a.csv#4", "a")]);
    // Of "a x": two raters no in row 1, one yes in row 3.
    assert!(close(&shares(&examples[0]), &[2.0 / 3.0, 1.0 / 3.0]));
    assert!(close(&shares(&examples[1]), &[0.0, 1.0]));
    assert_eq!(examples.iter().map(|example| example.raters).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!((problems.len(), rows), (1, 6));
}

#[test]
fn pairs_have_two_responses_and_a_preference() {
    let reader = r#"
files = ["a.json"]
fields = { prompt = "q" }
responses = ["answers.0", "answers.1"]
label = { columns = ["votes"], map = { "1" = "first", "2" = "second", "0" = "tie" } }
merge = true
"#;
    let text = br#"[{"q": "a", "answers": ["x", "y"], "votes": [1, 2, 2, 0]}, {"q": "a", "answers": ["x", "y"], "votes": 1},
        {"q": "a", "answers": ["x"], "votes": 1}, {"q": "a", "answers": ["y", "x"], "votes": 1}]"#;
    let (examples, problems, _) = reading("pair", reader, &[("a.json", text)]);
    assert_eq!(examples[0].responses, Some(["x".into(), "y".into()]));
    assert_eq!(examples[0].target, Target::Preference { first: 0.4, second: 0.4, tie: 0.2 });
    assert_eq!(examples[0].raters, 5);
    assert_eq!(examples[1].target, Target::Preference { first: 1.0, second: 0.0, tie: 0.0 });
    assert_eq!(messages(&problems), ["a.json:3: there is nothing in column \"answers.1\""]);
}

#[test]
fn the_group_is_the_prompt_where_no_other_is_named() {
    let (examples, _, _) = reading("no yes", PLAIN, &[("a.csv", b"q,l\nwhat,1\n")]);
    assert_eq!((examples[0].group.as_str(), &examples[0].subset), ("what", &None));
    let reader = format!("{PLAIN}group = \"g\"\nsubset = \"s\"\nextra = {{ e = \"e\" }}\n");
    let (examples, problems, _) =
        reading("no yes", &reader, &[("a.csv", b"q,l,g,s,e\nwhat,1,doc,,x\nwhat,1,,s,x\n")]);
    assert_eq!((examples.len(), examples[0].group.as_str(), &examples[0].subset), (1, "doc", &None));
    assert_eq!(messages(&problems), ["a.csv:3: column \"g\" is empty"]);
}

#[test]
fn a_file_of_another_form_is_an_error_that_names_it() {
    let of = |reader: &str, name: &str, text: &[u8]| {
        try_reading(&task("no yes", reader).unwrap(), &[(name, text)]).unwrap_err().to_string()
    };
    assert_eq!(of(PLAIN, "a.csv", b""), "a.csv: it is empty; its first line must name the columns");
    assert_eq!(of(PLAIN, "a.csv", b"q,m\n1,2\n"), "a.csv: it has no column \"l\"; there are \"q\", \"m\"");
    assert_eq!(
        of(PLAIN, "a.csv", b"q,l,l\n1,2,3\n"),
        "a.csv: it has the column \"l\" twice; which is meant is not known"
    );
    assert!(of(PLAIN, "b.csv", b"").starts_with("o/n has no file a.csv; fetch the whole repository"));
    let json = PLAIN.replace("a.csv", "a.json").replace("fields", "rows = \"x\"\nfields");
    assert_eq!(
        of(&json, "a.json", b"{\"x\": 1}"),
        "a.json: its rows at \"x\" are a number, not a list or a table"
    );
    assert_eq!(
        of(&json, "a.json", b"{\"y\": 1}"),
        "a.json: there is nothing at \"x\", where its rows should be"
    );
    assert_eq!(
        of(&json, "a.json", b"{\"x\": [1, ]}"),
        "a.json: it is not a JSON document: trailing comma at line 1 column 11"
    );
}

#[test]
fn a_column_of_an_optional_text_may_be_absent() {
    let reader = PLAIN.replace("prompt = \"q\"", "prompt = \"q\", reference = \"r\"");
    let (examples, _, _) = reading("no yes", &reader, &[("a.csv", b"q,l\na,1\n")]);
    assert!(!examples[0].fields.contains_key("reference"));
}

#[test]
fn a_specification_that_does_not_suit_its_task_is_refused() {
    let label = "label = { columns = [\"l\"] }";
    let fields = "fields = { prompt = \"q\" }";
    let full = format!("files = [\"a.csv\"]\n{fields}\n{label}");
    let cases: &[(&str, String, &str)] = &[
        ("no yes", format!("{fields}\n{label}"), "reader.files: name at least one file"),
        ("no yes", full.replace("a.csv", "../a.csv"), "must be relative to the repository and within it"),
        ("no yes", full.replace("a.csv", "/a.csv"), "must be relative to the repository and within it"),
        ("no yes", full.replace("a.csv", "a.txt"), "the extension of \"a.txt\" does not tell its form"),
        (
            "no yes",
            format!("files = [\"a.csv\"]\n{label}"),
            "reader.fields: say in which column \"prompt\" is",
        ),
        (
            "no yes",
            full.replace("= \"q\"", "= \"q\", other = \"o\""),
            "\"other\" is not in the task's context",
        ),
        ("no yes", format!("files = [\"a.csv\"]\n{fields}"), "reader.label: say where the label is"),
        ("no yes", format!("{full}\nresponses = [\"a\", \"b\"]"), "here 0 are needed and 2 are given"),
        ("pair", full.clone(), "here 2 are needed and 0 are given"),
        ("no yes", full.replace("[\"l\"] }", "[] }"), "reader.label.columns: name at least one column"),
        (
            "no yes",
            full.replace("] }", "], map = { a = \"maybe\" } }"),
            "\"a\" is \"maybe\", which is none of no, yes",
        ),
        (
            "pair",
            format!("{full}\nresponses = [\"a\", \"b\"]")
                .replace("[\"l\"] }", "[\"l\"], map = { a = \"A\" } }"),
            "\"a\" is \"A\", which is none of first, second, tie",
        ),
        ("no yes", full.replace("] }", "], map = { \" a\" = \"no\" } }"), "because cells are trimmed"),
        ("no yes", full.replace("] }", "], text = \"t\" }"), "reader.label.text is for generation"),
        ("text", full.clone(), "a generation task has a text"),
        ("no yes", full.replace("] }", "], range = [1.0, 1.0] }"), "give two different numbers"),
        (
            "no yes",
            full.replace("] }", "], range = [0.0, 1.0], map = { a = \"no\" } }"),
            "give either a map or a range",
        ),
        (
            "pair",
            format!("{full}\nresponses = [\"a\", \"b\"]")
                .replace("[\"l\"] }", "[\"l\"], range = [0.0, 1.0] }"),
            "reader.label.range is for tasks with options",
        ),
        ("no yes", format!("{full}\neach = \"x\""), "reader.each is for JSON"),
        ("no yes", format!("{full}\nrows = \"x\""), "reader.rows is for JSON documents"),
        ("no yes", full.replace("a.csv", "a.json").replace("\"q\"", "\".q\""), "but each is not given"),
        ("no yes", full.replace("\"q\"", "\"$key\""), "there is no $key in \"a.csv\""),
        ("no yes", full.replace("\"q\"", "\"$line\""), "there is no column \"$line\""),
        ("no yes", format!("{full}\nonly = [{{ column = \"x\" }}]"), "nothing is said of column \"x\""),
        ("no yes", format!("{full}\ncode = \"x\""), "reader.code stands alone"),
        ("no yes", "code = \"no_such_reader\"".into(), "there is no reader \"no_such_reader\""),
    ];
    for (options, reader, right) in cases {
        let found = task(options, reader).err().unwrap_or_default();
        assert!(found.contains(right), "{reader}\ngave {found:?}, not {right:?}");
    }
    assert_eq!(task("no yes", &full).err(), None);
}
