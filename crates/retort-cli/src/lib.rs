//! The retort command.
