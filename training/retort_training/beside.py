"""What a readout beside a trained adapter would add to its answers. Nothing of it is shipped.

Of every response the mean state behind one layer is read with the adapter applied, or lexical measures are taken of it, and a
linear readout of them is added to the calibrated log-odds: option k of a scale whose place is v_k (0 the worst, 1 the best)
gets z (v_k - 1/2), where z = (w + w_s)·x + b_s, w shared by all skills and w_s, b_s of the skill that is asked. The adapter's answers stay
as they are under z = 0, so what is fitted can only learn what they lack. Readouts are fitted to the other folds alone: folds
by group (prompts or documents), or whole families of tasks left out.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from . import TrainingError
from .ablation import Outcome, is_cut, outcome_of_options, outcome_of_pair, pieces_of
from .base import Base
from .frozen import FOLDS, folds_of, spans_of
from .learn import Reader, log_odds, micro_batches_of
from .lora import Adapter
from .model import Batch, Model
from .readout import Ask, read
from .tokenizer import Tokenizer

# Times half the squared norm of the shared weights and of a skill's own, per example, over standardized measures.
PENALTIES = ((0.003, 0.01), (0.01, 0.05))
FAMILY_FOLDS = 8


class Listening(Model):
    """A model that also keeps the mean, over a span of each prompt, of what leaves a layer."""

    def __init__(self, base: Base, adapter: Adapter | None, layer: int):
        super().__init__(base, adapter)
        self.layer, self.asks, self.spans = layer, [], []
        self.rows: list[torch.Tensor] = []
        self.heard: list[np.ndarray] = []

    def listen(self, asks: list[Ask], spans: list[tuple[int, int]]) -> None:
        """To these prompts, which are read next."""
        self.asks, self.spans = asks, spans

    def states(self, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        """As of any model."""
        first, self.rows = 0, []
        for ask, span in zip(self.asks, self.spans):
            self.rows.append(torch.tensor([batch.forest.row(first, place) for place in range(*span)], device=self.base.device))
            first += len(ask.sequences())
        return super().states(batch, rows)

    def _layer(self, index: int, x: torch.Tensor, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        x = super()._layer(index, x, batch, rows)
        if index + 1 == self.layer:
            width = x.shape[-1]
            self.heard = [x[own].mean(0).cpu().numpy() if len(own) else np.zeros(width, np.float32) for own in self.rows]
        return x


@dataclass
class Case:
    """A row, what the adapter answers to it, and what is measured of its responses."""

    row: dict
    family: str
    skills: list[str]
    # Of each option its place on the scale, 0 to 1; nothing for "does not apply".
    places: list[float | None]
    # Of each prompt the calibrated log-shares of the options.
    logs: np.ndarray
    # By what the log-odds of a pair's difference are multiplied.
    factor: float
    # Of each prompt.
    states: np.ndarray
    words: np.ndarray

    def outcome(self, z: np.ndarray) -> Outcome:
        """How the row is judged, with this added."""
        tilt = np.array([0.0 if place is None else place - 0.5 for place in self.places])
        logs = torch.from_numpy(self.logs + z[:, None] * tilt).log_softmax(-1)
        if self.row["kind"] == "pair":
            odds = log_odds(logs, self.places)
            return outcome_of_pair(self.row, float(odds[0] - odds[1]) * self.factor)
        return outcome_of_options(self.row, logs[0].tolist())


class Tasks:
    """What the tasks' own files say of them."""

    def __init__(self, folder: Path):
        self.tasks = {}
        for path in sorted(folder.glob("*.toml")):
            task = tomllib.loads(path.read_text(encoding="utf-8"))
            self.tasks[task["name"]] = task
        if not self.tasks:
            raise TrainingError(f"{folder} holds no task files; they are in crates/retort-bench/tasks")

    def of(self, name: str) -> dict:
        """Of a task, or of the one whose rows a variant was made from."""
        longest = max((task for task in self.tasks if name.endswith(task)), key=len, default=None)
        return self.tasks.get(name) or self.tasks.get(longest, {})

    def skills(self, row: dict) -> list[str]:
        """What the row's answer says something about; "overall" is quality as a whole."""
        if row.get("asked"):
            return ["overall" if row["asked"] == "good" else row["asked"]]
        task = self.of(row["task"])
        whole = bool(task.get("overall")) or row["task"].startswith("variant_")
        return [*task.get("skills", []), *(["overall"] if whole else [])]

    def places(self, row: dict) -> list[float | None] | None:
        """Of its options; nothing where they are no scale."""
        if row.get("values"):
            values = row["values"]
        else:
            known = {} if row.get("asked") else {str(o["label"]): o["value"] for o in self.of(row["task"]).get("options", [])}
            labels = [spellings[0].strip() for spellings in row["options"]]
            values = [None if label == "NA" else known.get(label, number(label)) for label in labels]
            if any(value is None and label != "NA" for value, label in zip(values, labels)):
                return None
        scored = [value for value in values if value is not None]
        if len(set(scored)) < 2:
            return None
        low, high = min(scored), max(scored)
        return [None if value is None else (value - low) / (high - low) for value in values]


