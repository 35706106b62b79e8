// SPDX-License-Identifier: Apache-2.0
// Scalars and arrays: create, size, destroy, and every refusal.
#include "aclnn/acl_meta.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

/// A create function's answer as a code: that of its failure, or 0.
template <class Handle>
int CodeOf(Handle* handle) {
  return handle != nullptr ? 0 : aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}

template <class Array, class Value>
void ExpectSizes(Array* (*create)(const Value*, uint64_t),
                 aclnnStatus (*size_of)(const Array*, uint64_t*),
                 aclnnStatus (*destroy)(const Array*)) {
  const Value values[3] = {};
  for (uint64_t size = 0; size <= 3; ++size) {
    Array* array = create(size > 0 ? values : nullptr, size);
    ASSERT_NE(array, nullptr) << TakeMessage();
    uint64_t count = 99;
    EXPECT_EQ(size_of(array, &count), 0);
    EXPECT_EQ(count, size);
    EXPECT_EQ(destroy(array), 0);
    EXPECT_EQ(destroy(array), ACLNN_ERR_PARAM_INVALID);
  }
  EXPECT_EQ(destroy(nullptr), 0) << "null is no error";
}

TEST(ArrayTest, Sizes) {
  ExpectSizes(aclCreateIntArray, aclGetIntArraySize, aclDestroyIntArray);
  ExpectSizes(aclCreateFloatArray, aclGetFloatArraySize, aclDestroyFloatArray);
  ExpectSizes(aclCreateBoolArray, aclGetBoolArraySize, aclDestroyBoolArray);
}

TEST(ArrayTest, Nulls) {
  const int code = ACLNN_ERR_PARAM_NULLPTR;
  uint64_t size = 0;
  aclIntArray* ints = aclCreateIntArray(nullptr, 0);
  aclFloatArray* floats = aclCreateFloatArray(nullptr, 0);
  aclBoolArray* bools = aclCreateBoolArray(nullptr, 0);
  for (const Refusal& row : std::vector<Refusal>{
           {"aclCreateIntArray", [] { return CodeOf(aclCreateIntArray(nullptr, 2)); }, code,
            "value value is null"},
           {"aclCreateFloatArray", [] { return CodeOf(aclCreateFloatArray(nullptr, 2)); }, code,
            "value value is null"},
           {"aclCreateBoolArray", [] { return CodeOf(aclCreateBoolArray(nullptr, 2)); }, code,
            "value value is null"},
           {"aclGetIntArraySize", [&] { return aclGetIntArraySize(nullptr, &size); }, code,
            "array value is null"},
           {"aclGetIntArraySize", [&] { return aclGetIntArraySize(ints, nullptr); }, code,
            "size value is null"},
           {"aclGetFloatArraySize", [&] { return aclGetFloatArraySize(nullptr, &size); }, code,
            "array value is null"},
           {"aclGetFloatArraySize", [&] { return aclGetFloatArraySize(floats, nullptr); }, code,
            "size value is null"},
           {"aclGetBoolArraySize", [&] { return aclGetBoolArraySize(nullptr, &size); }, code,
            "array value is null"},
           {"aclGetBoolArraySize", [&] { return aclGetBoolArraySize(bools, nullptr); }, code,
            "size value is null"},
       }) {
    ExpectRefused(row);
  }
  EXPECT_EQ(aclDestroyIntArray(ints), 0);
  EXPECT_EQ(aclDestroyFloatArray(floats), 0);
  EXPECT_EQ(aclDestroyBoolArray(bools), 0);
}

// Sizes whose bytes wrap, or are more than can be addressed.
TEST(ArrayTest, HugeSizes) {
  const int code = ACLNN_ERR_PARAM_INVALID;
  const int64_t ints[1] = {5};
  const float floats[1] = {5};
  const bool bools[1] = {true};
  for (const uint64_t size :
       {PTRDIFF_MAX / 8 + uint64_t{1}, uint64_t{1} << 61, (uint64_t{1} << 61) + 1,
        uint64_t{1} << 62, uint64_t{1} << 63, UINT64_MAX}) {
    const std::string says = "size value is " + std::to_string(size) + ", expected at most ";
    ExpectRefused({"aclCreateIntArray", [&] { return CodeOf(aclCreateIntArray(ints, size)); }, code,
                   says.c_str()});
    if (size <= PTRDIFF_MAX / 4) continue;
    ExpectRefused({"aclCreateFloatArray", [&] { return CodeOf(aclCreateFloatArray(floats, size)); },
                   code, says.c_str()});
    if (size <= PTRDIFF_MAX) continue;
    ExpectRefused({"aclCreateBoolArray", [&] { return CodeOf(aclCreateBoolArray(bools, size)); },
                   code, says.c_str()});
  }
}

TEST(ScalarTest, EveryTypeThatHasASize) {
  char value[16] = {};
  int made = 0;
  for (int type = -1; type < 64; ++type) {
    const auto dtype = static_cast<aclDataType>(type);
    aclScalar* scalar = aclCreateScalar(value, dtype);
    EXPECT_EQ(scalar != nullptr, aclDataTypeSize(dtype) > 0) << type;
    if (scalar == nullptr) continue;
    ++made;
    EXPECT_EQ(aclDestroyScalar(scalar), 0);
    EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_ERR_PARAM_INVALID);
  }
  EXPECT_GE(made, 15);
  EXPECT_EQ(aclDestroyScalar(nullptr), 0) << "null is no error";
}

TEST(ScalarTest, Refusals) {
  double value = 0;
  ExpectRefused({"aclCreateScalar", [] { return CodeOf(aclCreateScalar(nullptr, ACL_DOUBLE)); },
                 ACLNN_ERR_PARAM_NULLPTR, "value value is null"});
  ExpectRefused({"aclCreateScalar", [&] { return CodeOf(aclCreateScalar(&value, ACL_STRING)); },
                 ACLNN_ERR_PARAM_INVALID, "dataType value is 13"});
}

}  // namespace
}  // namespace openaclnn
