// SPDX-License-Identifier: Apache-2.0
// Phase 2 in a workspace whose end is watched.
#include "tests/support/call.h"

#include <algorithm>
#include <vector>

#include "tests/support/tensor.h"

namespace openaclnn::test {

Planned::~Planned() {
  if (executor_ == Untouched()) return;
  // Spent executors are gone already; that refusal is nobody's recent error.
  TakeOutcome(aclDestroyAclOpExecutor(executor_));
}

Outcome Execute(const Device& device, const Planned& planned, Phase2 phase2) {
  if (!planned.outcome().ok()) return planned.outcome();
  constexpr auto kGarbage = std::byte{0xA7};
  const uint64_t size = planned.workspace_size();
  const DeviceBuffer workspace((size + 63) / 64 * 64);
  std::vector<std::byte> content((size + 63) / 64 * 64, kGarbage);
  workspace.Write(content);
  const int code = phase2(workspace.address(), size, planned.executor(), device.stream());
  if (code != 0) return TakeOutcome(code);
  Outcome outcome = device.Synchronize();
  content = workspace.Read();
  const bool clean = std::all_of(content.begin() + static_cast<int64_t>(size), content.end(),
                                 [](std::byte byte) { return byte == kGarbage; });
  return clean ? outcome : Outcome{-1, "bytes past the end of the workspace were written"};
}

}  // namespace openaclnn::test
