// SPDX-License-Identifier: Apache-2.0
// The engine of lists: one result for the k-th members of all lists, and the k-th scalar of a list
// of scalars.
#include "generated/foreach.h"

#include "supporting/elementwise.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// The k-th of a call with lists, whose tensors come list by list, the output's last.
Application MemberOf(const Params& p, size_t k) {
  const Expression* expression = p.row.expression();
  const auto inputs = static_cast<size_t>(expression->inputs);
  const size_t count = p.lists[0].size;
  Application one = {expression, {}, 0, {}};
  for (size_t list = 0; list < inputs; ++list) one.inputs.push_back(list * count + k);
  one.out = inputs * count + k;
  // As many scalars as members are a list of them.
  const bool each = p.lists.size() > inputs + 1;
  if (each) {
    one.values.push_back(p.values[k]);
  } else {
    for (const Value& value : p.values) one.values.push_back(value);
  }
  return one;
}

}  // namespace

void CheckForeach(const Params& p, Checker& checker) {
  for (const GivenList& list : p.lists) {
    checker.That(list.size == p.lists[0].size, [&] {
      return Concat(list.name, " size is ", list.size, ", expected that of ", p.lists[0].name, ", ",
                    p.lists[0].size);
    });
  }
  for (size_t k = 0; checker.ok() && k < p.lists[0].size; ++k) {
    CheckApplication(p, MemberOf(p, k), checker);
  }
}

Plan PlanForeach(const Params& p, const Product&) {
  std::vector<Plan> plans;
  for (size_t k = 0; k < p.lists[0].size; ++k) plans.push_back(PlanApplication(p, MemberOf(p, k)));
  return InTurn(std::move(plans));
}

}  // namespace openaclnn::supporting
