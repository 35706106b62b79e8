// SPDX-License-Identifier: Apache-2.0
// Phase 1 where a product or a sum of a call's numbers leaves 64 bits: none is computed (which
// UndefinedBehaviorSanitizer would see), and what does not fit is refused in words.
#include <chrono>

#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "supporting/family_test.h"
#include "tests/support/described.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kLargest = INT64_MAX;

constexpr int64_t Power(int exponent) { return int64_t{1} << exponent; }

struct Ints : IntListHandle {
  Ints(std::initializer_list<int64_t> values) : IntListHandle({values}) {}
  operator aclIntArray*() const { return get(); }
};

struct LongPlan {
  const char* name;
  aclnnStatus (*plan)(uint64_t* size, aclOpExecutor** executor);
  const char* says = "";  // of a refusal
  const char* product = "Ascend910B1";
};

std::ostream& operator<<(std::ostream& out, const LongPlan& of) { return out << of.name; }

class LongPlans : public testing::TestWithParam<LongPlan> {};

std::string NameOf(const testing::TestParamInfo<LongPlan>& of) { return of.param.name; }

TEST_P(LongPlans, AreMadeOrRefused) {
  const LongPlan& of = GetParam();
  const Device device({{"OPENACLNN_SOC", of.product}});
  const auto begin = std::chrono::steady_clock::now();
  const Planned planned = Planned::Plan(of.plan);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const Outcome& outcome = planned.outcome();
  EXPECT_LT(took.count(), 3) << "seconds";
  if (of.says[0] == '\0') {
    EXPECT_EQ(outcome.message, "");
    return;
  }
  EXPECT_EQ(outcome.code, 161002);
  EXPECT_NE(outcome.message.find(of.says), std::string::npos) << outcome.message;
}

// Of the copies, what lies behind the last element; of the products, what is multiplied to see how
// much fits.
INSTANTIATE_TEST_SUITE_P(
    Kernels, LongPlans,
    testing::Values(
        LongPlan{"CopyOfFarRow",
                 [](auto... o) {
                   return aclnnInplaceCopyGetWorkspaceSize(
                       Described({2}), Described({2}, {Power(60)}, Power(60) + 1), o...);
                 }},
        LongPlan{"CopyOfFarColumns",
                 [](auto... o) {
                   return aclnnInplaceCopyGetWorkspaceSize(
                       Described({3, 2}), Described({3, 2}, {1, Power(60)}, Power(60) + 3), o...);
                 }},
        LongPlan{"CopyOfOneElement",
                 [](auto... o) {
                   return aclnnInplaceCopyGetWorkspaceSize(Described({kLargest}, ACL_INT8),
                                                           Expanded({kLargest}, ACL_INT8), o...);
                 }},
        LongPlan{"SliceOfTwo",
                 [](auto... o) {
                   return aclnnSliceGetWorkspaceSize(Described({kLargest}, ACL_INT8), 0, 0,
                                                     kLargest, Power(62), Described({2}, ACL_INT8),
                                                     o...);
                 }},
        LongPlan{"DenseCopyOfOverlap",
                 [](auto... o) {
                   return aclnnEmbeddingDenseBackwardGetWorkspaceSize(
                       Described({Power(31), Power(31)}, {2, 2}, Power(33)),
                       Expanded({Power(31)}, ACL_INT64), 1, 0, false, Described({1, Power(31)}),
                       o...);
                 }},
        LongPlan{"ProductOfManyColumns",
                 [](auto... o) {
                   return aclnnConvTbcGetWorkspaceSize(
                       Described({1, 1, 1}, ACL_FLOAT16), Expanded({2, 1, Power(54)}, ACL_FLOAT16),
                       Expanded({Power(54)}, ACL_FLOAT16), 1,
                       Described({2, 1, Power(54)}, ACL_FLOAT16), 0, o...);
                 },
                 "", "Ascend910A"}),
    NameOf);

// Two rows of 2^31 elements each are the same ones soon, but there are many more to try.
INSTANTIATE_TEST_SUITE_P(
    Overlaps, LongPlans,
    testing::Values(
        LongPlan{"ZeroOfOverlap",
                 [](auto... o) {
                   return aclnnInplaceZeroGetWorkspaceSize(
                       Described({Power(31), Power(31)}, {3, 2}, 5 * Power(31), ACL_INT8), o...);
                 }},
        LongPlan{"CopyToOverlap",
                 [](auto... o) {
                   return aclnnInplaceCopyGetWorkspaceSize(
                       Described({Power(31), Power(31)}, {3, 2}, 5 * Power(31), ACL_INT8),
                       Described({1}, ACL_INT8), o...);
                 },
                 "selfRef strides are (3, 2) for shape (2147483648, 2147483648), expected"}),
    NameOf);

