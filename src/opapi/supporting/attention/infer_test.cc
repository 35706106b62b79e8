// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV2: which keys masks and windows hide, and what it must not take.
#include <cmath>

#include "supporting/family_test.h"

namespace openaclnn::test {
namespace {

/// A call without scale, all of whose keys are alike: results are means of the values that are
/// seen.
struct Infer {
  const DeviceTensor &query, &key, &value, &out;
  int64_t heads = 1, kv_heads = 0, before = 0, after = 0, mode = 0;
  std::string layout = "BNSD";
  const aclTensor *mask = nullptr, *sums = nullptr, *scale = nullptr;
  bool wants_sums = false;

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    const ListHandle keys({&key}), values({&value});
    const aclTensor* no = nullptr;
    return aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
        query.handle(), keys.get(), values.get(), no, mask, nullptr, nullptr, scale, no, no, no, no,
        no, no, no, no, no, no, no, no, no, no, no, nullptr, heads, 1.0, before, after,
        const_cast<char*>(layout.c_str()), kv_heads, mode, 0, 0, 0, wants_sums, 0, 0, out.handle(),
        sums, size, executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnFusedInferAttentionScoreV2, *this);
  }
};

const Doubles kValues = {1, 10, 100};  // of three keys

DeviceTensor Zeros(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return Floats(dims, Doubles(static_cast<size_t>(count), 0.0));
}

// There are two rows: the first is at key 0, the second at key 1.
TEST(FusedInfer, WindowsOfAnyNumbers) {
  const Device device;
  const DeviceTensor q = Zeros({1, 1, 2, 1}), k = Zeros({1, 1, 3, 1}),
                     v = Floats({1, 1, 3, 1}, kValues),
                     mask = Make(ACL_BOOL, {2, 3}, Doubles(6, 0)), out = EmptyFloats({1, 1, 2, 1});
  const auto means = [&](int64_t before, int64_t after) {
    Infer call{q, k, v, out};
    call.before = before, call.after = after, call.mask = mask.handle();
    EXPECT_EQ(call.Run(device).message, "");
    return ValuesOf(out);
  };
  ExpectNear(means(INT64_MAX, INT64_MAX), Doubles{37, 37}, ACL_FLOAT, 1e-6);
  ExpectNear(means(INT64_MAX, 0), Doubles{1, 5.5}, ACL_FLOAT, 1e-6);
  ExpectNear(means(0, INT64_MAX), Doubles{37, 55}, ACL_FLOAT, 1e-6);
  ExpectNear(means(INT64_MIN, INT64_MAX), Doubles{0, 0}, ACL_FLOAT, 1e-6);
}

TEST(FusedInfer, OneRowOfTheQueryHasNoWindow) {
  const Device device;
  const DeviceTensor q = Zeros({1, 1, 1, 1}), k = Zeros({1, 1, 3, 1}),
                     v = Floats({1, 1, 3, 1}, kValues), mask = Make(ACL_BOOL, {1, 3}, {0, 0, 1}),
                     out = EmptyFloats({1, 1, 1, 1});
  for (const int64_t mode : {0, 1, 2, 3, 4}) {
    Infer call{q, k, v, out};
    call.mode = mode, call.mask = mask.handle();
    EXPECT_EQ(call.Run(device).message, "") << mode;
    EXPECT_EQ(ValuesOf(out), (Doubles{5.5})) << mode;
  }
}

