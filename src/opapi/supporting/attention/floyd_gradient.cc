// SPDX-License-Identifier: Apache-2.0
// FusedFloydAttentionGrad, in double. The gradients by keys and values of first places are sums
// over second places, and the other way round: both are made line by line.
#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "supporting/attention/floyd.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/row_sums.h"

namespace openaclnn::supporting {
namespace {

enum class Line { kOfFirst, kOfSecond };

struct FloydGradient {
  explicit FloydGradient(const FloydAttentionGradientParams& p)
      : of(p.queryIk, p.keyIj),
        operands(of, p.queryIk, p.keyIj, p.valueIj, p.keyJk, p.valueJk, p.attenMaskOptional),
        dy(p.dy),
        max(p.softmaxMax),
        sum(p.softmaxSum),
        out(p.attentionIn),
        dq(p.dqOut),
        dk1(p.dkIjOut),
        dv1(p.dvIjOut),
        dk2(p.dkJkOut),
        dv2(p.dvJkOut),
        scale(p.scaleValue) {}

  /// The rows of a line: weights and slopes of scores, (row, key), queries and gradients by the
  /// result, (row, element).
  struct Rows {
    std::vector<double> weights, slopes, q, dy;
  };

  /// Makes a row of the line, and the gradient by its query if it is asked for.
  void AddRow(const Buffers& buffers, int64_t head, int64_t first, int64_t second, bool stores,
              Rows* rows) const {
    const int64_t width = of.width, row = of.Row(head, first, second);
    FloydOperands::Line line(of);
    operands.Load(buffers, head, first, second, &line);
    std::vector<double> weights = operands.Scores(line, scale), slopes(weights.size()),
                        g(line.q.size()), result(line.q.size());
    dy.Load(buffers, row, 0, width, g.data());
    out.Load(buffers, row, 0, width, result.data());
    double top = 0, total = 0;
    max.Load(buffers, row, 0, 1, &top);
    sum.Load(buffers, row, 0, 1, &total);
    const double mean = ProductOf(g.data(), result.data(), width);
    for (size_t key = 0; key < weights.size(); ++key) {
      const double* const v = line.v.data() + static_cast<int64_t>(key) * width;
      const double score = weights[key];
      weights[key] = score == -HUGE_VAL ? 0 : std::exp(score - top) / total;
      slopes[key] =
          weights[key] == 0 ? 0 : weights[key] * (ProductOf(g.data(), v, width) - mean) * scale;
    }
    if (stores) {
      SumRows(
          of.keys, width, [&](int64_t i) { return slopes[static_cast<size_t>(i)]; },
          [&](int64_t i) { return line.k.data() + i * width; }, result.data());
      dq.Store(buffers, row, 0, width, result.data());
    }
    rows->weights.insert(rows->weights.end(), weights.begin(), weights.end());
    rows->slopes.insert(rows->slopes.end(), slopes.begin(), slopes.end());
    rows->q.insert(rows->q.end(), line.q.begin(), line.q.end());
    rows->dy.insert(rows->dy.end(), g.begin(), g.end());
  }

  void RunLine(const Buffers& buffers, Line line, int64_t head, int64_t place) const {
    const bool of_first = line == Line::kOfFirst;
    const int64_t count = of_first ? of.seconds : of.firsts, width = of.width;
    Rows rows;
    for (int64_t i = 0; i < count; ++i) {
      AddRow(buffers, head, of_first ? place : i, of_first ? i : place, of_first, &rows);
    }
    std::vector<double> by_key(static_cast<size_t>(width)), by_value(by_key.size());
    for (int64_t key = 0; key < of.keys; ++key) {
      const auto sums = [&](const std::vector<double>& factors, const std::vector<double>& from,
                            std::vector<double>* to) {
        SumRows(
            count, width,
            [&](int64_t i) { return factors[static_cast<size_t>(i * of.keys + key)]; },
            [&](int64_t i) { return from.data() + i * width; }, to->data());
      };
      sums(rows.slopes, rows.q, &by_key);
      sums(rows.weights, rows.dy, &by_value);
      const int64_t row = of_first ? (head * of.firsts + place) * of.keys + key
                                   : (head * of.keys + key) * of.seconds + place;
      (of_first ? dk1 : dk2).Store(buffers, row, 0, width, by_key.data());
      (of_first ? dv1 : dv2).Store(buffers, row, 0, width, by_value.data());
    }
  }

  Status Run(const Buffers& buffers) const {
    for (const Line line : {Line::kOfFirst, Line::kOfSecond}) {
      const int64_t places = line == Line::kOfFirst ? of.firsts : of.seconds;
      ParallelFor(of.all_heads * places, true,
                  [&](int64_t n) { RunLine(buffers, line, n / places, n % places); });
    }
    return {};
  }

  FloydSizes of;
  FloydOperands operands;
  PartsOfRows dy, max, sum, out, dq, dk1, dv1, dk2, dv2;
  double scale;
};

}  // namespace

void CheckFloydGradient(const FloydAttentionGradientParams& p, Checker& checker) {
  CheckFloyd(p.queryIk, p.keyIj, p.valueIj, p.keyJk, p.valueJk, p.attenMaskOptional, checker);
  if (!checker.ok()) return;
  Shape sums = ShapeOf(p.queryIk);
  sums[4] = kAttentionCopies;
  for (const Tensor* each : {&p.softmaxMax, &p.softmaxSum}) {
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
    CheckShape(*each, sums, checker);
  }
  checker.SameShapeAndDtype(p.dy, p.queryIk)
      .SameShapeAndDtype(p.attentionIn, p.queryIk)
      .SameShapeAndDtype(p.dqOut, p.queryIk)
      .SameShapeAndDtype(p.dkIjOut, p.keyIj)
      .SameShapeAndDtype(p.dvIjOut, p.valueIj)
      .SameShapeAndDtype(p.dkJkOut, p.keyJk)
      .SameShapeAndDtype(p.dvJkOut, p.valueJk);
}

Plan PlanFloydGradient(const FloydAttentionGradientParams& p, const Product&) {
  return {0, [task = FloydGradient(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
