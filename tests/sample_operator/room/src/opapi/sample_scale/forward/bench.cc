// SPDX-License-Identifier: Apache-2.0
// Times SampleScale on the perf cases: FLOAT, FLOAT16 and BFLOAT16.
#include <benchmark/benchmark.h>

#include "sample_scale/forward/test_case.h"
#include "tests/support/tables.h"
#include "tests/support/timing.h"

namespace room = openaclnn::test::sample_scale::forward;

int main(int argc, char** argv) {
  const openaclnn::test::Device device;
  for (const room::Case& shape : room::Cases()) {
    if (shape.group != openaclnn::test::kPerf) continue;
    for (const aclDataType dtype : openaclnn::test::kFloatDtypes) {
      const auto time = [&device, &shape, dtype](benchmark::State& state) {
        const room::Problem problem(shape, dtype);
        openaclnn::test::TimeCalls(
            state, device, [&] { return problem.Plan(); }, aclnnSampleScale,
            2 * openaclnn::test::CountOf(shape.dims) *
                static_cast<int64_t>(aclDataTypeSize(dtype)));
      };
      const std::string name = std::string(room::kApi) + "/" + shape.name;
      benchmark::RegisterBenchmark(name.c_str(), time)->UseRealTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
