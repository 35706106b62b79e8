// SPDX-License-Identifier: Apache-2.0
// How EmbeddingDenseBackward runs: bad indices, repeated and queued calls, memory that is shared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "embedding/backward/test_case.h"
#include "tests/support/checks.h"
#include "tests/support/numbers.h"
#include "tests/support/tables.h"

namespace openaclnn::test::embedding::backward {
namespace {

Case Shape(int64_t tokens, int64_t width, uint64_t num_weights) {
  return {"", kEdge, {tokens}, width, num_weights, kNoPadding, false, kUniformRows};
}

#if defined(__SSE2__)
// A caller may flush denormals or round upwards; its own setting survives the helping synchronise.
TEST(EmbeddingDenseBackwardBits, DoNotDependOnTheCallersRounding) {
  const Device device{{"OPENACLNN_NUM_THREADS", "1"}};
  Problem problem(Shape(3, 2, 1), {});
  problem.SetGrad({1, 0x1p-149, 0x1p-24, 0x1p-149, 0x1p-25, 0x1p-149});
  problem.SetIndices({0, 0, 0});
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | _MM_ROUND_UP | _MM_FLUSH_ZERO_ON | 0x0040);
  const Outcome outcome = problem.Run(device);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(after & (_MM_ROUND_MASK | _MM_FLUSH_ZERO_MASK), _MM_ROUND_UP | _MM_FLUSH_ZERO_ON);
  EXPECT_EQ(ToDoubles(ACL_FLOAT, problem.out.Read()), (std::vector<double>{1, 3 * 0x1p-149}));
}
#endif

/// Runs with one bad index at `position`; out must keep its bytes and the stream must work on.
void ExpectBadIndex(const Device& device, aclDataType dtype, const void* value,
                    const std::string& text, uint64_t num_weights) {
  SCOPED_TRACE(testing::Message() << "type " << dtype << " value " << text);
  constexpr size_t kPosition = 17;
  Problem problem(Shape(40, 3, num_weights), {ACL_FLOAT, dtype, ACL_FLOAT}, {5, kNormal, true});
  const std::vector<std::byte> good = problem.indices.Read();
  // Not strided, since where elements coincide one bad value would be several.
  Problem bad(Shape(40, 3, num_weights), {ACL_FLOAT, dtype, ACL_FLOAT});
  std::vector<std::byte> indices = bad.indices.Read();
  const size_t size = aclDataTypeSize(dtype);
  std::memcpy(&indices[kPosition * size], value, size);
  bad.indices.Write(indices);
  const Outcome outcome = bad.Run(device);
  ExpectTaskError(
      outcome, kApi,
      "indices value 17 is " + text + ", expected 0 <= value < " + std::to_string(num_weights));
  EXPECT_EQ(bad.out.Change(), "");
  EXPECT_EQ(device.Synchronize().code, 0) << "the error is reported once";
  ASSERT_EQ(problem.Run(device).message, "");
  EXPECT_TRUE(problem.IsRight());
}

template <class T>
void ExpectBad(const Device& device, aclDataType dtype, T value, const std::string& text,
               uint64_t num_weights = 9) {
  ExpectBadIndex(device, dtype, &value, text, num_weights);
}

TEST(EmbeddingDenseBackwardIndices, OutOfRangeOfEveryType) {
  const Device device;
  ExpectBad<int64_t>(device, ACL_INT64, 9, "9");
  ExpectBad<int64_t>(device, ACL_INT64, -1, "-1");
  ExpectBad<int64_t>(device, ACL_INT64, INT64_MIN, "-9223372036854775808");
  ExpectBad<int64_t>(device, ACL_INT64, INT64_MAX, "9223372036854775807");
  // In 32 bits these would be rows 0 and 3.
  ExpectBad<int64_t>(device, ACL_INT64, int64_t{1} << 32, "4294967296");
  ExpectBad<int64_t>(device, ACL_INT64, (int64_t{5} << 32) + 3, "21474836483");
  ExpectBad<int32_t>(device, ACL_INT32, 9, "9");
  ExpectBad<int32_t>(device, ACL_INT32, INT32_MIN, "-2147483648");
  ExpectBad<int16_t>(device, ACL_INT16, -1, "-1");
  ExpectBad<int8_t>(device, ACL_INT8, -128, "-128");
  ExpectBad<int8_t>(device, ACL_INT8, 127, "127");
  ExpectBad<uint8_t>(device, ACL_UINT8, 255, "255");
  ExpectBad<uint8_t>(device, ACL_BOOL, 2, "true", 1);
  ExpectBad<float>(device, ACL_FLOAT, 9.0f, "9");
  ExpectBad<float>(device, ACL_FLOAT, -1.0f, "-1");
  ExpectBad<float>(device, ACL_FLOAT, NAN, "nan");
  ExpectBad<float>(device, ACL_FLOAT, INFINITY, "inf");
  ExpectBad<double>(device, ACL_DOUBLE, -INFINITY, "-inf");
  ExpectBad<double>(device, ACL_DOUBLE, 0x1p63, "9223372036854775808");
  ExpectBad<double>(device, ACL_DOUBLE, 0x1p64, "18446744073709551616");
  ExpectBad<double>(device, ACL_DOUBLE, -1e300, "-1e+300");
  ExpectBad<uint16_t>(device, ACL_FLOAT16, 0x7C00, "inf");
  ExpectBad<uint16_t>(device, ACL_FLOAT16, 0x7E00, "nan");
  ExpectBad<uint16_t>(device, ACL_FLOAT16, 0xBC00, "-1");
  ExpectBad<uint16_t>(device, ACL_FLOAT16, 0x4880, "9");
}

// A table without rows has no valid index; the padding row excuses nothing.
TEST(EmbeddingDenseBackwardIndices, PaddingDoesNotExcuse) {
  const Device device;
  ExpectBad<int32_t>(device, ACL_INT32, -1, "-1", 1);
  Problem padded({"", kEdge, {2}, 1, 3, 7, false, kUniformRows}, {});
  padded.SetIndices({7, 0});
  EXPECT_EQ(padded.Run(device).code, 507035);
  Problem empty({"", kEdge, {0}, 4, 0, kNoPadding, false, kUniformRows}, {});
  EXPECT_EQ(empty.Run(device).code, 0);
}

// The first of many bad indices is named, whichever thread meets which first.
TEST(EmbeddingDenseBackwardIndices, FirstPositionIsNamed) {
  for (const char* threads : {"1", "2", "3", "7"}) {
    const Device device{{"OPENACLNN_NUM_THREADS", threads}};
    Problem problem(Shape(200000, 1, 3), {});
    // Other threads meet theirs at once, the one with the first meets it late.
    for (const size_t first : {size_t{16600}, size_t{49999}, size_t{100000}}) {
      std::vector<double> rows(200000, 1);
      std::fill(rows.begin() + static_cast<int64_t>(first), rows.end(), 5);
      rows[first] = -4;
      problem.SetIndices(rows);
      for (int run = 0; run < 10; ++run) {
        ExpectTaskError(
            problem.Run(device), kApi,
            "indices value " + std::to_string(first) + " is -4, expected 0 <= value < 3");
      }
    }
    EXPECT_EQ(problem.out.Change(), "");
  }
}

TEST(EmbeddingDenseBackwardExecutor, RunsAgainWithNewAddresses) {
  const Device device;
  const Case shape = Shape(2100, 33, 2);
  Problem first(shape, {}, {1, kNormal, false});
  Problem second(shape, {}, {2, kNormal, false});
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(Execute(device, planned, aclnnEmbeddingDenseBackward).message, "");
    EXPECT_TRUE(first.IsRight());
    first.out.Scramble();
  }
  // Only indices and out of the second.
  aclTensor* any = const_cast<aclTensor*>(first.grad.handle());
  ASSERT_EQ(aclSetInputTensorAddr(planned.executor(), 1, any, second.indices.data()), 0);
  ASSERT_EQ(aclSetOutputTensorAddr(planned.executor(), 0, any, second.out.data()), 0);
  second.grad.Write(first.grad.Read());
  ASSERT_EQ(Execute(device, planned, aclnnEmbeddingDenseBackward).message, "");
  EXPECT_TRUE(second.IsRight());
  EXPECT_EQ(first.out.Change(), "");
  // All of the second, by position among all operands.
  second.SetGrad(std::vector<double>(2100 * 33, 0.25));
  ASSERT_EQ(aclSetTensorAddr(planned.executor(), 0, any, second.grad.data()), 0);
  ASSERT_EQ(aclSetTensorAddr(planned.executor(), 2, any, second.out.data()), 0);
  second.out.Scramble();
  ASSERT_EQ(Execute(device, planned, aclnnEmbeddingDenseBackward).message, "");
  EXPECT_TRUE(second.IsRight());
  EXPECT_EQ(aclSetTensorAddr(planned.executor(), 3, any, second.out.data()), 161002);
}

