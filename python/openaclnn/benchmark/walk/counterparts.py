# SPDX-License-Identifier: Apache-2.0
"""PyTorch expressions for records of which torch_functions.py finds no like operator.

By the record's name, of torch, F (torch.nn.functional), aten, the record's own arguments and the shapes
of its outputs. Of two expressions the first one's value, which is not timed, is `made` in the second; it
is evaluated with gradients. None stands for an output that PyTorch does not make.
"""

_ATTENTION = "F.scaled_dot_product_attention"
_FLASH = "aten._scaled_dot_product_flash_attention_for_cpu"
_FLASH_BACKWARD = f"{_FLASH}_backward(dy, query, {{key}}, value, *made[:2], 0.0, False, scale={{scale}})"
_FLASH_GRADIENT = (
    f"{_FLASH}(query, keyIn, value, scale=scaleValueOptional)",
    _FLASH_BACKWARD.format(key="keyIn", scale="scaleValueOptional"),
)
_POOLED_BACK = "aten.max_pool{}d_with_indices_backward(gradOutput, self, kernelSize, stride, padding, dilation, ceilMode, made)"
_TAPS = "kernelSize, stride, padding, dilation, ceilMode"


def _slope(loss: str, of: str = "self") -> tuple[str, str]:
    """By autograd: of losses that are not reduced, and of a gradient that is a mean's."""
    made = f"({of}.requires_grad_(), {loss}, gradOutput / self.numel())"
    return made, "torch.autograd.grad(made[1], made[0], made[2], retain_graph=True)"


