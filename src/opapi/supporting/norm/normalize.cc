// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm, BatchNorm and their gradients: groups of elements, each made to have mean 0
// and variance 1, then scaled and moved.
//
// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
#include <cmath>
#include <functional>

#include "generated/norm.h"
#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/norm/gradient.h"
#include "supporting/norm/grouping.h"

namespace openaclnn::supporting {
namespace {

/// The moments of one group's elements.
struct Moments {
  double mean = 0, variance = 0;
};

Moments MomentsOf(const double* x, int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = Kernels().sum.row(x, n) / count;
  return {mean, Kernels().distances(x, mean, n) / count};
}

Moments MomentsOf(const float* x, int64_t n) {
  const auto count = static_cast<double>(n);
  const double mean = Kernels().sum.float_row(x, n) / count;
  return {mean, Kernels().float_distances(x, mean, n) / count};
}

struct ForwardTensors {
  const Tensor &x, &weight, &bias, &y, &mean, &rstd;
};

struct Forward {
  Forward(const Grouping& grouping, const ForwardTensors& of, double epsilon)
      : groups(grouping),
        eps(epsilon),
        x(of.x, grouping),
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

  Grouping groups;
  double eps;
  GroupedView x, y;
  Elements weight, bias, mean, rstd;

 private:
  using Weights = std::vector<double>;

  /// tell(row, mean, rstd), on any thread.
  template <class MomentsAt, class Tell>
  void ForRows(const Buffers& buffers, const MomentsAt& moments, const Tell& tell) const {
    auto w = weight.All(buffers), b = bias.All(buffers);
    w.resize(groups.weights, 1);  // what is absent
    b.resize(groups.weights, 0);
    const bool floats = x.floats() && y.floats();
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
    const Moments own = moments([&] { return MomentsOf(values.data(), groups.width); }, row);
    kernels.scale(values.data(), own.mean, scale_of(own), groups.width);
    if (groups.OneEach()) {
      kernels.weigh(values.data(), w.data(), b.data(), groups.width);
    } else {
      ForWeights(groups, row, [&](size_t k, int64_t first, int64_t n) {
        kernels.move(values.data() + first, w[k], b[k], n);
      });
    }
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

void CheckMask(const std::vector<bool>& mask, const BackwardTensors& of, Checker& checker) {
  CheckAsked(mask, {&of.grad_x, &of.grad_weight, &of.grad_bias}, checker);
}

/// As many elements as there are, wherever it is given.
void CheckCount(const Operand& operand, size_t count, Checker& checker) {
  checker.That(!operand.present() || operand.count() == static_cast<int64_t>(count), [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected ", count,
                  " elements");
  });
}

using Tensors = std::initializer_list<std::reference_wrapper<const Tensor>>;

void CheckWeights(const Grouping& groups, Tensors tensors, Checker& checker) {
  for (const Tensor& tensor : tensors) CheckCount(tensor, groups.weights, checker);
}

void CheckMoments(const Grouping& groups, Tensors tensors, Checker& checker) {
  for (const Tensor& tensor : tensors) {
    CheckCount(tensor, static_cast<size_t>(groups.rows), checker);
  }
}

void CheckNormalizedShape(const IntList& shape, const Operand& x, Checker& checker) {
  const auto dims = shape.values();
  bool fits = !dims.empty() && dims.size() <= x.rank();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = dims[i] == x.dim(static_cast<uint32_t>(x.rank() - dims.size() + i));
  }
  checker.That(fits, [&] {
    return Concat("normalizedShape value is ",
                  ShapeText(dims.data(), static_cast<uint32_t>(dims.size())),
                  ", expected the last dimensions of ", x.name(), ", ", ShapeText(x));
  });
}

Grouping LayersOf(const IntList& shape, const Operand& x) {
  return Grouping::Layers(x, static_cast<uint32_t>(shape.values().size()));
}

template <class P>
void CheckGroups(const P& p, const Operand& x, Checker& checker) {
  checker.RankBetween(x, 2, kMaxRank);
  if (!checker.ok()) return;
  const std::optional<int64_t> places = ElementCount(x.tensor().dims + 2, x.rank() - 2);
  checker.That(p.N == x.dim(0) && p.C == x.dim(1) && places == p.HxW, [&] {
    return Concat(x.name(), " shape is ", ShapeText(x), ", expected N = ", p.N, ", C = ", p.C,
                  ", HxW = ", p.HxW);
  });
  checker.That(p.group > 0 && p.C % p.group == 0, [&] {
    return Concat("group value is ", p.group, ", expected a divisor of C, ", p.C);
  });
}

/// With mean and rstd among the tensors.
Plan MakeBackward(const Backward& backward, const Tensor& mean_of, const Tensor& rstd_of) {
  const Elements mean(mean_of, 0), rstd(rstd_of, 1);
  return {0, [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, Statistics::kMoments, [&](int64_t row) {
              return std::pair(mean.Get(buffers, row), rstd.Get(buffers, row));
            });
            return {};
          }};
}

ForwardTensors TensorsOf(const LayerNormParams& p) {
  return {p.input, p.weightOptional, p.biasOptional, p.out, p.meanOutOptional, p.rstdOutOptional};
}

ForwardTensors TensorsOf(const GroupNormParams& p) {
  return {p.self, p.gamma, p.beta, p.out, p.meanOut, p.rstdOut};
}

ForwardTensors TensorsOf(const BatchNormParams& p) {
  return {p.input, p.weight, p.bias, p.output, p.saveMean, p.saveInvstd};
}

BackwardTensors TensorsOf(const LayerNormGradientParams& p) {
  return {p.gradOut, p.input, p.weightOptional, p.gradInputOut, p.gradWeightOut, p.gradBiasOut};
}

BackwardTensors TensorsOf(const GroupNormGradientParams& p) {
  return {p.gradOut, p.input, p.gamma, p.gradInput, p.gradGammaOut, p.gradBetaOut};
}

BackwardTensors TensorsOf(const BatchNormGradientParams& p) {
  return {p.gradOut, p.input, p.weight, p.gradInput, p.gradWeight, p.gradBias};
}

}  // namespace

