// SPDX-License-Identifier: Apache-2.0
// The checks that operators are written in: what each lets pass, its code and words, and the chain.
#include "frame/checker.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/device.h"
#include "tests/support/int_list.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

constexpr OperandSupport kSupport[] = {
    {"x", {kNone, kFloatTypes, kFloatTypesNoBf16, kNone, kNone, kNone}},
    {"y", {kNone, Dtypes(ACL_INT8), Dtypes(ACL_INT8), kNone, kNone, kNone}},
};
const Operator kOperator = {"aclnnTest", kSupport};
const Product kA2 = {"Ascend910B1", OPENACLNN_FAMILY_A2, 24, nullptr};
const Product kA3 = {"Ascend910_9391", OPENACLNN_FAMILY_A3, 24, nullptr};
const Product k310P = {"Ascend310P3", OPENACLNN_FAMILY_310P, 8, nullptr};

/// A tensor and the operand that stands for it.
struct Given {
  explicit Given(const TensorSpec& spec, const char* name = "x")
      : tensor(spec), operand(name, tensor.get()) {}
  TensorHandle tensor;
  Input operand;
};

void ExpectPasses(Checker& checker) { EXPECT_EQ(std::string(checker.status().text()), ""); }

void ExpectFails(Checker& checker, int code, const std::string& text) {
  const Status status = checker.status();
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(std::string(status.text()), text);
}

TEST(Checker, NullsComeFirstThenHandlesThatAreNone) {
  const Given null({.given = TensorSpec::kNull}), foreign({.given = TensorSpec::kForeign}, "y");
  const Given gone({.given = TensorSpec::kDestroyed}, "y");
  Checker both(kOperator, kA2);
  both.Required(foreign.operand).Required(null.operand).Supported();
  ExpectFails(both, 161001, "x value is null, expected a tensor");
  Checker none(kOperator, kA2);
  none.Required(foreign.operand).Supported();
  ExpectFails(none, 161002, "y value is not the handle of a tensor, expected a live tensor");
  Checker dead(kOperator, kA2);
  dead.Required(gone.operand).Supported();
  ExpectFails(dead, 161002, "y value is a handle that was destroyed, expected a live tensor");
  // Handles before the product.
  Checker elsewhere(kOperator, k310P);
  elsewhere.Required(foreign.operand).Supported();
  ExpectFails(elsewhere, 161002, "y value is not the handle of a tensor, expected a live tensor");
}

TEST(Checker, ListsMayBeNullUnlessRequired) {
  const IntListHandle null({{}, IntListSpec::kNull}), foreign({{}, IntListSpec::kForeign});
  const IntList nothing("ends", null.get()), none("ends", foreign.get());
  Checker optional(kOperator, kA2);
  ExpectPasses(optional.List(nothing, false).Supported());
  Checker required(kOperator, kA2);
  required.List(nothing, true).Supported();
  ExpectFails(required, 161001, "ends value is null, expected an array");
  Checker dead(kOperator, kA2);
  dead.List(none, false).Supported();
  ExpectFails(dead, 161002,
              "ends value is not the handle of an array of integers, expected a live array");
}

TEST(Checker, ProductsWithoutTheOperator) {
  Checker checker(kOperator, k310P);
  checker.Supported();
  ExpectFails(checker, 561003,
              "product family is 310P, expected one of A2, A3 on Ascend310P3; "
              "OPENACLNN_PRODUCTS=lenient takes every product");
  constexpr OperandSupport kEnds[] = {
      {"x", {kFloatTypes, kNone, kNone, kNone, kNone, kFloatTypes}}};
  const Operator ends = {"aclnnTest", kEnds};
  Checker first(ends, k310P);
  first.Supported();
  ExpectFails(first, 561003,
              "product family is 310P, expected one of 910, 310B on Ascend310P3; "
              "OPENACLNN_PRODUCTS=lenient takes every product");
}

// It takes what other families take, of the types that it has.
TEST(Checker, LenientProducts) {
  {
    const ScopedVariable lenient("OPENACLNN_PRODUCTS", "lenient");
    ASSERT_EQ(aclInit(nullptr), 0);
  }
  const Given half({.dims = {2}, .dtype = ACL_FLOAT16}), bfloat({.dims = {2}, .dtype = ACL_BF16});
  Checker taken(kOperator, k310P);
  ExpectPasses(taken.Supported().Dtype(half.operand));
  Checker other(kOperator, k310P);
  other.Supported().Dtype(bfloat.operand);
  ExpectFails(other, 161002, "x dtype is BFLOAT16, expected one of FLOAT, FLOAT16 on Ascend310P3");
  EXPECT_EQ(aclFinalize(), 0);
  ASSERT_EQ(aclInit(nullptr), 0);  // other tests want what is documented
  EXPECT_EQ(aclFinalize(), 0);
}

