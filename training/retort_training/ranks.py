"""Several processes that train one adapter together: each computes its share of every batch.

On a processor of few cores two processes of one thread each learn faster than one of two threads, since what PyTorch does
between the products is not shared out among threads. Gradients are summed in one order, so a run is repeated to the bit by
the same number of processes. The first process (rank 0) alone writes, validates and says when to stop.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as distributed

from . import TrainingError

RANK, MEETING = "RETORT_TRAINING_RANK", "RETORT_TRAINING_MEETING"


class Ranks:
    """The processes of a run; of one alone everything is its own."""

    def __init__(self, rank: int = 0, size: int = 1):
        self.rank, self.size = rank, size

    @staticmethod
    def begin(size: int) -> Ranks:
        """Starts the other processes with the same command line, or, in one of them, joins in."""
        if size <= 1:
            return Ranks()
        if not distributed.is_available():
            raise TrainingError("this build of PyTorch cannot join processes; leave --processes out")
        rank = int(os.environ.get(RANK, "0"))
        if rank == 0:
            folder = tempfile.TemporaryDirectory(prefix="retort-training-")
            meeting = str(Path(folder.name) / "meeting")
            # Ctrl-C reaches them all through the terminal; they wait for what the first one decides.
            others = [
                subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, RANK: str(other), MEETING: meeting},
                                 stdout=subprocess.DEVNULL)
                for other in range(1, size)
            ]

            def end():
                for other in others:
                    other.terminate()
                folder.cleanup()

            atexit.register(end)
        else:
            meeting = os.environ[MEETING]
        # A step never takes so long; a process that is gone is noticed at once by the others.
        distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size,
                                       timeout=timedelta(minutes=30))
        return Ranks(rank, size)

    def share(self, items: list, weight) -> list:
        """This process's part of a batch: the heaviest first to whoever has least, so that nobody waits long."""
        if self.size == 1:
            return items
        parts: list[list[int]] = [[] for _ in range(self.size)]
        loads = [0] * self.size
        for index in sorted(range(len(items)), key=lambda index: (-weight(items[index]), index)):
            least = loads.index(min(loads))
            parts[least].append(index)
            loads[least] += weight(items[index])
        return [items[index] for index in sorted(parts[self.rank])]

    def sum_gradients(self, parameters: list[torch.nn.Parameter]) -> None:
        """Gives every process the sum of all gradients; one that had nothing to compute has zeros."""
        if self.size == 1:
            return
        flat = torch.cat([
            (each.grad if each.grad is not None else torch.zeros_like(each)).reshape(-1) for each in parameters
        ])
        distributed.all_reduce(flat)
        at = 0
        for each in parameters:
            each.grad = flat[at : at + each.numel()].view_as(each).clone()
            at += each.numel()

    def gather(self, mine) -> list:
        """What every process has, in their order."""
        if self.size == 1:
            return [mine]
        all_of_them = [None] * self.size
        distributed.all_gather_object(all_of_them, mine)
        return all_of_them

    def decide(self, what):
        """What the first process says."""
        if self.size == 1:
            return what
        said = [what]
        distributed.broadcast_object_list(said)
        return said[0]
