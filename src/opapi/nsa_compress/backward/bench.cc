// SPDX-License-Identifier: Apache-2.0
// Times NsaCompressGrad on the perf cases: FLOAT16 and BFLOAT16.
#include <benchmark/benchmark.h>

#include "nsa_compress/backward/test_case.h"
#include "tests/support/timing.h"

namespace room = openaclnn::test::nsa_compress::backward;

int main(int argc, char** argv) {
  const openaclnn::test::Device device;
  for (const openaclnn::test::WindowCase& shape : room::Cases()) {
    if (shape.group != openaclnn::test::kPerf) continue;
    for (const aclDataType dtype : {ACL_FLOAT16, ACL_BF16}) {
      const auto time = [&device, &shape, dtype](benchmark::State& state) {
        const room::Problem problem(shape, dtype);
        openaclnn::test::TimeCalls(
            state, device, [&] { return problem.Plan(); }, aclnnNsaCompressGrad,
            room::LeastBytes(shape));
      };
      const std::string name = std::string(room::kApi) + "/" + shape.name +
                               (dtype == ACL_FLOAT16 ? "/FLOAT16" : "/BFLOAT16");
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