aclnnStatus PlanAttention(const char* layout, const aclTensor* query, const aclTensor* key,
                          int64_t sparse_mode, uint64_t* size, aclOpExecutor** executor) {
  std::string words = layout;
  const Described sums({1, 1, 1, 8}), out({1, 1, 2}, ACL_FLOAT16);
  return aclnnFlashAttentionScoreGetWorkspaceSize(
      query, key, key, nullptr, nullptr, nullptr, nullptr, nullptr, 1, 1, 0, 0, 1, words.data(), 0,
      sparse_mode, sums, sums, nullptr, out, size, executor);
}

aclnnStatus PlanInference(const aclTensor* shift, uint64_t* size, aclOpExecutor** executor) {
  char layout[] = "BNSD";
  const Described query({1, 1, 2, 2}, ACL_FLOAT16), out({1, 1, 2, 2}, ACL_FLOAT16);
  const DescribedList keys({{1, 1, 2, 2}}, ACL_FLOAT16), values({{1, 1, 2, 2}}, ACL_FLOAT16);
  return aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
      query, keys, values, shift, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
      nullptr, nullptr, nullptr, 1, 1, 0, 0, layout, 0, 0, 0, 0, 0, false, 0, 0, out, nullptr, size,
      executor);
}

INSTANTIATE_TEST_SUITE_P(
    Attention, LongPlans,
    testing::Values(
        LongPlan{"HeadsFarApart",
                 [](auto... o) {
                   return PlanAttention("BSH",
                                        Described({1, 1, 2}, {2, 2, kLargest}, 4, ACL_FLOAT16),
                                        Described({1, 1, 2}, ACL_FLOAT16), 0, o...);
                 },
                 "query view is (1, 1, 2) with strides (2, 2, 9223372036854775807)"},
        LongPlan{"ManyRows",
                 [](auto... o) {
                   const Expanded rows({1, 1, Power(62), 1}, ACL_FLOAT16);
                   return PlanAttention("BNSD", rows, rows, 1, o...);
                 },
                 "softmaxMaxOut shape is (1, 1, 1, 8), expected"},
        LongPlan{
            "ShiftsFarApart",
            [](auto... o) {
              return PlanInference(Described({1, 1, 1, 2}, {2, 2, 2, Power(62)}, 4, ACL_FLOAT16),
                                   o...);
            },
            "pseShiftOptional view is (1, 1, 1, 2) with strides (2, 2, 2, 4611686018427387904)"}),
    NameOf);

aclnnStatus PlanBags(const aclTensor* weight, const aclTensor* indices, const aclTensor* offsets,
                     int64_t mode, uint64_t* size, aclOpExecutor** executor) {
  return aclnnEmbeddingBagGetWorkspaceSize(weight, indices, offsets, false, mode, false, nullptr,
                                           false, -1, Described({1, 1}), Described({0}, ACL_INT64),
                                           Described({1}, ACL_INT64), Described({0}, ACL_INT64),
                                           size, executor);
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, LongPlans,
    testing::Values(LongPlan{"BagOfOneIndex",
                             [](auto... o) {
                               return PlanBags(Described({1, 1}), Expanded({kLargest}, ACL_INT64),
                                               Described({1}, ACL_INT64), 0, o...);
                             }},
                    LongPlan{"ManyBags",
                             [](auto... o) {
                               return PlanBags(Described({1, 4}), Described({1}, ACL_INT64),
                                               Expanded({Power(62)}, ACL_INT64), 2, o...);
                             },
                             "output shape is (1, 1), expected (4611686018427387904, 4)"},
                    LongPlan{"SearchInOneElement",
                             [](auto... o) {
                               return aclnnSearchSortedGetWorkspaceSize(
                                   Expanded({kLargest}), Described({1}), false, false, nullptr,
                                   Described({1}, ACL_INT64), o...);
                             }},
                    LongPlan{"NoneOfLongSlices",
                             [](auto... o) {
                               return aclnnIndexSelectGetWorkspaceSize(
                                   Expanded({2, Power(61)}), 0, Described({0}, ACL_INT64),
                                   Described({0, Power(61)}), o...);
                             }},
                    LongPlan{"NoneOfLongSlicesV2",
                             [](auto... o) {
                               return aclnnGatherV2GetWorkspaceSize(
                                   Expanded({2, Power(61)}), 0, Described({0}, ACL_INT64),
                                   Described({0, Power(61)}), o...);
                             }}),
    NameOf);

