// SPDX-License-Identifier: Apache-2.0
// Lengths of sequences from lists: the length of each batch, or the end of each packed sequence.
#pragma once

#include <span>
#include <vector>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// Checks that there is a length for each batch, or one for all, and that each is at most `most`.
void CheckLengths(const IntList& list, int64_t batches, int64_t most, Checker& checker);

/// Where the rows of a batch begin, and how many there are.
struct Span {
  int64_t first, count;
};
/// The rows of a batch. Without lengths, all of them.
Span LengthOf(std::span<const int64_t> lengths, int64_t batch, int64_t all);
/// The rows of each packed sequence. Zeros after all other ends stand for empty sequences.
std::vector<Span> SpansOf(std::span<const int64_t> ends);
int64_t LastEnd(std::span<const int64_t> ends);
/// Checks that there are as many ends of keys as of rows.
void CheckSameCount(const IntList& row_ends, const IntList& key_ends, Checker& checker);

}  // namespace openaclnn::supporting
