// SPDX-License-Identifier: Apache-2.0
// The addends of attention's scores (pse), by pseType.
#pragma once

#include <cstdint>

#include "supporting/attention/heads.h"

namespace openaclnn::supporting {

struct PositionShift {
  /// Numbers are added to products before these are scaled.
  static constexpr int64_t kScaled = 1;
  /// Distances, or roots of distances, times a slope for each head.
  static constexpr int64_t kDistances = 2, kRoots = 3;

  PositionShift() = default;
  /// `row` and `key` are the places of a sequence's first row and key.
  PositionShift(const Tensor& tensor, int64_t pse_type, int64_t row, int64_t key);

  bool of_slopes() const { return type == kDistances || type == kRoots; }

  /// Checks a tensor for scores of (batch, head, row, key).
  void Check(const Tensor& tensor, const Shape& scores, Checker& checker) const;
  void Set(Attention* attention) const;

  bool given = false;
  int64_t type = kScaled;
  Place place;
  ScoreView numbers;
  AttentionSlopes slopes{};
};

/// The place of the first row or key, or 0.
int64_t FirstOf(const IntList& start);
/// Checks that a list has at most one place.
void CheckStart(const IntList& start, Checker& checker);

}  // namespace openaclnn::supporting
