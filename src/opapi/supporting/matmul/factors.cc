// SPDX-License-Identifier: Apache-2.0
// Inverse and Slogdet by triangular factors with pivots; LinalgCholesky. In double, or in pairs of
// doubles.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "supporting/matmul/lines.h"
#include "supporting/matmul/reflections.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// The factors of a matrix whose rows may change places: a unit lower and an upper triangle in one.
template <class T>
class Factors {
 public:
  explicit Factors(int64_t size)
      : size_(size),
        elements_(static_cast<size_t>(size * size)),
        rows_(static_cast<size_t>(size)) {}

  T* Row(int64_t i) { return elements_.data() + i * size_; }
  T At(int64_t i, int64_t j) const { return elements_[static_cast<size_t>(i * size_ + j)]; }
  /// The row of the matrix that is row i now.
  int64_t RowAt(int64_t i) const { return rows_[static_cast<size_t>(i)]; }
  bool odd() const { return odd_; }
  bool singular() const { return singular_; }

  /// Each pivot is the largest of its column, the first of equal ones.
  void Factorise() {
    for (int64_t i = 0; i < size_; ++i) rows_[static_cast<size_t>(i)] = i;
    for (int64_t k = 0; k < size_; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < size_; ++i) {
        if (std::abs(At(i, k)) > std::abs(At(pivot, k))) pivot = i;
      }
      if (At(pivot, k) == T{0}) singular_ = true;
      if (pivot != k) Swap(pivot, k);
      for (int64_t i = k + 1; i < size_ && At(k, k) != T{0}; ++i) {
        T* const row = Row(i);
        row[k] = DividedBy(row[k], At(k, k));
        for (int64_t j = k + 1; j < size_; ++j) row[j] -= Multiplied(row[k], At(k, j));
      }
    }
  }

  /// x becomes the solution for a right side of which row i of the matrix has `x[i]`.
  void Solve(std::vector<T>* x) const {
    std::vector<T> y(x->size());
    for (int64_t i = 0; i < size_; ++i) {
      TreeSum<T> known;
      for (int64_t j = 0; j < i; ++j) known.Add(Multiplied(At(i, j), y[static_cast<size_t>(j)]));
      y[static_cast<size_t>(i)] = (*x)[static_cast<size_t>(RowAt(i))] - known.Total();
    }
    for (int64_t i = size_; i-- > 0;) {
      TreeSum<T> known;
      for (int64_t j = i + 1; j < size_; ++j) {
        known.Add(Multiplied(At(i, j), (*x)[static_cast<size_t>(j)]));
      }
      (*x)[static_cast<size_t>(i)] = DividedBy(y[static_cast<size_t>(i)] - known.Total(), At(i, i));
    }
  }

 private:
  void Swap(int64_t a, int64_t b) {
    std::swap_ranges(Row(a), Row(a) + size_, Row(b));
    std::swap(rows_[static_cast<size_t>(a)], rows_[static_cast<size_t>(b)]);
    odd_ = !odd_;
  }

  int64_t size_;
  std::vector<T> elements_;
  std::vector<int64_t> rows_;
  bool odd_ = false, singular_ = false;
};

void CheckSquare(const Tensor& self, Checker& checker) {
  checker.RankBetween(self, 2, kMaxRank);
  checker.That(self.rank() < 2 || self.dim(self.rank() - 2) == self.last_dim(), [&] {
    return Concat(self.name(), " shape is ", ShapeText(self), ", expected square matrices");
  });
}

/// Calls body(matrix, factors) for each matrix. Returns the number of a matrix that body refuses by
/// false, the first of them, or -1.
template <class T, class Body>
int64_t ForFactors(const Buffers& buffers, const LinesOf<T>& lines, int64_t matrices, int64_t size,
                   const Body& body) {
  std::vector<char> refused(static_cast<size_t>(matrices));
  ParallelRows(matrices, size * size * size, [&](int64_t matrix) {
    Factors<T> factors(size);
    for (int64_t i = 0; i < size; ++i) lines.Load(buffers, matrix, i, 0, size, factors.Row(i));
    factors.Factorise();
    refused[static_cast<size_t>(matrix)] = !body(matrix, factors);
  });
  const auto first = std::find(refused.begin(), refused.end(), 1);
  return first == refused.end() ? -1 : first - refused.begin();
}

template <class T>
Plan MakeInverse(const InverseParams& p) {
  const Shape batch = BatchOf(p.self);
  const int64_t size = p.self.last_dim(), matrices = CountOf(batch);
  const LinesOf<T> from(p.self, batch), to = LinesOf<T>(p.out, batch).Turned();
  return {0, [=](const Buffers& buffers) -> Status {
            if (size == 0) return {};
            const int64_t bad = ForFactors(buffers, from, matrices, size,
                                           [&](int64_t matrix, const Factors<T>& factors) {
                                             if (factors.singular()) return false;
                                             for (int64_t column = 0; column < size; ++column) {
                                               std::vector<T> x(static_cast<size_t>(size));
                                               x[static_cast<size_t>(column)] = T{1};
                                               factors.Solve(&x);
                                               to.Store(buffers, matrix, column, 0, size, x.data());
                                             }
                                             return true;
                                           });
            if (bad < 0) return {};
            return Status(507035, Concat("self value is a singular matrix ", bad,
                                         ", expected one that has an inverse"));
          }};
}

