// SPDX-License-Identifier: Apache-2.0
// Softmax and its logarithm along one dimension, and their gradients.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "generated/activation.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/softmax_rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// A row of a tensor.
template <class T>
struct Line {
  std::byte* first;
  int64_t step, width;
  LoadRow<T> load;
  StoreRow<T> store;
  bool as_is;  // elements of type T that follow each other

  int64_t pieces() const { return DivideUp(width, kSoftmaxPiece); }
  int64_t Length(int64_t piece) const {
    return std::min(kSoftmaxPiece, width - piece * kSoftmaxPiece);
  }
  std::byte* At(int64_t piece) const { return first + piece * kSoftmaxPiece * step; }
  /// Calls compute(where the piece's elements go).
  template <class Compute>
  void Put(int64_t piece, T* room, const Compute& compute) const {
    if (as_is) return compute(reinterpret_cast<T*>(At(piece)));
    compute(room);
    store(room, Length(piece), At(piece), step);
  }
};

/// The pieces of a row that is read, one at a time: in the second-level cache, and on the stack,
/// where no memory can be short.
template <class T>
class Reader {
 public:
  explicit Reader(const Line<T>& line) : line_(line) {}

  const T* operator[](int64_t piece) {
    if (line_.as_is) return reinterpret_cast<const T*>(line_.At(piece));
    if (held_ != piece) line_.load(line_.At(piece), line_.step, line_.Length(piece), room_);
    held_ = piece;
    return room_;
  }

 private:
  const Line<T>& line_;
  int64_t held_ = -1;
  T room_[kSoftmaxPiece];
};

template <class T>
constexpr int32_t kDtype = std::is_same_v<T, double> ? ACL_DOUBLE : ACL_FLOAT;

template <class T>
const SoftmaxKernels<T>& KernelsOf() {
  if constexpr (std::is_same_v<T, double>) return *OPENACLNN_TARGET_SELECT(kDoubleSoftmax);
  if constexpr (std::is_same_v<T, float>) return *OPENACLNN_TARGET_SELECT(kFloatSoftmax);
}

/// out row = f(row, or two rows). Inputs are the first operands, out the last.
template <class T>
Plan MakeAlong(const AlongParams& p, void (*function)(const SoftmaxKernels<T>&, const Line<T>*)) {
  constexpr size_t kMostTensors = 3;
  const Extent extent = ExtentOf(p.tensors[0], p.dim);
  const size_t count = p.tensors.size();
  std::vector<Rows> rows;
  std::vector<Line<T>> lines;
  for (const Operand& tensor : p.tensors) {
    const Rows& own = rows.emplace_back(tensor, extent.dim);
    const bool as_is = tensor.dtype() == kDtype<T> && (own.step == own.bytes || extent.width <= 1);
    lines.push_back({nullptr, own.step, extent.width, LoaderOf<T>(tensor.dtype()),
                     StorerOf<T>(tensor.dtype()), as_is});
  }
  const SoftmaxKernels<T>& kernels = KernelsOf<T>();
  return {0, [=, &kernels](const Buffers& buffers) -> Status {
            if (extent.width == 0) return {};
            ParallelRows(extent.rows, extent.width, [&](int64_t row) {
              Line<T> own[kMostTensors];
              for (size_t k = 0; k < count; ++k) {
                own[k] = lines[k];
                own[k].first = rows[k].At(buffers.As<std::byte>(k), row);
              }
              function(kernels, own);
            });
            return {};
          }};
}

/// In double if a tensor is.
bool InDouble(const AlongParams& p) {
  return std::any_of(p.tensors.begin(), p.tensors.end(),
                     [](const Operand& tensor) { return tensor.dtype() == ACL_DOUBLE; });
}

template <class T>
T LargestOf(const SoftmaxKernels<T>& kernels, const Line<T>& x, Reader<T>& values) {
  T max = kernels.largest(values[0], x.Length(0));
  for (int64_t i = 1; i < x.pieces(); ++i) {
    const T piece = kernels.largest(values[i], x.Length(i));
    max = piece > max ? piece : max;
  }
  return max;
}

