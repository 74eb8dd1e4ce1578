"""Many prompts as one forest: what they begin with alike is computed once.

The two responses of a pair stand behind the same instruction, all rows begin with the same words about the judge, and an
option that is spelled by two tokens goes on from a prompt that is there already. A node is a run of tokens; it sees itself
up to each token and all of its ancestors, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

# Shorter runs in common are not worth a node of their own.
SHORTEST = 16


@dataclass
class Node:
    """A run of tokens."""

    tokens: list[int]
    # Tokens before it on its path.
    depth: int
    # Nodes on the path to it, from the root on, by number.
    ancestors: tuple[int, ...]
    # Where its rows begin in the packed batch.
    row: int = 0


@dataclass
class Forest:
    """Sequences as packed rows: node after node."""

    nodes: list[Node] = field(default_factory=list)
    # Of each sequence its nodes from the root on.
    paths: list[tuple[int, ...]] = field(default_factory=list)
    # Tokens of all sequences as if each were computed alone.
    apart: int = 0

    def __init__(self, sequences: list[list[int]], shortest: int = SHORTEST):
        self.nodes, self.paths = [], [()] * len(sequences)
        self.apart = sum(map(len, sequences))
        if not all(sequences):
            raise ValueError("a sequence has no token")
        self._grow(sequences, list(range(len(sequences))), 0, (), shortest)
        row = 0
        for node in self.nodes:
            node.row = row
            row += len(node.tokens)
        self.rows = row

    def _grow(self, sequences, members, depth, ancestors, shortest):
        # Those that end here are done; the others part by what follows.
        parts: dict[tuple[int, ...], list[int]] = {}
        for member in members:
            if len(sequences[member]) == depth:
                self.paths[member] = ancestors
            else:
                parts.setdefault(tuple(sequences[member][depth : depth + shortest]), []).append(member)
        for part in parts.values():
            first = sequences[part[0]]
            end = len(first)
            for member in part[1:]:
                other = sequences[member]
                limit = min(end, len(other))
                end = next((at for at in range(depth, limit) if first[at] != other[at]), limit)
            number = len(self.nodes)
            self.nodes.append(Node(first[depth:end], depth, ancestors))
            self._grow(sequences, part, end, (*ancestors, number), shortest)

    def row(self, sequence: int, position: int) -> int:
        """The packed row of a sequence's token; positions count from 0, and -1 is the last."""
        path = self.paths[sequence]
        if position == -1:
            last = self.nodes[path[-1]]
            return last.row + len(last.tokens) - 1
        for number in path:
            node = self.nodes[number]
            if position < node.depth + len(node.tokens):
                return node.row + position - node.depth
        raise IndexError(f"sequence {sequence} has no token {position}")

    def tokens(self) -> torch.Tensor:
        """The packed tokens."""
        return torch.tensor([token for node in self.nodes for token in node.tokens], dtype=torch.long)

    def positions(self) -> torch.Tensor:
        """The place of each in its sequence."""
        return torch.cat([torch.arange(node.depth, node.depth + len(node.tokens)) for node in self.nodes])

    def lengths(self) -> list[int]:
        """Rows of each node."""
        return [len(node.tokens) for node in self.nodes]

    def mask(self, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
        """What is added to the scores of every row over every row."""
        lengths = torch.tensor(self.lengths())
        node_of = torch.repeat_interleave(torch.arange(len(self.nodes)), lengths).to(device)
        sees = torch.eye(len(self.nodes), dtype=torch.bool)
        for number, node in enumerate(self.nodes):
            sees[number, list(node.ancestors)] = True
        sees = sees.to(device)[node_of][:, node_of]
        positions = self.positions().to(device)
        sees &= positions[None, :] <= positions[:, None]
        return torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill_(~sees, float("-inf"))