COUNTERPARTS: dict[str, str | tuple[str, str]] = {
    # Gates and rotations
    "GeluV2": "F.gelu(self, approximate=('none', 'tanh')[approximate])",
    "SwiGlu": "F.silu(x.chunk(2, dim)[0]) * x.chunk(2, dim)[1]",
    "GeGluV3": "(lambda x, gate: (x * gate, gate))(self.chunk(2, dim)[0], "
    "F.gelu(self.chunk(2, dim)[1], approximate=('none', 'tanh')[approximate]))",
    "PreluBackward": "(lambda by_input, by_weight: (by_input, by_weight.sum((0, 2, 3))))("
    "*aten._prelu_kernel_backward(gradOutput, self, weight.view(1, -1, 1, 1)))",
    "RotaryPositionEmbedding": "x * cos + torch.cat((-x.chunk(2, -1)[1], x.chunk(2, -1)[0]), -1) * sin",
    # Elements that move
    "Permute": "self.permute(dims).contiguous()",
    "Slice": "aten.slice(self, dim, start, end, step).clone()",
    "RepeatInterleaveWithDim": "torch.repeat_interleave(self, repeats, dim)",
    "RepeatInterleaveInt": "torch.repeat_interleave(self, repeats)",
    "RepeatInterleaveIntWithDim": "torch.repeat_interleave(self, repeats, dim)",
    "OneHot": "torch.where(F.one_hot(self, numClasses).bool(), onValue, offValue)",
    "GatherV2": "self.index_select(dim, index)",
    "Scatter": "self.scatter(dim, index, src)",
    "ScatterValue": "self.scatter(dim, index, value)",
    "IndexFillTensor": ("torch.tensor(index)", "self.index_fill(dim, made, value)"),
    "ForeachCopy": ("[torch.empty_like(each) for each in x]", "torch._foreach_copy_(made, x) or made"),
    "NonzeroV2": "torch.nonzero(self).T.contiguous()",
    "Im2col": "aten.im2col(self, kernelSize, 2 * dilation, padding, 2 * stride)",
    "Im2colBackward": "aten.col2im(gradOutput, inputSize, kernelSize, 2 * dilation, 2 * padding, stride)",
    # Elements by elements
    "RoundDecimals": "torch.round(self, decimals=decimals)",
    "InplaceOne": "selfRef.fill_(1)",
    "LeftShift": "torch.bitwise_left_shift(self, other)",
    "RightShift": "torch.bitwise_right_shift(self, other)",
    "DivMod": "torch.div(self, other, rounding_mode=(None, 'trunc', 'floor')[mode])",
    "DivMods": "torch.div(self, other, rounding_mode=(None, 'trunc', 'floor')[mode])",
    "SWhere": "torch.where(condition, self, other)",
    "Cast": "self.to(torch.bfloat16)",
    "LogSigmoidBackward": (
        "aten.log_sigmoid_forward(self)[1]", "aten.log_sigmoid_backward(gradOutput, self, made)",
    ),
    # Losses
    "L1LossBackward": _slope("F.l1_loss(self, target, reduction='none')"),
    "KlDivBackward": _slope("F.kl_div(self, target, reduction='none')"),
    "KlDivTargetBackward": _slope("F.kl_div(self, target, reduction='none')", "target"),
    "BinaryCrossEntropyWithLogitsBackward": _slope(
        "F.binary_cross_entropy_with_logits(self, target, weightOptional, None, None, 'none', posWeightOptional)"
    ),
    "SoftmaxCrossEntropyWithLogits": "(F.cross_entropy(features, labels, reduction='none'), "
    "torch.softmax(features, -1) - labels)",
    # Products and factors
    "BatchMatMul": "torch.bmm(self, mat2)",
    "WeightQuantBatchMatmulV2": "x @ (weight * antiquantScale)",
    "LinalgQr": "torch.linalg.qr(self)",
    # Normalisations and attention
    "BatchNorm": "(None, None, *aten.native_batch_norm(input, weight, bias, runningMean, runningVar, training, "
    "momentum, eps))",
    "RmsNorm": "F.rms_norm(x, gamma.shape, gamma, epsilon)",
    "AddRmsNorm": "(lambda x: (F.rms_norm(x, gamma.shape, gamma, epsilon), None, x))(x1 + x2)",
    "FlashAttentionScore": f"(None, None, {_ATTENTION}(query, key, value, scale=scaleValue))",
    "FlashAttentionScoreV4": f"(None, None, {_ATTENTION}(query, key, value, scale=scaleValue))",
    "FlashAttentionScoreGrad": _FLASH_GRADIENT,
    "FlashAttentionScoreGradV4": tuple(
        each.replace("keyIn", "key").replace("scaleValueOptional", "scaleValue") for each in _FLASH_GRADIENT
    ),
    "FusedInferAttentionScoreV2": f"{_ATTENTION}(query, key[0], value[0], scale=scaleValue)",
    # Steps of training
    "ForeachNonFiniteCheckAndUnscale": "torch._amp_foreach_non_finite_check_and_unscale_(scaledGrads, foundInf, inScale)"
    " or scaledGrads",
    "ApplyAdamWV2": (
        "step.float()",
        "aten._fused_adamw_([varRef], [grad], [mRef], [vRef], [], [made], lr=lr, beta1=beta1, beta2=beta2, "
        "weight_decay=weightDecay, eps=eps, amsgrad=False, maximize=maximize) or (varRef, mRef, vRef)",
    ),
    # Random numbers
    "InplaceBernoulli": "selfRef.bernoulli_(prob)",
    "NormalFloatFloat": "torch.normal(mean, std, out.shape)",
    "Randperm": "torch.randperm(n)",
    "RReluWithNoise": "aten.rrelu_with_noise(self, noise, lower, upper, training)",
    # Reductions
    "ReduceSum": "torch.sum(self, dims, keepDims)",
    "ReduceNansum": "torch.nansum(self, dims, keepDims)",
    "Cumprod": "torch.cumprod(self, dim)",
    # Windows
    "MaxPool": "F.max_pool2d(self, kernelShape, strides, pads[0])",
    "MaxPool2dWithMask": "F.max_pool2d(self, kernelSize, stride, padding)",
    "MaxPool2dWithMaskBackward": (
        f"aten.max_pool2d_with_indices(self, {_TAPS})[1]", _POOLED_BACK.format(2),
    ),
    "MaxPool2dWithIndicesBackward": ("indices.long()", _POOLED_BACK.format(2)),
    "MaxPool3dWithArgmax": f"aten.max_pool3d_with_indices(self, {_TAPS})",
    "MaxPool3dWithArgmaxBackward": ("indices.long()", _POOLED_BACK.format(3)),
}  # fmt: skip
