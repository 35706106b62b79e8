// SPDX-License-Identifier: Apache-2.0
// The sequences of a call of attention, and the keys that their rows see.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

/// "[2, 3]", the first values of many.
std::string ListText(std::span<const int64_t> values);

/// The nearest int64_t that can be negated.
int64_t Saturated(__int128 number);

/// A sequence for each batch, all of whose keys are seen.
std::vector<AttentionSequence> Batches(const Heads& q, const Heads& k);

/// Checks the ends of packed sequences in `rows` rows of a tensor. Ends must not decrease, except
/// zeros after all others, which stand for empty sequences.
void CheckEnds(const IntList& ends, const Tensor& tensor, int64_t rows, Checker& checker);

/// A sequence for each end of rows and of keys. Both lists must have the same length.
std::vector<AttentionSequence> Packed(const IntList& row_ends, const IntList& key_ends);

/// Appends the rows and the keys behind packed sequences, as sequences that see nothing.
void AppendRest(const Heads& q, const Heads& k, std::vector<AttentionSequence>* sequences);

/// The keys that rows see, by sparseMode. The mask is read only in modes 0 and 1.
struct Sight {
  int64_t mode, before, after;
  std::span<const int64_t> prefix;  // of each sequence, in modes 5 and 6

  bool reads_mask() const { return mode <= 1; }
  bool has_prefix() const { return mode == 5 || mode == 6; }
  void Set(std::vector<AttentionSequence>* sequences) const;
};

/// Checks the lengths of prefixes: one for each sequence, none of them longer than its keys.
void CheckPrefix(const IntList& prefix, std::span<const AttentionSequence> sequences,
                 Checker& checker);

/// The number of dropout bits before each sequence, and at the end the number of all. Empty if it
/// exceeds int64_t.
std::optional<std::vector<int64_t>> BitsBefore(std::span<const AttentionSequence> sequences,
                                               int64_t heads);

}  // namespace openaclnn::supporting
