// SPDX-License-Identifier: Apache-2.0
// Declared accesses: the table of functions by which libnnopbase says what a task touches.
#include "ascendcl/check/declared.h"

#include <utility>

#include "ascendcl/check/interface.h"
#include "ascendcl/check/race_watch.h"

namespace openaclnn {
namespace {

struct Declared {
  const OpenaclnnAccess* accesses = nullptr;
  uint32_t count = 0;
};
thread_local Declared t_declared;

constexpr OpenaclnnCheck kCheck = {
    .watching_races = &g_watching_races,
    .declare =
        [](const OpenaclnnAccess* accesses, uint32_t count) {
          t_declared = {accesses, count};
        },
};

}  // namespace

std::vector<MemoryAccess> TakeDeclared() {
  const Declared declared = std::exchange(t_declared, {});
  std::vector<MemoryAccess> accesses(declared.count);
  for (uint32_t i = 0; i < declared.count; ++i) {
    const OpenaclnnAccess& access = declared.accesses[i];
    accesses[i] = {access.operand, access.writes != 0, {}};
    // A view of too many pieces is left out: what is not known exactly is not reported.
    (void)FindByteRuns(access.origin, access.element_bytes, {access.dims, access.rank},
                       {access.strides, access.rank}, &accesses[i].runs);
  }
  return accesses;
}

}  // namespace openaclnn

const OpenaclnnCheck* openaclnn_check(uint32_t version) {
  return version == OPENACLNN_CHECK_INTERFACE ? &openaclnn::kCheck : nullptr;
}
