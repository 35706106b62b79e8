# SPDX-License-Identifier: Apache-2.0
"""torch_npu's rotations of queries and keys, and what writes them to caches, against float64 on the
CPU."""

import pytest
import torch
import torch_npu

TOKENS, WIDTH = 6, 64


def close(got, want, bound=4e-3):
    torch.testing.assert_close(got.cpu().double(), want, rtol=bound, atol=bound)


def turned(x):
    """Of halves."""
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def rotated(x, cos, sin):
    x, cos, sin = (each.double() for each in (x, cos, sin))
    return x * cos + turned(x) * sin


def apart(x):
    """The even numbers, then the odd ones."""
    return torch.cat([x[..., ::2], x[..., 1::2]], -1)


def normal(x, gamma, eps):
    x = x.double()
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma.double()


def halves(*shape):
    return torch.randn(shape).half()


def test_apply_rotary_pos_emb():
    q, k, cos, sin = halves(2, 5, 4, WIDTH), halves(2, 5, 1, WIDTH), halves(2, 5, 1, WIDTH), halves(2, 5, 1, WIDTH)
    got = torch_npu.npu_apply_rotary_pos_emb(*(each.npu() for each in (q, k, cos, sin)), "BSND")
    for each, x in zip(got, (q, k), strict=True):
        close(each, rotated(x, cos, sin))


