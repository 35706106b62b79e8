# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts through torch-npu's own calls: as plain PyTorch computes them on the CPU."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu

EXPERTS, CHOICES, WIDTH, HIDDEN = 6, 2, 48, 32

pytestmark = pytest.mark.skipif("not has_experts()", reason="the product has no such operators")


def has_experts() -> bool:
    import os

    return os.environ["OPENACLNN_SOC"].startswith(("Ascend910B", "Ascend910_93"))


def near(got, want, dtype=torch.float32):
    bound = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(got.cpu().float(), want.float(), rtol=bound, atol=bound)


DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_gates(dtype):
    x = torch.randn(17, EXPERTS, dtype=dtype)
    finished = torch.arange(17) % 5 == 0
    y, experts, rows = torch_npu.npu_moe_gating_top_k_softmax(x.npu(), finished.npu(), k=CHOICES)
    values, places = x.float().softmax(-1).topk(CHOICES)
    near(y, values, dtype)
    assert torch.equal(experts.cpu().long(), places.masked_fill(finished[:, None], EXPERTS))
    assert torch.equal(rows.cpu().long(), torch.arange(17 * CHOICES).view(CHOICES, 17).T)


@pytest.mark.parametrize("norm", [0, 1])
def test_gates_with_groups(norm):
    x, bias = torch.randn(9, 16), torch.randn(16)
    y, experts, scores = torch_npu.npu_moe_gating_top_k(
        x.npu(), 3, bias=bias.npu(), k_group=2, group_count=4, group_select_mode=1, norm_type=norm,
        out_flag=True, routed_scaling_factor=2.5,
    )  # fmt: skip
    want = x.sigmoid() if norm else x.softmax(-1)
    near(scores, want)
    parts = (want + bias).view(9, 4, 4)
    stays = torch.zeros(9, 4, dtype=torch.bool)
    stays.scatter_(1, parts.topk(2)[0].sum(-1).topk(2)[1], True)
    places = parts.masked_fill(~stays[..., None], -torch.inf).view(9, 16).topk(3)[1]
    assert torch.equal(experts.cpu().long(), places)
    chosen = want.gather(1, places)
    near(y, 2.5 * (chosen / chosen.sum(-1, keepdim=True) if norm else chosen))


