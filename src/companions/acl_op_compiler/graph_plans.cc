// SPDX-License-Identifier: Apache-2.0
// First phases of what graph operators are made of, and their arguments.
#include "graph_plans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addcmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cdist_backward.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_norm.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "ascendcl/report/error.h"

namespace openaclnn {
namespace {

using ScalarPointer = std::unique_ptr<aclScalar, Destroy<aclDestroyScalar>>;
using IntsPointer = std::unique_ptr<aclIntArray, Destroy<aclDestroyIntArray>>;
using BoolsPointer = std::unique_ptr<aclBoolArray, Destroy<aclDestroyBoolArray>>;

ScalarPointer ScalarOf(double value) { return ScalarPointer(aclCreateScalar(&value, ACL_DOUBLE)); }

/// For tensors of any type.
ScalarPointer One() {
  int64_t value = 1;
  return ScalarPointer(aclCreateScalar(&value, ACL_INT64));
}

using Dims = std::vector<int64_t>;

IntsPointer IntsOf(const Dims& values) {
  return IntsPointer(aclCreateIntArray(values.data(), values.size()));
}

/// Shape, type and memory of a tensor that is dense.
struct Dense {
  explicit Dense(const aclTensor* tensor) {
    int64_t* shape = nullptr;
    uint64_t rank = 0;
    if (aclGetViewShape(tensor, &shape, &rank) != 0) return;
    dims.assign(shape, shape + rank);
    delete[] shape;
    aclGetDataType(tensor, &dtype);
    aclGetRawTensorAddr(tensor, &data);
    strides.assign(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  }
  TensorPointer View(const Dims& shape, const Dims& steps) const {
    return TensorPointer(aclCreateTensor(shape.data(), shape.size(), dtype, steps.data(), 0,
                                         ACL_FORMAT_ND, dims.data(), dims.size(), data));
  }

  Dims dims, strides;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* data = nullptr;
};

/// Dimensions but the last few, then two more.
Dims With(const Dims& dims, size_t without, int64_t rows, int64_t columns) {
  Dims made(dims.begin(), dims.end() - static_cast<ptrdiff_t>(without));
  made.insert(made.end(), {rows, columns});
  return made;
}

/// The recent error message of a call that comes to nothing.
aclnnStatus Refuse(int code, const std::string& text) {
  return Api("aclopCompileAndExecute", [&] { return Status(code, text); });
}

/// The elements of an input of integers that the host knows.
aclnnStatus ReadIntegers(const GraphArguments& a, size_t input, Dims* integers) {
  const Dense given(a[input]);
  size_t count = 1;
  for (const int64_t dim : given.dims) count *= static_cast<size_t>(dim);
  const void* const values = a.values[input];
  const bool narrow = given.dtype == ACL_INT32;
  if (count > 0 && (values == nullptr || !(narrow || given.dtype == ACL_INT64))) {
    return Refuse(ACL_ERROR_OP_INPUT_NOT_MATCH,
                  Concat("inputs[", input, "] values are not known to the host, expected INT32 or ",
                         "INT64 by aclSetTensorConst or in memory of the host"));
  }
  for (size_t i = 0; i < count; ++i) {
    integers->push_back(narrow ? static_cast<const int32_t*>(values)[i]
                               : static_cast<const int64_t*>(values)[i]);
  }
  return 0;
}

/// The dimension of x that the bias is along.
size_t ChannelOf(const GraphArguments& a, size_t rank) {
  const bool last = a.data_format.empty() || a.data_format.back() == 'C';
  return last && rank > 0 ? rank - 1 : 1;
}

/// Strides, pads and dilations of a convolution of images, as aclnnConvolution has them.
struct Window {
  explicit Window(const GraphArguments& a) {
    const auto last_two = [](const Dims& values) {
      return values.size() == 4 ? Dims(values.begin() + 2, values.end()) : Dims{1, 1};
    };
    const auto is_none_or_four = [](const Dims& values) {
      return values.empty() || values.size() == 4;
    };
    const auto is_one = [](const Dims& values) {
      return values.size() < 2 || (values[0] == 1 && values[1] == 1);
    };
    const Dims none = {0, 0, 0, 0}, &pads = a.pads.empty() ? none : a.pads;
    if (!a.data_format.empty() && a.data_format != "NCHW") {
      refused = Concat("data_format value is ", Quoted{a.data_format}, ", expected NCHW");
    } else if (pads.size() != 4 || pads[0] != pads[1] || pads[2] != pads[3]) {
      refused = "pads are not four of which the first two are equal and the last two, expected so";
    } else if (!is_none_or_four(a.strides) || !is_none_or_four(a.dilations)) {
      refused = "strides or dilations are not four, expected those of N, C, H and W";
    } else if (!is_one(a.strides) || !is_one(a.dilations)) {
      refused = "strides or dilations begin with another number than 1, expected 1 of N and of C";
    }
    if (!refused.empty()) return;
    strides = IntsOf(last_two(a.strides));
    padding = IntsOf({pads[0], pads[2]});
    dilations = IntsOf(last_two(a.dilations));
  }

