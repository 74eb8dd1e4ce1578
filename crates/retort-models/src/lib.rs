//! The registry of models: what each file is, where it comes from, and a local cache in which only verified files lie.