// (B, Q_S, KV_S), and of one row (B, KV_S): the same for all heads.
TEST(FusedInfer, MasksOfBatches) {
  const Device device;
  for (const int64_t heads : {2, 3}) {  // as many as batches, and more
    const auto count = static_cast<size_t>(heads);
    for (const int64_t rows : {1, 2}) {
      SCOPED_TRACE(testing::Message() << heads << " heads, " << rows << " rows");
      Doubles values, want, hidden;
      for (size_t i = 0; i < 2 * count; ++i) {
        values.insert(values.end(), kValues.begin(), kValues.end());
      }
      for (const auto& [hides, mean] :
           {std::pair<Doubles, double>{{1, 0, 1}, 10}, {{0, 1, 1}, 1}}) {
        for (int64_t i = 0; i < rows; ++i) hidden.insert(hidden.end(), hides.begin(), hides.end());
        want.insert(want.end(), count * static_cast<size_t>(rows), mean);
      }
      const DeviceTensor q = Zeros({2, heads, rows, 1}), k = Zeros({2, heads, 3, 1}),
                         v = Floats({2, heads, 3, 1}, values),
                         out = EmptyFloats({2, heads, rows, 1});
      for (const Dims& dims : {Dims{2, rows, 3}, Dims{2, 3}, Dims{2, 1, rows, 3}}) {
        if (dims.size() == 2 && rows != 1) continue;  // that is (Q_S, KV_S)
        const DeviceTensor mask = Make(ACL_BOOL, dims, hidden);
        Infer call{q, k, v, out};
        call.heads = heads, call.mode = 1, call.mask = mask.handle();
        EXPECT_EQ(call.Run(device).message, "");
        EXPECT_EQ(ValuesOf(out), want);
      }
    }
  }
}

TEST(FusedInfer, WidthsThatNoHeadsHave) {
  const Device device;
  const DeviceTensor q = Zeros({1, 1, 7}), k = Zeros({1, 1, 7}), even = Zeros({1, 1, 6});
  Infer call{q, k, k, q};
  call.layout = "BSH", call.heads = 2;
  Refused(161002, "query shape is (1, 1, 7), expected 2 heads", call);
  Infer wide{even, k, k, even};
  wide.layout = "BSH", wide.heads = 2;
  Refused(161002, "key shape is (1, 1, 7), expected 2 heads", wide);
  const DeviceTensor four = Zeros({1, 4, 1, 2}), keys = Zeros({1, 3, 1, 2});
  Infer other{four, keys, keys, four};
  other.heads = 4, other.kv_heads = 3;
  Refused(161002, "numKeyValueHeads value is 3, expected a divisor of numHeads, 4", other);
  other.layout = "SBH";
  Refused(161002, "inputLayout value is 'SBH', expected BNSD, BSND, BSH or BNSD_BSND", other);
  Infer scaled{four, four, four, four};
  scaled.heads = 4, scaled.scale = four.handle();
  Refused(161002, "deqScale1Optional value is a tensor, expected null: query is not INT8", scaled);
}

// As torch_npu calls it: one element, which is 0.
TEST(FusedInfer, SumsThatNobodyAskedFor) {
  const Device device;
  const DeviceTensor q = Zeros({1, 1, 1, 1}), k = Zeros({1, 1, 3, 1}),
                     v = Floats({1, 1, 3, 1}, kValues), out = EmptyFloats({1, 1, 1, 1}),
                     sums = Make(ACL_FLOAT, {1}, {7});
  Infer call{q, k, v, out};
  call.sums = sums.handle();
  EXPECT_EQ(call.Run(device).message, "");
  ExpectNear(ValuesOf(out), Doubles{37}, ACL_FLOAT, 1e-6);
  EXPECT_EQ(ValuesOf(sums), (Doubles{0}));
  call.wants_sums = true;
  Refused(161002, "softmaxLse shape is (1), expected (1, 1, 1, 1)", call);
}

// The log of the sum of exponentials, where it is asked for.
TEST(FusedInfer, SumsOfExponentials) {
  const Device device;
  const DeviceTensor q = Floats({1, 1, 2, 1}, {0, 1}), k = Floats({1, 1, 3, 1}, {1, 2, 3}),
                     out = EmptyFloats({1, 1, 2, 1}), sums = EmptyFloats({1, 1, 2, 1});
  Infer call{q, k, k, out};
  call.sums = sums.handle(), call.wants_sums = true;
  EXPECT_EQ(call.Run(device).message, "");
  const double of_second = std::log(std::exp(1) + std::exp(2) + std::exp(3));
  ExpectNear(ValuesOf(sums), Doubles{std::log(3), of_second}, ACL_FLOAT, 1e-6);
}

}  // namespace
}  // namespace openaclnn::test
