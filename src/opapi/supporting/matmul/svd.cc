// SPDX-License-Identifier: Apache-2.0
// Svd: singular values and vectors by rotations of pairs of columns (one-sided Jacobi), in double.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "generated/matmul.h"
#include "supporting/along.h"
#include "supporting/in_turn.h"
#include "supporting/matmul/lines.h"
#include "supporting/matmul/reflections.h"

namespace openaclnn::supporting {
namespace {

/// Eight sums side by side, then pairwise.
double DotProduct(const double* a, const double* b, int64_t n) {
  std::array<double, 8> sums{};
  const int64_t whole = n / 8 * 8;
  for (int64_t i = 0; i < whole; i += 8) {
    for (int64_t k = 0; k < 8; ++k) sums[static_cast<size_t>(k)] += a[i + k] * b[i + k];
  }
  for (int64_t i = whole; i < n; ++i) sums[static_cast<size_t>(i - whole)] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// a, b become c a - s b, s a + c b.
void Rotate(double* a, double* b, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

/// n columns of n elements.
class Columns {
 public:
  explicit Columns(int64_t n) : n_(n), elements_(static_cast<size_t>(n * n)) {}
  double* operator[](int64_t j) { return elements_.data() + j * n_; }

 private:
  int64_t n_;
  std::vector<double> elements_;
};

/// Turns pairs of columns of `w` until all are orthogonal to each other, and those of `turned`, at
/// first of the identity, along with them. Quadratic at the end: a dozen sweeps are many.
void MakeOrthogonal(int64_t n, Columns* w, Columns* turned) {
  constexpr int kMostSweeps = 60;
  const double apart = 0x1p-52 * std::sqrt(static_cast<double>(n));
  for (int64_t j = 0; j < n; ++j) (*turned)[j][j] = 1;
  std::vector<double> squares(static_cast<size_t>(n));
  bool is_done = false;
  for (int sweep = 0; !is_done && sweep < kMostSweeps; ++sweep) {
    is_done = true;
    for (int64_t j = 0; j < n; ++j) {
      squares[static_cast<size_t>(j)] = DotProduct((*w)[j], (*w)[j], n);
    }
    for (int64_t p = 0; p + 1 < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double &a = squares[static_cast<size_t>(p)], &b = squares[static_cast<size_t>(q)];
        const double along = DotProduct((*w)[p], (*w)[q], n);
        if (a == 0 || b == 0 || !(std::abs(along) > apart * std::sqrt(a) * std::sqrt(b))) continue;
        is_done = false;
        const double ratio = (b - a) / (2 * along);
        const double t = std::copysign(1 / (std::abs(ratio) + std::sqrt(1 + ratio * ratio)), ratio);
        const double c = 1 / std::sqrt(1 + t * t);
        Rotate((*w)[p], (*w)[q], n, c, c * t);
        Rotate((*turned)[p], (*turned)[q], n, c, c * t);
        a = std::max(a - t * along, 0.0);
        b += t * along;
      }
    }
  }
}

/// A = left values right', of a matrix of at least as many rows as columns: A = Q R, R' = W J'
/// with columns W that are orthogonal, so that left is Q J and right is W of unit columns.
class Factors {
 public:
  Factors(int64_t rows, int64_t columns)
      : rows_(rows), n_(columns), triangle_(rows, columns), right_(columns), turned_(columns) {}

  /// A column of the matrix to factor, which Factor takes.
  double* Column(int64_t j) { return triangle_.Column(j); }

  /// False where an element is not finite.
  bool Factor() {
    double largest = 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < rows_; ++i) {
        const double size = std::abs(Column(j)[i]);
        if (!(size < INFINITY)) return false;
        largest = std::max(largest, size);
      }
    }
    // Squares of elements near 1 leave the range on no side.
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i < rows_; ++i) Column(j)[i] = std::ldexp(Column(j)[i], -exponent);
    }
    triangle_.Triangulate();
    for (int64_t j = 0; j < n_; ++j) {
      for (int64_t i = 0; i <= j; ++i) right_[i][j] = Column(j)[i];
    }
    MakeOrthogonal(n_, &right_, &turned_);
    SetInOrder(exponent);
    return true;
  }

  double Value(int64_t k) const { return values_[static_cast<size_t>(k)]; }

  /// Column k of left, which has as many as rows; its largest element is positive.
  void Left(int64_t k, std::vector<double>* to) {
    if (k >= n_) return triangle_.Orthogonal(k, to);
    std::fill(to->begin(), to->end(), 0);
    std::copy_n(turned_[order_[static_cast<size_t>(k)]], n_, to->begin());
    triangle_.Apply(to->data());
    const auto largest = std::max_element(
        to->begin(), to->end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    signs_[static_cast<size_t>(k)] = largest != to->end() && *largest < 0 ? -1 : 1;
    for (double& element : *to) element *= signs_[static_cast<size_t>(k)];
  }

  /// Column k of right; that of left comes first.
  void Right(int64_t k, std::vector<double>* to) {
    std::copy_n(right_[order_[static_cast<size_t>(k)]], n_, to->begin());
    for (double& element : *to) element *= signs_[static_cast<size_t>(k)];
  }

 private:
  void SetInOrder(int exponent) {
    std::vector<double> lengths(static_cast<size_t>(n_));
    for (int64_t j = 0; j < n_; ++j) {
      lengths[static_cast<size_t>(j)] = std::sqrt(DotProduct(right_[j], right_[j], n_));
    }
    order_.resize(lengths.size());
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      return lengths[static_cast<size_t>(a)] > lengths[static_cast<size_t>(b)];
    });
    signs_.assign(lengths.size(), 1);
    int64_t rank = 0;
    for (const int64_t j : order_) {
      const double length = lengths[static_cast<size_t>(j)];
      values_.push_back(std::ldexp(length, exponent));
      if (length == 0) continue;
      for (int64_t i = 0; i < n_; ++i) right_[j][i] /= length;
      ++rank;
    }
    if (rank < n_) Complete(rank);
  }

  /// Columns of right that are 0 become orthogonal to the `rank` others.
  void Complete(int64_t rank) {
    Reflections others(n_, rank);
    for (int64_t k = 0; k < rank; ++k) {
      std::copy_n(right_[order_[static_cast<size_t>(k)]], n_, others.Column(k));
    }
    others.Triangulate();
    std::vector<double> column(static_cast<size_t>(n_));
    for (int64_t k = rank; k < n_; ++k) {
      others.Orthogonal(k, &column);
      std::copy(column.begin(), column.end(), right_[order_[static_cast<size_t>(k)]]);
    }
  }

  int64_t rows_, n_;
  Reflections triangle_;
  Columns right_, turned_;
  std::vector<double> values_, signs_;
  std::vector<int64_t> order_;
};