  std::string refused;
  IntsPointer strides, padding, dilations;
  IntsPointer output_padding = IntsOf({0, 0});
};

constexpr int8_t kOwnType = 0;  // of the operands: no HF32

/// The gradient of a convolution that the mask asks for: a[3]. Of the operand whose gradient it is
/// the shape alone is wanted, which some memory that is not written stands for.
aclnnStatus PlanConv2dGrad(const GraphArguments& a, std::array<bool, 3> mask, uint64_t* bytes,
                           aclOpExecutor** executor) {
  const Window window(a);
  if (!window.refused.empty()) return Refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, window.refused);
  const Dense grad(a[2]), result(a[3]);
  const TensorPointer shape = grad.View(result.dims, Dims(result.dims.size(), 0));
  const aclTensor* const input = mask[0] ? shape.get() : a[0];
  const aclTensor* const filter = mask[1] ? shape.get() : a[1];
  const BoolsPointer asked(aclCreateBoolArray(mask.data(), mask.size()));
  return aclnnConvolutionBackwardGetWorkspaceSize(
      a[2], input, filter, nullptr, window.strides.get(), window.padding.get(),
      window.dilations.get(), false, window.output_padding.get(), static_cast<int>(a.groups),
      asked.get(), kOwnType, mask[0] ? a[3] : nullptr, mask[1] ? a[3] : nullptr, nullptr, bytes,
      executor);
}

/// The power between a norm and the sum that it is the root of; extremes and counts have none.
double PowerOf(const GraphArguments& a) { return a.p == 0 || std::isinf(a.p) ? 1 : a.p; }

}  // namespace

aclnnStatus PlanBiasAdd(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Dense x(a[0]), bias(a[1]);
  const size_t channel = ChannelOf(a, x.dims.size());
  TensorPointer along;
  if (bias.dims.size() == 1 && channel < x.dims.size()) {
    Dims shape(x.dims.size(), 1), steps(x.dims.size(), 0);
    shape[channel] = bias.dims[0];
    steps[channel] = 1;
    along = bias.View(shape, steps);
  }
  const aclTensor* const other =
      along == nullptr ? a[1] : along.get();  // or refused with its shape
  return aclnnAddGetWorkspaceSize(a[0], other, One().get(), a[2], bytes, executor);
}

aclnnStatus PlanBiasAddGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Dense grad(a[0]);
  const size_t rank = grad.dims.size(), channel = ChannelOf(a, rank);
  Dims others;
  for (size_t i = 0; i < rank; ++i) {
    if (i != channel) others.push_back(static_cast<int64_t>(i));
  }
  return aclnnReduceSumGetWorkspaceSize(a[0], IntsOf(others).get(), false, grad.dtype, a[1], bytes,
                                        executor);
}

aclnnStatus PlanCast(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  const aclnnStatus failed = aclGetDataType(a[1], &dtype);
  return failed != 0 ? failed : aclnnCastGetWorkspaceSize(a[0], dtype, a[1], bytes, executor);
}

