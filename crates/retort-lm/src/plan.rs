//! From a prompt tree to batches of tokens, and from logits back to option probabilities.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::backend::{Batch, StateSum, View};
use crate::config::Config;
use crate::tokenizer::Tokenizer;
use crate::{Answer, AnswerOption, Branch, LmError, Pool, PromptTree};

/// A tree as tokens.
pub(crate) struct Plan {
    pub(crate) prefix: Vec<u32>,
    /// Means over parts of the prefix that branches ask for: layer and tokens, each pair once.
    pub(crate) prefix_states: Vec<(usize, Range<usize>)>,
    pub(crate) branches: Vec<PlannedBranch>,
}

pub(crate) struct PlannedBranch {
    tokens: Vec<u32>,
    /// Absent where no options are asked for.
    options: Option<OptionTrie>,
    states: Vec<PlannedState>,
    head: bool,
}

/// Where an answer's hidden state comes from.
enum PlannedState {
    /// This entry of [`Plan::prefix_states`].
    Prefix(usize),
    /// The branch's own tokens, or only its last.
    Own { layer: usize, last: bool },
}

/// What a branch's rows gave, taken off the front by one branch after the other.
pub(crate) struct Found<'a> {
    pub(crate) logits: std::slice::ChunksExact<'a, f32>,
    pub(crate) states: std::slice::ChunksExact<'a, f32>,
}

/// The options' spellings as a tree of tokens, so that an option of several tokens has the product of
/// their conditional probabilities.
struct OptionTrie {
    nodes: Vec<TrieNode>,
    options: usize,
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
        Ok(Self { nodes, options: options.len() })
    }

    /// Nodes whose next-token distribution is needed: the root first, then every node that goes on.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&node| node == 0 || !self.nodes[node].children.is_empty())
    }

    /// Option probabilities from the logits at every inner node, in the order of [`inner`](Self::inner).
    ///
    /// Where one option's spelling begins another's ("1" and "10"), the shorter keeps the probability that
    /// the model does not go on to the longer: nothing is counted twice.
    fn read(&self, rows: &[&[f32]]) -> Answer {
        let mut reach = vec![0.0f64; self.nodes.len()];
        reach[0] = 1.0;
        let mut probabilities = vec![0.0f64; self.options];
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
            ..Answer::default()
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
    fn new(branch: &Branch, tokenizer: &Tokenizer) -> Result<Self, LmError> {
        let tokens = tokenizer.encode(&branch.text)?;
        let readout = &branch.readout;
        if tokens.is_empty() {
            return Err(LmError::Question { problem: "it has no text".into() });
        }
        if readout.options.is_empty() && readout.states.is_empty() && !readout.head {
            return Err(LmError::Question { problem: "it asks for nothing".into() });
        }
        let options = match readout.options.is_empty() {
            true => None,
            false => Some(OptionTrie::new(&readout.options, tokenizer)?),
        };
        Ok(Self { tokens, options, states: Vec::new(), head: readout.head })
    }

    /// Copies of paths to the inner nodes below the root.
    fn continuations(&self) -> impl Iterator<Item = &[u32]> {
        self.options.iter().flat_map(|trie| trie.inner().skip(1).map(|node| trie.nodes[node].path.as_slice()))
    }

    /// Rows that this branch adds to a batch: its own, and a copy of the path to every inner node.
    fn rows(&self) -> usize {
        self.tokens.len() + self.continuations().map(<[u32]>::len).sum::<usize>()
    }

    /// Tokens of its longest path.
    fn depth(&self) -> usize {
        self.tokens.len() + self.continuations().map(<[u32]>::len).max().unwrap_or(0)
    }
}

/// From so many branches on, the first is answered by itself.
const MANY: usize = 4;

