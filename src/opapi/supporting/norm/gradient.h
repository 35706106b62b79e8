// SPDX-License-Identifier: Apache-2.0
// The gradients of what is normalised: by x, and sums over the groups by weights and biases.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/rows/double_rows.h"
#include "kernels/rows/normal_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/norm/fusion.h"
#include "supporting/norm/grouping.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

inline const NormalKernels& RowsOfFloats() { return *OPENACLNN_TARGET_SELECT(kNormalKernels); }
inline const NarrowNormalKernels& NarrowRows() {
  return *OPENACLNN_TARGET_SELECT(kNarrowNormalKernels);
}

/// Whether float multiplies by such a factor for results of 16 bits: what it loses of the factor
/// itself, and of products that underflow, is far below half of the least BFLOAT16, 2^-134.
inline bool IsModest(double factor) {
  const double size = std::abs(factor);
  return size == 0 || (size >= 0x1p-100 && size <= 0x1p12);
}

/// Whether moments are modest: a mean so small that it loses digits as two floats is none for
/// float.
inline bool AreModest(double mean, double rstd) {
  return (mean == 0 || std::abs(mean) >= 0x1p-100) && IsModest(rstd);
}

/// Weights as float, of rows whose results have 16 bits; none where float would not do.
inline std::vector<float> NarrowWeights(bool narrow, const std::vector<double>& weights) {
  if (!narrow || !std::ranges::all_of(weights, IsModest)) return {};
  return {weights.begin(), weights.end()};
}

/// Calls body(weight, first, n) for the elements of a group that share a weight; for all at once
/// where each has its own, with the first one.
template <class Body>
void ForWeights(const Grouping& groups, int64_t row, const Body& body) {
  if (groups.OneEach()) {
    if (groups.width > 0) body(size_t{0}, int64_t{0}, groups.width);
    return;
  }
  for (int64_t i = 0; i < groups.width; i += groups.weight_elements) {
    body(groups.WeightOf(row, i), i, std::min(groups.weight_elements, groups.width - i));
  }
}

/// Which statistics of a group depend on x: each adds a term to the gradient by x.
enum class Statistics {
  kGiven,    // none
  kScale,    // rstd; the mean is 0
  kMoments,  // the mean and rstd
};

struct BackwardTensors {
  const Tensor &grad, &x, &weight, &grad_x, &grad_weight, &grad_bias;
  const Tensor& bias = NoTensor();  // only swish asks for it
};

/// A group of the gradient, and of x normalised.
struct RowPair {
  GradientSums Sums(int64_t first, int64_t n) const {
    const double* const g = grad.data() + first;
    return {DoubleRows().sum.row(g, n), DoubleRows().products(g, normal.data() + first, n)};
  }

  std::vector<double> grad, normal;
};

/// Where rows that are not dense and of type FLOAT are.
struct Rooms {
  std::vector<float> grad, x, result;
};

/// Operands as floats.
struct FloatPair {
  /// The elements from `first` on, each with a weight or all with one.
  template <class Weight>
  NormalRow<Weight> Part(int64_t first, const Weight* weight, bool one_weight) const {
    return {row.x + first, row.mean, row.rstd, weight, one_weight};
  }
  GradientSums Sums(int64_t first, int64_t n) const {
    constexpr double kOne = 1;
    const NormalRow<double> part = Part(first, &kOne, true);
    return RowsOfFloats().sums(part, grad + first, n);
  }

  const float* grad;
  NormalRow<double> row;
};

/// Rows that are summed at once, one after the other.
template <class Pair>
struct SomeRows {
  std::array<Pair, kNormalRows> rows;
  int64_t count;
};

/// The gradients of weights and biases so far.
struct WeightSums {
  explicit WeightSums(size_t count = 0) : weights(count), biases(count) {}

  WeightSums& operator+=(const SomeRows<FloatPair>& term) {
    NormalRow<double> rows[kNormalRows];
    const float* grads[kNormalRows];
    for (int64_t r = 0; r < term.count; ++r) {
      const FloatPair& row = term.rows[static_cast<size_t>(r)];
      rows[r] = row.row;
      grads[r] = row.grad;
    }
    const auto n = static_cast<int64_t>(weights.size());
    RowsOfFloats().add(rows, grads, term.count, n, weights.data(), biases.data());
    return *this;
  }
  WeightSums& operator+=(const SomeRows<RowPair>& term) {
    const auto n = static_cast<int64_t>(weights.size());
    for (int64_t r = 0; r < term.count; ++r) {
      const RowPair& row = term.rows[static_cast<size_t>(r)];
      DoubleRows().add_products(weights.data(), row.grad.data(), row.normal.data(), n);
      DoubleRows().sum.join(row.grad.data(), n, biases.data());
    }
    return *this;
  }
  friend WeightSums operator+(WeightSums a, const WeightSums& b) {
    const auto n = static_cast<int64_t>(a.weights.size());
    DoubleRows().sum.join(b.weights.data(), n, a.weights.data());
    DoubleRows().sum.join(b.biases.data(), n, a.biases.data());
    return a;
  }

