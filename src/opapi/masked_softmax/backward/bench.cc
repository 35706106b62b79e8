// SPDX-License-Identifier: Apache-2.0
// Times ScaledMaskedSoftmaxBackward on the perf cases: FLOAT, FLOAT16 and BFLOAT16.
#include <benchmark/benchmark.h>

#include "masked_softmax/backward/test_case.h"
#include "tests/support/tables.h"
#include "tests/support/timing.h"

namespace room = openaclnn::test::masked_softmax::backward;
using openaclnn::test::DtypeEntry;

int main(int argc, char** argv) {
  const openaclnn::test::Device device;
  for (const room::Case& shape : room::Cases()) {
    if (shape.group != openaclnn::test::kPerf) continue;
    for (const DtypeEntry& dtype : openaclnn::test::kDtypes) {
      if (!openaclnn::test::IsOneOf(dtype.type, openaclnn::test::kFloatDtypes)) continue;
      const auto time = [&device, &shape, &dtype](benchmark::State& state) {
        const room::Problem problem(shape, dtype.type);
        openaclnn::test::TimeCalls(
            state, device, [&] { return problem.Plan(); }, aclnnScaledMaskedSoftmaxBackward,
            room::LeastBytes(shape, dtype.type));
      };
      const std::string name = std::string(room::kApi) + "/" + shape.name + "/" + dtype.name;
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
