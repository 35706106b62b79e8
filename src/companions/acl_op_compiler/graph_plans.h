// SPDX-License-Identifier: Apache-2.0
// First phases of what the operators of graph_operators.h are made of.
#pragma once

#include "graph_arguments.h"

namespace openaclnn {

// The bias is along the last dimension, or along the second in a format that does not end with C.
aclnnStatus PlanBiasAdd(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus PlanBiasAddGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// To the type that the output is described with.
aclnnStatus PlanCast(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// All inputs were copied to (…, P, R, M): each of the P rows is a batch of its own, of which
/// gradients and distances, that all M have, are taken once. Nothing to do where nothing is copied.
aclnnStatus PlanCdistGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

// Convolutions of images in NCHW. One input of a gradient is the shape of its result; it is not
// read, because the result has that shape.
aclnnStatus PlanConv2d(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus PlanConv2dInputGrad(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus PlanConv2dFilterGrad(const GraphArguments& a, uint64_t* bytes,
                                 aclOpExecutor** executor);

/// Rows of a table along an axis, which is an input.
aclnnStatus PlanGather(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// The mean over axes, which are an input.
aclnnStatus PlanReduceMean(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// The sum of powers: the norm to its power, which RaiseNorm takes it to.
aclnnStatus PlanNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus PlanRaiseNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// And its root.
aclnnStatus PlanRootOfNorm(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// Sums rows of a[0] by the segments in a[1], as an embedding's gradient does.
aclnnStatus PlanSegmentSum(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

/// Refuses what these optimisers have beside momentum, then a[accum] *= a[momentum].
template <size_t kAccum, size_t kMomentum>
aclnnStatus PlanDecay(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// a[0] -= a[rate] * a[accum]
template <size_t kRate, size_t kAccum>
aclnnStatus PlanDescend(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// a[to] *= a[other]
template <size_t kTo, size_t kOther>
aclnnStatus PlanMultiply(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// a[2] /= 2, a[2] /= -2
aclnnStatus PlanHalf(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
aclnnStatus PlanMinusHalf(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// a[to] += a[other]
template <size_t kTo, size_t kOther>
aclnnStatus PlanAddTo(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);
/// a[to] = a[from]; nothing to do where both are the same memory.
template <size_t kTo, size_t kFrom>
aclnnStatus PlanCopy(const GraphArguments& a, uint64_t* bytes, aclOpExecutor** executor);

}  // namespace openaclnn