/// Where the singular values and the columns of both factors of a batch's matrices go.
struct Target {
  Rows values;
  Lines left, right;
  int64_t value_count, left_columns, right_columns;
};

/// A matrix that is not finite has factors that are NaN.
void WriteFactors(const Buffers& buffers, const Target& target, const Place& values,
                  StoreRow<double> store, int64_t matrix, bool is_finite, int64_t rows,
                  int64_t columns, Factors* factors) {
  std::vector<double> left(static_cast<size_t>(rows), NAN);
  std::vector<double> right(static_cast<size_t>(columns), NAN);
  for (int64_t k = 0; k < target.value_count; ++k) {
    const double value = is_finite ? factors->Value(k) : NAN;
    store(&value, 1, target.values.At(values(buffers), matrix) + k * target.values.step, 0);
  }
  for (int64_t k = 0; k < std::max(target.left_columns, target.right_columns); ++k) {
    if (is_finite) factors->Left(k, &left);
    if (k < target.left_columns) target.left.Store(buffers, matrix, k, 0, rows, left.data());
    if (k >= target.right_columns) continue;
    if (is_finite) factors->Right(k, &right);
    target.right.Store(buffers, matrix, k, 0, columns, right.data());
  }
}

}  // namespace

void CheckSvd(const SvdParams& p, Checker& checker) {
  const Tensor& self = p.input;
  checker.RankBetween(self, 2, kMaxRank).SameDtype(p.sigma, self);
  for (const Tensor* each : {&p.u, &p.v}) {
    checker.That(!p.computeUV || each->present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(each->name(), " value is null, expected a tensor"); });
  }
  if (!checker.ok()) return;
  const int64_t m = self.dim(self.rank() - 2), n = self.last_dim(), k = std::min(m, n);
  const Shape batch = BatchOf(self);
  Shape values = batch;
  values.push_back(k);
  CheckShape(p.sigma, values, checker);
  if (!p.computeUV) return;
  checker.SameDtype(p.u, self).SameDtype(p.v, self);
  CheckShape(p.u, With(batch, m, p.fullMatrices ? m : k), checker);
  CheckShape(p.v, With(batch, n, p.fullMatrices ? n : k), checker);
}

Plan PlanSvd(const SvdParams& p, const Product&) {
  const Tensor& self = p.input;
  const Shape batch = BatchOf(self);
  const int64_t m = self.dim(self.rank() - 2), n = self.last_dim(), k = std::min(m, n);
  const bool asked = p.computeUV, flat = m < n;
  const bool empty = p.sigma.empty() && (!asked || (p.u.empty() && p.v.empty()));
  if (empty) return Nothing();
  // The elements of a column lie in a line; a flat matrix is turned round.
  const Lines rows(self, batch), a = flat ? rows : rows.Turned();
  const Lines u = asked ? Lines(p.u, batch).Turned() : a,
              v = asked ? Lines(p.v, batch).Turned() : a;
  const int64_t longer = std::max(m, n);
  const int64_t left = !asked ? 0 : p.fullMatrices ? longer : k;
  const Target target = {
      Rows(p.sigma, p.sigma.rank() - 1), flat ? v : u, flat ? u : v, k, left, asked ? k : 0};
  return {0,
          [=, matrices = CountOf(batch), sigma = p.sigma.place,
           store = StorerOf<double>(self.dtype())](const Buffers& buffers) -> Status {
            ParallelRows(matrices, longer * k * k, [&](int64_t matrix) {
              Factors factors(longer, k);
              for (int64_t j = 0; j < k; ++j) {
                a.Load(buffers, matrix, j, 0, longer, factors.Column(j));
              }
              const bool is_finite = factors.Factor();
              WriteFactors(buffers, target, sigma, store, matrix, is_finite, longer, k, &factors);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
