//! Builds, serves and tests everything with one command each.

fn main() {}
