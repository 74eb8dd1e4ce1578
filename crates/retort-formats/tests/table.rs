//! Files of examples: every known kind, the pitfalls P25 to P32 that concern files, and the way there and back.
//!
//! All rows are invented for this project, in the shapes that the tools' own documentation and sources give.

#![expect(clippy::panic, reason = "a test fails by it")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use retort_formats::table::{
    ComparatorError, Container, Fault, Role, Shape, Table, TableError, TableRow, llm_comparator, read, write,
};
use serde_json::{Value, json};

fn table(text: &str) -> Table {
    table_of(text.as_bytes())
}

fn table_of(bytes: &[u8]) -> Table {
    match read(bytes, "test") {
        Ok(table) => table,
        Err(error) => panic!("{error}"),
    }
}

fn refused(bytes: &[u8]) -> String {
    match read(bytes, "test") {
        Ok(table) => panic!("read without an error: {table:?}"),
        Err(error) => error.to_string(),
    }
}

/// The values of a column.
fn column<'t>(table: &'t Table, name: &str) -> Vec<Option<&'t str>> {
    let Some(place) = table.column(name) else { panic!("no column {name:?} in {:?}", table.columns) };
    table.rows.iter().map(|row| row.get(place)).collect()
}

fn lines(table: &Table) -> Vec<usize> {
    table.rows.iter().map(|row| row.line).collect()
}

/// What each row has, by column: what must survive writing and reading.
fn values(table: &Table) -> Vec<BTreeMap<&str, &str>> {
    let of = |row: &'_ TableRow| -> Vec<(usize, String)> {
        row.values.iter().cloned().enumerate().filter_map(|(place, value)| Some((place, value?))).collect()
    };
    table
        .rows
        .iter()
        .map(|row| {
            of(row)
                .into_iter()
                .filter_map(|(place, _)| Some((table.columns.get(place)?.as_str(), row.get(place)?)))
                .collect()
        })
        .collect()
}

/// A file of each known kind, and the first value that each role must point to.
struct Kind {
    shape: Shape,
    text: &'static str,
    roles: &'static [(Role, &'static str, &'static str)],
}

