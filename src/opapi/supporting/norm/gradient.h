// SPDX-License-Identifier: Apache-2.0
// The gradients of what is normalised: by x, and sums over the groups by weights and biases.
#pragma once

#include <algorithm>
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

/// Calls body(weight, first, n) for the elements of a group that share a weight.
template <class Body>
void ForWeights(const Grouping& groups, int64_t row, const Body& body) {
  for (int64_t i = 0; i < groups.width; i += groups.weight_elements) {
    body(groups.WeightOf(row, i), i, std::min(groups.weight_elements, groups.width - i));
  }
}

struct BackwardTensors {
  const Tensor &grad, &x, &weight, &grad_x, &grad_weight, &grad_bias;
};

/// A group of the gradient, and of x normalised.
struct RowPair {
  std::vector<double> grad, normal;
};

/// Where rows that are not of type FLOAT are.
struct Rooms {
  std::vector<float> grad, x, result;
};

/// The same where they are dense rows of floats.
struct FloatPair {
  const float* grad;
  NormalRow row;
};

/// The gradients of weights and biases so far.
struct WeightSums {
  explicit WeightSums(size_t count = 0) : weights(count), biases(count) {}

  WeightSums& operator+=(const FloatPair& term) {
    const auto n = static_cast<int64_t>(weights.size());
    RowsOfFloats().add(term.row, term.grad, n, weights.data(), biases.data());
    return *this;
  }
  WeightSums& operator+=(const RowPair& term) {
    const auto n = static_cast<int64_t>(weights.size());
    const double* const grad = term.grad.data();
    Kernels().add_products(weights.data(), grad, term.normal.data(), n);
    Kernels().sum.join(grad, n, biases.data());
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
    if (groups.OneEach() && grad.floats() && x.floats() && (!wants_x || grad_x.floats())) {
      return RunFloats(buffers, through, scaling);
    }
    const DoubleRowKernels& kernels = Kernels();
    const int64_t n = groups.width;
    const auto rows_of = [&](int64_t row, Rooms*) {
      RowPair rows{grad.Load(buffers, row), x.Load(buffers, row)};
      const auto [mean, rstd] = scaling(row);
      kernels.scale(rows.normal.data(), mean, rstd, n);
      return rows;
    };
    if (wants_x) {
      auto w = weight.All(buffers);
      w.resize(groups.weights, 1);  // what is absent
      ParallelRows(groups.rows, n, [&](int64_t row) {
        RowPair rows = rows_of(row, nullptr);
        double* const g = rows.grad.data();
        if (groups.OneEach()) {
          kernels.multiply(g, w.data(), n);
        } else {
          ForWeights(groups, row, [&](size_t k, int64_t first, int64_t count) {
            kernels.scale(g + first, 0, w[k], count);
          });
        }
        const auto count = static_cast<double>(n);
        const double a = through ? kernels.sum.row(g, n) / count : 0;
        const double b = through ? kernels.products(g, rows.normal.data(), n) / count : 0;
        kernels.project(g, rows.normal.data(), scaling(row).second, a, b, n);
        grad_x.Store(buffers, row, rows.grad);
      });
    }
    if (!wants_weight && !wants_bias) return;
    Put(buffers, groups.OneEach() ? SumsOfRows(rows_of) : SumsOfParts(rows_of));
  }

  /// The same for dense rows of floats, without copies in double: the same bits.
  template <class Scaling>
  void RunFloats(const Buffers& buffers, bool through, const Scaling& scaling) const {
    const NormalKernels& kernels = RowsOfFloats();
    const int64_t n = groups.width;
    auto w = weight.All(buffers);
    w.resize(groups.weights, 1);  // what is absent
    const auto pair_of = [&](int64_t row, Rooms* rooms) {
      const auto [mean, rstd] = scaling(row);
      return FloatPair{grad.LoadFloats(buffers, row, &rooms->grad),
                       {x.LoadFloats(buffers, row, &rooms->x), mean, rstd, w.data()}};
    };
    if (wants_x) {
      ParallelRows(groups.rows, n, [&](int64_t row) {
        Rooms rooms;
        const FloatPair own = pair_of(row, &rooms);
        const auto count = static_cast<double>(n);
        const double a = through ? kernels.gradients(own.row, own.grad, n) / count : 0;
        const double b = through ? kernels.products(own.row, own.grad, n) / count : 0;
        grad_x.PutFloats(buffers, row, &rooms.result, [&](float* to) {
          kernels.gradient(own.row, own.grad, a, b, n, !grad_x.is_float(), to);
        });
      });
    }
    if (!wants_weight && !wants_bias) return;
    Put(buffers, SumsOfRows(pair_of));
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
    constexpr int64_t kChunk = 64, kMostParts = 64, kGrain = 32768;
    int64_t length = kChunk;
    while (length * kMostParts < groups.rows ||
           length * std::max<int64_t>(groups.width, 1) < kGrain)
      length *= 2;
    const int64_t parts = (groups.rows + length - 1) / length;
    std::vector<WeightSums> totals(static_cast<size_t>(parts));
    ParallelFor(parts, [&](int64_t part) {
      TreeSum<WeightSums> sum{WeightSums(groups.weights)};
      const int64_t end = std::min((part + 1) * length, groups.rows);
      Rooms rooms;
      for (int64_t row = part * length; row < end; ++row) sum.Add(rows_of(row, &rooms));
      totals[static_cast<size_t>(part)] = sum.Total();
    });
    if (parts == 0) return WeightSums(groups.weights);
    return SumParts(0, parts, [&](int64_t part) { return totals[static_cast<size_t>(part)]; });
  }

  /// Elements share weights: what a group adds to each of its weights, then over the groups.
  template <class RowsOf>
  WeightSums SumsOfParts(const RowsOf& rows_of) const {
    const DoubleRowKernels& kernels = Kernels();
    const auto of_row = static_cast<size_t>(groups.part_weights);
    WeightSums terms(static_cast<size_t>(groups.rows) * of_row), sums(groups.weights);
    ParallelRows(groups.rows, groups.width, [&](int64_t row) {
      const RowPair rows = rows_of(row, nullptr);
      size_t at = static_cast<size_t>(row) * of_row;
      ForWeights(groups, row, [&](size_t, int64_t first, int64_t n) {
        const double* const g = rows.grad.data() + first;
        terms.weights[at] = kernels.products(g, rows.normal.data() + first, n);
        terms.biases[at++] = kernels.sum.row(g, n);
      });
    });
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

  Grouping groups;
  GroupedView grad, x, grad_x;
  Elements weight, grad_weight, grad_bias;
  bool wants_x, wants_weight, wants_bias;
};

}  // namespace openaclnn::supporting
