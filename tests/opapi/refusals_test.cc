// SPDX-License-Identifier: Apache-2.0
// Refusals of supporting operators that no test of theirs is about: which argument, and what is
// wrong with it.
#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

DeviceTensor Floats(const Dims& dims) { return DeviceTensor(ACL_FLOAT, DenseLayout(dims)); }

TEST(Refusals, NumbersThatAreNone) {
  const Device device;
  const DeviceTensor x = Floats({2, 4}), out = Floats({2, 4}), one = Floats({1}),
                     integers(ACL_INT64, DenseLayout({3})), counts(ACL_INT64, DenseLayout({3})),
                     hot = Floats({3, 5}), half = Floats({2, 2});
  EXPECT_REFUSED(161002, "n value is -1, expected one that is not negative", Eye, -1, 4,
                 Handle(out));
  EXPECT_REFUSED(161002, "n value is -2, expected one that is not negative", Eye, 2, -2,
                 Handle(out));
  EXPECT_REFUSED(161002, "numClasses value is -1, expected one that is not negative", OneHot,
                 integers.handle(), -1, one.handle(), one.handle(), -1, Handle(hot));
  EXPECT_REFUSED(161002, "axis value is 2, expected a dimension of out", OneHot, integers.handle(),
                 5, one.handle(), one.handle(), 2, Handle(hot));
  EXPECT_REFUSED(161002, "approximate value is 2, expected none (0) or tanh (1)", GeGluV3,
                 x.handle(), 1, 2, false, Handle(half), Handle(half));
  EXPECT_REFUSED(161002, "minlength value is -1, expected one that is not negative", Bincount,
                 integers.handle(), nullptr, -1, Handle(counts));
  EXPECT_REFUSED(161002, "mode value is 4, expected half (0), interleave (1), quarter (2) or",
                 RotaryPositionEmbedding, x.handle(), x.handle(), x.handle(), 4, Handle(out));
  for (const int8_t math : {-1, 4}) {
    const DeviceTensor a = Floats({4, 4});
    EXPECT_REFUSED(161002, "expected 0, 1, 2 or 3", Matmul, a.handle(), a.handle(), Handle(a),
                   math);
  }
}

TEST(Refusals, ShapesThatDoNotFit) {
  const Device device;
  const int64_t huge = int64_t{1} << 40;
  const DeviceTensor x = Floats({2, 4}), long_index(ACL_INT64, DenseLayout({3, 4})),
                     gathered = Floats({3, 4}), row(ACL_INT64, DenseLayout({3})),
                     other(ACL_INT64, DenseLayout({2})), out = Floats({3});
  EXPECT_REFUSED(161002, "index shape is (3, 4), expected at most that of self, (2, 4)", Gather,
                 x.handle(), 1, long_index.handle(), Handle(gathered));
  const ListHandle three({&row, &row, &row}), apart({&row, &other});
  EXPECT_REFUSED(161002, "indices size is 3, expected at most the rank of self, 2", Index,
                 x.handle(), three.get(), Handle(out));
  EXPECT_REFUSED(161002, "shape is (2), expected one that can be broadcast with (3)", Index,
                 x.handle(), apart.get(), Handle(out));
  const IntListHandle many({{huge, huge}}), more({{1, huge << 22}}), odd({{1, 1, 2, 2}}),
      two({{2, 2}}), ones({{1, 1}});
  EXPECT_REFUSED(161002, "expected a result below 2^63 elements", Repeat, x.handle(), more.get(),
                 Handle(x));
  const DeviceTensor plane = Floats({1, 4, 4}), pooled = Floats({1, 2, 2});
  EXPECT_REFUSED(161002, "pads value is (1, 1, 2, 2), expected one number, once or for all four",
                 MaxPool, plane.handle(), two.get(), two.get(), 0, odd.get(), ones.get(), 0,
                 Handle(pooled));
  const DeviceTensor nine = Floats({1, 1, 1, 1, 1, 1, 1, 1}), pair(ACL_INT64, DenseLayout({1, 1}));
  EXPECT_REFUSED(161002, "index rank is 2, expected a result of at most 8 dimensions", GatherV2,
                 nine.handle(), 0, pair.handle(), Handle(nine));
  EXPECT_REFUSED(161002, "dim value is 2, expected a dimension of self, (2, 4)", ProdDim,
                 x.handle(), 2, false, ACL_FLOAT, Handle(out));
  const DeviceTensor mask(ACL_UINT8, DenseLayout({16}));
  const IntListHandle negative({{-1, 4}});
  for (const IntListHandle* shape : {&negative, &many}) {
    EXPECT_REFUSED(161002, "expected dimensions that are not negative and a size below 2^63",
                   DropoutGenMask, shape->get(), 0.5, 1, 1, Handle(mask));
  }
  const DeviceTensor moments = Floats({2});
  const ScalarHandle order(2.0);
  const ListHandle list({&x}), norms({&moments});
  EXPECT_REFUSED(161002, "shape is (2), expected one element", ForeachNorm, list.get(), order.get(),
                 norms.get());
}

