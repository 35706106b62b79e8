// SPDX-License-Identifier: Apache-2.0
// The scaled, masked softmax: what the operator and its gradient share.
//
// Both work row by row on four dimensions of data, with a mask of one byte an element that the rows
// of a head or of a batch may share.
#pragma once

#include "frame/checker.h"

namespace openaclnn::masked_softmax {

/// Longest row of any product: the kernel keeps one on its stack.
inline constexpr int64_t kMaxWidth = 8192;

//                                      910    A2           A3           950          310P   310B
inline constexpr DtypesByFamily kData = {kNone,       kFloatTypes, kFloatTypes,
                                         kFloatTypes, kNone,       kNone};
inline constexpr DtypesByFamily kMasks = {
    kNone, Dtypes(ACL_BOOL), Dtypes(ACL_BOOL), Dtypes(ACL_BOOL), kNone, kNone};

/// The arguments to check: the operands in the order of the API, the first of them the data whose
/// shape and type `like` have, and the mask; rows have `least_width` elements or more.
struct Arguments {
  Operands operands, like;
  const Operand& mask;
  int64_t least_width;
  bool fixTriuMask;
};

/// All checks of both, in their order.
Status CheckArguments(const Operator& op, const Product& product, const Arguments& arguments);

/// A row's loop that is compiled for each instruction set, by type.
template <class Row>
struct RowKernels {
  void (*float32)(const Row& row);
  void (*float16)(const Row& row);
  void (*bfloat16)(const Row& row);

  auto For(int32_t dtype) const {
    return dtype == ACL_FLOAT ? float32 : dtype == ACL_FLOAT16 ? float16 : bfloat16;
  }
};

}  // namespace openaclnn::masked_softmax
