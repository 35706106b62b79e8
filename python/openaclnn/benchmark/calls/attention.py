# SPDX-License-Identifier: Apache-2.0
"""Attention by the operators that fuse it, beside PyTorch's own on the CPU."""

from . import Call, Device

_TYPES = ("float32", "bfloat16", "float16")
# Batches, heads, rows, width.
_SHAPES = (
    (8, 8, 128, 64),
    (1, 8, 512, 64),
    (2, 12, 1024, 64),
    (1, 8, 2048, 128),
    (1, 4, 4096, 128),
    (1, 2, 8192, 128),
)
_GROUPED = (1, 8, 1024, 128)  # of keys, for four times as many heads of queries
_CACHE = (1, 8, 4096, 128)  # of one row with four times as many heads


def _fused(d: Device, heads: int, scale: float):
    """A function of q, k and v."""
    if d.name == "cpu":
        attend = d.torch.nn.functional.scaled_dot_product_attention
        return lambda q, k, v: attend(q, k, v, is_causal=True, scale=scale)
    attend = d.torch.ops.npu.npu_fusion_attention
    hidden = d.torch.ones(2048, 2048, dtype=d.torch.bool, device=d.name).triu(1)
    given = {"atten_mask": hidden, "scale": scale, "sparse_mode": 2}
    return lambda q, k, v: attend(q, k, v, heads, "BNSD", **given)[0]


def _normal(d: Device, batches: int, heads: int, rows: int, width: int, **given):
    """q, k or v with as many rows as a call of the device may have."""
    return d.normal(batches, heads, min(rows, d.longest), width, **given)


def _of(shape: tuple[int, ...]) -> tuple[Call, Call]:
    _, heads, _, width = shape

    def forward(d: Device):
        q, k, v = (_normal(d, *shape, seed=seed) for seed in range(3))
        attend = _fused(d, heads, width**-0.5)
        return lambda: attend(q, k, v)

    def backward(d: Device):
        q, k, v = (_normal(d, *shape, seed=seed, grad=True) for seed in range(3))
        return d.back(_fused(d, heads, width**-0.5)(q, k, v), q, k, v)

    name = f"fused attention {'x'.join(str(each) for each in shape)}"
    return Call(name, forward, _TYPES), Call(f"{name} backward", backward, _TYPES)


def _grouped(d: Device):
    """All queries see all keys."""
    batches, heads, rows, width = _GROUPED
    q = _normal(d, batches, 4 * heads, rows, width)
    k, v = (_normal(d, *_GROUPED, seed=seed) for seed in (1, 2))
    scale = width**-0.5
    if d.name == "cpu":
        attend = d.torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, scale=scale, enable_gqa=True)
    attend = d.torch.ops.npu.npu_fusion_attention
    return lambda: attend(q, k, v, 4 * heads, "BNSD", scale=scale)[0]


def _one_row(d: Device):
    batches, heads, rows, width = _CACHE
    q = _normal(d, batches, 4 * heads, 1, width)
    k, v = (_normal(d, *_CACHE, seed=seed) for seed in (1, 2))
    scale = width**-0.5
    if d.name == "cpu":
        attend = d.torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, scale=scale, enable_gqa=True)
    return lambda: d.torch.ops.npu.npu_fused_infer_attention_score(
        q, k, v, num_heads=4 * heads, num_key_value_heads=heads, input_layout="BNSD", scale=scale
    )[0]


CALLS = (
    *(call for shape in _SHAPES for call in _of(shape)),
    Call("fused attention of grouped heads", _grouped, _TYPES),
    Call("attention of one row, 4096 keys", _one_row, ("bfloat16", "float16")),
)
