// SPDX-License-Identifier: Apache-2.0
// A dimension of one may have any stride, and a view without elements any: nobody steps along them,
// and no multiple of them is computed (which UndefinedBehaviorSanitizer would see overflow).
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kAny = INT64_MAX / 2;

/// Dense rows but for dimensions of one, whose strides are far beyond any memory.
Layout Idle(const Dims& dims) {
  Layout layout = DenseLayout(dims);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) layout.strides[axis] = axis % 2 == 0 ? kAny : -kAny;
  }
  return layout;
}

DeviceTensor MakeIdle(const Dims& dims, const Doubles& values, aclDataType dtype = ACL_DOUBLE) {
  DeviceTensor tensor(dtype, Idle(dims));
  tensor.Write(ToBytes(dtype, values));
  return tensor;
}

DeviceTensor EmptyIdle(const Dims& dims, aclDataType dtype = ACL_DOUBLE) {
  return DeviceTensor(dtype, Idle(dims));
}

TEST(IdleStrides, Reductions) {
  const Device device;
  const DeviceTensor self = MakeIdle({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6});
  const auto sum = [&](std::initializer_list<int64_t> dims, const Dims& shape) {
    const DeviceTensor out = EmptyIdle(shape);
    const IntListHandle list({dims});
    EXPECT_RUN(device, ReduceSum, self.handle(), list.get(), true, ACL_DOUBLE, Handle(out));
    return ValuesOf(out);
  };
  EXPECT_EQ(sum({2, 3}, {2, 1, 1, 1}), (Doubles{6, 15}));
  EXPECT_EQ(sum({0, 1}, {1, 1, 3, 1}), (Doubles{5, 7, 9}));
  EXPECT_EQ(sum({1, 3}, {2, 1, 3, 1}), (Doubles{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sum({0, 1, 2, 3}, {1, 1, 1, 1}), Doubles{21});
}

// BatchMatMul takes DOUBLE, Matmul does not.
TEST(IdleStrides, Products) {
  const Device device;
  const auto product = [&](const Dims& a, const Dims& b, const Dims& c, aclDataType dtype) {
    const DeviceTensor left = MakeIdle(a, Doubles(static_cast<size_t>(CountOf(a)), 2), dtype),
                       right = MakeIdle(b, Doubles(static_cast<size_t>(CountOf(b)), 3), dtype),
                       out = EmptyIdle(c, dtype);
    if (dtype == ACL_DOUBLE) {
      EXPECT_RUN(device, BatchMatMul, left.handle(), right.handle(), Handle(out), 0);
    } else {
      EXPECT_RUN(device, Matmul, left.handle(), right.handle(), Handle(out), 0);
    }
    return ValuesOf(out);
  };
  EXPECT_EQ(product({1, 4}, {4, 1}, {1, 1}, ACL_FLOAT), Doubles{24});
  EXPECT_EQ(product({4, 1}, {1, 2}, {4, 2}, ACL_FLOAT), Doubles(8, 6));
  EXPECT_EQ(product({1}, {1}, {}, ACL_FLOAT), Doubles{6});
  for (const aclDataType dtype : {ACL_FLOAT, ACL_DOUBLE}) {
    EXPECT_EQ(product({1, 1, 4}, {1, 4, 1}, {1, 1, 1}, dtype), Doubles{24});
    EXPECT_EQ(product({1, 4, 1}, {1, 1, 2}, {1, 4, 2}, dtype), Doubles(8, 6));
    EXPECT_EQ(product({1, 2, 1}, {1, 1, 2}, {1, 2, 2}, dtype), Doubles(4, 6));
  }
}

TEST(IdleStrides, Attention) {
  const Device device;
  char layout[] = "BNSD";
  const int64_t far = INT32_MAX;
  const DeviceTensor q = MakeIdle({1, 1, 2, 1}, {1, 2}, ACL_FLOAT),
                     k = MakeIdle({1, 1, 1, 1}, {3}, ACL_FLOAT),
                     v = MakeIdle({1, 1, 1, 1}, {7}, ACL_FLOAT),
                     out = EmptyIdle({1, 1, 2, 1}, ACL_FLOAT), max(ACL_FLOAT, Idle({1, 1, 2, 8})),
                     sum(ACL_FLOAT, Idle({1, 1, 2, 8}));
  EXPECT_RUN(device, FlashAttentionScore, q.handle(), k.handle(), v.handle(), nullptr, nullptr,
             nullptr, nullptr, nullptr, 0.5, 1.0, far, far, 1, layout, 0, 0, Handle(max),
             Handle(sum), nullptr, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{7, 7}));
}

TEST(IdleStrides, RandomNumbers) {
  const Device device;
  const DeviceTensor weights = MakeIdle({3, 1}, {1, 2, 3});
  const DeviceTensor chosen(ACL_INT64, Idle({3, 1})), one(ACL_INT64, Idle({1}));
  EXPECT_RUN(device, Multinomial, weights.handle(), 1, true, 5, 6, Handle(chosen));
  EXPECT_EQ(ValuesOf(chosen), Doubles(3, 0));
  EXPECT_RUN(device, Randperm, 1, 5, 6, Handle(one));
  EXPECT_EQ(ValuesOf(one), Doubles{0});
  const DeviceTensor numbers = EmptyIdle({1, 5, 1}), more = EmptyIdle({1, 1});
  EXPECT_RUN(device, InplaceNormal, Handle(numbers), 2.0F, 0.0F, 5, 6);
  EXPECT_EQ(ValuesOf(numbers), Doubles(5, 2));
  EXPECT_RUN(device, InplaceNormal, Handle(more), 2.0F, 0.0F, 5, 6);
  EXPECT_EQ(ValuesOf(more), Doubles{2});
}

TEST(IdleStrides, WithoutElements) {
  const Device device;
  Layout none = DenseLayout({2, 0, 3});
  none.strides = {kAny, -kAny, kAny};
  const DeviceTensor self(ACL_DOUBLE, none), out = EmptyIdle({2, 1, 3});
  const IntListHandle middle({{1}});
  EXPECT_RUN(device, ReduceSum, self.handle(), middle.get(), true, ACL_DOUBLE, Handle(out));
  EXPECT_EQ(ValuesOf(out), Doubles(6, 0));
  const DeviceTensor same(ACL_DOUBLE, none);
  EXPECT_RUN(device, Cumsum, self.handle(), 2, ACL_DOUBLE, Handle(same));
  EXPECT_RUN(device, Flip, self.handle(), middle.get(), Handle(same));
}

}  // namespace
}  // namespace openaclnn::test
