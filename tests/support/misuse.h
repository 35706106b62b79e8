// SPDX-License-Identifier: Apache-2.0
// What phase 2 of every operator refuses alike: executors, workspaces, addresses, overlap, streams.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/call.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {

struct MisusedOperand {
  const char* name;
  size_t index;  // among the operands of the API
  const DeviceTensor* tensor;
  bool may_be_output = false;  // the output may be the very same view
};

/// A call that is right, of dense tensors.
struct MisusedCall {
  const char* api;
  Phase2 phase2;
  std::function<Planned()> plan;
  std::vector<MisusedOperand> operands;  // the output is the last
};

/// Every refusal, with code and message, on one executor; none writes the output, and none spends
/// the executor: its run in the end is a success. A second run is refused.
void ExpectMisuseIsRefused(const Device& device, const MisusedCall& call);

}  // namespace openaclnn::test
