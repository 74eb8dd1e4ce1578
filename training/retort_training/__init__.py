"""Trains low-rank adapters that make a small model a judge, on what `retort mixture` wrote."""

VERSION = "1"


class TrainingError(Exception):
    """What was wrong, where, and what to do."""
