// SPDX-License-Identifier: Apache-2.0
// The gradients of what is normalised: by x, and sums over the groups by weights and biases.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/double_rows.h"
#include "kernels/normal_rows.h"
#include "kernels/rows.h"
#include "supporting/norm/grouping.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

inline const DoubleRowKernels& Kernels() { return *OPENACLNN_TARGET_SELECT(kDoubleRowKernels); }
inline const NormalKernels& RowsOfFloats() { return *OPENACLNN_TARGET_SELECT(kNormalKernels); }

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

struct BackwardTensors {
  const Tensor &grad, &x, &weight, &grad_x, &grad_weight, &grad_bias;
};

/// What neighbours that share a weight add to its gradient and to the bias's.
struct PartSums {
  double weight, bias;
};

/// A group of the gradient, and of x normalised.
struct RowPair {
  PartSums Sums(int64_t first, int64_t n) const {
    const double* const g = grad.data() + first;
    return {Kernels().products(g, normal.data() + first, n), Kernels().sum.row(g, n)};
  }

  std::vector<double> grad, normal;
};

/// Where rows that are not dense and of type FLOAT are.
struct Rooms {
  std::vector<float> grad, x, result;
};

/// The same of floats.
struct FloatPair {
  /// Of elements from `first` on, all with one weight.
  NormalRow Part(int64_t first, const double* weight) const {
    return {row.x + first, row.mean, row.rstd, weight, true};
  }
  PartSums Sums(int64_t first, int64_t n) const {
    constexpr double kOne = 1;
    const NormalRow part = Part(first, &kOne);
    return {RowsOfFloats().products(part, grad + first, n),
            RowsOfFloats().gradients(part, grad + first, n)};
  }

  const float* grad;
  NormalRow row;
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
    NormalRow rows[kNormalRows];
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
      Kernels().add_products(weights.data(), row.grad.data(), row.normal.data(), n);
      Kernels().sum.join(row.grad.data(), n, biases.data());
    }
    return *this;
  }
  friend WeightSums operator+(WeightSums a, const WeightSums& b) {
    const auto n = static_cast<int64_t>(a.weights.size());
    Kernels().sum.join(b.weights.data(), n, a.weights.data());
    Kernels().sum.join(b.biases.data(), n, a.biases.data());
    return a;
  }

  std::vector<double> weights, biases;
};

struct Backward {
  Backward(const Grouping& grouping, const BackwardTensors& of, const std::vector<bool>& mask)
      : groups(grouping),
        grad(of.grad, grouping),
        x(of.x, grouping),
        grad_x(of.grad_x, grouping),
        weight(of.weight, 1),
        grad_weight(of.grad_weight, 0),
        grad_bias(of.grad_bias, 0),
        wants_x(mask[0] && of.grad_x.present()),
        wants_weight(mask[1] && of.grad_weight.present()),
        wants_bias(mask[2] && of.grad_bias.present()) {}

  /// `scaling(row)` is the mean and the rstd of a group; they depend on x if `through`.
  template <class Scaling>
  void Run(const Buffers& buffers, bool through, const Scaling& scaling) const {
    Weights w = wants_x ? weight.All(buffers) : Weights();
    w.resize(groups.weights, 1);  // what is absent
    if (grad.floats() && x.floats() && (!wants_x || grad_x.floats())) {
      return RunFloats(buffers, w, through, scaling);
    }
    const DoubleRowKernels& kernels = Kernels();
    const int64_t n = groups.width;
    const auto rows_of = [&](int64_t row, Rooms*) {
      RowPair rows{grad.Load(buffers, row), x.Load(buffers, row)};
      const auto [mean, rstd] = scaling(row);
      kernels.scale(rows.normal.data(), mean, rstd, n);
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
      grad_x.Store(buffers, row, rows->grad);
    };
    if (!groups.OneEach()) {
      return RunParts(buffers, w, through, rows_of,
                      [&](int64_t row, RowPair* rows, Rooms*, const Slopes& slopes) {
                        weigh(row, rows);
                        put(row, rows, slopes);
                      });
    }
    if (wants_x) {
      ParallelRows(groups.rows, n, [&](int64_t row) {
        RowPair rows = rows_of(row, nullptr);
        weigh(row, &rows);
        const PartSums sums = rows.Sums(0, n);
        put(row, &rows, SlopesOf(through, sums));
      });
    }
    if (wants_weight || wants_bias) Put(buffers, SumsOfRows(rows_of));
  }

  Grouping groups;
  GroupedView grad, x, grad_x;
  Elements weight, grad_weight, grad_bias;
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
  Slopes SlopesOf(bool through, const PartSums& sums) const {
    const auto count = static_cast<double>(groups.width);
    return through ? Slopes{sums.bias / count, sums.weight / count} : Slopes{};
  }

