// SPDX-License-Identifier: Apache-2.0
// Times GroupedBiasAddGrad on the perf cases: FLOAT, FLOAT16 and BFLOAT16, INT64 lists.
#include <benchmark/benchmark.h>

#include "grouped_bias/backward/test_case.h"
#include "tests/support/tables.h"
#include "tests/support/timing.h"

namespace room = openaclnn::test::grouped_bias::backward;
using openaclnn::test::DtypeEntry;

int main(int argc, char** argv) {
  const openaclnn::test::Device device;
  for (const room::Case& shape : room::Cases()) {
    if (shape.group != openaclnn::test::kPerf) continue;
    for (const DtypeEntry& dtype : openaclnn::test::kDtypes) {
      if (!openaclnn::test::IsOneOf(dtype.type, openaclnn::test::kFloatDtypes)) continue;
      const room::Types types = {dtype.type, ACL_INT64};
      const auto time = [&device, &shape, types](benchmark::State& state) {
        const room::Problem problem(shape, types);
        openaclnn::test::TimeCalls(
            state, device, [&] { return problem.Plan(); }, aclnnGroupedBiasAddGrad,
            room::LeastBytes(shape, types));
      };
      const std::string name =
          std::string(room::ApiOf(types.version)) + "/" + shape.name + "/" + dtype.name;
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
