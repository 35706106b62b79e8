// SPDX-License-Identifier: Apache-2.0
// The table of operators by their graph names.
#include "graph_operators.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addcmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cdist_backward.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_norm.h"
#include "aclnnop/aclnn_ones.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "aclnnop/aclnn_zero.h"
#include "ascendcl/graph_operator_names.h"
#include "graph_plans.h"

namespace openaclnn {
namespace {

// An output that is an input, too, is in the input's memory, or gets a copy last.
constexpr GraphOperator kOperators[] = {
    {"ApplyMomentum",  // var, accum, lr, grad, momentum
     5,
     1,
     {{{PlanDecay<1, 4>, aclnnInplaceMul},
       {PlanAddTo<1, 3>, aclnnInplaceAdd},
       {PlanDescend<2, 1>, aclnnInplaceAddcmul},
       {PlanCopy<5, 0>, aclnnInplaceCopy}}}},
    {"Assign", 2, 1, {{{PlanCopy<0, 1>, aclnnInplaceCopy}, {PlanCopy<2, 0>, aclnnInplaceCopy}}}},
    {"AssignAdd", 2, 1, {{{PlanAddTo<0, 1>, aclnnInplaceAdd}, {PlanCopy<2, 0>, aclnnInplaceCopy}}}},
    {"BiasAdd", 2, 1, {{{PlanBiasAdd, aclnnAdd}}}},
    {"BiasAddGrad", 1, 1, {{{PlanBiasAddGrad, aclnnReduceSum}}}},
    {"Cast", 1, 1, {{{PlanCast, aclnnCast}}}},
    {"CdistGrad",
     4,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnInplaceZeroGetWorkspaceSize(a[4], bytes, executor);
        },
        aclnnInplaceZero},
       {PlanCdistGrad, aclnnCdistBackward}}}},
    {"Conv2D", 2, 1, {{{PlanConv2d, aclnnConvolution}}}},
    {"Conv2DBackpropFilter", 3, 1, {{{PlanConv2dFilterGrad, aclnnConvolutionBackward}}}, 1 << 1},
    {"Conv2DBackpropInput", 3, 1, {{{PlanConv2dInputGrad, aclnnConvolutionBackward}}}, 1 << 0},
    {"GatherV2", 3, 1, {{{PlanGather, aclnnGatherV2}}}, 1 << 2},
    {"Identity", 1, 1, {{{PlanCopy<1, 0>, aclnnInplaceCopy}}}},
    {"LpNormReduceV2",
     1,
     1,
     {{{PlanNorm, aclnnNorm}, {PlanRaiseNorm, aclnnInplacePowTensorScalar}}}},
    {"LpNormUpdateV2", 1, 1, {{{PlanRootOfNorm, aclnnPowTensorScalar}}}},
    {"OnesLike",
     1,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnInplaceOneGetWorkspaceSize(a[1], bytes, executor);
        },
        aclnnInplaceOne}}}},
    {"RealDiv",
     2,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnDivGetWorkspaceSize(a[0], a[1], a[2], bytes, executor);
        },
        aclnnDiv}}}},
    {"ReduceMean", 2, 1, {{{PlanReduceMean, aclnnMean}}}, 1 << 1},
    {"RsqrtGrad",  // y, dy: -dy * y ^ 3 / 2
     2,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnMulGetWorkspaceSize(a[0], a[0], a[2], bytes, executor);
        },
        aclnnMul},
       {PlanMultiply<2, 0>, aclnnInplaceMul},
       {PlanMultiply<2, 1>, aclnnInplaceMul},
       {PlanMinusHalf, aclnnInplaceMuls}}}},
    {"SGD",  // parameters, gradient, learning rate, accum, momentum, stat
     6,
     1,
     {{{PlanDecay<3, 4>, aclnnInplaceMul},
       {PlanAddTo<3, 1>, aclnnInplaceAdd},
       {PlanDescend<2, 3>, aclnnInplaceAddcmul},
       {PlanCopy<6, 0>, aclnnInplaceCopy}}}},
    {"ScaledMaskedSoftmax",
     2,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnScaledMaskedSoftmaxGetWorkspaceSize(a[0], a[1], a.scale, a.fixed_triu_mask,
                                                          a[2], bytes, executor);
        },
        aclnnScaledMaskedSoftmax}}}},
    {"ScaledMaskedSoftmaxGrad",
     3,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(
              a[0], a[1], a[2], a.scale, a.fixed_triu_mask, a[3], bytes, executor);
        },
        aclnnScaledMaskedSoftmaxBackward}}}},
    {"SqrtGrad",  // y, dy: dy / y / 2
     2,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnDivGetWorkspaceSize(a[1], a[0], a[2], bytes, executor);
        },
        aclnnDiv},
       {PlanHalf, aclnnInplaceMuls}}}},
    {"TensorMove", 1, 1, {{{PlanCopy<1, 0>, aclnnInplaceCopy}}}},
    {"UnsortedSegmentSum", 3, 1, {{{PlanSegmentSum, aclnnEmbeddingDenseBackward}}}, 1 << 2},
    {"ZerosLike",
     1,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnInplaceZeroGetWorkspaceSize(a[1], bytes, executor);
        },
        aclnnInplaceZero}}}},
};

static_assert(std::equal(std::begin(kOperators), std::end(kOperators),
                         std::begin(kGraphOperatorNames), std::end(kGraphOperatorNames),
                         [](const GraphOperator& row, std::string_view name) {
                           return row.name == name;
                         }),
              "as a client is told in graph_operator_names.h");

constexpr std::pair<std::string_view, std::string_view> kAbsent[] = {
    {"DynamicGRUV2", "torch.nn.GRU"},
    {"DynamicGRUV2Grad", "the gradient of torch.nn.GRU"},
    {"DynamicRNN", "torch.nn.LSTM"},
    {"DynamicRNNGrad", "the gradient of torch.nn.LSTM"},
    {"DynamicRNNV2", "torch.nn.LSTMCell"},
    {"DynamicRNNV2Grad", "the gradient of torch.nn.LSTMCell"},
};

}  // namespace

std::span<const GraphOperator> GraphOperators() { return kOperators; }

std::string_view CallerOfAbsent(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kAbsent), std::end(kAbsent),
                                         [&](const auto& each) { return each.first == name; });
  return found != std::end(kAbsent) ? found->second : std::string_view();
}

}  // namespace openaclnn
