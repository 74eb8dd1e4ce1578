"""The forward pass, and what is needed of the backward pass beside it.

Equations: RMS norm (Zhang and Sennrich 2019), rotary embedding (Su et al. 2021), attention with shared key heads (Ainslie
et al. 2023), SwiGLU (Shazeer 2020), in the order of the Llama paper (Touvron et al. 2023). The residual stream and the
norms are f32, products are of the base's type. Layers below the lowest that changes keep nothing for the backward pass.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.autograd import Function

from .base import Base, Layer
from .forest import Forest
from .lora import Adapter


class AdaptedLinear(Function):
    """`x W' + (x A') B'` with a W that gets no gradient."""

    @staticmethod
    def forward(ctx, x, weight, a, b):
        low = x @ a.t()
        y = x @ weight.t()
        y.addmm_(low, b.t())
        ctx.save_for_backward(x, low, weight, a, b)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, low, weight, a, b = ctx.saved_tensors
        dlow = dy @ b
        dx = None
        if ctx.needs_input_grad[0]:
            dx = dy @ weight
            dx.addmm_(dlow, a)
        return dx, None, dlow.t() @ x, dy.t() @ low


class RmsNorm(Function):
    """From the f32 stream to the type of the products."""

    @staticmethod
    def forward(ctx, x, weight, epsilon, dtype):
        inverse = torch.linalg.vecdot(x, x).div_(x.shape[-1]).add_(epsilon).rsqrt_().unsqueeze(-1)
        ctx.save_for_backward(x, weight, inverse)
        return (x * inverse).mul_(weight).to(dtype)

    @staticmethod
    def backward(ctx, dy):
        x, weight, inverse = ctx.saved_tensors
        dx = dy * weight
        along = torch.linalg.vecdot(dx, x).unsqueeze(-1) * inverse.pow(3) / x.shape[-1]
        return dx.mul_(inverse).addcmul_(x, along, value=-1), None, None, None


class SwiGlu(Function):
    """`silu(gate) × up`, both halves of one matrix."""

    @staticmethod
    def forward(ctx, both):
        ctx.save_for_backward(both)
        gate, up = both.chunk(2, -1)
        return F.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx, dy):
        (both,) = ctx.saved_tensors
        gate, up = both.chunk(2, -1)
        out = torch.empty_like(both)
        dgate, dup = out.chunk(2, -1)
        torch.mul(dy, F.silu(gate), out=dup)
        dgate.copy_(torch.ops.aten.silu_backward(dy * up, gate))
        return out


class Rotary(Function):
    """Turns neighbouring components by the angles of their positions; the way back turns them back."""

    @staticmethod
    def turn(x, rotation):
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * rotation).flatten(-2).to(x.dtype)

    @staticmethod
    def forward(ctx, x, rotation):
        ctx.save_for_backward(rotation)
        return Rotary.turn(x, rotation)

    @staticmethod
    def backward(ctx, dy):
        (rotation,) = ctx.saved_tensors
        return Rotary.turn(dy, rotation.conj()), None


# Queries that are attended at once: what a later one sees is not computed for an earlier one.
CHUNK = 192


class NodeAttention(Function):
    """Attention of a forest's rows, node by node: `rows × heads × size` queries, `rows × key heads × size` keys and values.

    Plain products, which on a processor pass PyTorch's fused attention two to three times, the more so backwards. Scores
    are f32. The queries of all heads that share a key head are rows of one matrix.
    """

    @staticmethod
    def spans(nodes, node):
        """Rows of a node's ancestors and its own."""
        seen = [nodes[number] for number in node.ancestors] + [node]
        return [slice(each.row, each.row + len(each.tokens)) for each in seen]

    @staticmethod
    def gather(x, spans):
        """`key heads × rows × size`."""
        parts = [x[span] for span in spans]
        return (torch.cat(parts) if len(parts) > 1 else parts[0]).transpose(0, 1).contiguous()

    @staticmethod
    def fold(x, groups):
        """`rows × heads × size` as `key heads × (heads of each × rows) × size`."""
        rows, _, size = x.shape
        return x.unflatten(1, (groups, -1)).permute(1, 2, 0, 3).reshape(groups, -1, size)

    @staticmethod
    def unfold(x, rows):
        """The way back."""
        return x.unflatten(1, (-1, rows)).permute(2, 0, 1, 3).flatten(1, 2)

    @staticmethod
    def chunks(node):
        """Rows of a node from and to, and how many rows the last of them sees."""
        count = len(node.tokens)
        for start in range(0, count, CHUNK):
            end = min(start + CHUNK, count)
            yield slice(node.row + start, node.row + end), end - start, node.depth + end

    @staticmethod
    def forward(ctx, q, k, v, forest):
        cls, nodes, groups = NodeAttention, forest.nodes, k.shape[1]
        scale, out, shares = q.shape[-1] ** -0.5, torch.empty_like(q), []
        longest = min(CHUNK, max(map(len, (node.tokens for node in nodes))))
        later = torch.full((longest, longest), float("-inf"), device=q.device).triu(1)
        for node in nodes:
            spans = cls.spans(nodes, node)
            keys, values = cls.gather(k, spans).float(), cls.gather(v, spans)
            for rows, count, seen in cls.chunks(node):
                scores = torch.bmm(cls.fold(q[rows], groups).float() * scale, keys[:, :seen].mT)
                scores.unflatten(1, (-1, count))[..., seen - count :].add_(later[:count, :count])
                share = scores.softmax(-1).to(q.dtype)
                out[rows] = cls.unfold(torch.bmm(share, values[:, :seen]), count)
                shares.append(share)
        ctx.forest, ctx.shares = forest, shares if any(ctx.needs_input_grad) else None
        ctx.save_for_backward(q, k, v, out)
        return out

    @staticmethod
    def backward(ctx, dout):
        cls, nodes, (q, k, v, out) = NodeAttention, ctx.forest.nodes, ctx.saved_tensors
        groups, scale, shares = k.shape[1], q.shape[-1] ** -0.5, iter(ctx.shares)
        dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        along = torch.linalg.vecdot(dout.float(), out.float()).unsqueeze(-1)
        for node in nodes:
            spans = cls.spans(nodes, node)
            keys, values = cls.gather(k, spans), cls.gather(v, spans)
            dkeys, dvalues = torch.zeros_like(keys), torch.zeros_like(values)
            for rows, count, seen in cls.chunks(node):
                share, dchunk = next(shares), cls.fold(dout[rows], groups)
                dscores = torch.bmm(dchunk, values[:, :seen].mT).float()
                dscores = dscores.sub_(cls.fold(along[rows], groups)).mul_(share).mul_(scale).to(q.dtype)
                dq[rows] = cls.unfold(torch.bmm(dscores, keys[:, :seen]), count)
                dkeys[:, :seen] += torch.bmm(dscores.mT, cls.fold(q[rows], groups))
                dvalues[:, :seen] += torch.bmm(share.mT, dchunk)
            start = 0
            for span in spans:
                end = start + span.stop - span.start
                dk[span] += dkeys[:, start:end].transpose(0, 1)
                dv[span] += dvalues[:, start:end].transpose(0, 1)
                start = end
        return dq, dk, dv, None


