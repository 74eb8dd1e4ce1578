"""Trains an adapter, judges rows with one, calibrates one, or writes one from a checkpoint: `python training/train.py --help`."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from dataclasses import asdict, fields
from pathlib import Path
from types import SimpleNamespace

# Before PyTorch is loaded: tokenizing is fast enough on one thread, and the others belong to the products.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch

from retort_training import TrainingError, command
from retort_training.base import MATRICES, Base, File, choose_device, choose_dtype, read_config, sha256
from retort_training.calibrate import KEY, calibrate, table, write
from retort_training.learn import Judged, Reader, judge, tally
from retort_training.lora import Adapter, Plan, plan_of
from retort_training.mixture import Mixture, Sampler, held_out
from retort_training.model import Model
from retort_training.ranks import Ranks
from retort_training.run import Run, Settings, dry_run, metadata, with_micro_tokens
from retort_training.tokenizer import Tokenizer


def arguments() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def common(command: argparse.ArgumentParser) -> None:
        command.add_argument("--model", type=Path, required=True, metavar="GGUF", help="the base")
        command.add_argument("--mixture", action="append", required=True, metavar="PATH[:WEIGHT]",
                             help="rows that `retort mixture` wrote, or their folder; several are mixed by their weights, "
                             "or in proportion to their rows")
        command.add_argument("--tasks", metavar="A,B", help="only rows of these tasks")
        command.add_argument("--max-tokens", type=int, default=2048, help="rows with longer prompts are left out")
        command.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
        command.add_argument("--dtype", default="auto", choices=["auto", "bfloat16", "float32"])
        command.add_argument("--threads", type=int, help="of the processor; all cores where nothing is said")

    train = commands.add_parser("train", help="train, or go on with a run that was begun")
    common(train)
    train.add_argument("--run", type=Path, required=True, metavar="FOLDER", help="checkpoint, log and adapter lie here")
    train.add_argument("--validation", action="append", default=[], metavar="PATH",
                       help="further rows to validate on; rows of the part \"validation\" in a mixture are used too")
    train.add_argument("--minutes", type=float, help="stop cleanly before so many are over")
    train.add_argument("--steps", type=int, help="of the whole run; without it as many as fit into --minutes")
    train.add_argument("--epochs", type=float, help="the same, as passes over all rows")
    train.add_argument("--init", type=Path, metavar="GGUF", help="begin with this adapter; it says layers, matrices and rank")
    train.add_argument("--layers", default="10-29", metavar="FIRST-LAST", help="which blocks change, counted from 0")
    train.add_argument("--matrices", default=",".join(MATRICES), metavar="A,B")
    train.add_argument("--rank", type=int, default=16)
    train.add_argument("--alpha", type=float, default=32.0)
    train.add_argument("--title", default="Retort adapter", help="what the adapter calls itself")
    train.add_argument("--checkpoint-minutes", type=float, default=3.0)
    train.add_argument("--validate-minutes", type=float, default=10.0)
    train.add_argument("--processes", type=int, default=1, metavar="N",
                       help="that train together, on a processor: with --threads 1 faster than as many threads (1)")
    train.add_argument("--dry-run", type=int, metavar="N", help="measure tokens per second over N batches, and learn nothing")
    usual = Settings()
    choices = {"schedule": ["cosine", "trapezoid", "constant"]}
    about = {
        "seed": "of the order of rows and of A", "batch": "rows in a step", "window": "batches among which rows are sorted by length",
        "rate_a": "learning rate of A", "rate_b": "learning rate of B", "warmup": "steps", "clip": "norm of the gradient at most",
        "mass_weight": "how much the mass outside the options costs; 0 computes no more of the output layer than the options",
        "micro_tokens": "tokens that are computed at once; 0 chooses by the device", "validation_rows": "of each task",
    }
    for each in fields(Settings):
        value = getattr(usual, each.name)
        train.add_argument(f"--{each.name.replace('_', '-')}", type=type(value), default=value,
                           choices=choices.get(each.name), help=f"{about.get(each.name, '')} ({value})")

    evaluate = commands.add_parser("evaluate", help="judge rows with the base, or with an adapter")
    common(evaluate)
    evaluate.add_argument("--adapter", type=Path, metavar="GGUF")
    evaluate.add_argument("--part", default="validation", choices=["train", "validation", "test"])
    evaluate.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="of each task at most")
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.add_argument("--micro-tokens", type=int, default=4096)
    evaluate.add_argument("--out", type=Path, metavar="JSONL", help="one line of log-probabilities per row")

    calibration = commands.add_parser("calibrate", help="fit temperatures to held-out rows, and write the adapter with them")
    common(calibration)
    calibration.add_argument("--adapter", type=Path, required=True, metavar="GGUF")
    calibration.add_argument("--part", default="validation", choices=["train", "validation", "test"])
    calibration.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="of each task at most")
    calibration.add_argument("--seed", type=int, default=0, help="of the choice of rows")
    calibration.add_argument("--folds", type=int, default=5, help="for measuring on rows that were not fitted to (5)")
    calibration.add_argument("--micro-tokens", type=int, default=4096)
    calibration.add_argument("--out", type=Path, required=True, metavar="GGUF")

    export = commands.add_parser("export", help="write the adapter of a run's checkpoint")
    export.add_argument("--model", type=Path, required=True, metavar="GGUF")
    export.add_argument("--run", type=Path, required=True, metavar="FOLDER")
    export.add_argument("--out", type=Path, required=True, metavar="GGUF")
    export.add_argument("--title", default="Retort adapter")
    export.add_argument("--type", default="f16", choices=["f16", "f32"])
    return parser


class Bench:
    """The base, its tokenizer and the mixtures, as the command line says."""

    def __init__(self, args: argparse.Namespace):
        if args.threads:
            torch.set_num_threads(args.threads)
        self.device = choose_device(args.device)
        self.dtype = choose_dtype(args.dtype, self.device)
        self.base_sha256 = sha256(args.model)
        tasks = set(args.tasks.split(",")) if args.tasks else None
        self.mixtures = []
        for text in args.mixture:
            path, weight = Path(text), None
            if not path.exists() and ":" in text:
                path, weight = Path(text.rsplit(":", 1)[0]), float(text.rsplit(":", 1)[1])
            self.mixtures.append((Mixture(path, self.base_sha256, tasks, args.max_tokens), weight))
        further = [Path(text) for text in getattr(args, "validation", [])]
        self.further = [Mixture(path, self.base_sha256, tasks, args.max_tokens) for path in further]
        file = File(args.model)
        self.reader = Reader(Tokenizer(file))
        self.base = Base(file, self.device, self.dtype)
        print(f"{args.model.name} on {self.device} in {str(self.dtype).removeprefix('torch.')}, "
              f"{torch.get_num_threads()} threads", file=sys.stderr)
        for mixture, _ in self.mixtures:
            rows = ", ".join(f"{len(rows)} {part}" for part, rows in sorted(mixture.parts.items()))
            print(f"{mixture.path}: {rows}; {mixture.too_long} too long", file=sys.stderr)


def command_train(args: argparse.Namespace) -> None:
    """Trains."""
    ranks = Ranks.begin(args.processes)
    bench = Bench(args)
    if ranks.size > 1 and bench.device.type != "cpu":
        raise TrainingError("--processes is for a processor; a GPU is one process's")
    settings = with_micro_tokens(Settings(**{each.name: getattr(args, each.name) for each in fields(Settings)}), bench.device)
    if args.init:
        plan = plan_of(args.init)
    else:
        first, _, last = args.layers.partition("-")
        plan = Plan(int(first), int(last or first), tuple(args.matrices.split(",")), args.rank, args.alpha)
    adapter = Adapter(bench.base.config, plan, settings.seed)
    sources = {
        "base": bench.base_sha256,
        "mixtures": [mixture.sha256 for mixture, _ in bench.mixtures],
        "weights": [weight for _, weight in bench.mixtures],
        "tasks": args.tasks,
        "max_tokens": args.max_tokens,
        "init": sha256(args.init) if args.init else None,
        "settings": asdict(settings),
        "plan": {**asdict(plan), "matrices": list(plan.matrices)},
        "dtype": str(bench.dtype),
    }
    if args.init:
        adapter.read(args.init)
    adapter.to(bench.device)
    model = Model(bench.base, adapter)
    sampler = Sampler(bench.mixtures, "train", settings.batch, settings.window, settings.seed)
    if args.dry_run:
        batches = [[bench.reader.example(row) for row in sampler.next()] for _ in range(args.dry_run)]
        print(json.dumps(dry_run(model, batches, settings.micro_tokens)))
        return
    rows = []
    for part in ("validation", "test"):
        # Of files for validation all rows of the parts that are not trained on.
        sources_of = bench.further + ([mixture for mixture, _ in bench.mixtures] if part == "validation" else [])
        rows += held_out(sources_of, part, settings.validation_rows, settings.seed)
    run = Run(model, bench.reader, sampler, rows if ranks.rank == 0 else [], settings, args.run, sources, ranks)
    if run.checkpoint.exists():
        run.restore()
        print(f"going on after step {run.step}", file=sys.stderr)
    steps = args.steps
    if args.epochs is not None:
        steps = math.ceil(args.epochs * sampler.rows / settings.batch)
    stopped = run.train(steps, args.minutes, args.checkpoint_minutes, args.validate_minutes, args.title)
    if ranks.rank > 0:
        return
    print(f"{stopped}: {run.step} of {run.total} steps; {run.folder / 'adapter.gguf'}")


def judged_rows(args: argparse.Namespace, bench: Bench) -> tuple[list[dict], list[Judged], int]:
    """The rows that are asked for, what is answered to them, and how many tokens that took."""
    adapter = None
    if args.adapter:
        adapter = Adapter(bench.base.config, plan_of(args.adapter), 0)
        adapter.read(args.adapter)
        adapter.to(bench.device)
    rows = held_out([mixture for mixture, _ in bench.mixtures], args.part, args.rows, args.seed)
    if not rows:
        raise TrainingError(f"the mixture has no row of the part \"{args.part}\"; say --part")
    examples = [bench.reader.example(row) for row in rows]
    return rows, *judge(Model(bench.base, adapter), examples, args.micro_tokens)


def command_evaluate(args: argparse.Namespace) -> None:
    """Judges rows."""
    rows, judged, computed = judged_rows(args, Bench(args))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            for row, each in zip(rows, judged):
                line = {"task": row["task"], "id": row["id"], "kind": row["kind"], "target": row["target"],
                        "wording": row.get("wording"), "order": row.get("order"),
                        "log_probabilities": each.log_probabilities, "mass": each.mass}
                file.write(json.dumps(line) + "\n")
    print(json.dumps({"computed": computed, **tally(judged)}, indent=1))


def command_calibrate(args: argparse.Namespace) -> None:
    """Fits what sets an adapter's probabilities right."""
    bench = Bench(args)
    base = File(args.adapter).get("retort.base.sha256")
    if base and base != bench.base_sha256:
        raise TrainingError(f"{args.adapter} was trained on another base than {args.model}")
    rows, judged, _ = judged_rows(args, bench)
    form, reports = calibrate(rows, judged, [mixture.sha256 for mixture, _ in bench.mixtures], args.folds)
    write(args.adapter, args.out, form)
    print(table(reports))
    print(f"{args.out}: {args.out.stat().st_size} bytes, with {KEY} in its metadata")


def command_export(args: argparse.Namespace) -> None:
    """Writes a checkpoint's adapter."""
    state = torch.load(args.run / "checkpoint.pt", map_location="cpu", weights_only=True)
    sources = state["sources"]
    plan = sources["plan"]
    adapter = Adapter(read_config(File(args.model)), Plan(**{**plan, "matrices": tuple(plan["matrices"])}), 0)
    adapter.load_state_dict(state["adapter"])
    if sources["base"] != sha256(args.model):
        raise TrainingError(f"{args.model} is not the base that this run was trained on")
    run = SimpleNamespace(sources=sources, settings=Settings(**sources["settings"]), **{
        key: state[key] for key in ("step", "rows", "tokens", "seconds")})
    size = adapter.write(args.out, args.title, metadata(run), args.type)
    print(f"{args.out}: {size} bytes")


def main() -> int:
    """The command."""
    args = arguments().parse_args()
    commands = {"train": command_train, "evaluate": command_evaluate, "calibrate": command_calibrate, "export": command_export}
    return command.run("train.py", commands, args)


if __name__ == "__main__":
    sys.exit(main())
