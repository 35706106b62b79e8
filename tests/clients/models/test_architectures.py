# SPDX-License-Identifier: Apache-2.0
"""Models of transformers give the CPU's results and gradients, through npu_fusion_attention."""

import copy

import pytest
import torch
import torch_npu  # noqa: F401  (makes the device known)
from architectures import ARCHITECTURES, inputs_of, model_of

LIMIT = 2e-5  # of the largest number of a tensor: float32 through two layers and back
fused = torch.nn.functional.scaled_dot_product_attention


@pytest.fixture(autouse=True)
def full_precision():
    torch.manual_seed(0)
    torch.npu.conv.allow_hf32 = False
    torch.npu.matmul.allow_hf32 = False


def outputs(model, inputs):
    """The float tensors of a result, and the gradients of a weighted sum of them."""
    results = [each for each in model(**inputs).to_tuple() if torch.is_tensor(each) and each.requires_grad]
    assert results
    draw = torch.Generator().manual_seed(1)
    weights = [torch.randn(each.shape, generator=draw).to(each.device) for each in results]
    sum((each * weight).sum() for each, weight in zip(results, weights, strict=True)).backward()
    gradients = {name: each.grad for name, each in model.named_parameters() if each.grad is not None}
    return {f"result {i}": each.detach() for i, each in enumerate(results)} | gradients


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_results_and_gradients_are_those_of_the_cpu(name, monkeypatch):
    model, inputs = model_of(name), inputs_of(name)
    there = copy.deepcopy(model).npu()
    calls = []

    def counted(*arguments, **named):
        out = fused(*arguments, **named)
        if out.device.type == "npu":
            calls.append(type(out.grad_fn).__name__)
        return out

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    want = outputs(model, inputs)
    got = outputs(there, {key: value.npu() for key, value in inputs.items()})
    assert calls and all(each.startswith("NpuFusionAttention") for each in calls), calls
    assert got.keys() == want.keys()
    for key, value in want.items():
        difference = (got[key].cpu() - value).abs().max()
        assert difference <= LIMIT * max(1, value.abs().max()), f"{key}: {difference}"
