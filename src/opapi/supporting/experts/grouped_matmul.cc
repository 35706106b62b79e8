// SPDX-License-Identifier: Apache-2.0
// GroupedMatmul: products of the rows, or of the terms, of groups, of floats, of floats and INT8
// weights, and of INT8.
#include "supporting/experts/grouped_matmul.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/rows/rows.h"
#include "kernels/work/scratch.h"
#include "supporting/experts/activations.h"
#include "supporting/experts/integer_products.h"
#include "supporting/experts/quantised.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {
namespace {

using P = GroupedMatmulParams;

/// The operands as a task sees them.
struct Operands {
  explicit Operands(const P& p)
      : x(p.x, Slicing::kJoined),
        weight(p.weight, Slicing::kMatrix),
        bias(p.biasOptional, Slicing::kVector),
        out(p.out, ByTerms(p) ? Slicing::kMatrix : Slicing::kJoined),
        groups(GroupsOf(p)),
        many_x(p.x.size > 1),
        many_out(p.out.size > 1),
        by_terms(ByTerms(p)),
        listed(HasList(p)),
        kind(static_cast<GroupSizes::Kind>(p.groupListType)),
        list(p.groupListOptional),
        given(p.groupArray.values().begin(), p.groupArray.values().end()) {
    for (size_t i = 0; i < p.x.size; ++i) x_rows.push_back(RowsIn(p.x[i]));
    for (size_t i = 0; i < p.out.size; ++i) out_rows.push_back(RowsIn(p.out[i]));
    for (size_t g = 0; g < static_cast<size_t>(groups); ++g) {
      extents.push_back(by_terms ? Extents{0, p.weight[0].dim(1)} : WeightOf(p, g));
    }
    one_kind = p.weight.size == 1 && p.x.size == 1;
    terms = p.x[0].last_dim();
    rows = 0;
    for (const int64_t each : x_rows) rows += each;
  }

  /// The rows, or the terms, of each group.
  Status Sizes(const Buffers& buffers, GroupSizes* sizes) const {
    std::vector<int64_t> numbers = given.empty() ? list.Read(buffers) : given;
    if (listed) {
      Status status = GroupSizes::Of("groupListOptional", numbers, kind, groups,
                                     by_terms ? terms : rows, sizes);
      if (!status.ok() || (!many_x && !many_out)) return status;
    } else {
      int64_t begin = 0;
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t size = many_x ? x_rows[static_cast<size_t>(g)] : rows;
        sizes->parts.push_back({g, begin, size});
        begin += size;
      }
    }
    for (const GroupSizes::Part& part : sizes->parts) {
      const auto g = static_cast<size_t>(part.group);
      const int64_t wanted = by_terms   ? part.size
                             : many_x   ? x_rows[g]
                             : many_out ? out_rows[g]
                                        : part.size;
      if (part.size != wanted) {
        return Status(507035, Concat("groupListOptional size of group ", g, " is ", part.size,
                                     ", expected ", wanted, ", the rows of its tensor"));
      }
    }
    return {};
  }

  GroupMatrix Left(const Buffers& buffers, const GroupSizes::Part& part) const {
    const GroupMatrix all = x.Of(buffers, static_cast<size_t>(part.group));
    if (many_x) return all;
    return by_terms ? all.From(0, part.begin) : all.From(part.begin, 0);
  }
  GroupMatrix Right(const Buffers& buffers, const GroupSizes::Part& part) const {
    const GroupMatrix all = weight.Of(buffers, static_cast<size_t>(part.group));
    return by_terms ? all.From(part.begin, 0) : all;
  }
  GroupMatrix Result(const Buffers& buffers, const GroupSizes::Part& part) const {
    const GroupMatrix all = out.Of(buffers, static_cast<size_t>(part.group));
    return many_out || by_terms ? all : all.From(part.begin, 0);
  }

  /// The product of a part, with the bias.
  Group ProductOf(const Buffers& buffers, const GroupSizes::Part& part) const {
    const auto g = static_cast<size_t>(part.group);
    Group group = {.rows = by_terms ? rows : part.size,
                   .columns = extents[g].columns,
                   .terms = by_terms ? part.size : extents[g].rows};
    group.a = Left(buffers, part);
    group.b = Right(buffers, part);
    group.c = Result(buffers, part);
    group.added = bias.Of(buffers, g);
    group.adds = bias.present();
    return group;
  }

  /// The largest products of each kind, for the scratch.
  std::vector<Group> Largest() const {
    std::vector<Group> largest;
    const size_t kinds = extents.empty() ? 0 : one_kind ? 1 : extents.size();
    for (size_t g = 0; g < kinds; ++g) {
      Group group = {.rows = many_x ? x_rows[g] : rows,
                     .columns = extents[g].columns,
                     .terms = by_terms ? terms : extents[g].rows};
      group.a = x.Of(g);
      group.b = weight.Of(g);
      group.c = out.Of(g);
      group.added = bias.Of(g);
      group.adds = bias.present();
      largest.push_back(group);
    }
    return largest;
  }

