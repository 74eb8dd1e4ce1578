//! The formats' meaning against candle-core, an independent implementation in Rust: random blocks of every format.
//!
//! `fixtures/dequant.json` holds the same formats against the Python package gguf; this test sees other blocks in
//! every run of the property test, with every scale bit in play.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests too; clippy knows only the functions marked as such"
)]

use candle_core::Device;
use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use proptest::prelude::*;
use retort_lm::quant::{SUPPORTED, TensorType};

fn candle_type(kind: TensorType) -> GgmlDType {
    match kind {
        TensorType::F32 => GgmlDType::F32,
        TensorType::F16 => GgmlDType::F16,
        TensorType::Bf16 => GgmlDType::BF16,
        TensorType::Q4_0 => GgmlDType::Q4_0,
        TensorType::Q4_1 => GgmlDType::Q4_1,
        TensorType::Q5_0 => GgmlDType::Q5_0,
        TensorType::Q5_1 => GgmlDType::Q5_1,
        TensorType::Q8_0 => GgmlDType::Q8_0,
        TensorType::Q2K => GgmlDType::Q2K,
        TensorType::Q3K => GgmlDType::Q3K,
        TensorType::Q4K => GgmlDType::Q4K,
        TensorType::Q5K => GgmlDType::Q5K,
        TensorType::Q6K => GgmlDType::Q6K,
        other => panic!("{} is not compared", other.name()),
    }
}

fn by_candle(kind: TensorType, bytes: &[u8], weights: usize) -> Vec<f32> {
    let storage = QStorage::from_data(bytes.into(), &Device::Cpu, candle_type(kind)).unwrap();
    let tensor = QTensor::new(storage, (1, weights)).unwrap();
    tensor.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

proptest! {
    #[test]
    fn blocks_mean_what_candle_says(
        kind in prop::sample::select(SUPPORTED.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 512),
    ) {
        // Whole blocks; numbers that are no numbers are not compared.
        let blocks = bytes.len() / kind.block_bytes();
        let bytes = &bytes[..blocks * kind.block_bytes()];
        let weights = blocks * kind.block_weights();
        let mut found = vec![0.0; weights];
        kind.dequantize(bytes, &mut found);
        let right = by_candle(kind, bytes, weights);
        for (found, right) in found.chunks(kind.block_weights()).zip(right.chunks(kind.block_weights())) {
            // The order of two products may differ by a rounding of the block's largest number.
            let largest = right.iter().filter(|x| x.is_finite()).fold(0.0f32, |most, x| most.max(x.abs()));
            for (found, right) in found.iter().zip(right) {
                let close = (found - right).abs() <= 2e-6 * largest || !right.is_finite();
                prop_assert!(close, "{}: {found} for {right}", kind.name());
            }
        }
    }
}
