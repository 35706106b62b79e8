// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV2: softmax(scale * q k^T + shift, masked) v for each head.
#include "generated/attention.h"
#include "kernels/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/sequences.h"

namespace openaclnn::supporting {
namespace {

/// Masks of three dimensions, and of two where q has one row, begin with the batch and are the same
/// for all heads.
ScoreView MaskOf(const Tensor& mask, const Heads& q) {
  return {mask, mask.rank() == 3 || (mask.rank() == 2 && q.rows == 1)};
}

/// Elements of a row of a head.
int64_t WidthOf(const FusedInferParams& p, std::string_view layout) {
  return layout.size() == 4 ? p.query.dim(static_cast<uint32_t>(layout.find('D')))
                            : p.query.last_dim() / p.numHeads;
}

/// All but the shift, the mask and sums that are not asked for must be left out.
void CheckAbsent(const FusedInferParams& p, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    const bool taken = &tensor == &p.pseShiftOptional || &tensor == &p.attenMaskOptional ||
                       &tensor == &p.softmaxLse;
    checker.That(!tensor.optional || taken || !tensor.present(), [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& list : p.arrays) {
    checker.That(list.values().empty(), [&] {
      return Concat(list.name(), " size is ", list.values().size(),
                    ", expected 0: it is not supported");
    });
  }
  for (const GivenList* list : {&p.key, &p.value}) {
    checker.That(list->size == 1,
                 [&] { return Concat(list->name, " size is ", list->size, ", expected 1"); });
  }
}

void CheckSettings(const FusedInferParams& p, Checker& checker) {
  checker.That(!p.softmaxLseFlag, [&] { return "softmaxLseFlag value is true, expected false"; });
  const int64_t heads = p.numHeads, served = p.numKeyValueHeads == 0 ? heads : p.numKeyValueHeads;
  checker.That(heads > 0 && served > 0 && heads % served == 0, [&] {
    return Concat("numKeyValueHeads value is ", p.numKeyValueHeads,
                  ", expected a divisor of numHeads, ", heads);
  });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(std::string_view(p.inputLayout).size());
  for (const Tensor* tensor : {&p.query, p.key.tensors[0], p.value.tensors[0]}) {
    checker.Rank(*tensor, rank).SameDtype(*tensor, p.query);
  }
  CheckType(p.query, checker);
  checker.SameDtype(p.attentionOut, p.query);
  CheckShape(p.attentionOut, ShapeOf(p.query), checker);
}

/// What sums become that are not asked for.
std::function<void(const Buffers&)> ZerosOf(const Tensor& out) {
  const Offsets offsets(out, out.rank());
  const auto store = StorerOf<double>(out.dtype());
  return
      [=, count = *out.count(), bytes = BytesOf(out), place = out.place](const Buffers& buffers) {
        const double zero = 0;
        for (int64_t i = 0; i < count; ++i) store(&zero, 1, place(buffers) + offsets(i) * bytes, 0);
      };
}

}  // namespace

void CheckFusedInfer(const FusedInferParams& p, Checker& checker) {
  CheckAbsent(p, checker);
  if (checker.ok()) CheckSettings(p, checker);
  if (!checker.ok()) return;
  const std::string_view layout = p.inputLayout;
  const int64_t width = WidthOf(p, layout);
  const Heads q(p.query, layout, width), k(p.key[0], layout, width), v(p.value[0], layout, width);
  const int64_t served = p.numKeyValueHeads == 0 ? p.numHeads : p.numKeyValueHeads;
  CheckWidth(q, checker);
  checker.That(q.heads == p.numHeads, [&] {
    return Concat("query shape is ", ShapeText(p.query), ", expected ", p.numHeads, " heads");
  });
  checker.That(k.batches == q.batches && k.heads == served &&
                   (layout.size() == 3 || p.key[0].last_dim() == width),
               [&] {
                 return Concat("key shape is ", ShapeText(p.key[0]), ", expected ", served,
                               " heads with the batches and the width of query's");
               });
  CheckShape(p.value[0], ShapeOf(p.key[0]), checker);
  checker.That(p.sparseMode == 0 || p.sparseMode == 1 || q.rows == 1,
               [&] { return Concat("sparseMode value is ", p.sparseMode, ", expected 0 or 1"); });
  const Shape shape = {q.batches, q.heads, q.rows, k.rows};
  const auto check = [&](const Tensor& scores, const auto& aligned) {
    if (!scores.present()) return;
    checker.That(scores.rank() <= 4 && aligned().Fits(shape), [&] {
      return Concat(scores.name(), " shape is ", ShapeText(scores),
                    ", expected one that can be broadcast to ", ShapeText(shape.data(), 4));
    });
  };
  check(p.pseShiftOptional, [&] { return ScoreView(p.pseShiftOptional, false); });
  check(p.attenMaskOptional, [&] { return MaskOf(p.attenMaskOptional, q); });
}

Plan PlanFusedInfer(const FusedInferParams& p, const Product&) {
  const Tensor& sums = p.softmaxLse;
  std::function<void(const Buffers&)> clear = [](const Buffers&) {};
  if (sums.present()) clear = ZerosOf(sums);
  if (p.attentionOut.empty()) {
    return {0, [=](const Buffers& buffers) -> Status {
              clear(buffers);
              return {};
            }};
  }
  const std::string_view layout = LayoutOf(p.inputLayout);
  const int64_t width = WidthOf(p, layout);
  const Heads q(p.query, layout, width), k(p.key[0], layout, width), v(p.value[0], layout, width),
      out(p.attentionOut, layout, width);
  std::vector<AttentionSequence> sequences = Batches(q, k);
  if (p.attenMaskOptional.present() && p.sparseMode == 0 && q.rows > 1) {
    const Sight sight = {.mode = 0, .before = p.preTokens, .after = p.nextTokens, .prefix = {}};
    sight.Set(&sequences);
  }
  Attention plan = AttentionOf(q, k, v, p.scaleValue, std::move(sequences));
  plan.out = out.lie;
  ScoreView shift, mask;
  if (p.pseShiftOptional.present()) shift = ScoreView(p.pseShiftOptional, false);
  if (p.attenMaskOptional.present()) mask = MaskOf(p.attenMaskOptional, q);
  plan.shift = shift.lie;
  plan.mask = mask.lie;
  PlanAttention(&plan);
  return {plan.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            clear(buffers);
            RunAttention(plan,
                         {.q = q.place(buffers),
                          .k = k.place(buffers),
                          .v = v.place(buffers),
                          .q_rope = nullptr,
                          .k_rope = nullptr,
                          .mask = plan.mask.given ? mask.place(buffers) : nullptr,
                          .shift = plan.shift.given ? shift.place(buffers) : nullptr,
                          .dropout = nullptr,
                          .sink = nullptr,
                          .out = out.place(buffers),
                          .max = nullptr,
                          .sum = nullptr},
                         buffers.workspace);
            return {};
          }};
}

}  // namespace openaclnn::supporting
