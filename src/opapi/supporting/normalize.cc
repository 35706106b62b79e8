// SPDX-License-Identifier: Apache-2.0
// LayerNorm, GroupNorm, BatchNorm and their gradients: groups of elements, each made to have mean 0
// and variance 1, then scaled and moved.
//
// y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
#include "supporting/normalize.h"

#include <cmath>

#include "kernels/rows.h"
#include "supporting/operators.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// Of the elements of one group.
struct Moments {
  double mean = 0, variance = 0;
};

template <class Term>
double MeanOf(size_t n, const Term& term) {
  TreeSum<double> sum;
  for (size_t i = 0; i < n; ++i) sum.Add(term(i));
  return sum.Total() / static_cast<double>(n);
}

Moments MomentsOf(const std::vector<double>& x) {
  const double mean = MeanOf(x.size(), [&](size_t i) { return x[i]; });
  return {mean, MeanOf(x.size(), [&](size_t i) { return (x[i] - mean) * (x[i] - mean); })};
}

/// The places of a call's tensors.
struct ForwardPlaces {
  size_t x, weight, bias, y, mean, rstd;
};

struct Forward {
  Forward(const Params& p, const Grouping& grouping, const ForwardPlaces& at, double epsilon)
      : groups(grouping),
        places(at),
        eps(epsilon),
        x(p.tensors[at.x], grouping),
        y(p.tensors[at.y], grouping),
        weight(p.tensors[at.weight], 1),
        bias(p.tensors[at.bias], 0),
        mean(p.tensors[at.mean], 0),
        rstd(p.tensors[at.rstd], 0) {}

  /// `moments(x, row)` are those to normalise by.
  template <class MomentsAt>
  void Run(const Buffers& buffers, const MomentsAt& moments) const {
    const auto w = weight.All(buffers, places.weight), b = bias.All(buffers, places.bias);
    ParallelRows(groups.rows, groups.width, [&](int64_t row) {
      std::vector<double> values = x.Load(buffers.As<std::byte>(places.x), row);
      const Moments own = moments(values, row);
      const double scale = 1 / std::sqrt(own.variance + eps);
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t k = groups.WeightOf(row, static_cast<int64_t>(i));
        values[i] = (values[i] - own.mean) * scale * Elements::At(w, k, 1) + Elements::At(b, k, 0);
      }
      y.Store(buffers.As<std::byte>(places.y), row, values);
      mean.Set(buffers, places.mean, row, own.mean);
      rstd.Set(buffers, places.rstd, row, scale);
    });
  }

  Grouping groups;
  ForwardPlaces places;
  double eps;
  GroupedView x, y;
  Elements weight, bias, mean, rstd;
};

struct BackwardPlaces {
  size_t grad, x, weight, grad_x, grad_weight, grad_bias;
};

struct Backward {
  Backward(const Params& p, const Grouping& grouping, const BackwardPlaces& at)
      : groups(grouping),
        places(at),
        grad(p.tensors[at.grad], grouping),
        x(p.tensors[at.x], grouping),
        grad_x(p.tensors[at.grad_x], grouping),
        weight(p.tensors[at.weight], 1),
        grad_weight(p.tensors[at.grad_weight], 0),
        grad_bias(p.tensors[at.grad_bias], 0) {
    wants_x = p.flags[0] && p.tensors[at.grad_x].present();
    wants_weight = p.flags[1] && p.tensors[at.grad_weight].present();
    wants_bias = p.flags[2] && p.tensors[at.grad_bias].present();
  }

  /// `scaling(row)` is the mean and the rstd of a group; they depend on x if `through`.
  template <class Scaling>
  void Run(const Buffers& buffers, bool through, const Scaling& scaling) const {
    const auto w = weight.All(buffers, places.weight);
    const auto rows_of = [&](int64_t row) {
      auto g = grad.Load(buffers.As<std::byte>(places.grad), row);
      auto normal = x.Load(buffers.As<std::byte>(places.x), row);
      const auto [mean, rstd] = scaling(row);
      for (double& value : normal) value = (value - mean) * rstd;
      return std::pair(std::move(g), std::move(normal));
    };
    if (wants_x) {
      ParallelRows(groups.rows, groups.width, [&](int64_t row) {
        auto rows = rows_of(row);
        auto& g = rows.first;
        const auto& normal = rows.second;
        for (size_t i = 0; i < g.size(); ++i) {
          g[i] *= Elements::At(w, groups.WeightOf(row, static_cast<int64_t>(i)), 1);
        }
        const size_t n = g.size();
        const double a = through ? MeanOf(n, [&](size_t i) { return g[i]; }) : 0;
        const double b = through ? MeanOf(n, [&](size_t i) { return g[i] * normal[i]; }) : 0;
        const double rstd = scaling(row).second;
        for (size_t i = 0; i < n; ++i) g[i] = rstd * (g[i] - a - normal[i] * b);
        grad_x.Store(buffers.As<std::byte>(places.grad_x), row, g);
      });
    }
    if (!wants_weight && !wants_bias) return;
    std::vector<TreeSum<double>> weights(groups.weights), biases(groups.weights);
    for (int64_t row = 0; row < groups.rows; ++row) {
      const auto [g, normal] = rows_of(row);
      for (size_t i = 0; i < g.size(); ++i) {
        const size_t k = groups.WeightOf(row, static_cast<int64_t>(i));
        weights[k].Add(g[i] * normal[i]);
        biases[k].Add(g[i]);
      }
    }
    for (size_t k = 0; k < groups.weights; ++k) {
      const auto at = static_cast<int64_t>(k);
      if (wants_weight) grad_weight.Set(buffers, places.grad_weight, at, weights[k].Total());
      if (wants_bias) grad_bias.Set(buffers, places.grad_bias, at, biases[k].Total());
    }
  }

