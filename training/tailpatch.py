"""Measures what a few further steps on each kind of data do to each kind of judgement, and weighs a mixture by it.

From one partly trained adapter a short run on each *bundle* of tasks; after each the same held-out rows are judged, by
*category* of judgement. A bundle's effect on a category is the mean change of the held-out loss, with a standard error over
groups (a prompt or document and all that was made of it). Ratings: +2 clearly better (more than two standard errors), +1
probably (more than one), 0 not seen, −1 probably worse (more than one). Held-out rows are of the training data's own
validation side, never of an evaluation set.

    python training/tailpatch.py run --model M.gguf --mixture mix/train --held-out mix/validation --start A.gguf --out patch
    python training/tailpatch.py table --out patch                       # the ratings, in Markdown
    python training/tailpatch.py weights --out patch --mixture mix/train # "task = weight", for retort mixture --weights
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from pathlib import Path

# Before PyTorch is loaded, as in train.py.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch

from retort_training import TrainingError, command
from retort_training.base import Base, File, choose_device, choose_dtype, sha256
from retort_training.learn import Reader, judge, losses, micro_batches
from retort_training.lora import Adapter, plan_of
from retort_training.mixture import Mixture, Sampler
from retort_training.model import Model
from retort_training.readout import read
from retort_training.tokenizer import Tokenizer

# What a bundle's tasks weigh in the mixture, by the sum of its ratings over the categories. Fixed before anything was
# measured.
WEIGHTS = {"general": 4.0, "special": 2.0, "unseen": 0.5, "harmful": 0.0}


def arguments() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="patch with every bundle that is not in the results yet")
    run.add_argument("--model", type=Path, required=True, metavar="GGUF", help="the base")
    run.add_argument("--mixture", type=Path, required=True, metavar="PATH", help="what `retort mixture` wrote, to learn from")
    run.add_argument("--held-out", type=Path, required=True, metavar="PATH", help="the same with --part validation")
    run.add_argument("--start", type=Path, required=True, metavar="GGUF", help="the partly trained adapter")
    run.add_argument("--plan", type=Path, default=Path(__file__).with_name("tailpatch.toml"), metavar="TOML",
                     help="bundles and categories of tasks")
    run.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    run.add_argument("--steps", type=int, default=12)
    run.add_argument("--batch", type=int, default=8)
    run.add_argument("--rate", type=float, default=0.5, help="of the usual learning rates; there is no warmup to speak of")
    run.add_argument("--rows", type=int, default=60, help="held-out rows of each category")
    run.add_argument("--max-tokens", type=int, default=240)
    run.add_argument("--micro-tokens", type=int, default=4096)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--threads", type=int)
    run.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    run.add_argument("--dtype", default="auto", choices=["auto", "bfloat16", "float32"])
    for name, says in (("table", "the ratings"), ("weights", "the weights of tasks that follow from them")):
        command = commands.add_parser(name, help=f"print {says}")
        command.add_argument("--out", type=Path, required=True, metavar="FOLDER")
        command.add_argument("--plan", type=Path, default=Path(__file__).with_name("tailpatch.toml"), metavar="TOML")
    return parser


def read_plan(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Bundles and categories: names of tasks by name."""
    plan = tomllib.loads(path.read_text(encoding="utf-8"))
    for part in ("bundles", "categories"):
        if not isinstance(plan.get(part), dict) or not plan[part]:
            raise TrainingError(f"{path} has no [{part}]: name = [\"task\", …]")
    return plan["bundles"], plan["categories"]


def rows_of(mixture: Mixture, part: str, tasks: list[str], most: int, seed: int) -> list[dict]:
    """At most so many rows of these tasks, as many of each as there are."""
    by_task = {task: [index for index in mixture.parts.get(part, []) if mixture.heads[index].task == task] for task in tasks}
    chosen: list[int] = []
    for task in tasks:
        by_task[task] = np.random.default_rng([seed, 5, *task.encode()]).permutation(by_task[task]).tolist()
    while len(chosen) < most and any(by_task.values()):
        for task in tasks:
            if by_task[task] and len(chosen) < most:
                chosen.append(by_task[task].pop())
    return [mixture.row(index) for index in sorted(chosen)]


def effect(before: list[float], after: list[float], groups: list[str]) -> tuple[float, float]:
    """By how much the loss fell, and its standard error over groups."""
    fell = np.asarray(before) - np.asarray(after)
    names, place = np.unique(groups, return_inverse=True)
    mean = float(fell.mean())
    # Of a mean whose parts come in groups: the groups' sums of deviations are what is independent.
    sums = np.bincount(place, weights=fell - mean)
    error = float(np.sqrt((sums**2).sum() * len(names) / max(len(names) - 1, 1)) / len(fell))
    return mean, error


def rating(mean: float, error: float) -> int:
    """+2, +1, 0 or −1; see the top of this file."""
    if mean > 2 * error:
        return 2
    if mean > error:
        return 1
    return -1 if mean < -error else 0


def kind_of(ratings: list[int]) -> str:
    """What a bundle is good for: "general" helps at least half of the categories and harms none more than it helps,
    "special" helps one, "harmful" harms more than it helps, "unseen" does neither."""
    helped, harmed = sum(each > 0 for each in ratings), sum(each < 0 for each in ratings)
    if harmed > helped:
        return "harmful"
    if 2 * helped >= len(ratings):
        return "general"
    return "special" if helped else "unseen"


