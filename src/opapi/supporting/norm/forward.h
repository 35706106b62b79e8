// SPDX-License-Identifier: Apache-2.0
// Groups of elements, each made to have mean 0 and variance 1, then scaled and moved.
//
// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/norm/fusion.h"
#include "supporting/norm/gradient.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {

/// The moments of one group's elements.
struct Moments {
  double mean = 0, variance = 0;
};

inline Moments MomentsOf(const double* x, int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = Kernels().sum.row(x, n) / count;
  return {mean, Kernels().distances(x, mean, n) / count};
}

inline Moments MomentsOf(const float* x, int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = Kernels().sum.float_row(x, n) / count;
  return {mean, Kernels().float_distances(x, mean, n) / count};
}

struct ForwardTensors {
  const Tensor &x, &weight, &bias, &y, &mean, &rstd;
};

struct Forward {
  Forward(const Grouping& grouping, const ForwardTensors& of, double epsilon,
          std::optional<Fusion> more = {})
      : groups(grouping),
        eps(epsilon),
        fusion(std::move(more)),
        x(of.x, grouping, &parts),
        y(of.y, grouping),
        weight(of.weight, 1),
        bias(of.bias, 0),
        mean(of.mean, 0),
        rstd(of.rstd, 0) {}

  int64_t width() const { return groups.width; }

  /// `moments(own, row)` are those to normalise by; own() are those of the row.
  template <class MomentsAt>
  void Run(const Buffers& buffers, const MomentsAt& moments) const {
    ForRows(buffers, moments, [&](int64_t row, double own_mean, double scale) {
      mean.Set(buffers, row, own_mean);
      rstd.Set(buffers, row, scale);
    });
  }

  /// By each row's own moments. They are written behind all rows, those of mean first, so that any
  /// number of threads leaves the same bytes where the two share memory.
  void RunThenTell(const Buffers& buffers) const {
    std::vector<double> means(static_cast<size_t>(groups.rows)), scales(means.size());
    const auto of_row = [](const auto& own, int64_t) { return own(); };
    ForRows(buffers, of_row, [&](int64_t row, double own_mean, double scale) {
      means[static_cast<size_t>(row)] = own_mean;
      scales[static_cast<size_t>(row)] = scale;
    });
    mean.SetAll(buffers, means);
    rstd.SetAll(buffers, scales);
  }

  /// Of a workspace.
  uint64_t bytes() const { return parts.bytes(); }

  Grouping groups;
  double eps;
  std::optional<Fusion> fusion;
  ScratchParts parts;
  GroupedView x, y;
  Elements weight, bias, mean, rstd;

 private:
  using Weights = std::vector<double>;

  /// tell(row, mean, rstd), on any thread.
  template <class MomentsAt, class Tell>
  void ForRows(const Buffers& buffers, const MomentsAt& moments, const Tell& tell) const {
    x.Take(buffers);
    auto w = weight.All(buffers), b = bias.All(buffers);
    w.resize(groups.weights, 1);  // what is absent
    b.resize(groups.weights, 0);
    const bool floats = !fusion && x.floats() && y.floats();
    const std::vector<float> narrow_w = NarrowWeights(floats && y.narrow(), w);
    const std::vector<float> narrow_b(b.begin(), narrow_w.empty() ? b.begin() : b.end());
    ParallelRowsIn<Rooms>(groups.rows, groups.width, [&](int64_t row, Rooms* rooms) {
      const auto scale_of = [&](const Moments& own) {
        const double scale = 1 / std::sqrt(own.variance + eps);
        tell(row, own.mean, scale);
        return scale;
      };
      floats
          ? RunFloats(buffers, row, rooms, BothWeights{w, b, narrow_w, narrow_b}, moments, scale_of)
          : RunDoubles(buffers, row, w, b, moments, scale_of);
    });
  }

  template <class MomentsAt, class ScaleOf>
  void RunDoubles(const Buffers& buffers, int64_t row, const Weights& w, const Weights& b,
                  const MomentsAt& moments, const ScaleOf& scale_of) const {
    const DoubleRowKernels& kernels = Kernels();
    std::vector<double> values = x.Load(buffers, row);
    if (fusion) fusion->Sum(buffers, row, &values);
    if (fusion && fusion->sum) fusion->sum->Store(buffers, row, values);
    const Moments own = moments([&] { return MomentsOf(values.data(), groups.width); }, row);
    kernels.scale(values.data(), own.mean, scale_of(own), groups.width);
    if (groups.OneEach()) {
      kernels.weigh(values.data(), w.data(), b.data(), groups.width);
    } else {
      ForWeights(groups, row, [&](size_t k, int64_t first, int64_t n) {
        kernels.move(values.data() + first, w[k], b[k], n);
      });
    }
    if (fusion && fusion->swish) Swishes().swish(values.data(), *fusion->swish, groups.width);
    y.Store(buffers, row, values);
  }

  /// Weights and biases, and as float where results of 16 bits are computed so.
  struct BothWeights {
    const Weights &w, &b;
    const std::vector<float>&narrow_w, &narrow_b;
  };

  /// Run for floats, without copies in double: the same bits where results are FLOAT; 16-bit
  /// results are computed in float.
  template <class MomentsAt, class ScaleOf>
  void RunFloats(const Buffers& buffers, int64_t row, Rooms* rooms, const BothWeights& of,
                 const MomentsAt& moments, const ScaleOf& scale_of) const {
    const float* const values = x.LoadFloats(buffers, row, &rooms->x);
    const Moments own = moments([&] { return MomentsOf(values, groups.width); }, row);
    const double scale = scale_of(own);
    const bool one_weight = !groups.OneEach();
    const bool in_float = !of.narrow_w.empty() && AreModest(own.mean, scale);
    y.PutFloats(buffers, row, &rooms->result, [&](float* to) {
      ForWeights(groups, row, [&](size_t k, int64_t first, int64_t n) {
        if (in_float) {
          const NormalRow<float> part{values + first, own.mean, scale, &of.narrow_w[k], one_weight};
          if (NarrowRows().normalize(part, &of.narrow_b[k], n, to + first)) return;
        }
        const NormalRow<double> part{values + first, own.mean, scale, &of.w[k], one_weight};
        RowsOfFloats().normalize(part, &of.b[k], n, y.narrow(), to + first);
      });
    });
  }
};

/// Each group by its own moments.
inline Plan MakeForward(const Forward& forward) {
  return {forward.bytes(), [=](const Buffers& buffers) -> Status {
            forward.Run(buffers, [](const auto& own, int64_t) { return own(); });
            return {};
          }};
}

}  // namespace openaclnn::supporting