// y = exp(x - max) / sum exp(x - max)
template <class T>
void SoftmaxRow(const SoftmaxKernels<T>& kernels, const Line<T>* lines) {
  const Line<T>&x = lines[0], &y = lines[1];
  Reader<T> values(x);
  T powers[kSoftmaxPiece];
  const T max = LargestOf(kernels, x, values);
  const auto power = [&](int64_t i) { return kernels.exp(values[i], max, x.Length(i), powers); };
  const T factor = 1 / SumParts(0, x.pieces(), power);
  for (int64_t i = 0; i < x.pieces(); ++i) {
    if (x.pieces() > 1) power(i);
    y.Put(i, powers, [&](T* to) { kernels.scale(powers, factor, x.Length(i), to); });
  }
}

// y = x - max - log sum exp(x - max)
template <class T>
void LogSoftmaxRow(const SoftmaxKernels<T>& kernels, const Line<T>* lines) {
  const Line<T>&x = lines[0], &y = lines[1];
  Reader<T> values(x);
  T powers[kSoftmaxPiece];
  const T max = LargestOf(kernels, x, values);
  const double sum = SumParts(
      0, x.pieces(), [&](int64_t i) { return kernels.exp(values[i], max, x.Length(i), powers); });
  const T more = static_cast<T>(std::log(sum));
  for (int64_t i = 0; i < x.pieces(); ++i) {
    y.Put(i, powers, [&](T* to) { kernels.subtract(values[i], max, more, x.Length(i), to); });
  }
}

// dx = y * (g - sum g*y)
template <class T>
void SoftmaxGradientRow(const SoftmaxKernels<T>& kernels, const Line<T>* lines) {
  const Line<T>&g = lines[0], &y = lines[1], &dx = lines[2];
  Reader<T> left(g), right(y);
  T room[kSoftmaxPiece];
  const T sum = SumParts(
      0, g.pieces(), [&](int64_t i) { return kernels.products(left[i], right[i], g.Length(i)); });
  for (int64_t i = 0; i < g.pieces(); ++i) {
    dx.Put(i, room,
           [&](T* to) { kernels.softmax_gradient(left[i], right[i], sum, g.Length(i), to); });
  }
}

// dx = g - exp(y) * sum g
template <class T>
void LogSoftmaxGradientRow(const SoftmaxKernels<T>& kernels, const Line<T>* lines) {
  const Line<T>&g = lines[0], &y = lines[1], &dx = lines[2];
  Reader<T> left(g), right(y);
  T room[kSoftmaxPiece];
  const T sum =
      SumParts(0, g.pieces(), [&](int64_t i) { return kernels.sum(left[i], g.Length(i)); });
  for (int64_t i = 0; i < g.pieces(); ++i) {
    dx.Put(i, room,
           [&](T* to) { kernels.log_softmax_gradient(left[i], right[i], sum, g.Length(i), to); });
  }
}

}  // namespace

void CheckAlong(const AlongParams& p, Checker& checker) {
  CheckDim(p.tensors[0], p.dim, checker);
  for (size_t i = 1; i < p.tensors.size(); ++i) {
    CheckShape(p.tensors[i], ShapeOf(p.tensors[0]), checker);
  }
}

Plan PlanSoftmax(const AlongParams& p, const Product&) {
  return InDouble(p) ? MakeAlong(p, SoftmaxRow<double>) : MakeAlong(p, SoftmaxRow<float>);
}

Plan PlanLogSoftmax(const AlongParams& p, const Product&) {
  return InDouble(p) ? MakeAlong(p, LogSoftmaxRow<double>) : MakeAlong(p, LogSoftmaxRow<float>);
}

Plan PlanSoftmaxGradient(const AlongParams& p, const Product&) {
  return InDouble(p) ? MakeAlong(p, SoftmaxGradientRow<double>)
                     : MakeAlong(p, SoftmaxGradientRow<float>);
}

Plan PlanLogSoftmaxGradient(const AlongParams& p, const Product&) {
  return InDouble(p) ? MakeAlong(p, LogSoftmaxGradientRow<double>)
                     : MakeAlong(p, LogSoftmaxGradientRow<float>);
}

}  // namespace openaclnn::supporting
