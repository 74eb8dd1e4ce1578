"""Every matrix of the base as a parameter: what a low-rank adapter is held against. Nothing of it is shipped."""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from .base import GROUPS, Base
from .model import Model


class Full(nn.Module):
    """Copies in f32 of the matrices of these layers; norms and the embedding stay frozen.

    It has the parts of an `Adapter` that a run needs: `a` are the parameters, and of `b` there are none.
    """

    def __init__(self, base: Base, first_layer: int, last_layer: int):
        super().__init__()
        self.plan = SimpleNamespace(first_layer=first_layer, last_layer=last_layer)
        self.a, self.b = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(first_layer, last_layer + 1):
            for group in GROUPS:
                self.a[f"{layer}_{group}"] = nn.Parameter(base.layers[layer].matrices[group].float().clone())


class FullModel(Model):
    """A model whose matrices are those of `Full`."""

    def linear(self, index: int, group: str, x: torch.Tensor) -> torch.Tensor:
        """`x W'` with a W that gets a gradient."""
        name = f"{index}_{group}"
        if name not in self.adapter.a:
            return F.linear(x, self.base.layers[index].matrices[group])
        return F.linear(x, self.adapter.a[name].to(self.base.dtype))