  Grouping groups;
  BackwardPlaces places;
  GroupedView grad, x, grad_x;
  Elements weight, grad_weight, grad_bias;
  bool wants_x = false, wants_weight = false, wants_bias = false;
};

void CheckFlags(const Params& p, const std::array<size_t, 3>& outputs, Checker& checker) {
  checker.That(p.flags.size() == 3,
               [&] { return Concat("outputMask size is ", p.flags.size(), ", expected 3"); });
  for (size_t i = 0; checker.ok() && i < 3; ++i) {
    const Operand& out = p.tensors[outputs[i]];
    checker.That(!p.flags[i] || out.present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(out.name(), " value is null, expected a tensor"); });
  }
}

/// As many elements as there are, wherever it is given.
void CheckCount(const Operand& operand, size_t count, Checker& checker) {
  checker.That(!operand.present() || operand.count() == static_cast<int64_t>(count), [&] {
    return Concat(operand.name(), " shape is ", ShapeText(operand), ", expected ", count,
                  " elements");
  });
}

void CheckWeights(const Params& p, const Grouping& groups, std::initializer_list<size_t> places,
                  Checker& checker) {
  for (const size_t at : places) CheckCount(p.tensors[at], groups.weights, checker);
}

void CheckMoments(const Params& p, const Grouping& groups, std::initializer_list<size_t> places,
                  Checker& checker) {
  for (const size_t at : places) {
    CheckCount(p.tensors[at], static_cast<size_t>(groups.rows), checker);
  }
}

void CheckNormalizedShape(const Params& p, const Operand& x, Checker& checker) {
  const auto dims = p.arrays[0].values();
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

Grouping LayersOf(const Params& p, const Operand& x) {
  return Grouping::Layers(x, static_cast<uint32_t>(p.arrays[0].values().size()));
}

/// N, C, HxW, group.
void CheckGroups(const Params& p, const Operand& x, Checker& checker) {
  const int64_t n = p.integers[0], c = p.integers[1], area = p.integers[2], g = p.integers[3];
  checker.RankBetween(x, 2, kMaxRank);
  checker.That(n == x.dim(0) && c == x.dim(1) && *x.count() == n * c * area, [&] {
    return Concat(x.name(), " shape is ", ShapeText(x), ", expected N = ", n, ", C = ", c,
                  ", HxW = ", area);
  });
  checker.That(g > 0 && c % g == 0,
               [&] { return Concat("group value is ", g, ", expected a divisor of C, ", c); });
}

}  // namespace

// input, weight, bias; out, mean, rstd.
void CheckLayerNorm(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[0];
  CheckNormalizedShape(p, x, checker);
  CheckShape(p.tensors[3], ShapeOf(x), checker);
  if (!checker.ok()) return;
  const Grouping groups = LayersOf(p, x);
  CheckWeights(p, groups, {1, 2}, checker);
  CheckMoments(p, groups, {4, 5}, checker);
}

Plan PlanLayerNorm(const Params& p) {
  const Forward forward(p, LayersOf(p, p.tensors[0]), {0, 1, 2, 3, 4, 5}, p.reals[0]);
  return {0, [=](const Buffers& buffers) -> Status {
            forward.Run(buffers,
                        [](const std::vector<double>& x, int64_t) { return MomentsOf(x); });
            return {};
          }};
}

// gradOut, input, mean, rstd, weight, bias; gradInput, gradWeight, gradBias.
void CheckLayerNormGradient(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[1];
  CheckFlags(p, {6, 7, 8}, checker);
  CheckNormalizedShape(p, x, checker);
  CheckShape(p.tensors[0], ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.tensors[6].present()) CheckShape(p.tensors[6], ShapeOf(x), checker);
  const Grouping groups = LayersOf(p, x);
  CheckMoments(p, groups, {2, 3}, checker);
  CheckWeights(p, groups, {4, 5, 7, 8}, checker);
}

namespace {

/// With mean and rstd among the operands.
Plan MakeBackward(const Params& p, const Grouping& groups, const BackwardPlaces& places) {
  const Backward backward(p, groups, places);
  const Elements mean(p.tensors[2], 0), rstd(p.tensors[3], 1);
  return {0, [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, true, [&](int64_t row) {
              return std::pair(mean.Get(buffers, 2, row), rstd.Get(buffers, 3, row));
            });
            return {};
          }};
}

}  // namespace

Plan PlanLayerNormGradient(const Params& p) {
  return MakeBackward(p, LayersOf(p, p.tensors[1]), {0, 1, 4, 6, 7, 8});
}