  std::vector<double> weights, biases;
};

struct Backward {
  Backward(const Grouping& grouping, const BackwardTensors& of, const std::vector<bool>& mask,
           std::optional<Fusion> more = {})
      : groups(grouping),
        fusion(std::move(more)),
        grad(of.grad, grouping, &parts),
        x(of.x, grouping, &parts),
        grad_x(of.grad_x, grouping),
        weight(of.weight, 1),
        bias(of.bias, 0),
        grad_weight(of.grad_weight, 0),
        grad_bias(of.grad_bias, 0),
        wants_x(mask[0] && of.grad_x.present()),
        wants_weight(mask[1] && of.grad_weight.present()),
        wants_bias(mask[2] && of.grad_bias.present()) {}

  /// `scaling(row)` is the mean and the rstd of a group.
  template <class Scaling>
  void Run(const Buffers& buffers, Statistics statistics, const Scaling& scaling) const {
    grad.Take(buffers);
    x.Take(buffers);
    const bool swishes = fusion && fusion->swish;
    Weights w = wants_x || swishes ? weight.All(buffers) : Weights();
    w.resize(groups.weights, 1);  // what is absent
    Weights b = swishes ? bias.All(buffers) : Weights();
    b.resize(groups.weights, 0);
    if (!fusion && grad.floats() && x.floats() && (!wants_x || grad_x.floats())) {
      return RunFloats(buffers, w, statistics, scaling);
    }
    const DoubleRowKernels& kernels = DoubleRows();
    const int64_t n = groups.width;
    const auto rows_of = [&](int64_t row, Rooms*) {
      RowPair rows{grad.Load(buffers, row), x.Load(buffers, row)};
      const auto [mean, rstd] = scaling(row);
      if (fusion) fusion->Sum(buffers, row, &rows.normal);
      kernels.scale(rows.normal.data(), mean, rstd, n);
      if (swishes) ThroughSwish(row, w, b, &rows);
      return rows;
    };
    const auto weigh = [&](int64_t row, RowPair* rows) {
      double* const g = rows->grad.data();
      if (groups.OneEach()) return kernels.multiply(g, w.data(), n);
      ForWeights(groups, row, [&](size_t k, int64_t first, int64_t count) {
        kernels.scale(g + first, 0, w[k], count);
      });
    };
    const auto put = [&](int64_t row, RowPair* rows, const Slopes& slopes) {
      kernels.project(rows->grad.data(), rows->normal.data(), scaling(row).second, slopes.shift,
                      slopes.slope, n);
      if (fusion && fusion->later) fusion->later->AddTo(buffers, row, &rows->grad);
      grad_x.Store(buffers, row, rows->grad);
      if (!fusion || !fusion->by_operand) return;
      kernels.scale(rows->grad.data(), 0, fusion->factor, n);
      fusion->by_operand->Store(buffers, row, rows->grad);
    };
    if (!groups.OneEach()) {
      return RunParts(buffers, w, statistics, rows_of,
                      [&](int64_t row, RowPair* rows, Rooms*, const Slopes& slopes) {
                        weigh(row, rows);
                        put(row, rows, slopes);
                      });
    }
    RunRows(buffers, rows_of, [&](int64_t row, RowPair* rows, Rooms*) {
      weigh(row, rows);
      const GradientSums sums = rows->Sums(0, n);
      put(row, rows, SlopesOf(statistics, sums));
    });
  }

  /// The workspace's size.
  uint64_t bytes() const { return parts.bytes(); }

  Grouping groups;
  std::optional<Fusion> fusion;
  ScratchParts parts;
  GroupedView grad, x, grad_x;
  Elements weight, bias, grad_weight, grad_bias;
  bool wants_x, wants_weight, wants_bias;

 private:
  using Weights = std::vector<double>;
  static constexpr int64_t kChunk = 64;  // rows of a tree in sequence
  using RowSum = TreeSum<WeightSums, kChunk / kNormalRows>;

