"""Prints held-out accuracy by how much was learned, from logs of runs and from answers of saved adapters.

`python training/curve.py --run runs/first --evaluated 16000=answers.jsonl --mixture mix/validation`
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

from retort_training import TrainingError
from retort_training.ablation import Interval, macro

TASKS = Path(__file__).resolve().parent.parent / "crates/retort-bench/tasks"
# Of each task its accuracy and decided rows.
Point = dict[str, tuple[float, int]]


def arguments() -> argparse.ArgumentParser:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, action="append", default=[], metavar="FOLDER",
                        help="a run's folder, whose log.jsonl says how validation went; of several that went on from each "
                        "other (--init) the rows add up in this order")
    parser.add_argument("--evaluated", action="append", default=[], metavar="ROWS=JSONL",
                        help="rows learned, and what `train.py evaluate --out` wrote of the adapter")
    parser.add_argument("--mixture", type=Path, action="append", default=[], metavar="PATH",
                        help="the rows that were evaluated, for intervals by group")
    parser.add_argument("--tasks", type=Path, default=TASKS, metavar="FOLDER", help="files of tasks, which say their families")
    parser.add_argument("--by", default="family", choices=["capability", "family", "task"], help="what is a line")
    parser.add_argument("--points", type=int, default=6, help="columns of a run's log at most")
    parser.add_argument("--json", action="store_true")
    return parser


def read_families(folder: Path, by: str) -> dict[str, str]:
    """Of each task its family or capability, as its file says."""
    out = {}
    for path in sorted(folder.glob("*.toml")):
        family = tomllib.loads(path.read_text(encoding="utf-8")).get(by)
        if family:
            out[path.stem] = family
    return out


def read_log(path: Path, before: int = 0) -> tuple[dict[int, Point], int]:
    """Of each validation, by rows seen, each task's accuracy and number of decided rows; and the rows of the whole run.

    After an interruption a run may repeat steps; of validations after equally many rows the last counts.
    """
    points: dict[int, Point] = {}
    seen = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            event = json.loads(line)
        except ValueError as problem:
            raise TrainingError(f"{path}, line {number}: {problem}; it is no line of a run's log") from problem
        if event.get("event") == "validation":
            seen = event["rows_seen"]
            points[before + seen] = {
                task: (report["accuracy"], report["decided"])
                for task, report in event["tasks"].items() if task != "mean" and "accuracy" in report
            }
    return points, before + seen


def thinned(points: dict[int, Point], most: int) -> dict[int, Point]:
    """At most so many of them: the first, the last, and of the others those nearest to equal ratios of rows."""
    sizes = sorted(points)
    if len(sizes) <= most:
        return {size: points[size] for size in sizes}
    first = sizes[1] if sizes[0] == 0 else sizes[0]
    wanted = [first * (sizes[-1] / first) ** (place / (most - 2)) for place in range(most - 1)]
    kept = {sizes[0], sizes[-1]} | {min(sizes, key=lambda size: abs(size - want)) for want in wanted}
    return {size: points[size] for size in sorted(kept)}


# Of each row what its options are worth, where it says so; None is "does not apply".
Worth = dict[tuple[str, str], list[float | None]]


def expected(logs: list[float], worth: list[float | None]) -> float:
    """The expected worth of an answer among those that have one."""
    scored = [(math.exp(log), value) for log, value in zip(logs, worth, strict=True) if value is not None]
    return sum(share * value for share, value in scored) / sum(share for share, _ in scored)


def read_evaluated(path: Path, groups: dict[tuple[str, str], str], worth: Worth | None = None) -> list[tuple[str, str, float]]:
    """Task, group and whether it was judged right, of each decided row of `train.py evaluate`."""
    out = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            target, logs = row["target"], row["log_probabilities"]
        except (ValueError, KeyError) as problem:
            raise TrainingError(f"{path}, line {number}: {problem!r}; it is no line of `train.py evaluate`") from problem
        if not target or target.count(max(target)) != 1:
            continue
        people = target.index(max(target))
        if row["kind"] == "pair":
            # Two options are worth 0 and 1: the expected worth then rises with the log-odds by which training compares.
            values = (worth or {}).get((row["task"], row["id"])) or [0.0, 1.0]
            if any(len(values) != len(each) for each in logs):
                raise TrainingError(f"{path}, line {number}: {len(logs[0])} options, but {len(values)} of them have a worth; "
                                    "name with --mixture the rows that were evaluated")
            gap = expected(logs[0], values) - expected(logs[1], values)
            right = 0.5 if gap == 0 else float((gap > 0) == (people == 0))
        else:
            right = float(logs[0].index(max(logs[0])) == people)
        out.append((row["task"], groups.get((row["task"], row["id"]), row["id"]), right))
    return out


def read_groups(paths: list[Path]) -> tuple[dict[tuple[str, str], str], Worth]:
    """Of each row its group, and what its options are worth."""
    groups, worth = {}, {}
    for path in paths:
        with open(path / "mixture.jsonl" if path.is_dir() else path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                groups[row["task"], row["id"]] = row["group"]
                if row.get("values"):
                    worth[row["task"], row["id"]] = row["values"]
    return groups, worth


def by_family(point: Point, families: dict[str, str]) -> dict[str, tuple[float, int]]:
    """Of each family the plain mean over its tasks, and its rows; "all" is the mean over tasks."""
    members: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for task, value in point.items():
        members[family_of(task, families)].append(value)
        members["all"].append(value)
    return {family: (sum(v for v, _ in values) / len(values), sum(n for _, n in values)) for family, values in members.items()}


def table(columns: dict[str, dict[str, tuple[float, int] | Interval]]) -> str:
    """Families below each other, sizes beside each other; in brackets behind a figure its interval or, of a log's, its rows."""
    families = sorted({family for column in columns.values() for family in column} - {"all"}) + ["all"]
    lines = [f"| family | {' | '.join(columns)} | rows of the last |", "|---" * (len(columns) + 2) + "|"]
    for family in families:
        cells, n = [], ""
        for column in columns.values():
            value = column.get(family)
            if value is None:
                cells.append("")
                continue
            rows = value.n if isinstance(value, Interval) else value[1]
            cells.append(str(value) if isinstance(value, Interval) else f"{value[0]:.3f} (n {rows})")
            n = str(rows)
        lines.append(f"| {family} | {' | '.join(cells)} | {n} |")
    return "\n".join(lines)


