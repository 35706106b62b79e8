// SPDX-License-Identifier: Apache-2.0
// GroupedMatmul: each group has the bits of Mm, on any number of threads; exact sums of INT8; what
// is refused, and what is found when the task runs.
#include <numeric>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kTerms = 200, kColumns = 70, kGroups = 5;
const std::vector<int64_t> kSizes = {130, 0, 3, 1, 60};

Doubles Numbers(const std::vector<int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

int64_t Sum(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

/// Rows [begin, begin + n) of numbers that have so many columns.
Doubles Rows(const Doubles& all, int64_t begin, int64_t n, int64_t columns) {
  return {all.begin() + begin * columns, all.begin() + (begin + n) * columns};
}

/// A call of V4 whose lists have one member each.
struct Call4 {
  const DeviceTensor &x, &weight, &list, &out;
  const DeviceTensor* bias = nullptr;
  const DeviceTensor* scale = nullptr;
  const DeviceTensor* tokens = nullptr;
  int64_t split = 3, type = 0, kind = 1, act = 0;

  template <class... Out>
  aclnnStatus operator()(Out... o) const {
    const ListHandle xs({&x}), weights({&weight}), outs({&out});
    const auto optional = [](const DeviceTensor* tensor) {
      return tensor == nullptr ? nullptr : std::make_unique<ListHandle>(std::vector{tensor});
    };
    const auto biases = optional(bias), scales = optional(scale), token_scales = optional(tokens);
    const auto of = [](const auto& handle) { return handle ? handle->get() : nullptr; };
    return aclnnGroupedMatmulV4GetWorkspaceSize(
        xs.get(), weights.get(), of(biases), of(scales), nullptr, nullptr, nullptr,
        of(token_scales), list.handle(), nullptr, nullptr, nullptr, split, type, kind, act,
        outs.get(), nullptr, nullptr, o...);
  }
};

Outcome RunCall(const Device& device, const Call4& call) {
  return Call(device, aclnnGroupedMatmulV4, [&](auto... o) { return call(o...); });
}

/// A call of V5 by pairs of a group and its rows.
Outcome RunPairs(const Device& device, const DeviceTensor& x, const DeviceTensor& weight,
                 const Doubles& pairs, const DeviceTensor& out) {
  const DeviceTensor list = Make(ACL_INT64, {2, 2}, pairs);
  const ListHandle xs({&x}), weights({&weight}), outs({&out});
  return RUN(device, GroupedMatmulV5, xs.get(), weights.get(), nullptr, nullptr, nullptr, nullptr,
             nullptr, nullptr, list.handle(), nullptr, nullptr, nullptr, 3, 0, 2, 0, nullptr,
             outs.get(), nullptr, nullptr);
}

void RefusedCall(int code, const std::string& says, const Call4& call) {
  Refused(code, says, [&](auto... o) { return call(o...); });
}

TEST(Grouped, EachGroupHasTheBitsOfMm) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    UnderEachSetting([&](const std::string& name, const Device& device) {
      SCOPED_TRACE(testing::Message() << name << ", type " << dtype);
      Random random(7);
      const int64_t rows = Sum(kSizes);
      const Doubles a = RealValues(random, rows * kTerms),
                    b = RealValues(random, kGroups * kTerms * kColumns);
      const DeviceTensor x = Make(dtype, {rows, kTerms}, a, random),
                         weight = Make(dtype, {kGroups, kTerms, kColumns}, b, random),
                         list = Make(ACL_INT64, {kGroups}, Numbers(kSizes)),
                         out(dtype, DenseLayout({rows, kColumns}));
      EXPECT_EQ(RunCall(device, {x, weight, list, out}).message, "");
      const Doubles got = ValuesOf(out);
      int64_t begin = 0;
      for (int64_t g = 0; g < kGroups; ++g) {
        const int64_t n = kSizes[static_cast<size_t>(g)];
        const DeviceTensor left = Make(dtype, {n, kTerms}, Rows(a, begin, n, kTerms)),
                           right = Make(dtype, {kTerms, kColumns},
                                        Rows(b, g * kTerms, kTerms, kColumns)),
                           want(dtype, DenseLayout({n, kColumns}));
        EXPECT_RUN(device, Mm, left.handle(), right.handle(), Handle(want), int8_t{0});
        EXPECT_EQ(Rows(got, begin, n, kColumns), ValuesOf(want)) << "group " << g;
        begin += n;
      }
    });
  }
}