  /// dx = rstd * (g * weight - shift - normal * slope)
  struct Slopes {
    double shift = 0, slope = 0;
  };

  /// With the sums over a group, of gradients times weights.
  Slopes SlopesOf(Statistics statistics, const GradientSums& sums) const {
    const auto count = static_cast<double>(groups.width);
    Slopes slopes;
    if (statistics == Statistics::kMoments) slopes.shift = sums.gradients / count;
    if (statistics != Statistics::kGiven) slopes.slope = sums.products / count;
    return slopes;
  }

  /// The gradient by the result of swish becomes that by its operand.
  void ThroughSwish(int64_t row, const Weights& w, const Weights& b, RowPair* rows) const {
    std::vector<double> z = rows->normal;
    ForWeights(groups, row, [&](size_t k, int64_t first, int64_t count) {
      double* const part = z.data() + first;
      if (!groups.OneEach()) return DoubleRows().move(part, w[k], b[k], count);
      DoubleRows().weigh(part, &w[k], &b[k], count);
    });
    Swishes().gradient(rows->grad.data(), z.data(), *fusion->swish, groups.width);
  }

  /// Run for floats, without copies in double: the same bits where dx is FLOAT; 16-bit results are
  /// computed in float.
  template <class Scaling>
  void RunFloats(const Buffers& buffers, const Weights& w, Statistics statistics,
                 const Scaling& scaling) const {
    const NormalKernels& kernels = RowsOfFloats();
    const int64_t n = groups.width;
    const std::vector<float> narrow_w = NarrowWeights(wants_x && grad_x.narrow(), w);
    const auto pair_of = [&](int64_t row, Rooms* rooms) {
      const auto [mean, rstd] = scaling(row);
      return FloatPair{grad.LoadFloats(buffers, row, &rooms->grad),
                       {x.LoadFloats(buffers, row, &rooms->x), mean, rstd, w.data()}};
    };
    const auto put = [&](int64_t row, FloatPair* own, Rooms* rooms, const Slopes& slopes) {
      grad_x.PutFloats(buffers, row, &rooms->result, [&](float* to) {
        const bool in_float =
            !narrow_w.empty() && AreModest(own->row.mean, own->row.rstd) && IsModest(slopes.slope);
        ForWeights(groups, row, [&](size_t k, int64_t first, int64_t count) {
          const float* const g = own->grad + first;
          if (in_float && NarrowRows().gradient(own->Part(first, &narrow_w[k], !groups.OneEach()),
                                                g, slopes.shift, slopes.slope, count, to + first)) {
            return;
          }
          kernels.gradient(own->Part(first, &w[k], !groups.OneEach()), g, slopes.shift,
                           slopes.slope, count, grad_x.narrow(), to + first);
        });
      });
    };
    if (!groups.OneEach()) return RunParts(buffers, w, statistics, pair_of, put);
    RunRows(buffers, pair_of, [&](int64_t row, FloatPair* own, Rooms* rooms) {
      put(row, own, rooms, SlopesOf(statistics, kernels.sums(own->row, own->grad, n)));
    });
  }

  /// Neighbours share weights: what they add to a weight's gradient, times the weight, is what they
  /// add to the sums over their group.
  template <class PairOf, class PutRow>
  void RunParts(const Buffers& buffers, const Weights& w, Statistics statistics,
                const PairOf& pair_of, const PutRow& put) const {
    const auto of_row = static_cast<size_t>(groups.part_weights);
    const bool sums = wants_weight || wants_bias;
    WeightSums terms(sums ? static_cast<size_t>(groups.rows) * of_row : 0);
    ParallelRowsIn<Rooms>(groups.rows, groups.width, [&](int64_t row, Rooms* rooms) {
      auto pair = pair_of(row, rooms);
      TreeSum<double> weighted, products;
      size_t at = static_cast<size_t>(row) * of_row;
      const auto add = [&](size_t k, int64_t first, int64_t n) {
        const GradientSums part = pair.Sums(first, n);
        weighted.Add(part.gradients * w[k]);
        products.Add(part.products * w[k]);
        if (!sums) return;
        terms.weights[at] = part.products;
        terms.biases[at++] = part.gradients;
      };
      if (sums || statistics != Statistics::kGiven) ForWeights(groups, row, add);
      if (wants_x) {
        put(row, &pair, rooms, SlopesOf(statistics, {weighted.Total(), products.Total()}));
      }
    });
    if (sums) Put(buffers, SumsOfParts(terms));
  }

