//! A model file: its header, configuration, tokenizer, template and tensors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retort_lm::config::Config;
use retort_lm::gguf::Gguf;
use retort_lm::template::ChatTemplate;
use retort_lm::tokenizer::Tokenizer;
use retort_lm::{MemorySource, Segments};

fuzz_target!(|data: &[u8]| {
    let mut source = MemorySource::new("fuzz.gguf", data.to_vec());
    retort_fuzz::bounded(data.len(), || {
        let Ok(gguf) = Gguf::read(&mut source) else { return };
        retort_fuzz::read_tensors(&gguf, &mut source, data.len() as u64);
        let Ok(config) = Config::read(&gguf, &mut source) else { return };
        let Ok(tokenizer) = Tokenizer::read(&gguf, config.vocabulary) else { return };
        let _ = tokenizer.encode_template("<|im_start|>user\nIs 2 + 2 = 4?<|im_end|>");
        let Ok(template) = ChatTemplate::read(&gguf, &tokenizer) else { return };
        let _ = template.turn(Some(&Segments::new().template("Be brief.")));
    });
});
