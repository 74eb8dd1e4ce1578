"""Linear readouts on the frozen base's hidden states: what an adapter is held against. Nothing of them is shipped."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Callable

import numpy as np
import torch
import torch.nn.functional as F

from .ablation import Outcome, Variant, outcome_of_options, outcome_of_pair, pieces_of
from .base import Base
from .forest import Forest
from .model import Batch, Model
from .tokenizer import Tokenizer

FOLDS = 5
# Weights of the penalty, times half the squared norm of the weights over standardized states, per example.
PENALTIES = (0.003, 0.03, 0.3)


def layers_of(base: Base) -> list[int]:
    """Layers behind which states are read: of 30 the 5th, 10th, … and 30th."""
    count = base.config.layers
    return sorted({max(1, round(count * sixth / 6)) for sixth in range(1, 7)})


def spans_of(tokenizer: Tokenizer, pieces: list) -> tuple[list[int], tuple[int, int]]:
    """A prompt's tokens, and from where to where the judged text stands."""
    before = len(tokenizer.prompt(pieces[:-5]))
    return tokenizer.prompt(pieces), (before, before + len(tokenizer.user(pieces[-5][1])))


def states(base: Base, prompts: list[tuple[list[int], tuple[int, int]]], layers: list[int], tokens: int = 4096) -> np.ndarray:
    """`prompts × layers × 2 × width`: the residual stream behind each layer at the last token, and its mean over a span."""
    out = np.zeros((len(prompts), len(layers), 2, base.config.width), dtype=np.float32)
    model = Model(base, None)
    order = sorted(range(len(prompts)), key=lambda number: len(prompts[number][0]))
    at = 0
    while at < len(order):
        run, filled = [], 0
        while at < len(order) and (not run or filled + len(prompts[order[at]][0]) <= tokens):
            filled += len(prompts[order[at]][0])
            run.append(order[at])
            at += 1
        forest = Forest([prompts[number][0] for number in run])
        batch, every = Batch(forest, base), torch.arange(forest.rows, device=base.device)
        last = torch.tensor([forest.row(place, -1) for place in range(len(run))], device=base.device)
        spans = [torch.tensor([forest.row(place, position) for position in range(*prompts[number][1])], device=base.device)
                 for place, number in enumerate(run)]
        with torch.no_grad():
            x = base.embedding[batch.tokens]
            for index in range(base.config.layers):
                x = model._layer(index, x, batch, every)
                if index + 1 not in layers:
                    continue
                place = layers.index(index + 1)
                out[run, place, 0] = x[last].cpu().numpy()
                for number, span in zip(run, spans):
                    out[number, place, 1] = x[span].mean(0).cpu().numpy() if len(span) else 0
    return out


def fit(loss: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, ...], penalty: float) -> torch.Tensor:
    """The weights of least loss and penalty, by L-BFGS from zero; a last row of biases goes free."""
    weights = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=40, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = loss(weights) + penalty / 2 * weights[:-1].square().sum()
        value.backward()
        return value

    optimizer.step(closure)
    return weights.detach()


class Softmax:
    """Multinomial logistic regression to distributions, over standardized features."""

    def __init__(self, x: np.ndarray, targets: np.ndarray, penalty: float):
        self.mean, self.scale = x.mean(0), x.std(0) + 1e-6
        features, wanted = self.features(x), torch.from_numpy(np.asarray(targets, dtype=np.float64))
        self.weights = fit(lambda w: -(wanted * F.log_softmax(features @ w, -1)).sum(-1).mean(),
                           (features.shape[1], wanted.shape[1]), penalty)

    def features(self, x: np.ndarray) -> torch.Tensor:
        """Standardized, with a 1 behind them; divided by the root of their number, so that penalties do not depend on it."""
        x = torch.from_numpy(((x - self.mean) / self.scale / x.shape[1] ** 0.5).astype(np.float64))
        return torch.cat([x, torch.ones(len(x), 1, dtype=torch.float64)], 1)

    def logs(self, x: np.ndarray) -> np.ndarray:
        """Logarithms of shares."""
        return F.log_softmax(self.features(x) @ self.weights, -1).numpy()