const KINDS: &[Kind] = &[
    Kind {
        shape: Shape::FlaskSet,
        text: r#"{"idx":7,"instruction":"Name a river.","answer":"The Elbe.","task":"geo","skill":["factuality","conciseness"],"domain":["Geography"],"difficulty":"simple lifestyle"}
{"idx":8,"instruction":"Add 2 and 3.","answer":"5","task":"maths","skill":["logical correctness"],"domain":["Math"],"difficulty":"formal education"}
"#,
        roles: &[
            (Role::Id, "idx", "7"),
            (Role::Prompt, "instruction", "Name a river."),
            (Role::Reference, "answer", "The Elbe."),
            (Role::Domain, "domain", "[\"Geography\"]"),
            (Role::Difficulty, "difficulty", "simple lifestyle"),
            (Role::Skills, "skill", "[\"factuality\",\"conciseness\"]"),
        ],
    },
    Kind {
        shape: Shape::FlaskInput,
        text: "{\"question_id\":1,\"text\":\"Why is snow white?\",\"task\":\"why\",\"answer\":\"It scatters light.\"}\n",
        roles: &[
            (Role::Id, "question_id", "1"),
            (Role::Prompt, "text", "Why is snow white?"),
            (Role::Reference, "answer", "It scatters light."),
        ],
    },
    Kind {
        shape: Shape::FlaskOutput,
        text: "{\"question_id\":1,\"text\":\"Because it scatters light.\",\"model_id\":\"small\"}\n",
        roles: &[
            (Role::Id, "question_id", "1"),
            (Role::Response, "text", "Because it scatters light."),
            (Role::Model, "model_id", "small"),
        ],
    },
    Kind {
        shape: Shape::FlaskReview,
        text: r#"{"question_id":1,"text":"Why is snow white?","target_txt":"Light.","review":"Short, but true.","score":{"factuality":4,"harmlessness":"N/A"}}
{"question_id":2,"text":"Name a river.","target_txt":"Elbe","review":"Good.","score":{"factuality":5,"conciseness":5}}
"#,
        roles: &[(Role::Prompt, "text", "Why is snow white?"), (Role::Response, "target_txt", "Light.")],
    },
    Kind {
        shape: Shape::Prometheus,
        text: r#"{"one":{"instruction":"Greet me.","response":"Hello.","reference_answer":"Good day.","score_rubric":{"criteria":"Is it kind?","score1_description":"No.","score5_description":"Yes."},"score":4},"two":{"instruction":"Say bye.","response":"Bye.","reference_answer":"Goodbye.","score_rubric":{"criteria":"Is it kind?","score1_description":"No.","score5_description":"Yes."},"score":3}}"#,
        roles: &[
            (Role::Id, "id", "one"),
            (Role::Prompt, "instruction", "Greet me."),
            (Role::Response, "response", "Hello."),
            (Role::Reference, "reference_answer", "Good day."),
            (Role::Human, "score", "4"),
        ],
    },
    Kind {
        shape: Shape::Prometheus,
        text: "{\"orig_instruction\":\"Greet me.\",\"orig_response\":\"Hello.\",\"orig_reference_answer\":\"Good day.\",\"orig_criteria\":\"Kind?\",\"orig_score1_description\":\"No.\",\"orig_score\":\"2\",\"instruction\":\"Judge this.\"}\n",
        roles: &[
            (Role::Prompt, "orig_instruction", "Greet me."),
            (Role::Response, "orig_response", "Hello."),
            (Role::Human, "orig_score", "2"),
        ],
    },
    Kind {
        shape: Shape::Biggen,
        text: r#"[{"id":"planning_0","capability":"planning","instance_idx":0,"system_prompt":"You plan.","input":"Plan a walk.","reference_answer":"Go north.","score_rubric":{"criteria":"Can it be walked?","score1_description":"No."},"response":"Go.","human_score":2}]"#,
        roles: &[
            (Role::Id, "id", "planning_0"),
            (Role::System, "system_prompt", "You plan."),
            (Role::Prompt, "input", "Plan a walk."),
            (Role::Human, "human_score", "2"),
            (Role::Domain, "capability", "planning"),
        ],
    },
    Kind {
        shape: Shape::MtBenchQuestion,
        text: "{\"question_id\":81,\"category\":\"writing\",\"turns\":[\"Write a line.\",\"Now in verse.\"],\"reference\":[\"A line.\",\"A verse.\"]}\n{\"question_id\":82,\"category\":\"maths\",\"turns\":[\"1 + 1?\"]}\n",
        roles: &[
            (Role::Id, "question_id", "81"),
            (Role::Prompt, "turns_as_text", "User: Write a line.\n\nUser: Now in verse."),
            (Role::Reference, "reference_as_text", "A line.\n\nA verse."),
            (Role::Domain, "category", "writing"),
        ],
    },
    Kind {
        shape: Shape::MtBenchAnswer,
        text: "{\"question_id\":81,\"model_id\":\"small\",\"choices\":[{\"index\":0,\"turns\":[\"A line.\",\"A verse.\"]}],\"tstamp\":1.5}\n",
        roles: &[
            (Role::Response, "choices_as_text", "Assistant: A line.\n\nAssistant: A verse."),
            (Role::Model, "model_id", "small"),
        ],
    },
    Kind {
        shape: Shape::MtBenchVote,
        text: r#"{"question_id":81,"model_a":"small","model_b":"large","winner":"model_b","judge":"p1","turn":1,"conversation_a":[{"role":"user","content":"Hi?"},{"role":"assistant","content":"Yes."}],"conversation_b":[{"role":"user","content":"Hi?"},{"role":"assistant","content":"Hello!"}]}
"#,
        roles: &[
            (Role::Prompt, "conversation_a_prompt", "Hi?"),
            (Role::Response, "conversation_a_answer", "Yes."),
            (Role::ResponseB, "conversation_b_answer", "Hello!"),
            (Role::Human, "winner", "model_b"),
        ],
    },
    Kind {
        shape: Shape::AlpacaEval,
        text: r#"[{"dataset":"kitchen","instruction":"Boil an egg.","output":"Seven minutes.","generator":"small"}]"#,
        roles: &[
            (Role::Prompt, "instruction", "Boil an egg."),
            (Role::Response, "output", "Seven minutes."),
            (Role::Model, "generator", "small"),
            (Role::Domain, "dataset", "kitchen"),
        ],
    },
    Kind {
        shape: Shape::AlpacaEvalAnnotation,
        text: r#"[{"instruction":"Boil an egg.","output_1":"Seven minutes.","output_2":"In water.","generator_1":"small","generator_2":"large","preference":1.25}]"#,
        roles: &[
            (Role::Response, "output_1", "Seven minutes."),
            (Role::ResponseB, "output_2", "In water."),
            (Role::Human, "preference", "1.25"),
        ],
    },
    Kind {
        shape: Shape::RewardBench,
        text: "{\"prompt\":\"Sum 2, 2.\",\"chosen\":\"4\",\"rejected\":\"5\",\"chosen_model\":\"large\",\"rejected_model\":\"small\",\"subset\":\"maths\",\"id\":3}\n",
        roles: &[
            (Role::Id, "id", "3"),
            (Role::Prompt, "prompt", "Sum 2, 2."),
            (Role::Response, "chosen", "4"),
            (Role::ResponseB, "rejected", "5"),
            (Role::Domain, "subset", "maths"),
        ],
    },
    Kind {
        shape: Shape::TrlPreference,
        text: r#"{"chosen":[{"role":"user","content":"Why?"},{"role":"assistant","content":"So."}],"rejected":[{"role":"user","content":"Why?"},{"role":"assistant","content":"No."}]}
"#,
        roles: &[
            (Role::Prompt, "chosen_prompt", "Why?"),
            (Role::Response, "chosen_answer", "So."),
            (Role::ResponseB, "rejected_answer", "No."),
        ],
    },
    Kind {
        shape: Shape::TrlUnpaired,
        text: "{\"prompt\":\"Why?\",\"completion\":\"So.\",\"label\":true}\n",
        roles: &[
            (Role::Prompt, "prompt", "Why?"),
            (Role::Response, "completion", "So."),
            (Role::Human, "label", "true"),
        ],
    },
    Kind {
        shape: Shape::Llmbar,
        text: r#"[{"input":"Say yes.","output_1":"Yes.","output_2":"No.","label":1}]"#,
        roles: &[
            (Role::Prompt, "input", "Say yes."),
            (Role::Response, "output_1", "Yes."),
            (Role::ResponseB, "output_2", "No."),
            (Role::Human, "label", "1"),
        ],
    },
    Kind {
        shape: Shape::JudgeBench,
        text: "{\"pair_id\":\"p-1\",\"source\":\"quiz\",\"question\":\"2 × 3?\",\"response_model\":\"m\",\"response_A\":\"6\",\"response_B\":\"5\",\"label\":\"A>B\"}\n",
        roles: &[
            (Role::Id, "pair_id", "p-1"),
            (Role::Prompt, "question", "2 × 3?"),
            (Role::Response, "response_A", "6"),
            (Role::ResponseB, "response_B", "5"),
            (Role::Human, "label", "A>B"),
        ],
    },
    Kind {
        shape: Shape::WildBench,
        text: r#"{"session_id":"s1","conversation_input":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":"A joke."}],"checklist":["Is it funny?"],"references":{"gpt-4":"Knock."},"primary_tag":"Fun"}
"#,
        roles: &[
            (Role::Id, "session_id", "s1"),
            (Role::Prompt, "conversation_input_as_text", "User: Hi\n\nAssistant: Yes?\n\nUser: A joke."),
            (Role::Reference, "references.gpt-4", "Knock."),
            (Role::Domain, "primary_tag", "Fun"),
        ],
    },
    Kind {
        shape: Shape::HealthBench,
        text: r#"{"prompt_id":"h1","prompt":[{"role":"user","content":"My foot hurts."}],"rubrics":[{"criterion":"Asks since when.","points":5,"tags":["level:example"]},{"criterion":"Scares.","points":-3,"tags":[]}],"example_tags":["theme:pain"]}
"#,
        roles: &[(Role::Id, "prompt_id", "h1"), (Role::Prompt, "prompt_as_text", "My foot hurts.")],
    },
    Kind {
        shape: Shape::LlmComparator,
        text: r#"{"metadata":{"source_path":"x","custom_fields_schema":[]},"models":[{"name":"a"},{"name":"b"}],"examples":[{"input_text":"Hi","tags":["greeting"],"output_text_a":"Hello","output_text_b":"Hm","score":1.5,"individual_rater_scores":[{"score":1.5,"is_flipped":false,"rationale":"Kind."}],"custom_fields":{"length":"short"}}]}"#,
        roles: &[
            (Role::Prompt, "input_text", "Hi"),
            (Role::Response, "output_text_a", "Hello"),
            (Role::ResponseB, "output_text_b", "Hm"),
            (Role::Human, "score", "1.5"),
        ],
    },
    Kind {
        shape: Shape::EvalAssist,
        text: "context,response,expected_result\nA shop.,\"Hello, sir.\",Yes\nA shop.,Go.,No\n",
        roles: &[(Role::Response, "response", "Hello, sir."), (Role::Human, "expected_result", "Yes")],
    },
    Kind {
        shape: Shape::Promptfoo,
        text: "question,__expected1,__expected2,__metric\nHow far?,contains: km,icontains: far,clear\n",
        roles: &[(Role::Prompt, "question", "How far?")],
    },
    Kind {
        shape: Shape::Promptfoo,
        text: "{\"vars\":{\"question\":\"How far?\"},\"assert\":[{\"type\":\"contains\",\"value\":\"km\",\"threshold\":0.5}]}\n",
        roles: &[(Role::Prompt, "vars.question", "How far?")],
    },
    Kind {
        shape: Shape::Deepeval,
        text: "input,actual_output,expected_output,context,retrieval_context\nHow far?,Two km.,2 km,\"[\"\"map\"\"]\",\n",
        roles: &[
            (Role::Prompt, "input", "How far?"),
            (Role::Response, "actual_output", "Two km."),
            (Role::Reference, "expected_output", "2 km"),
        ],
    },
    Kind {
        shape: Shape::InspectAi,
        text: "{\"input\":\"Which is odd?\",\"target\":[\"B\",\"b\"],\"choices\":[\"2\",\"3\"],\"id\":\"q1\",\"metadata\":{\"level\":1}}\n",
        roles: &[
            (Role::Id, "id", "q1"),
            (Role::Prompt, "input", "Which is odd?"),
            (Role::Reference, "target_as_text", "B\n\nb"),
        ],
    },
    Kind {
        shape: Shape::Ragas,
        text: "{\"user_input\":\"How far?\",\"response\":\"2 km\",\"reference\":\"Two km.\",\"rubrics\":{\"score1_description\":\"Wrong.\",\"score5_description\":\"Right.\"}}\n",
        roles: &[
            (Role::Prompt, "user_input", "How far?"),
            (Role::Response, "response", "2 km"),
            (Role::Reference, "reference", "Two km."),
        ],
    },
    Kind {
        shape: Shape::OpenaiEvals,
        text: "{\"input\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"2 + 2?\"}],\"ideal\":\"4\"}\n",
        roles: &[
            (Role::Prompt, "input_as_text", "System: Be brief.\n\nUser: 2 + 2?"),
            (Role::Reference, "ideal", "4"),
        ],
    },
    Kind {
        shape: Shape::Kiln,
        text: "input,output,reasoning,tags\nHow far?,2 km,I looked.,a;b\n",
        roles: &[(Role::Prompt, "input", "How far?"), (Role::Response, "output", "2 km")],
    },
    Kind {
        shape: Shape::RetortJudgement,
        text: r#"{"format":"retort.judgement/1","version":"0.1.0","task":"rubric_scores","input":{"prompt_sha256":"ab","response_sha256":"cd","reference_sha256":"ef"},"response_model":"small","model":{"name":"judge.gguf","adapter":{"name":"a","strength":1.0}},"backend":"cpu","annotation":{"skills":["factuality"],"domains":[{"domain":"maths","subdomain":"sums"}],"difficulty":"expert_level","by":"code"},"verdicts":[{"rubric_id":"factuality","verdict":{"kind":"scored","expected":3.25}}],"cancelled":false}
"#,
        roles: &[
            (Role::Id, "input.prompt_sha256", "ab"),
            (Role::Model, "response_model", "small"),
            (Role::Difficulty, "annotation.difficulty", "expert_level"),
            (Role::Skills, "annotation.skills", "[\"factuality\"]"),
        ],
    },
];

