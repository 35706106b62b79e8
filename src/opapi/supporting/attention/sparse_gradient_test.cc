// SPDX-License-Identifier: Apache-2.0
// SparseFlashAttentionGrad: each gradient gives the change of the result along a direction; the
// indexer, attention and the gradient have the same bits under each setting.
#include <cmath>
#include <numeric>
#include <utility>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

const Dims kQuery = {2, 5, 3, 64}, kKey = {2, 150, 1, 64}, kQueryRope = {2, 5, 3, 8},
           kKeyRope = {2, 150, 1, 8}, kIndex = {2, 5, 1, 12}, kNumbers = {2, 1, 5, 3};

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

/// Query, key, value and the two ropes, in this order.
struct Inputs {
  explicit Inputs(Random& random) {
    for (const Dims* dims : {&kQuery, &kKey, &kKey, &kQueryRope, &kKeyRope}) {
      values.push_back(Held(ACL_FLOAT, RealValues(random, Count(*dims))));
    }
  }
  std::vector<Doubles> values;
};

/// Blocks of which some come twice, and some are none.
Doubles Chosen(Random& random) {
  Doubles chosen(static_cast<size_t>(Count(kIndex)));
  for (double& block : chosen) block = static_cast<double>(Uniform(random, -1, 8));
  return chosen;
}

struct SparseCalls {
  SparseCalls(const Inputs& of, const Doubles& blocks, int64_t sparse_mode, int64_t block_size = 16)
      : q(Floats(kQuery, of.values[0])),
        k(Floats(kKey, of.values[1])),
        v(Floats(kKey, of.values[2])),
        q_rope(Floats(kQueryRope, of.values[3])),
        k_rope(Floats(kKeyRope, of.values[4])),
        chosen(Make(ACL_INT32, kIndex, blocks)),
        keys(Make(ACL_INT32, {2}, {150, 141})),
        rows(Make(ACL_INT32, {2}, {5, 4})),
        mode(sparse_mode),
        size(block_size) {}

  Doubles Forward(const Device& device) const {
    const auto plan = [&](uint64_t* bytes, aclOpExecutor** executor) {
      return aclnnSparseFlashAttentionGetWorkspaceSize(
          q.handle(), k.handle(), v.handle(), chosen.handle(), nullptr, rows.handle(),
          keys.handle(), q_rope.handle(), k_rope.handle(), 0.125, size, layout, layout, mode,
          INT64_MAX, INT64_MAX, 2, true, out.handle(), max.handle(), sum.handle(), bytes, executor);
    };
    EXPECT_EQ(Call(device, aclnnSparseFlashAttention, plan).message, "");
    return ValuesOf(out);
  }
  std::vector<Doubles> Backward(const Device& device, const DeviceTensor& dy) const {
    const DeviceTensor dq = EmptyFloats(kQuery), dk = EmptyFloats(kKey), dv = EmptyFloats(kKey),
                       dq_rope = EmptyFloats(kQueryRope), dk_rope = EmptyFloats(kKeyRope);
    const auto plan = [&](uint64_t* bytes, aclOpExecutor** executor) {
      return aclnnSparseFlashAttentionGradGetWorkspaceSize(
          q.handle(), k.handle(), v.handle(), chosen.handle(), dy.handle(), out.handle(),
          max.handle(), sum.handle(), rows.handle(), keys.handle(), q_rope.handle(),
          k_rope.handle(), 0.125, size, layout, mode, INT64_MAX, INT64_MAX, true, dq.handle(),
          dk.handle(), dv.handle(), dq_rope.handle(), dk_rope.handle(), bytes, executor);
    };
    EXPECT_EQ(Call(device, aclnnSparseFlashAttentionGrad, plan).message, "");
    return {ValuesOf(dq), ValuesOf(dk), ValuesOf(dv), ValuesOf(dq_rope), ValuesOf(dk_rope)};
  }

  DeviceTensor q, k, v, q_rope, k_rope, chosen, keys, rows;
  int64_t mode, size;
  char* const layout = const_cast<char*>("BSND");
  const DeviceTensor out = EmptyFloats(kQuery), max = EmptyFloats(kNumbers),
                     sum = EmptyFloats(kNumbers);
};

