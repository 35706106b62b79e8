// SPDX-License-Identifier: Apache-2.0
// RotaryPositionEmbeddingGrad: the gradients of the rotation by its operand and by its angles.
//
// y[to] = x[first] cos[to] - x[second] sin[to], y[next] = x[second] cos[next] + x[first] sin[next]
#include <vector>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/rotary.h"
#include "supporting/attention/row_sums.h"
#include "supporting/row_group.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsTogether = 64;  // of one allocation

/// The gradient by the cosines or by the sines: products of dy and x, summed over the dimensions
/// along which the angles are broadcast.
class AngleGradient {
 public:
  enum class By { kCos, kSin };

  AngleGradient(By by, const Shape& shape, const Tensor& out)
      : by_(by),
        out_(shape, out),
        width_(shape.back()),
        one_for_all_(out.rank() == 0 || (out.last_dim() == 1 && width_ != 1)) {
    const size_t lead = shape.size() - 1, missing = shape.size() - out.rank();
    Shape steps(lead, 1);  // in rows
    for (size_t d = lead; d-- > 1;) steps[d - 1] = WrappingProduct(steps[d], shape[d]);
    Dims kept, summed;
    for (size_t d = 0; d < lead; ++d) {
      const bool whole = d >= missing && out.dim(static_cast<uint32_t>(d - missing)) == shape[d];
      (whole ? kept : summed).Append(shape[d], steps[d]);
    }
    kept_ = CountOf(kept.lengths);
    summed_ = CountOf(summed.lengths);
    kept_rows_ = kept.ToOffsets();
    summed_rows_ = summed.ToOffsets();
  }

  void Run(const Buffers& buffers, const BroadcastRows& dy, const BroadcastRows& x,
           const RotaryPairs& pairs) const {
    const auto width = static_cast<size_t>(width_);
    ParallelRows(kept_, WrappingProduct(summed_, width_), [&](int64_t k) {
      const int64_t first_row = kept_rows_(k);
      std::vector<double> g(width), a(width), terms(width);
      TreeSum<RowSums> sum{RowSums(width)};
      for (int64_t s = 0; s < summed_; ++s) {
        const int64_t row = first_row + summed_rows_(s);
        dy.Load(buffers, row, width_, g.data());
        x.Load(buffers, row, width_, a.data());
        SetTerms(pairs, g, a, &terms);
        sum.Add(terms);
      }
      Put(buffers, first_row, sum.Total().values);
    });
  }

 private:
  /// Dimensions as parts of the number of a row.
  struct Dims {
    void Append(int64_t length, int64_t step) {
      lengths.push_back(length);
      steps.push_back(step);
    }
    Offsets ToOffsets() const {
      return Offsets(lengths.data(), steps.data(), static_cast<uint32_t>(lengths.size()));
    }

    Shape lengths, steps;
  };

  void SetTerms(const RotaryPairs& pairs, const std::vector<double>& g,
                const std::vector<double>& a, std::vector<double>* terms) const {
    const auto put = [&](int64_t to, double factor) {
      (*terms)[static_cast<size_t>(to)] = g[static_cast<size_t>(to)] * factor;
    };
    for (int64_t i = 0; i < width_ / 2; ++i) {
      const auto [first, second] = pairs.From(i);
      const auto [to, next] = pairs.To(i);
      const double left = a[static_cast<size_t>(first)], right = a[static_cast<size_t>(second)];
      put(to, by_ == By::kCos ? left : -right);
      put(next, by_ == By::kCos ? right : left);
    }
  }

  void Put(const Buffers& buffers, int64_t row, const std::vector<double>& sums) const {
    if (!one_for_all_) return out_.Store(buffers, row, width_, sums.data());
    TreeSum<double> total;
    for (const double sum : sums) total.Add(sum);
    const double value = total.Total();
    out_.Store(buffers, row, 1, &value);
  }

  By by_;
  BroadcastRows out_;
  int64_t width_;
  bool one_for_all_;  // numbers of a row share one angle
  int64_t kept_, summed_;
  Offsets kept_rows_, summed_rows_;
};

/// dx of a row: dy turned back.
void TurnBack(const RotaryPairs& pairs, const double* g, const double* c, const double* s,
              double* dx) {
  for (int64_t i = 0; i < pairs.width / 2; ++i) {
    const auto [first, second] = pairs.From(i);
    const auto [to, next] = pairs.To(i);
    dx[first] = g[to] * c[to] + g[next] * s[next];
    dx[second] = g[next] * c[next] - g[to] * s[to];
  }
}

}  // namespace

void CheckRotaryGradient(const RotaryGradientParams& p, Checker& checker) {
  const Shape shape = ShapeOf(p.dy);
  CheckRotated(p.dy, p.mode, p.cos, p.sin, checker);
  CheckShape(p.dxOut, shape, checker);
  if (!p.xOptional.present()) return;
  CheckShape(p.xOptional, shape, checker);
  if (p.dcosOut.present()) CheckShape(p.dcosOut, ShapeOf(p.cos), checker);
  if (p.dsinOut.present()) CheckShape(p.dsinOut, ShapeOf(p.sin), checker);
}

Plan PlanRotaryGradient(const RotaryGradientParams& p, const Product&) {
  const Shape shape = ShapeOf(p.dy);
  const int64_t width = shape.back(), rows = width == 0 ? 0 : CountOf(shape) / width;
  const BroadcastRows dy(shape, p.dy), cos(shape, p.cos), sin(shape, p.sin), dx(shape, p.dxOut);
  const RotaryPairs pairs{static_cast<RotaryMode>(p.mode), width};
  std::vector<AngleGradient> angles;
  std::vector<BroadcastRows> x;  // none without angles
  if (p.xOptional.present()) {
    x.emplace_back(shape, p.xOptional);
    using By = AngleGradient::By;
    if (p.dcosOut.present()) angles.emplace_back(By::kCos, shape, p.dcosOut);
    if (p.dsinOut.present()) angles.emplace_back(By::kSin, shape, p.dsinOut);
  }
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRowGroups(rows, width, kRowsTogether, [&](int64_t begin, int64_t count) {
              std::vector<double> numbers(static_cast<size_t>(4 * width));
              double *const g = numbers.data(), *const c = g + width, *const s = c + width,
                            *const turned = s + width;
              for (int64_t row = begin; row < begin + count; ++row) {
                dy.Load(buffers, row, width, g);
                cos.Load(buffers, row, width, c);
                sin.Load(buffers, row, width, s);
                TurnBack(pairs, g, c, s, turned);
                dx.Store(buffers, row, width, turned);
              }
            });
            for (const AngleGradient& each : angles) each.Run(buffers, dy, x[0], pairs);
            return {};
          }};
}

}  // namespace openaclnn::supporting