def test_rotary_mul_by_a_matrix():
    x, cos, sin = halves(2, 5, 3, WIDTH), halves(1, 5, 1, WIDTH), halves(1, 5, 1, WIDTH)
    half = torch.eye(WIDTH // 2)
    matrix = torch.zeros(WIDTH, WIDTH)
    matrix[: WIDTH // 2, WIDTH // 2 :], matrix[WIDTH // 2 :, : WIDTH // 2] = half, -half
    matrix = matrix.half()
    got = torch_npu.npu_rotary_mul(*(each.npu() for each in (x, cos, sin)), "half", matrix.npu())
    close(got, rotated(x, cos, sin))


def test_interleave_rope():
    x, cos, sin = halves(2, 3, 4, WIDTH), halves(2, 1, 4, WIDTH), halves(2, 1, 4, WIDTH)
    close(torch_npu.npu_interleave_rope(*(each.npu() for each in (x, cos, sin))), rotated(apart(x), cos, sin))


@pytest.mark.parametrize("mode", ["half", "interleave"])
@pytest.mark.parametrize("sections", [None, [8, 12, 12]])
def test_mrope(mode, sections):
    size, positions = WIDTH + 32, 40
    q, k, cache = halves(TOKENS, 2 * size), halves(TOKENS, size), halves(positions, WIDTH)
    places = torch.randint(0, positions, (TOKENS,) if sections is None else (3, TOKENS))
    options = {} if sections is None else {"mrope_section": sections}
    got = torch_npu.npu_mrope(*(each.npu() for each in (places, q, k, cache)), size, rotary_mode=mode, **options)
    kinds = torch.zeros(WIDTH // 2, dtype=torch.long)
    if sections is not None:
        kinds = torch.repeat_interleave(torch.arange(3), torch.tensor(sections))
    rows = cache.double()[torch.atleast_2d(places)[kinds].T]  # (token, angle, number)
    angles = torch.arange(WIDTH // 2)
    cos, sin = (rows[:, angles, first + angles][:, None] for first in (0, WIDTH // 2))
    for each, x in zip(got, (q, k), strict=True):
        x = x.double().view(TOKENS, -1, size)
        part = x[..., :WIDTH]
        a, b = part.chunk(2, -1) if mode == "half" else (part[..., ::2], part[..., 1::2])
        pair = (a * cos - b * sin, b * cos + a * sin)
        made = torch.cat(pair, -1) if mode == "half" else torch.stack(pair, -1).flatten(-2)
        close(each, torch.cat([made, x[..., WIDTH:]], -1).view(TOKENS, -1))


@pytest.mark.parametrize("mode", ["PA_BNSD", "PA_NZ", "PA_BLK_BNSD"])
@pytest.mark.parametrize("scaled", [False, True])
def test_kv_rmsnorm_rope_cache(mode, scaled):
    batches, rows, blocks, size = 3, 2, 4, 16
    kv, gamma = halves(batches, 1, rows, 576), halves(512)
    cos, sin = halves(batches, 1, rows, 64), halves(batches, 1, rows, 64)
    kind = torch.int8 if scaled else torch.float16
    caches = [torch.zeros(blocks, size, 1, width).to(kind) for width in (64, 512)]
    scales = [torch.rand(width) + 0.5 for width in (64, 512)] if scaled else [None, None]
    index = torch.arange(batches) * size if "BLK" in mode else torch.randperm(blocks * size)[: batches * rows]
    device = [each.npu() for each in caches]
    _, _, key, value = torch_npu.npu_kv_rmsnorm_rope_cache(
        *(each.npu() for each in (kv, gamma, cos, sin, index)), *device,
        k_rope_scale=scales[0].npu() if scaled else None, c_kv_scale=scales[1].npu() if scaled else None,
        cache_mode=mode, is_output_kv=True,
    )  # fmt: skip
    want = rotated(apart(kv[..., 512:]), cos, sin), normal(kv[..., :512], gamma, 1e-5)
    for got, exact in zip((key, value), want, strict=True):
        close(got, exact)
    places = [
        int(index[b] if "BLK" in mode else index[b * rows + i]) + (i if "BLK" in mode else 0)
        for b in range(batches) for i in range(rows)
    ]  # fmt: skip
    for got, exact, scale in zip(device, want, scales, strict=True):
        width, group = exact.shape[-1], 32 if scaled else 16
        cells = got.cpu().double()
        if mode == "PA_NZ":
            cells = cells.view(blocks, width // group, size, group).transpose(1, 2)
        flat = cells.reshape(blocks * size, width)[places]
        exact = exact.reshape(-1, width)
        if not scaled:
            close(flat, exact)
        else:
            assert (flat - (exact * scale).clamp(-128, 127)).abs().max() <= 0.51


def test_qkv_rms_norm_rope_cache():
    batches, rows, heads, width, blocks, size = 2, 3, [4, 2, 2], 64, 3, 8
    tokens = batches * rows
    qkv, gammas = halves(tokens, sum(heads) * width), (halves(width), halves(width))
    cos, sin = halves(tokens, width), halves(tokens, width)
    index = torch.randperm(blocks * size)[:tokens]
    q = torch.zeros(tokens, heads[0] * width).half().npu()
    k, v = (torch.zeros(blocks, heads[1] * width // 32, size, 32).to(torch.int8).npu() for _ in range(2))
    scales = [torch.rand(heads[1], width) + 0.02 for _ in range(2)]
    torch_npu.npu_qkv_rms_norm_rope_cache(
        *(each.npu() for each in (qkv, *gammas, cos, sin, index)), q, k, v,
        [batches, rows, sum(heads), width], heads, k_scale=scales[0].npu(), v_scale=scales[1].npu(),
    )  # fmt: skip
    parts = qkv.view(tokens, -1, width).split(heads, 1)
    angles = cos[:, None], sin[:, None]
    of_q, of_k = (rotated(normal(x, gamma, 1e-6), *angles) for x, gamma in zip(parts[:2], gammas, strict=True))
    close(q, of_q.reshape(tokens, -1), 8e-3)
    for cache, exact, scale in ((k, of_k, scales[0]), (v, parts[2].double(), scales[1])):
        rows_of = cache.cpu().double().transpose(1, 2).reshape(blocks * size, -1)[index]
        assert (rows_of - (exact / scale).clamp(-128, 127).reshape(tokens, -1)).abs().max() <= 0.51


def test_rope_quant_kvcache():
    batches, rows, queries, width, length = 2, 3, 2, 128, 9
    x, cos, sin = halves(batches, rows, (queries + 2) * width), halves(2, 3, 1, width), halves(2, 3, 1, width)
    caches = [torch.zeros(batches, length, 1, width).to(torch.int8).npu() for _ in range(2)]
    scales, offsets = ([torch.rand(width) * 20 for _ in range(2)] for _ in range(2))
    index = torch.tensor([4, 1]).int()
    got = torch_npu.npu_rope_quant_kvcache(
        x.npu(), cos.npu(), sin.npu(), *caches, index.npu(), *(each.npu() for each in scales),
        [queries * width, width, width], offset_k=offsets[0].npu(), offset_v=offsets[1].npu(), kv_output=True,
    )  # fmt: skip
    q, k, v = x.view(batches, rows, -1, width).split([queries, 1, 1], 2)
    want = [rotated(q, cos, sin), rotated(k, cos, sin), v.double()]
    for each, exact in zip(got[:3], want, strict=True):
        close(each, exact, 8e-3)
    for cache, exact, scale, offset in zip(caches, want[1:], scales, offsets, strict=True):
        small = (exact * scale + offset).clamp(-128, 127)
        for b, first in enumerate(index.tolist()):
            assert (cache[b, first : first + rows].cpu().double() - small[b]).abs().max() <= 0.51