TEST(Refusals, WhatIsNotSupported) {
  const Device device;
  const DeviceTensor x = Floats({2, 4}), out = Floats({2, 4}), mask(ACL_UINT8, DenseLayout({16}));
  EXPECT_REFUSED(161002, "optionalNoiseShape value is a tensor, expected null", DropoutV3,
                 x.handle(), x.handle(), 0.5, 1, 1, Handle(out), Handle(mask));
  const DeviceTensor q = Floats({1, 1, 2, 4}), most = Floats({1, 1, 2, 8});
  const IntListHandle prefix({{1}});
  char layout[] = "BNSD";
  const auto attention = [&](const aclTensor* shift, const aclIntArray* before, int64_t mode) {
    return [=, &q, &most, &layout](auto... o) {
      return aclnnFlashAttentionScoreGetWorkspaceSize(
          q.handle(), q.handle(), q.handle(), shift, nullptr, nullptr, nullptr, before, 1.0, 1.0,
          100, 100, 1, layout, 0, mode, most.handle(), most.handle(), nullptr, q.handle(), o...);
    };
  };
  Refused(161002, "realShiftOptional shape is (1, 1, 2, 4), expected one that can be broadcast to",
          attention(q.handle(), nullptr, 0));
  Refused(161002, "prefixOptional size is 1, expected 0: it is not supported",
          attention(nullptr, prefix.get(), 0));
  Refused(161002, "sparseMode value is 7, expected 0, 1, 2, 3, 4, 5 or 6",
          attention(nullptr, nullptr, 7));
}

/// A tensor of these dimensions, of which one is 0: the others may be any.
class NoElements {
 public:
  explicit NoElements(const std::vector<int64_t>& dims)
      : handle_(aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                dims.data(), dims.size(), nullptr)) {}
  NoElements(const NoElements&) = delete;
  ~NoElements() { aclDestroyTensor(handle_); }
  aclTensor* get() const { return handle_; }

 private:
  aclTensor* handle_;
};

// Products and sums of lengths beside a 0 overflow, which UndefinedBehaviorSanitizer sees.
TEST(Refusals, LengthsBesideNone) {
  const Device device;
  const int64_t huge = int64_t{1} << 62;
  const NoElements tall({0, huge, 4, huge}), repeated({0, huge, 8, huge});
  EXPECT_RUN(device, RepeatInterleaveIntWithDim, tall.get(), 2, 2, 8, repeated.get());
  const NoElements joined({0, 1});
  const int64_t dims[] = {0, INT64_MAX};
  const aclTensor* members[2];  // which the list destroys
  for (const aclTensor*& member : members) {
    member = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr);
  }
  aclTensorList* const list = aclCreateTensorList(members, 2);
  EXPECT_REFUSED(161002, "is beyond 2^63 in all", Cat, list, 1, joined.get());
  EXPECT_EQ(aclDestroyTensorList(list), 0);
}

}  // namespace
}  // namespace openaclnn::test