TEST(Grouped, TermsOfEachGroupHaveTheBitsOfMm) {
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(8);
    const int64_t terms = Sum(kSizes), rows = 33;
    const Doubles a = RealValues(random, rows * terms), b = RealValues(random, terms * kColumns);
    const DeviceTensor x = Make(ACL_FLOAT, {rows, terms}, a),
                       weight = Make(ACL_FLOAT, {terms, kColumns}, b),
                       list = Make(ACL_INT64, {kGroups}, Numbers(kSizes)),
                       out(ACL_FLOAT, DenseLayout({kGroups, rows, kColumns}));
    EXPECT_EQ(
        RunCall(device, {.x = x, .weight = weight, .list = list, .out = out, .type = 2}).message,
        "");
    const Doubles got = ValuesOf(out);
    int64_t begin = 0;
    for (int64_t g = 0; g < kGroups; ++g) {
      const int64_t n = kSizes[static_cast<size_t>(g)];
      Doubles part;
      for (int64_t row = 0; row < rows; ++row) {
        const Doubles line = Rows(a, row, 1, terms);
        part.insert(part.end(), line.begin() + begin, line.begin() + begin + n);
      }
      const DeviceTensor left = Make(ACL_FLOAT, {rows, n}, part),
                         right = Make(ACL_FLOAT, {n, kColumns}, Rows(b, begin, n, kColumns)),
                         want(ACL_FLOAT, DenseLayout({rows, kColumns}));
      EXPECT_RUN(device, Mm, left.handle(), right.handle(), Handle(want), int8_t{0});
      EXPECT_EQ(Rows(got, g * rows, rows, kColumns), ValuesOf(want)) << "group " << g;
      begin += n;
    }
  });
}

// The largest sums that there are: more than floats hold.
TEST(Grouped, SumsOfInt8AreExact) {
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    const int64_t terms = 3000, columns = 3;
    Random random(9);
    Doubles a(static_cast<size_t>(4 * terms), -128),
        b(static_cast<size_t>(2 * terms * columns), -128);
    a[5] = 1, b[7] = 3, b[static_cast<size_t>(terms * columns)] = 127;
    const DeviceTensor x = Make(ACL_INT8, {4, terms}, a, random),
                       weight = Make(ACL_INT8, {2, terms, columns}, b, random),
                       list = Make(ACL_INT64, {2}, {1, 3}),
                       out(ACL_INT32, DenseLayout({4, columns}));
    EXPECT_EQ(RunCall(device, {x, weight, list, out}).message, "");
    Doubles want;
    for (int64_t row = 0; row < 4; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < terms; ++k) {
          const int64_t group = row == 0 ? 0 : 1;
          sum += a[static_cast<size_t>(row * terms + k)] *
                 b[static_cast<size_t>((group * terms + k) * columns + column)];
        }
        want.push_back(sum);
      }
    }
    EXPECT_EQ(ValuesOf(out), want);
  });
}

TEST(Grouped, SizesThatDoNotFitAreFound) {
  const Device device;
  const DeviceTensor x = Floats({4, 2}, Doubles(8, 1)), weight = Floats({2, 2, 3}, Doubles(12, 1)),
                     out = Floats({4, 3}, Doubles(12, 9));
  const auto found = [&](const char* says, const Doubles& numbers, int64_t kind) {
    const DeviceTensor list = Make(ACL_INT64, {2}, kind == 2 ? Doubles{0, 0} : numbers);
    const Outcome outcome =
        kind == 2
            ? RunPairs(device, x, weight, numbers, out)
            : RunCall(device, {.x = x, .weight = weight, .list = list, .out = out, .kind = kind});
    EXPECT_EQ(outcome.code, 507035);
    EXPECT_NE(outcome.message.find(says), std::string::npos) << outcome.message;
    EXPECT_EQ(ValuesOf(out), Doubles(12, 9));
  };
  found("groupListOptional value 1 is 1, expected 2 <= value <= 4", {2, 1}, 0);
  found("groupListOptional value 1 is 5, expected 2 <= value <= 4", {2, 5}, 0);
  found("groupListOptional value 0 is -1, expected 0 <= value <= 4", {-1, 1}, 1);
  found("groupListOptional value 1 is 3, expected 0 <= value <= 2", {2, 3}, 1);
  found("groupListOptional value 2 is -1, expected 0 <= value < 2", {0, 1, -1, 1}, 2);
  found("groupListOptional value 2 is 0, expected a group that no pair before names", {0, 1, 0, 1},
        2);
}

