// SPDX-License-Identifier: Apache-2.0
// The tests' own instruments: numbers, bound, views, watched memory.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "acl/acl.h"
#include "tests/support/accuracy.h"
#include "tests/support/device.h"
#include "tests/support/numbers.h"
#include "tests/support/tables.h"
#include "tests/support/tensor.h"

namespace openaclnn::test {
namespace {

TEST(Numbers, KnownValues) {
  EXPECT_EQ(Encode(kHalf, 1.0), 0x3C00u);
  EXPECT_EQ(Encode(kHalf, -2.0), 0xC000u);
  EXPECT_EQ(Encode(kHalf, 65504.0), 0x7BFFu);
  EXPECT_EQ(Encode(kHalf, 65519.99), 0x7BFFu);
  EXPECT_EQ(Encode(kHalf, 65520.0), 0x7C00u);
  EXPECT_EQ(Encode(kHalf, 0x1p-24), 0x0001u);
  EXPECT_EQ(Encode(kHalf, 0x1p-25), 0x0000u);
  EXPECT_EQ(Encode(kHalf, -0x1.8p-25), 0x8001u);
  EXPECT_EQ(Encode(kHalf, 0x1p-14), 0x0400u);
  EXPECT_EQ(Encode(kBFloat16, 1.00390625), 0x3F80u);
  EXPECT_EQ(Encode(kBFloat16, 1.01171875), 0x3F82u);
  EXPECT_EQ(Encode(kBFloat16, 3.4e38), 0x7F80u);
  EXPECT_EQ(Decode(kBFloat16, 0xFF80u), -INFINITY);
}

// FP32 is what the compiler can do by itself.
TEST(Numbers, AgreeWithTheMachine) {
  EXPECT_TRUE(rc::check([] {
    const auto value = std::bit_cast<double>(*rc::gen::arbitrary<uint64_t>());
    const auto single = static_cast<float>(value);
    RC_PRE(!std::isnan(value));
    RC_ASSERT(Encode(kSingle, value) == std::bit_cast<uint32_t>(single));
    RC_ASSERT(Decode(kSingle, std::bit_cast<uint32_t>(single)) == static_cast<double>(single));
  }));
}

TEST(Numbers, EveryValueIsItself) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    for (const BinaryFormat& format : {kHalf, kBFloat16}) {
      const double value = Decode(format, bits);
      if (!std::isnan(value)) {
        ASSERT_EQ(Encode(format, value), bits);
      }
    }
  }
}

// What the bound is for: a running sum of 10^4 equal terms fails, one by chunks of 64 passes.
TEST(Accuracy, BoundTellsSumsApart) {
  constexpr int64_t kTerms = 10000;
  float running = 0, chunk = 0;
  std::vector<float> chunks;
  for (int64_t i = 0; i < kTerms; ++i) {
    running += 0.1f;
    chunk += 0.1f;
    if (i % 64 == 63 || i + 1 == kTerms) chunks.push_back(std::exchange(chunk, 0.0f));
  }
  for (size_t half = 1; half < chunks.size(); half *= 2) {
    for (size_t i = 0; i + half < chunks.size(); i += 2 * half) chunks[i] += chunks[i + half];
  }
  const double exact = kTerms * static_cast<double>(0.1f);
  EXPECT_FALSE(IsWithin(ACL_FLOAT, running, exact, Bound(kTerms, exact)));
  EXPECT_TRUE(IsWithin(ACL_FLOAT, chunks[0], exact, Bound(kTerms, exact)));
  EXPECT_TRUE(IsWithin(ACL_FLOAT16, 1000, exact, Bound(kTerms, exact)));
  EXPECT_FALSE(IsWithin(ACL_FLOAT16, 1000.5, exact, Bound(kTerms, exact)));
  EXPECT_FALSE(IsWithin(ACL_FLOAT, 1, NAN, 1e9));
  EXPECT_FALSE(IsWithin(ACL_FLOAT, 3e38, INFINITY, INFINITY));
}

TEST(RandomLayout, ElementsAreApartAndInside) {
  EXPECT_TRUE(rc::check([] {
    const auto dims =
        *rc::gen::container<Dims>(*rc::gen::inRange<size_t>(0, 9), rc::gen::inRange<int64_t>(0, 4));
    Random random(*rc::gen::arbitrary<uint32_t>());
    const Layout layout = RandomLayout(random, dims, false);
    std::set<int64_t> places;
    ForEachElement(layout, [&](int64_t at, int64_t) {
      RC_ASSERT(0 <= at && at < layout.storage);
      places.insert(at);
    });
    RC_ASSERT(static_cast<int64_t>(places.size()) == layout.count());
  }));
}

TEST(DeviceTensor, SeesStrayWrites) {
  const Device device;
  Layout layout = DenseLayout({2, 3});
  layout.strides = {5, 1};
  layout.storage = 8;
  DeviceTensor tensor(ACL_INT8, layout, 16);
  tensor.Write(ToBytes(ACL_INT8, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ToDoubles(ACL_INT8, tensor.Read()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor.Change(), "");
  auto* const data = static_cast<std::byte*>(tensor.data());
  ASSERT_EQ(aclrtMemset(data + 5, 1, 0, 1), 0);
  EXPECT_EQ(tensor.Damage(), "");
  EXPECT_EQ(tensor.Change(), "byte 5 of the storage is 0, was 4");
  for (const int64_t stray : {-1, 3, 8}) {
    tensor.Write(ToBytes(ACL_INT8, {1, 2, 3, 4, 5, 6}));
    ASSERT_EQ(aclrtMemset(data + stray, 1, 0, 1), 0);
    EXPECT_NE(tensor.Damage(), "") << stray;
  }
}

TEST(Products, AreAllThatTheLibraryHas) {
  std::string wanted;
  for (const ProductEntry& product : kProducts) {
    wanted += (wanted.empty() ? "" : ", ") + std::string(product.name);
  }
  const ScopedVariable variable("OPENACLNN_SOC", "Ascend1");
  const Outcome outcome = TakeOutcome(aclInit(nullptr));
  EXPECT_NE(outcome.message.find("expected one of " + wanted), std::string::npos)
      << outcome.message;
}

}  // namespace
}  // namespace openaclnn::test
