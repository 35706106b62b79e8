# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own profilers around calls on the device."""

import torch


def test_autograd_profiler_names_the_calls():
    x = torch.ones(3).npu()
    with torch.autograd.profiler.profile(use_device="npu") as seen:
        y = x + 1
    assert y.tolist() == [2, 2, 2]
    assert "aclnnAdds" in {event.key for event in seen.key_averages()}


def test_profiler_of_every_activity():
    """CUDA's among them: PyTorch asks for it wherever it was built with CUDA."""
    x = torch.ones(3).npu()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as seen:
        (x + 1).tolist()
    assert "aten::add" in {event.key for event in seen.key_averages()}


def test_cuda_has_words_for_its_errors():
    """Where PyTorch was built with CUDA, whose libraries are stood in for."""
    if torch.version.cuda is not None:
        runtime = torch._C._cudart
        assert "no device" in runtime.cudaGetErrorString(runtime.cudaError.success)