void CheckLayerNorm(const LayerNormParams& p, Checker& checker) {
  CheckNormalizedShape(p.normalizedShape, p.input, checker);
  CheckShape(p.out, ShapeOf(p.input), checker);
  if (!checker.ok()) return;
  const Grouping groups = LayersOf(p.normalizedShape, p.input);
  CheckWeights(groups, {p.weightOptional, p.biasOptional}, checker);
  CheckMoments(groups, {p.meanOutOptional, p.rstdOutOptional}, checker);
}

Plan PlanLayerNorm(const LayerNormParams& p, const Product&) {
  const bool has_moments = p.meanOutOptional.present() || p.rstdOutOptional.present();
  if (p.out.empty() && !has_moments) return Nothing();  // of any number of rows
  const Forward forward(LayersOf(p.normalizedShape, p.input), TensorsOf(p), p.eps);
  return {0, [=](const Buffers& buffers) -> Status {
            forward.Run(buffers, [](const auto& own, int64_t) { return own(); });
            return {};
          }};
}

void CheckLayerNormGradient(const LayerNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  CheckNormalizedShape(p.normalizedShape, x, checker);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInputOut.present()) CheckShape(p.gradInputOut, ShapeOf(x), checker);
  const Grouping groups = LayersOf(p.normalizedShape, x);
  CheckMoments(groups, {p.mean, p.rstd}, checker);
  CheckWeights(groups, {p.weightOptional, p.biasOptional, p.gradWeightOut, p.gradBiasOut}, checker);
}

Plan PlanLayerNormGradient(const LayerNormGradientParams& p, const Product&) {
  const Grouping groups = LayersOf(p.normalizedShape, p.input);
  if (groups.width == 0) return Nothing();  // of any number of rows, and no weights
  return MakeBackward(Backward(groups, TensorsOf(p), p.outputMask), p.mean, p.rstd);
}