def command_run(args: argparse.Namespace) -> None:
    """Patches."""
    if args.threads:
        torch.set_num_threads(args.threads)
    bundles, categories = read_plan(args.plan)
    device = choose_device(args.device)
    base_sha256 = sha256(args.model)
    file = File(args.model)
    reader = Reader(Tokenizer(file))
    held_out = Mixture(args.held_out, base_sha256, None, args.max_tokens)
    base = Base(file, device, choose_dtype(args.dtype, device))
    examined: dict[str, tuple[list, list[str]]] = {}
    for category, tasks in categories.items():
        rows = rows_of(held_out, "validation", tasks, args.rows, args.seed)
        if rows:
            examined[category] = ([reader.example(row) for row in rows], [row.get("group", row["id"]) for row in rows])
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / "results.jsonl"
    sources = {"start": sha256(args.start), "held_out": held_out.sha256, "steps": args.steps, "batch": args.batch,
               "rate": args.rate, "rows": args.rows, "seed": args.seed, "max_tokens": args.max_tokens}
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    if any(each["sources"] != sources for each in known):
        raise TrainingError(f"{results} is of other settings; name another --out")

    def look(model: Model) -> dict[str, list[float]]:
        return {category: [each.loss for each in judge(model, examples, args.micro_tokens)[0]]
                for category, (examples, _) in examined.items()}

    def fresh() -> Adapter:
        adapter = Adapter(base.config, plan_of(args.start), args.seed)
        adapter.read(args.start)
        return adapter.to(device)

    before = look(Model(base, fresh()))
    done = {each["bundle"] for each in known}
    for bundle, tasks in bundles.items():
        if bundle in done:
            continue
        began = time.monotonic()
        mixture = Mixture(args.mixture, base_sha256, set(tasks), args.max_tokens)
        if not mixture.parts.get("train"):
            print(f"{bundle}: no rows; left out", file=sys.stderr)
            continue
        sampler = Sampler([(mixture, None)], "train", args.batch, 4, args.seed)
        adapter = fresh()
        model = Model(base, adapter)
        optimizer = torch.optim.AdamW([
            {"params": list(adapter.a.parameters()), "lr": 4e-4 * args.rate},
            {"params": list(adapter.b.parameters()), "lr": 3e-3 * args.rate},
        ], betas=(0.9, 0.99), weight_decay=0.0)
        for step in range(args.steps):
            examples = [reader.example(row) for row in sampler.next()]
            optimizer.zero_grad(set_to_none=True)
            for run in micro_batches(examples, args.micro_tokens):
                answers = read(model, [ask for example in run for ask in example.asks])
                (sum(each.weight * loss for each, loss in zip(run, losses(run, answers))) / len(examples)).backward()
            torch.nn.utils.clip_grad_norm_(adapter.parameters(), 1.0)
            for group, usual in zip(optimizer.param_groups, (4e-4, 3e-3)):
                # Three steps up, so that the optimizer's first guesses of the gradients' sizes do no harm.
                group["lr"] = usual * args.rate * min(1.0, (step + 1) / 3)
            optimizer.step()
        after = look(model)
        line = {"bundle": bundle, "tasks": tasks, "rows": args.steps * args.batch, "sources": sources, "effects": {}}
        for category, (_, groups) in examined.items():
            mean, error = effect(before[category], after[category], groups)
            line["effects"][category] = {"rows": len(groups), "fell": round(mean, 5), "error": round(error, 5),
                                         "rating": rating(mean, error)}
        line["kind"] = kind_of([each["rating"] for each in line["effects"].values()])
        line["seconds"] = round(time.monotonic() - began, 1)
        with open(results, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
        print(f"{bundle}: {line['kind']}, " + ", ".join(f"{name} {each['rating']:+d}" for name, each in line["effects"].items()),
              flush=True)


def read_results(folder: Path) -> list[dict]:
    """What was measured."""
    path = folder / "results.jsonl"
    if not path.exists():
        raise TrainingError(f"{path} is not there; `run` first")
    return [json.loads(line) for line in path.read_text().splitlines()]


def command_table(args: argparse.Namespace) -> None:
    """The ratings in Markdown: by how much the held-out loss fell, its standard error, and the rating."""
    results = read_results(args.out)
    categories = list(results[0]["effects"])
    print("| bundle | " + " | ".join(categories) + " | kind | weight |")
    print("|---" * (len(categories) + 3) + "|")
    for each in results:
        cells = (f"{effect['rating']:+d} ({effect['fell']:+.3f} ± {effect['error']:.3f})" for effect in each["effects"].values())
        print(f"| {each['bundle']} | " + " | ".join(cells) + f" | {each['kind']} | {WEIGHTS[each['kind']]:g} |")


def command_weights(args: argparse.Namespace) -> None:
    """TOML for `retort mixture --weights`: a bundle's weight, shared among its tasks."""
    bundles, _ = read_plan(args.plan)
    kinds = {each["bundle"]: each["kind"] for each in read_results(args.out)}
    for bundle, tasks in bundles.items():
        named = [task for task in tasks if not task.startswith("variant_")]
        for task in named:
            print(f"{task} = {WEIGHTS[kinds.get(bundle, 'unseen')] / len(named):.4f}")


def main() -> int:
    """The command."""
    args = arguments().parse_args()
    return command.run("tailpatch.py", {"run": command_run, "table": command_table, "weights": command_weights}, args)


if __name__ == "__main__":
    sys.exit(main())