TEST(Checker, TypesAreThoseOfTheOperandOnTheFamily) {
  const Given bfloat({.dims = {2}, .dtype = ACL_BF16}), byte({.dims = {2}, .dtype = ACL_INT8}, "y");
  Checker good(kOperator, kA2);
  ExpectPasses(good.Dtype(bfloat.operand).Dtype(byte.operand));
  Checker family(kOperator, kA3);
  family.Dtype(bfloat.operand);
  ExpectFails(family, 161002,
              "x dtype is BFLOAT16, expected one of FLOAT, FLOAT16 on Ascend910_9391");
  const Given number({.dims = {2}, .dtype = static_cast<aclDataType>(77)});
  Checker unknown(kOperator, kA2);
  unknown.Dtype(number.operand);
  ExpectFails(unknown, 161002,
              "x dtype is type number 77, expected one of FLOAT, FLOAT16, BFLOAT16 on Ascend910B1");
}

TEST(Checker, AListOfOneIsNoneToChooseFrom) {
  const Given wrong({.dims = {2}, .dtype = ACL_FLOAT}, "y");
  Checker type(kOperator, kA2);
  type.Dtype(wrong.operand);
  ExpectFails(type, 161002, "y dtype is FLOAT, expected INT8 on Ascend910B1");
  constexpr OperandSupport kOnA2[] = {{"x", {kNone, kFloatTypes, kNone, kNone, kNone, kNone}}};
  const Operator on_a2 = {"aclnnTest", kOnA2};
  Checker family(on_a2, k310P);
  family.Supported();
  ExpectFails(family, 561003,
              "product family is 310P, expected A2 on Ascend310P3; "
              "OPENACLNN_PRODUCTS=lenient takes every product");
}

TEST(Checker, RanksAndShapes) {
  const Given x({.dims = {2, 3}}), same({.dims = {2, 3}}, "y"), other({.dims = {2}}, "y");
  const auto check = [&](auto&& add) {
    Checker checker(kOperator, kA2);
    add(checker);
    return checker.status();
  };
  const auto text = [&](auto&& add) { return std::string(check(add).text()); };
  EXPECT_EQ(text([&](Checker& c) {
              c.Rank(x.operand, 2).RankBetween(x.operand, 0, 2).RankBetween(x.operand, 2, 8);
            }),
            "");
  EXPECT_EQ(text([&](Checker& c) { c.Rank(x.operand, 3); }),
            "x rank is 2 (shape (2, 3)), expected 3");
  EXPECT_EQ(text([&](Checker& c) { c.RankBetween(x.operand, 3, 8); }),
            "x rank is 2, expected 3 to 8");
  EXPECT_EQ(text([&](Checker& c) { c.Shape(x.operand, {2, 3}); }), "");
  EXPECT_EQ(text([&](Checker& c) {
              c.Shape(x.operand, {2, 4});
            }),
            "x shape is (2, 3), expected (2, 4)");
  EXPECT_EQ(text([&](Checker& c) { c.Shape(x.operand, {2}); }), "x shape is (2, 3), expected (2)");
  EXPECT_EQ(text([&](Checker& c) { c.SameShapeAndDtype(same.operand, x.operand); }), "");
  EXPECT_EQ(text([&](Checker& c) { c.SameShapeAndDtype(other.operand, x.operand); }),
            "y shape is (2), expected that of x, (2, 3)");
  const Given empty({.dims = {2, 0}}), half({.dims = {2, 3}, .dtype = ACL_FLOAT16}, "y");
  EXPECT_EQ(text([&](Checker& c) { c.NotEmpty(x.operand); }), "");
  EXPECT_EQ(text([&](Checker& c) { c.NotEmpty(empty.operand); }),
            "x shape is (2, 0), expected elements");
  EXPECT_EQ(text([&](Checker& c) { c.SameDtype(half.operand, x.operand); }),
            "y dtype is FLOAT16, expected that of x, FLOAT");
}

TEST(Checker, Formats) {
  const Given plain({.dims = {2}, .format = ACL_FORMAT_NCHW});
  const Given other({.dims = {2}, .format = ACL_FORMAT_FRACTAL_NZ});
  Checker good(kOperator, kA2);
  ExpectPasses(good.PlainFormat(plain.operand));
  Checker bad(kOperator, kA2);
  bad.PlainFormat(other.operand);
  ExpectFails(bad, 161002,
              "x format is number 29, expected one of UNDEFINED, ND, NCHW, NHWC, HWCN, NDHWC, "
              "NCDHW, NCL");
  constexpr int kOne[] = {ACL_FORMAT_ND};
  Checker one(kOperator, kA2);
  one.Format(plain.operand, kOne);
  ExpectFails(one, 161002, "x format is number 0, expected ND");
}

