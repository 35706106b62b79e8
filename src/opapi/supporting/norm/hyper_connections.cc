// SPDX-License-Identifier: Apache-2.0
// Hyper-connections, whose residual is several streams mixed by doubly stochastic matrices:
// MhcPost, MhcSinkhorn and their gradients. In double.
#include <algorithm>
#include <cmath>
#include <vector>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

using Doubles = std::vector<double>;

/// Elements of one token.
Doubles TokenOf(const Elements& from, const Buffers& buffers, int64_t token, int64_t n) {
  Doubles values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = from.Get(buffers, token * n + i);
  return values;
}

/// The sum of a[i] b[i] for n pairs, whose neighbours lie apart by the steps.
double Dot(const double* a, int64_t a_step, const double* b, int64_t b_step, int64_t n) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < n; ++i) sum.Add(a[i * a_step] * b[i * b_step]);
  return sum.Total();
}

struct Streams {
  int64_t tokens, streams, width;
};

/// x is (…, streams, width).
Streams StreamsOf(const Tensor& x) {
  const int64_t streams = x.dim(x.rank() - 2), width = x.last_dim();
  return {*x.count() / (streams * width), streams, width};
}

/// x's shape without its last `less` dimensions, then `more`.
Shape Like(const Tensor& x, uint32_t less, std::initializer_list<int64_t> more) {
  Shape shape = ShapeOf(x);
  shape.resize(shape.size() - less);
  shape.insert(shape.end(), more.begin(), more.end());
  return shape;
}

/// Checks what the forward and the gradient have.
template <class P>
void CheckStreams(const P& p, const Tensor& y, Checker& checker) {
  const Tensor& x = p.x;
  checker.RankBetween(x, 3, 4).NotEmpty(x);
  if (!checker.ok()) return;
  const int64_t streams = x.dim(x.rank() - 2), width = x.last_dim();
  CheckShape(y, ShapeOf(x), checker);
  if (p.hRes.present()) CheckShape(p.hRes, Like(x, 1, {streams}), checker);
  CheckShape(p.hOut, Like(x, 2, {width}), checker);
  CheckShape(p.hPost, Like(x, 2, {streams}), checker);
}

}  // namespace

void CheckMhcPost(const MhcPostParams& p, Checker& checker) { CheckStreams(p, p.y, checker); }

Plan PlanMhcPost(const MhcPostParams& p, const Product&) {
  const Streams of = StreamsOf(p.x);
  const Elements x(p.x, 0), mix(p.hRes, 0), out(p.hOut, 0), post(p.hPost, 0), y(p.y, 0);
  return {0, [=, mixed = p.hRes.present()](const Buffers& buffers) -> Status {
            const int64_t n = of.streams, width = of.width;
            ParallelRows(of.tokens, n * n * width, [&](int64_t token) {
              const Doubles in = TokenOf(x, buffers, token, n * width),
                            from = TokenOf(out, buffers, token, width),
                            weights = TokenOf(post, buffers, token, n);
              const Doubles shares = mixed ? TokenOf(mix, buffers, token, n * n) : Doubles();
              Doubles result(in.size());
              for (int64_t k = 0; k < n; ++k) {
                for (int64_t d = 0; d < width; ++d) {
                  const auto at = static_cast<size_t>(k * width + d);
                  const double carried =
                      mixed ? Dot(shares.data() + k, n, in.data() + d, width, n) : in[at];
                  result[at] =
                      carried + from[static_cast<size_t>(d)] * weights[static_cast<size_t>(k)];
                }
              }
              y.SetRun(buffers, token * n * width, result.data(), n * width);
            });
            return {};
          }};
}

void CheckMhcPostGradient(const MhcPostGradientParams& p, Checker& checker) {
  CheckStreams(p, p.gradY, checker);
  if (!checker.ok()) return;
  CheckShape(p.gradX, ShapeOf(p.x), checker);
  CheckShape(p.gradHRes, Like(p.x, 1, {p.x.dim(p.x.rank() - 2)}), checker);
  CheckShape(p.gradHOut, ShapeOf(p.hOut), checker);
  CheckShape(p.gradHPost, ShapeOf(p.hPost), checker);
}

