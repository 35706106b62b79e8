// SPDX-License-Identifier: Apache-2.0
// Elements: a tensor that is read and written one number at a time.
#pragma once

#include <vector>

#include "kernels/move/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// The elements of a tensor by their number in row-major order; one that is absent has a default.
class Elements {
 public:
  Elements(const Tensor& tensor, double missing);

  double Get(const Buffers& buffers, int64_t i) const;
  /// Does nothing when it is absent or without elements.
  void Set(const Buffers& buffers, int64_t i, double value) const;
  /// Sets elements begin … begin + n - 1.
  void SetRun(const Buffers& buffers, int64_t begin, const double* values, int64_t n) const;
  void SetAll(const Buffers& buffers, const std::vector<double>& values) const;
  /// Empty when it is absent.
  std::vector<double> All(const Buffers& buffers) const;
  /// All elements as integers.
  std::vector<int64_t> AllWhole(const Buffers& buffers) const;
  static double At(const std::vector<double>& all, size_t i, double missing) {
    return all.empty() ? missing : all[i];
  }

 private:
  Place place_;
  int64_t count_ = 0;
  double missing_;
  Offsets offsets_;
  int64_t bytes_ = 0;
  LoadRow<double> load_ = nullptr;
  LoadRow<int64_t> load_whole_ = nullptr;
  StoreRow<double> store_ = nullptr;
};

}  // namespace openaclnn::supporting
