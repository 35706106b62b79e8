// SPDX-License-Identifier: Apache-2.0
// Indices in device memory: converted to integers and checked before anything is written.
#pragma once

#include <cstdint>

#include "common/status.h"
#include "frame/support.h"
#include "kernels/move/strided.h"

namespace openaclnn {

/// Types of an index operand: floating types are truncated toward zero.
inline constexpr DtypeSet kIndexTypes = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT32,
                                               ACL_INT64, ACL_INT16, ACL_INT8, ACL_UINT8, ACL_BOOL);

/// An index operand, frozen for the kernel.
struct IndexView {
  IndexView() = default;
  explicit IndexView(const Operand& operand)
      : dtype(operand.dtype()), count(*operand.count()), offsets(operand, operand.rank()) {}

  int32_t dtype = 0;
  int64_t count = 0;
  Offsets offsets;
};

/// Converts all indices to rows[0 … count - 1]. The first one that is NaN or outside [0, limit)
/// fails with its position and value: 507035, "<operand> value <position> is <value>, …".
Status ReadIndices(const char* operand, const IndexView& view, const void* data, uint64_t limit,
                   int64_t* rows);

}  // namespace openaclnn
