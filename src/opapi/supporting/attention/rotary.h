// SPDX-License-Identifier: Apache-2.0
// Pairs of numbers that are rotated by angles, and tensors that are read as rows of such numbers.
#pragma once

#include <utility>

#include "kernels/move/broadcast.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// The modes of rotary embedding: which numbers are a pair, and where both go.
enum RotaryMode { kHalves, kNeighbours, kQuarters, kNeighboursToHalves };

/// The pairs among `width` numbers.
struct RotaryPairs {
  RotaryMode mode;
  int64_t width;

  /// The places that the i-th pair comes from.
  std::pair<int64_t, int64_t> From(int64_t i) const {
    switch (mode) {
      case kNeighbours:
      case kNeighboursToHalves:
        return {2 * i, 2 * i + 1};
      case kQuarters: {
        const int64_t quarter = width / 4, first = i < quarter ? i : i + quarter;
        return {first, first + quarter};
      }
      case kHalves:
        break;
    }
    return {i, i + width / 2};
  }
  /// The places that the i-th pair goes to.
  std::pair<int64_t, int64_t> To(int64_t i) const {
    return mode == kNeighboursToHalves ? std::pair(i, i + width / 2) : From(i);
  }
};

/// A tensor, broadcast to a shape, as rows of its last dimension.
struct BroadcastRows {
  BroadcastRows(const Shape& shape, const Tensor& tensor)
      : place(tensor.place),
        load(LoaderOf<double>(tensor.dtype())),
        store(StorerOf<double>(tensor.dtype())) {
    const Steps steps(shape, tensor);
    const auto lead = static_cast<uint32_t>(shape.size() - 1);
    rows = Offsets(shape.data(), steps.bytes.data(), lead);
    step = steps.bytes[lead];
  }
  void Load(const Buffers& buffers, int64_t row, int64_t n, double* to) const {
    load(place(buffers) + rows(row), step, n, to);
  }
  void Store(const Buffers& buffers, int64_t row, int64_t n, const double* from) const {
    store(from, n, place(buffers) + rows(row), step);
  }

  Place place;
  Offsets rows;  // in bytes
  int64_t step;
  LoadRow<double> load;
  StoreRow<double> store;
};

/// Turns the pairs of a row: `to` becomes x cos + turned x sin.
void TurnPairs(const RotaryPairs& pairs, const double* x, const double* cos, const double* sin,
               double* to);

/// Turns the pairs of all rows of x, which `out` may be.
Plan PlanRotation(const Tensor& x, const Tensor& cos, const Tensor& sin, int64_t mode,
                  const Tensor& out);

/// Checks the length of rows of `x` in this mode, and that both angles can be broadcast to x.
void CheckRotated(const Tensor& x, int64_t mode, const Tensor& cos, const Tensor& sin,
                  Checker& checker);

}  // namespace openaclnn::supporting