  Pieces x, weight, bias, out;
  int64_t groups, rows = 0, terms = 0;
  bool many_x, many_out, by_terms, listed;
  GroupSizes::Kind kind;
  IntegerValues list;
  std::vector<int64_t> given, x_rows, out_rows;
  std::vector<Extents> extents;
  bool one_kind;  // all groups have one left and one right tensor
};

Plan PlanFloats(const P& p) {
  const Operands operands(p);
  const ProductGroups grouping(operands.Largest(), operands.groups);
  return {grouping.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            GroupSizes sizes;
            Status status = operands.Sizes(buffers, &sizes);
            if (!status.ok()) return status;
            std::vector<Group> groups;
            for (const GroupSizes::Part& part : sizes.parts) {
              groups.push_back(operands.ProductOf(buffers, part));
            }
            grouping.Multiply(groups, static_cast<std::byte*>(buffers.workspace));
            return {};
          }};
}

/// Floats times INT8 weights, which become floats, (weight + offset) * scale, group by group.
Plan PlanWidened(const P& p) {
  const Operands operands(p);
  const Pieces scales(p.antiquantScaleOptional, Slicing::kVector),
      offsets(p.antiquantOffsetOptional, Slicing::kVector);
  std::vector<Group> largest = operands.Largest();
  __int128 most = 0;
  for (Group& group : largest) {
    most = std::max(most, __int128{group.terms} * group.columns * int{sizeof(float)});
    group.b = {nullptr, ACL_FLOAT, group.columns, 1};
  }
  const ProductGroups grouping(largest, operands.groups);
  ScratchParts parts;
  parts.Take(grouping.scratch_bytes());
  const uint64_t each = ScratchBytes((most + 63) / 64 * 64);
  const uint64_t floats = parts.Take(static_cast<__int128>(each) * grouping.slots());
  return {
      parts.bytes(), [=](const Buffers& buffers) -> Status {
        GroupSizes sizes;
        Status status = operands.Sizes(buffers, &sizes);
        if (!status.ok()) return status;
        std::vector<Group> groups;
        std::vector<double> costs;
        for (const GroupSizes::Part& part : sizes.parts) {
          groups.push_back(operands.ProductOf(buffers, part));
          const Group& last = groups.back();
          const bool empty = last.rows == 0 || last.columns == 0;
          costs.push_back(empty ? 0 : ProductGroups::CostOf(last.rows, last.columns, last.terms));
        }
        auto* const scratch = static_cast<std::byte*>(buffers.workspace);
        grouping.Run(costs, scratch, [&](size_t i, const ProductGroups::Worker& worker) {
          Group group = groups[i];
          const auto g = static_cast<size_t>(sizes.parts[i].group);
          const auto n = static_cast<size_t>(group.columns);
          std::vector<float> scale(n), offset(n);
          LoadRowOf(scales.Of(buffers, g), group.columns, scale.data());
          LoadRowOf(offsets.Of(buffers, g), group.columns, offset.data());
          auto* const to = reinterpret_cast<float*>(scratch + floats +
                                                    static_cast<uint64_t>(worker.slot) * each);
          const auto widen = [&](int64_t term) {
            float* const row = to + term * group.columns;
            LoadRowOf(group.b.From(term, 0), group.columns, row);
            for (size_t k = 0; k < n; ++k) row[k] = (row[k] + offset[k]) * scale[k];
          };
          if (worker.alone) {
            for (int64_t term = 0; term < group.terms; ++term) widen(term);
          } else {
            ParallelRows(group.terms, group.columns, widen);
          }
          group.b = {reinterpret_cast<std::byte*>(to), ACL_FLOAT, group.columns, 1};
          grouping.Multiply(group, worker);
        });
        return {};
      }};
}

/// Makes results of the sums of a row.
struct RowFinish {
  explicit RowFinish(const P& p)
      : bias(p.biasOptional, Slicing::kVector),
        scale(p.scaleOptional, Slicing::kVector),
        packed(p.scaleOptional.size > 0 && Contains(kPackedFactors, p.scaleOptional[0].dtype())),
        of_integers(p.biasOptional.size > 0 && p.biasOptional[0].dtype() == ACL_INT32) {
    constexpr Activation kByNumber[] = {Activation::kNone,     Activation::kRelu,
                                        Activation::kGeluTanh, Activation::kNone,
                                        Activation::kFastGelu, Activation::kSilu};
    activation = kByNumber[p.actType];
    for (size_t i = 0; i < p.perTokenScaleOptional.size; ++i) {
      tokens.push_back(TensorValues<float>(p.perTokenScaleOptional[i]));
    }
  }

