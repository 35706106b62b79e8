// SPDX-License-Identifier: Apache-2.0
// RingAttentionUpdate: where numbers of packed sequences lie, parts without keys, refusals.
#include <cmath>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// A tensor with 8 copies of each number.
DeviceTensor Copies(Dims dims, const Doubles& numbers) {
  dims.push_back(8);
  Doubles copies;
  for (const double number : numbers) copies.insert(copies.end(), 8, number);
  return Floats(dims, copies);
}

/// A call with results of (rows, heads, elements), or (rows, batches, elements of all heads).
struct Ring {
  const DeviceTensor &prev, &prev_max, &prev_sum, &cur, &cur_max, &cur_sum, &out, &max, &sum;
  const aclTensor* ends = nullptr;
  std::string layout = "TND", numbers = "";

  aclnnStatus operator()(uint64_t* size, aclOpExecutor** executor) const {
    return aclnnRingAttentionUpdateV2GetWorkspaceSize(
        prev.handle(), prev_max.handle(), prev_sum.handle(), cur.handle(), cur_max.handle(),
        cur_sum.handle(), ends, const_cast<char*>(layout.c_str()),
        const_cast<char*>(numbers.c_str()), out.handle(), max.handle(), sum.handle(), size,
        executor);
  }
  Outcome Run(const Device& device) const {
    return Call(device, aclnnRingAttentionUpdateV2, *this);
  }
};

const Doubles kZeros(6, 0.0), kOnes(6, 1.0);

// The first part weighs 1 and is 0, the second one weighs 1, 3, 7, … and is 1. The second sequence
// has rows 1 and 2.
TEST(RingAttentionUpdate, NumbersOfPackedSequences) {
  const Device device;
  const DeviceTensor prev = Floats({3, 2, 1}, kZeros), cur = Floats({3, 2, 1}, kOnes),
                     zeros = Copies({3, 2}, kZeros), ones = Copies({3, 2}, kOnes),
                     weights = Copies({3, 2}, {1, 3, 7, 15, 31, 63}), out = EmptyFloats({3, 2, 1}),
                     max = EmptyFloats({3, 2, 8}), sum = EmptyFloats({3, 2, 8}),
                     ends = Make(ACL_INT64, {2}, {1, 3});
  Ring call{prev, zeros, ones, cur, zeros, weights, out, max, sum, ends.handle()};
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), (Doubles{1.0 / 2, 3.0 / 4, 7.0 / 8, 31.0 / 32, 15.0 / 16, 63.0 / 64}));
  EXPECT_EQ(ValuesOf(sum), ValuesOf(Copies({3, 2}, {2, 4, 8, 16, 32, 64})));
  call.numbers = "TND";
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), (Doubles{1.0 / 2, 3.0 / 4, 7.0 / 8, 15.0 / 16, 31.0 / 32, 63.0 / 64}));
  const DeviceTensor falling = Make(ACL_INT64, {2}, {2, 1});
  call.ends = falling.handle(), call.numbers = "";
  const Outcome outcome = call.Run(device);
  EXPECT_EQ(outcome.code, 507035);
  EXPECT_NE(outcome.message.find("actualSeqQlenOptional value 1 is 1, expected 2 to 3"),
            std::string::npos)
      << outcome.message;
}

TEST(RingAttentionUpdate, PartsWithoutKeys) {
  const Device device;
  const double nan = std::nan(""), none = -INFINITY;
  const DeviceTensor prev = Floats({3, 1, 1}, {nan, 2, nan}),
                     cur = Floats({3, 1, 1}, {1, nan, nan}),
                     prev_max = Copies({1, 1, 3}, {none, 5, none}),
                     prev_sum = Copies({1, 1, 3}, {0, 4, 0}),
                     cur_max = Copies({1, 1, 3}, {-3, 0, none}),
                     cur_sum = Copies({1, 1, 3}, {2, 0, 0}), out = EmptyFloats({3, 1, 1}),
                     max = EmptyFloats({1, 1, 3, 8}), sum = EmptyFloats({1, 1, 3, 8});
  Ring call{prev, prev_max, prev_sum, cur, cur_max, cur_sum, out, max, sum};
  call.layout = "SBH";
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(out), (Doubles{1, 2, 0}));
  EXPECT_EQ(ValuesOf(max), ValuesOf(Copies({1, 1, 3}, {-3, 5, none})));
  EXPECT_EQ(ValuesOf(sum), ValuesOf(Copies({1, 1, 3}, {2, 4, 0})));
}