aclnnStatus PlanCdistGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Dense grad(a[0]), x1(a[1]), x2(a[2]), cdist(a[3]), out(a[4]);
  const size_t rank = x1.dims.size(), own = out.dims.size();
  const bool fits = rank >= 3 && own >= 2 && own < rank && grad.dims == x1.dims &&
                    x2.dims == x1.dims && cdist.dims == x1.dims;
  const auto p = static_cast<float>(a.p < 0 ? INFINITY : a.p);  // torch-npu has -1 for it
  if (!fits) {                                                  // refused there, with the shapes
    return aclnnCdistBackwardGetWorkspaceSize(a[0], a[1], a[2], a[3], p, a[4], bytes, executor);
  }
  if (std::find(x1.dims.begin(), x1.dims.end(), 0) != x1.dims.end()) return 0;
  const int64_t m = x1.dims[rank - 1], r = x1.dims[rank - 2];
  const Dims pairs = With(x1.dims, 2, 1, r), apart = With(x1.strides, 2, 0, m);
  // x1 and out hold each broadcast element once.
  const Dims from(x1.strides.end() - static_cast<ptrdiff_t>(own) - 1, x1.strides.end());
  const Dims rows = With(out.dims, 1, 1, m);
  const TensorPointer by = grad.View(pairs, apart), at = cdist.View(pairs, apart);
  const TensorPointer first = x1.View(rows, With(from, 2, 0, 1));
  const TensorPointer second = x2.View(x2.dims, x2.strides);
  const TensorPointer to = out.View(rows, With(out.strides, 1, 0, 1));
  return aclnnCdistBackwardGetWorkspaceSize(by.get(), first.get(), second.get(), at.get(), p,
                                            to.get(), bytes, executor);
}

aclnnStatus PlanConv2d(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Window window(a);
  if (!window.refused.empty()) return Refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, window.refused);
  return aclnnConvolutionGetWorkspaceSize(
      a[0], a[1], nullptr, window.strides.get(), window.padding.get(), window.dilations.get(),
      false, window.output_padding.get(), a.groups, a[2], kOwnType, bytes, executor);
}

aclnnStatus PlanConv2dInputGrad(const GraphArguments& a, uint64_t* bytes,
                                aclOpExecutor** executor) {
  return PlanConv2dGrad(a, {true, false, false}, bytes, executor);
}

aclnnStatus PlanConv2dFilterGrad(const GraphArguments& a, uint64_t* bytes,
                                 aclOpExecutor** executor) {
  return PlanConv2dGrad(a, {false, true, false}, bytes, executor);
}

aclnnStatus PlanGather(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  Dims axis;
  const aclnnStatus failed = ReadIntegers(a, 2, &axis);
  if (failed != 0) return failed;
  if (axis.size() != 1 || a.batch_dims != 0) {
    return Refuse(ACL_ERROR_OP_ATTR_NOT_MATCH,
                  Concat("inputs[2] size is ", axis.size(), " and batch_dims value ", a.batch_dims,
                         ", expected one axis and 0"));
  }
  return aclnnGatherV2GetWorkspaceSize(a[0], axis[0], a[1], a[3], bytes, executor);
}

aclnnStatus PlanReduceMean(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  Dims axes;
  const aclnnStatus failed = ReadIntegers(a, 1, &axes);
  if (failed != 0) return failed;
  if (axes.empty() && a.noop_with_empty_axes) {
    return Refuse(ACL_ERROR_OP_ATTR_NOT_MATCH,
                  "noop_with_empty_axes value is true, expected false where there are no axes");
  }
  return aclnnMeanGetWorkspaceSize(a[0], IntsOf(axes).get(), a.keepdim, Dense(a[2]).dtype, a[2],
                                   bytes, executor);
}

aclnnStatus PlanNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnNormGetWorkspaceSize(a[0], ScalarOf(a.p).get(), IntsOf(a.axes).get(), a.keepdim, a[1],
                                   bytes, executor);
}

aclnnStatus PlanRaiseNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplacePowTensorScalarGetWorkspaceSize(a[1], ScalarOf(PowerOf(a)).get(), bytes,
                                                     executor);
}

