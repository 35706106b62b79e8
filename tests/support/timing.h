// SPDX-License-Identifier: Apache-2.0
// Timing of an operator's calls: both phases and synchronise, as a program waits for them.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

#include "tests/support/call.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

/// `plan()` is phase 1; `bytes` the least traffic of one call. The workspace is allocated once.
template <class Plan>
void TimeCalls(benchmark::State& state, const Device& device, Plan&& plan, Phase2 phase2,
               int64_t bytes) {
  const uint64_t size = plan().workspace_size();
  const DeviceBuffer workspace(size);
  Outcome outcome;
  // The first touch of memory is not the operator's.
  for (int i = 0; i < 2 && outcome.ok(); ++i) outcome = Execute(device, plan(), phase2);
  for (auto _ : state) {
    const Planned planned = plan();
    outcome = TakeOutcome(phase2(workspace.address(), size, planned.executor(), device.stream()));
    if (outcome.ok()) outcome = device.Synchronize();
    if (!outcome.ok()) break;
  }
  if (!outcome.ok()) state.SkipWithError(outcome.message.c_str());
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["GB/s"] = benchmark::Counter(static_cast<double>(bytes) * 1e-9,
                                              benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace openaclnn::test
