//! From a prompt tree to batches of tokens, and from logits back to option probabilities.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::backend::{Batch, View};
use crate::tokenizer::Tokenizer;
use crate::{Answer, AnswerOption, LmError, PromptTree, Readout};

/// A tree as tokens.
pub(crate) struct Plan {
    pub(crate) prefix: Vec<u32>,
    pub(crate) branches: Vec<PlannedBranch>,
}

pub(crate) struct PlannedBranch {
    tokens: Vec<u32>,
    options: OptionTrie,
    option_count: usize,
}

/// The options' spellings as a tree of tokens, so that an option of several tokens has the product of
/// their conditional probabilities.
struct OptionTrie {
    nodes: Vec<TrieNode>,
}

#[derive(Default)]
struct TrieNode {
    /// Tokens from the root to here.
    path: Vec<u32>,
    children: BTreeMap<u32, usize>,
    option: Option<usize>,
}

impl OptionTrie {
    fn new(options: &[AnswerOption], tokenizer: &Tokenizer) -> Result<Self, LmError> {
        let wrong = |problem: String| LmError::Question { problem };
        if options.len() < 2 {
            return Err(wrong(format!("{} option(s) were given and at least two are needed", options.len())));
        }
        let mut nodes = vec![TrieNode::default()];
        for (index, option) in options.iter().enumerate() {
            for spelling in &option.spellings {
                let tokens = tokenizer.encode_user(spelling)?;
                if tokens.is_empty() {
                    return Err(wrong(format!("option {} has an empty spelling", index + 1)));
                }
                let mut at = 0;
                for token in tokens {
                    at = match nodes[at].children.get(&token) {
                        Some(&child) => child,
                        None => {
                            let mut path = nodes[at].path.clone();
                            path.push(token);
                            nodes.push(TrieNode { path, ..TrieNode::default() });
                            let child = nodes.len() - 1;
                            nodes[at].children.insert(token, child);
                            child
                        }
                    };
                }
                match nodes[at].option {
                    Some(other) if other != index => {
                        return Err(wrong(format!(
                            "options {} and {} are spelled alike (\"{spelling}\")",
                            other + 1,
                            index + 1
                        )));
                    }
                    _ => nodes[at].option = Some(index),
                }
            }
            if option.spellings.is_empty() {
                return Err(wrong(format!("option {} has no spelling", index + 1)));
            }
        }
        Ok(Self { nodes })
    }

    /// Nodes whose next-token distribution is needed: the root first, then every node that goes on.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&node| node == 0 || !self.nodes[node].children.is_empty())
    }

    /// Option probabilities from the logits at every inner node, in the order of [`inner`](Self::inner).
    ///
    /// Where one option's spelling begins another's ("1" and "10"), the shorter keeps the probability that
    /// the model does not go on to the longer: nothing is counted twice.
    fn read(&self, option_count: usize, rows: &[&[f32]]) -> Answer {
        let mut reach = vec![0.0f64; self.nodes.len()];
        reach[0] = 1.0;
        let mut probabilities = vec![0.0f64; option_count];
        let row_of: BTreeMap<usize, &[f32]> = self.inner().zip(rows.iter().copied()).collect();
        // Children have larger indices than their parents, so one pass in order settles everything.
        for (index, node) in self.nodes.iter().enumerate() {
            let mut stays = 1.0;
            if let Some(logits) = row_of.get(&index) {
                let normaliser = log_sum_exp(logits);
                for (&token, &child) in &node.children {
                    let p = libm::exp(f64::from(logits[token as usize]) - normaliser);
                    reach[child] = reach[index] * p;
                    stays -= p;
                }
            }
            if let Some(option) = node.option {
                probabilities[option] += reach[index] * f64::max(stays, 0.0);
            }
        }
        let mass: f64 = probabilities.iter().sum();
        Answer {
            log_probabilities: probabilities.into_iter().map(libm::log).collect(),
            outside: (1.0 - mass).clamp(0.0, 1.0),
        }
    }
}

/// `ln Σ e^x`, without overflow.
pub(crate) fn log_sum_exp(logits: &[f32]) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&x| libm::exp(f64::from(x) - f64::from(most))).sum();
    f64::from(most) + libm::log(sum)
}

impl PlannedBranch {
    /// Rows that this branch adds to a batch: its own, and a copy of the path to every inner node.
    fn rows(&self) -> usize {
        self.tokens.len()
            + self.options.inner().map(|node| self.options.nodes[node].path.len()).sum::<usize>()
    }

    /// Tokens of its longest path.
    fn depth(&self) -> usize {
        let longest = self.options.inner().map(|node| self.options.nodes[node].path.len()).max();
        self.tokens.len() + longest.unwrap_or(0)
    }
}