def family_of(task: str, families: dict[str, str]) -> str:
    """Rows made against biases, whose tasks have no files, are one family."""
    return families.get(task) or ("made against biases" if families and task.startswith("variant_") else task)


def columns_of(args: argparse.Namespace) -> dict[str, dict]:
    """By rows learned, what is known of each family."""
    families = {} if args.by == "task" else read_families(args.tasks, args.by)
    points, before = {}, 0
    for folder in args.run:
        own, before = read_log(folder / "log.jsonl", before)
        points |= own
    columns = {size: by_family(point, families) for size, point in thinned(points, args.points).items()}
    groups, worth = read_groups(args.mixture)
    for text in args.evaluated:
        rows, equals, path = text.partition("=")
        if not equals or not rows.isdigit():
            raise TrainingError(f"--evaluated {text}: say ROWS=JSONL, such as 16000=answers.jsonl")
        values = read_evaluated(Path(path), groups, worth)
        members = defaultdict(list)
        for task, group, right in values:
            members[family_of(task, families)].append((task, group, right))
        # In place of the log's figures: these have intervals.
        columns[int(rows)] = {family: macro(own) for family, own in members.items()} | {"all": macro(values)}
    if not columns:
        raise TrainingError("say --run FOLDER or --evaluated ROWS=JSONL")
    return {f"{size:,} rows": columns[size] for size in sorted(columns)}


def main() -> int:
    """The command."""
    args = arguments().parse_args()
    try:
        columns = columns_of(args)
    except (TrainingError, FileNotFoundError) as problem:
        print(f"curve.py: {problem}", file=sys.stderr)
        return 1
    if args.json:
        plain = lambda value: vars(value) if isinstance(value, Interval) else {"estimate": value[0], "n": value[1]}
        print(json.dumps({size: {family: plain(value) for family, value in column.items()} for size, column in columns.items()}))
    else:
        print(table(columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
