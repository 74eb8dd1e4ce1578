//! A quantized language model from a GGUF file that answers a prompt tree with the probabilities of the options asked for, or generates text.
