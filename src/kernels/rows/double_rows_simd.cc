// SPDX-License-Identifier: Apache-2.0
// Rows of double and of integers, compiled once for each instruction set.
#include <bit>

#include "kernels/rows/double_fold-inl.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/softmax_rows.h"
#include "kernels/simd/double_lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

template <bool kLargest>
struct Extreme {
  /// The earlier of equals; NaN where there is one.
  template <class V>
  static V Join(V a, V b) {
    const auto nan = b != b;  // NOLINT(misc-redundant-expression): of a vector
    if constexpr (kLargest) {
      return ((b > a) | nan) ? b : a;
    } else {
      return ((b < a) | nan) ? b : a;
    }
  }
};

/// FLOAT is read where it lies; what is of another type has just been widened.
template <class Stored>
__attribute__((always_inline)) inline void AskFrom(const Stored* x) {
  if constexpr (__is_same(Stored, float)) __builtin_prefetch(x, /*rw=*/0, /*locality=*/2);
}

/// A row's terms as its elements are.
template <class T, class Stored>
struct Elements {
  Lanes<T> At(int64_t i) const { return Lanes<T>::Load(x + i); }
  Lanes<T> Tail(int64_t i, int64_t n) const { return Lanes<T>::LoadTail(x + i, n, rest); }
  void Ask(int64_t i) const { AskFrom(x + i); }
  const Stored* x;
  T rest;
};

template <class Stored>
struct Squares {
  static Lanes<double> Of(Lanes<double> a) {
    for (auto& part : a.part) part *= part;
    return a;
  }
  Lanes<double> At(int64_t i) const { return Of(Lanes<double>::Load(x + i)); }
  Lanes<double> Tail(int64_t i, int64_t n) const {
    return Of(Lanes<double>::LoadTail(x + i, n, 0));
  }
  void Ask(int64_t i) const { AskFrom(x + i); }
  const Stored* x;
};

struct Products {
  static Lanes<double> Of(Lanes<double> a, const Lanes<double>& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] *= b.part[i];
    return a;
  }
  Lanes<double> At(int64_t i) const {
    return Of(Lanes<double>::Load(x + i), Lanes<double>::Load(y + i));
  }
  Lanes<double> Tail(int64_t i, int64_t n) const {
    return Of(Lanes<double>::LoadTail(x + i, n, 0), Lanes<double>::LoadTail(y + i, n, 0));
  }
  const double *x, *y;
};

template <class Stored>
struct Distances {
  Lanes<double> Of(Lanes<double> a) const {
    for (auto& part : a.part) part -= from;
    return Squares<double>::Of(a);
  }
  Lanes<double> At(int64_t i) const { return Of(Lanes<double>::Load(x + i)); }
  Lanes<double> Tail(int64_t i, int64_t n) const {
    return Of(Lanes<double>::LoadTail(x + i, n, from));
  }
  const Stored* x;
  double from;
};

template <class T>
constexpr T NothingOf(Plus) {
  return 0;
}
template <class T, bool kLargest>
constexpr T NothingOf(Extreme<kLargest>) {
  if constexpr (T(0.5) != 0) {
    return kLargest ? -__builtin_inf() : __builtin_inf();
  } else {
    return kLargest ? INT64_MIN : INT64_MAX;
  }
}

template <class T, class Op, class Stored>
T FoldRow(const Stored* x, int64_t n) {
  T nothing = 0;
  if constexpr (!__is_same(Op, Plus)) nothing = NothingOf<T>(Op());
  return Fold<T, Op>(Elements<T, Stored>{x, nothing}, n, nothing);
}

template <class T, class Op, int kRows, bool kSquare, class Stored>
void FoldSomeRows(const Stored* const* rows, int64_t width, T* acc) {
  const Stored* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = rows[r];
#pragma GCC ivdep
  for (int64_t j = 0; j < width; ++j) {
    T sum = acc[j];
    for (int r = 0; r < kRows; ++r) {
      const T term = static_cast<T>(row[r][j]);
      sum = Op::Join(sum, kSquare ? term * term : term);
    }
    acc[j] = sum;
  }
}

template <class T, class Op, bool kSquare, class Stored>
void FoldRows(const Stored* const* rows, int64_t count, int64_t width, T* acc) {
  switch (count) {
    case 1:
      return FoldSomeRows<T, Op, 1, kSquare>(rows, width, acc);
    case 2:
      return FoldSomeRows<T, Op, 2, kSquare>(rows, width, acc);
    case 3:
      return FoldSomeRows<T, Op, 3, kSquare>(rows, width, acc);
    default:
      return FoldSomeRows<T, Op, 4, kSquare>(rows, width, acc);
  }
}

template <class T, class Op>
void Join(const T* term, int64_t width, T* acc) {
  FoldSomeRows<T, Op, 1, false>(&term, width, acc);
}

template <class Stored>
double FoldSquares(const Stored* x, int64_t n) {
  return Fold<double, Plus>(Squares<Stored>{x}, n, 0.0);
}

// Signed integers are added as unsigned ones.
int64_t SumIntegers(const int64_t* x, int64_t n) {
  const auto* terms = reinterpret_cast<const uint64_t*>(x);
  return static_cast<int64_t>(FoldRow<uint64_t, Plus>(terms, n));
}

