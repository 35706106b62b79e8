// SPDX-License-Identifier: Apache-2.0
// Inference with INT8 operands and results: how numbers of factors belong to heads, rows and
// elements, and where a task finds them.
#include "supporting/attention/infer_scales.h"

#include <algorithm>

#include "supporting/attention/infer_keys.h"
#include "supporting/attention/scale_shape.h"

namespace openaclnn::supporting {
namespace {

/// The numbers of one half of a tensor that has those of key, then those of value; of all of it if
/// `half` is negative.
AttentionNumbers NumbersOf(const Tensor& tensor, int64_t half, ScaleMode mode,
                           const ScaleSizes& sizes) {
  AttentionNumbers numbers;
  if (!tensor.present()) return numbers;
  numbers.given = true;
  numbers.load = LoaderOf<float>(tensor.dtype());
  Belongs(AxesOf(tensor, half < 0 ? 0 : 1), mode, sizes, &numbers);
  return numbers;
}

bool IsInt8(const Tensor& tensor) { return tensor.dtype() == ACL_INT8; }

}  // namespace

std::vector<const Tensor*> TensorsOf(const InferScales& scales) {
  return {&scales.scores,     &scales.weights,  &scales.values,      &scales.out,
          &scales.out_offset, &scales.both,     &scales.k,           &scales.k_offset,
          &scales.v,          &scales.v_offset, &scales.both_offset, &scales.q};
}

InferScaling::Source InferScaling::SourceOf(const Tensor& tensor, int64_t half) const {
  if (!tensor.present()) return {};
  const int64_t step = half > 0 ? tensor.tensor().strides[0] * BytesOf(tensor) : 0;
  return {true, tensor.place, step};
}

InferScaling::InferScaling(const InferCall& call, Attention* plan) {
  const InferArguments& of = call.of;
  const InferScales& scales = of.scales;
  if (scales.out.present()) {
    const ScaleSizes sizes = SizesOfResult(call);
    out_ = SourceOf(scales.out, -1);
    out_offset_ = SourceOf(scales.out_offset, -1);
    plan->out_factors = NumbersOf(scales.out, -1, ScaleMode::kChannel, sizes);
    plan->out_offsets = NumbersOf(scales.out_offset, -1, ScaleMode::kChannel, sizes);
  }
  if (!IsInt8(of.key)) return;
  if (scales.q.present()) {
    q_ = SourceOf(scales.q, -1);
    plan->q_factors.given = true;
    plan->q_factors.load = LoaderOf<float>(scales.q.dtype());
    BelongsToRows(scales.q, call, &plan->q_factors);
    products_ = {{scales.k.place, true}, {scales.v.place, false}};
    return;
  }
  if (IsInt8(of.query)) {
    products_ = {
        {scales.scores.place, true}, {scales.weights.place, false}, {scales.values.place, false}};
    return;
  }
  const bool apart = scales.k.present();
  const auto set = [&](bool is_key, const Tensor& factors, const Tensor& offsets, int64_t mode,
                       Source* from, Source* offset_from, AttentionDequant* dequant) {
    const int64_t half = apart ? -1 : is_key ? 0 : 1;
    const ScaleSizes sizes = SizesOf(call, is_key);
    *from = SourceOf(factors, half);
    *offset_from = SourceOf(offsets, half);
    dequant->factors = NumbersOf(factors, half, static_cast<ScaleMode>(mode), sizes);
    dequant->offsets = NumbersOf(offsets, half, static_cast<ScaleMode>(mode), sizes);
  };
  set(true, apart ? scales.k : scales.both, apart ? scales.k_offset : scales.both_offset,
      apart ? scales.k_mode : scales.both_mode, &k_, &k_offset_, &plan->k_dequant);
  set(false, apart ? scales.v : scales.both, apart ? scales.v_offset : scales.both_offset,
      apart ? scales.v_mode : scales.both_mode, &v_, &v_offset_, &plan->v_dequant);
}

void InferScaling::Scale(const Buffers& buffers, Attention* plan) const {
  for (const Factor& factor : products_) {
    const float number = *reinterpret_cast<const float*>(factor.place(buffers));
    (factor.of_scores ? plan->scale : plan->out_factor) *= number;
  }
}

void InferScaling::Set(const Buffers& buffers, AttentionTensors* tensors) const {
  tensors->k_scaling = {k_(buffers), k_offset_(buffers)};
  tensors->v_scaling = {v_(buffers), v_offset_(buffers)};
  tensors->out_scaling = {out_(buffers), out_offset_(buffers)};
  tensors->q_factors = q_(buffers);
}

}  // namespace openaclnn::supporting