double Product(const Doubles& a, const Doubles& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(SparseGradient, GivesTheChangeOfTheResult) {
  const Device device;
  Random random(1);
  const Inputs of(random);
  const Doubles blocks = Chosen(random), weights = RealValues(random, Count(kQuery));
  const DeviceTensor dy = Floats(kQuery, weights);
  // Blocks of one key are keys.
  for (const auto& each : {std::pair<int64_t, int64_t>{0, 16}, {3, 16}, {0, 1}, {3, 1}}) {
    const int64_t mode = each.first, size = each.second;
    const SparseCalls call(of, blocks, mode, size);
    call.Forward(device);
    const std::vector<Doubles> gradients = call.Backward(device, dy);
    for (size_t i = 0; i < 5; ++i) {
      SCOPED_TRACE(testing::Message()
                   << "mode " << mode << ", blocks of " << size << ", input " << i);
      const Doubles direction = RealValues(random, static_cast<int64_t>(of.values[i].size()));
      const double step = 1e-2;
      const auto result = [&](double factor) {
        Inputs moved = of;
        for (size_t j = 0; j < direction.size(); ++j) {
          moved.values[i][j] += factor * direction[j];
        }
        return Product(SparseCalls(moved, blocks, mode, size).Forward(device), weights);
      };
      const double change = (result(step) - result(-step)) / (2 * step);
      const double norm = std::sqrt(Product(gradients[i], gradients[i]));
      EXPECT_GT(norm, 0.1);
      EXPECT_NEAR(Product(gradients[i], direction), change, 2e-2 * norm);
    }
  }
}

// Rows and keys that do not count have gradients of 0, and move no other one.
TEST(SparseGradient, WhatDoesNotCountHasNone) {
  const Device device;
  Random random(2);
  const Inputs of(random);
  const SparseCalls call(of, Chosen(random), 0);
  call.Forward(device);
  const std::vector<Doubles> found =
      call.Backward(device, Floats(kQuery, RealValues(random, Count(kQuery))));
  const auto zeros = [](const Doubles& values, size_t first) {
    return std::all_of(values.begin() + static_cast<int64_t>(first), values.end(),
                       [](double each) { return each == 0; });
  };
  EXPECT_TRUE(zeros(found[0], (5 + 4) * 3 * 64));
  EXPECT_TRUE(zeros(found[1], (150 + 141) * 64));
  EXPECT_TRUE(zeros(found[2], (150 + 141) * 64));
  EXPECT_TRUE(zeros(found[4], (150 + 141) * 8));
  EXPECT_FALSE(zeros(found[1], (150 + 128) * 64));
}

TEST(SparseBits, ThreadsAndInstructionSets) {
  Random random(3);
  const Inputs of(random);
  const Doubles blocks = Chosen(random), weights = RealValues(random, Count(kQuery)),
                of_heads = RealValues(random, 2 * 5 * 3);
  std::vector<Doubles> first, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    const SparseCalls call(of, blocks, 3);
    std::vector<Doubles> results = {call.Forward(device)};
    for (Doubles& each : call.Backward(device, Floats(kQuery, weights))) {
      results.push_back(std::move(each));
    }
    const DeviceTensor head_weights = Floats({2, 5, 3}, of_heads),
                       indices = Make(ACL_INT32, {2, 5, 1, 40}, Doubles(400, 0)),
                       sums = EmptyFloats({2, 5, 1, 40});
    const auto plan = [&](uint64_t* bytes, aclOpExecutor** executor) {
      return aclnnLightningIndexerGetWorkspaceSize(
          call.q.handle(), call.k.handle(), head_weights.handle(), nullptr, nullptr, nullptr,
          call.layout, call.layout, 40, 3, INT64_MAX, INT64_MAX, true, indices.handle(),
          sums.handle(), bytes, executor);
    };
    EXPECT_EQ(Call(device, aclnnLightningIndexer, plan).message, "");
    results.push_back(ValuesOf(sums));
    const DeviceTensor dq = EmptyFloats(kQuery), dk = EmptyFloats(kKey),
                       dw = EmptyFloats({2, 5, 3});
    const auto back = [&](uint64_t* bytes, aclOpExecutor** executor) {
      return aclnnLightningIndexerGradGetWorkspaceSize(
          call.q.handle(), call.k.handle(), sums.handle(), indices.handle(), head_weights.handle(),
          nullptr, nullptr, 0, call.layout, 3, INT64_MAX, INT64_MAX, true, dq.handle(), dk.handle(),
          dw.handle(), bytes, executor);
    };
    EXPECT_EQ(Call(device, aclnnLightningIndexerGrad, back).message, "");
    for (const DeviceTensor* each : {&dq, &dk, &dw}) results.push_back(ValuesOf(*each));
    auto& expected = IsFused(setting) ? first : baseline;
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
}

}  // namespace
}  // namespace openaclnn::test