def routed(tokens=23, dtype=torch.float32):
    x, experts = torch.randn(tokens, WIDTH, dtype=dtype), torch.randint(0, EXPERTS, (tokens, CHOICES))
    experts[experts == 3] = 2  # an expert without tokens
    return x, experts, experts.view(-1).argsort(stable=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_routing(dtype):
    x, experts, order = routed(dtype=dtype)
    numbers = torch.arange(experts.numel(), dtype=torch.int32).view(CHOICES, -1).T.contiguous()
    moved, places, chosen = torch_npu.npu_moe_init_routing(
        x.npu(), numbers.npu(), experts.int().npu(), len(x)
    )
    assert torch.equal(moved.cpu(), x[numbers.view(-1)[order].long() % len(x)])
    assert torch.equal(places.cpu()[numbers.view(-1)[order].long()], torch.arange(len(order)).int())
    assert torch.equal(chosen.cpu(), experts.view(-1)[order].int())
    ends = torch_npu.npu_moe_compute_expert_tokens(chosen, EXPERTS)
    assert torch.equal(ends.cpu().long(), torch.bincount(experts.view(-1), minlength=EXPERTS).cumsum(0))


@pytest.mark.parametrize("quantised", [-1, 1])
def test_routing_of_a_range_of_experts(quantised):
    x, experts, _ = routed()
    moved, places, counts, scales = torch_npu.npu_moe_init_routing_v2(
        x.npu(), experts.int().npu(), active_num=experts.numel(), expert_num=EXPERTS,
        expert_tokens_num_type=1, expert_tokens_num_flag=True, quant_mode=quantised,
        active_expert_range=[1, 5], row_idx_type=0,
    )  # fmt: skip
    flat = experts.view(-1)
    order = torch.where(flat < 1, EXPERTS, flat).argsort(stable=True)
    taking = int(((flat >= 1) & (flat < 5)).sum())
    want = x[order[:taking] // CHOICES]
    assert torch.equal(counts.cpu(), torch.bincount(flat, minlength=EXPERTS)[1:5])
    expected = torch.full_like(flat, -1)
    expected[order[:taking]] = torch.arange(taking)
    assert torch.equal(places.cpu().long(), expected)
    if quantised < 0:
        assert torch.equal(moved.cpu()[:taking], want)
        return
    factors = want.abs().amax(-1) / 127
    near(scales[:taking], factors)
    assert ((moved.cpu()[:taking].float() - want / factors[:, None]).abs() < 0.51).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_permute_and_back_with_gradients(dtype):
    x, experts, order = routed(dtype=dtype)
    probs = torch.rand(len(x), CHOICES, dtype=dtype)

    def mixed(tokens, weights, device):
        if device == "npu":
            moved, places = torch_npu.npu_moe_token_permute(tokens, experts.npu())
            return torch_npu.npu_moe_token_unpermute(moved * moved, places, weights)
        rows = tokens[order // CHOICES]
        back = torch.zeros_like(rows).index_copy(0, order, rows * rows)
        return (back.view(len(tokens), CHOICES, -1) * weights[..., None]).sum(1)

    results = []
    for device in ("cpu", "npu"):
        # Copies in between would be leaves of their own.
        leaves = [each.detach().clone().to(device).requires_grad_() for each in (x, probs)]
        y = mixed(*leaves, device)
        (y.float() * torch.arange(WIDTH, device=device)).sum().backward()
        results.append([y.detach(), *(each.grad for each in leaves)])
    for got, want in zip(results[1], results[0], strict=True):
        scale = want.float().abs().max().clamp(min=1)
        near(got.cpu() / scale, want / scale, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_grouped_products(dtype):
    sizes = [7, 0, 19, 1]
    x, w = torch.randn(sum(sizes), WIDTH, dtype=dtype), torch.randn(4, WIDTH, HIDDEN, dtype=dtype)
    wanted = [a.float() @ b.float() for a, b in zip(x.split(sizes), w, strict=True)]
    for kind, listed in enumerate((torch.tensor(sizes).cumsum(0), torch.tensor(sizes))):
        (y,) = torch_npu.npu_grouped_matmul(
            [x.npu()], [w.npu()], group_list=listed.npu(), split_item=3, group_type=0,
            group_list_type=kind,
        )  # fmt: skip
        near(y / 16, torch.cat(wanted) / 16, dtype)
    members = torch_npu.npu_grouped_matmul(
        [each.npu() for each in x.split(sizes)], [each.npu() for each in w], group_type=-1
    )
    for got, want in zip(members, wanted, strict=True):
        near(got / 16, want / 16, dtype)


def test_grouped_products_of_int8():
    sizes = [5, 0, 9]
    x = torch.randint(-128, 128, (14, WIDTH), dtype=torch.int8)
    w = torch.randint(-128, 128, (3, WIDTH, HIDDEN), dtype=torch.int8)
    scale, token = torch.rand(3, HIDDEN) / 1000, torch.rand(14)
    (y,) = torch_npu.npu_grouped_matmul(
        [x.npu()], [w.npu()], scale=[scale.npu()], per_token_scale=[token.npu()],
        group_list=torch.tensor(sizes).npu(), split_item=3, group_type=0, group_list_type=1,
        output_dtype=torch.float16,
    )  # fmt: skip
    parts = [a.float() @ b.float() * c for a, b, c in zip(x.split(sizes), w, scale, strict=True)]
    near(y, torch.cat(parts) * token[:, None], torch.float16)


@pytest.mark.parametrize("experts", [0, 3])
def test_ffn(experts):
    lead = (experts,) if experts else ()
    x = torch.randn(12, WIDTH).half()
    first, second = (torch.randn(*lead, *shape).half() / 8 for shape in ((WIDTH, HIDDEN), (HIDDEN, WIDTH)))
    bias = torch.randn(*lead, HIDDEN).half()
    sizes = [5, 0, 7] if experts else None
    y = torch_npu.npu_ffn(
        x.npu(), first.npu(), second.npu(), "silu", expert_tokens=sizes, bias1=bias.npu()
    )
    parts = zip(x.split(sizes), first, second, bias, strict=True) if experts else [(x, first, second, bias)]
    want = [F.silu(a.float() @ b.float() + d.float()).half().float() @ c.float() for a, b, c, d in parts]
    near(y, torch.cat(want), torch.float16)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_layer_of_experts(dtype):
    """Gates, routing, two grouped products with SwiGLU between, and the sum for each token."""
    tokens = 40
    x, gate = torch.randn(tokens, WIDTH, dtype=dtype), torch.randn(WIDTH, EXPERTS, dtype=dtype)
    up = torch.randn(EXPERTS, WIDTH, 2 * HIDDEN, dtype=dtype) / 7
    down = torch.randn(EXPERTS, HIDDEN, WIDTH, dtype=dtype) / 6
    scores, experts, numbers = torch_npu.npu_moe_gating_top_k_softmax((x @ gate).npu(), k=CHOICES)
    moved, places, chosen = torch_npu.npu_moe_init_routing(x.npu(), numbers, experts, tokens)
    ends = torch_npu.npu_moe_compute_expert_tokens(chosen, EXPERTS).long()
    with_ends = {"group_list": ends, "split_item": 3, "group_type": 0, "group_list_type": 0}
    (hidden,) = torch_npu.npu_grouped_matmul([moved], [up.npu()], **with_ends)
    (made,) = torch_npu.npu_grouped_matmul([torch_npu.npu_swiglu(hidden)], [down.npu()], **with_ends)
    none = torch.zeros(EXPERTS, WIDTH, dtype=dtype)
    y = torch_npu.npu_moe_finalize_routing(
        made, torch.zeros_like(x).npu(), None, none.npu(), scores, places, experts
    )
    weights, picked = (x @ gate).float().softmax(-1).topk(CHOICES)
    want = torch.zeros(tokens, WIDTH)
    for token in range(tokens):
        for weight, expert in zip(weights[token], picked[token], strict=True):
            left, right = (x[token].float() @ up[expert].float()).chunk(2)
            want[token] += weight * ((F.silu(left) * right) @ down[expert].float())
    near(y / 4, want / 4, dtype)


def test_what_sampling_leaves():
    logits, p = torch.randn(5, 100), torch.tensor([0.2, 0.5, 0.9, 1.0, 0.0])
    k = torch.tensor([1, 10, 50, 100, 7], dtype=torch.int32)
    got = torch_npu.npu_top_k_top_p(logits.npu(), p.npu(), k.npu()).cpu()
    values, places = logits.sort(-1)
    values = values.masked_fill(values < values.gather(1, (100 - k.long())[:, None]), -torch.inf)
    gone = values.softmax(-1).cumsum(-1) <= 1 - p[:, None]
    gone[:, -1] = False
    want = torch.empty_like(logits).scatter_(1, places, values.masked_fill(gone, -torch.inf))
    assert torch.equal(got, want)


def test_a_choice_that_is_out_of_range_is_told():
    x, experts, _ = routed()
    experts[4, 1] = EXPERTS
    with pytest.raises(RuntimeError, match=r"expertIdx value 9 is 6, expected 0 <= value < 6"):
        torch_npu.npu_moe_init_routing_v2(
            x.npu(), experts.int().npu(), active_num=experts.numel(), expert_num=EXPERTS,
            expert_tokens_num_flag=True, active_expert_range=[0, EXPERTS],
        )  # fmt: skip
        torch.npu.synchronize()
