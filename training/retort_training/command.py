"""What every command line here does around its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from . import TrainingError


def run(name: str, commands: dict[str, Callable[[argparse.Namespace], None]], args: argparse.Namespace) -> int:
    """Runs the command that was named; a problem that a person can mend is one line, and Ctrl-C is no problem."""
    try:
        commands[args.command](args)
    except (TrainingError, FileNotFoundError) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