void CheckGroupNorm(const GroupNormParams& p, Checker& checker) {
  CheckGroups(p, p.self, checker);
  CheckShape(p.out, ShapeOf(p.self), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Groups(p.self, p.group);
  CheckWeights(groups, {p.gamma, p.beta}, checker);
  CheckMoments(groups, {p.meanOut, p.rstdOut}, checker);
}

Plan PlanGroupNorm(const GroupNormParams& p, const Product&) {
  const Forward forward(Grouping::Groups(p.self, p.group), TensorsOf(p), p.eps);
  return {0, [=](const Buffers& buffers) -> Status {
            forward.RunThenTell(buffers);
            return {};
          }};
}

void CheckGroupNormGradient(const GroupNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  CheckGroups(p, x, checker);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInput.present()) CheckShape(p.gradInput, ShapeOf(x), checker);
  const Grouping groups = Grouping::Groups(x, p.group);
  CheckMoments(groups, {p.mean, p.rstd}, checker);
  CheckWeights(groups, {p.gamma, p.gradGammaOut, p.gradBetaOut}, checker);
}

Plan PlanGroupNormGradient(const GroupNormGradientParams& p, const Product&) {
  const Grouping groups = Grouping::Groups(p.input, p.group);
  return MakeBackward(Backward(groups, TensorsOf(p), p.outputMask), p.mean, p.rstd);
}

void CheckBatchNorm(const BatchNormParams& p, Checker& checker) {
  const Tensor& x = p.input;
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.output, ShapeOf(x), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(groups, {p.weight, p.bias, p.runningMean, p.runningVar}, checker);
  for (const Tensor* save : {&p.saveMean, &p.saveInvstd}) {
    if (p.training || !save->empty()) CheckWeights(groups, {*save}, checker);
  }
  for (const Tensor* running : {&p.runningMean, &p.runningVar}) {
    checker.That(p.training || running->present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
      return Concat(running->name(), " value is null, expected a tensor unless training");
    });
  }
}

// In training the running moments move toward those of the batch by momentum.
Plan PlanBatchNorm(const BatchNormParams& p, const Product&) {
  const Forward forward(Grouping::Channels(p.input), TensorsOf(p), p.eps);
  const Elements mean(p.runningMean, 0), variance(p.runningVar, 1);
  const bool training = p.training;
  const double momentum = p.momentum;
  return {0, [=](const Buffers& buffers) -> Status {
            const auto n = static_cast<double>(forward.width());
            forward.Run(buffers, [&](const auto& own_moments, int64_t row) -> Moments {
              if (!training) return {mean.Get(buffers, row), variance.Get(buffers, row)};
              const Moments own = own_moments();
              const auto move = [&](const Elements& to, double value) {
                const double old = to.Get(buffers, row);
                to.Set(buffers, row, old + momentum * (value - old));
              };
              move(mean, own.mean);
              move(variance, own.variance * n / (n - 1));
              return own;
            });
            return {};
          }};
}

void CheckBatchNormGradient(const BatchNormGradientParams& p, Checker& checker) {
  const Tensor& x = p.input;
  CheckMask(p.outputMask, TensorsOf(p), checker);
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.gradOut, ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.gradInput.present()) CheckShape(p.gradInput, ShapeOf(x), checker);
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(groups, {p.weight, p.gradWeight, p.gradBias}, checker);
  for (const Tensor* moment :
       {p.training ? &p.saveMean : &p.runningMean, p.training ? &p.saveInvstd : &p.runningVar}) {
    checker.That(moment->present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(moment->name(), " value is null, expected a tensor"); });
    CheckCount(*moment, groups.weights, checker);
  }
}

Plan PlanBatchNormGradient(const BatchNormGradientParams& p, const Product&) {
  const Backward backward(Grouping::Channels(p.input), TensorsOf(p), p.outputMask);
  const bool training = p.training;
  const Statistics statistics = training ? Statistics::kMoments : Statistics::kGiven;
  const double eps = p.eps;
  const Elements mean(training ? p.saveMean : p.runningMean, 0);
  const Elements scale(training ? p.saveInvstd : p.runningVar, 1);
  return {0, [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, statistics, [&](int64_t row) {
              const double own = scale.Get(buffers, row);
              return std::pair(mean.Get(buffers, row), training ? own : 1 / std::sqrt(own + eps));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
