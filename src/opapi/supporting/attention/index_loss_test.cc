// SPDX-License-Identifier: Apache-2.0
// DenseLightningIndexerGradKLLoss and SparseLightningIndexerGradKLLoss: with all keys chosen both
// are alike, an indexer that is right has no loss, and what must not be taken.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kRows = 3, kKeys = 5, kHeads = 2, kWidth = 4, kFar = INT64_MAX;

struct Loss {
  explicit Loss(Random& random)
      : q(Floats({1, kRows, kHeads, kWidth}, RealValues(random, kRows * kHeads * kWidth))),
        k(Floats({1, kKeys, 1, kWidth}, RealValues(random, kKeys * kWidth))),
        qi(Floats({1, kRows, kHeads, kWidth}, RealValues(random, kRows * kHeads * kWidth))),
        ki(Floats({1, kKeys, 1, kWidth}, RealValues(random, kKeys * kWidth))),
        w(Floats({1, kRows, kHeads}, RealValues(random, kRows * kHeads))) {
    Doubles all;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kKeys; ++j) all.push_back(static_cast<double>(j));
    }
    chosen = std::make_unique<DeviceTensor>(Make(ACL_INT32, {1, kRows, 1, kKeys}, all));
  }

  std::vector<Doubles> Run(const Device& device, bool dense) const {
    const DeviceTensor dq = EmptyFloats({1, kRows, kHeads, kWidth}),
                       dk = EmptyFloats({1, kKeys, 1, kWidth}),
                       dw = EmptyFloats({1, kRows, kHeads}), loss = EmptyFloats({1}),
                       top = EmptyFloats({1, 1, kRows}), total = EmptyFloats({1, 1, kRows});
    char layout[] = "BSND";
    if (dense) {
      EXPECT_RUN(device, DenseLightningIndexerSoftmaxLse, qi.handle(), ki.handle(), w.handle(),
                 nullptr, nullptr, layout, 3, kFar, kFar, top.handle(), total.handle());
      EXPECT_RUN(device, DenseLightningIndexerGradKLLoss, q.handle(), k.handle(), qi.handle(),
                 ki.handle(), w.handle(), max.handle(), sum.handle(), top.handle(), total.handle(),
                 nullptr, nullptr, nullptr, nullptr, 0.5, layout, 3, kFar, kFar, dq.handle(),
                 dk.handle(), dw.handle(), loss.handle());
    } else {
      EXPECT_RUN(device, SparseLightningIndexerGradKLLoss, q.handle(), k.handle(), qi.handle(),
                 ki.handle(), w.handle(), chosen->handle(), max.handle(), sum.handle(), nullptr,
                 nullptr, nullptr, nullptr, 0.5, layout, 3, kFar, kFar, true, dq.handle(),
                 dk.handle(), dw.handle(), loss.handle());
    }
    return {ValuesOf(dq), ValuesOf(dk), ValuesOf(dw), ValuesOf(loss)};
  }

  DeviceTensor q, k, qi, ki, w, max = Floats({1, 1, kRows, kHeads}, Doubles(6, 1.5)),
                                sum = Floats({1, 1, kRows, kHeads}, Doubles(6, 2.0));
  std::unique_ptr<DeviceTensor> chosen;
};

TEST(IndexLoss, AllKeysChosenAreAllKeys) {
  const Device device;
  Random random(75);
  const Loss of(random);
  const std::vector<Doubles> dense = of.Run(device, true), sparse = of.Run(device, false);
  for (size_t i = 0; i < dense.size(); ++i) ExpectNear(dense[i], sparse[i], ACL_FLOAT, 1e-5, 1e-6);
  EXPECT_GT(dense[3][0], 0);
}

// The first row sees one key; of both softmaxes it has all.
TEST(IndexLoss, OneKeyHasNoLoss) {
  const Device device;
  const DeviceTensor x = Floats({1, 1, 1, 2}, {1, 2}), w = Floats({1, 1, 1}, {3}),
                     max = Floats({1, 1, 1, 1}, {4}), sum = Floats({1, 1, 1, 1}, {1}),
                     chosen = Make(ACL_INT32, {1, 1, 1, 2}, {0, -1}),
                     dq = EmptyFloats({1, 1, 1, 2}), dk = EmptyFloats({1, 1, 1, 2}),
                     dw = EmptyFloats({1, 1, 1}), loss = EmptyFloats({1});
  char layout[] = "BSND";
  EXPECT_RUN(device, SparseLightningIndexerGradKLLoss, x.handle(), x.handle(), x.handle(),
             x.handle(), w.handle(), chosen.handle(), max.handle(), sum.handle(), nullptr, nullptr,
             nullptr, nullptr, 1.0, layout, 3, kFar, kFar, true, dq.handle(), dk.handle(),
             dw.handle(), loss.handle());
  EXPECT_EQ(ValuesOf(loss), (Doubles{0}));
  EXPECT_EQ(ValuesOf(dq), (Doubles{0, 0}));
  EXPECT_EQ(ValuesOf(dw), (Doubles{0}));
}

TEST(IndexLoss, ThreadsAndInstructionSets) {
  std::vector<std::vector<Doubles>> fused, baseline;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    SCOPED_TRACE(setting);
    Random random(76);
    const Loss of(random);
    const std::vector<std::vector<Doubles>> results = {of.Run(device, true), of.Run(device, false)};
    auto& expected = IsFused(setting) ? fused : baseline;
    if (expected.empty()) expected = results;
    EXPECT_TRUE(results == expected);
  });
}

TEST(IndexLoss, Refusals) {
  const Device device;
  Random random(77);
  const Loss of(random);
  const DeviceTensor top = EmptyFloats({1, 1, kRows}), dw = EmptyFloats({1, kRows, kHeads}),
                     loss = EmptyFloats({1}), wide = EmptyFloats({1, kRows, kHeads, 2}),
                     two = EmptyFloats({2});
  char bsnd[] = "BSND", bsh[] = "BSH";
  const auto refused = [&](const char* says, const DeviceTensor& qi, const aclTensor* rope,
                           const DeviceTensor& sums, const DeviceTensor& to, char* layout,
                           int64_t mode, int64_t before) {
    EXPECT_REFUSED(161002, says, DenseLightningIndexerGradKLLoss, of.q.handle(), of.k.handle(),
                   qi.handle(), of.ki.handle(), of.w.handle(), of.max.handle(), of.sum.handle(),
                   top.handle(), sums.handle(), rope, nullptr, nullptr, nullptr, 0.5, layout, mode,
                   before, kFar, qi.handle(), of.ki.handle(), dw.handle(), to.handle());
  };
  refused("layout value is 'BSH', expected", of.qi, nullptr, top, loss, bsh, 3, kFar);
  refused("sparseMode value is 0, expected 3", of.qi, nullptr, top, loss, bsnd, 0, kFar);
  refused("preTokens value is 3, expected at least 65536", of.qi, nullptr, top, loss, bsnd, 3, 3);
  refused("keyRopeOptional value is null, expected what queryRopeOptional is: both or none", of.qi,
          of.q.handle(), top, loss, bsnd, 3, kFar);
  refused("keyIndex shape is (1, 5, 1, 4), expected (1, 5, 1, 2)", wide, nullptr, top, loss, bsnd,
          3, kFar);
  refused("softmaxSumIndex shape is (1), expected (1, 1, 3)", of.qi, nullptr, loss, loss, bsnd, 3,
          kFar);
  refused("loss shape is (2), expected (1)", of.qi, nullptr, top, two, bsnd, 3, kFar);
}

}  // namespace
}  // namespace openaclnn::test
