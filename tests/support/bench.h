// SPDX-License-Identifier: Apache-2.0
// The bench of a room: every perf case in each of the types that it is timed in.
//
// Beside what room_runs.h says a Room has kTimed, the variants to time, and TypeOf(variant), and
// may have Multiplications(shape) of a call.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/cases.h"
#include "tests/support/tables.h"
#include "tests/support/timing.h"

namespace openaclnn::test {

/// Calls of the room's first case of a real model, in each of its types: what tests/instructions.py
/// counts the instructions of.
template <class Room>
int CallRoom(const Device& device, int64_t calls) {
  const auto cases = Room::Cases();
  const auto shape =
      std::ranges::find_if(cases, [](const auto& each) { return each.group == kReal; });
  for (const uint64_t variant : Room::kTimed) {
    const auto problem = Room::Make(*shape, variant, {});
    for (int64_t i = 0; i < calls; ++i) {
      const Outcome outcome = Execute(device, problem.Plan(), problem.phase2());
      if (!outcome.ok()) throw std::runtime_error(outcome.message);
    }
  }
  return 0;
}

/// Runs the benches that the command line names; with --calls=N a few calls.
template <class Room>
int TimeRoom(int argc, char** argv, const char* api) {
  const Device device;
  constexpr std::string_view kCalls = "--calls=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kCalls)) {
    return CallRoom<Room>(device, std::stoll(argv[1] + kCalls.size()));
  }
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
