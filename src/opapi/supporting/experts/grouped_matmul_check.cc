// SPDX-License-Identifier: Apache-2.0
// GroupedMatmul: which operands fit each other.
#include "supporting/experts/grouped_matmul.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

using P = GroupedMatmulParams;

constexpr DtypeSet kFloats = Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);
constexpr DtypeSet kHalves = Dtypes(ACL_FLOAT16, ACL_BF16);
constexpr int64_t kMostGroups = 1024;

void CheckReserved(const P& p, Checker& checker) {
  for (const GivenList* list : {&p.activationInputOptional, &p.activationQuantScaleOptional,
                                &p.activationQuantOffsetOptional, &p.activationFeatureOutOptional,
                                &p.dynQuantScaleOutOptional, &p.offsetOptional}) {
    checker.That(list->size == 0, [&] {
      return Concat(list->name, " size is ", list->size, ", expected null or an empty list");
    });
  }
}

void CheckSwitches(const P& p, Checker& checker) {
  CheckValue(p.groupType == kNoGroups || p.groupType == kRowGroups || p.groupType == kTermGroups,
             "groupType", p.groupType, checker, "-1, 0 or 2");
  CheckValue(p.splitItem >= 0 && p.splitItem <= 3, "splitItem", p.splitItem, checker, "0 to 3");
  CheckValue(p.groupListType >= 0 && p.groupListType <= 2, "groupListType", p.groupListType,
             checker, "0 to 2");
  CheckValue(p.actType == 0 || p.actType == 1 || p.actType == 2 || p.actType == 4 || p.actType == 5,
             "actType", p.actType, checker, "0, 1, 2, 4 or 5");
  for (const GivenList* list : {&p.x, &p.weight, &p.out}) {
    checker.That(list->size > 0,
                 [&] { return Concat(list->name, " size is 0, expected 1 or more"); });
  }
  if (!checker.ok()) return;
  CheckValue(p.quantGroupSize == 0, "quantGroupSize", p.quantGroupSize, checker, "0");
  CheckReserved(p, checker);
}

/// All members have one type and one number of dimensions.
void CheckAlike(const GivenList& list, Checker& checker) {
  for (size_t i = 1; i < list.size; ++i) {
    checker.SameDtype(list[i], list[0]).Rank(list[i], list[0].rank());
  }
}

void CheckRanks(const P& p, Checker& checker) {
  for (const GivenList* list : {&p.x, &p.weight, &p.out, &p.biasOptional, &p.scaleOptional}) {
    CheckAlike(*list, checker);
  }
  const bool plain = p.groupType == kNoGroups || (p.x.size > 1 && p.out.size > 1);
  for (size_t i = 0; i < p.x.size; ++i) checker.RankBetween(p.x[i], 2, plain ? 6 : 2);
  const bool slices = p.weight.size == 1 && !ByTerms(p);
  for (size_t i = 0; i < p.weight.size; ++i) checker.RankBetween(p.weight[i], 2, slices ? 3 : 2);
  for (const GivenList* list : {&p.x, &p.out}) {
    for (size_t i = 0; i < list->size && checker.ok() && !ByTerms(p); ++i) {
      const Tensor& tensor = (*list)[i];
      checker.RankBetween(tensor, 2, kMaxRank);
      const bool joined = tensor.rank() <= 2 || RowsIn(tensor) <= 1 ||
                          Offsets(tensor, tensor.rank() - 1).step() != 0;
      checker.That(joined, [&] {
        return Concat(tensor.name(), " strides are ",
                      ShapeText(tensor.given_strides(), tensor.rank()),
                      ", expected rows that are one step apart over all leading dimensions");
      });
    }
  }
}

/// A member for each group, or one tensor with a slice for each.
void CheckPieces(const GivenList& list, const P& p, Checker& checker) {
  if (list.size == 0 || !checker.ok()) return;
  const int64_t groups = GroupsOf(p);
  checker.That(list.size == p.weight.size, [&] {
    return Concat(list.name, " size is ", list.size, ", expected that of weight, ", p.weight.size);
  });
  if (!checker.ok()) return;
  for (size_t i = 0; i < list.size; ++i) {
    const int64_t columns = WeightOf(p, i).columns;
    const bool slices = p.weight.size == 1 && (p.weight[0].rank() == 3 || list[i].rank() == 2);
    CheckShape(list[i], slices ? Shape{groups, columns} : Shape{columns}, checker);
  }
}

