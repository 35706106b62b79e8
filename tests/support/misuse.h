// SPDX-License-Identifier: Apache-2.0
// What phase 2 of every operator refuses alike: executors, workspaces, addresses, overlap, streams.
#pragma once

#include "tests/support/problem.h"

namespace openaclnn::test {

/// Every refusal, with code and message, on one executor of a call that is right, of dense tensors;
/// none writes an output, and none spends the executor: its run in the end is a success. A second
/// run is refused. The output that shares memory with the inputs is operand `output` of the API.
void ExpectMisuseIsRefused(const Device& device, const OperatorProblem& problem, size_t output);

}  // namespace openaclnn::test