// Addresses given to a repeatable executor do not touch runs that are queued already.
TEST(EmbeddingDenseBackwardExecutor, QueuedRunsKeepTheirAddresses) {
  const Device device;
  const Case shape = Shape(300, 8, 5);
  Problem first(shape, {}, {1, kNormal, false}), second(shape, {}, {1, kNormal, false});
  const DeviceBuffer workspace(1 << 20);
  const Planned planned = first.Plan();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(planned.executor()), 0);
  const auto run = [&] {
    return aclnnEmbeddingDenseBackward(workspace.address(), planned.workspace_size(),
                                       planned.executor(), device.stream());
  };
  Gate gate(device.stream());
  ASSERT_EQ(run(), 0);
  aclTensor* any = const_cast<aclTensor*>(first.out.handle());
  ASSERT_EQ(aclSetOutputTensorAddr(planned.executor(), 0, any, second.out.data()), 0);
  ASSERT_EQ(run(), 0);
  gate.Open();
  ASSERT_EQ(device.Synchronize().message, "");
  EXPECT_TRUE(first.IsRight());
  EXPECT_TRUE(second.IsRight());
}

TEST(EmbeddingDenseBackwardMisuse, WorkspaceInTheOutput) {
  const Device device;
  const Problem problem(Shape(60, 7, 5), {});
  const Planned planned = problem.Plan();
  const uint64_t size = planned.workspace_size();
  // One allocation that would hold both.
  const DeviceBuffer both(1 << 16);
  auto* any = const_cast<aclTensor*>(problem.grad.handle());
  const auto run = [&](std::byte* out) {
    EXPECT_EQ(aclSetOutputTensorAddr(planned.executor(), 0, any, out), 0);
    return TakeOutcome(
        aclnnEmbeddingDenseBackward(both.address(), size, planned.executor(), device.stream()));
  };
  const Outcome refused = run(both.address() + size - 4);
  EXPECT_EQ(refused.code, 161002);
  EXPECT_NE(refused.message.find("workspace memory is shared with out"), std::string::npos);
  EXPECT_EQ(run(both.address() + size).message, "");
  EXPECT_EQ(device.Synchronize().message, "");
}