class Batch:
    """A forest on the device, with all that every layer needs of it."""

    def __init__(self, forest: Forest, base: Base, by_mask: bool | None = None):
        config, device = base.config, base.device
        self.forest = forest
        self.tokens = forest.tokens().to(device)
        exponents = torch.arange(0, config.head_size, 2, dtype=torch.float64) / config.head_size
        angles = forest.positions()[:, None].double() * config.rotary_base**-exponents
        self.rotation = torch.polar(torch.ones_like(angles), angles).to(torch.complex64).to(device)[:, None, :]
        # One fused product with a mask costs a GPU less than many small ones; a processor does not care for their number.
        by_mask = device.type == "cuda" if by_mask is None else by_mask
        self.mask = forest.mask(device, base.dtype) if by_mask else None


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Attention of packed rows: `rows × heads × size` queries, as many as there are or fewer heads of keys and values."""
    if batch.mask is None:
        return NodeAttention.apply(q, k, v, batch.forest)
    each = q.shape[1] // k.shape[1]
    k, v = (part.repeat_interleave(each, 1) for part in (k, v))
    q, k, v = (part.transpose(0, 1).unsqueeze(0) for part in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=batch.mask).squeeze(0).transpose(0, 1)


class Model:
    """A frozen base and the adapter on it."""

    def __init__(self, base: Base, adapter: Adapter | None):
        self.base, self.adapter = base, adapter

    def states(self, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        """Normalized final states of these packed rows, in f32: what the output layer reads."""
        base, config = self.base, self.base.config
        lowest = self.adapter.plan.first_layer if self.adapter else config.layers
        x = base.embedding[batch.tokens]
        with torch.no_grad():
            for index in range(lowest):
                x = self._layer(index, x, batch, rows)
        for index in range(lowest, config.layers):
            x = self._layer(index, x, batch, rows)
        return RmsNorm.apply(x, base.output_norm, config.epsilon, torch.float32)

    def linear(self, index: int, group: str, x: torch.Tensor) -> torch.Tensor:
        """The product with a group of matrices of a layer, with what the adapter adds to it."""
        low = self.adapter.group(index, group, self.base.dtype) if self.adapter else None
        weight = self.base.layers[index].matrices[group]
        return F.linear(x, weight) if low is None else AdaptedLinear.apply(x, weight, *low)

    def _layer(self, index: int, x: torch.Tensor, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        base, config = self.base, self.base.config
        layer: Layer = base.layers[index]
        size, heads, kv_heads = config.head_size, config.heads, config.kv_heads

        linear = lambda group, x: self.linear(index, group, x)
        normed = RmsNorm.apply(x, layer.attention_norm, config.epsilon, base.dtype)
        qkv = linear("qkv", normed).view(-1, heads + 2 * kv_heads, size)
        turned = Rotary.apply(qkv[:, : heads + kv_heads], batch.rotation)
        q, k, v = turned[:, :heads], turned[:, heads:], qkv[:, heads + kv_heads :]
        attended = attend(q, k, v, batch).reshape(-1, heads * size)
        if index == config.layers - 1:
            # Of the last layer nobody reads the other rows.
            attended, x = attended[rows], x[rows]
        x = x + linear("output", attended)
        normed = RmsNorm.apply(x, layer.feed_forward_norm, config.epsilon, base.dtype)
        return x + linear("down", SwiGlu.apply(linear("gate_up", normed)))

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """All logits of these states."""
        return states @ self.base.output.t()

    def edge_logits(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Of each state the logit of one token."""
        return torch.linalg.vecdot(states, self.base.output[tokens])