Plan PlanMhcPostGradient(const MhcPostGradientParams& p, const Product&) {
  const Streams of = StreamsOf(p.x);
  const Elements x(p.x, 0), mix(p.hRes, 0), out(p.hOut, 0), post(p.hPost, 0), dy(p.gradY, 0),
      by_x(p.gradX, 0), by_mix(p.gradHRes, 0), by_out(p.gradHOut, 0), by_post(p.gradHPost, 0);
  return {
      0, [=, mixed = p.hRes.present()](const Buffers& buffers) -> Status {
        const int64_t n = of.streams, width = of.width;
        ParallelRows(of.tokens, n * n * width, [&](int64_t token) {
          const Doubles in = TokenOf(x, buffers, token, n * width),
                        g = TokenOf(dy, buffers, token, n * width),
                        from = TokenOf(out, buffers, token, width),
                        weights = TokenOf(post, buffers, token, n);
          const Doubles shares = mixed ? TokenOf(mix, buffers, token, n * n) : Doubles();
          for (int64_t j = 0; j < n; ++j) {
            for (int64_t d = 0; d < width; ++d) {
              const int64_t at = j * width + d;
              by_x.Set(buffers, token * n * width + at,
                       mixed ? Dot(shares.data() + j * n, 1, g.data() + d, width, n)
                             : g[static_cast<size_t>(at)]);
            }
            for (int64_t k = 0; k < n; ++k) {
              by_mix.Set(buffers, (token * n + j) * n + k,
                         mixed ? Dot(in.data() + j * width, 1, g.data() + k * width, 1, width) : 0);
            }
            by_post.Set(buffers, token * n + j,
                        Dot(from.data(), 1, g.data() + j * width, 1, width));
          }
          for (int64_t d = 0; d < width; ++d) {
            by_out.Set(buffers, token * width + d, Dot(weights.data(), 1, g.data() + d, width, n));
          }
        });
        return {};
      }};
}

namespace {

constexpr int64_t kRoom = 8;  // elements of a row of what is saved; the rest of it is 0

/// Where a normalisation and a token are in normOut, and in sumOut: (steps, tokens, n, 8) and
/// (steps, tokens, 8).
struct Saved {
  int64_t tokens, n;

  int64_t Norm(int64_t step, int64_t token, int64_t row, int64_t column) const {
    return ((step * tokens + token) * n + row) * kRoom + column;
  }
  int64_t Sum(int64_t step, int64_t token, int64_t i) const {
    return (step * tokens + token) * kRoom + i;
  }
};

/// Normalisations of even number are of rows, of odd number of columns.
bool IsOfRows(int64_t step) { return step % 2 == 0; }

/// One matrix.
class Square {
 public:
  explicit Square(int64_t n) : n_(n), values_(static_cast<size_t>(n * n)) {}

  double& At(int64_t row, int64_t column) {
    return values_[static_cast<size_t>(row * n_ + column)];
  }
  /// Element k of line i: of a row, or of a column.
  double& Of(bool rows, int64_t i, int64_t k) { return rows ? At(i, k) : At(k, i); }
  double SumOf(bool rows, int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < n_; ++k) sum += Of(rows, i, k);
    return sum;
  }

 private:
  int64_t n_;
  Doubles values_;
};

void Softmax(int64_t n, Square* x) {
  for (int64_t i = 0; i < n; ++i) {
    double most = x->At(i, 0), sum = 0;
    for (int64_t k = 1; k < n; ++k) most = std::max(most, x->At(i, k));
    for (int64_t k = 0; k < n; ++k) sum += x->At(i, k) = std::exp(x->At(i, k) - most);
    for (int64_t k = 0; k < n; ++k) x->At(i, k) /= sum;
  }
}

int64_t TokensOf(const Tensor& x) { return *x.count() / (x.last_dim() * x.last_dim()); }

void CheckSquares(const Tensor& x, Checker& checker) {
  checker.RankBetween(x, 3, 4).NotEmpty(x);
  if (!checker.ok()) return;
  const int64_t n = x.last_dim();
  checker.That(n <= kRoom && x.dim(x.rank() - 2) == n, [&] {
    return Concat(x.name(), " shape is ", ShapeText(x), ", expected square matrices of at most ",
                  kRoom, " rows");
  });
}

void CheckCount(const Tensor& saved, int64_t count, Checker& checker) {
  checker.That(saved.count() == count, [&] {
    return Concat(saved.name(), " shape is ", ShapeText(saved), ", expected ", count, " elements");
  });
}

}  // namespace

void CheckMhcSinkhorn(const MhcSinkhornParams& p, Checker& checker) {
  CheckSquares(p.x, checker);
  CheckShape(p.y, ShapeOf(p.x), checker);
  checker.That(1 <= p.numIters && p.numIters <= 100,
               [&] { return Concat("numIters value is ", p.numIters, ", expected 1 to 100"); });
  checker.That(p.normOut.present() == p.sumOut.present(), [&] {
    const bool missing = !p.normOut.present();
    return Concat(missing ? "normOut" : "sumOut", " is null, expected one as ",
                  missing ? "sumOut" : "normOut", " is given");
  });
  if (!checker.ok() || !p.normOut.present()) return;
  const int64_t rows = 2 * p.numIters * TokensOf(p.x) * kRoom;
  CheckCount(p.normOut, rows * p.x.last_dim(), checker);
  CheckCount(p.sumOut, rows, checker);
}

