"""How to set an adapter's probabilities right: temperatures and corrections fitted on held-out rows.

A kind of question is known by what may be answered (its *scale*). The new probability of option k is proportional to
exp(log p_k / T + bias_k), over all that was offered: temperature and vector scaling (Guo et al., "On calibration of modern
neural networks", 2017, sections 4.1 and 4.2). Of pairs judged alone the difference d of the two log-odds has a temperature of
its own: the first is preferred with a probability of σ(d / T).

What is minimized is the rows' cross-entropy against people's distributions, each row by its weight, plus half the square of
ln T and of every bias: as much as one row weighs that knows them to be 1 and 0 with a standard deviation of 1. Thousands of
rows hardly feel it, and few cannot ruin it.

Expected calibration error is that of the answer held most likely, in 15 bins of equal width (section 2): the mean over bins,
by their weight, of the distance between the mean probability of that answer and the mean share of people who gave it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path

import gguf
import numpy as np
import torch

from . import TrainingError
from .base import File
from .learn import Judged

FORM = 1
KEY = "retort.calibration"
# A scale with fewer rows is left to the temperature of all scales together, or has a temperature and no corrections.
FEWEST, FEWEST_FOR_BIAS = 30, 100
BINS = 15
# Below it an option is as good as impossible: a log-probability of minus infinity has no gradient.
LOWEST = -60.0


@dataclass
class Rows:
    """What was answered to questions of one kind, and what people answered."""

    # Log-probabilities of the options, up to a constant of each row.
    logs: list[list[float]] = field(default_factory=list)
    targets: list[list[float]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def add(self, logs: list[float], target: list[float], weight: float, group: str) -> None:
        """Adds a row."""
        self.logs.append([max(log, LOWEST) for log in logs])
        self.targets.append(target)
        self.weights.append(weight)
        self.groups.append(group)

    def __len__(self) -> int:
        return len(self.logs)

    def only(self, chosen: list[int]) -> "Rows":
        """Some of the rows."""
        return Rows(*([values[index] for index in chosen] for values in (self.logs, self.targets, self.weights, self.groups)))

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, targets, and weights whose mean is 1."""
        weights = torch.tensor(self.weights, dtype=torch.float64)
        return (torch.tensor(self.logs, dtype=torch.float64), torch.tensor(self.targets, dtype=torch.float64),
                weights / weights.mean())


@dataclass(frozen=True)
class Fit:
    """A temperature, and a correction of each option; none are all 0."""

    temperature: float = 1.0
    bias: tuple[float, ...] = ()

    def shares(self, rows: Rows) -> torch.Tensor:
        """Probabilities set right."""
        logs, *_ = rows.tensors()
        bias = torch.tensor(self.bias or [0.0] * logs.shape[1], dtype=torch.float64)
        return (logs / self.temperature + bias).softmax(-1)


