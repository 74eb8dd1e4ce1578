"""From prompts to option probabilities, exactly as Retort reads them, and from those to the loss.

The spellings of a question's options form a tree of tokens. An option's probability is the sum over its spellings of the
product of their tokens' probabilities; where one spelling begins another ("1" and "10"), the shorter keeps what does not
go on to the longer. For a loss over the options the root's normalizer cancels, so of the output layer only the rows of the
options' first tokens are computed; whole rows are needed behind the first token of a spelling of several ("\u2581" and "1"),
and everywhere where the mass on all options is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import torch
import torch.nn.functional as F

from . import TrainingError
from .base import Base
from .forest import Forest
from .model import Batch, Model
from .tokenizer import Tokenizer


@dataclass(frozen=True)
class TrieNode:
    """A place in the tree of spellings."""

    path: tuple[int, ...]
    parent: int
    # The option that is spelled here in full.
    option: int | None
    children: tuple[int, ...]


@dataclass(frozen=True)
class Trie:
    """Nodes, parents before children; the first is the root."""

    nodes: tuple[TrieNode, ...]
    options: int


class Tries:
    """Makes the tree of each list of options once."""

    def __init__(self, tokenizer: Tokenizer):
        self.of = lru_cache(maxsize=4096)(lambda options: make_trie(options, tokenizer))

    def __call__(self, options: list[list[str]]) -> Trie:
        return self.of(tuple(map(tuple, options)))


def make_trie(options: tuple[tuple[str, ...], ...], tokenizer: Tokenizer) -> Trie:
    """The tree of these options' spellings."""
    if len(options) < 2:
        raise TrainingError("fewer than two options")
    paths: dict[tuple[int, ...], int | None] = {(): None}
    for index, spellings in enumerate(options):
        for spelling in spellings:
            tokens = tuple(tokenizer.user(spelling))
            if not tokens:
                raise TrainingError(f"option {index + 1} has a spelling without tokens")
            for end in range(1, len(tokens)):
                paths.setdefault(tokens[:end], None)
            if paths.get(tokens) not in (None, index):
                raise TrainingError(f"two options are spelled alike (\"{spelling}\")")
            paths[tokens] = index
        if not spellings:
            raise TrainingError(f"option {index + 1} has no spelling")
    order = sorted(paths, key=lambda path: (len(path), path))
    number = {path: index for index, path in enumerate(order)}
    children: list[list[int]] = [[] for _ in order]
    for path in order[1:]:
        children[number[path[:-1]]].append(number[path])
    nodes = (
        TrieNode(path, number[path[:-1]] if path else 0, paths[path], tuple(children[number[path]])) for path in order
    )
    return Trie(tuple(nodes), len(options))


@dataclass
class Ask:
    """A prompt, and what may be answered; or a prompt and its right answer."""

    tokens: list[int]
    trie: Trie | None = None
    answer: list[int] | None = None

    def sequences(self) -> list[list[int]]:
        """What must be computed for it."""
        if self.trie is None:
            return [self.tokens + self.answer]
        inner = (node for index, node in enumerate(self.trie.nodes) if index == 0 or node.children)
        return [[*self.tokens, *node.path] for node in inner]


@dataclass
class Answers:
    """What was read of several asks."""

    # Of each ask and option, the natural logarithm of the option's share of the mass on all options; -inf behind the last.
    options: torch.Tensor
    # Of each ask, the logarithm of the mass on all options; none where it was not wanted.
    mass: torch.Tensor | None
    # Of each ask, the mean negative log-likelihood of its right answer's tokens; 0 for those with options.
    text: torch.Tensor
    # Tokens of the prompts, and tokens that were computed.
    apart: int = 0
    computed: int = 0


@dataclass
class Layout:
    """Where in a batch the asks' states are read."""

    rows: list[int] = field(default_factory=list)
    # Of each edge of the trees: the state behind whose token it is, and its token.
    edge_state: list[int] = field(default_factory=list)
    edge_token: list[int] = field(default_factory=list)
    # The edge before it; -1 at the root.
    edge_parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    # Of each ask and option its edges; and of edges at which a spelling ends that others go on from, those that go on.
    ends: list[list[list[int]]] = field(default_factory=list)
    goes_on: dict[int, list[int]] = field(default_factory=dict)
    roots: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    # Of right answers: ask, states and tokens.
    texts: list[tuple[int, list[int], list[int]]] = field(default_factory=list)