/// Of sequences at one time, of two classes, with as many labels as `labels` says.
aclnnStatus PlanCtc(int64_t sequences, const aclTensor* targets, const aclIntArray* lengths,
                    int64_t labels, uint64_t* size, aclOpExecutor** executor) {
  const Dims ones(static_cast<size_t>(sequences), 1);
  const IntListHandle times({ones});
  return aclnnCtcLossGetWorkspaceSize(Described({1, sequences, 2}), targets, times.get(), lengths,
                                      0, false, Described({sequences}),
                                      Described({sequences, 1, labels}), size, executor);
}

INSTANTIATE_TEST_SUITE_P(
    Losses, LongPlans,
    testing::Values(
        LongPlan{"LabelsOfOneTarget",
                 [](auto... o) {
                   return PlanCtc(1, Expanded({Power(62)}, ACL_INT64), Ints{Power(62)}, 1, o...);
                 },
                 "targetLengths value is 4611686018427387904, expected 0 to 4611686018427387903"},
        LongPlan{
            "TargetsInAll",
            [](auto... o) {
              const int64_t most = Power(62) - 1;
              return PlanCtc(3, Expanded({kLargest}, ACL_INT64), Ints{most, most, most}, 1, o...);
            },
            "targetLengths sum is 2^63 or more, expected the length of targets"},
        LongPlan{
            "PaddedTargets",
            [](auto... o) {
              const int64_t most = Power(62) - 1;
              return PlanCtc(3, Expanded({1, most}, ACL_INT64), Ints{most, most, most}, 1, o...);
            },
            "targets shape is (1, 4611686018427387903), expected (3, 4611686018427387903)"},
        LongPlan{"NoneBehindTheLastTarget",
                 [](auto... o) {
                   return PlanCtc(3, Described({2}, {Power(59)}, Power(59) + 1, ACL_INT64),
                                  Ints{1, 1, 0}, 3, o...);
                 }},
        LongPlan{"SumOfMany",
                 [](auto... o) {
                   return aclnnL1LossGetWorkspaceSize(
                       Expanded({Power(32), 1}), Expanded({1, Power(32)}), 2, Described({}), o...);
                 },
                 "self shape is (4294967296, 1), expected a result below 2^63 elements"},
        LongPlan{"MeanOfMany",
                 [](auto... o) {
                   return aclnnMseLossGetWorkspaceSize(Expanded({3037000500, 1}),
                                                       Expanded({1, 3037000500}), 1, Described({}),
                                                       o...);
                 },
                 "self shape is (3037000500, 1), expected a result below 2^63 elements"}),
    NameOf);

aclnnStatus PlanRoll(const aclIntArray* dims, uint64_t* size, aclOpExecutor** executor) {
  return aclnnRollGetWorkspaceSize(Expanded({kLargest}, ACL_INT8), Ints{kLargest - 1}, dims,
                                   Described({kLargest}, ACL_INT8), size, executor);
}

INSTANTIATE_TEST_SUITE_P(
    Arrangements, LongPlans,
    testing::Values(
        LongPlan{"ShuffleOfOneGroup",
                 [](auto... o) {
                   return aclnnChannelShuffleGetWorkspaceSize(
                       Described({1, 2, 1}, {1, Power(61), 1}, Power(61) + 1, ACL_FLOAT16), 1,
                       Described({1, 2, 1}, ACL_FLOAT16), o...);
                 }},
        LongPlan{"ShuffleOfOneMember",
                 [](auto... o) {
                   return aclnnChannelShuffleGetWorkspaceSize(
                       Described({1, 2, 1}, ACL_FLOAT16), 2,
                       Described({1, 2, 1}, {1, Power(61), 1}, Power(61) + 1, ACL_FLOAT16), o...);
                 }},
        LongPlan{"CatOfNoneBehind",
                 [](auto... o) {
                   return aclnnCatGetWorkspaceSize(
                       DescribedList({{2, 3}, {0, 3}}, ACL_FLOAT16), 0,
                       Described({2, 3}, {Power(61), 1}, Power(61) + 3, ACL_FLOAT16), o...);
                 }},
        LongPlan{"RollAlong", [](auto... o) { return PlanRoll(Ints{0}, o...); }},
        LongPlan{"RollOfAll", [](auto... o) { return PlanRoll(Ints{}, o...); }}),
    NameOf);