template <class T>
Plan MakeSlogdet(const SlogdetParams& p) {
  const Shape batch = BatchOf(p.self);
  const int64_t size = p.self.last_dim(), matrices = CountOf(batch);
  const LinesOf<T> from(p.self, batch);
  const Offsets sign_to(p.signOut, p.signOut.rank()), log_to(p.logOut, p.logOut.rank());
  const int64_t sign_bytes = BytesOf(p.signOut), log_bytes = BytesOf(p.logOut);
  const auto store_sign = StoreOf<T>(p.signOut), store_log = StoreOf<T>(p.logOut);
  return {
      0, [=, sign_at = p.signOut.place, log_at = p.logOut.place](const Buffers& buffers) -> Status {
        ForFactors(buffers, from, matrices, size, [&](int64_t matrix, const Factors<T>& factors) {
          T sign = factors.odd() ? T{-1} : T{1};
          TreeSum<double> logs;
          for (int64_t i = 0; i < size; ++i) {
            const T pivot = factors.At(i, i);
            const double length = std::abs(pivot);
            logs.Add(std::log(length));
            sign = length == 0 ? T{0} : Multiplied(sign, DividedBy(pivot, T{length}));
          }
          const T log = logs.Total();
          store_sign(&sign, 1, sign_at(buffers) + sign_to(matrix) * sign_bytes, 0);
          store_log(&log, 1, log_at(buffers) + log_to(matrix) * log_bytes, 0);
          return true;
        });
        return {};
      }};
}

/// Makes rows of the lower factor of a matrix's lower triangle. False if it has none.
bool Cholesky(int64_t size, std::vector<double>* rows) {
  for (int64_t i = 0; i < size; ++i) {
    double* const row = rows->data() + i * size;
    for (int64_t j = 0; j <= i; ++j) {
      const double* const other = rows->data() + j * size;
      const double rest = row[j] - DotOf(row, other, j);
      if (i == j && !(rest > 0)) return false;
      row[j] = i == j ? std::sqrt(rest) : rest / other[j];
    }
  }
  return true;
}

}  // namespace

void CheckInverse(const InverseParams& p, Checker& checker) {
  CheckSquare(p.self, checker);
  checker.SameShapeAndDtype(p.out, p.self);
}

Plan PlanInverse(const InverseParams& p, const Product&) {
  return IsComplex(p.self) ? MakeInverse<Pair>(p) : MakeInverse<double>(p);
}

void CheckSlogdet(const SlogdetParams& p, Checker& checker) {
  CheckSquare(p.self, checker);
  if (!checker.ok()) return;
  for (const Tensor* out : {&p.signOut, &p.logOut}) {
    CheckHolds(p.self, *out, checker);
    CheckShape(*out, BatchOf(p.self), checker);
  }
}

Plan PlanSlogdet(const SlogdetParams& p, const Product&) {
  return IsComplex(p.self) ? MakeSlogdet<Pair>(p) : MakeSlogdet<double>(p);
}

void CheckLinalgCholesky(const LinalgCholeskyParams& p, Checker& checker) {
  CheckSquare(p.self, checker);
  checker.SameShapeAndDtype(p.out, p.self);
}

// The upper factor is the lower one turned round, and so is the triangle that is read.
Plan PlanLinalgCholesky(const LinalgCholeskyParams& p, const Product&) {
  const Shape batch = BatchOf(p.self);
  const int64_t size = p.self.last_dim(), matrices = CountOf(batch);
  const Lines self(p.self, batch), out(p.out, batch);
  const Lines from = p.upper ? self.Turned() : self, to = p.upper ? out.Turned() : out;
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<char> refused(static_cast<size_t>(matrices));
            ParallelRows(matrices, size * size * size, [&](int64_t matrix) {
              std::vector<double> rows(static_cast<size_t>(size * size));
              for (int64_t i = 0; i < size; ++i) {
                from.Load(buffers, matrix, i, 0, i + 1, rows.data() + i * size);
              }
              refused[static_cast<size_t>(matrix)] = !Cholesky(size, &rows);
              for (int64_t i = 0; i < size; ++i) {
                to.Store(buffers, matrix, i, 0, size, rows.data() + i * size);
              }
            });
            const auto bad = std::find(refused.begin(), refused.end(), 1);
            if (bad == refused.end()) return {};
            return Status(507035, Concat("self value is a matrix ", bad - refused.begin(),
                                         " that is not positive definite, expected one that is"));
          }};
}

}  // namespace openaclnn::supporting
