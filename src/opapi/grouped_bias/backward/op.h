// SPDX-License-Identifier: Apache-2.0
// GroupedBiasAddGrad: db[j,:] = sum over the rows i of group j of dy[i,:].
//
// Letters: dy the gradient of the output, R rows of H elements; db the gradient of the bias, a row
// for each of G groups; e_j the end of group j, which is rows [e_{j-1}, e_j), e_{-1} = 0. Without a
// list of groups dy is (G, C, H) and group g is its C rows.
#pragma once

#include <array>
#include <cstdint>

#include "frame/operation.h"
#include "kernels/move/dense_input.h"
#include "kernels/rows/segment_sum.h"

namespace openaclnn::grouped_bias::backward {

extern const Operator kOperator;
extern const Operator kOperatorV2;

/// Positions in Params::operands().
enum OperandIndex { kGradY, kGroupIdx, kOut };

/// Contents of the list of groups.
enum GroupIdxType : int64_t { kEnds = 0, kSizes = 1 };

struct Params {
  Input gradY, groupIdxOptional;
  int64_t groupIdxType;
  Output out;

  std::array<const Operand*, 3> operands() const { return {&gradY, &groupIdxOptional, &out}; }
};

struct Plan {
  int64_t groups;        // G
  int64_t rows;          // R, or G*C; 0 when dy is empty
  int64_t rows_a_group;  // C; -1 with a list of groups
  bool sizes;            // the list holds sizes, not ends
  int32_t list_dtype;
  Offsets list;
  DenseInput dy;
  SegmentSumPlan sum;
  // The ends of all groups as int64, then the scratch of the sums and the copy of dy.
  uint64_t workspace_size;
};

Status Check(const Params& params, const Product& product);
Status CheckV2(const Params& params, const Product& product);
Plan MakePlan(const Params& params, const Product& product);
Status Run(const Plan& plan, const Buffers& buffers);

}  // namespace openaclnn::grouped_bias::backward
