// SPDX-License-Identifier: Apache-2.0
// Attention of packed sequences as plain loops in double, from the formulas, for tests.
#pragma once

#include <complex>
#include <functional>
#include <limits>

#include "supporting/family_test.h"

namespace openaclnn::test {

/// dropout(softmax(scale q k^T + shift, masked)) v of sequences that lie one after another.
struct PackedProblem {
  int64_t heads = 1, kv_heads = 1, width = 1, value_width = 1;
  std::vector<int64_t> rows = {}, keys = {};  // of each sequence
  int64_t rest_rows = 0, rest_keys = 0;       // behind them
  int64_t mode = 0, before = 0, after = 0;
  std::vector<int64_t> prefix = {};
  bool masked = false;
  double scale = 0.5, keep = 1;
  int64_t type = 1, ahead = 0;
  std::function<double(int64_t, int64_t, int64_t)> numbers = {};  // that are added to scores
  Doubles sinks = {};                                             // of each head
  Doubles slopes = {};          // of each head, or of each one of each sequence
  std::vector<bool> kept = {};  // of each score: sequence, head, row, key
  std::function<bool(int64_t, int64_t)> mask = [](int64_t i, int64_t j) {
    return (i * 7 + j * 3) % 5 == 0;
  };

  static int64_t Total(const std::vector<int64_t>& lengths, int64_t rest) {
    for (const int64_t length : lengths) rest += length;
    return rest;
  }
  int64_t all_rows() const { return Total(rows, rest_rows); }
  int64_t all_keys() const { return Total(keys, rest_keys); }
  static Dims Ends(const std::vector<int64_t>& lengths) {
    Dims ends;
    for (const int64_t length : lengths) ends.push_back((ends.empty() ? 0 : ends.back()) + length);
    return ends;
  }
  Dims QueryDims() const { return {all_rows(), heads, width}; }
  Dims KeyDims() const { return {all_keys(), kv_heads, width}; }
  Dims ValueDims() const { return {all_keys(), kv_heads, value_width}; }
  Dims ResultDims() const { return {all_rows(), heads, value_width}; }
  Dims SumDims() const { return {all_rows(), heads, 8}; }

  bool Hides(size_t s, int64_t i, int64_t j) const {
    if (!masked) return false;
    const int64_t moved = i + keys[s] - rows[s];  // so that the last row is at the last key
    const bool band = j < moved - before || j > moved + after;
    switch (mode) {
      case 0:
        return mask(i, j) || j < i - before || j > i + after;
      case 1:
        return mask(i, j);
      case 2:
        return j > i;
      case 3:
        return j > moved;
      case 6:
        return j > moved && j >= prefix[s];
      case 7:
        return s + 1 == rows.size() ? band : j > moved;
      case 8:
        return s == 0 ? band : j > i;
      default:
        return band;
    }
  }

  double Shift(size_t s, int64_t h, int64_t i, int64_t j) const {
    if (numbers) return numbers(h, i, j) * (type == 1 ? scale : 1);
    if (slopes.empty()) return 0;
    const bool each = slopes.size() > static_cast<size_t>(heads);
    const size_t at = (each ? s * static_cast<size_t>(heads) : 0) + static_cast<size_t>(h);
    const auto distance = static_cast<double>(std::abs(i + ahead - j));
    return -slopes[at] * (type == 3 ? std::sqrt(distance) : distance);
  }