def number(label: str) -> float | None:
    """What a label is worth by itself."""
    if label in ("no", "yes"):
        return float(label == "yes")
    try:
        return float(label)
    except ValueError:
        return None


WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d.,:]*")
NAMED = re.compile(r'([^\n]*):\n"{3,}\n$')
ENDS = re.compile(r"[.!?\"”)`}\]]\s*$")
DECLINES = re.compile(r"\b(I (cannot|can't|can’t|am unable|don't know|do not know|am not sure)|I'm (sorry|not sure)|As an AI)\b", re.IGNORECASE)
MEASURES = ("words", "pairs of words", "numbers", "has numbers", "names", "has names", "worst sentence", "prompt covered", "length",
            "length squared", "repeated", "ends", "declines", "source's length", "sentences", "length of words")


def measures(pieces: list) -> list[float]:
    """Lexical measures of the judged text: how much of it the texts before it hold (all of it: 1), and its form."""
    fields: list[str] = []
    for kind, text in pieces[:-5]:
        if kind == "t" and NAMED.search(text):
            fields.append("")
        elif kind == "u" and fields:
            fields[-1] += f" {text}"
    response, source = pieces[-5][1], " ".join(fields)
    own, theirs = ([token.strip(".,:'’-") for token in WORD.findall(text)] for text in (response, source))
    stems, source_stems = [stem(token) for token in own], [stem(token) for token in theirs]
    content = lambda text: [stem(token) for token in WORD.findall(text) if len(token) > 3 or token[0].isdigit()]
    known = set(content(source))
    share = lambda part, whole: sum(each in whole for each in part) / len(part) if part else 1.0
    numbers = [token for token in own if token[:1].isdigit()]
    names = [token.lower() for before, token in zip(own, own[1:]) if token[:1].isupper()]
    sentences = [each for each in re.split(r"(?<=[.!?])\s+", response.strip()) if each]
    triples = list(zip(stems, stems[1:], stems[2:]))
    length = math.log1p(len(own))
    return [share(content(response), known), share(list(zip(stems, stems[1:])), set(zip(source_stems, source_stems[1:]))),
            share(numbers, set(theirs)), float(bool(numbers)), share(names, {token.lower() for token in theirs}), float(bool(names)),
            min((share(content(each), known) for each in sentences), default=1.0),
            share(content(fields[0]) if fields else [], set(content(response))), length, length**2 / 10,
            1 - len(set(triples)) / len(triples) if triples else 0.0, float(bool(ENDS.search(response))),
            float(bool(DECLINES.search(response[:300]))), math.log1p(len(theirs)), math.log1p(len(sentences)),
            sum(map(len, own)) / max(len(own), 1) / 10]