  /// The factors of a group's columns, and what is added to INT8 results.
  void Factors(const Buffers& buffers, size_t group, int64_t columns, std::vector<float>* factors,
               std::vector<float>* shifts) const {
    factors->assign(static_cast<size_t>(columns), 1);
    shifts->assign(static_cast<size_t>(columns), 0);
    const GroupMatrix at = scale.Of(buffers, group);
    if (!packed) return LoadRowOf(at, columns, factors->data());
    // A FLOAT in the lower half; the bits from 37 on are an offset of nine bits.
    for (int64_t i = 0; i < columns; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, at.From(0, i).at, sizeof(bits));
      (*factors)[static_cast<size_t>(i)] = std::bit_cast<float>(static_cast<uint32_t>(bits));
      const auto nine = static_cast<int32_t>(bits >> 37 & 0x1FF);
      (*shifts)[static_cast<size_t>(i)] = static_cast<float>((nine ^ 0x100) - 0x100);
    }
  }

  Pieces bias, scale;
  /// A factor for each row of all groups; none at all where there are none.
  std::vector<float> Tokens(const Buffers& buffers) const {
    std::vector<float> all;
    for (const TensorValues<float>& each : tokens) {
      const std::vector<float> more = each.Read(buffers);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  bool packed, of_integers;
  Activation activation;
  std::vector<TensorValues<float>> tokens;
};

/// The numbers that the rows of a group share.
struct GroupFinish {
  GroupMatrix out;
  std::vector<float> bias, factors, shifts;
  std::vector<int64_t> whole;  // a bias of INT32
};

GroupFinish FinishOf(const RowFinish& finish, const Buffers& buffers, size_t group,
                     const Group& product) {
  GroupFinish own;
  const auto n = static_cast<size_t>(product.columns);
  own.out = product.c;
  own.bias.assign(n, 0);
  own.whole.assign(n, 0);
  finish.Factors(buffers, group, product.columns, &own.factors, &own.shifts);
  if (!finish.bias.present()) return own;
  const GroupMatrix bias = finish.bias.Of(buffers, group);
  if (!finish.of_integers) {
    LoadRowOf(bias, product.columns, own.bias.data());
  } else {
    constexpr int64_t kBytes = sizeof(int32_t);
    LoaderOf<int64_t>(ACL_INT32)(bias.at, bias.column_step * kBytes, product.columns,
                                 own.whole.data());
  }
  return own;
}

/// Stores a row of sums; `row` counts from the group's first one.
void StoreRow(const RowFinish& finish, const GroupFinish& own, int64_t row, float token,
              const int32_t* sums) {
  const GroupMatrix to = own.out.From(row, 0);
  const auto n = static_cast<int64_t>(own.bias.size());
  const int64_t step = to.column_step * static_cast<int64_t>(FindDataType(to.dtype)->bytes);
  if (to.dtype == ACL_INT32) {
    std::vector<int64_t> whole = own.whole;
    for (int64_t k = 0; k < n; ++k) whole[static_cast<size_t>(k)] += sums[k];
    return StorerOf<int64_t>(ACL_INT32)(whole.data(), n, to.at, step);
  }
  std::vector<float> line(own.bias.size());
  for (size_t k = 0; k < line.size(); ++k) {
    const auto sum = static_cast<float>(sums[k] + own.whole[k]);
    line[k] = sum * own.factors[k] * token + own.bias[k];
  }
  Activate(finish.activation, n, line.data());
  for (size_t k = 0; to.dtype == ACL_INT8 && k < line.size(); ++k) {
    line[k] = NearestByte(line[k] + own.shifts[k]);
  }
  StorerOf<float>(to.dtype)(line.data(), n, to.at, step);
}

Plan PlanIntegers(const P& p) {
  const Operands operands(p);
  const RowFinish finish(p);
  std::vector<IntegerGroup> largest;
  for (const Group& group : operands.Largest()) {
    largest.push_back({0, 0, group.rows, group.columns, group.terms, group.a, group.b});
  }
  const IntegerProducts products(largest, operands.rows, operands.groups);
  return {products.scratch_bytes(), [=](const Buffers& buffers) -> Status {
            GroupSizes sizes;
            Status status = operands.Sizes(buffers, &sizes);
            if (!status.ok()) return status;
            const std::vector<float> tokens = finish.Tokens(buffers);
            std::vector<IntegerGroup> groups;
            std::vector<GroupFinish> finishes;
            for (const GroupSizes::Part& part : sizes.parts) {
              const Group group = operands.ProductOf(buffers, part);
              const auto g = static_cast<size_t>(part.group);
              groups.push_back({groups.size(), part.begin, group.rows, group.columns, group.terms,
                                group.a, group.b});
              finishes.push_back(FinishOf(finish, buffers, g, group));
            }
            products.Run(groups, static_cast<std::byte*>(buffers.workspace),
                         [&](size_t i, int64_t row, const int32_t* sums) {
                           const float token =
                               tokens.empty() ? 1 : tokens[static_cast<size_t>(row)];
                           StoreRow(finish, finishes[i], row - groups[i].first, token, sums);
                         });
            return {};
          }};
}

}  // namespace

Plan PlanGroupedMatmul(const GroupedMatmulParams& p, const Product&) {
  switch (KindOf(p)) {
    case GroupedKind::kIntegers:
      return PlanIntegers(p);
    case GroupedKind::kWidened:
      return PlanWidened(p);
    default:
      return PlanFloats(p);
  }
}

}  // namespace openaclnn::supporting