class Differences:
    """Bradley and Terry's model, linear in states: which of two is better by the difference of theirs."""

    def __init__(self, first: np.ndarray, second: np.ndarray, shares: np.ndarray, penalty: float):
        self.scale = np.concatenate([first, second]).std(0) + 1e-6
        x, share = self.features(first - second), torch.from_numpy(np.asarray(shares, dtype=np.float64))

        def loss(w):
            d = (x @ w)[:, 0]
            return -(share * F.logsigmoid(d) + (1 - share) * F.logsigmoid(-d)).mean()

        self.weights = fit(loss, (x.shape[1], 1), penalty)

    def features(self, x: np.ndarray) -> torch.Tensor:
        """Scaled. The 0 behind them makes the free bias do nothing: the order cannot matter."""
        x = torch.from_numpy((x / self.scale / x.shape[1] ** 0.5).astype(np.float64))
        return torch.cat([x, torch.zeros(len(x), 1, dtype=torch.float64)], 1)

    def differences(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """By how much the first is better."""
        return (self.features(first - second) @ self.weights)[:, 0].numpy()


def folds_of(groups: list[str], seed: int) -> np.ndarray:
    """A fold of each, the same for those of one group."""
    distinct = sorted(set(groups))
    place = dict(zip(distinct, np.random.default_rng([seed, 7]).permutation(len(distinct)) % FOLDS))
    return np.array([place[group] for group in groups])


def answer(rows: list[dict], learn: np.ndarray, asked: list[dict], x: np.ndarray, penalty: float) -> list[Outcome]:
    """Learns one task's rows by `learn` (`rows × prompts × width`) and judges `asked` by `x`."""
    if rows[0]["kind"] == "pair":
        model = Differences(learn[:, 0], learn[:, 1], np.array([row["target"][0] for row in rows]), penalty)
        return [outcome_of_pair(row, float(d)) for row, d in zip(asked, model.differences(x[:, 0], x[:, 1]))]
    model = Softmax(learn[:, 0], np.array([row["target"] for row in rows]), penalty)
    return [outcome_of_options(row, logs.tolist()) for row, logs in zip(asked, model.logs(x[:, 0]))]


def by_task(rows: list[dict], base: Base, tokenizer: Tokenizer, layers: list[int]) -> dict[str, tuple[list[dict], np.ndarray]]:
    """Of each task its rows and their states, `rows × prompts × layers × 2 × width`."""
    prompts = [spans_of(tokenizer, pieces) for row in rows for pieces in pieces_of(row)]
    found = iter(states(base, prompts, layers))
    grouped = defaultdict(lambda: ([], []))
    for row in rows:
        both = np.stack([next(found) for _ in pieces_of(row)])
        grouped[row["task"]][0].append(row)
        grouped[row["task"]][1].append(both)
    return {task: (rows, np.stack(values)) for task, (rows, values) in grouped.items()}


def readout(bench, variant: Variant) -> tuple[list[Outcome], dict]:
    """One readout of each task; layer, pooling and penalty are one choice for all, made within the rows to learn."""
    layers, seed = layers_of(bench.base), bench.settings.seed
    start = time.process_time(), time.monotonic()
    passed = lambda: {"processor": round(time.process_time() - start[0], 1), "wall": round(time.monotonic() - start[1], 1)}
    learn = by_task([bench.pool.alone[name] for name in bench.names], bench.base, bench.tokenizer, layers)
    choices = [(place, pooling, penalty) for place in range(len(layers)) for pooling in (0, 1) for penalty in PENALTIES]
    losses = {}
    for place, pooling, penalty in choices:
        total = []
        for rows, x in learn.values():
            folds, x = folds_of([row["group"] for row in rows], seed), x[:, :, place, pooling]
            own = []
            for fold in range(FOLDS):
                inner, outer = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                if len(inner) and len(outer):
                    found = answer([rows[i] for i in inner], x[inner], [rows[i] for i in outer], x[outer], penalty)
                    own += [each.loss for each in found]
            total.append(float(np.mean(own)))
        losses[place, pooling, penalty] = float(np.mean(total))
    learned = passed()
    start = time.process_time(), time.monotonic()
    held = by_task([bench.others.alone[name] for name in bench.examined], bench.base, bench.tokenizer, layers)
    examined = passed()

    def judged(place: int, pooling: int, penalty: float) -> list[Outcome]:
        out = []
        for task, (asked, x) in held.items():
            if task in learn:
                rows, known = learn[task]
                out += answer(rows, known[:, :, place, pooling], asked, x[:, :, place, pooling], penalty)
        return out

    best = min(choices, key=losses.__getitem__)
    every = []
    for place, layer in enumerate(layers):
        for pooling, name in enumerate(("last token", "mean of the text")):
            penalty = min(PENALTIES, key=lambda penalty: losses[place, pooling, penalty])
            found = judged(place, pooling, penalty)
            accuracy = lambda kind: np.mean([each.right for each in found if each.kind == kind and each.right is not None] or [np.nan])
            every.append({"layer": layer, "pooling": name, "penalty": penalty, "inner_loss": round(losses[place, pooling, penalty], 4),
                          "pairs": round(float(accuracy("pair")), 4), "options": round(float(accuracy("options")), 4)})
    choice = {"layer": layers[best[0]], "pooling": ("last token", "mean of the text")[best[1]], "penalty": best[2]}
    order = {name: number for number, name in enumerate(bench.examined)}
    found = sorted(judged(*best), key=lambda each: order[each.task, each.id])
    return found, {"learned": {"seconds": learned, "parameters": (bench.base.config.width + 1) * len(learn)},
                   "examined": {"seconds": examined}, "choice": choice, "every": every}
