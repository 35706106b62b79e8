// SPDX-License-Identifier: Apache-2.0
// Numbers of elements that INT32 does not hold: operators which tell them refuse such an output.
#include "supporting/family_test.h"
#include "tests/support/described.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;  // so many numbers INT32 holds from 0 on

/// Of so many elements in one dimension, INT32 numbers in `name` are taken up to the most that it
/// holds, INT64 ones beyond as well.
template <class Plan>
void ExpectRoomFor(const char* name, const Plan& plan, int64_t most = kMost) {
  const auto planned = [&](int64_t elements, aclDataType dtype) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const Outcome outcome = TakeOutcome(plan(elements, dtype, &bytes, &executor));
    if (outcome.ok()) aclDestroyAclOpExecutor(executor);
    return outcome;
  };
  EXPECT_EQ(planned(most, ACL_INT32).message, "");
  EXPECT_EQ(planned(most + 1, ACL_INT64).message, "");
  const Outcome refused = planned(most + 1, ACL_INT32);
  EXPECT_EQ(refused.code, 161002);
  const std::string says =
      std::string(name) + " dtype is INT32, expected INT64, for numbers up to 2147483648";
  EXPECT_NE(refused.message.find(says), std::string::npos) << refused.message;
}

TEST(LongNumbers, AlongADimension) {
  const Device device;
  ExpectRoomFor("out", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnArgMaxGetWorkspaceSize(Described({n}), 0, false, Described({}, dtype), o...);
  });
  ExpectRoomFor("indices", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnMinDimGetWorkspaceSize(Described({n}), 0, true, Described({1}),
                                       Described({1}, dtype), o...);
  });
  ExpectRoomFor("indicesOut", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnTopkGetWorkspaceSize(Described({n}), 3, 0, true, true, Described({3}),
                                     Described({3}, dtype), o...);
  });
  ExpectRoomFor("indicesOut", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnSortGetWorkspaceSize(Described({n}), true, 0, false, Described({n}),
                                     Described({n}, dtype), o...);
  });
  ExpectRoomFor("indicesOut", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnKthvalueGetWorkspaceSize(Described({n}), 1, 0, true, Described({1}),
                                         Described({1}, dtype), o...);
  });
  ExpectRoomFor("indicesOut", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnCummaxGetWorkspaceSize(Described({n}), 0, Described({n}), Described({n}, dtype),
                                       o...);
  });
  // It tells the place behind the last, too.
  ExpectRoomFor(
      "out",
      [](int64_t n, aclDataType dtype, auto... o) {
        return aclnnSearchSortedGetWorkspaceSize(Described({n}), Described({2}), dtype == ACL_INT32,
                                                 false, nullptr, Described({2}, dtype), o...);
      },
      kMost - 1);
}

TEST(LongNumbers, OfRowsInBags) {
  const Device device;
  ExpectRoomFor("maxIndices", [](int64_t n, aclDataType dtype, auto... o) {
    return aclnnEmbeddingBagGetWorkspaceSize(
        Described({n, 1}), Described({2}, ACL_INT64), Described({1}, ACL_INT64), false, 2, false,
        nullptr, false, -1, Described({1, 1}), Described({2}, ACL_INT64), Described({1}, ACL_INT64),
        Described({1, 1}, dtype), o...);
  });
}

TEST(LongNumbers, OfPlanes) {
  const Device device;
  const IntListHandle ones({{1, 1}}), steps({{1, 1 << 20}}), none({{0, 0}});
  const auto plan = [&](int64_t width) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const Outcome outcome = TakeOutcome(aclnnMaxPool2dWithIndicesGetWorkspaceSize(
        Described({1, 1, width}), ones.get(), steps.get(), none.get(), ones.get(), false,
        Described({1, 1, (width - 1) / (1 << 20) + 1}),
        Described({1, 1, (width - 1) / (1 << 20) + 1}, ACL_INT32), &bytes, &executor));
    if (outcome.ok()) aclDestroyAclOpExecutor(executor);
    return outcome.message;
  };
  EXPECT_EQ(plan(kMost - 1), "");
  EXPECT_NE(plan(kMost).find("self shape is (1, 1, 2147483648), expected planes of at most"),
            std::string::npos)
      << plan(kMost);
}

}  // namespace
}  // namespace openaclnn::test
