// SPDX-License-Identifier: Apache-2.0
// KvQuantSparseFlashAttention: rows of bytes, bits under all settings, and what must not be taken.
#include <array>
#include <cstring>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// Two numbers, a rope of one FLOAT and a factor: 10 bytes of a key.
void AppendKey(int8_t first, int8_t second, float rope, float factor, Doubles* bytes) {
  bytes->push_back(first);
  bytes->push_back(second);
  for (const float number : {rope, factor}) {
    std::array<int8_t, sizeof(float)> parts;
    std::memcpy(parts.data(), &number, sizeof(float));
    bytes->insert(bytes->end(), parts.begin(), parts.end());
  }
}

/// One row of a head with two numbers and a rope, which chooses among three keys.
struct KvQuant {
  KvQuant() {
    Doubles bytes;
    AppendKey(2, 4, 0.5F, 0.5F, &bytes);
    AppendKey(-3, 1, 0, 1, &bytes);
    AppendKey(100, 100, 9, 9, &bytes);
    key = std::make_unique<DeviceTensor>(Make(ACL_INT8, {1, 3, 1, 10}, bytes));
  }

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    return aclnnKvQuantSparseFlashAttentionGetWorkspaceSize(
        query.handle(), key->handle(), key->handle(), chosen->handle(), scale, nullptr, nullptr,
        nullptr, nullptr, 1.0, key_mode, 2, block_size, const_cast<char*>("BSND"),
        const_cast<char*>("BSND"), 0, INT64_MAX, INT64_MAX, 2, 1, tile, rope, out.handle(), size,
        executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnKvQuantSparseFlashAttention, *this);
  }

  DeviceTensor query = Floats({1, 1, 1, 3}, {1, 0, 2}),
               two = Make(ACL_INT32, {1, 1, 1, 3}, {0, 1, -1}),
               beyond = Make(ACL_INT32, {1, 1, 1, 1}, {3}), out = EmptyFloats({1, 1, 1, 2});
  std::unique_ptr<DeviceTensor> key;
  const DeviceTensor* chosen = &two;
  const aclTensor* scale = nullptr;
  int64_t key_mode = 2, block_size = 1, tile = 128, rope = 1;
};

TEST(KvQuantSparseFlashAttention, KeysAreNumbersRopesAndFactors) {
  const Device device;
  const KvQuant call;
  EXPECT_EQ(call.Run(device).message, "");
  // The keys are (1, 2) with a rope of 0.5, and (-3, 1) without one: scores of 2 and -3.
  const double weight = 1 / (1 + std::exp(-5.0));
  ExpectNear(ValuesOf(call.out), {weight - 3 * (1 - weight), 2 * weight + (1 - weight)}, ACL_FLOAT);
}

TEST(KvQuantSparseFlashAttention, ThreadsAndInstructionSets) {
  Doubles fused, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    const KvQuant call;
    EXPECT_EQ(call.Run(device).message, "");
    Doubles& expected = IsFused(setting) ? fused : baseline;
    if (expected.empty()) expected = ValuesOf(call.out);
    EXPECT_EQ(ValuesOf(call.out), expected);
  });
}

TEST(KvQuantSparseFlashAttention, Refusals) {
  const Device device;
  const auto refused = [](const char* says, const auto& change) {
    KvQuant call;
    change(call);
    Refused(161002, says, call);
  };
  refused("keyDequantScaleOptional value is a tensor, expected null",
          [](KvQuant& c) { c.scale = c.query.handle(); });
  refused("keyQuantMode value is 0, expected 2", [](KvQuant& c) { c.key_mode = 0; });
  refused("tileSize value is 64, expected 128", [](KvQuant& c) { c.tile = 64; });
  refused("sparseBlockSize value is 3, expected a power of 2, at most 16",
          [](KvQuant& c) { c.block_size = 3; });
  refused("ropeHeadDim value is 3, expected less than 3", [](KvQuant& c) { c.rope = 3; });
  refused("key shape is (1, 3, 1, 10), expected rows of 7 bytes: 3 numbers, a rope of 0 bytes, 1",
          [](KvQuant& c) { c.rope = 0; });
  KvQuant call;
  call.chosen = &call.beyond;
  const Outcome outcome = call.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("sparseIndices has 3, expected a block of the 3 keys"),
            std::string::npos)
      << outcome.message;
}

}  // namespace
}  // namespace openaclnn::test