  void Put(const Buffers& buffers, const WeightSums& sums) const {
    for (size_t k = 0; k < groups.weights; ++k) {
      const auto at = static_cast<int64_t>(k);
      if (wants_weight) grad_weight.Set(buffers, at, sums.weights[k]);
      if (wants_bias) grad_bias.Set(buffers, at, sums.biases[k]);
    }
  }

  /// Each element of a row has a weight of its own. Of many rows each is read once for all that is
  /// wanted.
  template <class PairOf, class PutRow>
  void RunRows(const Buffers& buffers, const PairOf& pair_of, const PutRow& put) const {
    // So many keep as many threads busy. 2,048 rows of 2,048 FLOAT, 32 parts, with two threads of a
    // Sapphire Rapids: 1.15 times as fast as reading them twice.
    constexpr int64_t kManyParts = 16;
    const bool sums = wants_weight || wants_bias, at_once = sums && PartsOfRows() >= kManyParts;
    if (wants_x && !at_once) {
      ParallelRowsIn<Rooms>(groups.rows, groups.width, [&](int64_t row, Rooms* rooms) {
        auto pair = pair_of(row, rooms);
        put(row, &pair, rooms);
      });
    }
    if (sums) Put(buffers, SumsOfRows(pair_of, put, wants_x && at_once));
  }

  /// Rows of a part of the tree of their sums.
  int64_t RowsOfPart() const {
    constexpr int64_t kMostParts = 64, kGrain = 32768;
    int64_t length = kChunk;
    while (length < DivideUp(groups.rows, kMostParts) ||
           length * std::max<int64_t>(groups.width, 1) < kGrain)
      length *= 2;
    return length;
  }
  int64_t PartsOfRows() const { return DivideUp(groups.rows, RowsOfPart()); }

  /// The rows are summed in parts of the tree, and put too.
  template <class PairOf, class PutRow>
  WeightSums SumsOfRows(const PairOf& pair_of, const PutRow& put, bool puts) const {
    const int64_t length = RowsOfPart(), parts = PartsOfRows();
    std::vector<WeightSums> totals(static_cast<size_t>(parts));
    ParallelFor(parts, [&](int64_t part) {
      RowSum sum{WeightSums(groups.weights)};
      const int64_t end = std::min((part + 1) * length, groups.rows);
      std::array<Rooms, kNormalRows> rooms;
      for (int64_t row = part * length; row < end; row += kNormalRows) {
        SomeRows<decltype(pair_of(row, nullptr))> some;
        some.count = std::min(kNormalRows, end - row);
        const auto for_each = [&](const auto& body) {
          for (int64_t r = 0; r < some.count; ++r) {
            const auto at = static_cast<size_t>(r);
            body(row + r, &some.rows[at], &rooms[at]);
          }
        };
        for_each([&](int64_t own, auto* pair, Rooms* room) { *pair = pair_of(own, room); });
        sum.Add(some);
        if (puts) for_each(put);
      }
      totals[static_cast<size_t>(part)] = sum.Total();
    });
    if (parts == 0) return WeightSums(groups.weights);
    return SumParts(0, parts, [&](int64_t part) { return totals[static_cast<size_t>(part)]; });
  }

  /// The terms that groups add to each of their weights, summed over the groups.
  WeightSums SumsOfParts(const WeightSums& terms) const {
    const auto of_row = static_cast<size_t>(groups.part_weights);
    WeightSums sums(groups.weights);
    for (size_t k = 0; k < groups.weights; ++k) {
      TreeSum<double> weight_sum, bias_sum;
      const auto turns = static_cast<size_t>(groups.parts);
      for (auto row = k / of_row; row < static_cast<size_t>(groups.rows); row += turns) {
        weight_sum.Add(terms.weights[row * of_row + k % of_row]);
        bias_sum.Add(terms.biases[row * of_row + k % of_row]);
      }
      sums.weights[k] = weight_sum.Total();
      sums.biases[k] = bias_sum.Total();
    }
    return sums;
  }
};

/// With mean and rstd among the tensors.
inline Plan MakeBackward(const Backward& backward, const Tensor& mean_of, const Tensor& rstd_of) {
  const Elements mean(mean_of, 0), rstd(rstd_of, 1);
  return {backward.bytes(), [=](const Buffers& buffers) -> Status {
            backward.Run(buffers, Statistics::kMoments, [&](int64_t row) {
              return std::pair(mean.Get(buffers, row), rstd.Get(buffers, row));
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
