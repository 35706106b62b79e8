// SPDX-License-Identifier: Apache-2.0
// SubmitPlan: a plan of a test's own on a stream, without a function of the API.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "hccl/communicator/operation.h"

namespace openaclnn::ranks {

/// Fails the test where the plan is refused.
inline void SubmitPlan(const std::shared_ptr<Communicator>& communicator, Plan plan,
                       aclrtStream stream) {
  std::shared_ptr<HeldStream> held;
  Status status = HeldStream::Hold(stream, &held);
  ASSERT_TRUE(status.ok()) << status.text();
  status = std::make_shared<Operation>(communicator, "test", std::move(plan), PinnedRanges(), held)
               ->Submit();
  ASSERT_TRUE(status.ok()) << status.text();
}

}  // namespace openaclnn::ranks
