// SPDX-License-Identifier: Apache-2.0
// The engines of lists: one result for the k-th members of all lists, and the k-th scalar of a list
// of scalars or one scalar for all.
#include "generated/foreach.h"

#include "supporting/elementwise.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// Says whether a tensor of scalars has one for each member, or one for all.
enum class Numbered { kMembers, kAll };

/// The tensor that has a number for each member in row-major order, or one for all of them, where
/// scalars are given so; else null.
const Tensor* Numbers(const Params& p) {
  for (const Tensor& tensor : p.tensors) {
    if (!tensor.in_list()) return &tensor;
  }
  return nullptr;
}

/// The work on the k-th members of a call's lists, of which the output's is last.
Application MemberOf(const Params& p, size_t k, Numbered numbered) {
  const Expression* expression = p.row.expression();
  const auto inputs = static_cast<size_t>(expression->inputs);
  // The pages have FLOAT scalars for lists of BFLOAT16.
  Application one = {expression, {}, p.lists.back()[k].place.number, {}, Dtypes(ACL_BF16)};
  for (size_t list = 0; list < inputs; ++list) {
    one.inputs.push_back(p.lists[list][k].place.number);
  }
  if (const Tensor* numbers = Numbers(p)) {
    one.element =
        Element{numbers->place.number, numbered == Numbered::kAll ? 0 : static_cast<int64_t>(k)};
    return one;
  }
  // A list of scalars comes with the lists of tensors, and has a scalar for each member.
  const bool each = p.lists.size() > inputs + 1;
  if (each) {
    one.values.push_back(p.values[k]);
  } else {
    for (const Value& value : p.values) one.values.push_back(value);
  }
  return one;
}

void CheckLists(const Params& p, Numbered numbered, Checker& checker) {
  for (const GivenList& list : p.lists) {
    checker.That(list.size == p.lists[0].size, [&] {
      return Concat(list.name, " size is ", list.size, ", expected that of ", p.lists[0].name, ", ",
                    p.lists[0].size);
    });
  }
  if (const Tensor* numbers = Numbers(p)) {
    const bool all = numbered == Numbered::kAll;
    checker.That(numbers->count() == (all ? 1 : p.lists[0].size), [&] {
      if (all) {
        return Concat(numbers->name(), " shape is ", ShapeText(*numbers), ", expected one element");
      }
      return Concat(numbers->name(), " shape is ", ShapeText(*numbers), ", expected ",
                    p.lists[0].size, " elements, a number for each tensor of ", p.lists[0].name);
    });
  }
  for (size_t k = 0; checker.ok() && k < p.lists[0].size; ++k) {
    CheckApplication(p, MemberOf(p, k, numbered), checker);
  }
}

Plan PlanLists(const Params& p, Numbered numbered) {
  std::vector<Plan> plans;
  for (size_t k = 0; k < p.lists[0].size; ++k) {
    plans.push_back(PlanApplication(p, MemberOf(p, k, numbered)));
  }
  return InTurn(std::move(plans));
}

}  // namespace

void CheckForeach(const Params& p, Checker& checker) { CheckLists(p, Numbered::kMembers, checker); }

Plan PlanForeach(const Params& p, const Product&) { return PlanLists(p, Numbered::kMembers); }

void CheckForeachShared(const Params& p, Checker& checker) {
  CheckLists(p, Numbered::kAll, checker);
}

Plan PlanForeachShared(const Params& p, const Product&) { return PlanLists(p, Numbered::kAll); }

}  // namespace openaclnn::supporting
