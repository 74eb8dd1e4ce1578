"""The loss of rows, and how well rows are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

from . import TrainingError
from .model import Model
from .readout import Answers, Ask, Tries, read
from .tokenizer import Tokenizer


@dataclass
class Example:
    """A row as tokens."""

    task: str
    id: str
    kind: str
    asks: list[Ask]
    target: list[float]
    weight: float
    # Of pairs: where each option stands on its scale, 0 to 1; nothing for "does not apply". Of two, the good one is last.
    places: list[float | None] = field(default_factory=lambda: [0.0, 1.0])

    @property
    def tokens(self) -> int:
        """Of all of its prompts."""
        return sum(len(ask.tokens) + len(ask.answer or ()) for ask in self.asks)


class Reader:
    """From rows to examples."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer, self.tries = tokenizer, Tries(tokenizer)

    def example(self, row: dict) -> Example:
        """The row's prompts as tokens, checked against what the row says of them."""
        kind, place = row["kind"], f"{row['task']}, {row['id']}"
        prompts = [row["first"], row["second"]] if kind == "pair" else [row["segments"]]
        tokens = [self.tokenizer.prompt(pieces) for pieces in prompts]
        begins = sum(self.tokenizer.begin is not None and ids[0] == self.tokenizer.begin for ids in tokens)
        if sum(map(len, tokens)) not in (row["tokens"], row["tokens"] + begins):
            raise TrainingError(
                f"{place}: {sum(map(len, tokens))} tokens, and the row says {row['tokens']}: it was made for another base, "
                "or this base's tokenizer is read wrongly"
            )
        weight = float(row.get("weight", 1.0))
        if kind == "text":
            answer = self.tokenizer.pieces(row["answer"])
            if not answer:
                raise TrainingError(f"{place}: the answer has no token")
            return Example(row["task"], row["id"], kind, [Ask(tokens[0], answer=answer)], [], weight)
        trie = self.tries(row["options"])
        target = [float(share) for share in row["target"]]
        wanted = 2 if kind == "pair" else trie.options
        if len(target) != wanted or min(target) < 0 or abs(sum(target) - 1) > 1e-6:
            raise TrainingError(f"{place}: the target {target} is no distribution over {wanted}")
        places = scale(row, trie.options, place) if kind == "pair" else []
        return Example(row["task"], row["id"], kind, [Ask(ids, trie) for ids in tokens], target, weight, places)


def scale(row: dict, options: int, place: str) -> list[float | None]:
    """Where a pair's options stand between the worst, 0, and the best, 1; without values there are two, the good one last."""
    values = row.get("values")
    if values is None and options == 2:
        return [0.0, 1.0]
    numbers = [float(value) for value in values or [] if value is not None]
    if len(values or []) != options or len(set(numbers)) < 2:
        raise TrainingError(
            f"{place}: a pair is judged by two options, the good one last, or by `values` for each of its {options} options"
        )
    low, high = min(numbers), max(numbers)
    return [None if value is None else (float(value) - low) / (high - low) for value in values]


def micro_batches(examples: list[Example], tokens: int) -> list[list[Example]]:
    """Runs of examples with at most so many tokens together; a longer one stands alone."""
    runs: list[list[Example]] = []
    filled = math.inf
    for example in examples:
        if filled + example.tokens > tokens:
            runs.append([])
            filled = 0
        runs[-1].append(example)
        filled += example.tokens
    return runs


def log_odds(log_shares: torch.Tensor, places: list[float | None]) -> torch.Tensor:
    """The log-odds of an expected place on a scale from 0 to 1: of two options that of the good one against the other.

    Both halves are sums of probabilities times distances, so nothing is lost near the ends.
    """
    scored = [index for index, each in enumerate(places) if each is not None]
    up = [index for index in scored if places[index] > 0]
    down = [index for index in scored if places[index] < 1]
    weight = log_shares.new_tensor
    high = torch.logsumexp(log_shares[..., up] + torch.log(weight([places[index] for index in up])), -1)
    low = torch.logsumexp(log_shares[..., down] + torch.log(weight([1 - places[index] for index in down])), -1)
    return high - low


def difference(answers: Answers, first: int, places: list[float | None]) -> torch.Tensor:
    """By how much the first response of a pair has the higher log-odds of being good."""
    odds = log_odds(answers.options[first : first + 2, : len(places)], places)
    return odds[0] - odds[1]


def losses(examples: list[Example], answers: Answers) -> list[torch.Tensor]:
    """The loss of each example, without its weight.

    Options: cross-entropy of their shares of the options' mass against the target's. Pairs: Bradley and Terry's
    (1952) -p ln σ(d) - (1 - p) ln σ(-d). Text: mean cross-entropy of the answer's tokens.
    """
    out, at = [], 0
    for example in examples:
        if example.kind == "text":
            out.append(answers.text[at])
        elif example.kind == "pair":
            d, p = difference(answers, at, example.places), example.target[0]
            out.append(-p * F.logsigmoid(d) - (1 - p) * F.logsigmoid(-d))
        else:
            options = answers.options[at, : len(example.target)]
            # A target of 0 times an impossible option is 0.
            out.append(-sum(share * options[index] for index, share in enumerate(example.target) if share > 0))
        at += len(example.asks)
    return out


