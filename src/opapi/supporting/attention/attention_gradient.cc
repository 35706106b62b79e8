// SPDX-License-Identifier: Apache-2.0
// The gradients of FlashAttentionScore and FlashAttentionVarLenScore. The weights are computed
// again from q and k. The forward's results are read if all are given, else computed again too.
#include <algorithm>
#include <utility>

#include "generated/attention.h"
#include "kernels/attention/attention.h"
#include "kernels/work/scratch.h"
#include "supporting/attention/call.h"

namespace openaclnn::supporting {
namespace {

/// Whether the gradient by the shift is wanted. Slopes have no gradient.
template <class P>
bool HasShiftGradient(const P& p, const AttentionCall& call) {
  return call.shift.given && !call.shift.of_slopes() && IsGiven(p.dpseOut);
}

template <class P>
void CheckOutputs(const P& p, const AttentionCall& call, Checker& checker) {
  if (HasShiftGradient(p, call)) {
    checker.SameShapeAndDtype(p.dpseOut, p.shift).That(p.scaleValue != 0, [] {
      return "scaleValue value is 0, expected another number with a gradient by the shift";
    });
  }
  checker.SameShapeAndDtype(p.dqOut, p.query)
      .SameShapeAndDtype(p.dkOut, p.key)
      .SameShapeAndDtype(p.dvOut, p.value);
  const auto without = [&](const Tensor& out, const Tensor& operand) {
    checker.That(!IsGiven(out), [&] {
      return Concat(out.name(), " value is a tensor, expected null without ", operand.name());
    });
  };
  const auto check_rope = [&](const Tensor& out, const Tensor& rope) {
    if (!call.roped) return without(out, rope);
    checker.That(out.present(), [&] {
      return Concat(out.name(), " value is null, expected a tensor as ", rope.name());
    });
    if (out.present()) checker.SameShapeAndDtype(out, rope);
  };
  if (!call.shift.given) without(p.dpseOut, p.shift);
  if (!call.has_sink) without(p.dsinkOut, p.sinkOptional);
  check_rope(p.dqRopeOut, p.queryRopeOptional);
  check_rope(p.dkRopeOut, p.keyRopeOptional);
  if (call.has_sink && IsGiven(p.dsinkOut)) checker.SameShapeAndDtype(p.dsinkOut, p.sinkOptional);
}

template <class P>
void CheckGradient(const P& p, Checker& checker) {
  CheckCall(
      p,
      {&p.softmaxMaxOptional, &p.softmaxSumOptional, &p.softmaxInOptional, &p.attentionInOptional},
      checker);
  if (!checker.ok()) return;
  const AttentionCall call(p);
  checker.SameDtype(p.dy, p.query);
  CheckShape(p.dy, ResultShape(p, call), checker);
  for (const Tensor* sums : {&p.softmaxMaxOptional, &p.softmaxSumOptional}) {
    if (IsGiven(*sums)) CheckShape(*sums, call.SumsShape(), checker);
  }
  if (IsGiven(p.attentionInOptional)) checker.SameShapeAndDtype(p.attentionInOptional, p.dy);
  CheckOutputs(p, call, checker);
}

/// Heads of a dense FLOAT tensor (batch, head, row, element) in the workspace.
AttentionHeads DenseHeads(const AttentionCall& call, int64_t elements) {
  return {.batch_step = call.q.heads * call.q.rows * elements,
          .head_step = call.q.rows * elements,
          .row_step = elements,
          .element_step = 1,
          .bytes = sizeof(float),
          .floats = true,
          .load = LoaderOf<float>(ACL_FLOAT),
          .store = StorerOf<float>(ACL_FLOAT)};
}

/// The gradients of a planned call, and the places of the outputs.
struct Outputs {
  template <class P>
  Outputs(const P& p, const AttentionCall& call)
      : roped(call.roped),
        dy(p.dy, call.layout, call.v.elements),
        dq(p.dqOut, call.layout, call.q.elements),
        dk(p.dkOut, call.layout, call.k.elements),
        dv(p.dvOut, call.layout, call.v.elements),
        to_sink(call.has_sink && IsGiven(p.dsinkOut)) {
    if (HasShiftGradient(p, call)) SetShift(p.dpseOut, call, p.scaleValue);
    if (roped) {
      dq_rope = Heads(p.dqRopeOut, call.layout, call.q_rope.elements);
      dk_rope = Heads(p.dkRopeOut, call.layout, call.k_rope.elements);
    }
    if (to_sink) {
      dsink = p.dsinkOut.place;
      sink_heads = call.q.heads;
      sink_step = p.dsinkOut.tensor().strides[0] * BytesOf(p.dsinkOut);
    }
  }

  AttentionGradient Plan(Attention attention) const {
    AttentionGradient gradient = {.attention = std::move(attention),
                                  .dy = dy.lie,
                                  .dq = dq.lie,
                                  .dk = dk.lie,
                                  .dv = dv.lie,
                                  .dq_rope = dq_rope.lie,
                                  .dk_rope = dk_rope.lie,
                                  .shift = shift};
    PlanAttentionGradient(&gradient);
    return gradient;
  }

  AttentionGradientTensors At(const AttentionCall& call, const Buffers& buffers) const {
    return {.of = call.At(buffers),
            .dy = dy.place(buffers),
            .dq = dq.place(buffers),
            .dk = dk.place(buffers),
            .dv = dv.place(buffers),
            .dq_rope = roped ? dq_rope.place(buffers) : nullptr,
            .dk_rope = roped ? dk_rope.place(buffers) : nullptr};
  }

