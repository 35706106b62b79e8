// SPDX-License-Identifier: Apache-2.0
// BatchNorm over several devices, step by step: moments of each channel on a device, moments of all
// devices together, the normalisation by them, and the same for gradients.
#include <cmath>

#include "generated/norm.h"
#include "supporting/norm/checks.h"
#include "supporting/norm/forward.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

/// x has channels, and `of_channels` have an element for each of them.
void CheckChannels(const Tensor& x, Tensors like_x, Tensors of_channels, Checker& checker) {
  checker.RankBetween(x, 2, kMaxRank);
  for (const Tensor& tensor : like_x) CheckShape(tensor, ShapeOf(x), checker);
  if (checker.ok()) CheckMoments(Grouping::Channels(x), of_channels, checker);
}

/// Calls compute(channel) for each channel of x.
template <class Compute>
void ForChannels(const Grouping& groups, const Compute& compute) {
  ParallelRows(groups.rows, groups.width, compute);
}

/// Tensors with an element for each device and channel, and counts for each device.
void CheckDevices(const Tensor& first, const Tensor& second, const Tensor& counts,
                  Tensors of_channels, Checker& checker) {
  checker.RankBetween(first, 2, 2);
  CheckShape(second, ShapeOf(first), checker);
  if (!checker.ok()) return;
  CheckCount(counts, static_cast<size_t>(first.dim(0)), checker);
  for (const Tensor& tensor : of_channels) {
    CheckCount(tensor, static_cast<size_t>(first.dim(1)), checker);
  }
}

/// The tensors to which moments of all devices go.
struct Gathered {
  Gathered(const Tensor& running_mean, const Tensor& running_var, const Tensor& mean_all,
           const Tensor& rstd_all, double moving, double epsilon)
      : running{Elements(running_mean, 0), Elements(running_var, 1), moving},
        mean(mean_all, 0),
        rstd(rstd_all, 0),
        eps(epsilon) {}

  /// With the moments of a channel's n elements.
  void Put(const Buffers& buffers, int64_t channel, const Moments& own, double n) const {
    mean.Set(buffers, channel, own.mean);
    rstd.Set(buffers, channel, 1 / std::sqrt(own.variance + eps));
    running.Move(buffers, channel, own, n);
  }

  RunningMoments running;
  Elements mean, rstd;
  double eps;
};

/// The sum of term(device).
template <class Term>
double SumOf(int64_t devices, const Term& term) {
  TreeSum<double> sum;
  for (int64_t i = 0; i < devices; ++i) sum.Add(term(i));
  return sum.Total();
}

double Total(const std::vector<double>& values) {
  return DoubleRows().sum.row(values.data(), static_cast<int64_t>(values.size()));
}

}  // namespace

void CheckBatchNormStats(const BatchNormStatsParams& p, Checker& checker) {
  CheckChannels(p.input, {}, {p.mean, p.invstd}, checker);
}

Plan PlanBatchNormStats(const BatchNormStatsParams& p, const Product&) {
  const Grouping groups = Grouping::Channels(p.input);
  const GroupedView x(p.input, groups);
  const Elements mean(p.mean, 0), rstd(p.invstd, 0);
  const double eps = p.eps;
  return {0, [=](const Buffers& buffers) -> Status {
            ForChannels(groups, [&](int64_t channel) {
              const Moments own = MomentsOf(x.Load(buffers, channel).data(), groups.width);
              mean.Set(buffers, channel, own.mean);
              rstd.Set(buffers, channel, 1 / std::sqrt(own.variance + eps));
            });
            return {};
          }};
}

void CheckBatchNormElemt(const BatchNormElemtParams& p, Checker& checker) {
  CheckChannels(p.input, {p.output}, {p.weight, p.bias, p.mean, p.invstd}, checker);
}