@dataclass
class Judged:
    """What was answered to a row."""

    example: Example
    loss: float
    # Of each prompt the options' log-probabilities, or nothing.
    log_probabilities: list[list[float]]
    # Of each prompt the mass on all options.
    mass: list[float]

    @property
    def difference(self) -> float:
        """Of a pair: the difference of the log-odds."""
        odds = log_odds(torch.tensor(self.log_probabilities, dtype=torch.float64), self.example.places)
        return float(odds[0] - odds[1])


def judge(model: Model, examples: list[Example], tokens: int, each=lambda: None) -> tuple[list[Judged], int]:
    """Answers rows without learning from them, and counts tokens that were computed; `each` is called between runs."""
    out: list[Judged | None] = [None] * len(examples)
    computed = 0
    order = sorted(range(len(examples)), key=lambda index: examples[index].tokens)
    with torch.no_grad():
        for run in micro_batches_of(order, examples, tokens):
            each()
            chosen = [examples[index] for index in run]
            answers = read(model, [ask for example in chosen for ask in example.asks], with_mass=True)
            computed += answers.computed
            options = answers.options.cpu().double()
            mass = answers.mass.cpu().double() if answers.mass is not None else None
            at = 0
            for index, example, loss in zip(run, chosen, losses(chosen, answers)):
                log_probabilities, masses = [], []
                for ask in example.asks:
                    if ask.trie is not None:
                        shares = options[at, : ask.trie.options] + mass[at]
                        log_probabilities.append(shares.tolist())
                        masses.append(math.exp(min(mass[at].item(), 0.0)))
                    at += 1
                out[index] = Judged(example, float(loss), log_probabilities, masses)
    return [judged for judged in out if judged is not None], computed


def micro_batches_of(order: list[int], examples: list[Example], tokens: int) -> list[list[int]]:
    """As `micro_batches`, of numbers of examples."""
    numbers = {id(examples[index]): index for index in order}
    runs = micro_batches([examples[index] for index in order], tokens)
    return [[numbers[id(example)] for example in run] for run in runs]


@dataclass
class Tally:
    """How well a task's rows were judged."""

    rows: int = 0
    loss: float = 0.0
    # Rows in which people had one opinion more than any other, and how many were judged as they judged.
    decided: int = 0
    right: float = 0.0
    mass: float = 0.0
    # Of decided pairs of unlike length: in how many the longer was chosen, and in how many it was the better.
    unlike: int = 0
    longer_chosen: int = 0
    longer_better: int = 0
    answers: list[int] = field(default_factory=list)

    def add(self, judged: Judged) -> None:
        """Counts a row."""
        example = judged.example
        self.rows += 1
        self.loss += judged.loss
        self.mass += sum(judged.mass) / max(len(judged.mass), 1)
        if example.kind == "text":
            return
        best = max(example.target)
        if example.target.count(best) != 1:
            return
        people = example.target.index(best)
        self.decided += 1
        self.answers.append(people)
        if example.kind == "options":
            shares = judged.log_probabilities[0]
            self.right += shares.index(max(shares)) == people
            return
        d = judged.difference
        self.right += 0.5 if d == 0 else (d > 0) == (people == 0)
        longer = len(example.asks[0].tokens) - len(example.asks[1].tokens)
        if longer != 0:
            self.unlike += 1
            self.longer_chosen += (d > 0) == (longer > 0)
            self.longer_better += (people == 0) == (longer > 0)

    def report(self) -> dict:
        """As it is logged. `majority` is the accuracy of whoever always gives the commonest answer."""
        out = {"rows": self.rows, "loss": self.loss / max(self.rows, 1), "decided": self.decided}
        if self.decided:
            out["accuracy"] = self.right / self.decided
            out["majority"] = max(self.answers.count(answer) for answer in set(self.answers)) / self.decided
            out["mass"] = self.mass / self.rows
        if self.unlike:
            out["longer_chosen"] = self.longer_chosen / self.unlike
            out["longer_better"] = self.longer_better / self.unlike
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in out.items()}


def tally(judged: list[Judged]) -> dict[str, dict]:
    """By task, and over all tasks as the plain mean."""
    tallies: dict[str, Tally] = {}
    for each in judged:
        tallies.setdefault(each.example.task, Tally()).add(each)
    reports = {task: tallies[task].report() for task in sorted(tallies)}
    accuracies = [report["accuracy"] for report in reports.values() if "accuracy" in report]
    mean = {"tasks": len(reports), "loss": round(sum(r["loss"] for r in reports.values()) / max(len(reports), 1), 4)}
    if accuracies:
        mean["accuracy"] = round(sum(accuracies) / len(accuracies), 4)
    return {"mean": mean, **reports}
