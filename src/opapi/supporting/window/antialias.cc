// SPDX-License-Identifier: Apache-2.0
// Interpolation without aliasing, and its gradient: where a result is smaller, the kernel is as
// much wider, and its weights are divided by their sum. In double.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/elements.h"
#include "supporting/in_turn.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// Linear or cubic; the parameter of the cubic one is PyTorch's here, -0.5.
double Kernel(double x, int64_t taps) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (taps == 2) return x < 1 ? 1 - x : 0;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

struct Setting {
  int64_t taps;
  bool align;
};

/// The distance of two targets in the input. A factor counts where it makes one length of the
/// other, as for other resizing.
double StepOf(int64_t in, int64_t out, double factor, bool align) {
  if (align) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  const bool fits =
      factor > 0 && std::floor(static_cast<double>(in) * factor) == static_cast<double>(out);
  return fits ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
}

/// The weights of one dimension, row by row; a row has those of some neighbours.
class Weights {
 public:
  Weights(int64_t in, int64_t out, double factor, const Setting& setting) : sources_(in) {
    const double step = StepOf(in, out, factor, setting.align);
    const double wide = std::max(step, 1.0);
    const double reach = static_cast<double>(setting.taps) / 2 * wide;
    for (int64_t i = 0; i < out; ++i) {
      const double middle = step * (static_cast<double>(i) + 0.5);
      const auto end = std::min(static_cast<int64_t>(middle + reach + 0.5), in);
      const auto begin = std::min(static_cast<int64_t>(std::max(middle - reach + 0.5, 0.0)), end);
      Begin(begin);
      double sum = 0;
      for (int64_t k = begin; k < end; ++k) {
        weights_.push_back(Kernel((static_cast<double>(k) - middle + 0.5) / wide, setting.taps));
        sum += weights_.back();
      }
      for (size_t k = ends_.back(); k < weights_.size() && sum != 0; ++k) weights_[k] /= sum;
    }
    ends_.push_back(weights_.size());
  }

  /// Sources become targets, with the same weights.
  Weights Transposed() const {
    std::vector<std::vector<std::pair<int64_t, double>>> rows(static_cast<size_t>(sources_));
    for (int64_t i = 0; i < targets(); ++i) {
      for (size_t k = 0; k < Count(i); ++k) {
        rows[static_cast<size_t>(First(i)) + k].emplace_back(i, Of(i)[k]);
      }
    }
    Weights other(targets());
    for (const auto& row : rows) {
      // The targets of a source follow each other: neighbours do not go back.
      other.Begin(row.empty() ? 0 : row.front().first);
      for (const auto& [target, weight] : row) other.weights_.push_back(weight);
    }
    other.ends_.push_back(other.weights_.size());
    return other;
  }

  int64_t targets() const { return static_cast<int64_t>(first_.size()); }
  int64_t sources() const { return sources_; }

  /// The sum of a target's neighbours; `step` is between neighbours.
  double Sum(int64_t target, const double* sources, int64_t step) const {
    const double* const weights = Of(target);
    const double* const from = sources + First(target) * step;
    TreeSum<double> sum;
    for (size_t k = 0; k < Count(target); ++k) {
      sum.Add(weights[k] * from[static_cast<int64_t>(k) * step]);
    }
    return sum.Total();
  }

 private:
  explicit Weights(int64_t sources) : sources_(sources) {}

  void Begin(int64_t first) {
    first_.push_back(first);
    ends_.push_back(weights_.size());
  }
  int64_t First(int64_t target) const { return first_[static_cast<size_t>(target)]; }
  size_t Count(int64_t target) const {
    const auto at = static_cast<size_t>(target);
    return ends_[at + 1] - ends_[at];
  }
  const double* Of(int64_t target) const {
    return weights_.data() + ends_[static_cast<size_t>(target)];
  }

  int64_t sources_;
  std::vector<int64_t> first_;  // neighbour of each target
  std::vector<size_t> ends_;    // of the targets before, in weights_
  std::vector<double> weights_;
};

struct Plane {
  std::vector<double> from, half, to;
};

/// Planes of `to` from those of `from`: first along rows, then along columns. The task makes the
/// weights, since a plan may be of tensors that no memory has.
template <class Make>
Plan Resample(const Tensor& from, const Tensor& to, const Make& make) {
  const Elements in(from, 0), out(to, 0);
  const int64_t planes = to.dim(0) * to.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            const Weights rows = make(0), columns = make(1);
            const int64_t height = rows.sources(), width = columns.sources(), high = rows.targets(),
                          wide = columns.targets();
            ParallelRowsIn<Plane>(
                planes, 4 * (height * wide + high * wide), [&](int64_t number, Plane* plane) {
                  plane->from.resize(static_cast<size_t>(height * width));
                  plane->half.resize(static_cast<size_t>(height * wide));
                  plane->to.resize(static_cast<size_t>(high * wide));
                  for (int64_t i = 0; i < height * width; ++i) {
                    plane->from[static_cast<size_t>(i)] =
                        in.Get(buffers, number * height * width + i);
                  }
                  for (int64_t i = 0; i < height * wide; ++i) {
                    plane->half[static_cast<size_t>(i)] =
                        columns.Sum(i % wide, plane->from.data() + i / wide * width, 1);
                  }
                  for (int64_t i = 0; i < high * wide; ++i) {
                    plane->to[static_cast<size_t>(i)] =
                        rows.Sum(i / wide, plane->half.data() + i % wide, wide);
                  }
                  out.SetRun(buffers, number * high * wide, plane->to.data(), high * wide);
                });
            return {};
          }};
}

/// The weights of the last two dimensions: make(0) and make(1).
template <class P>
auto MakerOf(const P& p, const Tensor& in, const Tensor& out) {
  struct Axis {
    int64_t in, out;
    double factor;
  };
  const std::array<Axis, 2> axes = {Axis{in.dim(2), out.dim(2), p.scalesH},
                                    Axis{in.dim(3), out.dim(3), p.scalesW}};
  return [axes, setting = Setting{p.taps, p.alignCorners}](size_t i) {
    return Weights(axes[i].in, axes[i].out, axes[i].factor, setting);
  };
}

}  // namespace

Plan PlanAntialias(const UpsampleParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  return Resample(p.self, p.out, MakerOf(p, p.self, p.out));
}

Plan PlanAntialiasGradient(const UpsampleGradientParams& p, const Product&) {
  if (p.gradInput.empty()) return Nothing();
  return Resample(p.gradOut, p.gradInput, [make = MakerOf(p, p.gradInput, p.gradOut)](size_t i) {
    return make(i).Transposed();
  });
}

}  // namespace openaclnn::supporting
