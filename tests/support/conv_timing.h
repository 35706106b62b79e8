// SPDX-License-Identifier: Apache-2.0
// The bench of the convolution over time and of its gradient: every perf case in every type.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tests/support/conv.h"
#include "tests/support/timing.h"

namespace openaclnn::test {

/// Runs the benches that the command line names. A call is `products` products of two matrices.
template <class Problem>
int TimeConvCases(int argc, char** argv, const std::vector<ConvCase>& cases, const char* api,
                  Phase2 phase2, int products) {
  const Device device;
  for (const ConvCase& shape : cases) {
    if (shape.group != kPerf) continue;
    for (const DtypeEntry& dtype : kDtypes) {
      if (!IsOneOf(dtype.type, kFloatDtypes)) continue;
      const auto time = [&device, &shape, dtype, phase2, products](benchmark::State& state) {
        const Problem problem(shape, dtype.type);
        TimeCalls(
            state, device, [&] { return problem.Plan(); }, phase2, problem.LeastBytes());
        state.counters["GFLOP/s"] = benchmark::Counter(
            2e-9 * products * shape.products(), benchmark::Counter::kIsIterationInvariantRate);
      };
      const std::string name = std::string(api) + "/" + shape.name + "/" + dtype.name;
      benchmark::RegisterBenchmark(name.c_str(), time)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace openaclnn::test