void SumIntegerRows(const int64_t* const* rows, int64_t count, int64_t width, int64_t* acc) {
  const uint64_t* terms[4] = {};
  for (int64_t r = 0; r < count; ++r) terms[r] = reinterpret_cast<const uint64_t*>(rows[r]);
  FoldRows<uint64_t, Plus, false>(terms, count, width, reinterpret_cast<uint64_t*>(acc));
}

void JoinIntegers(const int64_t* term, int64_t width, int64_t* acc) {
  SumIntegerRows(&term, 1, width, acc);
}

double SumOfProducts(const double* x, const double* y, int64_t n) {
  return Fold<double, Plus>(Products{x, y}, n, 0.0);
}

template <class Stored>
double SumOfDistances(const Stored* x, double from, int64_t n) {
  return Fold<double, Plus>(Distances<Stored>{x, from}, n, 0.0);
}

/// y[i] = f(lanes of x, lanes of z) for all i.
template <class Function>
void ForLanes(const double* x, const double* z, int64_t n, double* y, const Function& function) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    function(Lanes<double>::Load(x + i), Lanes<double>::Load(z + i)).Store(y + i);
  }
  if (i == n) return;
  double rest[kLanes];
  function(Lanes<double>::LoadTail(x + i, n - i, 0.0), Lanes<double>::LoadTail(z + i, n - i, 0.0))
      .Store(rest);
  for (int64_t j = 0; j < n - i; ++j) y[i + j] = rest[j];
}

double ExpRow(const double* x, double shift, int64_t n, double* y) {
  ForLanes(
      x, x, n, y, [=](auto a, auto) __attribute__((always_inline)) { return Exp(a - shift); });
  return FoldRow<double, Plus>(y, n);
}

double Largest(const double* x, int64_t n) { return FoldRow<double, Extreme<true>>(x, n); }

void ScaleTo(const double* x, double factor, int64_t n, double* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = AsResult(x[i] * factor);
}

void Subtract(const double* x, double shift, double more, int64_t n, double* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = AsResult(x[i] - shift - more);
}

void Scale(double* x, double shift, double factor, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = (x[i] - shift) * factor;
}

void Divide(double* x, double divisor, int64_t n) {
  if (InverseIsExact(divisor)) return Scale(x, 0, 1 / divisor, n);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] /= divisor;
}

void Weigh(double* x, const double* weight, const double* bias, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * weight[i] + bias[i];
}

void Move(double* x, double weight, double bias, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * weight + bias;
}

void Multiply(double* x, const double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] *= y[i];
}

void AddProducts(double* sum, const double* x, const double* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i] * y[i];
}

void Project(double* x, const double* y, double factor, double shift, double slope, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = factor * (x[i] - shift - y[i] * slope);
}

void SoftmaxGradient(const double* g, const double* y, double sum, int64_t n, double* dx) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] = AsResult(y[i] * (g[i] - sum));
}

void LogSoftmaxGradient(const double* g, const double* y, double sum, int64_t n, double* dx) {
  ForLanes(
      g, y, n, dx, [=](auto a, auto b) __attribute__((always_inline)) {
        auto result = a - Exp(b) * sum;
        for (auto& part : result.part) part = AsResult(part);
        return result;
      });
}

template <class Op>
constexpr RowFold<double> FoldOf(double nothing) {
  return {FoldRow<double, Op, double>,
          FoldRow<double, Op, float>,
          FoldRows<double, Op, false, double>,
          FoldRows<double, Op, false, float>,
          Join<double, Op>,
          nothing};
}

template <bool kLargest>
constexpr RowFold<int64_t> IntegerExtreme(int64_t nothing) {
  using Op = Extreme<kLargest>;
  return {FoldRow<int64_t, Op, int64_t>,
          nullptr,
          FoldRows<int64_t, Op, false, int64_t>,
          nullptr,
          Join<int64_t, Op>,
          nothing};
}

}  // namespace

extern const DoubleRowKernels kDoubleRowKernels = {
    FoldOf<Plus>(0),
    {FoldSquares<double>, FoldSquares<float>, FoldRows<double, Plus, true, double>,
     FoldRows<double, Plus, true, float>, Join<double, Plus>, 0},
    FoldOf<Extreme<true>>(-__builtin_inf()),
    FoldOf<Extreme<false>>(__builtin_inf()),
    {SumIntegers, nullptr, SumIntegerRows, nullptr, JoinIntegers, 0},
    IntegerExtreme<true>(INT64_MIN),
    IntegerExtreme<false>(INT64_MAX),
    SumOfProducts,
    SumOfDistances<double>,
    SumOfDistances<float>,
    Scale,
    Divide,
    Weigh,
    Move,
    Multiply,
    AddProducts,
    Project,
};

extern const SoftmaxKernels<double> kDoubleSoftmax = {
    Largest,
    ExpRow,
    ScaleTo,
    Subtract,
    FoldRow<double, Plus>,
    SumOfProducts,
    SoftmaxGradient,
    LogSoftmaxGradient,
};

}  // namespace openaclnn::OPENACLNN_TARGET
