"""Rows that `retort mixture` wrote, and the order in which they are learned."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import TrainingError
from .base import sha256

FORM = 1


@dataclass(slots=True)
class Head:
    """What is kept of every row; its texts stay in the file until they are needed."""

    offset: int
    length: int
    task: str
    kind: str
    tokens: int


class Mixture:
    """A file of rows, with the manifest beside it."""

    def __init__(self, path: Path, base_sha256: str | None, tasks: set[str] | None, max_tokens: int):
        if path.is_dir():
            path = path / "mixture.jsonl"
        self.path = path
        self.manifest = self._manifest(base_sha256)
        self.sha256 = sha256(path)
        if self.manifest and self.manifest.get("sha256") not in (None, self.sha256):
            raise TrainingError(f"{path} is not the file that its manifest describes; make the mixture anew")
        self.heads: list[Head] = []
        self.parts: dict[str, list[int]] = {}
        self.too_long = 0
        with open(path, "rb") as file:
            offset = 0
            for number, line in enumerate(file, 1):
                start, offset = offset, offset + len(line)
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                    head = Head(start, len(line), row["task"], row["kind"], int(row["tokens"]))
                    part = row.get("part", "train")
                except (ValueError, KeyError, TypeError) as problem:
                    raise TrainingError(f"{path}, line {number}: {problem!r}; it is no row of a mixture") from problem
                if head.kind not in ("options", "pair", "text"):
                    raise TrainingError(f"{path}, line {number}: a row of kind \"{head.kind}\" is not known here")
                if tasks is not None and head.task not in tasks:
                    continue
                if head.tokens > max_tokens * (2 if head.kind == "pair" else 1):
                    self.too_long += 1
                    continue
                self.parts.setdefault(part, []).append(len(self.heads))
                self.heads.append(head)
        self.file = open(path, "rb")

    def _manifest(self, base_sha256: str | None) -> dict:
        path = self.path.with_suffix(".json")
        if not path.exists():
            return {}
        manifest = json.loads(path.read_text())
        if manifest.get("form", FORM) != FORM:
            raise TrainingError(f"{path} has the form {manifest['form']}, and {FORM} is known here")
        made_for = manifest.get("model", {}).get("sha256")
        if base_sha256 and made_for and made_for != base_sha256:
            raise TrainingError(f"{path} was made for another base ({made_for[:12]}…, and this is {base_sha256[:12]}…)")
        return manifest

    def row(self, index: int) -> dict:
        """A row by its number among those that were kept."""
        head = self.heads[index]
        self.file.seek(head.offset)
        return json.loads(self.file.read(head.length))


class Sampler:
    """Draws batches of rows from several mixtures: the same seed gives the same batches.

    Each mixture gives its share of every window, in an order of its own that is shuffled anew whenever it was gone through.
    Within a window rows of like length come into one batch, and the batches are shuffled.
    """

    def __init__(self, mixtures: list[tuple[Mixture, float | None]], part: str, batch: int, window: int, seed: int):
        self.sources = []
        for mixture, weight in mixtures:
            rows = mixture.parts.get(part, [])
            if rows:
                self.sources.append((mixture, rows, float(len(rows)) if weight is None else weight))
        self.rows = sum(len(rows) for _, rows, _ in self.sources)
        total = sum(weight for *_, weight in self.sources)
        if not self.rows or total <= 0:
            raise TrainingError(f"no row of the part \"{part}\" is there to learn")
        self.shares = [weight / total for *_, weight in self.sources]
        self.batch, self.window, self.seed = batch, window * batch, seed
        # Windows that were begun, batches taken of the last, and rows drawn of each mixture before it.
        self.begun, self.taken, self.drawn = 0, 0, [0] * len(self.sources)
        self.batches: list[list[tuple[int, int]]] = []
        self.orders: dict[int, tuple[int, np.ndarray]] = {}

    def state(self) -> dict:
        """Where it stands."""
        return {"begun": self.begun, "taken": self.taken, "drawn": list(self.drawn)}

    def restore(self, state: dict) -> None:
        """Stands there again."""
        self.begun, self.taken, self.drawn = state["begun"], state["taken"], list(state["drawn"])
        self.batches = self._window(self.begun - 1, self._counts())[0] if self.begun else []

    def _counts(self) -> list[int]:
        """How many rows of each mixture are in a window that begins after those drawn."""
        counts = [0] * len(self.sources)
        done = sum(self.drawn)
        for number in range(done + 1, done + self.window + 1):
            behind = [share * number - drawn - count for share, drawn, count in zip(self.shares, self.drawn, counts)]
            counts[behind.index(max(behind))] += 1
        return counts

    def _nth(self, source: int, number: int) -> int:
        """The row that a mixture gives as its `number`th."""
        rows = self.sources[source][1]
        epoch, place = divmod(number, len(rows))
        known = self.orders.get(source)
        if known is None or known[0] != epoch:
            order = np.random.default_rng([self.seed, 1, source, epoch]).permutation(len(rows))
            self.orders[source] = known = (epoch, order)
        return rows[known[1][place]]

    def _window(self, number: int, counts: list[int]) -> tuple[list[list[tuple[int, int]]], list[int]]:
        picks = []
        for source, count in enumerate(counts):
            first = self.drawn[source]
            picks += [(source, self._nth(source, first + place)) for place in range(count)]
        random = np.random.default_rng([self.seed, 2, number])
        # Shuffled first, so that among rows of one length none comes first always.
        picks = [picks[index] for index in random.permutation(len(picks))]
        picks.sort(key=lambda pick: self.sources[pick[0]][0].heads[pick[1]].tokens)
        batches = [picks[at : at + self.batch] for at in range(0, len(picks), self.batch)]
        return [batches[index] for index in random.permutation(len(batches))], counts

    def next(self) -> list[dict]:
        """The next batch."""
        if not self.batches or self.taken == len(self.batches):
            if self.batches:
                self.drawn = [drawn + count for drawn, count in zip(self.drawn, self._counts())]
            self.batches, _ = self._window(self.begun, self._counts())
            self.begun, self.taken = self.begun + 1, 0
        picks = self.batches[self.taken]
        self.taken += 1
        return [self.sources[source][0].row(index) for source, index in picks]


def held_out(mixtures: list[Mixture], part: str, per_task: int, seed: int) -> list[dict]:
    """At most so many rows of each task, the same for one seed."""
    by_task: dict[str, list[tuple[Mixture, int]]] = {}
    for mixture in mixtures:
        for index in mixture.parts.get(part, []):
            by_task.setdefault(mixture.heads[index].task, []).append((mixture, index))
    rows = []
    for task in sorted(by_task):
        all_of_it = by_task[task]
        random = np.random.default_rng([seed, 3, *task.encode()])
        chosen = sorted(random.permutation(len(all_of_it))[:per_task].tolist())
        rows += [mixture.row(index) for mixture, index in (all_of_it[place] for place in chosen)]
    return rows