// self, gamma, beta; out, mean, rstd.
void CheckGroupNorm(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[0];
  CheckGroups(p, x, checker);
  CheckShape(p.tensors[3], ShapeOf(x), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Groups(x, p.integers[3]);
  CheckWeights(p, groups, {1, 2}, checker);
  CheckMoments(p, groups, {4, 5}, checker);
}

Plan PlanGroupNorm(const Params& p) {
  const Forward forward(p, Grouping::Groups(p.tensors[0], p.integers[3]), {0, 1, 2, 3, 4, 5},
                        p.reals[0]);
  return {0, [=](const Buffers& buffers) -> Status {
            forward.Run(buffers,
                        [](const std::vector<double>& x, int64_t) { return MomentsOf(x); });
            return {};
          }};
}

// gradOut, input, mean, rstd, gamma; gradInput, gradGamma, gradBeta.
void CheckGroupNormGradient(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[1];
  CheckFlags(p, {5, 6, 7}, checker);
  CheckGroups(p, x, checker);
  CheckShape(p.tensors[0], ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.tensors[5].present()) CheckShape(p.tensors[5], ShapeOf(x), checker);
  const Grouping groups = Grouping::Groups(x, p.integers[3]);
  CheckMoments(p, groups, {2, 3}, checker);
  CheckWeights(p, groups, {4, 6, 7}, checker);
}

Plan PlanGroupNormGradient(const Params& p) {
  return MakeBackward(p, Grouping::Groups(p.tensors[1], p.integers[3]), {0, 1, 4, 5, 6, 7});
}

// input, weight, bias, runningMean, runningVar; output, saveMean, saveInvstd. training.
void CheckBatchNorm(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[0];
  const bool training = p.integers[0] != 0;
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.tensors[5], ShapeOf(x), checker);
  if (!checker.ok()) return;
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(p, groups, {1, 2, 3, 4}, checker);
  if (training) CheckWeights(p, groups, {6, 7}, checker);
  for (const size_t at : {size_t{3}, size_t{4}}) {
    checker.That(training || p.tensors[at].present(), ACLNN_ERR_PARAM_NULLPTR, [&] {
      return Concat(p.tensors[at].name(), " value is null, expected a tensor unless training");
    });
  }
}

// In training the running moments move toward those of the batch by momentum.
Plan PlanBatchNorm(const Params& p) {
  const Forward forward(p, Grouping::Channels(p.tensors[0]), {0, 1, 2, 5, 6, 7}, p.reals[1]);
  const Elements mean(p.tensors[3], 0), variance(p.tensors[4], 1);
  const bool training = p.integers[0] != 0;
  const double momentum = p.reals[0];
  return {0, [=](const Buffers& buffers) -> Status {
            forward.Run(buffers, [&](const std::vector<double>& x, int64_t row) -> Moments {
              if (!training) return {mean.Get(buffers, 3, row), variance.Get(buffers, 4, row)};
              const Moments own = MomentsOf(x);
              const auto n = static_cast<double>(x.size());
              const auto move = [&](const Elements& to, size_t at, double value) {
                const double old = to.Get(buffers, at, row);
                to.Set(buffers, at, row, old + momentum * (value - old));
              };
              move(mean, 3, own.mean);
              move(variance, 4, own.variance * n / (n - 1));
              return own;
            });
            return {};
          }};
}

// gradOut, input, weight, runningMean, runningVar, saveMean, saveInvstd; gradInput, gradWeight,
// gradBias. training.
void CheckBatchNormGradient(const Params& p, Checker& checker) {
  const Operand& x = p.tensors[1];
  const bool training = p.integers[0] != 0;
  CheckFlags(p, {7, 8, 9}, checker);
  checker.RankBetween(x, 2, kMaxRank);
  CheckShape(p.tensors[0], ShapeOf(x), checker);
  if (!checker.ok()) return;
  if (p.tensors[7].present()) CheckShape(p.tensors[7], ShapeOf(x), checker);
  const Grouping groups = Grouping::Channels(x);
  CheckWeights(p, groups, {2, 8, 9}, checker);
  for (const size_t at : {training ? size_t{5} : size_t{3}, training ? size_t{6} : size_t{4}}) {
    checker.That(p.tensors[at].present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(p.tensors[at].name(), " value is null, expected a tensor"); });
    CheckCount(p.tensors[at], groups.weights, checker);
  }
}

Plan PlanBatchNormGradient(const Params& p) {
  const Backward backward(p, Grouping::Channels(p.tensors[1]), {0, 1, 2, 7, 8, 9});
  const bool training = p.integers[0] != 0;
  const double eps = p.reals[0];
  const size_t mean_at = training ? 5 : 3, scale_at = training ? 6 : 4;
  const Elements mean(p.tensors[mean_at], 0), scale(p.tensors[scale_at], 1);
  return {0, [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, training, [&](int64_t row) {
              const double own = scale.Get(buffers, scale_at, row);
              return std::pair(mean.Get(buffers, mean_at, row),
                               training ? own : 1 / std::sqrt(own + eps));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
