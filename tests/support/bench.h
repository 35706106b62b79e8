// SPDX-License-Identifier: Apache-2.0
// The bench of a room: every perf case in each of the types that it is timed in.
//
// Beside what room_runs.h says a Room has kTimed, the variants to time, and TypeOf(variant), and
// may have Multiplications(shape) of a call.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "tests/support/cases.h"
#include "tests/support/tables.h"
#include "tests/support/timing.h"

namespace openaclnn::test {

/// Runs the benches that the command line names.
template <class Room>
int TimeRoom(int argc, char** argv, const char* api) {
  const Device device;
  for (const auto& shape : Room::Cases()) {
    if (shape.group != kPerf) continue;
    for (const uint64_t variant : Room::kTimed) {
      const auto time = [&device, &shape, variant](benchmark::State& state) {
        const auto problem = Room::Make(shape, variant, {});
        TimeCalls(
            state, device, [&] { return problem.Plan(); }, problem.phase2(), problem.LeastBytes());
        if constexpr (requires { Room::Multiplications(shape); }) {
          state.counters["GFLOP/s"] = benchmark::Counter(
              2e-9 * Room::Multiplications(shape), benchmark::Counter::kIsIterationInvariantRate);
        }
      };
      const std::string name =
          std::string(api) + "/" + shape.name + "/" + NameOf(Room::TypeOf(variant));
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
