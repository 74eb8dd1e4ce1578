//! Writes the first inputs of the fuzz targets: `cargo run -p retort-lm --example fuzz-seeds`.

use std::path::Path;

use retort_lm::gguf::{GgufWriter, Value};
use retort_lm::quant::TensorType;
use retort_lm::tiny::{self, AdapterShape, Shape};

fn main() -> std::io::Result<()> {
    // As in fuzz/src/lib.rs, for which the adapter is made.
    let small = Shape {
        width: 32,
        feed_forward: 32,
        layers: 1,
        heads: 2,
        kv_heads: 1,
        kind: Some(TensorType::Q4_0),
        ..Shape::default()
    };
    put("gguf", "llama", &tiny::gguf(small, 1))?;
    let gemma = Shape { architecture: "gemma3", window: 8, caps: (30.0, 20.0), biases: true, ..small };
    put("gguf", "gemma3", &tiny::gguf(gemma, 1))?;
    let phi = Shape {
        architecture: "phi3",
        rotary_factors: true,
        rotary_scale: 1.19,
        original_context: 64,
        window: 8,
        ..small
    };
    put("gguf", "phi3", &tiny::gguf(phi, 1))?;
    let reward = Shape { architecture: "qwen3", head_outputs: 2, head_inner: true, untied: true, ..small };
    put("gguf", "sentencepiece", &sentence_piece(small))?;
    put("gguf", "reward", &tiny::gguf(Shape { rotary_factors: true, ..reward }, 1))?;
    // A matrix of one block in every format, and an entry of every kind.
    let mut formats = GgufWriter::new();
    for (key, value) in [
        ("text", Value::Text("text".into())),
        ("texts", Value::Texts(vec!["a".into(), "b".into()])),
        ("count", Value::Unsigned(1)),
        ("negative", Value::Signed(-1)),
        ("float", Value::Float(0.5)),
        ("bool", Value::Bool(true)),
        ("numbers", Value::Numbers(vec![1.0, 2.0])),
        ("small", Value::SmallNumbers(vec![1, 2])),
        ("general.alignment", Value::Unsigned(32)),
    ] {
        formats.entry(key, value);
    }
    for kind in retort_lm::quant::SUPPORTED {
        formats.tensor(kind.name(), &[kind.block_weights(), 1], kind, vec![1; kind.block_bytes()]);
    }
    put("gguf", "formats", &formats.finish())?;

    let mut five = GgufWriter::new();
    five.entry("general.architecture", Value::Text("llama".into()));
    for name in ["a", "b", "c", "d", "e"] {
        five.tensor(name, &[4], TensorType::F32, vec![0; 16]);
    }
    put("split", "three", &five.finish_split(2).concat())?;
    put("split", "whole", &five.finish())?;

    let adapter = AdapterShape { rank: 2, alpha: 4.0, targets: &["attn_q", "ffn_down"] };
    put("adapter", "two", &tiny::adapter_gguf(small, adapter, 1))?;
    put("adapter", "model", &tiny::gguf(small, 1)[..2000])?;

    put(
        "text",
        "special",
        "<|im_end|>\n<|im_start|>assistant\n\u{ef}\u{bf}\u{bd} the the 2024 café—日本 👩‍🚀\r\n\t ".as_bytes(),
    )?;
    let chat = "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'}}{% endfor %}\
                {% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    put("template", "chatml", chat.as_bytes())?;
    let logic = "{%- set ns = namespace(s='') -%}{%- if messages[0].role == 'system' -%}{%- set ns.s = messages[0].content | trim -%}\
                 {%- set messages = messages[1:] -%}{%- else -%}{{ raise_exception('no') if bos_token is not defined }}{%- endif -%}\
                 {{ bos_token }}{{ ns.s }}{% for m in messages %}{% if loop.index0 % 2 == 1 %}[/A]{% endif %}{{ m.content.strip().split('x')[-1] }}\
                 {% endfor %}{% macro f(x) %}{{ x | tojson }}{% endmacro %}{{ f({'a': [1, 2.5]}) }}{{ strftime_now('%d') }}{{ 'a' * 3 }}";
    put("template", "logic", logic.as_bytes())?;
    let toml = "[[rubric]]\nname = \"Tone\"\ncriterion = \"\"\"The tone\nfits.\"\"\"\nscale = { min = 0, max = 3 }\n\n[[rubric]]\n\
                id = \"b\"\nname = \"B\"\ncriterion = \"c\"\nquestion = \"q?\"\n[[rubric.options]]\nlabel = \"no\"\nvalue = 0\n\
                [[rubric.options]]\nlabel = \"yes\"\nvalue = 1.5\ndescription = \"d\"\n";
    put("rubric", "toml", toml.as_bytes())?;
    let json = r#"{"name": "Done", "criterion": "It is done.", "options": [{"label": "fail", "value": 0}, {"label": "pass", "value": 1e0, "description": "\u00e9"}]}"#;
    put("rubric", "json", json.as_bytes())
}

/// The tiny model with another tokenizer, as in fuzz/src/lib.rs.
fn sentence_piece(shape: Shape) -> Vec<u8> {
    let pieces = ["\u{2581}", "t", "h", "e", "th", "the", "\u{2581}the", "\u{2581}\u{2581}"];
    let mut tokens = ["<unk>", "<s>", "</s>"].map(String::from).to_vec();
    tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    tokens.extend(pieces.map(String::from));
    let types = [vec![2.0, 3.0, 3.0], vec![6.0; 256], vec![1.0; 8]].concat();
    let scores = (0..tokens.len()).map(|id| -(id as f64)).collect();
    let mut writer = tiny::writer(shape, 1);
    writer
        .set("tokenizer.ggml.model", Value::Text("llama".into()))
        .set("tokenizer.ggml.tokens", Value::Texts(tokens))
        .set("tokenizer.ggml.scores", Value::Numbers(scores))
        .set("tokenizer.ggml.token_type", Value::Numbers(types))
        .set("tokenizer.ggml.bos_token_id", Value::Unsigned(1))
        .set("tokenizer.ggml.eos_token_id", Value::Unsigned(2));
    writer.finish()
}

fn put(target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(name), bytes)
}
