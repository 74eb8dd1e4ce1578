"""The frozen base: configuration and dequantized weights of a GGUF file.

Weights are what the quantized engine multiplies by: the file's blocks, dequantized, and nothing in between. Rows of the
query and key matrices stay in the file's order, in which the components (2i, 2i + 1) of a head turn together; an
adapter trained here therefore needs no reordering.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import torch

from . import TrainingError

# In the order in which one product makes them; names of tensors within a block.
GROUPS = {
    "qkv": ("attn_q", "attn_k", "attn_v"),
    "output": ("attn_output",),
    "gate_up": ("ffn_gate", "ffn_up"),
    "down": ("ffn_down",),
}
MATRICES = tuple(name for group in GROUPS.values() for name in group)


@dataclass(frozen=True)
class Config:
    """Dimensions of a model of the Llama kind."""

    architecture: str
    layers: int
    width: int
    feed_forward: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    context: int
    epsilon: float
    rotary_base: float

    def shape(self, matrix: str) -> tuple[int, int]:
        """Outputs and inputs of a matrix of a block."""
        queries, keys = self.heads * self.head_size, self.kv_heads * self.head_size
        return {
            "attn_q": (queries, self.width),
            "attn_k": (keys, self.width),
            "attn_v": (keys, self.width),
            "attn_output": (self.width, queries),
            "ffn_gate": (self.feed_forward, self.width),
            "ffn_up": (self.feed_forward, self.width),
            "ffn_down": (self.width, self.feed_forward),
        }[matrix]


@dataclass
class Layer:
    """The weights of a block; of each group of matrices one, their rows one after the other."""

    attention_norm: torch.Tensor
    feed_forward_norm: torch.Tensor
    matrices: dict[str, torch.Tensor]


class File:
    """A GGUF file's metadata and tensors."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.reader = gguf.GGUFReader(path)
        except (OSError, ValueError) as problem:
            raise TrainingError(f"{path} cannot be read as GGUF: {problem}") from problem
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}

    def get(self, key: str, default=None):
        """A value of the metadata."""
        field = self.reader.get_field(key)
        return default if field is None else field.contents()

    def need(self, key: str):
        """A value that must be there."""
        value = self.get(key)
        if value is None:
            raise TrainingError(f"{self.path.name} lacks \"{key}\"; convert the model anew with llama.cpp's converter")
        return value

    def weights(self, name: str) -> np.ndarray:
        """A tensor in f32, row after row."""
        tensor = self.tensors.get(name)
        if tensor is None:
            raise TrainingError(f"{self.path.name} has no tensor \"{name}\"; it is no whole model")
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        # GGUF names the length of a row first.
        return np.array(values, dtype=np.float32).reshape([int(n) for n in reversed(tensor.shape)])


def read_config(file: File) -> Config:
    """The dimensions; refuses what the forward pass here does not compute."""
    architecture = file.need("general.architecture")
    if architecture != "llama":
        raise TrainingError(
            f"{file.path.name} is of architecture \"{architecture}\"; only \"llama\" (such as SmolLM2) is trained here"
        )
    key = lambda name: f"{architecture}.{name}"
    heads, width = file.need(key("attention.head_count")), file.need(key("embedding_length"))
    head_size = file.get(key("attention.key_length"), width // heads)
    for name, usual in [("attention.value_length", head_size), ("rope.dimension_count", head_size)]:
        if file.get(key(name), usual) != usual:
            raise TrainingError(f"{file.path.name}: {name} differs from the size of a head, which is not computed here")
    if file.get(key("rope.scaling.type"), "none") != "none" or "rope_freqs.weight" in file.tensors:
        raise TrainingError(f"{file.path.name} scales its rotary positions, which is not computed here")
    if any(name.startswith("blk.") and name.endswith(".bias") for name in file.tensors):
        raise TrainingError(f"{file.path.name} has biases, which are not computed here")
    return Config(
        architecture=architecture,
        layers=file.need(key("block_count")),
        width=width,
        feed_forward=file.need(key("feed_forward_length")),
        heads=heads,
        kv_heads=file.get(key("attention.head_count_kv"), heads),
        head_size=head_size,
        vocabulary=len(file.need("tokenizer.ggml.tokens")),
        context=file.need(key("context_length")),
        epsilon=file.need(key("attention.layer_norm_rms_epsilon")),
        rotary_base=file.get(key("rope.freq_base"), 10_000.0),
    )


class Base:
    """The weights, on the device and in the type of the products. Norms and the embedding stay in f32."""

    def __init__(self, file: File, device: torch.device, dtype: torch.dtype):
        config = read_config(file)
        self.config, self.device, self.dtype = config, device, dtype
        tensor = lambda name: torch.from_numpy(file.weights(name)).to(device)
        self.embedding = tensor("token_embd.weight")
        self.output_norm = tensor("output_norm.weight")
        self.output = tensor("output.weight") if "output.weight" in file.tensors else self.embedding
        self.layers = []
        for index in range(config.layers):
            block = lambda name, index=index: tensor(f"blk.{index}.{name}.weight")
            matrices = {}
            for group, names in GROUPS.items():
                parts = [block(name) for name in names]
                for name, part in zip(names, parts):
                    if tuple(part.shape) != config.shape(name):
                        raise TrainingError(f"{file.path.name}: blk.{index}.{name} is {tuple(part.shape)}")
                matrices[group] = torch.cat(parts).to(dtype).contiguous()
            self.layers.append(Layer(block("attn_norm"), block("ffn_norm"), matrices))


def choose_device(wanted: str) -> torch.device:
    """`auto` is a CUDA GPU where there is one."""
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and not torch.cuda.is_available():
        raise TrainingError("there is no CUDA GPU that this PyTorch can use; leave out --device")
    return torch.device(wanted)


def choose_dtype(wanted: str, device: torch.device) -> torch.dtype:
    """`auto` is bf16 on a GPU and on processors that multiply it by instructions of their own, else f32."""
    if wanted == "auto":
        checks = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
        has_bf16 = device.type == "cuda" or any(getattr(torch.cpu, check, lambda: False)() for check in checks)
        wanted = "bfloat16" if has_bf16 else "float32"
    return {"bfloat16": torch.bfloat16, "float32": torch.float32}[wanted]


def sha256(path: Path) -> str:
    """Of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
