// SPDX-License-Identifier: Apache-2.0
// OPENACLNN_CHECK=full: reads of device memory that nothing has written are reported, others not.
#include "aclnnop/aclnn_apply_adam_w_v2.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_s_where.h"
#include "common/text.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 8;  // elements of an array
constexpr size_t kBytes = kCount * sizeof(float);
constexpr const char* kReport = "openaclnn: initcheck: ";

class WriteWatchTest : public WatchedTest {
 protected:
  WriteWatchTest() : WatchedTest("full") {}
  void SetUp() override {
    WatchedTest::SetUp();
    memory.emplace(kBytes);
    out.emplace(kBytes);
  }
  void TearDown() override {
    memory.reset();
    out.reset();
    WatchedTest::TearDown();
  }

  static aclTensor* Tensor(void* data, int64_t count = kCount, int64_t stride = 1,
                           aclDataType type = ACL_FLOAT) {
    const int64_t storage = (count - 1) * stride + 1;
    return aclCreateTensor(&count, 1, type, &stride, 0, ACL_FORMAT_ND, &storage, 1, data);
  }
  /// Phase 2 of what `plan` has planned, and the end of the tensors.
  void Run(int planned, uint64_t bytes, aclOpExecutor* executor,
           int (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream),
           const std::vector<aclTensor*>& tensors) const {
    ASSERT_EQ(planned, 0) << TakeMessage();
    ASSERT_EQ(bytes, 0U);
    ASSERT_EQ(run(nullptr, 0, executor, stream), 0) << TakeMessage();
    for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
  void Exp(aclTensor* self, aclTensor* out) const {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const int planned = aclnnExpGetWorkspaceSize(self, out, &bytes, &executor);
    Run(planned, bytes, executor, aclnnExp, {self, out});
  }
  void Exp(void* self, void* out) const { Exp(Tensor(self), Tensor(out)); }
  static void Move(void* dst, const void* src, aclrtMemcpyKind kind) {
    ASSERT_EQ(aclrtMemcpy(dst, kBytes, src, kBytes, kind), 0) << TakeMessage();
  }

  std::optional<NewMemory> memory, out;
};

TEST_F(WriteWatchTest, AnOperatorReadsNewMemory) {
  Exp(memory->data(), out->data());
  const std::string text = Reported();
  EXPECT_THAT(text, HasSubstr(Concat(kReport, "aclnnExp on stream ", stream,
                                     " reads device memory that nothing has written\n")));
  EXPECT_THAT(text, HasSubstr("what:  aclnnExp reads self; "));
  EXPECT_THAT(text, HasSubstr(Concat("where: bytes 0 to 31 of the 32 that were allocated at ",
                                     static_cast<const void*>(memory->data()),
                                     " on device 0 by aclrtMalloc\n")));
  EXPECT_THAT(text, HasSubstr("fix:   write it before: aclrtMemcpy"));
  float host[kCount];
  Move(host, memory->data(), ACL_MEMCPY_DEVICE_TO_HOST);
  Move(host, out->data(), ACL_MEMCPY_DEVICE_TO_HOST);
  Exp(memory->data(), out->data());
  Exp(out->data(), memory->data());
  EXPECT_EQ(Reported(), "") << "once, and not what comes of it";
}

// Of one mistake in a loop, whatever the memory, there is one report.
TEST_F(WriteWatchTest, ALoopIsToldOnce) {
  for (int i = 0; i < 3; ++i) {
    const NewMemory step(kBytes);
    Exp(step.data(), out->data());
    EXPECT_EQ(Count(Reported(), kReport), i == 0 ? 1U : 0U);
  }
}

TEST_F(WriteWatchTest, WrittenInAnyWay) {
  const float host[kCount] = {};
  const std::vector<std::function<void(void*)>> ways = {
      [&](void* data) { Move(data, host, ACL_MEMCPY_HOST_TO_DEVICE); },
      [&](void* data) { ASSERT_EQ(aclrtMemset(data, kBytes, 0, kBytes), 0); },
      [&](void* data) { ASSERT_EQ(aclrtMemsetAsync(data, kBytes, 0, kBytes, stream), 0); },
      [&](void* data) {
        const DeviceArray<float> written(kCount);
        Exp(written.data(), data);
        ASSERT_EQ(aclrtSynchronizeStream(stream), 0);  // before the memory is freed
      },
      [&](void* data) { ASSERT_EQ(aclrtMemset(data, 4, 0, 4), 0) << "a part of it"; },
  };
  for (const auto& write : ways) {
    const NewMemory filled(kBytes);
    write(filled.data());
    Exp(filled.data(), out->data());
    EXPECT_EQ(Reported(), "");
  }
}

TEST_F(WriteWatchTest, AllocatedAnew) {
  for (int i = 0; i < 2; ++i) {  // the address comes back as soon as it is free
    const NewMemory again(kBytes);
    Exp(again.data(), out->data());
    if (i == 0) {
      EXPECT_EQ(Count(Reported(), kReport), 1U);
      ASSERT_EQ(aclrtMemset(again.data(), kBytes, 0, kBytes), 0);
    }
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  TearDown();
  SetUp();  // counts anew
  NewMemory other(kBytes), more(kBytes);
  ASSERT_EQ(aclrtMemset(more.data(), kBytes, 0, kBytes), 0);
  Exp(other.data(), more.data());
  EXPECT_EQ(Count(Reported(), kReport), 1U);
}

TEST_F(WriteWatchTest, CopiesToTheHostRead) {
  float host[kCount];
  ASSERT_EQ(aclrtMemset(out->data(), kBytes, 0, kBytes), 0);  // all but one is written
  Move(host, memory->data(), ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_THAT(Reported(), HasSubstr("aclrtMemcpy reads device memory that nothing has written\n"));
}

TEST_F(WriteWatchTest, CopiesWithinTheDeviceMove) {
  Move(out->data(), memory->data(), ACL_MEMCPY_DEVICE_TO_DEVICE);
  EXPECT_EQ(Reported(), "");
  const NewMemory copy(kBytes), result(kBytes);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  aclTensor *to = Tensor(copy.data()), *from = Tensor(out->data());
  const int planned = aclnnInplaceCopyGetWorkspaceSize(to, from, &bytes, &executor);
  Run(planned, bytes, executor, aclnnInplaceCopy, {to, from});
  EXPECT_EQ(Reported(), "");
  Exp(copy.data(), result.data());
  EXPECT_EQ(Count(Reported(), kReport), 1U);
  ASSERT_EQ(aclrtMemset(memory->data(), kBytes, 0, kBytes), 0);
  Move(out->data(), memory->data(), ACL_MEMCPY_DEVICE_TO_DEVICE);
  Exp(out->data(), result.data());
  EXPECT_EQ(Reported(), "");
}

TEST_F(WriteWatchTest, InPlace) {
  float two = 2;
  aclScalar* factor = aclCreateScalar(&two, ACL_FLOAT);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  aclTensor* self = Tensor(memory->data());
  const int planned = aclnnInplaceMulsGetWorkspaceSize(self, factor, &bytes, &executor);
  Run(planned, bytes, executor, aclnnInplaceMuls, {self});
  EXPECT_EQ(aclDestroyScalar(factor), 0);
  EXPECT_THAT(Reported(), HasSubstr("what:  aclnnInplaceMuls reads selfRef; "));
}

TEST_F(WriteWatchTest, WhatIsOnlyPerhapsRead) {
  const DeviceArray<uint8_t> condition(kCount, 1);
  const DeviceArray<float> self(kCount);
  const std::vector<aclTensor*> tensors = {Tensor(condition.data(), kCount, 1, ACL_BOOL),
                                           Tensor(self.data()), Tensor(memory->data()),
                                           Tensor(out->data())};
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const int planned = aclnnSWhereGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                                  &bytes, &executor);
  Run(planned, bytes, executor, aclnnSWhere, tensors);
  EXPECT_EQ(Reported(), "");
  Exp(memory->data(), out->data());
  EXPECT_EQ(Count(Reported(), kReport), 1U) << "nor is it written by that";
}

TEST_F(WriteWatchTest, AModeSaysWhatIsRead) {
  const DeviceArray<float> weight(kCount), mean(kCount), square(kCount), grad(kCount), step(1);
  for (const bool amsgrad : {false, true}) {
    const std::vector<aclTensor*> tensors = {Tensor(weight.data()),  Tensor(mean.data()),
                                             Tensor(square.data()),  Tensor(grad.data()),
                                             Tensor(step.data(), 1), Tensor(memory->data())};
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const int planned = aclnnApplyAdamWV2GetWorkspaceSize(
        tensors[0], tensors[1], tensors[2], tensors[5], tensors[3], tensors[4], 0.1F, 0.9F, 0.99F,
        0, 1e-3F, amsgrad, false, &bytes, &executor);
    Run(planned, bytes, executor, aclnnApplyAdamWV2, tensors);
    const std::string text = Reported();
    EXPECT_EQ(Count(text, kReport), amsgrad ? 1U : 0U) << text;
    EXPECT_EQ(Count(text, "reads maxGradNormOptionalRef; "), amsgrad ? 1U : 0U) << text;
  }
}

TEST_F(WriteWatchTest, AnOutputMayBeReadAloneOrLeftAlone) {
  const auto report = [&](OpenaclnnUse use) {
    const NewMemory state(kBytes);
    OwnOperator own([](void* const*, void*) { return 0; });
    own.Add("state", OPENACLNN_OUTPUT, {ACL_FLOAT, {kCount}, {1}}, state.data(), use);
    EXPECT_EQ(own.Launch(stream), 0) << TakeMessage();
    return Reported();
  };
  EXPECT_EQ(report(OPENACLNN_UNUSED), "");
  EXPECT_THAT(report(OPENACLNN_READ), HasSubstr("what:  aclnnOwn reads state; "));
}

TEST_F(WriteWatchTest, ViewsOfTooManyPiecesWriteAllBetween) {
  constexpr int64_t kMany = 5000;
  const DeviceArray<float> source(kMany);
  const NewMemory sparse(2 * kMany * sizeof(float));
  Exp(Tensor(source.data(), kMany), Tensor(sparse.data(), kMany, 2));
  Exp(sparse.data() + 1000 * sizeof(float), out->data());
  Exp(Tensor(sparse.data(), kMany, 2), Tensor(source.data(), kMany));
  EXPECT_EQ(Reported(), "");
  const NewMemory other(sparse.bytes());
  Exp(Tensor(other.data(), kMany, 2), Tensor(source.data(), kMany));
  EXPECT_EQ(Count(Reported(), kReport), 1U);
}

TEST_F(WriteWatchTest, WhatLiesBetweenTheElementsIsNotRead) {
  constexpr int64_t kHalf = kCount / 2;
  const DeviceArray<float> source(kHalf);
  Exp(Tensor(source.data(), kHalf), Tensor(memory->data() + sizeof(float), kHalf, 2));
  EXPECT_EQ(Reported(), "");
  Exp(Tensor(memory->data(), kHalf, 2), Tensor(out->data(), kHalf));
  EXPECT_EQ(Count(Reported(), kReport), 1U);
}

TEST_F(WriteWatchTest, AFunctionOfTheHostMayWriteIt) {
  Gate gate(stream);  // so that it runs after the operator was launched
  const auto fill = [](void* data) {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(aclrtMemset(data, kBytes, 0, kBytes), 0) << TakeMessage();
    EXPECT_EQ(aclrtResetDevice(0), 0);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream, fill, memory->data()), 0) << TakeMessage();
  Exp(memory->data(), out->data());
  gate.Open();
  EXPECT_EQ(Reported(), "");
}

TEST_F(WriteWatchTest, TheHostMayWriteWhatItHasAccessTo) {
  const Variable access("OPENACLNN_HOST_ACCESS", "1");
  TearDown();
  SetUp();
  {
    const NewMemory open(kBytes);
    std::fill_n(open.data(), kBytes, std::byte{0});
    Exp(open.data(), open.data());
    EXPECT_EQ(Reported(), "");
  }
}

TEST(WriteWatchOffTest, NothingIsSaidWithoutFull) {
  const Variable check("OPENACLNN_CHECK", "fast");
  testing::internal::CaptureStderr();
  ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
  ASSERT_EQ(aclrtSetDevice(0), 0);
  {
    const NewMemory memory(4);
    float host = 0;
    ASSERT_EQ(aclrtMemcpy(&host, 4, memory.data(), 4, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  }
  ASSERT_EQ(aclrtResetDevice(0), 0);
  ASSERT_EQ(aclFinalize(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace openaclnn
