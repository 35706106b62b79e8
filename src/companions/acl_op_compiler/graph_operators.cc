// SPDX-License-Identifier: Apache-2.0
// The table of operators by their graph names.
#include "graph_operators.h"

#include <algorithm>
#include <cmath>

#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cdist_backward.h"
#include "aclnnop/aclnn_norm.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "aclnnop/aclnn_zero.h"

namespace openaclnn {
namespace {

template <class Handle, auto kDestroy>
struct Destroy {
  void operator()(Handle* handle) const { kDestroy(handle); }
};
using ScalarPointer = std::unique_ptr<aclScalar, Destroy<aclScalar, aclDestroyScalar>>;
using IntsPointer = std::unique_ptr<aclIntArray, Destroy<aclIntArray, aclDestroyIntArray>>;

ScalarPointer ScalarOf(double value) { return ScalarPointer(aclCreateScalar(&value, ACL_DOUBLE)); }

/// The power between a norm and the sum that it is the root of; extremes and counts have none.
double PowerOf(const GraphArguments& a) { return a.p == 0 || std::isinf(a.p) ? 1 : a.p; }

using Dims = std::vector<int64_t>;

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

/// All inputs were copied to (…, P, R, M): each of the P rows is a batch of its own, of which
/// gradients and distances, that all M have, are taken once. Nothing to do where nothing is copied.
aclnnStatus PlanCdistGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
  const Dense grad(a[0]), x1(a[1]), x2(a[2]), cdist(a[3]), out(a[4]);
  const size_t rank = x1.dims.size(), own = out.dims.size();
  const bool fits = rank >= 3 && own >= 2 && own < rank && grad.dims == x1.dims &&
                    x2.dims == x1.dims && cdist.dims == x1.dims;
  const auto p = static_cast<float>(a.p < 0 ? INFINITY : a.p);  // torch-npu has -1 for it
  if (!fits) {                                                  // refused there, with the shapes
    return aclnnCdistBackwardGetWorkspaceSize(a[0], a[1], a[2], p, a[3], a[4], bytes, executor);
  }
  if (std::find(x1.dims.begin(), x1.dims.end(), 0) != x1.dims.end()) return 0;
  const int64_t m = x1.dims[rank - 1], r = x1.dims[rank - 2];
  const Dims pairs = With(x1.dims, 2, 1, r), apart = With(x1.strides, 2, 0, m);
  // Of x1, as of out, what is broadcast is there once.
  const Dims from(x1.strides.end() - static_cast<ptrdiff_t>(own) - 1, x1.strides.end());
  const Dims rows = With(out.dims, 1, 1, m);
  const TensorPointer by = grad.View(pairs, apart), at = cdist.View(pairs, apart);
  const TensorPointer first = x1.View(rows, With(from, 2, 0, 1));
  const TensorPointer second = x2.View(x2.dims, x2.strides);
  const TensorPointer to = out.View(rows, With(out.strides, 1, 0, 1));
  return aclnnCdistBackwardGetWorkspaceSize(by.get(), first.get(), second.get(), p, at.get(),
                                            to.get(), bytes, executor);
}

// One entry an operator.
constexpr GraphOperator kOperators[] = {
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
    {"Cast",  // to the type that the output is described with
     1,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          aclDataType dtype = ACL_DT_UNDEFINED;
          const aclnnStatus failed = aclGetDataType(a[1], &dtype);
          return failed != 0 ? failed
                             : aclnnCastGetWorkspaceSize(a[0], dtype, a[1], bytes, executor);
        },
        aclnnCast}}}},
    {"LpNormReduceV2",  // the sum of powers: the norm to its power
     1,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          const IntsPointer axes(aclCreateIntArray(a.axes.data(), a.axes.size()));
          return aclnnNormGetWorkspaceSize(a[0], ScalarOf(a.p).get(), axes.get(), a.keepdim, a[1],
                                           bytes, executor);
        },
        aclnnNorm},
       {[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnInplacePowTensorScalarGetWorkspaceSize(a[1], ScalarOf(PowerOf(a)).get(),
                                                             bytes, executor);
        },
        aclnnInplacePowTensorScalar}}}},
    {"LpNormUpdateV2",  // its root
     1,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnPowTensorScalarGetWorkspaceSize(a[0], ScalarOf(1 / PowerOf(a)).get(), a[1],
                                                      bytes, executor);
        },
        aclnnPowTensorScalar}}}},
    {"CdistGrad",
     4,
     1,
     {{{[](const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor) {
          return aclnnInplaceZeroGetWorkspaceSize(a[4], bytes, executor);
        },
        aclnnInplaceZero},
       {PlanCdistGrad, aclnnCdistBackward}}}},
};

}  // namespace

std::span<const GraphOperator> GraphOperators() { return kOperators; }

}  // namespace openaclnn
