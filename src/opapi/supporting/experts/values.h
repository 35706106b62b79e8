// SPDX-License-Identifier: Apache-2.0
// Tensors as wholes and by rows: the elements in order, and rows that are loaded, stored or moved.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/move/broadcast.h"
#include "kernels/move/strided.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// All elements of a tensor in row-major order, as T: float, double or int64_t. One of no tensor
/// reads nothing and writes nothing.
template <class T>
class TensorValues {
 public:
  TensorValues() = default;
  explicit TensorValues(const Tensor& tensor) : place_(tensor.place) {
    if (!tensor.present()) return;
    const Shape shape = ShapeOf(tensor);
    walk_ = Walk(shape, {Steps(shape, tensor)});
    load_ = LoaderOf<T>(tensor.dtype());
    store_ = StorerOf<T>(tensor.dtype());
  }

  bool present() const { return load_ != nullptr; }

  std::vector<T> Read(const Buffers& buffers) const {
    std::vector<T> values;
    if (!present()) return values;
    values.resize(static_cast<size_t>(walk_.count()));
    T* next = values.data();
    walk_.ForRunsInOrder({place_(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
      load_(at[0], walk_.step(0), n, next);
      next += n;
    });
    return values;
  }

  /// There are at least as many values as elements.
  void Write(const Buffers& buffers, const std::vector<T>& values) const {
    if (!present()) return;
    const T* next = values.data();
    walk_.ForRunsInOrder({place_(buffers)}, [&](const Walk::Pointers& at, int64_t n) {
      store_(next, n, at[0], walk_.step(0));
      next += n;
    });
  }

 private:
  Place place_;
  Walk walk_;
  LoadRow<T> load_ = nullptr;
  StoreRow<T> store_ = nullptr;
};

using IntegerValues = TensorValues<int64_t>;
using NumberValues = TensorValues<double>;

/// The rows of a tensor along its last dimension, all others joined.
class TokenRows {
 public:
  TokenRows() = default;
  explicit TokenRows(const Tensor& tensor) : place_(tensor.place) {
    if (!tensor.present()) return;
    view_ = RowView(tensor);
    width_ = tensor.last_dim();
    load_ = LoaderOf<double>(tensor.dtype());
    store_ = StorerOf<double>(tensor.dtype());
    load_float_ = LoaderOf<float>(tensor.dtype());
    store_float_ = StorerOf<float>(tensor.dtype());
  }

  bool present() const { return load_ != nullptr; }
  int64_t width() const { return width_; }

  std::byte* At(const Buffers& buffers, int64_t row) const {
    return view_.Row(place_(buffers), row);
  }
  void Load(const Buffers& buffers, int64_t row, double* to) const {
    load_(At(buffers, row), step(), width_, to);
  }
  void Load(const Buffers& buffers, int64_t row, float* to) const {
    load_float_(At(buffers, row), step(), width_, to);
  }
  void Store(const Buffers& buffers, int64_t row, const double* from) const {
    store_(from, width_, At(buffers, row), step());
  }
  void Store(const Buffers& buffers, int64_t row, const float* from) const {
    store_float_(from, width_, At(buffers, row), step());
  }
  /// Moves a row of another tensor of the same type here, unchanged.
  void Take(const Buffers& buffers, const TokenRows& from, int64_t row, int64_t to) const {
    CopyStrided(from.At(buffers, row), from.view_.step, At(buffers, to), view_.step, width_,
                view_.element_bytes);
  }
  void Clear(const Buffers& buffers, int64_t row) const {
    std::byte* const to = At(buffers, row);
    const auto bytes = static_cast<size_t>(view_.element_bytes);
    if (view_.step == 1) {
      std::memset(to, 0, bytes * static_cast<size_t>(width_));
      return;
    }
    for (int64_t i = 0; i < width_; ++i) std::memset(to + i * step(), 0, bytes);
  }

 private:
  int64_t step() const { return view_.step * view_.element_bytes; }

  Place place_;
  RowView view_;
  int64_t width_ = 0;
  LoadRow<double> load_ = nullptr;
  StoreRow<double> store_ = nullptr;
  LoadRow<float> load_float_ = nullptr;
  StoreRow<float> store_float_ = nullptr;
};

/// "sortedIndices value 3 is 9, expected 0 <= value < 8", for the first value outside.
inline Status CheckRange(const char* name, const std::vector<int64_t>& values, int64_t low,
                         int64_t limit) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < low || values[i] >= limit) {
      return Status(507035, Concat(name, " value ", i, " is ", values[i], ", expected ", low,
                                   " <= value < ", limit));
    }
  }
  return {};
}

/// Refuses a value that is not the one expected: "k value is 9, expected 1 to 8".
template <class Got, class... Expected>
void CheckValue(bool holds, const char* name, const Got& got, Checker& checker,
                const Expected&... expected) {
  checker.That(holds, [&] { return Concat(name, " value is ", got, ", expected ", expected...); });
}

}  // namespace openaclnn::supporting
