// SPDX-License-Identifier: Apache-2.0
// The reduction of the ranks' elements, in the one order that everything here has.
#pragma once

#include <cstdint>

#include "hccl/hccl_types.h"

namespace openaclnn {

/// result[i] = tree(inputs[0][i], …, inputs[ranks - 1][i]): a tree over ranks that is split at the
/// largest power of two below their number, the left part before the right. 16-bit floats are
/// combined as float and rounded once. For begin <= i < end. `result` may be one of the inputs. The
/// type is reducible.
void ReduceRanks(const void* const* inputs, uint32_t ranks, uint64_t begin, uint64_t end,
                 HcclDataType type, HcclReduceOp op, void* result);

}  // namespace openaclnn