def lay_out(asks: list[Ask]) -> tuple[Forest, Layout]:
    """The asks as one forest."""
    sequences, owners = [], []
    for ask in asks:
        owners.append(len(sequences))
        sequences += ask.sequences()
    forest, layout = Forest(sequences), Layout()
    for number, (ask, first) in enumerate(zip(asks, owners)):
        if ask.trie is None:
            states = []
            for position in range(len(ask.tokens) - 1, len(ask.tokens) + len(ask.answer) - 1):
                states.append(len(layout.rows))
                layout.rows.append(forest.row(first, position))
            layout.texts.append((number, states, ask.answer))
            layout.ends.append([])
            continue
        ends: list[list[int]] = [[] for _ in range(ask.trie.options)]
        state_of, edge_of = {}, {0: -1}
        for index, node in enumerate(ask.trie.nodes):
            if index > 0:
                edge_of[index] = len(layout.edge_token)
                layout.edge_token.append(node.path[-1])
                layout.edge_state.append(state_of[node.parent])
                layout.edge_parent.append(edge_of[node.parent])
                layout.depth.append(len(node.path))
                if node.option is not None:
                    ends[node.option].append(edge_of[index])
            if index == 0 or node.children:
                state_of[index] = len(layout.rows)
                (layout.roots if index == 0 else layout.inner).append(len(layout.rows))
                layout.rows.append(forest.row(first + len(state_of) - 1, -1))
        for index, node in enumerate(ask.trie.nodes):
            if node.option is not None and node.children:
                layout.goes_on[edge_of[index]] = [edge_of[child] for child in node.children]
        layout.ends.append(ends)
    return forest, layout


def padded(lists: list[list[int]], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Lists as one matrix, and what of it is padding."""
    width = max(map(len, lists), default=0)
    values = torch.tensor([each + [0] * (width - len(each)) for each in lists], device=device, dtype=torch.long)
    return values, torch.tensor([[at >= len(each) for at in range(width)] for each in lists], device=device)


def read(model: Model, asks: list[Ask], with_mass: bool = False) -> Answers:
    """Computes what the asks want."""
    base: Base = model.base
    device = base.device
    forest, layout = lay_out(asks)
    longest = max(node.depth + len(node.tokens) for node in forest.nodes)
    if longest > base.config.context:
        raise TrainingError(f"a prompt has {longest} tokens and the base's context {base.config.context}")
    as_tensor = lambda values: torch.tensor(values, dtype=torch.long, device=device)
    states = model.states(Batch(forest, base), as_tensor(layout.rows))
    answers = Answers(torch.zeros(len(asks), 0, device=device), None, torch.zeros(len(asks), device=device))
    answers.apart = sum(len(ask.tokens) + len(ask.answer or ()) for ask in asks)
    answers.computed = forest.rows
    if layout.edge_token:
        edge_state = as_tensor(layout.edge_state)
        edges = model.edge_logits(states[edge_state], as_tensor(layout.edge_token))
        # Zero stands for normalizers that cancel.
        whole = sorted(layout.inner + (layout.roots if with_mass else []))
        normalizer = torch.zeros(len(layout.rows), device=device)
        if whole:
            normalizer = normalizer.index_put((as_tensor(whole),), torch.logsumexp(model.logits(states[as_tensor(whole)]), -1))
        steps = edges - normalizer[edge_state]
        paths = steps
        parents, depth = as_tensor(layout.edge_parent), as_tensor(layout.depth)
        for level in range(2, max(layout.depth) + 1):
            paths = torch.where(depth == level, steps + paths[parents], paths)
        if layout.goes_on:
            going, padding = padded(list(layout.goes_on.values()), device)
            on = steps[going].masked_fill(padding, float("-inf")).exp().sum(-1)
            stays = torch.log((1 - on).clamp_min(1e-30))
            paths = paths.index_add(0, as_tensor(list(layout.goes_on)), stays)
        counts = [len(ends) for ends in layout.ends]
        spelled, padding = padded([edges for ends in layout.ends for edges in ends], device)
        options = torch.logsumexp(paths[spelled].masked_fill(padding, float("-inf")), -1)
        place = [(ask, option) for ask, count in enumerate(counts) for option in range(count)]
        at = tuple(as_tensor(list(index)) for index in zip(*place))
        every = torch.full((len(asks), max(counts)), float("-inf"), device=device).index_put(at, options)
        asked = as_tensor([ask for ask, count in enumerate(counts) if count])
        total = torch.zeros(len(asks), device=device).index_put((asked,), torch.logsumexp(every[asked], -1))
        answers.options = every - total[:, None]
        answers.mass = total if with_mass else None
    for number, text_states, tokens in layout.texts:
        logits = model.logits(states[as_tensor(text_states)])
        answers.text = answers.text.index_put((as_tensor([number]),), F.cross_entropy(logits, as_tensor(tokens)))
    return answers
