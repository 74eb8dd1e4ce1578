"""How much of FLASK's annotations a small readout on frozen states can say. A measurement and nothing else.

FLASK's evaluation rows belong to a benchmark: nothing that is learned from them may be shipped or written to a file, and
nothing here does so. What is printed are figures, five folds by prompt, beside those of the annotator that reads words.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from . import TrainingError
from .base import Base
from .encoder import load
from .frozen import Softmax, states
from .tokenizer import Tokenizer

SEED, FOLDS, RESAMPLES = 20_240_501, 5, 1_000
# Tokens of an instruction.
LONGEST = 256
SKILLS = ["Logical Robustness", "Logical Correctness", "Logical Efficiency", "Factuality", "Commonsense Understanding",
          "Comprehension", "Insightfulness", "Completeness", "Metacognition", "Readability", "Conciseness", "Harmlessness"]
LEVELS = ["simple lifestyle knowledge", "advanced lifestyle knowledge", "formal education knowledge",
          "major level knowledge", "expert level knowledge"]
# A second domain is said where it has at least this share of the first's, as the words' annotator is measured.
SECOND = 0.6
# Divided by the number of rows and times 100.
PENALTIES = (0.003, 0.03, 0.3)


@dataclass
class Annotated:
    """A row as far as it is used."""

    instruction: str
    skills: list[int]
    domains: list[int]
    # 0 to 4; none where the file says -1.
    level: int | None


def plain(name: str) -> str:
    """A name without what differs between spellings."""
    return "".join(letter for letter in name.casefold() if letter.isalpha())


def read_flask(path: Path) -> tuple[list[Annotated], list[str]]:
    """Rows, and the domains' names. What is no name (-1 stands for none) is left out."""
    skills = {plain(name): at for at, name in enumerate(SKILLS)} | {"commonsense": 4}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    listed = lambda value: [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    domains = sorted({plain(name) for row in rows for name in listed(row["domain"])})
    out = []
    for row in rows:
        unknown = [name for name in listed(row["skill"]) if plain(name) not in skills]
        if unknown:
            raise TrainingError(f"{path}: skills {unknown} are not among FLASK's twelve")
        levels = [at for at, name in enumerate(LEVELS) if plain(name) == plain(str(row["difficulty"]))]
        out.append(Annotated(row["instruction"], sorted({skills[plain(name)] for name in listed(row["skill"])}),
                             list(dict.fromkeys(domains.index(plain(name)) for name in listed(row["domain"]))),
                             levels[0] if levels else None))
    return out, domains


class SplitMix64:
    """Steele, Lea and Flood (2014), as the annotator's own measurement draws its folds."""

    def __init__(self, seed: int):
        self.state = seed

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E37_79B9_7F4A_7C15) & mask
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB & mask
        return ((z ^ (z >> 31)) * n) >> 64


def folds_of(prompts: list[str]) -> np.ndarray:
    """The folds of `measure.rs` in retort-annotate: rows with the same prompt are in the same one."""
    distinct = sorted(set(prompts), key=str.encode)
    random = SplitMix64(SEED)
    for last in range(len(distinct) - 1, 0, -1):
        other = random.below(last + 1)
        distinct[last], distinct[other] = distinct[other], distinct[last]
    place = {prompt: at % FOLDS for at, prompt in enumerate(distinct)}
    return np.array([place[prompt] for prompt in prompts])


