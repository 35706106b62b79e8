// SPDX-License-Identifier: Apache-2.0
// FFN: two products with an activation between them, of each expert's rows.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "kernels/work/scratch.h"
#include "supporting/experts/activations.h"
#include "supporting/experts/pieces.h"
#include "supporting/experts/values.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

/// By its name, which is one of the record.
Activation ActivationOf(std::string_view name) {
  if (name == "fastgelu") return Activation::kFastGelu;
  if (name == "gelu") return Activation::kGelu;
  return name == "relu" ? Activation::kRelu : Activation::kSilu;
}

int64_t RowsOf(const Tensor& x) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < x.rank(); ++i) rows *= x.dim(i);
  return rows;
}

bool HasExperts(const FFNParams& p) { return p.weight1.rank() == 3; }

/// The sizes of the experts' rows.
Status SizesOf(const FFNParams& p, GroupSizes* sizes) {
  const int64_t rows = RowsOf(p.x);
  const auto tokens = p.expertTokens.values();
  if (!HasExperts(p)) {
    sizes->parts.push_back({0, 0, rows});
    return {};
  }
  const std::vector<int64_t> numbers(tokens.begin(), tokens.end());
  return GroupSizes::Of("expertTokens", numbers,
                        p.tokensIndexFlag ? GroupSizes::kTotals : GroupSizes::kCounts,
                        p.weight1.dim(0), rows, sizes);
}

void CheckTokens(const FFNParams& p, Checker& checker) {
  const auto tokens = p.expertTokens.values();
  const int64_t experts = HasExperts(p) ? p.weight1.dim(0) : 0;
  checker.That(std::ssize(tokens) == experts, [&] {
    return Concat("expertTokens size is ", tokens.size(), ", expected ", experts,
                  ", the experts of weight1, ", ShapeText(p.weight1));
  });
  if (!checker.ok()) return;
  GroupSizes sizes;
  Status status = SizesOf(p, &sizes);
  checker.That(status.ok(), [&] { return std::string(status.text()); });
  if (!checker.ok()) return;
  int64_t all = 0;
  for (const GroupSizes::Part& part : sizes.parts) all += part.size;
  checker.That(all == RowsOf(p.x), [&] {
    return Concat("expertTokens sum is ", all, ", expected ", RowsOf(p.x), ", the rows of x, ",
                  ShapeText(p.x));
  });
}

void CheckBias(const Tensor& bias, const Tensor& weight, Checker& checker) {
  if (!bias.present() || !checker.ok()) return;
  const int64_t columns = weight.last_dim();
  CheckShape(bias, weight.rank() == 3 ? Shape{weight.dim(0), columns} : Shape{columns}, checker);
}

}  // namespace

void CheckFFN(const FFNParams& p, Checker& checker) {
  checker.RankBetween(p.x, 2, kMaxRank)
      .RankBetween(p.y, 2, kMaxRank)
      .RankBetween(p.weight1, 2, 3)
      .Rank(p.weight2, p.weight1.rank());
  checker.SameDtype(p.weight1, p.x).SameDtype(p.weight2, p.x).SameDtype(p.y, p.x);
  for (const Tensor* tensor : {&p.scale, &p.offset, &p.deqScale1, &p.deqScale2, &p.antiquantScale1,
                               &p.antiquantScale2, &p.antiquantOffset1, &p.antiquantOffset2}) {
    checker.That(!tensor->present(), [&] {
      return Concat(tensor->name(),
                    " value is a tensor, expected null: quantised FFN is not"
                    " computed");
    });
  }
  CheckValue(p.innerPrecise == 0 || p.innerPrecise == 1, "innerPrecise", p.innerPrecise, checker,
             "0 or 1");
  if (!checker.ok()) return;
  for (const Tensor* tensor : {&p.x, &p.y}) {
    const uint32_t rank = tensor->rank();
    const bool joined = rank <= 2 || RowsOf(*tensor) <= 1 || Offsets(*tensor, rank - 1).step() != 0;
    checker.That(joined, [&] {
      return Concat(tensor->name(), " strides are ", ShapeText(tensor->given_strides(), rank),
                    ", expected rows that are one step apart over all leading dimensions");
    });
  }
  const uint32_t last = p.weight1.rank() - 1;
  const int64_t wide = p.weight1.dim(last);
  const Shape first = {p.x.last_dim(), wide};
  CheckShape(p.weight1, HasExperts(p) ? Shape{p.weight1.dim(0), first[0], wide} : first, checker);
  if (!checker.ok()) return;
  const int64_t out = p.weight2.last_dim();
  CheckShape(p.weight2, HasExperts(p) ? Shape{p.weight1.dim(0), wide, out} : Shape{wide, out},
             checker);
  Shape shape = ShapeOf(p.x);
  shape.back() = out;
  CheckShape(p.y, shape, checker);
  CheckBias(p.bias1, p.weight1, checker);
  CheckBias(p.bias2, p.weight2, checker);
  if (checker.ok()) CheckTokens(p, checker);
}