/// x, weight and out of groups of rows.
void CheckRowGroups(const P& p, Checker& checker) {
  const int64_t groups = GroupsOf(p);
  const auto sizes = [&](const GivenList& list) {
    const bool fits = list.size == 1 || static_cast<int64_t>(list.size) == groups;
    checker.That(fits, [&] {
      return Concat(list.name, " size is ", list.size, ", expected 1 or that of the groups, ",
                    groups);
    });
  };
  sizes(p.x);
  sizes(p.out);
  const bool one = p.splitItem >= 2;
  checker.That(one ? p.out.size == 1 : static_cast<int64_t>(p.out.size) == groups, [&] {
    return Concat(p.out.name, " size is ", p.out.size, ", expected ", one ? 1 : groups,
                  " where splitItem is ", p.splitItem);
  });
  const bool split = p.x.size == 1 && groups > 1;
  checker.That(!split || HasList(p), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("groupListOptional value is null, expected the groups of the rows of x");
  });
  checker.That(p.groupType != kNoGroups || !HasList(p), [&] {
    return Concat("groupListOptional value is a list, expected null where groupType is -1");
  });
  if (!checker.ok()) return;
  for (size_t g = 0; g < static_cast<size_t>(groups) && checker.ok(); ++g) {
    const Tensor &x = p.x[p.x.size == 1 ? 0 : g], &out = p.out[p.out.size == 1 ? 0 : g];
    const Extents weight = WeightOf(p, g);
    checker.That(x.last_dim() == weight.rows, [&] {
      return Concat(p.weight.name, '[', g, "] shape is (", weight.rows, ", ", weight.columns,
                    "), expected ", x.last_dim(), " rows as x has columns, ", ShapeText(x));
    });
    if (p.out.size > 1 || p.x.size == 1) {
      Shape shape = ShapeOf(x);
      shape.back() = weight.columns;
      // A list groups rows: each result has its own number of them.
      if (p.out.size > 1 && p.x.size == 1 && out.rank() == 2) shape[0] = out.dim(0);
      CheckShape(out, shape, checker);
    } else {
      CheckShape(out, {RowsIn(p.x), weight.columns}, checker);
    }
  }
}

void CheckTermGroups(const P& p, Checker& checker) {
  checker.That(p.x.size == 1 && p.weight.size == 1, [&] {
    return Concat(p.x.size == 1 ? p.weight.name : p.x.name,
                  " size is not 1, expected 1 where groupType is 2");
  });
  checker.That(HasList(p), ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("groupListOptional value is null, expected the groups of the terms");
  });
  checker.That(p.biasOptional.size == 0, [&] {
    return Concat("biasOptional size is ", p.biasOptional.size,
                  ", expected 0 where groupType is 2");
  });
  if (p.out.size == 1) checker.Rank(p.out[0], 3);
  if (!checker.ok()) return;
  const Tensor &x = p.x[0], &weight = p.weight[0];
  checker.That(x.dim(1) == weight.dim(0), [&] {
    return Concat(weight.name(), " shape is ", ShapeText(weight), ", expected ", x.dim(1),
                  " rows as x has columns, ", ShapeText(x));
  });
  for (size_t i = 0; i < p.out.size; ++i) {
    const Shape each = {x.dim(0), weight.dim(1)};
    CheckShape(p.out[i], p.out.size == 1 ? Shape{p.out[0].dim(0), each[0], each[1]} : each,
               checker);
  }
}

