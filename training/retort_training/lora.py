"""Low-rank adapters (Hu et al. 2021): parameters, and their files in llama.cpp's GGUF form."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import gguf
import numpy as np
import torch
from torch import nn

from . import VERSION, TrainingError
from .base import GROUPS, MATRICES, Config, File

# What the page downloads.
LARGEST = 12_000_000


@dataclass(frozen=True)
class Plan:
    """Which matrices change, and how."""

    first_layer: int
    last_layer: int
    matrices: tuple[str, ...] = MATRICES
    rank: int = 16
    alpha: float = 32.0

    def check(self, config: Config) -> None:
        """Whether the base has these."""
        if not 0 <= self.first_layer <= self.last_layer < config.layers:
            raise TrainingError(
                f"layers {self.first_layer} to {self.last_layer} were asked for, and the base has 0 to {config.layers - 1}"
            )
        unknown = [name for name in self.matrices if name not in MATRICES]
        if unknown or not self.matrices:
            raise TrainingError(f"matrices are among {', '.join(MATRICES)}, and not {', '.join(unknown) or 'none'}")
        if not 1 <= self.rank <= 1024:
            raise TrainingError(f"a rank of {self.rank} cannot be; 1 to 1024 can")


class Adapter(nn.Module):
    """A and B of every matrix that changes, in f32. B begins at zero, so training begins at the base."""

    def __init__(self, config: Config, plan: Plan, seed: int):
        super().__init__()
        plan.check(config)
        self.config, self.plan = config, plan
        self.a, self.b = nn.ParameterDict(), nn.ParameterDict()
        generator = torch.Generator().manual_seed(seed)
        for layer in range(plan.first_layer, plan.last_layer + 1):
            for matrix in MATRICES:
                if matrix not in plan.matrices:
                    continue
                outputs, inputs = config.shape(matrix)
                bound = inputs**-0.5
                a = torch.rand(plan.rank, inputs, generator=generator).mul_(2 * bound).sub_(bound)
                self.a[self.key(layer, matrix)] = nn.Parameter(a)
                self.b[self.key(layer, matrix)] = nn.Parameter(torch.zeros(outputs, plan.rank))

    @staticmethod
    def key(layer: int, matrix: str) -> str:
        """Names of parameters may hold no dot."""
        return f"{layer}_{matrix}"

    def group(self, layer: int, group: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor] | None:
        """A and B of a group of matrices as those of one: all A below each other, B along the diagonal and scaled."""
        a, b, first = [], [], 0
        present = [name for name in GROUPS[group] if self.key(layer, name) in self.a]
        if not present:
            return None
        rank, scale = self.plan.rank, self.plan.alpha / self.plan.rank
        for name in GROUPS[group]:
            outputs, _ = self.config.shape(name)
            key = self.key(layer, name)
            if key in self.a:
                a.append(self.a[key])
                after = rank * (len(present) - 1) - first
                b.append(nn.functional.pad(self.b[key] * scale, (first, after)))
                first += rank
            else:
                b.append(self.a[self.key(layer, present[0])].new_zeros(outputs, rank * len(present)))
        return torch.cat(a).to(dtype), torch.cat(b).to(dtype)

    def write(self, path: Path, title: str, metadata: dict[str, str], kind: str = "f16") -> int:
        """Writes the adapter; gives its bytes. `metadata` goes under `retort.`."""
        writer_type = {"f16": np.float16, "f32": np.float32}[kind]
        part = path.with_name(path.name + ".part")
        writer = gguf.GGUFWriter(part, self.config.architecture)
        writer.add_type("adapter")
        writer.add_name(title)
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", self.plan.alpha)
        writer.add_string("retort.training.version", VERSION)
        writer.add_string("retort.training.plan", json.dumps(asdict(self.plan)))
        for key, value in metadata.items():
            writer.add_string(f"retort.{key}", value)
        for key, a in self.a.items():
            layer, matrix = key.split("_", 1)
            stem = f"blk.{layer}.{matrix}.weight"
            for name, value in (("lora_a", a), ("lora_b", self.b[key])):
                value = value.detach().cpu().numpy().astype(writer_type)
                if not np.isfinite(value).all():
                    raise TrainingError(f"{stem}.{name} holds values that are no numbers: training has diverged")
                writer.add_tensor(f"{stem}.{name}", value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        os.replace(part, path)
        return path.stat().st_size

    def read(self, path: Path) -> None:
        """Takes the values of an adapter's file, which must have the same matrices and rank."""
        file = File(path)
        if file.get("general.type") != "adapter" or file.get("adapter.type") != "lora":
            raise TrainingError(f"{path} is no low-rank adapter")
        expected = {
            f"blk.{key.replace('_', '.', 1)}.weight.{name}": parameter
            for name, parameters in (("lora_a", self.a), ("lora_b", self.b))
            for key, parameter in parameters.items()
        }
        if set(expected) != set(file.tensors) or file.get("adapter.lora.alpha") != self.plan.alpha:
            raise TrainingError(f"{path} changes other matrices, or by another alpha, than --layers, --matrices and --alpha say")
        with torch.no_grad():
            for name, parameter in expected.items():
                value = torch.from_numpy(file.weights(name))
                if value.shape != parameter.shape:
                    raise TrainingError(f"{path}: {name} is {tuple(value.shape)} and not {tuple(parameter.shape)}")
                parameter.copy_(value)


def plan_of(path: Path) -> Plan:
    """What an adapter's file changes."""
    file = File(path)
    places = [name.split(".") for name in file.tensors if name.endswith(".lora_a")]
    if not places:
        raise TrainingError(f"{path} is no low-rank adapter")
    layers = [int(place[1]) for place in places]
    present = {place[2] for place in places}
    rank = next(int(tensor.shape[1]) for name, tensor in file.tensors.items() if name.endswith(".lora_a"))
    return Plan(min(layers), max(layers), tuple(m for m in MATRICES if m in present), rank, file.need("adapter.lora.alpha"))