Plan PlanFFN(const FFNParams& p, const Product&) {
  const Pieces x(p.x, Slicing::kJoined), y(p.y, Slicing::kJoined),
      first(p.weight1, Slicing::kMatrix), second(p.weight2, Slicing::kMatrix),
      bias1(p.bias1, Slicing::kVector), bias2(p.bias2, Slicing::kVector);
  const int64_t rows = RowsOf(p.x), wide = p.weight1.last_dim(), out = p.weight2.last_dim(),
                terms = p.x.last_dim();
  const Activation activation = ActivationOf(p.activation);
  const int32_t type = p.x.dtype();
  GroupSizes sizes;
  if (!SizesOf(p, &sizes).ok()) return Nothing();  // the check has refused it
  // The hidden rows are floats first, then of x's type, as between two layers.
  Group one = {.rows = rows, .columns = wide, .terms = terms};
  one.a = x.Of(0), one.b = first.Of(0), one.c = {nullptr, ACL_FLOAT, wide, 1};
  one.added = bias1.Of(0), one.adds = bias1.present();
  Group two = {.rows = rows, .columns = out, .terms = wide};
  two.a = {nullptr, type, wide, 1}, two.b = second.Of(0), two.c = y.Of(0);
  two.added = bias2.Of(0), two.adds = bias2.present();
  const auto count = static_cast<int64_t>(sizes.parts.size());
  const ProductGroups ones({one}, count), twos({two}, count);
  ScratchParts parts;
  parts.Take(static_cast<__int128>(std::max(ones.scratch_bytes(), twos.scratch_bytes())));
  const uint64_t floats = parts.Take(__int128{rows} * wide * int{sizeof(float)});
  const uint64_t halves = parts.Take(__int128{rows} * wide * int{sizeof(float)});
  return {parts.bytes(), [=](const Buffers& buffers) -> Status {
            auto* const scratch = static_cast<std::byte*>(buffers.workspace);
            const GroupMatrix made = {scratch + floats, ACL_FLOAT, wide, 1};
            const GroupMatrix kept = {scratch + halves, type, wide, 1};
            std::vector<Group> before, after;
            for (const GroupSizes::Part& part : sizes.parts) {
              const auto g = static_cast<size_t>(part.group);
              Group group = one;
              group.rows = part.size;
              group.a = x.Of(buffers, 0).From(part.begin, 0);
              group.b = first.Of(buffers, g);
              group.c = made.From(part.begin, 0);
              group.added = bias1.Of(buffers, g);
              before.push_back(group);
              group = two;
              group.rows = part.size;
              group.a = kept.From(part.begin, 0);
              group.b = second.Of(buffers, g);
              group.c = y.Of(buffers, 0).From(part.begin, 0);
              group.added = bias2.Of(buffers, g);
              after.push_back(group);
            }
            ones.Multiply(before, scratch);
            const auto store = StorerOf<float>(type);
            const auto bytes = static_cast<int64_t>(FindDataType(type)->bytes);
            ParallelRows(rows, wide, [&](int64_t row) {
              auto* const line = reinterpret_cast<float*>(made.From(row, 0).at);
              Activate(activation, wide, line);
              store(line, wide, kept.From(row, 0).at, bytes);
            });
            twos.Multiply(after, scratch);
            return {};
          }};
}

}  // namespace openaclnn::supporting