  /// The same of floats, without copies in double: the same bits.
  template <class Scaling>
  void RunFloats(const Buffers& buffers, const Weights& w, bool through,
                 const Scaling& scaling) const {
    const NormalKernels& kernels = RowsOfFloats();
    const int64_t n = groups.width;
    const auto pair_of = [&](int64_t row, Rooms* rooms) {
      const auto [mean, rstd] = scaling(row);
      return FloatPair{grad.LoadFloats(buffers, row, &rooms->grad),
                       {x.LoadFloats(buffers, row, &rooms->x), mean, rstd, w.data()}};
    };
    const auto put = [&](int64_t row, FloatPair* own, Rooms* rooms, const Slopes& slopes) {
      grad_x.PutFloats(buffers, row, &rooms->result, [&](float* to) {
        ForWeights(groups, row, [&](size_t k, int64_t first, int64_t count) {
          const NormalRow part = groups.OneEach() ? own->row : own->Part(first, &w[k]);
          kernels.gradient(part, own->grad + first, slopes.shift, slopes.slope, count,
                           grad_x.narrow(), to + first);
        });
      });
    };
    if (!groups.OneEach()) return RunParts(buffers, w, through, pair_of, put);
    if (wants_x) {
      ParallelRowsIn<Rooms>(groups.rows, n, [&](int64_t row, Rooms* rooms) {
        FloatPair own = pair_of(row, rooms);
        const PartSums sums = through ? PartSums{kernels.products(own.row, own.grad, n),
                                                 kernels.gradients(own.row, own.grad, n)}
                                      : PartSums{};
        put(row, &own, rooms, SlopesOf(through, sums));
      });
    }
    if (wants_weight || wants_bias) Put(buffers, SumsOfRows(pair_of));
  }

  /// Neighbours share weights: what they add to a weight's gradient, times the weight, is what they
  /// add to the sums over their group.
  template <class PairOf, class PutRow>
  void RunParts(const Buffers& buffers, const Weights& w, bool through, const PairOf& pair_of,
                const PutRow& put) const {
    const auto of_row = static_cast<size_t>(groups.part_weights);
    const bool sums = wants_weight || wants_bias;
    WeightSums terms(static_cast<size_t>(groups.rows) * of_row);
    ParallelRowsIn<Rooms>(groups.rows, groups.width, [&](int64_t row, Rooms* rooms) {
      auto pair = pair_of(row, rooms);
      TreeSum<double> weighted, products;
      size_t at = static_cast<size_t>(row) * of_row;
      const auto add = [&](size_t k, int64_t first, int64_t n) {
        const PartSums part = pair.Sums(first, n);
        weighted.Add(part.bias * w[k]);
        products.Add(part.weight * w[k]);
        terms.weights[at] = part.weight;
        terms.biases[at++] = part.bias;
      };
      if (sums || through) ForWeights(groups, row, add);
      if (wants_x) {
        put(row, &pair, rooms, SlopesOf(through, {products.Total(), weighted.Total()}));
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

  /// Each element of a row has a weight of its own: rows are summed, in parts of the tree.
  template <class RowsOf>
  WeightSums SumsOfRows(const RowsOf& rows_of) const {
    constexpr int64_t kMostParts = 64, kGrain = 32768;
    int64_t length = kChunk;
    while (length * kMostParts < groups.rows ||
           length * std::max<int64_t>(groups.width, 1) < kGrain)
      length *= 2;
    const int64_t parts = (groups.rows + length - 1) / length;
    std::vector<WeightSums> totals(static_cast<size_t>(parts));
    ParallelFor(parts, [&](int64_t part) {
      RowSum sum{WeightSums(groups.weights)};
      const int64_t end = std::min((part + 1) * length, groups.rows);
      std::array<Rooms, kNormalRows> rooms;
      for (int64_t row = part * length; row < end; row += kNormalRows) {
        SomeRows<decltype(rows_of(row, nullptr))> some;
        some.count = std::min(kNormalRows, end - row);
        for (int64_t r = 0; r < some.count; ++r) {
          const auto at = static_cast<size_t>(r);
          some.rows[at] = rows_of(row + r, &rooms[at]);
        }
        sum.Add(some);
      }
      totals[static_cast<size_t>(part)] = sum.Total();
    });
    if (parts == 0) return WeightSums(groups.weights);
    return SumParts(0, parts, [&](int64_t part) { return totals[static_cast<size_t>(part)]; });
  }

  /// What groups add to each of their weights, summed over the groups.
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

}  // namespace openaclnn::supporting
