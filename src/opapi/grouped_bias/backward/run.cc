// SPDX-License-Identifier: Apache-2.0
// The work of GroupedBiasAddGrad: check the ends of the groups, then sum their rows.
#include "grouped_bias/backward/op.h"

namespace openaclnn::grouped_bias::backward {
namespace {

/// Groups whose ends were listed; ends ascend and the last is the number of rows.
struct ListedGroups {
  const int64_t* ends;

  int64_t Begin(int64_t group) const { return group == 0 ? 0 : ends[group - 1]; }
  int64_t End(int64_t group, int64_t) const { return ends[group]; }
  int64_t Ends(int64_t group, int64_t begin, int64_t most, std::span<int64_t> to) const {
    return EndsOneByOne(*this, group, begin, most, to);
  }
};

Status InvalidEnd(int64_t group, int64_t value, const std::string& expected) {
  return Status(507035,
                Concat("groupIdxOptional value ", group, " is ", value, ", expected ", expected));
}

/// Reads the list as ends: none falls, none is above INT32_MAX, the last is R.
Status ReadEnds(const Plan& plan, const void* list, int64_t* ends) {
  const bool wide = plan.list_dtype == ACL_INT64;
  int64_t last = 0;
  for (int64_t j = 0; j < plan.groups; ++j) {
    const int64_t value = wide ? static_cast<const int64_t*>(list)[plan.list(j)]
                               : static_cast<const int32_t*>(list)[plan.list(j)];
    const int64_t least = plan.sizes ? 0 : last;
    const int64_t most = plan.sizes ? INT32_MAX - last : INT32_MAX;
    if (value < least || value > most) {
      return InvalidEnd(j, value,
                        Concat(plan.sizes ? "a size" : "an end", " from ", least, " to ", most));
    }
    last = ends[j] = plan.sizes ? last + value : value;
  }
  if (last == plan.rows) return {};
  if (plan.groups == 0) {
    return Status(507035, Concat("groupIdxOptional shape is (0), expected groups that end at ",
                                 plan.rows, ", the rows of gradY"));
  }
  return InvalidEnd(plan.groups - 1,
                    plan.sizes ? last - (plan.groups > 1 ? ends[plan.groups - 2] : 0) : last,
                    Concat(plan.sizes ? "sizes whose sum is " : "the last end to be ", plan.rows,
                           ", the rows of gradY"));
}

template <class Groups>
void SumGroups(const Plan& plan, const Buffers& buffers, void* scratch, const Groups& groups) {
  if (plan.sum.width == 0) return;  // rows without elements may be any number
  std::byte* const behind = static_cast<std::byte*>(scratch) + plan.sum.scratch_bytes();
  const void* dy = plan.dy.Take(buffers.data[kGradY], behind);
  SegmentSum sum(plan.sum, dy, buffers.data[kOut], scratch, nullptr);
  for (int64_t j = 0; j < plan.groups; ++j) {
    const int64_t begin = groups.Begin(j);
    sum.AddLongSegment(begin, groups.End(j, begin));
  }
  sum.Run(plan.groups, groups);
}

}  // namespace

Status Run(const Plan& plan, const Buffers& buffers) {
  if (plan.rows == 0) {
    SumGroups(plan, buffers, nullptr, EqualSegments{0});  // all groups are empty: zeros
    return {};
  }
  if (plan.rows_a_group >= 0) {
    SumGroups(plan, buffers, buffers.workspace, EqualSegments{plan.rows_a_group});
    return {};
  }
  auto* ends = static_cast<int64_t*>(buffers.workspace);
  Status status = ReadEnds(plan, buffers.data[kGroupIdx], ends);
  if (status.ok()) SumGroups(plan, buffers, ends + plan.groups, ListedGroups{ends});
  return status;
}

}  // namespace openaclnn::grouped_bias::backward
