// SPDX-License-Identifier: Apache-2.0
// Operands of packed sequences, (row, head, element), and their checks.
#pragma once

#include <initializer_list>

#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

/// The heads of a tensor of (T, N, D), or of (T, N, 8) for max and sum.
Heads PackedHeads(const Tensor& tensor);

/// Checks types, ranks, heads and widths of query, key and value; query has so many heads.
void CheckPackedHeads(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads,
                      Checker& checker);

/// Checks max and sum for a packed query.
void CheckPackedSums(std::initializer_list<const Tensor*> numbers, const Heads& query,
                     Checker& checker);

void CheckMaskType(const Tensor& mask, Checker& checker);
/// Checks a mask of (row, key) for all sequences: it reaches as far as the longest.
void CheckPackedMask(const Tensor& mask, int64_t rows, int64_t keys, Checker& checker);

}  // namespace openaclnn::supporting