def base_states(base: Base, tokenizer: Tokenizer, rows: list[Annotated]) -> np.ndarray:
    """Of each row the last token's state and the instruction's mean, behind a third, two thirds and all of the layers."""
    layers = sorted({max(1, round(base.config.layers * third / 3)) for third in (1, 2, 3)})
    head, tail = tokenizer.template("<|im_start|>user\n"), tokenizer.template("<|im_end|>\n<|im_start|>assistant\n")
    prompts = []
    for row in rows:
        tokens = tokenizer.user(row.instruction)
        # Of long ones the beginning and the end.
        tokens = tokens if len(tokens) <= LONGEST else tokens[: LONGEST * 3 // 4] + tokens[-LONGEST // 4 :]
        prompts.append(([*head, *tokens, *tail], (len(head), len(head) + len(tokens))))
    found = states(base, prompts, layers)
    return found.reshape(len(rows), -1, base.config.width)


def encoder_states(folder: Path, rows: list[Annotated], batch: int = 32) -> np.ndarray:
    """Of each row the mean state behind the second, fourth and sixth layer."""
    model, tokenizer = load(folder)
    model.eval()
    texts = [row.instruction for row in rows]
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    out = None
    for start in range(0, len(order), batch):
        run = order[start : start + batch]
        tokens = tokenizer([texts[at] for at in run], truncation=True, max_length=LONGEST, padding=True, return_tensors="pt")
        with torch.no_grad():
            hidden = model(**tokens, output_hidden_states=True).hidden_states
        mask = tokens["attention_mask"].unsqueeze(-1)
        means = torch.stack([(hidden[layer] * mask).sum(1) / mask.sum(1) for layer in (2, 4, 6)], 1).numpy()
        out = np.zeros((len(texts), *means.shape[1:]), dtype=np.float32) if out is None else out
        out[run] = means
    return out


def shares(members: list[list[int]], classes: int) -> np.ndarray:
    """Each row's mass in equal parts on what it has."""
    out = np.zeros((len(members), classes))
    for row, own in enumerate(members):
        out[row, own] = 1 / max(len(own), 1)
    return out


@dataclass
class Said:
    """What a readout says of each row."""

    skills: list[set[int]]
    domains: list[list[int]]
    levels: list[int]


def questions(rows: list[Annotated], domains: int) -> list[np.ndarray]:
    """The three targets: skills, domains, level. A row of nothing but zeros has no answer."""
    return [shares([row.skills for row in rows], len(SKILLS)), shares([row.domains for row in rows], domains),
            shares([[] if row.level is None else [row.level] for row in rows], len(LEVELS))]


def say(found_states: np.ndarray, rows: list[Annotated], domains: int) -> tuple[Said, list[list[tuple[int, float]]]]:
    """Learns from four fifths for each fifth; which of the states (`rows × choices × width`) and which penalty is chosen within the
    four fifths, on one of them. Gives also what was chosen for each question and fold."""
    folds = folds_of([row.instruction for row in rows])
    found: list[np.ndarray] = []
    chosen: list[list[tuple[int, float]]] = []
    for target in questions(rows, domains):
        logs, picks = np.zeros_like(target), []
        has = target.sum(1) > 0
        for fold in range(FOLDS):
            inner_fold = (fold + 1) % FOLDS
            inner = np.flatnonzero((folds != fold) & (folds != inner_fold) & has)
            outer = np.flatnonzero((folds == inner_fold) & has)
            losses = {}
            for choice in range(found_states.shape[1]):
                for penalty in PENALTIES:
                    model = Softmax(found_states[inner, choice], target[inner], penalty / len(inner) * 100)
                    losses[choice, penalty] = -(target[outer] * model.logs(found_states[outer, choice])).sum(1).mean()
            best = min(losses, key=losses.__getitem__)
            learn, asked = np.flatnonzero((folds != fold) & has), np.flatnonzero(folds == fold)
            logs[asked] = Softmax(found_states[learn, best[0]], target[learn], best[1] / len(learn) * 100).logs(found_states[asked, best[0]])
            picks.append(best)
        found.append(np.exp(logs))
        chosen.append(picks)
    skills, fields, levels = found
    order = np.argsort(-fields, axis=1, kind="stable")
    said = Said(
        [set(row.tolist()) for row in np.argsort(-skills, axis=1, kind="stable")[:, :3]],
        [[int(first), int(second)] if field[second] >= SECOND * field[first] else [int(first)]
         for field, (first, second) in zip(fields, order[:, :2])],
        # The expected level, rounded.
        [int(round(value)) for value in levels @ np.arange(len(LEVELS))],
    )
    return said, chosen


def set_f1(a: set[int], b: set[int]) -> float | None:
    """2 |A ∩ B| / (|A| + |B|)."""
    size = len(a) + len(b)
    return 2 * len(a & b) / size if size else None


def ranks(values: np.ndarray) -> np.ndarray:
    """From 1, ties with their mean."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation; NaN where one of them does not vary."""
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / norm) if norm > 0 else float("nan")


def drawn(prompts: list[str], statistic) -> tuple[float, float, float]:
    """A statistic of row numbers, with its 95% bootstrap interval by prompt."""
    members: dict[str, list[int]] = {}
    for row, prompt in enumerate(prompts):
        members.setdefault(prompt, []).append(row)
    groups = [np.array(rows) for rows in members.values()]
    random = np.random.default_rng(SEED)
    values = [statistic(np.concatenate([groups[at] for at in random.integers(0, len(groups), len(groups))]))
              for _ in range(RESAMPLES)]
    low, high = np.nanquantile(values, [0.025, 0.975])
    return statistic(np.arange(len(prompts))), float(low), float(high)


def figures(rows: list[Annotated], said: Said) -> dict[str, tuple[float, float, float, int]]:
    """Skill-set F1, whether the first domain is one of the row's, and Spearman's correlation of the levels, each with its
    interval and number of rows."""
    out = {}
    f1 = [set_f1(set(row.skills), skills) for row, skills in zip(rows, said.skills)]
    hits = [float(domains[0] in row.domains) if row.domains else None for row, domains in zip(rows, said.domains)]
    sets = [(set_f1(set(row.domains), set(domains)) or 0.0) if row.domains else None for row, domains in zip(rows, said.domains)]
    for name, values in (("skill-set F1", f1), ("first domain", hits), ("domain-set F1", sets)):
        kept = [at for at, value in enumerate(values) if value is not None]
        column = np.array([values[at] for at in kept])
        out[name] = (*drawn([rows[at].instruction for at in kept], lambda chosen: float(column[chosen].mean())), len(kept))
    kept = [at for at, row in enumerate(rows) if row.level is not None]
    x, y = np.array([rows[at].level for at in kept]), np.array([said.levels[at] for at in kept])
    out["difficulty"] = (*drawn([rows[at].instruction for at in kept], lambda chosen: spearman(x[chosen], y[chosen])), len(kept))
    return out