  void StoreSink(const double* numbers, const Buffers& buffers) const {
    if (to_sink) StorerOf<double>(ACL_FLOAT)(numbers, sink_heads, dsink(buffers), sink_step);
  }

  /// Sets the shift's gradient. Its numbers lie as the shift's dimensions say.
  void SetShift(const Tensor& out, const AttentionCall& call, double scale) {
    const std::array<int64_t, 4>& dims = call.shift.numbers.dims;
    shift = {.given = true,
             .steps = {},
             .count = 1,
             .factor = call.shift.type == PositionShift::kScaled ? 1 : 1 / scale};
    for (size_t i = 4; i-- > 0; shift.count *= dims[i]) {
      shift.steps[i] = dims[i] == 1 ? 0 : shift.count;
    }
    dshift = out.place;
    shift_offsets = Offsets(out, out.rank());
    shift_bytes = BytesOf(out);
    shift_store = StorerOf<double>(out.dtype());
  }

  void StoreShift(const double* numbers, const Buffers& buffers) const {
    for (int64_t i = 0; i < shift.count && shift.given; ++i) {
      shift_store(numbers + i, 1, dshift(buffers) + shift_offsets(i) * shift_bytes, 0);
    }
  }

  bool roped;
  Heads dy, dq, dk, dv, dq_rope, dk_rope;
  bool to_sink;
  Place dsink;
  int64_t sink_heads = 0, sink_step = 0;
  AttentionShiftGradient shift{};
  Place dshift;
  Offsets shift_offsets;
  int64_t shift_bytes = 0;
  StoreRow<double> shift_store = nullptr;
};

/// The parts of the workspace: the forward's results, if computed again, and the gradients by sinks
/// and shifts in double.
struct Parts {
  Parts(const AttentionCall& call, const Outputs& outputs, bool again) {
    const __int128 rows =
        again ? __int128{call.q.batches} * call.q.heads * call.q.rows * int64_t{sizeof(float)} : 0;
    max_at = all.Take(rows);
    sum_at = all.Take(rows);
    out_at = all.Take(rows * call.v.elements);
    const int64_t shifts = outputs.shift.given ? outputs.shift.count : 0;
    shift_at = all.Take(__int128{shifts} * int64_t{sizeof(double)});
    sinks_at = all.Take(__int128{call.has_sink ? call.q.heads : 0} * int64_t{sizeof(double)});
  }

  ScratchParts all;
  uint64_t max_at = 0, sum_at = 0, out_at = 0, sinks_at = 0, shift_at = 0;
};

/// Whether all of the forward's results are given.
template <class P>
bool HasForward(const P& p) {
  return IsGiven(p.softmaxMaxOptional) && IsGiven(p.softmaxSumOptional) &&
         IsGiven(p.attentionInOptional);
}

template <class P>
Plan PlanGradient(const P& p) {
  AttentionCall call(p);
  Attention plan = call.Plan(p);
  const Outputs outputs(p, call);
  const bool again = !HasForward(p);
  Heads out;
  if (again) {
    plan.out = DenseHeads(call, call.v.elements);
    plan.max = plan.sum = DenseHeads(call, 1);
    plan.copies = 1;
  } else {
    out = Heads(p.attentionInOptional, call.layout, call.v.elements);
    plan.out = out.lie;
    plan.max = call.Sums(p.softmaxMaxOptional);
    plan.sum = call.Sums(p.softmaxSumOptional);
    plan.by_heads = call.packed() && !LieAsInput(p.softmaxInLayout);
  }
  PlanAttention(&plan);
  AttentionGradient gradient = outputs.Plan(std::move(plan));
  Parts parts(call, outputs, again);
  const uint64_t rest = parts.all.Take(
      std::max(again ? gradient.attention.scratch_bytes() : uint64_t{0}, gradient.scratch_bytes()));
  return {parts.all.bytes(), [=, gradient = std::move(gradient), max = p.softmaxMaxOptional.place,
                              sum = p.softmaxSumOptional.place](const Buffers& buffers) {
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            AttentionGradientTensors tensors = outputs.At(call, buffers);
            tensors.of.out = again ? scratch + parts.out_at : out.place(buffers);
            tensors.of.max = again ? scratch + parts.max_at : max(buffers);
            tensors.of.sum = again ? scratch + parts.sum_at : sum(buffers);
            if (call.has_sink) tensors.dsink = reinterpret_cast<double*>(scratch + parts.sinks_at);
            if (outputs.shift.given) {
              tensors.dshift = reinterpret_cast<double*>(scratch + parts.shift_at);
            }
            if (again) RunAttention(gradient.attention, tensors.of, scratch + rest);
            RunAttentionGradient(gradient, tensors, scratch + rest);
            outputs.StoreSink(tensors.dsink, buffers);
            outputs.StoreShift(tensors.dshift, buffers);
            return Status();
          }};
}

}  // namespace

void CheckAttentionGradient(const AttentionGradientParams& p, Checker& checker) {
  CheckGradient(p, checker);
}
Plan PlanAttentionGradient(const AttentionGradientParams& p, const Product&) {
  return PlanGradient(p);
}

void CheckAttentionGradient(const RopeAttentionGradientParams& p, Checker& checker) {
  CheckGradient(p, checker);
}
Plan PlanAttentionGradient(const RopeAttentionGradientParams& p, const Product&) {
  return PlanGradient(p);
}

}  // namespace openaclnn::supporting