// MoeInitRoutingV3 fills pairs up with (0, 0).
TEST(Grouped, PairsWithoutRowsNameNoGroup) {
  const Device device;
  const DeviceTensor x = Floats({4, 2}, Doubles(8, 1)), weight = Floats({2, 2, 1}, {1, 1, 2, 2}),
                     out = Floats({4, 1}, Doubles(4, 9));
  for (const Doubles& pairs : {Doubles{1, 4, 0, 0}, Doubles{1, 4, 999, 0}, Doubles{1, 4, -1, 0}}) {
    EXPECT_EQ(RunPairs(device, x, weight, pairs, out).message, "");
    EXPECT_EQ(ValuesOf(out), Doubles(4, 4));
  }
}

TEST(Grouped, RowsOfNoGroupAreLeftAlone) {
  const Device device;
  const DeviceTensor x = Floats({4, 2}, Doubles(8, 1)), weight = Floats({2, 2, 1}, Doubles(4, 1)),
                     out = Floats({4, 1}, Doubles(4, 9)), list = Make(ACL_INT64, {2}, {1, 0});
  EXPECT_EQ(RunCall(device, {x, weight, list, out}).message, "");
  EXPECT_EQ(ValuesOf(out), (Doubles{2, 9, 9, 9}));
}

TEST(Grouped, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor x = of({4, 2}), weight = of({2, 2, 3}), out = of({4, 3}),
                     list = of({2}, ACL_INT64), bytes = of({4, 2}, ACL_INT8),
                     byte_weight = of({2, 2, 3}, ACL_INT8), half = of({4, 3}, ACL_FLOAT16);
  const DeviceTensor other = of({2, 3, 3}), short_list = of({3}, ACL_INT64), bias = of({2, 4}),
                     whole = of({4, 3}, ACL_INT32);
  RefusedCall(161002, "weight[0] shape is (3, 3), expected 2 rows as x has columns, (4, 2)",
              {x, other, list, out});
  RefusedCall(161002, "groupListOptional shape is (3), expected (2)", {x, weight, short_list, out});
  RefusedCall(161002, "biasOptional shape is (2, 4), expected (2, 3)",
              {.x = x, .weight = weight, .list = list, .out = out, .bias = &bias});
  RefusedCall(161002, "out dtype is FLOAT16, expected that of x, FLOAT", {x, weight, list, half});
  RefusedCall(161002, "weight dtype is FLOAT, expected INT8, as x", {bytes, weight, list, half});
  RefusedCall(161001, "scaleOptional size is 0, expected the factors of weight",
              {bytes, byte_weight, list, half});
  RefusedCall(161002, "scaleOptional size is 1, expected 0 where out is INT32",
              {.x = bytes, .weight = byte_weight, .list = list, .out = whole, .scale = &weight});
  RefusedCall(161002, "groupType value is 1, expected -1, 0 or 2",
              {.x = x, .weight = weight, .list = list, .out = out, .type = 1});
  RefusedCall(161002, "actType value is 1, expected 0 for x of a float type",
              {.x = x, .weight = weight, .list = list, .out = out, .act = 1});
  RefusedCall(161002, "out size is 1, expected 2 where splitItem is 0",
              {.x = x, .weight = weight, .list = list, .out = out, .split = 0});
}

TEST(Grouped, ListsThatMayBeNullMayBeEmpty) {
  const Device device;
  const DeviceTensor x = Floats({2, 2}, {1, 2, 3, 4}), weight = Floats({1, 2, 1}, {1, 1}),
                     out = EmptyFloats({2, 1}), list = Make(ACL_INT64, {1}, {2});
  const ListHandle none(std::vector<const DeviceTensor*>{}), xs({&x}), weights({&weight}),
      outs({&out});
  EXPECT_RUN(device, GroupedMatmulV4, xs.get(), weights.get(), none.get(), none.get(), none.get(),
             none.get(), none.get(), none.get(), list.handle(), none.get(), none.get(), none.get(),
             3, 0, 0, 0, outs.get(), none.get(), none.get());
  EXPECT_EQ(ValuesOf(out), (Doubles{3, 7}));
  EXPECT_REFUSED(161002, "offsetOptional size is 1, expected null or an empty list",
                 GroupedMatmulV4, xs.get(), weights.get(), nullptr, nullptr, xs.get(), nullptr,
                 nullptr, nullptr, list.handle(), nullptr, nullptr, nullptr, 3, 0, 0, 0, outs.get(),
                 nullptr, nullptr);
}

}  // namespace
}  // namespace openaclnn::test
