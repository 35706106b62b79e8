// SPDX-License-Identifier: Apache-2.0
// Lists: they own their members, and refuse what is none.
#include "aclnn/acl_meta.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

aclTensor* Tensor() {
  return aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
}

aclScalar* Scalar() {
  float value = 0;
  return aclCreateScalar(&value, ACL_FLOAT);
}

template <class Handle>
int CodeOf(Handle* handle) {
  return handle != nullptr ? 0 : aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}

TEST(ListTest, DestroysItsTensors) {
  aclTensor *first = Tensor(), *second = Tensor();
  const aclTensor* members[] = {first, nullptr, second};
  aclTensorList* list = aclCreateTensorList(members, 3);
  ASSERT_NE(list, nullptr) << TakeMessage();
  uint64_t size = 0;
  EXPECT_EQ(aclGetTensorListSize(list, &size), 0);
  EXPECT_EQ(size, 3u);
  aclDataType type{};
  EXPECT_EQ(aclGetDataType(first, &type), 0) << "members stay usable";
  EXPECT_EQ(aclDestroyTensorList(list), 0);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclGetDataType(first, &type), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(second), ACLNN_ERR_PARAM_INVALID);
}

TEST(ListTest, DestroysItsScalars) {
  aclScalar *first = Scalar(), *second = Scalar();
  const aclScalar* members[] = {first, second};
  aclScalarList* list = aclCreateScalarList(members, 2);
  ASSERT_NE(list, nullptr) << TakeMessage();
  uint64_t size = 0;
  EXPECT_EQ(aclGetScalarListSize(list, &size), 0);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclDestroyScalarList(list), 0);
  EXPECT_EQ(aclDestroyScalarList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyScalar(first), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyScalar(second), ACLNN_ERR_PARAM_INVALID);
}

// A member that its owner destroyed all the same, against the rules: no crash.
TEST(ListTest, MemberThatIsGone) {
  aclTensor* member = Tensor();
  const aclTensor* members[] = {member};
  aclTensorList* list = aclCreateTensorList(members, 1);
  EXPECT_EQ(aclDestroyTensor(member), 0);
  EXPECT_EQ(aclDestroyTensorList(list), 0);
}

TEST(ListTest, Empty) {
  aclTensorList* tensors = aclCreateTensorList(nullptr, 0);
  aclScalarList* scalars = aclCreateScalarList(nullptr, 0);
  uint64_t size = 9;
  EXPECT_EQ(aclGetTensorListSize(tensors, &size), 0);
  EXPECT_EQ(size, 0u);
  size = 9;
  EXPECT_EQ(aclGetScalarListSize(scalars, &size), 0);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(aclDestroyTensorList(tensors), 0);
  EXPECT_EQ(aclDestroyScalarList(scalars), 0);
  EXPECT_EQ(aclDestroyTensorList(nullptr), 0) << "null is no error";
  EXPECT_EQ(aclDestroyScalarList(nullptr), 0);
}

TEST(ListTest, Refusals) {
  const int null = ACLNN_ERR_PARAM_NULLPTR, invalid = ACLNN_ERR_PARAM_INVALID;
  aclTensor *tensor = Tensor(), *destroyed = Tensor();
  aclScalar* scalar = Scalar();
  ASSERT_EQ(aclDestroyTensor(destroyed), 0);
  const aclTensor* dead[] = {tensor, destroyed};
  const auto* mixed = reinterpret_cast<const aclScalar*>(tensor);
  const aclScalar* wrong[] = {scalar, mixed};
  aclTensorList* tensors = aclCreateTensorList(nullptr, 0);
  aclScalarList* scalars = aclCreateScalarList(nullptr, 0);
  uint64_t size = 0;
  for (const Refusal& row : std::vector<Refusal>{
           {"aclCreateTensorList", [] { return CodeOf(aclCreateTensorList(nullptr, 1)); }, null,
            "value value is null"},
           {"aclCreateScalarList", [] { return CodeOf(aclCreateScalarList(nullptr, 1)); }, null,
            "value value is null"},
           {"aclCreateTensorList", [&] { return CodeOf(aclCreateTensorList(dead, 2)); }, invalid,
            "value value is a handle that was destroyed"},
           {"aclCreateScalarList", [&] { return CodeOf(aclCreateScalarList(wrong, 2)); }, invalid,
            "value value is not a handle of this kind"},
           {"aclCreateTensorList",
            [&] { return CodeOf(aclCreateTensorList(dead, (uint64_t{1} << 61) + 1)); }, invalid,
            "size value is 2305843009213693953, expected at most 1152921504606846975"},
           {"aclCreateScalarList", [&] { return CodeOf(aclCreateScalarList(wrong, UINT64_MAX)); },
            invalid, "size value is 18446744073709551615, expected at most"},
           {"aclGetTensorListSize", [&] { return aclGetTensorListSize(nullptr, &size); }, null,
            "tensorList value is null"},
           {"aclGetTensorListSize", [&] { return aclGetTensorListSize(tensors, nullptr); }, null,
            "size value is null"},
           {"aclGetScalarListSize", [&] { return aclGetScalarListSize(nullptr, &size); }, null,
            "scalarList value is null"},
           {"aclGetScalarListSize", [&] { return aclGetScalarListSize(scalars, nullptr); }, null,
            "size value is null"},
       }) {
    ExpectRefused(row);
  }
  EXPECT_EQ(aclDestroyTensor(tensor), 0) << "members of a refused list stay the caller's";
  EXPECT_EQ(aclDestroyScalar(scalar), 0);
  EXPECT_EQ(aclDestroyTensorList(tensors), 0);
  EXPECT_EQ(aclDestroyScalarList(scalars), 0);
}

}  // namespace
}  // namespace openaclnn