// A part without keys has the largest score 0, as attention leaves it: e^-200 of it is no FLOAT.
TEST(RingAttentionUpdate, PartsWithoutKeysBesideSmallScores) {
  const Device device;
  const DeviceTensor of = Floats({2, 1, 1}, {3, 3}), none = Floats({2, 1, 1}, {0, 0}),
                     low = Copies({1, 1, 2}, {-200, -200}), ones = Copies({1, 1, 2}, {1, 1}),
                     zeros = Copies({1, 1, 2}, {0, 0}), endless = Copies({1, 1, 2}, {0, INFINITY}),
                     out = EmptyFloats({2, 1, 1}), max = EmptyFloats({1, 1, 2, 8}),
                     sum = EmptyFloats({1, 1, 2, 8});
  for (Ring call : {Ring{of, low, ones, none, endless, zeros, out, max, sum},
                    Ring{none, endless, zeros, of, low, ones, out, max, sum}}) {
    call.layout = "SBH";
    EXPECT_EQ(call.Run(device).message, "");
    EXPECT_EQ(ValuesOf(out), (Doubles{3, 3}));
    EXPECT_EQ(ValuesOf(max), ValuesOf(low));
    EXPECT_EQ(ValuesOf(sum), ValuesOf(ones));
  }
}

TEST(RingAttentionUpdate, ResultsWithoutElementsHaveNumbers) {
  const Device device;
  const DeviceTensor empty = EmptyFloats({2, 1, 0}), ones = Copies({1, 1, 2}, {1, 1}),
                     out = EmptyFloats({2, 1, 0}), max = EmptyFloats({1, 1, 2, 8}),
                     sum = EmptyFloats({1, 1, 2, 8});
  Ring call{empty, ones, ones, empty, ones, ones, out, max, sum};
  call.layout = "SBH";
  EXPECT_EQ(call.Run(device).message, "");
  EXPECT_EQ(ValuesOf(max), ValuesOf(ones));
  EXPECT_EQ(ValuesOf(sum), ValuesOf(Copies({1, 1, 2}, {2, 2})));
}

TEST(RingAttentionUpdate, Refusals) {
  const Device device;
  const DeviceTensor tensor = Floats({3, 2, 1}, kZeros), numbers = Copies({3, 2}, kZeros),
                     narrow = Floats({3, 2}, kZeros), batches = Copies({2, 2, 3}, Doubles(12, 0.0)),
                     ends = Make(ACL_INT32, {1}, {3});
  const auto ring = [&](const DeviceTensor& of, const DeviceTensor& number) {
    return Ring{of, number, number, of, number, number, of, number, number};
  };
  Ring call = ring(tensor, numbers);
  Refused(161002,
          "actualSeqQlenOptional value is null, expected a tensor, as inputLayoutOptional is TND",
          call);
  call.ends = ends.handle();
  Refused(161002, "actualSeqQlenOptional dtype is INT32, expected INT64", call);
  Refused(161002, "prevAttnOut rank is 2 (shape (3, 2)), expected 3", ring(narrow, numbers));
  Ring of_batches = ring(tensor, batches);
  of_batches.layout = "SBH";
  Refused(161002,
          "prevSoftmaxMax shape is (2, 2, 3, 8), expected a number of heads that divides the last "
          "dimension of prevAttnOut, (3, 2, 1)",
          of_batches);
}

}  // namespace
}  // namespace openaclnn::test
