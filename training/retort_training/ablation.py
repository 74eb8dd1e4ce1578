"""What the ablations share: which rows, in which form, what came out of each held-out row, and intervals.

A variant differs from the reference in one thing. All learn from the same examples and are examined on the same held-out
ones, so differences are taken example by example and drawn again by group (a prompt or document and all that was made of it).
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import TrainingError
from .learn import Judged
from .tokenizer import Tokenizer

SEED = 20_240_501
RESAMPLES = 2_000


@dataclass(frozen=True)
class Variant:
    """One thing that is tried."""

    name: str
    says: str
    # "base", "lora", "full", "readout" or "encoder".
    learner: str = "lora"
    # How rows are read: "alone", "together", "majority" or "first".
    form: str = "alone"
    # First and last, of a base of 30.
    layers: tuple[int, int] = (10, 29)
    rank: int = 16
    # Of a full fine-tuning and of an encoder; adapters have the rates of `Settings`.
    rate: float = 0.0
    # Of an encoder: as many examples of the pool as fit into the seconds that the reference took, not the same ones.
    hours: bool = False
    # "plain", or "cured": with rows that were made against biases in place of a quarter.
    rows: str = "plain"

    def layers_of(self, count: int) -> tuple[int, int]:
        """First and last of so many, in proportion."""
        return round(self.layers[0] * count / 30), round((self.layers[1] + 1) * count / 30) - 1


REFERENCE = "lora"
VARIANTS = (
    Variant("base", "the base, untrained", learner="base"),
    Variant(REFERENCE, "reference: LoRA, layers 10 to 29, rank 16, pairs scored alone, text before the question"),
    Variant("letter", "pairs shown together, a letter chosen, both orders", form="together"),
    Variant("readout", "linear readout on frozen states, one of each question", learner="readout"),
    Variant("encoder", "encoder of 22.7M, the same examples once", learner="encoder", rate=2e-4),
    Variant("encoder_hours", "encoder of 22.7M, the same seconds", learner="encoder", rate=2e-4, hours=True),
    Variant("majority", "targets: what most people said", form="majority"),
    Variant("upper", "LoRA on layers 20 to 29 only", layers=(20, 29)),
    Variant("rank4", "LoRA of rank 4", rank=4),
    Variant("full", "all matrices of all layers", learner="full", layers=(0, 29), rate=5e-5),
    Variant("first", "question before the text", form="first"),
    Variant("cured", "a quarter of the rows made against biases", rows="cured"),
)


def key(row: dict) -> tuple[str, str]:
    """What names an example, however it is shown."""
    return row["task"], row["id"]


@dataclass
class Pool:
    """The examples of a mixture in the order in which they are taken, each task's share by its number of rows wanted."""

    # Of each example the row with pairs shown alone, and the rows with both responses together, by order.
    alone: dict[tuple[str, str], dict]
    together: dict[tuple[str, str], dict[str, dict]]

    @classmethod
    def read(cls, paths: list[Path], tasks: Iterable[str] | str, max_tokens: int) -> Pool:
        """Short rows of which nothing was cut: of these tasks, pairs only if both ways of showing them are there; or those
        whose tasks begin with a word."""
        wanted = (lambda task: task.startswith(tasks)) if isinstance(tasks, str) else set(tasks).__contains__
        alone, together = {}, defaultdict(dict)
        for path in paths:
            path = path / "mixture.jsonl" if path.is_dir() else path
            with open(path, encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    if not wanted(row["task"]) or is_cut(row):
                        continue
                    if row["kind"] == "options" and "order" in row:
                        together[key(row)][row["order"]] = row
                    elif row["tokens"] <= max_tokens * (2 if row["kind"] == "pair" else 1):
                        alone[key(row)] = row
        if isinstance(tasks, str):
            return cls(alone, {})
        whole = {name: row for name, row in alone.items() if row["kind"] != "pair" or len(together.get(name, ())) == 2}
        return cls(whole, {name: orders for name, orders in together.items() if name in whole})

    def draw(self, tasks: dict[str, int], seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """So many examples of each task, the same for one seed; and the others, shuffled."""
        by_task: dict[str, list] = defaultdict(list)
        for name in self.alone:
            by_task[name[0]].append(name)
        chosen, others = [], []
        for task in sorted(by_task):
            order = np.random.default_rng([seed, 5, *task.encode()]).permutation(len(by_task[task]))
            names = [by_task[task][place] for place in order]
            chosen += names[: tasks.get(task, 0)]
            others += names[tasks.get(task, 0) :]
        return chosen, [others[place] for place in np.random.default_rng([seed, 6]).permutation(len(others))]

    def rows(self, names: list[tuple[str, str]], form: str, tokenizer: Tokenizer) -> list[dict]:
        """These examples in a form."""
        out = []
        for name in names:
            row = self.alone[name]
            if form == "together" and row["kind"] == "pair":
                # Two rows of half the weight, so that a pair weighs what it weighs elsewhere.
                orders = self.together[name]
                out += [{**orders[order], "weight": row.get("weight", 1.0) / 2} for order in ("ab", "ba")]
            elif form == "majority":
                out.append({**row, "target": majority(row["target"])})
            elif form == "first":
                out.append(question_first(row, tokenizer))
            else:
                out.append(row)
        return out


def pieces_of(row: dict) -> list[list]:
    """The prompts of a row."""
    return [row["first"], row["second"]] if row["kind"] == "pair" else [row["segments"]]


def is_cut(row: dict) -> bool:
    """Whether something of its texts was left out."""
    return any(kind == "t" and "was left out" in text for pieces in pieces_of(row) for kind, text in pieces)


def majority(target: list[float]) -> list[float]:
    """All of it for the commonest answer. Where two are equally common nothing is decided, and it stays as it is."""
    best = max(target)
    if target.count(best) != 1:
        return list(target)
    return [float(share == best) for share in target]


ASKING = re.compile(r'\A(\n"{3,})\n\n(Rate the response|Answer the question below about the texts|Compare the two responses)')
ASKED_FIRST = {
    "Rate the response": "Rate the response below on a criterion. ",
    "Answer the question below about the texts": "Answer a question about the texts below. ",
    "Compare the two responses": "Compare the two responses below. ",
}


def question_first(row: dict, tokenizer: Tokenizer) -> dict:
    """The row with instructions and question before the texts, and its tokens counted anew."""

    def turned(pieces: list) -> list:
        shape = "".join(kind for kind, _ in pieces[-5:])
        found = ASKING.match(pieces[-4][1]) if shape == "utuut" else None
        head, split, opening = pieces[0][1].rpartition("<|im_start|>user\n")
        if found is None or not split:
            raise TrainingError(f"{row['task']}, {row['id']}: the question is not found behind the texts")
        fence, asking = found.groups()
        return [
            ["t", head + split + ASKED_FIRST[asking]],
            *pieces[-3:-1],
            ["t", "\n\n" + opening],
            *pieces[1:-4],
            ["t", fence + pieces[-1][1]],
        ]

    prompts = [turned(pieces) for pieces in pieces_of(row)]
    out = {**row, "tokens": sum(len(tokenizer.prompt(pieces)) for pieces in prompts)}
    if row["kind"] == "pair":
        out["first"], out["second"] = prompts
    else:
        out["segments"] = prompts[0]
    return out


def texts(pieces: list) -> tuple[str, str]:
    """A prompt as plain text for a reader of two texts: question and what stands before the judged text, and that text.

    Words of ours about the judge and the chat template are left out, names of fields stay.
    """
    parts = [pieces[-2][1].removesuffix(" What is the answer?")]
    for kind, text in pieces[:-5]:
        text = text.rpartition("<|im_start|>user\n")[2] if kind == "t" else text
        parts.append(re.sub(r'\s*"{3,}\s*', " ", text).strip() if kind == "t" else text)
    return " ".join(part for part in parts if part), pieces[-5][1]


# What came out.


@dataclass
class Outcome:
    """How a held-out example was judged."""

    task: str
    id: str
    group: str
    kind: str
    # Cross-entropy against people's answers, of a pair against which they preferred.
    loss: float
    # 1 if judged as most people did, a half for no answer; none where people were undecided.
    right: float | None
    # Of a decided pair: whether the response with more characters was chosen.
    longer: float | None = None
    # Of a pair shown together: whether the same letter was chosen in both orders.
    flip: float | None = None


def decided(target: list[float]) -> int | None:
    """The answer that more people gave than any other."""
    best = max(target)
    return target.index(best) if target.count(best) == 1 else None


def outcome_of_pair(row: dict, difference: float, flip: float | None = None) -> Outcome:
    """`difference`: by how much the first is better, as log-odds."""
    share = row["target"][0]
    softplus = lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    loss = share * softplus(-difference) + (1 - share) * softplus(difference)
    people = decided(row["target"])
    right = longer = None
    if people is not None:
        right = 0.5 if difference == 0 else float((difference > 0) == (people == 0))
        size = len(row["first"][-5][1]) - len(row["second"][-5][1])
        longer = float((difference > 0) == (size > 0)) if size and difference else None
    return Outcome(row["task"], row["id"], row["group"], "pair", loss, right, longer, flip)


def outcome_of_options(row: dict, logs: list[float]) -> Outcome:
    """`logs`: natural logarithms of the options' shares."""
    loss = -sum(share * log for share, log in zip(row["target"], logs) if share > 0)
    people = decided(row["target"])
    right = None if people is None else float(logs.index(max(logs)) == people)
    return Outcome(row["task"], row["id"], row["group"], "options", loss, right)


def outcomes(judged: list[Judged], rows: list[dict], pool: Pool) -> list[Outcome]:
    """Of rows in any form; the two rows of a pair shown together are one outcome."""
    out, halves = [], {}
    for each, row in zip(judged, rows):
        if row["kind"] == "pair":
            # Which is longer is read from the row as it was made.
            out.append(outcome_of_pair(pool.alone[key(row)], each.difference))
        elif "order" in row:
            # The options are B and A.
            b, a = each.log_probabilities[0]
            halves.setdefault(key(row), {})[row["order"]] = a - b
        else:
            # Of all that could be said; here only the shares among the options count, whatever mass they have together.
            logs = each.log_probabilities[0]
            top = max(logs)
            total = top + math.log(sum(math.exp(log - top) for log in logs))
            out.append(outcome_of_options(row, [log - total for log in logs]))
    for name, odds in halves.items():
        row = pool.alone[name]
        # A is the first response in "ab" and the second in "ba"; the row alone may begin with either.
        first = (odds["ab"] - odds["ba"]) / 2
        difference = first if row["order"] == "ab" else -first
        out.append(outcome_of_pair(row, difference, float((odds["ab"] > 0) == (odds["ba"] > 0))))
    return out


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% bootstrap interval by group."""

    n: int
    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"


def macro(values: list[tuple[str, str, float]], resamples: int = RESAMPLES, seed: int = SEED) -> Interval | None:
    """The plain mean over tasks of the mean within each, of (task, group, value); groups are drawn again, whole."""
    if not values:
        return None
    tasks = {task: place for place, task in enumerate(sorted({task for task, *_ in values}))}
    groups = {group: place for place, group in enumerate(sorted({group for _, group, _ in values}))}
    sums, counts = np.zeros((len(groups), len(tasks))), np.zeros((len(groups), len(tasks)))
    for task, group, value in values:
        sums[groups[group], tasks[task]] += value
        counts[groups[group], tasks[task]] += 1
    drawn = np.random.default_rng(seed).multinomial(len(groups), [1 / len(groups)] * len(groups), size=resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        # A task of which nothing was drawn is left out of that draw.
        means = np.nanmean((drawn @ sums) / (drawn @ counts), axis=1)
    low, high = np.nanquantile(means, [0.025, 0.975])
    return Interval(len(values), float((sums.sum(0) / counts.sum(0)).mean()), float(low), float(high))


def figure(outcomes: list[Outcome], field: str = "right", kinds: tuple[str, ...] = ("pair", "options")) -> Interval | None:
    """The macro mean of a field over the outcomes that have it."""
    values = [(each.task, each.group, getattr(each, field)) for each in outcomes if each.kind in kinds]
    return macro([value for value in values if value[2] is not None])


def difference_of(one: list[Outcome], other: list[Outcome], field: str = "right",
                  kinds: tuple[str, ...] = ("pair", "options")) -> Interval | None:
    """The macro mean of one's field less the other's, example by example."""
    known = {(each.task, each.id): getattr(each, field) for each in other}
    values = []
    for each in one:
        mine, theirs = getattr(each, field), known.get((each.task, each.id))
        if each.kind in kinds and mine is not None and theirs is not None:
            values.append((each.task, each.group, mine - theirs))
    return macro(values)


def trivial(rows: list[dict], rule: str) -> list[Outcome]:
    """What a fixed rule would have got: the longer of a pair and, of options, the commonest answer of each task."""
    answers: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row["kind"] != "pair" and decided(row["target"]) is not None:
            answers[row["task"]].append(decided(row["target"]))
    out = []
    for row in rows:
        if row["kind"] == "pair":
            size = len(row["first"][-5][1]) - len(row["second"][-5][1])
            out.append(outcome_of_pair(row, float(size) if rule == "longer" else -float(size)))
        else:
            common = max(sorted(set(answers[row["task"]])), key=answers[row["task"]].count)
            out.append(outcome_of_options(row, [0.0 if at == common else -20.0 for at in range(len(row["target"]))]))
    return out