  /// The result; and, if asked for, largest scores and sums of rows of heads of sequences.
  template <class T>
  std::vector<T> Forward(const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
                         Doubles* max = nullptr, Doubles* sum = nullptr,
                         std::vector<T> sink = {}) const {
    if (sink.empty()) sink.assign(sinks.begin(), sinks.end());
    std::vector<T> out(static_cast<size_t>(all_rows() * heads * value_width), T(0));
    int64_t row = 0, key = 0;
    size_t bit = 0;
    for (size_t s = 0; s < rows.size(); ++s) {
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t i = 0; i < rows[s]; ++i) {
          AddRow(s, h, i, row, key, bit, q, k, v, sink, &out, max, sum);
          bit += static_cast<size_t>(keys[s]);
        }
      }
      row += rows[s];
      key += keys[s];
    }
    return out;
  }

  /// The gradient of the sum of `weights` times the result by one operand, by complex steps; the
  /// fourth operand is the sink.
  Doubles Gradient(int operand, const Doubles& q, const Doubles& k, const Doubles& v,
                   const Doubles& weights) const {
    using Complex = std::complex<double>;
    constexpr double kStep = 1e-40;
    std::array<std::vector<Complex>, 4> at;
    for (const auto& [i, values] : {std::pair{0, &q}, {1, &k}, {2, &v}, {3, &sinks}}) {
      at[static_cast<size_t>(i)].assign(values->begin(), values->end());
    }
    Doubles gradient;
    for (Complex& x : at[static_cast<size_t>(operand)]) {
      x += Complex(0, kStep);
      const std::vector<Complex> out = Forward(at[0], at[1], at[2], nullptr, nullptr, at[3]);
      double sum = 0;
      for (size_t i = 0; i < out.size(); ++i) sum += weights[i] * out[i].imag() / kStep;
      gradient.push_back(sum);
      x = x.real();
    }
    return gradient;
  }

 private:
  static double Real(double x) { return x; }
  static double Real(const std::complex<double>& x) { return x.real(); }

  template <class T>
  void AddRow(size_t s, int64_t h, int64_t i, int64_t row, int64_t key, size_t bit,
              const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
              const std::vector<T>& sink, std::vector<T>* out, Doubles* max, Doubles* sum) const {
    const int64_t kv = h / (heads / kv_heads), at = (row + i) * heads + h;
    std::vector<T> weights(static_cast<size_t>(keys[s]), T(0));
    T total = 0;
    double largest = -std::numeric_limits<double>::infinity();
    if (!sink.empty()) {
      largest = Real(sink[static_cast<size_t>(h)]);
      total = std::exp(sink[static_cast<size_t>(h)]);
    }
    for (int64_t j = 0; j < keys[s]; ++j) {
      if (Hides(s, i, j)) continue;
      T score = 0;
      for (int64_t d = 0; d < width; ++d) {
        score += q[static_cast<size_t>(at * width + d)] *
                 k[static_cast<size_t>(((key + j) * kv_heads + kv) * width + d)];
      }
      score = score * scale + Shift(s, h, i, j);
      largest = std::max(largest, Real(score));
      total += weights[static_cast<size_t>(j)] = std::exp(score);
    }
    for (int64_t j = 0; j < keys[s] && Real(total) > 0; ++j) {
      const bool drops = !kept.empty() && !kept[bit + static_cast<size_t>(j)];
      const T weight = drops ? T(0) : weights[static_cast<size_t>(j)] / total / keep;
      for (int64_t d = 0; d < value_width; ++d) {
        (*out)[static_cast<size_t>(at * value_width + d)] +=
            weight * v[static_cast<size_t>(((key + j) * kv_heads + kv) * value_width + d)];
      }
    }
    const bool sees = Real(total) > 0;
    if (max != nullptr) max->insert(max->end(), 8, sees ? largest : 0);
    if (sum != nullptr) sum->insert(sum->end(), 8, sees ? Real(total) * std::exp(-largest) : 0);
  }
};

/// Compares what a call of FLOAT and its gradient gave. `tensors` has x, which are the values of q,
/// k, v and dy, and the results out, max, sum, dq, dk, dv.
template <class Tensors>
void ExpectRight(const PackedProblem& p, const Tensors& tensors) {
  const auto& [q, k, v, dy] = tensors.x;
  Doubles max, sum;
  ExpectNear(ValuesOf(tensors.out), p.Forward(q, k, v, &max, &sum), ACL_FLOAT, 0, 3e-6);
  ExpectNear(ValuesOf(tensors.max), max, ACL_FLOAT, 0, 3e-6);
  ExpectNear(ValuesOf(tensors.sum), sum, ACL_FLOAT, 0, 3e-6);
  ExpectNear(ValuesOf(tensors.dq), p.Gradient(0, q, k, v, dy), ACL_FLOAT, 0, 1e-5);
  ExpectNear(ValuesOf(tensors.dk), p.Gradient(1, q, k, v, dy), ACL_FLOAT, 0, 1e-5);
  ExpectNear(ValuesOf(tensors.dv), p.Gradient(2, q, k, v, dy), ACL_FLOAT, 0, 1e-5);
}

}  // namespace openaclnn::test
