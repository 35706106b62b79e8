// SPDX-License-Identifier: Apache-2.0
// Descriptions: what a trace says of a call, as members of a JSON object.
#pragma once

#include <span>
#include <string>

#include "nnopbase/operand/operand.h"

namespace openaclnn {

std::string DescribeOperands(std::span<const BoundOperand> operands);

/// The bytes that the call reads and writes, each once; where values in memory decide, all.
std::string DescribeBytes(std::span<const BoundOperand> operands);

}  // namespace openaclnn