Plan PlanBatchNormElemt(const BatchNormElemtParams& p, const Product&) {
  const Grouping groups = Grouping::Channels(p.input);
  const GroupedView x(p.input, groups), y(p.output, groups);
  const Elements weight(p.weight, 1), bias(p.bias, 0), mean(p.mean, 0), rstd(p.invstd, 1);
  return {0, [=](const Buffers& buffers) -> Status {
            ForChannels(groups, [&](int64_t channel) {
              std::vector<double> values = x.Load(buffers, channel);
              DoubleRows().scale(values.data(), mean.Get(buffers, channel),
                                 rstd.Get(buffers, channel), groups.width);
              DoubleRows().move(values.data(), weight.Get(buffers, channel),
                                bias.Get(buffers, channel), groups.width);
              y.Store(buffers, channel, values);
            });
            return {};
          }};
}

void CheckBatchNormReduce(const BatchNormReduceParams& p, Checker& checker) {
  CheckChannels(p.input, {}, {p.sum, p.squareSum}, checker);
}

Plan PlanBatchNormReduce(const BatchNormReduceParams& p, const Product&) {
  const Grouping groups = Grouping::Channels(p.input);
  const GroupedView x(p.input, groups);
  const Elements sum(p.sum, 0), squares(p.squareSum, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            ForChannels(groups, [&](int64_t channel) {
              const std::vector<double> values = x.Load(buffers, channel);
              sum.Set(buffers, channel, Total(values));
              squares.Set(buffers, channel, DoubleRows().distances(values.data(), 0, groups.width));
            });
            return {};
          }};
}

void CheckBatchNormGatherStatsWithCounts(const BatchNormGatherStatsWithCountsParams& p,
                                         Checker& checker) {
  CheckDevices(p.mean, p.invstd, p.counts, {p.runningMean, p.runningVar, p.meanAll, p.invstdAll},
               checker);
  CheckChannels(p.input, {}, {p.meanAll}, checker);
}

// The elements of a device have a variance of 1 / invstd^2 - eps.
Plan PlanBatchNormGatherStatsWithCounts(const BatchNormGatherStatsWithCountsParams& p,
                                        const Product&) {
  const Gathered gathered(p.runningMean, p.runningVar, p.meanAll, p.invstdAll, p.momentum, p.eps);
  const Elements mean(p.mean, 0), rstd(p.invstd, 0), counts(p.counts, 0);
  const int64_t devices = p.mean.dim(0), channels = p.mean.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<double> n = counts.All(buffers);
            const double total = Total(n);
            for (int64_t c = 0; c < channels; ++c) {
              const auto mean_of = [&](int64_t i) { return mean.Get(buffers, i * channels + c); };
              const auto count_of = [&](int64_t i) { return n[static_cast<size_t>(i)]; };
              Moments own;
              own.mean =
                  SumOf(devices, [&](int64_t i) { return count_of(i) * mean_of(i); }) / total;
              const double squares = SumOf(devices, [&](int64_t i) {
                const double scale = rstd.Get(buffers, i * channels + c);
                const double away = mean_of(i) - own.mean;
                return count_of(i) * (1 / (scale * scale) - gathered.eps + away * away);
              });
              own.variance = squares / total;
              gathered.Put(buffers, c, own, total);
            }
            return {};
          }};
}

void CheckSyncBatchNormGatherStats(const SyncBatchNormGatherStatsParams& p, Checker& checker) {
  CheckDevices(p.totalSum, p.totalSquareSum, p.sampleCount,
               {p.runningMean, p.runningVar, p.batchMean, p.batchInvstd}, checker);
}