#[test]
fn p25_every_kind_is_told_from_its_keys_and_its_parts_are_found() {
    for kind in KINDS {
        let table = table(kind.text);
        assert_eq!(table.shape, Some(kind.shape), "{}", kind.text);
        assert_eq!(table.faults, [], "{}", kind.text);
        for (role, name, first) in kind.roles {
            let found = table.roles.get(role).map(String::as_str);
            assert_eq!(found, Some(*name), "{role:?} of {:?}", kind.shape);
            assert_eq!(column(&table, name)[0], Some(*first), "{role:?} of {:?}", kind.shape);
        }
        // No column has two parts.
        let mut columns: Vec<&String> = table.roles.values().collect();
        columns.sort();
        columns.dedup();
        assert_eq!(columns.len(), table.roles.len(), "{:?}", table.roles);
    }
    let known: Vec<Shape> = KINDS.iter().map(|kind| kind.shape).collect();
    for shape in Shape::ALL {
        assert!(known.contains(&shape), "{shape:?} has no file");
    }
}

/// The objects of a JSON file that are its rows.
fn objects(text: &str) -> Vec<Value> {
    let Ok(whole) = serde_json::from_str::<Value>(text) else {
        return text.lines().map(|line| serde_json::from_str(line).unwrap_or(Value::Null)).collect();
    };
    match &whole {
        Value::Array(rows) => rows.clone(),
        Value::Object(object) => match object.get("examples") {
            Some(Value::Array(rows)) => rows.clone(),
            _ => vec![whole],
        },
        _ => Vec::new(),
    }
}

