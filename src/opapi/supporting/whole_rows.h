// SPDX-License-Identifier: Apache-2.0
// Rows of whole numbers: INT8 and other integers, INT4 in pairs, eight INT4 in each INT32; and what
// is rounded to them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/simd/target.h"
#include "supporting/along.h"
#include "supporting/family.h"

namespace openaclnn {

/// Ways to make a number whole: to the nearest, ties to even or away from zero; down; up; toward
/// zero.
enum class Snap { kEven, kAway, kDown, kUp, kZero };

/// The loops that are compiled for each instruction set.
struct SnapKernels {
  /// By a Snap: x becomes whole, and at least low and at most high, both of INT32. NaN becomes 0.
  void (*snap[5])(double* x, int64_t n, double low, double high);
};
OPENACLNN_TARGET_DECLARE(extern const SnapKernels kSnapKernels)

inline const SnapKernels& Snaps() { return *OPENACLNN_TARGET_SELECT(kSnapKernels); }

}  // namespace openaclnn

namespace openaclnn::supporting {

/// How many INT4 an element of INT32 holds.
inline constexpr int64_t kEight = 8;

/// The INT4 of the lowest four bits, in two's complement.
inline int Int4Of(unsigned bits) { return static_cast<int>((bits & 15) ^ 8) - 8; }

/// Rows of a tensor along its last dimension, as double.
class LastRows {
 public:
  explicit LastRows(const Tensor& tensor);

  int64_t width() const { return width_; }
  int64_t count() const { return count_; }
  void Load(const Buffers& buffers, int64_t row, double* to) const {
    load_(rows_.At(place_(buffers), row), rows_.step, width_, to);
  }
  void Store(const Buffers& buffers, int64_t row, const double* from) const {
    store_(from, width_, rows_.At(place_(buffers), row), rows_.step);
  }

 private:
  Place place_;
  Rows rows_;
  int64_t width_, count_;
  LoadRow<double> load_;
  StoreRow<double> store_;
};

/// The numbers that elements hold. Usual: INT8 one, INT32 eight INT4. One: each holds one. Two:
/// INT8 holds two INT4.
enum class Holding { kUsual, kOne, kTwo };

/// Rows of whole numbers along the last dimension.
class WholeRows {
 public:
  explicit WholeRows(const Tensor& tensor, Holding holding = Holding::kUsual);

  /// The numbers of a row.
  int64_t width() const { return width_; }
  double low() const { return low_; }
  double high() const { return high_; }
  void Load(const Buffers& buffers, int64_t row, double* to) const;
  /// Makes the values whole, and stores them.
  void Store(const Buffers& buffers, int64_t row, Snap how, double* values) const;

 private:
  std::byte* At(const Buffers& buffers, int64_t row) const {
    return place_(buffers) + rows_(row) * bytes_ / of_byte_;
  }

  Place place_;
  Offsets rows_;
  int32_t dtype_;
  bool eights_, pairs_;      // of INT4, in elements of INT32 and of INT8
  int64_t bytes_, of_byte_;  // of an element, and elements of a byte
  int64_t step_;             // in bytes
  int64_t width_;
  double low_, high_;
  LoadRow<double> load_ = nullptr;
  StoreRow<double> store_ = nullptr;
};

/// Refuses a tensor that does not hold numbers of a shape: INT32 hold eight along the last
/// dimension, and a byte of INT4 holds two neighbours along it.
void CheckWhole(const Tensor& tensor, Shape shape, Checker& checker);
/// The shape of the numbers that a tensor holds.
Shape WholeShape(const Tensor& tensor);
/// A number of an aclDataType is that of the tensor.
void CheckType(const char* name, int64_t value, const Tensor& tensor, Checker& checker);

/// Nothing where a string names no way.
std::optional<Snap> SnapOf(std::string_view name);

}  // namespace openaclnn::supporting
