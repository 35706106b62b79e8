// SPDX-License-Identifier: Apache-2.0
// Several plans as one: each after the one before, until one fails; and that of nothing.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// Where there is nothing to do; as of tensors without elements, of any dimensions.
inline Plan Nothing() {
  return {0, [](const Buffers&) -> Status { return {}; }};
}

/// They use the same workspace, which is that of whichever needs most.
inline Plan InTurn(std::vector<Plan> plans) {
  uint64_t most = 0;
  for (const Plan& plan : plans) most = std::max(most, plan.workspace_size);
  return {most, [plans = std::move(plans)](const Buffers& buffers) -> Status {
            for (const Plan& plan : plans) {
              Status status = plan.work(buffers);
              if (!status.ok()) return status;
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