// The first failure stays, whatever follows.
TEST(Checker, FirstFailureWins) {
  const Given x({.dims = {2, 3}, .dtype = ACL_INT8});
  Checker checker(kOperator, kA2);
  checker.That(true, [] { return std::string("never"); })
      .Rank(x.operand, 3)
      .Dtype(x.operand)
      .That(false, 561002, [] { return std::string("never"); });
  EXPECT_FALSE(checker.ok());
  ExpectFails(checker, 161002, "x rank is 2 (shape (2, 3)), expected 3");
  Checker coded(kOperator, kA2);
  coded.That(false, 561002, [] { return std::string("x is bad, expected good"); });
  ExpectFails(coded, 561002, "x is bad, expected good");
}

// Several operands are one after the other, in their order.
TEST(Checker, OfSeveralOperands) {
  const Given x({.dims = {2}}), null({.given = TensorSpec::kNull}, "y");
  const Given nz({.dims = {2}, .dtype = ACL_INT8, .format = ACL_FORMAT_FRACTAL_NZ}, "y");
  const std::array<const Operand*, 2> with_null = {&x.operand, &null.operand};
  const std::array<const Operand*, 2> with_nz = {&nz.operand, &x.operand};
  Checker nulls(kOperator, kA2);
  nulls.Required(with_null);
  ExpectFails(nulls, 161001, "y value is null, expected a tensor");
  Checker types(kOperator, kA2);
  ExpectPasses(types.Required(with_nz).Supported().Dtype(with_nz));
  Checker formats(kOperator, kA2);
  formats.PlainFormat(with_nz);
  EXPECT_EQ(std::string(formats.status().text()).substr(0, 21), "y format is number 29");
}

std::string ViewText(const TensorSpec& spec, OpenaclnnRole role) {
  const TensorHandle tensor(spec);
  const Operand operand("x", role, tensor.get());
  return std::string(CheckView(operand).text());
}

TEST(CheckView, StaysInItsStorage) {
  const auto text = [](const TensorSpec& spec) { return ViewText(spec, OPENACLNN_INPUT); };
  EXPECT_EQ(text({.dims = {2, 3}}), "");
  EXPECT_EQ(text({.given = TensorSpec::kNull}), "");
  EXPECT_EQ(text({.dims = {2, 3}, .strides = Dims{0, -1}, .offset = 2, .storage = Dims{3}}), "");
  EXPECT_EQ(text({.dims = {2, 3}, .offset = 1}),
            "x view is (2, 3) with strides (3, 1) and offset 1, expected one inside its storage of "
            "shape (2, 3)");
  EXPECT_EQ(text({.dims = {2, -3}}).substr(0, 16), "x shape is (2, -");
  EXPECT_EQ(text({.dims = {2}, .storage = Dims{-1}}).substr(0, 23), "x storage shape is (-1)");
  // As many bytes as a size can be.
  EXPECT_EQ(text({.dims = {2}, .storage = Dims{INT64_MAX / 4}}), "");
  EXPECT_EQ(text({.dims = {2}, .storage = Dims{INT64_MAX / 4 + 1}}).substr(0, 14),
            "x view is (2) ");
  // Without elements a view reaches nothing.
  EXPECT_EQ(text({.dims = {0, 3}, .offset = 99, .storage = Dims{1}}), "");
}

// One dimension counts the elements of a piece of a block; what decides is where the block ends.
TEST(CheckView, StorageOfOneDimensionIsACount) {
  const Device device;
  const DeviceBuffer block(64 * sizeof(float));
  const auto text = [&](int64_t offset, const Dims& storage, void* data) {
    return ViewText({.dims = {2}, .offset = offset, .storage = storage, .data = data},
                    OPENACLNN_INPUT);
  };
  const auto refusal = [](int64_t offset, const char* storage) {
    return "x view is (2) with strides (1) and offset " + std::to_string(offset) +
           ", expected one inside its storage of shape " + storage;
  };
  EXPECT_EQ(text(62, {2}, block.address()), "");
  EXPECT_EQ(text(62, {}, block.address()), "");
  EXPECT_EQ(text(-1, {2}, block.address() + 64), refusal(-1, "(2)"));
  EXPECT_EQ(text(62, {1, 2}, block.address()), refusal(62, "(1, 2)"));
  for (const int64_t offset : {int64_t{1} << 20, INT64_MAX / 4, INT64_MAX - 1, INT64_MAX}) {
    EXPECT_EQ(text(offset, {2}, block.address()), refusal(offset, "(2)"));
  }
  float host[8] = {};
  EXPECT_EQ(text(1, {2}, host), refusal(1, "(2)"));
  EXPECT_EQ(text(1, {2}, nullptr), refusal(1, "(2)"));
}

TEST(CheckView, ElementsOfAnOutputAreApart) {
  const TensorSpec repeated = {.dims = {2, 3}, .strides = Dims{0, 1}};
  EXPECT_EQ(ViewText(repeated, OPENACLNN_INPUT), "");
  EXPECT_EQ(ViewText(repeated, OPENACLNN_OUTPUT),
            "x strides are (0, 1) for shape (2, 3), expected elements that do not overlap");
}

}  // namespace
}  // namespace openaclnn::test
