"""A training run in a folder: steps, checkpoints, log, and the adapter that comes out."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from . import VERSION, TrainingError
from .learn import Example, Reader, judge, losses, micro_batches, tally
from .lora import LARGEST, Adapter
from .mixture import Sampler
from .model import Model
from .ranks import Ranks
from .readout import read


@dataclass(frozen=True)
class Settings:
    """How is trained. All of it is recorded in the run's folder and in the adapter."""

    seed: int = 0
    batch: int = 16
    window: int = 8
    rate_a: float = 4e-4
    rate_b: float = 3e-3
    weight_decay: float = 0.0
    warmup: int = 30
    schedule: str = "cosine"
    clip: float = 1.0
    mass_weight: float = 0.0
    # By the device: enough for wide products, little enough for a processor's cache.
    micro_tokens: int = 0
    validation_rows: int = 40


def with_micro_tokens(settings: Settings, device: torch.device) -> Settings:
    """Settings in which 0 has become what suits the device."""
    usual = 8192 if device.type == "cuda" else 2048
    return replace(settings, micro_tokens=settings.micro_tokens or usual)


def rate(settings: Settings, step: int, total: int | None) -> float:
    """The share of the learning rates at a step, counted from 0; while the total is not known, as if it were endless."""
    if step < settings.warmup:
        return (step + 1) / settings.warmup
    if total is None or settings.schedule == "constant":
        return 1.0
    done = min((step - settings.warmup) / max(total - settings.warmup, 1), 1.0)
    if settings.schedule == "cosine":
        # Down to a twentieth, so that the last steps still teach something.
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))
    # "trapezoid": constant, and down to zero in the last fifth.
    return min(1.0, (1.0 - done) / 0.2)


class Interrupt:
    """Ctrl-C or a polite kill ends the run after the step at hand; the second time at once."""

    def __init__(self):
        self.wanted = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._heard)

    def _heard(self, number, _frame):
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print("stopping after this step …", file=sys.stderr, flush=True)


