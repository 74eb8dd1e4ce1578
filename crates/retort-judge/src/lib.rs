//! Plans the questions of one judgement as one prompt tree, and turns option probabilities into verdicts.
