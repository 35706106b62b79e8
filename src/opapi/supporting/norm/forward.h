// SPDX-License-Identifier: Apache-2.0
// Groups of elements, each made to have mean 0 and variance 1, then scaled and moved.
//
// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
#pragma once

#include <cmath>
#include <optional>
#include <utility>
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
  const double mean = DoubleRows().sum.row(x, n) / count;
  return {mean, DoubleRows().distances(x, mean, n) / count};
}

inline Moments MomentsOf(const float* x, int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = DoubleRows().sum.float_row(x, n) / count;
  return {mean, DoubleRows().float_distances(x, mean, n) / count};
}

/// The moments of past batches.
struct RunningMoments {
  /// Moves those of a channel toward the moments of a batch that has n elements of it:
  /// running += momentum * (value - running).
  void Move(const Buffers& buffers, int64_t channel, const Moments& own, double n) const {
    const auto move = [&](const Elements& running, double value) {
      const double old = running.Get(buffers, channel);
      running.Set(buffers, channel, old + momentum * (value - old));
    };
    move(mean, own.mean);
    move(variance, own.variance * n / (n - 1));
  }

  Elements mean, variance;
  double momentum;
};

/// The moments of all rows.
struct RowMoments {
  explicit RowMoments(int64_t rows) : means(static_cast<size_t>(rows)), variances(means.size()) {}
  RowMoments(std::vector<double> all_means, std::vector<double> all_variances)
      : means(std::move(all_means)), variances(std::move(all_variances)) {}

  Moments operator[](int64_t row) const {
    const auto at = static_cast<size_t>(row);
    return {means[at], variances[at]};
  }
  void Set(int64_t row, const Moments& of) {
    const auto at = static_cast<size_t>(row);
    means[at] = of.mean;
    variances[at] = of.variance;
  }

  std::vector<double> means, variances;
};

struct ForwardTensors {
  const Tensor &x, &weight, &bias, &y, &mean, &rstd;
};

class Forward {
 public:
  Forward(const Grouping& grouping, const ForwardTensors& of, double epsilon,
          std::optional<Fusion> more = {})
      : groups_(grouping),
        eps_(epsilon),
        fusion_(std::move(more)),
        x_(of.x, grouping, &parts_),
        y_(of.y, grouping),
        weight_(of.weight, 1),
        bias_(of.bias, 0),
        mean_(of.mean, 0),
        rstd_(of.rstd, 0) {}

  int64_t width() const { return groups_.width; }

  /// The workspace's size.
  uint64_t bytes() const { return parts_.bytes(); }

  /// Normalises the rows by their own moments, which it returns.
  RowMoments Run(const Buffers& buffers) const {
    RowMoments moments(groups_.rows);
    ForRows(buffers, [&](int64_t row, const auto* values) {
      const Moments own = MomentsOf(values, groups_.width);
      moments.Set(row, own);
      return own;
    });
    return moments;
  }

  /// Normalises the rows by given moments.
  void RunBy(const Buffers& buffers, const RowMoments& moments) const {
    ForRows(buffers, [&](int64_t row, const auto*) { return moments[row]; });
  }

  /// Writes mean, then rstd. All rows are done by then, so that any number of threads leaves the
  /// same bytes where the two tensors share memory.
  void Store(const Buffers& buffers, const RowMoments& moments) const {
    mean_.SetAll(buffers, moments.means);
    std::vector<double> scales(moments.variances.size());
    for (size_t row = 0; row < scales.size(); ++row) scales[row] = ScaleOf(moments.variances[row]);
    rstd_.SetAll(buffers, scales);
  }

 private:
  /// Weights and biases. They are there as float, too, where results of 16 bits are computed so.
  struct Weights {
    std::vector<double> w, b;
    std::vector<float> narrow_w, narrow_b;
  };

  double ScaleOf(double variance) const { return 1 / std::sqrt(variance + eps_); }

  Weights LoadWeights(const Buffers& buffers, bool narrow) const {
    Weights of{weight_.All(buffers), bias_.All(buffers), {}, {}};
    of.w.resize(groups_.weights, 1);  // what is absent
    of.b.resize(groups_.weights, 0);
    of.narrow_w = NarrowWeights(narrow, of.w);
    if (!of.narrow_w.empty()) of.narrow_b.assign(of.b.begin(), of.b.end());
    return of;
  }

  /// moments_of(row, values) are those to normalise a row by; values are float or double.
  template <class MomentsOfRow>
  void ForRows(const Buffers& buffers, const MomentsOfRow& moments_of) const {
    x_.Take(buffers);
    const bool floats = !fusion_ && x_.floats() && y_.floats();
    const Weights weights = LoadWeights(buffers, floats && y_.narrow());
    ParallelRowsIn<Rooms>(groups_.rows, groups_.width, [&](int64_t row, Rooms* rooms) {
      if (floats) {
        const float* const values = x_.LoadFloats(buffers, row, &rooms->x);
        PutFloats(buffers, row, rooms, values, moments_of(row, values), weights);
      } else {
        std::vector<double> values = x_.Load(buffers, row);
        if (fusion_) fusion_->Sum(buffers, row, &values);
        if (fusion_ && fusion_->sum) fusion_->sum->Store(buffers, row, values);
        PutDoubles(buffers, row, &values, moments_of(row, std::as_const(values).data()), weights);
      }
    });
  }

  void PutDoubles(const Buffers& buffers, int64_t row, std::vector<double>* values,
                  const Moments& by, const Weights& of) const {
    const DoubleRowKernels& kernels = DoubleRows();
    double* const row_of = values->data();
    kernels.scale(row_of, by.mean, ScaleOf(by.variance), groups_.width);
    if (groups_.OneEach()) {
      kernels.weigh(row_of, of.w.data(), of.b.data(), groups_.width);
    } else {
      ForWeights(groups_, row, [&](size_t k, int64_t first, int64_t n) {
        kernels.move(row_of + first, of.w[k], of.b[k], n);
      });
    }
    if (fusion_ && fusion_->swish) Swishes().swish(row_of, *fusion_->swish, groups_.width);
    y_.Store(buffers, row, *values);
  }

  /// PutDoubles for floats, without copies in double: the same bits where results are FLOAT.
  /// Results of 16 bits are computed in float.
  void PutFloats(const Buffers& buffers, int64_t row, Rooms* rooms, const float* values,
                 const Moments& by, const Weights& of) const {
    const double scale = ScaleOf(by.variance);
    const bool one_weight = !groups_.OneEach();
    const bool in_float = !of.narrow_w.empty() && AreModest(by.mean, scale);
    y_.PutFloats(buffers, row, &rooms->result, [&](float* to) {
      ForWeights(groups_, row, [&](size_t k, int64_t first, int64_t n) {
        if (in_float) {
          const NormalRow<float> part{values + first, by.mean, scale, &of.narrow_w[k], one_weight};
          if (NarrowRows().normalize(part, &of.narrow_b[k], n, to + first)) return;
        }
        const NormalRow<double> part{values + first, by.mean, scale, &of.w[k], one_weight};
        RowsOfFloats().normalize(part, &of.b[k], n, y_.narrow(), to + first);
      });
    });
  }

  Grouping groups_;
  double eps_;
  std::optional<Fusion> fusion_;
  ScratchParts parts_;
  GroupedView x_, y_;
  Elements weight_, bias_, mean_, rstd_;
};

/// Each group by its own moments.
inline Plan MakeForward(const Forward& forward) {
  return {forward.bytes(), [=](const Buffers& buffers) -> Status {
            forward.Store(buffers, forward.Run(buffers));
            return {};
          }};
}

}  // namespace openaclnn::supporting
