// SPDX-License-Identifier: Apache-2.0
// FusedFloydAttention, in double.
#include "supporting/attention/floyd.h"

#include "generated/attention.h"
#include "kernels/work/parallel_items.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/row_sums.h"

namespace openaclnn::supporting {

FloydOperands::FloydOperands(const FloydSizes& sizes, const Tensor& query, const Tensor& first_key,
                             const Tensor& first_value, const Tensor& second_key,
                             const Tensor& second_value, const Tensor& of_mask)
    : of(sizes),
      q(query),
      k1(first_key),
      v1(first_value),
      k2(second_key),
      v2(second_value),
      masked(of_mask.present()) {
  if (masked) mask = PartsOfRows(of_mask);
}

void FloydOperands::Load(const Buffers& buffers, int64_t head, int64_t first, int64_t second,
                         Line* line) const {
  const int64_t width = of.width;
  std::vector<double> more(static_cast<size_t>(width));
  q.Load(buffers, of.Row(head, first, second), 0, width, line->q.data());
  const auto add = [&](const PartsOfRows& a, const PartsOfRows& b, int64_t key, double* to) {
    a.Load(buffers, (head * of.firsts + first) * of.keys + key, 0, width, to);
    b.Load(buffers, (head * of.keys + key) * of.seconds + second, 0, width, more.data());
    for (int64_t d = 0; d < width; ++d) to[d] += more[static_cast<size_t>(d)];
  };
  for (int64_t key = 0; key < of.keys; ++key) {
    add(k1, k2, key, line->k.data() + key * width);
    add(v1, v2, key, line->v.data() + key * width);
  }
  if (!masked) return;
  mask.Load(buffers, head / of.heads * of.firsts + first, 0, of.keys, line->hidden.data());
}

std::vector<double> FloydOperands::Scores(const Line& line, double scale) const {
  std::vector<double> scores(static_cast<size_t>(of.keys));
  for (size_t key = 0; key < scores.size(); ++key) {
    const double* const k = line.k.data() + static_cast<int64_t>(key) * of.width;
    const double score = scale * ProductOf(line.q.data(), k, of.width);
    scores[key] = line.hidden[key] != 0 ? -HUGE_VAL : score;
  }
  return scores;
}

void CheckFloyd(const Tensor& query, const Tensor& first_key, const Tensor& first_value,
                const Tensor& second_key, const Tensor& second_value, const Tensor& mask,
                Checker& checker) {
  for (const Tensor* each : {&query, &first_key, &first_value, &second_key, &second_value}) {
    checker.Rank(*each, 5).SameDtype(*each, query);
  }
  CheckType(query, checker);
  if (!checker.ok()) return;
  const FloydSizes of(query, first_key);
  const int64_t batches = query.dim(0);
  for (const Tensor* each : {&first_key, &first_value}) {
    CheckShape(*each, {batches, of.heads, of.firsts, of.keys, of.width}, checker);
  }
  for (const Tensor* each : {&second_key, &second_value}) {
    CheckShape(*each, {batches, of.heads, of.keys, of.seconds, of.width}, checker);
  }
  if (!mask.present()) return;
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
  CheckShape(mask, {batches, 1, of.firsts, 1, of.keys}, checker);
}

void CheckFloydAttention(const FloydAttentionParams& p, Checker& checker) {
  CheckFloyd(p.queryIk, p.keyIj, p.valueIj, p.keyJk, p.valueJk, p.attenMaskOptional, checker);
  if (!checker.ok()) return;
  Shape sums = ShapeOf(p.queryIk);
  sums[4] = kAttentionCopies;
  for (const Tensor* each : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
    CheckShape(*each, sums, checker);
  }
  checker.SameShapeAndDtype(p.attentionOut, p.queryIk);
}

Plan PlanFloydAttention(const FloydAttentionParams& p, const Product&) {
  const FloydSizes of(p.queryIk, p.keyIj);
  const FloydOperands operands(of, p.queryIk, p.keyIj, p.valueIj, p.keyJk, p.valueJk,
                               p.attenMaskOptional);
  const PartsOfRows max(p.softmaxMaxOut), sum(p.softmaxSumOut), out(p.attentionOut);
  return {0, [=, scale = p.scaleValue](const Buffers& buffers) -> Status {
            ParallelFor(of.all_heads * of.firsts * of.seconds, true, [&](int64_t row) {
              const int64_t second = row % of.seconds, first = row / of.seconds % of.firsts;
              FloydOperands::Line line(of);
              operands.Load(buffers, row / of.seconds / of.firsts, first, second, &line);
              std::vector<double> weights = operands.Scores(line, scale), result(line.q.size());
              const RowSoftmax of_row(&weights);
              SumRows(
                  of.keys, of.width, [&](int64_t i) { return weights[static_cast<size_t>(i)]; },
                  [&](int64_t i) { return line.v.data() + i * of.width; }, result.data());
              const double top = of_row.sum == 0 ? 0 : of_row.max;
              const std::vector<double> tops(kAttentionCopies, top),
                  sums(kAttentionCopies, of_row.sum);
              max.Store(buffers, row, 0, kAttentionCopies, tops.data());
              sum.Store(buffers, row, 0, kAttentionCopies, sums.data());
              out.Store(buffers, row, 0, of.width, result.data());
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