Plan PlanSyncBatchNormGatherStats(const SyncBatchNormGatherStatsParams& p, const Product&) {
  const Gathered gathered(p.runningMean, p.runningVar, p.batchMean, p.batchInvstd, p.momentum,
                          p.eps);
  const Elements sum(p.totalSum, 0), squares(p.totalSquareSum, 0), counts(p.sampleCount, 0);
  const int64_t devices = p.totalSum.dim(0), channels = p.totalSum.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            const double total = Total(counts.All(buffers));
            for (int64_t c = 0; c < channels; ++c) {
              const auto mean_of = [&](const Elements& each) {
                return SumOf(devices,
                             [&](int64_t i) { return each.Get(buffers, i * channels + c); }) /
                       total;
              };
              const double mean = mean_of(sum);
              gathered.Put(buffers, c, {mean, mean_of(squares) - mean * mean}, total);
            }
            return {};
          }};
}

void CheckBatchNormReduceBackward(const BatchNormReduceBackwardParams& p, Checker& checker) {
  CheckChannels(p.input, {p.gradOut},
                {p.mean, p.invstd, p.weight, p.sumDy, p.sumDyXmu, p.gradWeight, p.gradBias},
                checker);
  const auto wants = [&](bool asked, const Tensor& tensor) {
    checker.That(!asked || tensor.present(), ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat(tensor.name(), " value is null, expected a tensor"); });
  };
  wants(p.inputG, p.sumDy);
  wants(p.inputG, p.sumDyXmu);
  wants(p.weightG, p.gradWeight);
  wants(p.biasG, p.gradBias);
}

Plan PlanBatchNormReduceBackward(const BatchNormReduceBackwardParams& p, const Product&) {
  const Grouping groups = Grouping::Channels(p.input);
  const GroupedView x(p.input, groups), grad(p.gradOut, groups);
  const Elements mean(p.mean, 0), rstd(p.invstd, 1), sum(p.sumDy, 0), products(p.sumDyXmu, 0),
      by_weight(p.gradWeight, 0), by_bias(p.gradBias, 0);
  const bool by_x = p.inputG, wants_weight = p.weightG, wants_bias = p.biasG;
  return {0, [=](const Buffers& buffers) -> Status {
            ForChannels(groups, [&](int64_t channel) {
              RowPair rows{grad.Load(buffers, channel), x.Load(buffers, channel)};
              DoubleRows().scale(rows.normal.data(), mean.Get(buffers, channel), 1, groups.width);
              const GradientSums sums = rows.Sums(0, groups.width);
              if (by_x) sum.Set(buffers, channel, sums.gradients);
              if (by_x) products.Set(buffers, channel, sums.products);
              if (wants_weight) {
                by_weight.Set(buffers, channel, sums.products * rstd.Get(buffers, channel));
              }
              if (wants_bias) by_bias.Set(buffers, channel, sums.gradients);
            });
            return {};
          }};
}

void CheckBatchNormElemtBackward(const BatchNormElemtBackwardParams& p, Checker& checker) {
  CheckChannels(p.input, {p.gradOut, p.gradInput},
                {p.mean, p.invstd, p.weight, p.sumDy, p.sumDyXmu}, checker);
}

Plan PlanBatchNormElemtBackward(const BatchNormElemtBackwardParams& p, const Product&) {
  const Grouping groups = Grouping::Channels(p.input);
  const GroupedView x(p.input, groups), grad(p.gradOut, groups), by_x(p.gradInput, groups);
  const Elements mean(p.mean, 0), rstd(p.invstd, 1), weight(p.weight, 1), sum(p.sumDy, 0),
      products(p.sumDyXmu, 0), counter(p.counter, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const double n = Total(counter.All(buffers));
            ForChannels(groups, [&](int64_t channel) {
              RowPair rows{grad.Load(buffers, channel), x.Load(buffers, channel)};
              const double scale = rstd.Get(buffers, channel);
              DoubleRows().scale(rows.normal.data(), mean.Get(buffers, channel), 1, groups.width);
              DoubleRows().project(
                  rows.grad.data(), rows.normal.data(), scale * weight.Get(buffers, channel),
                  sum.Get(buffers, channel) / n,
                  scale * scale * (products.Get(buffers, channel) / n), groups.width);
              by_x.Store(buffers, channel, rows.grad);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
