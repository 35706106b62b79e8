// SPDX-License-Identifier: Apache-2.0
// Sequences of batches and packed ones, and the windows of sparse modes.
#include "supporting/attention/sequences.h"

#include <algorithm>
#include <limits>

#include "supporting/attention/lengths.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

int64_t RowsEnd(const std::vector<AttentionSequence>& sequences) {
  return sequences.empty() ? 0 : sequences.back().first_row + sequences.back().rows;
}
int64_t KeysEnd(const std::vector<AttentionSequence>& sequences) {
  return sequences.empty() ? 0 : sequences.back().first_key + sequences.back().keys;
}

/// A sequence from the end of the last one on.
void Append(int64_t row_end, int64_t key_end, std::vector<AttentionSequence>* sequences) {
  const int64_t row = RowsEnd(*sequences), key = KeysEnd(*sequences);
  sequences->push_back(
      {.rows = row_end - row, .keys = key_end - key, .first_row = row, .first_key = key});
}

/// Ends up to the last one that is not 0.
size_t Used(std::span<const int64_t> ends) {
  size_t count = ends.size();
  while (count > 0 && ends[count - 1] == 0) --count;
  return count;
}

}  // namespace

int64_t Saturated(__int128 number) {
  return static_cast<int64_t>(std::clamp<__int128>(number, -kFar, kFar));
}

std::string ListText(std::span<const int64_t> values) {
  constexpr size_t kShown = 8;
  std::string text = "[";
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    text += Concat(i == 0 ? "" : ", ", values[i]);
  }
  return text + (values.size() > kShown ? ", …]" : "]");
}

std::vector<AttentionSequence> Batches(const Heads& q, const Heads& k) {
  std::vector<AttentionSequence> sequences(static_cast<size_t>(q.batches),
                                           {.rows = q.rows, .keys = k.rows});
  for (size_t i = 0; i < sequences.size(); ++i) sequences[i].batch = static_cast<int64_t>(i);
  return sequences;
}

void CheckEnds(const IntList& ends, const Tensor& tensor, int64_t rows, Checker& checker) {
  const std::span<const int64_t> values = ends.values();
  bool fine = !values.empty();
  int64_t last = 0;
  for (size_t i = 0; i < Used(values); ++i) {
    fine = fine && values[i] >= last && values[i] <= rows;
    last = values[i];
  }
  checker.That(fine, [&] {
    return Concat(ends.name(), " value is ", ListText(values),
                  ", expected the ends of sequences in ", tensor.name(),
                  ": one or more, none less than the one before it, at most ", rows);
  });
}

std::vector<AttentionSequence> Packed(const IntList& row_ends, const IntList& key_ends) {
  const std::vector<Span> rows = SpansOf(row_ends.values()), keys = SpansOf(key_ends.values());
  std::vector<AttentionSequence> sequences;
  for (size_t i = 0; i < rows.size(); ++i) {
    sequences.push_back({.rows = rows[i].count,
                         .keys = keys[i].count,
                         .first_row = rows[i].first,
                         .first_key = keys[i].first});
  }
  return sequences;
}

void Sight::Set(std::vector<AttentionSequence>* sequences) const {
  if (mode == 1) return;
  // Modes 7 and 8 are modes 3 and 2, except for one sequence that has rows: the last one in mode 7,
  // the first one in mode 8. Rows were cut off from it, so it is a band.
  const auto has_rows = [](const AttentionSequence& of) { return of.rows > 0; };
  const AttentionSequence* cut = nullptr;
  if (mode == 8) {
    const auto first = std::find_if(sequences->begin(), sequences->end(), has_rows);
    if (first != sequences->end()) cut = &*first;
  } else if (mode == 7) {
    const auto last = std::find_if(sequences->rbegin(), sequences->rend(), has_rows);
    if (last != sequences->rend()) cut = &*last;
  }
  for (size_t i = 0; i < sequences->size(); ++i) {
    AttentionSequence& of = (*sequences)[i];
    const bool band = mode == 0 || mode == 4 || &of == cut;
    // Keys are counted from the first one, or so that the last row is at the last key.
    const bool from_first = mode == 0 || mode == 2 || (mode == 8 && !band);
    const int64_t shift = from_first ? 0 : of.keys - of.rows;
    of.before = band ? Saturated(__int128{before} - shift) : kFar;
    of.after = Saturated(__int128{band ? after : 0} + shift);
    if (has_prefix()) of.prefix = prefix[i];
  }
}

void AppendRest(const Heads& q, const Heads& k, std::vector<AttentionSequence>* sequences) {
  if (RowsEnd(*sequences) < q.rows) Append(q.rows, KeysEnd(*sequences), sequences);
  if (KeysEnd(*sequences) < k.rows) Append(q.rows, k.rows, sequences);
}

void CheckPrefix(const IntList& prefix, std::span<const AttentionSequence> sequences,
                 Checker& checker) {
  const std::span<const int64_t> values = prefix.values();
  bool fine = values.size() == sequences.size();
  for (size_t i = 0; fine && i < values.size(); ++i) {
    fine = values[i] >= 0 && values[i] <= sequences[i].keys;
  }
  checker.That(fine, [&] {
    return Concat(prefix.name(), " value is ", ListText(values), ", expected for each of ",
                  sequences.size(), " sequences a number of its keys");
  });
}

std::optional<std::vector<int64_t>> BitsBefore(std::span<const AttentionSequence> sequences,
                                               int64_t heads) {
  std::vector<int64_t> before = {0};
  __int128 bits = 0;
  for (const AttentionSequence& of : sequences) {
    bits += static_cast<__int128>(of.rows) * of.keys;
    if (bits > kFar || bits * heads > kFar) return std::nullopt;
    before.push_back(static_cast<int64_t>(bits * heads));
  }
  return before;
}

}  // namespace openaclnn::supporting
