// SPDX-License-Identifier: Apache-2.0
// Lengths of sequences as lists give them: of each batch, or where each packed sequence ends.
#pragma once

#include <span>
#include <vector>

#include "supporting/family.h"

namespace openaclnn::supporting {

/// A length for each batch, or one for all; each at most `most`.
void CheckLengths(const IntList& list, int64_t batches, int64_t most, Checker& checker);

/// Where the rows of a batch begin, and how many there are.
struct Span {
  int64_t first, count;
};
/// All of them without lengths.
Span LengthOf(std::span<const int64_t> lengths, int64_t batch, int64_t all);
/// Of each packed sequence; zeros behind all other ends stand for empty ones.
std::vector<Span> SpansOf(std::span<const int64_t> ends);
int64_t LastEnd(std::span<const int64_t> ends);
/// As many ends of keys as of rows.
void CheckSameCount(const IntList& row_ends, const IntList& key_ends, Checker& checker);

}  // namespace openaclnn::supporting
