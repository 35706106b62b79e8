// SPDX-License-Identifier: Apache-2.0
// Operands of packed sequences, (row, head, element), and what is checked of them.
#pragma once

#include <initializer_list>

#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

/// (T, N, D), or (T, N, 8) of largest scores and sums.
Heads PackedHeads(const Tensor& tensor);

/// Checks types, ranks, heads and widths of query, key and value; query has so many heads.
void CheckPackedHeads(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads,
                      Checker& checker);

/// Checks largest scores and sums of such a query.
void CheckPackedSums(std::initializer_list<const Tensor*> numbers, const Heads& query,
                     Checker& checker);

void CheckMaskType(const Tensor& mask, Checker& checker);
/// Checks a mask of (row, key) for all sequences: it reaches as far as the longest.
void CheckPackedMask(const Tensor& mask, int64_t rows, int64_t keys, Checker& checker);

}  // namespace openaclnn::supporting
