// SPDX-License-Identifier: Apache-2.0
// The graph names of operators that aclopCompileAndExecute runs.
#pragma once

#include <string_view>

namespace openaclnn {

inline constexpr std::string_view kGraphOperatorNames[] = {
    "ApplyMomentum",
    "Assign",
    "AssignAdd",
    "BiasAdd",
    "BiasAddGrad",
    "Cast",
    "CdistGrad",
    "Conv2D",
    "Conv2DBackpropFilter",
    "Conv2DBackpropInput",
    "GatherV2",
    "Identity",
    "LpNormReduceV2",
    "LpNormUpdateV2",
    "OnesLike",
    "RealDiv",
    "ReduceMean",
    "RsqrtGrad",
    "SGD",
    "ScaledMaskedSoftmax",
    "ScaledMaskedSoftmaxGrad",
    "SqrtGrad",
    "TensorMove",
    "UnsortedSegmentSum",
    "ZerosLike",
};

}  // namespace openaclnn