aclnnStatus PlanRootOfNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnPowTensorScalarGetWorkspaceSize(a[0], ScalarOf(1 / PowerOf(a)).get(), a[1], bytes,
                                              executor);
}

aclnnStatus PlanSegmentSum(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Dense data(a[0]), segments(a[1]), out(a[3]);
  const size_t rank = segments.dims.size();
  if (data.dims.size() < rank ||
      !std::equal(segments.dims.begin(), segments.dims.end(), data.dims.begin())) {
    return Refuse(ACL_ERROR_OP_INPUT_NOT_MATCH,
                  "inputs[1] shape is another, expected the first dimensions of inputs[0]");
  }
  const auto rest = data.dims.begin() + static_cast<ptrdiff_t>(rank);
  if (out.dims.empty() ||
      !std::equal(rest, data.dims.end(), out.dims.begin() + 1, out.dims.end())) {
    return Refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                  "outputs[0] shape is another, expected a number of segments, then the dimensions "
                  "of inputs[0] behind those of inputs[1]");
  }
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, int64_t{1}, std::multiplies<int64_t>());
  };
  const int64_t rows = product(segments.dims.begin(), segments.dims.end());
  const int64_t width = product(rest, data.dims.end());
  const TensorPointer grad = data.View({rows, width}, {width, 1});
  const TensorPointer indices = segments.View({rows}, {1});
  const TensorPointer sums = out.View({out.dims[0], width}, {width, 1});
  constexpr uint64_t kNoPadding = UINT64_MAX;
  return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.get(), indices.get(),
                                                     static_cast<uint64_t>(out.dims[0]), kNoPadding,
                                                     false, sums.get(), bytes, executor);
}

template <size_t kAccum, size_t kMomentum>
aclnnStatus PlanDecay(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  if (a.dampening != 0 || a.weight_decay != 0 || a.nesterov) {
    return Refuse(ACL_ERROR_OP_ATTR_NOT_MATCH,
                  Concat("dampening value is ", a.dampening, ", weight_decay ", a.weight_decay,
                         ", nesterov ", a.nesterov ? "true" : "false", ", expected 0, 0, false"));
  }
  return aclnnInplaceMulGetWorkspaceSize(a[kAccum], a[kMomentum], bytes, executor);
}

template <size_t kRate, size_t kAccum>
aclnnStatus PlanDescend(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplaceAddcmulGetWorkspaceSize(a[0], a[kAccum], a[kRate], ScalarOf(-1).get(), bytes,
                                             executor);
}

template <size_t kTo, size_t kOther>
aclnnStatus PlanMultiply(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplaceMulGetWorkspaceSize(a[kTo], a[kOther], bytes, executor);
}

aclnnStatus PlanHalf(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplaceMulsGetWorkspaceSize(a[2], ScalarOf(0.5).get(), bytes, executor);
}

aclnnStatus PlanMinusHalf(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplaceMulsGetWorkspaceSize(a[2], ScalarOf(-0.5).get(), bytes, executor);
}

template <size_t kTo, size_t kOther>
aclnnStatus PlanAddTo(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  return aclnnInplaceAddGetWorkspaceSize(a[kTo], a[kOther], One().get(), bytes, executor);
}

template <size_t kTo, size_t kFrom>
aclnnStatus PlanCopy(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  if (Dense(a[kTo]).data == Dense(a[kFrom]).data) return 0;
  return aclnnInplaceCopyGetWorkspaceSize(a[kTo], a[kFrom], bytes, executor);
}

template aclnnStatus PlanDecay<1, 4>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanDecay<3, 4>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanDescend<2, 1>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanDescend<2, 3>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanMultiply<2, 0>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanMultiply<2, 1>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanAddTo<0, 1>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanAddTo<1, 3>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanAddTo<3, 1>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanCopy<0, 1>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanCopy<1, 0>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanCopy<2, 0>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanCopy<5, 0>(const GraphArguments&, uint64_t*, aclOpExecutor**);
template aclnnStatus PlanCopy<6, 0>(const GraphArguments&, uint64_t*, aclOpExecutor**);

}  // namespace openaclnn