impl Plan {
    pub(crate) fn new(tree: &PromptTree, tokenizer: &Tokenizer, config: &Config) -> Result<Self, LmError> {
        let (prefix, pieces) = tokenizer.encode_start(&tree.prefix)?;
        let mut prefix_states: Vec<(usize, Range<usize>)> = Vec::new();
        let mut branches = Vec::with_capacity(tree.branches.len());
        for (index, branch) in tree.branches.iter().enumerate() {
            let placed = |error| match error {
                LmError::Question { problem } => {
                    LmError::Question { problem: format!("in branch {}, {problem}", index + 1) }
                }
                other => other,
            };
            let mut planned = PlannedBranch::new(branch, tokenizer).map_err(placed)?;
            let wrong = |problem: String| placed(LmError::Question { problem });
            if branch.readout.head && config.head.is_none() {
                return Err(wrong("the model's own head is asked, and the model has none".into()));
            }
            for request in &branch.readout.states {
                let layer = request.layer;
                if layer > config.layers {
                    let most = config.layers;
                    return Err(wrong(format!("layer {layer} is asked for, and the model has {most}")));
                }
                planned.states.push(match &request.pool {
                    Pool::Last => PlannedState::Own { layer, last: true },
                    Pool::Branch => PlannedState::Own { layer, last: false },
                    Pool::Prefix(range) => {
                        let tokens = pieces.get(range.clone()).and_then(|pieces| {
                            Some(pieces.first()?.start..pieces.last()?.end)
                                .filter(|tokens| !tokens.is_empty())
                        });
                        let tokens = tokens.ok_or_else(|| {
                            wrong(format!("there are no tokens in pieces {range:?} of the prefix"))
                        })?;
                        let wanted = (layer, tokens);
                        let known = prefix_states.iter().position(|known| *known == wanted);
                        PlannedState::Prefix(known.unwrap_or_else(|| {
                            prefix_states.push(wanted);
                            prefix_states.len() - 1
                        }))
                    }
                });
            }
            branches.push(planned);
        }
        Ok(Self { prefix, prefix_states, branches })
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
    /// A branch longer than that is a group of its own, and so is the very first of many: somebody waits to see one answer,
    /// and the pass over the weights that it costs is one of several.
    pub(crate) fn groups(&self, first: usize, chunk: usize) -> Vec<Range<usize>> {
        let mut groups = Vec::new();
        let (mut start, mut rows) = (first, 0);
        let first_alone = first == 0 && self.branches.len() >= MANY;
        for index in first..self.branches.len() {
            let more = self.branches[index].rows();
            if rows > 0 && (rows + more > chunk || first_alone && index == 1) {
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
    pub(crate) fn batch(&self, group: Range<usize>, layers: usize) -> Batch {
        let prefix = self.prefix.len() as u32;
        let mut batch = Batch { first_slot: prefix, ..Batch::default() };
        for branch in &self.branches[group] {
            let first_row = batch.tokens.len() as u32;
            let trunk_start = prefix + first_row;
            let trunk_end = trunk_start + branch.tokens.len() as u32;
            let view = View { prefix, trunk_start, trunk_end: trunk_start, own: trunk_start };
            batch.push_path(&branch.tokens, prefix, view, branch.options.is_some());
            let rows = branch.tokens.len() as u32;
            let last_row = first_row + rows - 1;
            for state in &branch.states {
                if let PlannedState::Own { layer, last } = *state {
                    let sum = StateSum { layer, first_row, rows };
                    batch.states.push(if last {
                        StateSum { first_row: last_row, rows: 1, ..sum }
                    } else {
                        sum
                    });
                }
            }
            if branch.head {
                batch.states.push(StateSum { layer: layers, first_row: last_row, rows: 1 });
            }
            for path in branch.continuations() {
                let view = View { prefix, trunk_start, trunk_end, own: prefix + batch.tokens.len() as u32 };
                let position = prefix + branch.tokens.len() as u32;
                batch.push_path(path, position, view, true);
            }
        }
        batch
    }

    /// The branch's answer from what its rows gave, and the state that its model's head reads, if it is asked.
    /// `prefix_means` are the means of [`prefix_states`](Self::prefix_states).
    pub(crate) fn read<'a>(
        &self,
        branch: usize,
        found: &mut Found<'a>,
        prefix_means: &[Vec<f32>],
    ) -> (Answer, Option<&'a [f32]>) {
        let branch = &self.branches[branch];
        let mut answer = match &branch.options {
            Some(trie) => {
                let rows: Vec<&[f32]> = found.logits.by_ref().take(trie.inner().count()).collect();
                trie.read(&rows)
            }
            None => Answer::default(),
        };
        for state in &branch.states {
            answer.states.push(match *state {
                PlannedState::Prefix(index) => prefix_means.get(index).cloned().unwrap_or_default(),
                PlannedState::Own { last, .. } => {
                    let count = if last { 1 } else { branch.tokens.len() };
                    mean(found.states.next().unwrap_or_default(), count)
                }
            });
        }
        let head_state = if branch.head { found.states.next() } else { None };
        (answer, head_state)
    }
}

/// A sum of so many vectors as their mean.
pub(crate) fn mean(sum: &[f32], count: usize) -> Vec<f32> {
    #[expect(clippy::cast_precision_loss, reason = "a context's tokens are few")]
    let count = count as f32;
    sum.iter().map(|x| x / count).collect()
}

impl Batch {
    /// Appends the tokens of one path; its last row may be an output.
    fn push_path(&mut self, tokens: &[u32], first_position: u32, view: View, is_output: bool) {
        for (&token, position) in tokens.iter().zip(first_position..) {
            self.tokens.push(token);
            self.positions.push(position);
            self.views.push(view);
        }
        if is_output {
            self.outputs.push(self.tokens.len() as u32 - 1);
        }
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
            states: Vec::new(),
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
            views: self.views[rows.clone()].to_vec(),
            states: self.states.iter().map(|sum| sum.within(&rows)).collect(),
        }
    }
}

impl StateSum {
    /// What falls on these rows, counted from the first of them; perhaps nothing.
    pub(crate) fn within(&self, rows: &Range<usize>) -> Self {
        let start = (self.first_row as usize).max(rows.start);
        let end = ((self.first_row + self.rows) as usize).min(rows.end);
        if start >= end {
            return Self { layer: self.layer, first_row: 0, rows: 0 };
        }
        Self { layer: self.layer, first_row: (start - rows.start) as u32, rows: (end - start) as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gguf::Gguf;
    use crate::{MemorySource, Readout, Segments};

    /// The tiny model's tokenizer: the token of a byte is the byte's number, digits stand alone, and none of
    /// the merges occurs below.
    fn tokenizer() -> Tokenizer {
        let mut source = MemorySource::new("tiny.gguf", crate::tiny::gguf(crate::tiny::Shape::default(), 1));
        Tokenizer::read(&Gguf::read(&mut source).unwrap(), 267).unwrap()
    }

    fn config() -> Config {
        let mut source = MemorySource::new("tiny.gguf", crate::tiny::gguf(crate::tiny::Shape::default(), 1));
        let gguf = Gguf::read(&mut source).unwrap();
        Config::read(&gguf, &mut source).unwrap()
    }

    const VOCABULARY: usize = 267;
    const ZERO: u32 = b'0' as u32;
    const ONE: u32 = b'1' as u32;
    const SPACE: u32 = b' ' as u32;

    /// Options of one spelling each.
    fn plain(labels: &[&str]) -> Vec<AnswerOption> {
        labels.iter().map(|label| AnswerOption { spellings: vec![(*label).to_owned()] }).collect()
    }

    /// Logits with these probabilities; what is left falls on the last token. All are shifted by 3, which must
    /// not matter.
    fn logits(probabilities: &[(u32, f64)]) -> Vec<f32> {
        let mut row = vec![f32::NEG_INFINITY; VOCABULARY];
        let rest = 1.0 - probabilities.iter().map(|(_, p)| p).sum::<f64>();
        for &(token, p) in probabilities.iter().chain([&(266, rest)]) {
            row[token as usize] = (p.ln() + 3.0) as f32;
        }
        row
    }

    fn close(found: f64, right: f64) {
        assert!((found - right).abs() < 1e-6, "{found} instead of {right}");
    }

    fn problem(options: &[AnswerOption]) -> String {
        match OptionTrie::new(options, &tokenizer()) {
            Err(LmError::Question { problem }) => problem,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("the options were taken"),
        }
    }

    #[test]
    fn p12_spellings_sum_and_longer_options_take_nothing_twice() {
        let options = [AnswerOption::new("1"), AnswerOption::new("10")];
        let trie = OptionTrie::new(&options, &tokenizer()).unwrap();
        let inner: Vec<&[u32]> = trie.inner().map(|node| trie.nodes[node].path.as_slice()).collect();
        assert_eq!(inner, [&[][..], &[ONE], &[SPACE], &[SPACE, ONE]]);
        let rows = [
            logits(&[(ONE, 0.5), (SPACE, 0.3)]),
            logits(&[(ZERO, 0.25)]),
            logits(&[(ONE, 0.6)]),
            logits(&[(ZERO, 0.5)]),
        ];
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let answer = trie.read(&rows);
        // "1": 0.5 × 0.75 + 0.3 × 0.6 × 0.5; "10": 0.5 × 0.25 + 0.3 × 0.6 × 0.5.
        close(answer.log_probabilities[0].exp(), 0.465);
        close(answer.log_probabilities[1].exp(), 0.215);
        // 1 − 0.465 − 0.215.
        close(answer.outside, 0.32);
    }

    #[test]
    fn an_option_without_any_probability_is_minus_infinity_and_not_nan() {
        let trie = OptionTrie::new(&plain(&["a", "b"]), &tokenizer()).unwrap();
        let row = logits(&[(u32::from(b'a'), 1.0)]);
        let answer = trie.read(&[&row]);
        close(answer.log_probabilities[0], 0.0);
        assert_eq!(answer.log_probabilities[1], f64::NEG_INFINITY);
        close(answer.outside, 0.0);
    }

    #[test]
    fn two_spellings_of_the_same_tokens_count_once() {
        let options = [
            AnswerOption { spellings: vec!["a".into(), "a".into()] },
            AnswerOption { spellings: vec!["b".into()] },
        ];
        let trie = OptionTrie::new(&options, &tokenizer()).unwrap();
        let row = logits(&[(u32::from(b'a'), 0.25), (u32::from(b'b'), 0.5)]);
        let answer = trie.read(&[&row]);
        close(answer.log_probabilities[0].exp(), 0.25);
        close(answer.outside, 0.25);
    }

    #[test]
    fn questions_that_cannot_be_asked_say_why() {
        assert_eq!(problem(&[]), "0 option(s) were given and at least two are needed");
        assert_eq!(problem(&plain(&["1"])), "1 option(s) were given and at least two are needed");
        assert_eq!(problem(&plain(&["a", "b", "a"])), "options 1 and 3 are spelled alike (\"a\")");
        assert_eq!(problem(&plain(&["a", ""])), "option 2 has an empty spelling");
        let nothing = AnswerOption { spellings: Vec::new() };
        assert_eq!(problem(&[plain(&["a"]).remove(0), nothing]), "option 2 has no spelling");
        // "1" with a space before it is what " 1" is without.
        let overlapping = [AnswerOption::new("1"), AnswerOption { spellings: vec![" 1".into()] }];
        assert_eq!(problem(&overlapping), "options 1 and 2 are spelled alike (\" 1\")");

        let branch = |text: &str, options: &[&str]| Branch {
            text: Segments::new().user(text),
            readout: Readout::options(plain(options)),
        };
        let plan = |branch| {
            let tree = PromptTree { prefix: Segments::new().user("p"), branches: vec![branch] };
            Plan::new(&tree, &tokenizer(), &config()).err().map(|error| error.to_string())
        };
        let start = "the question cannot be asked: ";
        assert_eq!(plan(branch("", &["a", "b"])), Some(format!("{start}in branch 1, it has no text")));
        assert_eq!(
            plan(branch("x", &["a"])),
            Some(format!("{start}in branch 1, 1 option(s) were given and at least two are needed"))
        );
    }

    /// Prefix "ab"; "cd" asks for 1 or 10, so the path "1" is computed too; "e" asks for x or y.
    fn small_plan() -> Plan {
        let branch = |text: &str, options: &[&str]| Branch {
            text: Segments::new().user(text),
            readout: Readout::options(plain(options)),
        };
        let tree = PromptTree {
            prefix: Segments::new().user("ab"),
            branches: vec![branch("cd", &["1", "10"]), branch("e", &["x", "y"])],
        };
        Plan::new(&tree, &tokenizer(), &config()).unwrap()
    }

    #[test]
    fn a_batch_places_every_token_and_its_view() {
        let plan = small_plan();
        assert_eq!(plan.prefix, [97, 98]);
        // "cd" and then "1" behind the prefix.
        assert_eq!(plan.depth(), 5);
        assert_eq!((plan.branch_rows(), plan.done(0), plan.done(1), plan.done(2)), (4, 0, 3, 4));
        let batch = plan.batch(0..2, 2);
        let own = |own| View { prefix: 2, trunk_start: own, trunk_end: own, own };
        let right = Batch {
            first_slot: 2,
            tokens: vec![99, 100, ONE, 101],
            // "1" follows "cd"; "e" follows the prefix.
            positions: vec![2, 3, 4, 2],
            // Slots 2 and 3 hold "cd", which is the trunk of "1" in slot 4; "e" begins in slot 5.
            views: vec![own(2), own(2), View { prefix: 2, trunk_start: 2, trunk_end: 4, own: 4 }, own(5)],
            outputs: vec![1, 2, 3],
            states: vec![],
        };
        assert_eq!(batch, right);
        assert_eq!(batch.views[2].ranges(4), [0..2, 2..4, 4..5]);
        // The second group alone takes the same slots again.
        assert_eq!(
            plan.batch(1..2, 2),
            Batch {
                first_slot: 2,
                tokens: vec![101],
                positions: vec![2],
                views: vec![own(2)],
                outputs: vec![0],
                states: vec![],
            }
        );
        let part = batch.part(1..3);
        assert_eq!((part.first_slot, part.outputs.as_slice()), (3, &[0, 1][..]));
        assert_eq!((part.tokens.as_slice(), part.positions.as_slice()), (&[100, ONE][..], &[3, 4][..]));
        assert_eq!(part.views, batch.views[1..3]);
        assert_eq!(batch.part(0..1).outputs, [] as [u32; 0]);
    }

    #[test]
    fn the_first_of_many_branches_is_answered_by_itself() {
        let mut plan = small_plan();
        // Two branches, of 3 rows and of 1, twice.
        plan.branches.extend(small_plan().branches);
        assert_eq!(plan.groups(0, 512), [0..1, 1..4]);
        assert_eq!(plan.groups(0, 4), [0..1, 1..3, 3..4]);
        // What goes on after a failure has shown its first answer already.
        assert_eq!(plan.groups(1, 512), vec![1..4; 1]);
        plan.branches.pop();
        assert_eq!(plan.groups(0, 512), vec![0..3; 1]);
    }

    #[test]
    fn groups_hold_as_many_whole_branches_as_a_chunk() {
        let plan = small_plan();
        // The branches have 3 and 1 rows.
        for (chunk, groups, slots) in [
            (512, &[(0, 2)][..], 4),
            (4, &[(0, 2)], 4),
            (3, &[(0, 1), (1, 2)], 3),
            // A branch larger than a chunk is a group of its own.
            (1, &[(0, 1), (1, 2)], 3),
        ] {
            let groups: Vec<Range<usize>> = groups.iter().map(|&(start, end)| start..end).collect();
            assert_eq!(plan.groups(0, chunk), groups, "chunk {chunk}");
            assert_eq!(plan.group_slots(&groups), slots, "chunk {chunk}");
        }
        assert_eq!(plan.groups(1, 512), vec![1..2; 1]);
        assert_eq!(plan.groups(2, 512), [] as [Range<usize>; 0]);
        assert_eq!(plan.group_slots(&[]), 0);
    }

    #[test]
    fn the_log_of_a_sum_does_not_overflow() {
        // e^1000 + e^1000 = 2 e^1000.
        close(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2f64.ln());
        close(log_sum_exp(&[-1000.0, f32::NEG_INFINITY]), -1000.0);
    }
}