#[test]
fn p30_every_kind_comes_back_as_it_was() {
    for kind in KINDS {
        let first = table(kind.text);
        for container in [Container::Csv, Container::Tsv, Container::Json, Container::Jsonl] {
            let written = write(&first, container);
            let Ok(second) = read(written.as_bytes(), &format!("x.{}", container.id())) else {
                panic!("{written}")
            };
            assert_eq!(second.container, container, "{written}");
            assert_eq!(values(&second), values(&first), "{written}");
            assert_eq!((second.shape, &second.roles), (first.shape, &first.roles), "{written}");
        }
        if !matches!(first.container, Container::Json | Container::Jsonl) {
            assert_eq!(write(&first, first.container), kind.text);
            continue;
        }
        // Not only the values: the same JSON, numbers as numbers, lists and objects where they were.
        let written = objects(&write(&first, Container::Jsonl));
        let expected = if first.columns.contains(&"id".to_owned()) && kind.text.starts_with("{\"one\"") {
            let mut rows: Vec<Value> = Vec::new();
            for id in ["one", "two"] {
                let mut row = objects(kind.text)[0][id].clone();
                row["id"] = json!(id);
                rows.push(row);
            }
            rows
        } else {
            objects(kind.text)
        };
        // A label of people that is a text of digits is the one thing that changes: it becomes a number.
        let loose =
            |rows: &[Value]| json!(rows).to_string().replace("\"orig_score\":\"2\"", "\"orig_score\":2");
        assert_eq!(loose(&written), loose(&expected));
    }
}