aclnnStatus PlanMaxPool(int64_t stride, int64_t pad, bool up, uint64_t* size,
                        aclOpExecutor** executor) {
  return aclnnMaxPoolGetWorkspaceSize(Expanded({1, 1, kLargest}, ACL_FLOAT16), Ints{2, 2},
                                      Ints{stride, stride}, 0, Ints{pad}, Ints{1, 1}, up ? 1 : 0,
                                      Described({1, 1, 1}, ACL_FLOAT16), size, executor);
}

/// Of one batch, of places next to each other.
struct Filter {
  const aclTensor *input, *weight, *bias;
  bool transposed;
  int64_t groups;
  aclTensor* output;
};

aclnnStatus PlanConvolution(const Filter& of, uint64_t* size, aclOpExecutor** executor) {
  return aclnnConvolutionGetWorkspaceSize(of.input, of.weight, of.bias, Ints{1}, Ints{0}, Ints{1},
                                          of.transposed, Ints{0}, of.groups, of.output, 0, size,
                                          executor);
}

constexpr aclDataType kHalf = ACL_FLOAT16;

INSTANTIATE_TEST_SUITE_P(
    Windows, LongPlans,
    testing::Values(
        LongPlan{"PoolOfPaddedRow", [](auto... o) { return PlanMaxPool(1, 1, false, o...); },
                 "self shape is (1, 1, 9223372036854775807), expected none of the last 2"},
        LongPlan{"PoolOfLastWindow",
                 [](auto... o) { return PlanMaxPool(Power(20), 0, true, o...); },
                 "self shape is (1, 1, 9223372036854775807), expected none of the last 2"},
        LongPlan{"ColumnsOfManyChannels",
                 [](auto... o) {  // whose number times 3 is 2, of 64 bits
                   return aclnnIm2colGetWorkspaceSize(Expanded({6148914691236517206, 1, 1}, kHalf),
                                                      Ints{1, 3}, Ints{1, 1}, Ints{0, 1},
                                                      Ints{1, 1}, Described({2, 1}, kHalf), o...);
                 },
                 "self shape is (6148914691236517206, 1, 1), expected less than 2^63 rows, 3 for"},
        LongPlan{"MoreGroupsThanChannels",
                 [](auto... o) {
                   return PlanConvolution(
                       {Described({1, 1, 1, 1}, kHalf), Described({1, 2, 1, 1}, kHalf), nullptr,
                        false, kLargest, Described({1, 1, 1, 1}, kHalf)},
                       o...);
                 },
                 "groups value is 9223372036854775807, expected a divisor of input's channels, 1"},
        LongPlan{"ManyGroupsOfNone",
                 [](auto... o) {
                   return PlanConvolution(
                       {Described({1, 0, 1, 1}, kHalf), Described({0, 2, 1, 1}, kHalf), nullptr,
                        true, kLargest, Described({1, 1, 1, 1}, kHalf)},
                       o...);
                 },
                 "groups value is 9223372036854775807, expected less than 2^63 channels of output"},
        LongPlan{"WeightWithoutOutput",
                 [](auto... o) {
                   return PlanConvolution({Expanded({1, Power(40), 1, 1}, kHalf),
                                           Described({0, Power(40), Power(20), Power(20)}, kHalf),
                                           nullptr, false, 1, Described({1, 1, 1, 1}, kHalf)},
                                          o...);
                 },
                 "output shape is (1, 1, 1, 1), expected"},
        LongPlan{"WeightsFarApart",
                 [](auto... o) {
                   return PlanConvolution(
                       {Described({1, 1, 1, 1}, kHalf),
                        Described({2, 1, 1, 1}, {Power(61), 1, 1, 1}, Power(61) + 1, kHalf),
                        nullptr, false, 1, Described({1, 2, 1, 1}, kHalf)},
                       o...);
                 }},
        LongPlan{"BiasFarApart",
                 [](auto... o) {
                   return PlanConvolution(
                       {Described({1, 1, 1, 1}, kHalf), Described({2, 1, 1, 1}, kHalf),
                        Described({2}, {Power(61)}, Power(61) + 1, kHalf), false, 1,
                        Described({1, 2, 1, 1}, kHalf)},
                       o...);
                 }}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Pairs, LongPlans,
                         testing::Values(LongPlan{
                             "OfManyRows",
                             [](auto... o) {  // of which there are 39 pairs, of 64 bits
                               return aclnnPdistGetWorkspaceSize(Expanded({316036705537063830, 1}),
                                                                 2, Described({39}), o...);
                             },
                             "self shape is (316036705537063830, 1), expected rows of fewer than"}),
                         NameOf);

}  // namespace
}  // namespace openaclnn::test