void CheckTypes(const P& p, Checker& checker) {
  const Tensor &x = p.x[0], &weight = p.weight[0], &out = p.out[0];
  const auto none = [&](const GivenList& list) {
    checker.That(list.size == 0, [&] {
      return Concat(list.name, " size is ", list.size, ", expected 0 for x of ",
                    DtypeText(x.dtype()), " and weight of ", DtypeText(weight.dtype()));
    });
  };
  const auto of = [&](const GivenList& list, DtypeSet types) {
    if (list.size == 0) return;
    checker.That(Contains(types, list[0].dtype()),
                 [&] { return DtypeIs(list[0], DtypesText(types)); });
  };
  const GroupedKind kind = KindOf(p);
  if (kind == GroupedKind::kIntegers) {
    checker.That(weight.dtype() == ACL_INT8, [&] { return DtypeIs(weight, "INT8, as x"); });
    of(p.out, Dtypes(ACL_INT8, ACL_INT32, ACL_FLOAT16, ACL_BF16, ACL_FLOAT));
    of(p.biasOptional, Dtypes(ACL_INT32) | kFloats);
    of(p.scaleOptional, kFloats | kPackedFactors);
    of(p.perTokenScaleOptional, Dtypes(ACL_FLOAT));
    checker.That(out.dtype() == ACL_INT32 || p.scaleOptional.size > 0, ACLNN_ERR_PARAM_NULLPTR,
                 [&] { return Concat("scaleOptional size is 0, expected the factors of weight"); });
    checker.That(out.dtype() != ACL_INT32 || p.scaleOptional.size == 0, [&] {
      return Concat("scaleOptional size is ", p.scaleOptional.size, ", expected 0 where ",
                    out.name(), " is INT32");
    });
    checker.That(!ByTerms(p), [&] { return Concat("groupType value is 2, expected -1 or 0"); });
    none(p.antiquantScaleOptional);
    none(p.antiquantOffsetOptional);
    return;
  }
  const DtypeSet types = kind == GroupedKind::kWidened ? kHalves : kFloats;
  checker.That(Contains(types, x.dtype()), [&] { return DtypeIs(x, DtypesText(types)); });
  checker.SameDtype(out, x);
  if (kind == GroupedKind::kFloats) checker.SameDtype(weight, x);
  of(p.biasOptional, kFloats);
  none(p.scaleOptional);
  none(p.perTokenScaleOptional);
  CheckValue(p.actType == 0, "actType", p.actType, checker, "0 for x of a float type");
  if (kind == GroupedKind::kFloats) {
    none(p.antiquantScaleOptional);
    none(p.antiquantOffsetOptional);
    return;
  }
  checker.That(!ByTerms(p), [&] { return Concat("groupType value is 2, expected -1 or 0"); });
  checker.That(p.antiquantScaleOptional.size > 0, ACLNN_ERR_PARAM_NULLPTR, [&] {
    return Concat("antiquantScaleOptional size is 0, expected the factors of weight");
  });
  of(p.antiquantScaleOptional, Dtypes(x.dtype()));
  of(p.antiquantOffsetOptional, Dtypes(x.dtype()));
}

void CheckNumbers(const P& p, Checker& checker) {
  CheckPieces(p.biasOptional, p, checker);
  CheckPieces(p.scaleOptional, p, checker);
  CheckPieces(p.antiquantScaleOptional, p, checker);
  CheckPieces(p.antiquantOffsetOptional, p, checker);
  const GivenList& tokens = p.perTokenScaleOptional;
  if (tokens.size > 0 && checker.ok()) {
    checker.That(tokens.size == p.x.size, [&] {
      return Concat(tokens.name, " size is ", tokens.size, ", expected that of x, ", p.x.size);
    });
    for (size_t i = 0; checker.ok() && i < tokens.size; ++i) {
      CheckShape(tokens[i], {RowsIn(p.x[i])}, checker);
    }
  }
  const auto array = p.groupArray.values();
  checker.That(array.empty() || std::ssize(array) == GroupsOf(p), [&] {
    return Concat("groupListOptional size is ", array.size(), ", expected ", GroupsOf(p));
  });
  if (!p.groupListOptional.present() || !checker.ok()) return;
  checker.That(p.groupListOptional.dtype() == ACL_INT64,
               [&] { return DtypeIs(p.groupListOptional, "INT64"); });
  const int64_t groups = GroupsOf(p);
  if (p.groupListType == 2) {
    checker.Rank(p.groupListOptional, 2);
    if (checker.ok()) CheckShape(p.groupListOptional, {p.groupListOptional.dim(0), 2}, checker);
  } else {
    CheckShape(p.groupListOptional, {groups}, checker);
  }
}

}  // namespace

void CheckGroupedMatmul(const GroupedMatmulParams& p, Checker& checker) {
  CheckSwitches(p, checker);
  if (!checker.ok()) return;
  CheckRanks(p, checker);
  if (!checker.ok()) return;
  const int64_t groups = GroupsOf(p);
  checker.That(groups <= kMostGroups, [&] {
    return Concat("groups are ", groups, ", expected ", kMostGroups, " at most");
  });
  CheckTypes(p, checker);
  if (!checker.ok()) return;
  ByTerms(p) ? CheckTermGroups(p, checker) : CheckRowGroups(p, checker);
  if (checker.ok()) CheckNumbers(p, checker);
}

}  // namespace openaclnn::supporting
