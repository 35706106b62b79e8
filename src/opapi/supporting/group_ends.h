// SPDX-License-Identifier: Apache-2.0
// Groups of neighbouring rows, whose ends or lengths a tensor in device memory has.
#pragma once

#include <algorithm>
#include <vector>

#include "supporting/elements.h"

namespace openaclnn::supporting {

class GroupEnds {
 public:
  /// An absent tensor has one group with all rows.
  GroupEnds(const Tensor& index, int64_t rows, bool lengths)
      : name_(index.name()),
        elements_(index, 0),
        present_(index.present()),
        rows_(rows),
        lengths_(lengths) {}

  /// 507035 for groups that leave the rows or end before they begin, and if `whole` for groups that
  /// leave rows out.
  Status Read(const Buffers& buffers, bool whole, std::vector<int64_t>* ends) const;

  /// The group of a row; as many as there are ends for a row behind them all.
  static size_t Of(const std::vector<int64_t>& ends, int64_t row) {
    return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
  }

 private:
  const char* name_;
  Elements elements_;
  bool present_;
  int64_t rows_;
  bool lengths_;
};

}  // namespace openaclnn::supporting