#[test]
fn columns_of_unknown_files_are_mapped_by_their_names() {
    let found = |text: &str| table(text).roles.into_iter().collect::<Vec<_>>();
    let role = |role: Role, name: &str| (role, name.to_owned());
    assert_eq!(
        found("No,User Prompt,Model Response,Human Rating,Ground Truth,Topic\n1,a,b,4,c,d\n"),
        [
            role(Role::Prompt, "User Prompt"),
            role(Role::Response, "Model Response"),
            role(Role::Reference, "Ground Truth"),
            role(Role::Human, "Human Rating"),
            role(Role::Domain, "Topic"),
        ]
    );
    // "answer" is the response, unless something else is.
    assert_eq!(
        found("question,answer\na,b\n"),
        [role(Role::Prompt, "question"), role(Role::Response, "answer")]
    );
    assert_eq!(
        found("question,answer,response,overall_human_score\na,b,c,3\n"),
        [
            role(Role::Prompt, "question"),
            role(Role::Response, "response"),
            role(Role::Reference, "answer"),
            role(Role::Human, "overall_human_score"),
        ]
    );
    assert_eq!(found("a,b\n1,2\n"), []);
    assert_eq!(
        found(r#"[{"metadata":{"prompt":"x"},"prompt":"y","text":"z"}]"#),
        [role(Role::Prompt, "prompt"), role(Role::Response, "text")]
    );
    // A chat that ends with an answer is prompt and response.
    let chat = table(
        r#"{"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"U"}]},{"role":"assistant","content":"A"}]}"#,
    );
    assert_eq!(
        chat.roles.into_iter().collect::<Vec<_>>(),
        [role(Role::Prompt, "messages_prompt"), role(Role::Response, "messages_answer")]
    );
    // Where the response stands elsewhere, all of the chat is the prompt.
    let chat = table(
        r#"{"conversations":[{"from":"human","value":"U"},{"from":"gpt","value":"A"},{"from":"tool","value":"T"}],"response":"R"}"#,
    );
    assert_eq!(column(&chat, "conversations_as_text"), [Some("User: U\n\nAssistant: A\n\nTool: T")]);
    assert_eq!(chat.roles.get(&Role::Prompt).map(String::as_str), Some("conversations_as_text"));
}

#[test]
fn p26_marks_of_byte_order_missing_line_ends_and_lists_called_jsonl_are_read() {
    for text in ["prompt,response\nä,b\nc,d\n", "prompt,response\r\nä,b\r\nc,d"] {
        let utf8 = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> =
            [0xff, 0xfe].into_iter().chain(units.iter().flat_map(|unit| unit.to_le_bytes())).collect();
        let big: Vec<u8> =
            [0xfe, 0xff].into_iter().chain(units.iter().flat_map(|unit| unit.to_be_bytes())).collect();
        for bytes in [text.as_bytes(), &utf8, &little, &big] {
            let table = table_of(bytes);
            assert_eq!(table.columns, ["prompt", "response"]);
            assert_eq!(column(&table, "prompt"), [Some("ä"), Some("c")]);
            assert_eq!(column(&table, "response"), [Some("b"), Some("d")]);
        }
    }
    for text in ["{\"a\":1}\n{\"a\":2}", "\u{feff}{\"a\":1}\r\n\r\n{\"a\":2}\r\n"] {
        let table = table(text);
        assert_eq!((table.container, table.rows.len()), (Container::Jsonl, 2));
    }
    let Ok(list) = read("[{\"a\":1},\n{\"a\":2},]".as_bytes(), "x.jsonl") else { panic!("read") };
    assert_eq!((list.container, lines(&list)), (Container::Json, vec![1, 2]));
    // What has one row is a file of what its name says.
    let Ok(one) = read(b"{\"prompt\": \"a\"}", "x.jsonl") else { panic!("read") };
    assert_eq!(one.container, Container::Jsonl);
    let Ok(one) = read(b"{\n\"prompt\": \"a\"}", "x.json") else { panic!("read") };
    assert_eq!((one.container, one.rows.len()), (Container::Json, 1));
    // Half of a pair in UTF-16 costs its row.
    let broken: Vec<u8> =
        [0xfeff_u16, 0x61, 0x0a, 0x62, 0x0a, 0xd800, 0x0a].iter().flat_map(|u| u.to_le_bytes()).collect();
    let table = table_of(&broken);
    assert_eq!((table.rows.len(), table.faults.len(), table.faults[0].line), (1, 1, 3));
}

#[test]
fn p27_records_end_at_lf_alone_and_what_is_written_holds_no_other_line_end() {
    let text = "{\"prompt\":\"a\u{2028}b\u{85}c\u{2029}d\",\"tags\":[\"x\u{2028}y\"]}\n{\"prompt\":\"e\",\"tags\":[]}\n";
    let first = table(text);
    assert_eq!(column(&first, "prompt"), [Some("a\u{2028}b\u{85}c\u{2029}d"), Some("e")]);
    assert_eq!(column(&first, "tags"), [Some("[\"x\u{2028}y\"]"), Some("[]")]);
    let written = write(&first, Container::Jsonl);
    assert!(!written.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{written}");
    assert_eq!(table(&written), first);
    let csv = table("prompt\na\u{2028}b\nc\u{b}d\n");
    assert_eq!(column(&csv, "prompt"), [Some("a\u{2028}b"), Some("c\u{b}d")]);
}

#[test]
fn p28_long_fields_are_read_and_cr_within_quotes_is_kept() {
    let long = "word ".repeat(60_000);
    for container in [Container::Csv, Container::Tsv, Container::Json, Container::Jsonl] {
        let first = table(&format!("prompt,response\n\"a\r\nb\rc\nd\",\"{long}\"\n"));
        assert_eq!(column(&first, "prompt"), [Some("a\r\nb\rc\nd")]);
        assert_eq!(column(&first, "response"), [Some(long.as_str())]);
        assert_eq!(values(&table(&write(&first, container))), values(&first));
    }
}

#[test]
fn p29_no_cell_is_a_formula() {
    let cells = [
        "=1+1", "+49 30 1", "-1.5", "-1-1", "@home", "\tx", "\rx", "\nx", "＝1", "'=x", "''@", "'x", "- a",
        "+1", "1e5", "-2E-3",
    ];
    let guarded = [
        "'=1+1",
        "'+49 30 1",
        "-1.5",
        "'-1-1",
        "'@home",
        "'\tx",
        "'\rx",
        "'\nx",
        "'＝1",
        "''=x",
        "'''@",
        "'x",
        "'- a",
        "+1",
        "1e5",
        "-2E-3",
    ];
    let rows: Vec<Value> = cells.iter().map(|cell| json!({"=name": cell})).collect();
    let first = table(&json!(rows).to_string());
    for container in [Container::Csv, Container::Tsv] {
        let delimiter = if container == Container::Csv { b',' } else { b'\t' };
        let written = write(&first, container);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(written.as_bytes());
        assert_eq!(reader.headers().unwrap().get(0), Some("'=name"));
        let found: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
        assert_eq!(found, guarded);
        let second = table(&written);
        assert_eq!(values(&second), values(&first));
    }
    // A file that is not guarded throughout was not guarded at all: its apostrophes are its own.
    let other = table("a\n'@' is a sign\n- a list\n");
    assert_eq!(column(&other, "a"), [Some("'@' is a sign"), Some("- a list")]);
}

#[test]
fn p32_lines_are_physical_and_a_bad_row_costs_itself_alone() {
    let csv = table("\nprompt,response\n\"a\n\nb\",c\n\nd\ne,f,g\ne,f,,\nh,i\n");
    assert_eq!(lines(&csv), [3, 9, 10]);
    let faults: Vec<usize> = csv.faults.iter().map(|fault| fault.line).collect();
    assert_eq!(faults, [7, 8]);
    assert!(csv.faults[0].message.contains("1 cells and there are 2 columns"), "{}", csv.faults[0].message);
    let bytes = [b"a,b\n1,2\n\xff,3\n4,5\n".as_slice()].concat();
    let latin = table_of(&bytes);
    assert_eq!((lines(&latin), latin.faults[0].line), (vec![2, 4], 3));
    assert!(latin.faults[0].message.contains("UTF-8"));
    // A file with old line ends.
    assert_eq!(lines(&table("a,b\r1,2\r3,4\r")), [2, 3]);

    let jsonl = table("{\"a\":1}\n\n{\"a\":}\n[1]\n{\"a\":\"\\ud800\",\"new\":1}\n{\"a\":2}\n");
    assert_eq!(lines(&jsonl), [1, 6]);
    assert_eq!(jsonl.columns, ["a"]);
    let faults: Vec<(usize, &str)> =
        jsonl.faults.iter().map(|fault| (fault.line, fault.message.split(';').next().unwrap())).collect();
    assert_eq!(
        faults,
        [
            (3, "this is not valid JSON: expected value (at character 6)"),
            (4, "a row must be an object, and this is a list"),
            (5, "this cannot be read as text: unexpected end of hex escape"),
        ]
    );
    let list = table("[\n {\"a\": \"x\n\"},\n {\"a\":\n 2}, 3,\n\n {\"a\": 4}\n, ,{\"a\": 5}] more");
    assert_eq!(lines(&list), [4, 7, 8]);
    assert_eq!(list.faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [2, 5, 8, 8]);
    let cut = table("[{\"a\": 1}, {\"a\": 2}, {\"a\":");
    assert_eq!((cut.rows.len(), cut.faults.len()), (2, 2));
    assert!(cut.faults[1].message.contains("cut off"));
    // A line that is no JSON before lines that are.
    let bad_start = table("# notes\n{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":2}\n");
    assert_eq!((lines(&bad_start), bad_start.faults[0].line), (vec![2, 3], 1));
}

#[test]
fn a_quotation_mark_that_is_never_closed_is_said() {
    let csv = table("a,b\n1,2\n3,\"4\n5,6\n7,8\n");
    assert_eq!(lines(&csv), [2]);
    assert_eq!(csv.faults.len(), 1);
    assert_eq!(csv.faults[0].line, 3);
    assert!(csv.faults[0].message.contains("never closed"));
    // In a file with tabs it is a character like any other.
    let tsv = table("a\tb\n1\t2\n3\t\"4\n5\t6\n");
    assert_eq!(column(&tsv, "b"), [Some("2"), Some("\"4"), Some("6")]);
    assert_eq!((tsv.container, tsv.faults.len()), (Container::Tsv, 0));
    let tsv = table("a\tb\n\"Yes\" it is\t2\n\"x\"\t4\n");
    assert_eq!(column(&tsv, "a"), [Some("\"Yes\" it is"), Some("\"x\"")]);
    assert_eq!(column(&table("a\tb\n\"x\ty\"\t4\n"), "a"), [Some("x\ty")]);
    // Text behind a closing mark would lose the marks.
    let csv = table(
        "a,b\n\"x\" ,1\n\"Yes\" it is,2\n\"say \\\"so\\\" twice\",3\n\"p\nq\"\"\",4\n\"\",\"\"\n5,\"\"\"6\"\n",
    );
    assert_eq!(lines(&csv), [2, 5, 7, 8]);
    assert_eq!(column(&csv, "b"), [Some("1"), Some("4"), None, Some("\"6")]);
    assert_eq!(csv.faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [3, 4]);
    assert!(csv.faults[0].message.contains("behind the quotation mark"), "{}", csv.faults[0].message);
    // Closed at the very end of the file, and a mark within a cell that is not quoted.
    assert_eq!(column(&table("a,b\n1,\"2\n3\""), "b"), [Some("2\n3")]);
    assert_eq!(column(&table("a,b\n1,5\" wide"), "b"), [Some("5\" wide")]);
}

#[test]
fn delimiters_headers_and_rows_in_objects() {
    let semicolons = table("prompt;response\n\"a;b\";c, d\n");
    assert_eq!((semicolons.container, column(&semicolons, "prompt")), (Container::Csv, vec![Some("a;b")]));
    assert_eq!(write(&semicolons, Container::Csv), "prompt,response\na;b,\"c, d\"\n");
    assert_eq!(table("a, a ,,a\n1,2,3,4\n").columns, ["a", "a (2)", "column 3", "a (3)"]);
    // What a delimiter at the end of each line makes is no column.
    assert_eq!(table("a,b,\n1,2,\n3,4,\n").columns, ["a", "b"]);
    assert_eq!(column(&table("[id],x\n1,2\n"), "[id]"), [Some("1")]);
    // An object that holds one list of rows, whatever it is called; rows by id; rows with an id of their own.
    let held = table("{\"version\": 1, \"cases\": [{\"q\": 1},\n {\"q\": 2}]}");
    assert_eq!((held.columns.as_slice(), lines(&held)), (["q".to_owned()].as_slice(), vec![1, 2]));
    let by_id = table("{\"x\": {\"q\": 1},\n\n \"y\": {\"q\": {\"r\": null, \"s\": [1, {\"t\": 2}]}}}");
    assert_eq!(by_id.columns, ["id", "q", "q.r", "q.s"]);
    assert_eq!(column(&by_id, "q.s"), [None, Some("[1,{\"t\":2}]")]);
    assert_eq!(lines(&by_id), [1, 3]);
    assert_eq!(table("{\"x\": {\"id\": 1}}").columns, ["key", "id"]);
    // One record over several lines that holds lists itself.
    let one = table(
        "{\n\"session_id\": \"s\",\n\"conversation_input\": [{\"role\": \"user\", \"content\": \"x\"}]}",
    );
    assert_eq!((one.rows.len(), one.shape), (1, Some(Shape::WildBench)));
    // Of a key that stands twice the last counts; a number is kept as it is written.
    assert_eq!(column(&table("[{\"a\": 1, \"a\": 1.50}]"), "a"), [Some("1.50")]);
}

#[test]
fn what_is_no_table_is_refused_with_what_to_do() {
    for (bytes, expected) in [
        (b"".as_slice(), "test has no rows"),
        (b" \n\n", "test has no rows"),
        (b"[]", "test has no rows"),
        (b"a,b\n", "test has no rows"),
        (b"PK\x03\x04xxxx", "save the sheet as CSV"),
        (b"PAR1xxxx", "Parquet"),
        (b"\x1f\x8bxxxx", "unpack it first"),
        (b"a\0,\0b\0", "UTF-16 with a byte-order mark"),
        (b"\xe4,b\n1,2\n", "test:1: the columns' names are not UTF-8"),
        (b"{\n \"a\": [1, 2\n", "test:3: this is not valid JSON: EOF while parsing a list"),
    ] {
        let message = refused(bytes);
        assert!(message.contains(expected), "{message}");
    }
    assert!(matches!(read(b"", "x"), Err(TableError::Empty { .. })));
}

#[test]
fn texts_stay_texts_and_numbers_numbers() {
    let first = table(
        r#"[{"id":"007","prompt":"1","response":"[1,2]","n":1,"long":12345678901234567890,"flag":true,"list":[],"none":null,"deep":{"a":{"b":{"c":{"d":{"e":1}}}}},"odd":{"x.y":1},"empty":{}}]"#,
    );
    let written: Value = serde_json::from_str(&write(&first, Container::Json)).unwrap();
    assert_eq!(
        written,
        json!([{"id": "007", "prompt": "1", "response": "[1,2]", "n": 1, "long": "12345678901234567890", "flag": true,
                "list": [], "none": null, "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}}, "odd": {"x.y": 1}, "empty": {}}])
    );
    assert_eq!(column(&first, "deep.a.b.c.d"), [Some("{\"e\":1}")]);
    // A dot in the name of a CSV's column is a dot, and in JSON one that nothing stands below.
    let csv = table("gpt-3.5,b\nx,y\n");
    assert_eq!(write(&csv, Container::Jsonl), "{\"gpt-3.5\":\"x\",\"b\":\"y\"}\n");
    // A field that is a value in one row and an object in another.
    let mixed = table("{\"score\":\"none\"}\n{\"score\":{\"clear\":4}}\n");
    assert_eq!(write(&mixed, Container::Jsonl), "{\"score\":\"none\"}\n{\"score\":{\"clear\":4}}\n");
    let both = table("{\"score\":1,\"score.clear\":4}\n");
    assert_eq!(write(&both, Container::Jsonl), "{\"score\":1,\"score.clear\":4}\n");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests run natively, where there is a clock")]
fn ten_thousand_rows_of_two_kilobytes_are_read_at_once_and_hostile_ones_in_bounds() {
    let text = "The quick \\\"fox\\\" jumps. ".repeat(40);
    let row = format!("{{\"prompt\":\"{text}\",\"response\":\"{text}\",\"meta\":{{\"n\":1,\"m\":[1,2]}}}}\n");
    let jsonl = row.repeat(10_000);
    let start = std::time::Instant::now();
    let first = table(&jsonl);
    let json = start.elapsed();
    let csv = write(&first, Container::Csv);
    let start = std::time::Instant::now();
    assert_eq!(table(&csv).rows.len(), 10_000);
    println!("{} bytes of JSON Lines: {json:?}, as CSV: {:?}", jsonl.len(), start.elapsed());
    // Measured 0.2 s on a development build; the bound leaves room for busy machines, and no step is quadratic.
    assert!(json.as_secs() < 10 && start.elapsed().as_secs() < 10);

    // Rows with nothing in common, by themselves and within one field.
    let strange: String = (0..5000).map(|n| format!("{{\"k{n}\":1}}\n")).collect();
    assert!(refused(strange.as_bytes()).contains("next to no keys in common"));
    let within: String = (0..5000).map(|n| format!("{{\"votes\":{{\"k{n}\":1}}}}\n")).collect();
    assert_eq!(column(&table(&within), "votes")[4999], Some("{\"k4999\":1}"));
    // Many empty rows below a wide one must not fill the memory.
    let wide: String = (0..900).map(|n| format!("\"k{n}\":1,")).collect();
    let wide = format!("{{{}}}\n{}", wide.trim_end_matches(','), "{}\n".repeat(100_000));
    assert!(read(wide.as_bytes(), "x").is_err());
    // Deep nesting.
    for open in ["[", "{\"a\":"] {
        let deep = format!("{{\"p\":{}}}\n{{\"p\":1}}\n", open.repeat(100_000));
        let table = table(&deep);
        assert_eq!((table.rows.len(), table.faults.len()), (1, 1));
    }
    let deep = format!("{{\"messages\":{}1{}}}\n", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(table(&deep).rows.len(), 1);
    let header = "a,".repeat(20_000);
    let many = format!("{header}a\n{}1\n", "1,".repeat(20_000));
    let many = table(&many);
    assert_eq!(many.columns.len(), 20_001);
    assert!(write(&many, Container::Jsonl).len() > 200_000);
}

#[test]
fn the_data_has_the_shape_that_the_page_reads() {
    let table = table("prompt,score\na,1\nb\n");
    let data = serde_json::to_value(&table).unwrap();
    let message = table.faults[0].message.as_str();
    assert_eq!(
        data,
        json!({
            "container": "csv",
            "shape": null,
            "columns": ["prompt", "score"],
            "rows": [{"line": 2, "values": ["a", "1"]}],
            "faults": [{"line": 3, "message": message}],
            "roles": {"prompt": "prompt", "human": "score"},
        })
    );
    assert_eq!(serde_json::from_value::<Table>(data.clone()).unwrap(), table);
    let mut with_null = data;
    with_null["roles"]["response"] = Value::Null;
    assert_eq!(serde_json::from_value::<Table>(with_null).unwrap(), table);
    assert_eq!(serde_json::to_value(Shape::AlpacaEvalAnnotation).unwrap(), json!("alpaca_eval_annotation"));
    assert_eq!(serde_json::to_value(Role::ResponseB).unwrap(), json!("response_b"));
    for container in [Container::Csv, Container::Tsv, Container::Json, Container::Jsonl] {
        assert_eq!(Container::from_id(container.id()), Some(container));
        assert_eq!(serde_json::to_value(container).unwrap(), json!(container.id()));
    }
}

#[test]
fn llm_comparator_reads_what_is_written_for_it() {
    let first = table(
        "prompt,response_a,response_b,topic,note\nHi,Hello,Hm,greeting,\"a \"\"b\"\"\"\nBye,,x,,\nYes,a,b,,\n",
    );
    let written = llm_comparator(&first, ["small", "large"], &[Some(0.5), None, None]).unwrap();
    let found: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(
        found,
        json!({
            "metadata": {"source_path": "", "custom_fields_schema": [{"name": "note", "type": "string"}]},
            "models": [{"name": "small"}, {"name": "large"}],
            "examples": [
                {"input_text": "Hi", "tags": ["greeting"], "output_text_a": "Hello", "output_text_b": "Hm", "score": 0.5,
                 "individual_rater_scores": [], "custom_fields": {"note": "a \"b\""}},
                {"input_text": "Yes", "tags": [], "output_text_a": "a", "output_text_b": "b", "score": null,
                 "individual_rater_scores": [], "custom_fields": {}},
            ],
        })
    );
    assert_eq!(table(&written).shape, Some(Shape::LlmComparator));
    assert_eq!(llm_comparator(&first, ["a", "b"], &[]), Err(ComparatorError::Scores { scores: 0, rows: 3 }));
    assert_eq!(
        llm_comparator(&table("prompt,response\na,b\n"), ["a", "b"], &[None]),
        Err(ComparatorError::Missing("second response"))
    );
}

/// Characters that readers and writers stumble over.
fn cell() -> impl Strategy<Value = Option<String>> {
    let special = prop::sample::select(vec![
        "\"", ",", "\t", ";", "\n", "\r", "\r\n", "'", "=", "-", "+", "@", "\\", "{", "}", "[", "]", ":",
        "1", ".", "e", " ", "a", "é", "\u{2028}", "\u{85}", "\u{feff}", "𝄞", "null", "true", "N/A", "\u{0}",
        "\u{7f}",
    ]);
    let odd = prop::collection::vec(special, 1..8).prop_map(|parts| parts.concat());
    let json = prop::sample::select(vec![
        "[]",
        "{}",
        "[1,2]",
        "[1, 2]",
        "{\"a\":1}",
        "{\"a.b\":1}",
        "[\"\\u00e9\"]",
        "[\"\u{2028}\"]",
        "-1.5",
        "1e400",
        "01",
        "true",
        "N/A",
        "[{\"role\":\"user\",\"content\":\"x\"}]",
        "12345678901234567890",
    ])
    .prop_map(str::to_owned);
    prop::option::weighted(0.8, prop_oneof![odd, json, "[ -~]{1,12}"])
}

fn column_name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a",
            "b",
            "a.b",
            "a.b.c",
            "a.b.c.d.e",
            "a.b.c.d.e.f",
            "a..b",
            ".",
            "prompt",
            "messages",
            "x y",
            "-c",
            "'=d",
            "messages_as_text",
            "response",
            "1",
            "3.5",
            "é",
        ])
        .prop_map(str::to_owned),
        "[a-c.]{1,6}",
    ]
}

prop_compose! {
    fn any_table()(
        columns in prop::collection::btree_set(column_name(), 1..6),
        from_json in any::<bool>(),
    )(
        rows in prop::collection::vec(prop::collection::vec(cell(), columns.len()), 1..6),
        columns in Just(columns.into_iter().collect::<Vec<_>>()),
        from_json in Just(from_json),
    ) -> Table {
        let rows = rows.into_iter().enumerate().map(|(index, values)| TableRow { line: index + 2, values }).collect();
        let container = if from_json { Container::Jsonl } else { Container::Csv };
        Table { container, shape: None, columns, rows, faults: Vec::new(), roles: BTreeMap::new() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes, "x");
    }

    #[test]
    fn reading_text_never_panics(parts in prop::collection::vec(cell(), 0..30)) {
        let text: String = parts.into_iter().flatten().collect();
        if let Ok(table) = read(text.as_bytes(), "x.tsv") {
            for row in &table.rows {
                prop_assert_eq!(row.values.len(), table.columns.len());
            }
        }
        let _ = read(format!("[{{\"a\": {text}}}]").as_bytes(), "x");
    }

    #[test]
    fn what_is_written_is_read_with_the_same_values(table in any_table()) {
        for container in [Container::Csv, Container::Tsv, Container::Json, Container::Jsonl] {
            let written = write(&table, container);
            let Ok(second) = read(written.as_bytes(), &format!("x.{}", container.id())) else {
                return Err(TestCaseError::fail(format!("not read: {written:?}")));
            };
            prop_assert_eq!(&second.faults, &Vec::<Fault>::new(), "{}", &written);
            prop_assert_eq!(second.container, container, "{}", &written);
            let mut found = values(&second);
            let mut expected = values(&table);
            // What was derived from a conversation is made anew.
            let derived: Vec<&String> = second.columns.iter().filter(|name| !table.columns.contains(name)).collect();
            for row in &mut found {
                row.retain(|name, _| !derived.iter().any(|derived| derived == name));
            }
            if matches!(container, Container::Json | Container::Jsonl) {
                for row in expected.iter_mut().chain(&mut found) {
                    row.retain(|name, _| *name != "messages_as_text");
                }
            }
            prop_assert_eq!(found, expected, "{}", &written);
        }
    }
}
