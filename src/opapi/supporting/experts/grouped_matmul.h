// SPDX-License-Identifier: Apache-2.0
// The parameters of GroupedMatmul as its check and its plan read them.
#pragma once

#include "generated/experts.h"
#include "supporting/experts/pieces.h"

namespace openaclnn::supporting {

/// The kinds of operands; the checks have seen to it that they fit.
enum class GroupedKind { kFloats, kWidened, kIntegers };

inline GroupedKind KindOf(const GroupedMatmulParams& p) {
  if (p.x[0].dtype() == ACL_INT8) return GroupedKind::kIntegers;
  return p.weight[0].dtype() == ACL_INT8 ? GroupedKind::kWidened : GroupedKind::kFloats;
}

inline bool ByTerms(const GroupedMatmulParams& p) { return p.groupType == 2; }
inline bool HasList(const GroupedMatmulParams& p) {
  return p.groupListOptional.present() || !p.groupArray.values().empty();
}

/// Groups: members of the weights or slices of one; by terms those of the list or of the results.
inline int64_t GroupsOf(const GroupedMatmulParams& p) {
  if (ByTerms(p)) return p.out.size == 1 ? p.out[0].dim(0) : static_cast<int64_t>(p.out.size);
  if (p.weight.size > 1) return static_cast<int64_t>(p.weight.size);
  return p.weight[0].rank() == 3 ? p.weight[0].dim(0) : 1;
}

/// Rows of all leading dimensions.
inline int64_t RowsIn(const Tensor& tensor) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < tensor.rank(); ++i) rows *= tensor.dim(i);
  return rows;
}

inline int64_t RowsIn(const GivenList& list) {
  int64_t rows = 0;
  for (size_t i = 0; i < list.size; ++i) rows += RowsIn(list[i]);
  return rows;
}

inline Extents WeightOf(const GroupedMatmulParams& p, size_t group) {
  return ExtentsOf(p.weight.tensors, group);
}

inline constexpr DtypeSet kPackedFactors = Dtypes(ACL_INT64, ACL_UINT64);
inline constexpr int64_t kNoGroups = -1, kRowGroups = 0, kTermGroups = 2;  // groupType

}  // namespace openaclnn::supporting
