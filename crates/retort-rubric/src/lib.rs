//! The vocabulary of judging as data: skills, abilities, rubrics, scales; reading, validating and writing them.