class Run:
    """Everything that a checkpoint holds, and what it is worked on with."""

    def __init__(self, model: Model, reader: Reader, sampler: Sampler, held_out: list[dict], settings: Settings,
                 folder: Path, sources: dict, ranks: Ranks | None = None):
        self.ranks = ranks or Ranks()
        self.model, self.reader, self.sampler, self.settings = model, reader, sampler, settings
        self.adapter: Adapter = model.adapter
        self.folder, self.sources = folder, sources
        self.held_out = [reader.example(row) for row in held_out]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": list(self.adapter.a.parameters()), "lr": settings.rate_a, "share": settings.rate_a},
                {"params": list(self.adapter.b.parameters()), "lr": settings.rate_b, "share": settings.rate_b},
            ],
            betas=(0.9, 0.99),
            weight_decay=settings.weight_decay,
        )
        self.step, self.total, self.rows, self.tokens, self.seconds = 0, None, 0, 0, 0.0
        self.validation_seconds = 0.0

    # Learning.

    def learn(self) -> dict:
        """One step; gives what is logged of it."""
        settings, start = self.settings, time.perf_counter()
        examples = [self.reader.example(row) for row in self.sampler.next()]
        self.optimizer.zero_grad(set_to_none=True)
        total, by_task, computed = 0.0, {}, 0
        for run in micro_batches(self.ranks.share(examples, lambda example: example.tokens), settings.micro_tokens):
            with_mass = settings.mass_weight > 0
            answers = read(self.model, [ask for example in run for ask in example.asks], with_mass)
            each = losses(run, answers)
            loss = sum(example.weight * loss for example, loss in zip(run, each))
            if with_mass and answers.mass is not None:
                loss = loss - settings.mass_weight * answers.mass.sum()
            (loss / len(examples)).backward()
            total += float(loss.detach())
            computed += answers.computed
            for example, own in zip(run, each):
                by_task.setdefault(example.task, []).append(float(own.detach()))
        self.ranks.sum_gradients(list(self.adapter.parameters()))
        parts, total, by_task, computed = self.ranks.gather((total, by_task, computed)), 0.0, {}, 0
        for part_total, part_tasks, part_computed in parts:
            total, computed = total + part_total, computed + part_computed
            for task, own in part_tasks.items():
                by_task.setdefault(task, []).extend(own)
        norm = torch.nn.utils.clip_grad_norm_(self.adapter.parameters(), settings.clip)
        if not math.isfinite(total) or not torch.isfinite(norm):
            raise TrainingError(f"the loss of step {self.step + 1} is no number; go back to a checkpoint and lower the rates")
        share = rate(settings, self.step, self.total)
        for group in self.optimizer.param_groups:
            group["lr"] = share * group["share"]
        self.optimizer.step()
        self.step += 1
        self.rows += len(examples)
        tokens = sum(example.tokens for example in examples)
        self.tokens += tokens
        seconds = time.perf_counter() - start
        return {
            "event": "step",
            "step": self.step,
            "loss": round(total / len(examples), 5),
            "tasks": {task: [len(own), round(sum(own) / len(own), 4)] for task, own in sorted(by_task.items())},
            "rate": round(share, 4),
            "gradient": round(float(norm), 4),
            "tokens": tokens,
            "computed": computed,
            "tokens_per_second": round(tokens / seconds),
            "seconds": round(seconds, 2),
        }

    def validate(self) -> dict:
        """How well held-out rows are judged."""
        start = time.perf_counter()
        judged, computed = judge(self.model, self.held_out, 2 * self.settings.micro_tokens)
        self.validation_seconds = time.perf_counter() - start
        return {
            "event": "validation",
            "step": self.step,
            "rows_seen": self.rows,
            "computed": computed,
            "seconds": round(self.validation_seconds, 1),
            "tasks": tally(judged),
        }

    # Keeping.

    @property
    def checkpoint(self) -> Path:
        """Its file."""
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Writes the checkpoint; the old one stands until the new one is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.checkpoint.with_suffix(".part")
        state = {
            "version": VERSION,
            "sources": self.sources,
            "adapter": self.adapter.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "sampler": self.sampler.state(),
            "random": torch.get_rng_state(),
            "step": self.step,
            "total": self.total,
            "rows": self.rows,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        with open(part, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.checkpoint)

    def restore(self) -> None:
        """Goes on where the checkpoint stands."""
        state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
        for key, value in self.sources.items():
            if state["sources"].get(key) != value:
                raise TrainingError(
                    f"{self.checkpoint} was made with {key} = {state['sources'].get(key)!r}, and now it is {value!r}; give "
                    "what it was made with, or another --run"
                )
        self.adapter.load_state_dict(state["adapter"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.sampler.restore(state["sampler"])
        torch.set_rng_state(state["random"])
        self.step, self.total = state["step"], state["total"]
        self.rows, self.tokens, self.seconds = state["rows"], state["tokens"], state["seconds"]

    def export(self, path: Path | None = None, title: str = "Retort adapter", kind: str = "f16") -> Path:
        """Writes the adapter as it stands."""
        path = path or self.folder / "adapter.gguf"
        size = self.adapter.write(path, title, metadata(self), kind)
        if size > LARGEST:
            raise TrainingError(f"{path} has {size} bytes, and at most {LARGEST} are loaded by the page; lower --rank or layers")
        return path

    def log(self, event: dict) -> None:
        """Appends to the log."""
        self.folder.mkdir(parents=True, exist_ok=True)
        event = {**event, "elapsed": round(self.seconds, 1)}
        with open(self.folder / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    # The whole.

    def train(self, steps: int | None, minutes: float | None, checkpoint_minutes: float, validate_minutes: float,
              title: str, interrupt: Interrupt | None = None) -> str:
        """Trains until the steps are done, the time is up, or somebody says stop; gives which."""
        interrupt = interrupt or Interrupt()
        start = time.monotonic()
        deadline = None if minutes is None else start + 60 * minutes
        before = self.seconds
        if steps is not None:
            self.total = steps
        elif self.total is None and minutes is None:
            raise TrainingError("say --steps, --epochs or --minutes, or it would never end")
        saved = validated = start
        if self.ranks.rank > 0:
            return self._follow()
        self.log({"event": "begin", "step": self.step, "total": self.total, "sources": self.sources,
                  "processes": self.ranks.size, "threads": torch.get_num_threads()})
        if self.step == 0 and self.held_out:
            self._say(self.validate())
        first, first_time, pace = self.step, time.monotonic(), 0.0
        stopped = "done"
        while self.total is None or self.step < self.total:
            reserve = 2 * pace + 1.2 * self.validation_seconds + 3
            if interrupt.wanted:
                stopped = "interrupted"
                break
            if deadline is not None and time.monotonic() + reserve > deadline:
                stopped = "time"
                break
            self.ranks.decide((True, self.total))
            event = self.learn()
            now = time.monotonic()
            self.seconds = before + now - start
            pace = (now - first_time) / (self.step - first)
            if self.total is None and self.step - first >= min(self.settings.warmup, 20) and deadline is not None:
                # Validations and checkpoints take their part, and the machine may become slower.
                left = (deadline - now - 1.2 * self.validation_seconds - 3) * 0.92
                self.total = self.step + max(int(left / pace), 1)
                self.log({"event": "horizon", "step": self.step, "total": self.total})
            if self.total is not None:
                left = (self.total - self.step) * pace
                event["left"] = round(left if deadline is None else min(left, deadline - now))
            self._say(event)
            if self.held_out and now - validated > 60 * validate_minutes:
                self._say(self.validate())
                validated = time.monotonic()
                first_time += validated - now
            if time.monotonic() - saved > 60 * checkpoint_minutes:
                self.save()
                self.export(title=title)
                saved = time.monotonic()
        self.ranks.decide((False, self.total))
        self.seconds = before + time.monotonic() - start
        self.save()
        self.export(title=title)
        if self.held_out and stopped != "interrupted":
            self._say(self.validate())
            self.seconds = before + time.monotonic() - start
        self.log({"event": "end", "step": self.step, "total": self.total, "stopped": stopped})
        return stopped

    def _follow(self) -> str:
        """What the other processes do: every step that the first one decides on."""
        while True:
            go_on, self.total = self.ranks.decide(None)
            if not go_on:
                return "done"
            self.learn()

    def _say(self, event: dict) -> None:
        self.log(event)
        if event["event"] == "validation":
            mean = event["tasks"]["mean"]
            line = f"held out: accuracy {mean.get('accuracy', float('nan')):.3f}, loss {mean['loss']:.3f}"
            for task, report in list(event["tasks"].items())[1:]:
                line += f"\n  {task}: " + ", ".join(f"{key} {value}" for key, value in report.items())
        else:
            line = f"step {event['step']}/{self.total or '?'}: loss {event['loss']:.4f}, {event['tokens_per_second']} tokens/s"
            if "left" in event:
                line += f", {event['left'] // 60} min {event['left'] % 60} s left"
        print(line, flush=True)


def metadata(run: Run) -> dict[str, str]:
    """What the adapter says of itself, under `retort.`, as text."""
    return {
        "base.sha256": str(run.sources.get("base", "")),
        "mixture.sha256": ",".join(run.sources.get("mixtures", [])),
        "training.seed": str(run.settings.seed),
        "training.steps": str(run.step),
        "training.rows": str(run.rows),
        "training.tokens": str(run.tokens),
        "training.seconds": str(round(run.seconds)),
        "training.settings": json.dumps(run.sources.get("settings", {}), sort_keys=True),
    }


def dry_run(model: Model, examples: list[list[Example]], micro_tokens: int) -> dict:
    """Tokens per second on these batches, forward and forward with backward; of each the median over batches."""
    forward, both, shares = [], [], []
    for batch in examples:
        tokens = sum(example.tokens for example in batch)
        start = time.perf_counter()
        judge(model, batch, micro_tokens)
        forward.append(tokens / (time.perf_counter() - start))
        start, computed = time.perf_counter(), 0
        for run in micro_batches(batch, micro_tokens):
            answers = read(model, [ask for example in run for ask in example.asks])
            sum(losses(run, answers)).backward()
            computed += answers.computed
        both.append(tokens / (time.perf_counter() - start))
        shares.append(computed / tokens)
        model.adapter.zero_grad(set_to_none=True)
    median = lambda values: sorted(values)[len(values) // 2]
    return {"forward": round(median(forward)), "forward_and_backward": round(median(both)),
            "computed_share": round(median(shares), 3)}