Plan PlanMhcSinkhorn(const MhcSinkhornParams& p, const Product&) {
  const Elements in(p.x, 0), out(p.y, 0), norms(p.normOut, 0), sums(p.sumOut, 0);
  const int64_t n = p.x.last_dim(), tokens = TokensOf(p.x), steps = 2 * p.numIters;
  return {0, [=, eps = double{p.eps}](const Buffers& buffers) -> Status {
            const Saved at = {tokens, n};
            ParallelRows(tokens, 8 * steps * n * n, [&](int64_t token) {
              Square x(n);
              for (int64_t i = 0; i < n * n; ++i) {
                x.At(i / n, i % n) = in.Get(buffers, token * n * n + i);
              }
              Softmax(n, &x);
              for (int64_t i = 0; i < n * n; ++i) x.At(i / n, i % n) += eps;
              for (int64_t step = 0; step < steps; ++step) {
                const bool rows = IsOfRows(step);
                for (int64_t i = 0; i < kRoom; ++i) {
                  const double sum = step > 0 && i < n ? x.SumOf(rows, i) + eps : 0;
                  for (int64_t k = 0; step > 0 && i < n && k < n; ++k) x.Of(rows, i, k) /= sum;
                  sums.Set(buffers, at.Sum(step, token, i), sum);
                }
                for (int64_t i = 0; i < n * kRoom; ++i) {
                  const int64_t row = i / kRoom, column = i % kRoom;
                  norms.Set(buffers, at.Norm(step, token, row, column),
                            column < n ? x.At(row, column) : 0);
                }
              }
              for (int64_t i = 0; i < n * n; ++i) {
                out.Set(buffers, token * n * n + i, x.At(i / n, i % n));
              }
            });
            return {};
          }};
}

void CheckMhcSinkhornGradient(const MhcSinkhornGradientParams& p, Checker& checker) {
  CheckSquares(p.gradY, checker);
  CheckShape(p.gradX, ShapeOf(p.gradY), checker);
  if (!checker.ok()) return;
  const int64_t rows = TokensOf(p.gradY) * kRoom, steps = *p.sum.count() / rows;
  checker.That(steps > 0 && steps % 2 == 0, [&] {
    return Concat("sum shape is ", ShapeText(p.sum), ", expected a multiple of ", 2 * rows,
                  " elements");
  });
  CheckCount(p.sum, steps * rows, checker);
  CheckCount(p.norm, steps * rows * p.gradY.last_dim(), checker);
}

// A quotient's gradient is that of its line less the mean that the line's elements weigh. What was
// added to the softmax is what its rows have above 1.
Plan PlanMhcSinkhornGradient(const MhcSinkhornGradientParams& p, const Product&) {
  const Elements gradient(p.gradY, 0), norms(p.norm, 0), sums(p.sum, 0), out(p.gradX, 0);
  const int64_t n = p.gradY.last_dim(), tokens = TokensOf(p.gradY),
                steps = *p.sum.count() / (tokens * kRoom);
  return {0, [=](const Buffers& buffers) -> Status {
            const Saved at = {tokens, n};
            ParallelRows(tokens, 8 * steps * n * n, [&](int64_t token) {
              Square g(n), norm(n);
              for (int64_t i = 0; i < n * n; ++i) {
                g.At(i / n, i % n) = gradient.Get(buffers, token * n * n + i);
              }
              for (int64_t step = steps; step-- > 0;) {
                for (int64_t i = 0; i < n * n; ++i) {
                  norm.At(i / n, i % n) = norms.Get(buffers, at.Norm(step, token, i / n, i % n));
                }
                const bool rows = IsOfRows(step);
                for (int64_t i = 0; i < n; ++i) {
                  const double more =
                      step == 0 ? (norm.SumOf(true, i) - 1) / static_cast<double>(n) : 0;
                  double mean = 0;
                  for (int64_t k = 0; k < n; ++k) {
                    mean += g.Of(rows, i, k) * (norm.Of(rows, i, k) - more);
                  }
                  const double sum = step == 0 ? 1 : sums.Get(buffers, at.Sum(step, token, i));
                  for (int64_t k = 0; k < n; ++k) {
                    double& slope = g.Of(rows, i, k);
                    slope = (slope - mean) * (step == 0 ? norm.At(i, k) - more : 1 / sum);
                  }
                }
              }
              for (int64_t i = 0; i < n * n; ++i) {
                out.Set(buffers, token * n * n + i, g.At(i / n, i % n));
              }
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