def fit(rows: list[Rows], with_bias: bool) -> Fit:
    """The temperature, and with one kind of rows also the corrections, under which people's answers are likeliest."""
    if with_bias and len(rows) != 1:
        raise ValueError("corrections are of one scale")
    tensors = [each.tensors() for each in rows]
    options = tensors[0][0].shape[1]
    # ln(1/T), then biases.
    values = torch.zeros(1 + (options if with_bias else 0), dtype=torch.float64, requires_grad=True)

    def loss() -> torch.Tensor:
        total = 0.5 * values.square().sum()
        for logs, targets, weights in tensors:
            scores = logs * values[0].exp()
            if with_bias:
                scores = scores + values[1:] - values[1:].mean()
            total = total - (weights * (targets * scores.log_softmax(-1)).sum(-1)).sum()
        return total

    optimizer = torch.optim.LBFGS([values], max_iter=500, tolerance_grad=1e-8, tolerance_change=1e-12,
                                  line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        return found

    optimizer.step(closure)
    found = values.detach()
    if not torch.isfinite(found).all():
        raise TrainingError("a temperature could not be fitted: the rows' probabilities are no numbers")
    bias = found[1:] - found[1:].mean() if with_bias else found[1:]
    return Fit(math.exp(-found[0].item()), tuple(bias.tolist()))


def folds_of(groups: list[str], count: int) -> list[int]:
    """The fold of every row: rows of one group in one, and folds of about as many groups; the order of rows plays no part."""
    order = sorted(set(groups), key=lambda group: hashlib.sha256(group.encode()).digest())
    number = {group: place % count for place, group in enumerate(order)}
    return [number[group] for group in groups]


def cross_fitted(rows: Rows, with_bias: bool, folds: int) -> torch.Tensor | None:
    """Every row's probabilities, set right by what was fitted to the other folds; nothing where there is one group alone."""
    places = folds_of(rows.groups, folds)
    if len(set(places)) < 2:
        return None
    out = torch.zeros(len(rows), len(rows.logs[0]), dtype=torch.float64)
    for fold in set(places):
        inside = [index for index, place in enumerate(places) if place == fold]
        outside = [index for index, place in enumerate(places) if place != fold]
        out[inside] = fit([rows.only(outside)], with_bias).shares(rows.only(inside))
    return out


def bins_of(shares: torch.Tensor, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row the probability of the answer held most likely, people's share for it, and the row's weight."""
    _, targets, weights = rows.tensors()
    confidence, chosen = shares.max(-1)
    right = targets.gather(1, chosen[:, None])[:, 0]
    return confidence.numpy(), right.numpy(), weights.numpy()


def calibration_error(cases: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> float:
    """The expected calibration error of all these rows together; see the module's text."""
    confidence, right, weights = (np.concatenate(parts) for parts in zip(*cases))
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    total = 0.0
    for number in range(BINS):
        inside = place == number
        total += abs((weights[inside] * (confidence[inside] - right[inside])).sum())
    return float(total / weights.sum())


def cross_entropy(shares: torch.Tensor, rows: Rows) -> float:
    """The mean over rows by their weights, in nats."""
    _, targets, weights = rows.tensors()
    logs = shares.clamp_min(1e-300).log()
    return float(-(weights * (targets * logs).sum(-1)).sum() / weights.sum())


@dataclass
class Report:
    """A line of the table."""

    name: str
    rows: int
    fit: Fit | None
    loss_before: float
    loss_after: float | None
    ece_before: float
    ece_after: float | None

    def form(self) -> dict:
        """As it is written: without labels."""
        out = {"temperature": rounded(self.fit.temperature), "rows": self.rows, "ece_before": rounded(self.ece_before)}
        if self.ece_after is not None:
            out["ece_after"] = rounded(self.ece_after)
        return out


def rounded(value: float) -> float:
    """Six digits behind the point are more than any number of rows knows."""
    return round(value, 6)


def of_rows(name: str, rows: Rows, with_bias: bool, folds: int) -> Report:
    """Fits one kind of rows, and measures before and after."""
    before, after = Fit().shares(rows), cross_fitted(rows, with_bias, folds)
    return Report(name, len(rows), fit([rows], with_bias), cross_entropy(before, rows),
                  None if after is None else cross_entropy(after, rows), calibration_error([bins_of(before, rows)]),
                  None if after is None else calibration_error([bins_of(after, rows)]))


def too_few(name: str, rows: Rows) -> Report:
    """Of too few rows to fit anything to."""
    before = Fit().shares(rows)
    return Report(name, len(rows), None, cross_entropy(before, rows), None, calibration_error([bins_of(before, rows)]), None)


def of_others(scales: list[Rows]) -> Report:
    """One temperature for all scales; what it is worth for a scale that was not seen is measured by leaving each out."""
    before = [Fit().shares(rows) for rows in scales]
    report = Report("other", sum(map(len, scales)), fit(scales, False), 0.0, None, 0.0, None)
    mean = lambda shares: sum(cross_entropy(each, rows) * len(rows) for each, rows in zip(shares, scales)) / report.rows
    error = lambda shares: calibration_error([bins_of(each, rows) for each, rows in zip(shares, scales)])
    report.loss_before, report.ece_before = mean(before), error(before)
    if len(scales) > 1:
        after = [fit(scales[:at] + scales[at + 1 :], False).shares(rows) for at, rows in enumerate(scales)]
        report.loss_after, report.ece_after = mean(after), error(after)
    return report


def gathered(rows: list[dict], judged: list[Judged]) -> tuple[dict[tuple[str, ...], Rows], Rows]:
    """Rows by their scale, and pairs, whose two options are the first and the second response. Text has neither."""
    scales: dict[tuple[str, ...], Rows] = {}
    pairs = Rows()
    for row, each in zip(rows, judged):
        if row["kind"] == "text" or each.example.weight <= 0:
            continue
        group = str(row.get("group", row["id"]))
        if row["kind"] == "pair":
            pairs.add([each.difference, 0.0], each.example.target, each.example.weight, group)
        else:
            # An option's first spelling is its label.
            labels = tuple(spellings[0] for spellings in row["options"])
            scales.setdefault(labels, Rows()).add(each.log_probabilities[0], each.example.target, each.example.weight, group)
    return scales, pairs


def calibrate(rows: list[dict], judged: list[Judged], mixtures: list[str], folds: int) -> tuple[dict, list[Report]]:
    """What is written into the adapter, and the table of it.

    Raises `TrainingError` where nothing has rows enough.
    """
    if folds < 2:
        raise TrainingError(f"--folds {folds}: what was fitted to all rows cannot be measured on others; say 2 or more")
    scales, pairs = gathered(rows, judged)
    form: dict = {"form": FORM, "rows": sum(map(len, scales.values())) + len(pairs), "mixture_sha256": ",".join(mixtures), "scales": []}
    reports = []
    for labels, own in sorted(scales.items(), key=lambda item: (-len(item[1]), item[0])):
        name = ", ".join(labels)
        if len(own) < FEWEST:
            reports.append(too_few(name, own))
            continue
        report = of_rows(name, own, len(own) >= FEWEST_FOR_BIAS, folds)
        reports.append(report)
        bias = [rounded(value) for value in report.fit.bias or [0.0] * len(labels)]
        form["scales"].append({"labels": list(labels), "bias": bias, **report.form()})
    if sum(map(len, scales.values())) >= FEWEST:
        reports.append(of_others([scales[labels] for labels in sorted(scales)]))
        form["other"] = reports[-1].form()
    if 0 < len(pairs) < FEWEST:
        reports.append(too_few("difference of pairs", pairs))
    if len(pairs) >= FEWEST:
        reports.append(of_rows("difference of pairs", pairs, False, folds))
        form["difference"] = reports[-1].form()
    if not form["scales"] and "other" not in form and "difference" not in form:
        raise TrainingError(f"{form['rows']} rows are too few: a temperature needs {FEWEST}; raise --rows or give more of them")
    return form, reports


def table(reports: list[Report]) -> str:
    """For a person to read."""
    number = lambda value: "—" if value is None else f"{value:.4f}"
    width = max(len(report.name) for report in reports)
    lines = [f"{'':{width}}    rows       T  loss before  after*  ECE before  after*  bias"]
    for report in reports:
        temperature = "—" if report.fit is None else f"{report.fit.temperature:.3f}"
        bias = " ".join(f"{value:+.2f}" for value in report.fit.bias) if report.fit else f"fewer than {FEWEST} rows"
        lines.append(f"{report.name:{width}}  {report.rows:6}  {temperature:>6}  {number(report.loss_before):>11}  "
                     f"{number(report.loss_after):>6}  {number(report.ece_before):>10}  {number(report.ece_after):>6}  {bias}".rstrip())
    lines.append(f"* each row by what was fitted to other groups; \"other\" by what was fitted to other scales. ECE: of the answer held "
                 f"most likely, {BINS} equal bins.")
    return "\n".join(lines)


def write(adapter: Path, out: Path, form: dict) -> None:
    """Copies an adapter's file, bit by bit but for what it says of its probabilities. An adapter may replace itself."""
    file = File(adapter)
    reader = file.reader
    part = out.with_name(out.name + ".part")
    writer = gguf.GGUFWriter(part, file.need("general.architecture"))
    for key, entry in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", KEY):
            continue
        kind = entry.types[0]
        inner = entry.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, entry.contents(), kind, inner)
    writer.add_string(KEY, json.dumps(form, allow_nan=False))
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, np.array(tensor.data), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(part, out)
