# SPDX-License-Identifier: Apache-2.0
"""torch_npu's attention against PyTorch on the CPU in float64: layouts and packed sequences with their
gradients, caches in blocks, Native Sparse Attention."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu

ROWS, KEYS, HEADS, WIDTH = 70, 200, 4, 64
SCALE = WIDTH**-0.5


def attention(q, k, v, hidden=None):
    """Of (heads, row, width) each; a head of keys may serve several."""
    k, v = (each.repeat_interleave(len(q) // len(each), 0) for each in (k, v))
    seen = None if hidden is None else ~hidden
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=SCALE)


def close(got, want, bound=2e-2):
    torch.testing.assert_close(got.cpu().double(), want, rtol=bound, atol=bound)


def lacking(name):
    """Leaves a test out if this torch_npu has no such function."""
    return pytest.mark.skipif(not hasattr(torch_npu, name), reason=f"this torch_npu has no {name}")


def behind(rows, keys):
    """What a row does not see where the last one is at the last key."""
    return torch.ones(rows, keys, dtype=torch.bool).triu(keys - rows + 1)


@pytest.fixture
def drawn():
    """(heads, row, width) in float16, and the mask of modes 2 to 4."""
    q, dy = (torch.randn(HEADS, ROWS, WIDTH).half() for _ in range(2))
    k, v = (torch.randn(HEADS // 2, KEYS, WIDTH).half() for _ in range(2))
    return q, k, v, dy, torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()


def laid(x, layout):
    x = {"BNSD": x, "BSND": x.transpose(0, 1), "BSH": x.transpose(0, 1), "SBH": x.transpose(0, 1)}[layout]
    x = x.flatten(1) if layout.endswith("H") else x
    return x[:, None] if layout == "SBH" else x[None]


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
def test_fusion_attention(layout, drawn):
    *operands, dy, _ = drawn
    device = [laid(each, layout).npu().requires_grad_() for each in operands]
    out = torch_npu.npu_fusion_attention(*device, HEADS, layout, scale=SCALE)[0]
    out.backward(laid(dy, layout).npu())
    exact = [each.double().requires_grad_() for each in operands]
    want = attention(*exact)
    want.backward(dy.double())
    close(out, laid(want.detach(), layout))
    for got, of in zip(device, exact, strict=True):
        close(got.grad, laid(of.grad, layout))


def test_packed_sequences(drawn):
    q, k, v, dy, mask = drawn
    rows, keys = [30, 70], [120, 200]
    device = [each.transpose(0, 1).contiguous().npu().requires_grad_() for each in (q, k, v)]
    out = torch_npu.npu_fusion_attention(
        *device, HEADS, "TND", scale=SCALE, atten_mask=mask, sparse_mode=3, actual_seq_qlen=rows,
        actual_seq_kvlen=keys,
    )[0]  # fmt: skip
    out.backward(dy.transpose(0, 1).npu())
    exact = [each.double().requires_grad_() for each in (q, k, v)]
    wants = [
        attention(exact[0][:, a:b], *(each[:, c:d] for each in exact[1:]), behind(b - a, d - c))
        for a, b, c, d in ((0, 30, 0, 120), (30, 70, 120, 200))
    ]
    want = torch.cat(wants, 1)
    want.backward(dy.double())
    close(out, want.detach().transpose(0, 1))
    for got, of in zip(device, exact, strict=True):
        close(got.grad, of.grad.transpose(0, 1))


def test_caches_in_blocks(drawn):
    """Two prompts over a cache, whose blocks a table names; then one row of each."""
    q, k, v, _, mask = drawn
    size, lengths = 128, [150, 200]
    table = torch.tensor([[3, 0], [2, 4]], dtype=torch.int32)
    caches = [torch.full((5, size, (HEADS // 2) * WIDTH), float("nan")).half() for _ in range(2)]
    for cache, of in zip(caches, (k, v), strict=True):
        for b, length in enumerate(lengths):
            for key in range(length):
                cache[table[b, key // size], key % size] = of[:, key].flatten()
    for rows in ([30, 40], [1, 1]):
        ends = torch.tensor(rows).cumsum(0).tolist()
        some = q[:, : ends[-1]]
        out = torch_npu.npu_fused_infer_attention_score(
            some.transpose(0, 1).contiguous().npu(), *(each.npu() for each in caches), num_heads=HEADS,
            num_key_value_heads=HEADS // 2, input_layout="TND", scale=SCALE, atten_mask=mask,
            sparse_mode=3, block_table=table.npu(), block_size=size, actual_seq_lengths=ends,
            actual_seq_lengths_kv=lengths,
        )[0]  # fmt: skip
        wants = [
            attention(some[:, end - n : end].double(), *(x[:, :m].double() for x in (k, v)), behind(n, m))
            for end, n, m in zip(ends, rows, lengths, strict=True)
        ]
        close(out, torch.cat(wants, 1).transpose(0, 1))


def test_one_workspace_for_any_lengths(drawn):
    """What graphs that vllm-ascend captures give .out: its lengths change after the workspace is made."""
    q, k, v, _, mask = drawn
    size, tables = 128, torch.tensor([[3, 0], [2, 4]], dtype=torch.int32).npu()
    caches = [torch.randn(5, size, (HEADS // 2) * WIDTH).half().npu() for _ in range(2)]
    rows = q[:, :4].transpose(0, 1).contiguous().npu()

    def given(lengths):
        return {
            "num_heads": HEADS, "num_key_value_heads": HEADS // 2, "input_layout": "TND", "scale": SCALE,
            "atten_mask": mask, "sparse_mode": 3, "block_table": tables, "block_size": size,
            "actual_seq_lengths": [1, 4], "actual_seq_lengths_kv": lengths,
        }  # fmt: skip

    workspace_of = torch_npu._npu_fused_infer_attention_score_get_max_workspace
    workspace = workspace_of(rows, *caches, **given([3, 3]))
    for lengths in ([150, 200], [3, 256]):
        out, lse = torch.empty_like(rows), torch.empty(1, dtype=torch.float16, device="npu")
        torch_npu.npu_fused_infer_attention_score.out(
            rows, *caches, **given(lengths), workspace=workspace, out=[out, lse]
        )
        want = torch_npu.npu_fused_infer_attention_score(rows, *caches, **given(lengths))[0]
        assert torch.equal(out, want)


@pytest.mark.parametrize("groups", [False, True])
def test_int8_caches(drawn, groups):
    """A row of each prompt over INT8 keys and values, whose channels have factors; the cache lies in rows
    or in groups of 32 elements, as vllm-ascend has it."""
    q, k, v, _, _ = drawn
    size, lengths, heads = 64, [150, 200], HEADS // 2
    table = torch.tensor([[3, 0, 6, 7], [2, 4, 1, 5]], dtype=torch.int32)
    factors = [each.float().abs().amax(1, keepdim=True).half() / 127 for each in (k, v)]
    whole = [(each / factor).round().to(torch.int8) for each, factor in zip((k, v), factors, strict=True)]
    caches = [torch.zeros(8, heads, size, WIDTH, dtype=torch.int8) for _ in range(2)]
    for cache, of in zip(caches, whole, strict=True):
        for b, length in enumerate(lengths):
            for key in range(length):
                cache[table[b, key // size], :, key % size] = of[:, key]
    if groups:
        caches = [each.unflatten(-1, (-1, 32)).transpose(2, 3).contiguous() for each in caches]
    rows = q[:, :2].transpose(0, 1)[:, :, None].contiguous()  # (batch, head, 1, width)
    out = torch_npu.npu_fused_infer_attention_score(
        rows.npu(), *(each.npu() for each in caches), num_heads=HEADS, num_key_value_heads=heads,
        input_layout="BNSD", scale=SCALE, block_table=table.npu(), block_size=size,
        actual_seq_lengths_kv=lengths, key_antiquant_scale=factors[0].npu(),
        value_antiquant_scale=factors[1].npu(), key_antiquant_mode=0, value_antiquant_mode=0,
    )[0]  # fmt: skip
    exact = [each.double() * factor.double() for each, factor in zip(whole, factors, strict=True)]
    wants = [attention(rows[b].double(), *(x[:, :n] for x in exact)) for b, n in enumerate(lengths)]
    close(out, torch.stack(wants))


def test_int8_results(drawn):
    q, k, v, _, _ = drawn
    scale = torch.full((HEADS, WIDTH), 50.0)
    out = torch_npu.npu_fused_infer_attention_score(
        *(each[None].npu() for each in (q, k, v)), num_heads=HEADS, num_key_value_heads=HEADS // 2,
        input_layout="BNSD", scale=SCALE, quant_scale2=scale.npu(),
    )[0]  # fmt: skip
    assert out.dtype == torch.int8
    want = attention(*(each.double() for each in (q, k, v))) * 50
    close(out.double(), want.round()[None], 1)


@pytest.mark.parametrize("mode", ["Norm", "PA_NZ"])
def test_tokens_go_to_caches_and_back(mode):
    tokens, blocks, size, heads = 9, 4, 8, 2
    key, value = torch.randn(tokens, heads, 32).half(), torch.randn(tokens, heads, 64).half()
    slots = torch.randperm(blocks * size)[:tokens].int()
    slots[3] = -1
    caches = [torch.zeros(blocks, size, heads, each.shape[-1]).half() for each in (key, value)]
    for cache, of in zip(caches, (key, value), strict=True):
        for token, slot in enumerate(slots.tolist()):
            if slot >= 0:
                cache[slot // size, slot % size] = of[token]

    def laid(cache):
        if mode == "Norm":
            return cache
        return cache.flatten(2).unflatten(2, (-1, 16)).transpose(1, 2).contiguous()

    got = [torch.zeros_like(laid(each)).npu() for each in caches]
    torch_npu.npu_scatter_pa_kv_cache(key.npu(), value.npu(), *got, slots.npu(), cache_mode=mode)
    for cache, of in zip(caches, got, strict=True):
        assert torch.equal(of.cpu(), laid(cache))
    if mode == "PA_NZ":  # torch-npu asks for groups by the format of a tensor
        return
    table, lengths = torch.tensor([[2, 0], [1, 3]]).int(), [10, 7]
    rows = [torch.full((17, heads, each.shape[-1]), -1.0).half().npu() for each in caches]
    torch_npu.npu_gather_pa_kv_cache(
        *(each.npu() for each in caches), table.npu(), torch.tensor(lengths).int().npu(), *rows
    )
    for cache, of in zip(caches, rows, strict=True):
        want = [cache[blocks].flatten(0, 1)[:n] for blocks, n in zip(table.long(), lengths, strict=True)]
        assert torch.equal(of.cpu(), torch.cat(want))


def test_native_sparse_attention(product):
    if not product.startswith("Ascend910B"):
        pytest.skip("the page has it on A2 alone")
    rows, size = 192, 64
    q = torch.randn(rows, HEADS, WIDTH).half()
    k, v = (torch.randn(rows, 1, WIDTH).half() for _ in range(2))
    dy = torch.randn(rows, HEADS, WIDTH).half()
    device = [each.npu().requires_grad_() for each in (q, k, v)]
    weight = torch.full((32, 1), 1 / 32).half().npu()
    coarse = [
        torch_npu.npu_nsa_compress(each.detach(), weight, 32, 16, actual_seq_len=[rows]) for each in device[1:]
    ]
    keys = len(coarse[0])
    own = (torch.arange(3) == torch.arange(rows)[:, None] // size).to(torch.uint8).npu()
    hides = (torch.arange(keys) * 16 + 31 > torch.arange(rows)[:, None]).to(torch.uint8).npu()
    _, blocks, *_ = torch_npu.npu_nsa_compress_attention(
        device[0].detach(), *coarse, SCALE, HEADS, 32, 16, size, 2, topk_mask=own, atten_mask=hides,
        actual_seq_qlen=[rows], actual_cmp_seq_kvlen=[keys], actual_sel_seq_kvlen=[3],
    )  # fmt: skip
    assert torch.equal(blocks[:, 0, 0].cpu(), torch.arange(rows, dtype=torch.int32) // size)
    out = torch_npu.npu_nsa_select_attention(
        *device, blocks, SCALE, HEADS, size, 2, actual_seq_qlen=[rows], actual_seq_kvlen=[rows]
    )[0]
    out.backward(dy.npu())
    chosen = torch.zeros(rows, 3, dtype=torch.bool).scatter_(1, blocks[:, 0].cpu().long(), True)
    hidden = ~chosen.repeat_interleave(size, 1) | behind(rows, rows)
    exact = [each.transpose(0, 1).double().requires_grad_() for each in (q, k, v)]
    want = attention(*exact, hidden)
    want.backward(dy.transpose(0, 1).double())
    close(out, want.detach().transpose(0, 1))
    for got, of in zip(device, exact, strict=True):
        close(got.grad, of.grad.transpose(0, 1))


@lacking("npu_block_sparse_attention")
def test_block_sparse_attention(drawn):
    q, k, v, _, _ = drawn
    seen = torch.tensor([[1, 0], [1, 1], [0, 1]]).expand(HEADS, 3, 2)[None]
    out, _ = torch_npu.npu_block_sparse_attention(
        *(each[None].npu() for each in (q, k, v)), seen.to(torch.int8).contiguous().npu(), [32, 128],
        q_input_layout="BNSD", kv_input_layout="BNSD", num_key_value_heads=HEADS // 2, scale_value=SCALE,
        inner_precise=0,
    )  # fmt: skip
    wide = seen[0, 0].repeat_interleave(32, 0)[:ROWS].repeat_interleave(128, 1)[:, :KEYS]
    close(out[0], attention(*(each.double() for each in (q, k, v)), wide == 0))


@lacking("npu_fused_floyd_attention")
def test_fused_floyd_attention():
    firsts, seconds, keys, width = 3, 4, 5, 32
    shapes = [(firsts, seconds), *[(firsts, keys)] * 2, *[(keys, seconds)] * 2]
    operands = [torch.randn(1, 2, *shape, width).half() for shape in shapes]
    device = [each.npu().requires_grad_() for each in operands]
    dy = torch.randn(1, 2, firsts, seconds, width).half()
    out = torch_npu.npu_fused_floyd_attention(*device, scale_value=0.2)[2]
    out.backward(dy.npu())
    exact = [each.double().requires_grad_() for each in operands]
    q, k1, v1, k2, v2 = exact
    scores = torch.einsum("bhnmd,bhnkd->bhnmk", q, k1) + torch.einsum("bhnmd,bhkmd->bhnmk", q, k2)
    weights = (scores * 0.2).softmax(-1)
    want = torch.einsum("bhnmk,bhnkd->bhnmd", weights, v1) + torch.einsum("bhnmk,bhkmd->bhnmd", weights, v2)
    want.backward(dy.double())
    close(out.detach(), want.detach())
    for got, of in zip(device, exact, strict=True):
        close(got.grad, of.grad)


@lacking("npu_dense_lightning_indexer_grad_kl_loss")
@pytest.mark.parametrize("chosen", [False, True])
def test_loss_of_an_indexer(chosen):
    """With the sums that attention has, the loss is that of PyTorch, and so are its gradients."""
    rows, keys, heads, width = 6, 9, 4, 32
    q, k = torch.randn(1, rows, heads, width).half(), torch.randn(1, keys, 1 if chosen else heads, width).half()
    index = [torch.randn(1, rows, heads, width), torch.randn(1, keys, 1, width), torch.randn(1, rows, heads)]
    index = [each.half() / 4 for each in index]
    hidden = behind(rows, keys)
    exact = [each.double().requires_grad_() for each in index]
    sums = torch.einsum("brhd,bkd->brhk", exact[0], exact[1][:, :, 0]).relu().mul(exact[2][..., None]).sum(2)
    soft = sums.masked_fill(hidden, -torch.inf).log_softmax(-1)
    scores = torch.einsum("brhd,bkhd->bhrk", q.double(), k.double().expand(-1, -1, heads, -1)) * 0.1
    scores = scores.masked_fill(hidden, -torch.inf)
    target = scores.softmax(-1).mean(1)
    loss = torch.where(target > 0, target * (target.log() - soft), 0).sum()
    loss.backward()
    top = scores.amax(-1)
    total = (scores - top[..., None]).exp().sum(-1)
    # (batches, heads of keys, rows, queries of a head)
    tops, totals = (
        (each.transpose(1, 2)[:, None] if chosen else each[..., None]).float().contiguous().npu()
        for each in (top, total)
    )
    device = [each.npu() for each in (q, k, *index)]
    if chosen:
        names = torch.arange(keys).expand(1, rows, 1, keys).int().contiguous().npu()
        got = torch_npu.npu_sparse_lightning_indexer_grad_kl_loss(*device, names, tops, totals, 0.1)
    else:
        lse = torch_npu.npu_dense_lightning_indexer_softmax_lse(*device[2:])
        got = torch_npu.npu_dense_lightning_indexer_grad_kl_loss(*device, tops, totals, *lse, 0.1)
    close(got[3], loss.detach()[None], 5e-3)
    for each, of in zip(got[:3], exact, strict=True):
        close(each, of.grad, 1e-2)