def stem(word: str) -> str:
    """Without its commonest English endings."""
    word = word.lower()
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def gather(base: Base, adapter: Adapter, tokenizer: Tokenizer, mixture: Path, tasks: Tasks, calibration: dict, layer: int,
           limit: int, max_tokens: int, seed: int, tokens: int = 4096, each=lambda done, total: None) -> list[Case]:
    """So many rows of a mixture, drawn by a seed, with what the adapter answers and what its states are."""
    path = mixture / "mixture.jsonl" if mixture.is_dir() else mixture
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["kind"] == "text" or is_cut(row) or (row["kind"] == "options" and "order" in row):
                continue
            fits = row["tokens"] <= max_tokens * (2 if row["kind"] == "pair" else 1)
            if fits and tasks.skills(row) and tasks.places(row):
                rows.append(row)
    rows = [rows[index] for index in np.random.default_rng([seed, 8]).permutation(len(rows))[:limit]]
    reader, model = Reader(tokenizer), Listening(base, adapter, layer)
    examples = [reader.example(row) for row in rows]
    spans = [[spans_of(tokenizer, pieces)[1] for pieces in pieces_of(row)] for row in rows]
    scales = {tuple(scale["labels"]): scale for scale in calibration.get("scales", [])}
    other, apart = (calibration.get(name, {}).get("temperature", 1.0) for name in ("other", "difference"))
    out: list[Case | None] = [None] * len(rows)
    done = 0
    order = sorted(range(len(rows)), key=lambda index: examples[index].tokens)
    for run in micro_batches_of(order, examples, tokens):
        asks = [ask for index in run for ask in examples[index].asks]
        model.listen(asks, [span for index in run for span in spans[index]])
        with torch.no_grad():
            answers = read(model, asks)
        at = 0
        for index in run:
            row, count = rows[index], len(examples[index].asks)
            scale = scales.get(tuple(spellings[0].strip() for spellings in row["options"]), {})
            temperature = scale.get("temperature", other)
            logs = answers.options[at : at + count, : len(row["options"])].cpu().double().numpy()
            logs = np.maximum(logs, -60.0) / temperature + np.array(scale.get("bias", 0.0))
            words = np.array([measures(pieces) for pieces in pieces_of(row)])
            family = tasks.of(row["task"]).get("family", row["task"])
            out[index] = Case(row, family, tasks.skills(row), tasks.places(row), logs, temperature / apart,
                              np.stack(model.heard[at : at + count]).astype(np.float64), words)
            at += count
        done += len(run)
        each(done, len(rows))
    return [case for case in out if case is not None]