// Interleaved columns share no element: neither output is refused.
TEST(EmbeddingDenseBackwardMisuse, ViewsBesideEachOther) {
  const Device device;
  const DeviceBuffer memory(4096);
  memory.Write(std::vector<std::byte>(4096));
  const DeviceBuffer workspace(4096);
  const auto spec = [&](int64_t columns_apart, std::byte* data) {
    return TensorSpec{.dims = {5, 7},
                      .strides = Dims{14 + columns_apart, 1},
                      .storage = Dims{1000},
                      .data = data};
  };
  const TensorHandle indices({.dims = {5}, .dtype = ACL_INT64, .data = memory.address() + 2048});
  const auto run = [&](std::byte* out_data) {
    const TensorHandle grad(spec(0, memory.address())), out(spec(0, out_data));
    const Planned planned = Planned::Plan([&](uint64_t* size, aclOpExecutor** executor) {
      return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad.get(), indices.get(), 5, kNoPadding,
                                                         false, out.get(), size, executor);
    });
    return Execute(device, planned, aclnnEmbeddingDenseBackward);
  };
  EXPECT_EQ(run(memory.address() + 7 * 4).message, "");
  EXPECT_EQ(run(memory.address() + 7 * 4 - 1).code, 161002);
  EXPECT_EQ(run(memory.address() + 6 * 4).code, 161002);
}

}  // namespace
}  // namespace openaclnn::test::embedding::backward