impl Plan {
    pub(crate) fn new(tree: &PromptTree, tokenizer: &Tokenizer) -> Result<Self, LmError> {
        let prefix = tokenizer.encode_start(&tree.prefix)?;
        let mut branches = Vec::with_capacity(tree.branches.len());
        for (index, branch) in tree.branches.iter().enumerate() {
            let tokens = tokenizer.encode(&branch.text)?;
            if tokens.is_empty() {
                return Err(LmError::Question { problem: format!("branch {} has no text", index + 1) });
            }
            let Readout::Options(options) = &branch.readout;
            let trie = OptionTrie::new(options, tokenizer).map_err(|error| match error {
                LmError::Question { problem } => {
                    LmError::Question { problem: format!("in branch {}, {problem}", index + 1) }
                }
                other => other,
            })?;
            branches.push(PlannedBranch { tokens, options: trie, option_count: options.len() });
        }
        Ok(Self { prefix, branches })
    }

    /// Tokens of the longest path from the root to an answer.
    pub(crate) fn depth(&self) -> usize {
        self.prefix.len() + self.branches.iter().map(PlannedBranch::depth).max().unwrap_or(0)
    }

    /// Tokens that are done once the first `answered` branches are; the prefix counts as not done, since
    /// it may have to be computed again.
    pub(crate) fn done(&self, answered: usize) -> usize {
        self.branches[..answered].iter().map(PlannedBranch::rows).sum()
    }

    /// Tokens of all branches.
    pub(crate) fn branch_rows(&self) -> usize {
        self.branches.iter().map(PlannedBranch::rows).sum()
    }

    /// Branches from `first` on, in groups that fill a batch of `chunk` tokens as far as whole branches do.
    /// A branch longer than that is a group of its own.
    pub(crate) fn groups(&self, first: usize, chunk: usize) -> Vec<Range<usize>> {
        let mut groups = Vec::new();
        let (mut start, mut rows) = (first, 0);
        for index in first..self.branches.len() {
            let more = self.branches[index].rows();
            if rows > 0 && rows + more > chunk {
                groups.push(start..index);
                (start, rows) = (index, 0);
            }
            rows += more;
        }
        if start < self.branches.len() {
            groups.push(start..self.branches.len());
        }
        groups
    }

    /// The slots that the largest group takes behind the prefix.
    pub(crate) fn group_slots(&self, groups: &[Range<usize>]) -> usize {
        groups
            .iter()
            .map(|group| self.branches[group.clone()].iter().map(PlannedBranch::rows).sum())
            .max()
            .unwrap_or(0)
    }

    /// All rows of a group, as one batch behind the prefix.
    pub(crate) fn batch(&self, group: Range<usize>) -> Batch {
        let prefix = self.prefix.len() as u32;
        let mut batch = Batch { first_slot: prefix, ..Batch::default() };
        for branch in &self.branches[group] {
            let trunk_start = prefix + batch.tokens.len() as u32;
            let trunk_end = trunk_start + branch.tokens.len() as u32;
            let view = View { prefix, trunk_start, trunk_end: trunk_start, own: trunk_start };
            batch.push_path(&branch.tokens, prefix, view);
            for node in branch.options.inner().skip(1) {
                let view = View { prefix, trunk_start, trunk_end, own: prefix + batch.tokens.len() as u32 };
                let position = prefix + branch.tokens.len() as u32;
                batch.push_path(&branch.options.nodes[node].path, position, view);
            }
        }
        batch
    }

    /// The branch's answer from the logits of its outputs, taken off the front of `rows`.
    pub(crate) fn read(&self, branch: usize, rows: &mut std::slice::ChunksExact<'_, f32>) -> Answer {
        let branch = &self.branches[branch];
        let rows: Vec<&[f32]> = rows.take(branch.options.inner().count()).collect();
        branch.options.read(branch.option_count, &rows)
    }
}

impl Batch {
    /// Appends the tokens of one path; its last row is an output.
    fn push_path(&mut self, tokens: &[u32], first_position: u32, view: View) {
        for (&token, position) in tokens.iter().zip(first_position..) {
            self.tokens.push(token);
            self.positions.push(position);
            self.views.push(view);
        }
        self.outputs.push(self.tokens.len() as u32 - 1);
    }

    /// A part of the prefix, which sees everything before it.
    pub(crate) fn linear(tokens: &[u32], first_slot: usize) -> Self {
        let first = first_slot as u32;
        Self {
            first_slot: first,
            tokens: tokens.to_vec(),
            positions: (first..first + tokens.len() as u32).collect(),
            views: vec![
                View { prefix: first, trunk_start: first, trunk_end: first, own: first };
                tokens.len()
            ],
            outputs: Vec::new(),
        }
    }

    /// The rows in this range, as a batch that may run once the rows before it have.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let outputs = self.outputs.iter().map(|&row| row as usize).filter(|row| rows.contains(row));
        Self {
            first_slot: self.first_slot + rows.start as u32,
            outputs: outputs.map(|row| (row - rows.start) as u32).collect(),
            tokens: self.tokens[rows.clone()].to_vec(),
            positions: self.positions[rows.clone()].to_vec(),
            views: self.views[rows].to_vec(),
        }
    }
}