class Lean:
    """What is added to the log-odds; see the module's text."""

    def __init__(self, cases: list[Case], measured: list[np.ndarray], penalties: tuple[float, float]):
        self.skills = sorted({skill for case in cases for skill in case.skills})
        x = np.concatenate(measured)
        self.mean, self.scale = x.mean(0), x.std(0) + 1e-6
        features = torch.from_numpy(np.concatenate([self.features(each) for each in measured]))
        of = torch.from_numpy(np.concatenate([np.repeat(self.shares(case)[None], len(each), 0) for case, each in zip(cases, measured)]))
        options = max(len(case.places) for case in cases)
        logs = torch.full((len(x), options), -1e9, dtype=torch.float64)
        tilt, high, low = torch.zeros_like(logs), torch.full_like(logs, -1e9), torch.full_like(logs, -1e9)
        target, kept = torch.zeros_like(logs), []
        pairs, shares, factors = [], [], []
        at = 0
        for case, each in zip(cases, measured):
            for number in range(len(each)):
                logs[at + number, : len(case.places)] = torch.from_numpy(case.logs[number])
                for option, place in enumerate(case.places):
                    if place is not None:
                        tilt[at + number, option] = place - 0.5
                        high[at + number, option] = math.log(place) if place > 0 else -1e9
                        low[at + number, option] = math.log(1 - place) if place < 1 else -1e9
            if case.row["kind"] == "pair":
                pairs.append(at)
                shares.append(case.row["target"][0])
                factors.append(case.factor)
            else:
                kept.append(at)
                target[at, : len(case.places)] = torch.tensor(case.row["target"], dtype=torch.float64)
            at += len(each)
        pair, one = torch.tensor(pairs, dtype=torch.long), torch.tensor(kept, dtype=torch.long)
        share, factor = torch.tensor(shares, dtype=torch.float64), torch.tensor(factors, dtype=torch.float64)
        width = features.shape[1]
        weights = torch.zeros(width, len(self.skills) + 1, dtype=torch.float64, requires_grad=True)
        biases = torch.zeros(len(self.skills), dtype=torch.float64, requires_grad=True)

        def loss() -> torch.Tensor:
            z = ((features @ weights[:, 1:] + features @ weights[:, :1] + biases) * of).sum(-1)
            new = logs + z[:, None] * tilt
            total = -(target[one] * new[one].log_softmax(-1)).sum()
            if len(pair):
                odds = (new + high).logsumexp(-1) - (new + low).logsumexp(-1)
                d = (odds[pair] - odds[pair + 1]) * factor
                total = total - (share * F.logsigmoid(d) + (1 - share) * F.logsigmoid(-d)).sum()
            shared, own = penalties
            return (total / len(cases) + shared / 2 * weights[:, 0].square().sum() + own / 2 * weights[:, 1:].square().sum()
                    + 1e-3 * biases.square().sum())

        optimizer = torch.optim.LBFGS([weights, biases], max_iter=80, history_size=10, line_search_fn="strong_wolfe")

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            value = loss()
            value.backward()
            return value

        optimizer.step(closure)
        self.weights, self.biases = weights.detach().numpy(), biases.detach().numpy()

    def features(self, x: np.ndarray) -> np.ndarray:
        """Standardized, and divided by the root of their number, so that penalties do not depend on it."""
        return (x - self.mean) / self.scale / x.shape[1] ** 0.5

    def shares(self, case: Case) -> np.ndarray:
        """By skill; none of one that was not learned."""
        return np.array([(skill in case.skills) / len(case.skills) for skill in self.skills])

    def z(self, case: Case, x: np.ndarray) -> np.ndarray:
        """Of each prompt of a case."""
        features = self.features(x)
        return (features @ self.weights[:, 1:] + self.biases) @ self.shares(case) + features @ self.weights[:, 0]


def crossed(cases: list[Case], measured: list[np.ndarray], folds: list[int], penalties: tuple[float, float]) -> list[Outcome]:
    """Every case judged with a readout fitted to the other folds."""
    out: list[Outcome | None] = [None] * len(cases)
    for fold in sorted(set(folds)):
        inside = [index for index, each in enumerate(folds) if each == fold]
        outside = [index for index, each in enumerate(folds) if each != fold]
        lean = Lean([cases[index] for index in outside], [measured[index] for index in outside], penalties)
        for index in inside:
            out[index] = cases[index].outcome(lean.z(cases[index], measured[index]))
    return [outcome for outcome in out if outcome is not None]


def variants(cases: list[Case], seed: int) -> dict[str, list[Outcome]]:
    """The adapter's answers alone, and with every readout, by folds of either kind."""
    by_group = folds_of([case.row["group"] for case in cases], seed).tolist()
    families = sorted({case.family for case in cases})
    by_family = [families.index(case.family) % FAMILY_FOLDS for case in cases]
    out = {"the adapter's answers": [case.outcome(np.zeros(len(case.logs))) for case in cases]}
    for name, of in (("states", lambda case: case.states), ("lexical measures", lambda case: case.words),
                     ("both", lambda case: np.concatenate([case.states, case.words], 1))):
        measured = [of(case) for case in cases]
        for penalties in PENALTIES:
            for says, folds in ((f"{FOLDS} folds by group", by_group), ("families left out", by_family)):
                out[f"with {name}, penalties {penalties[0]:g} and {penalties[1]:g}, {says}"] = crossed(cases, measured, folds, penalties)
    return out
