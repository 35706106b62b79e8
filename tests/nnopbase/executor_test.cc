// SPDX-License-Identifier: Apache-2.0
// Executors: their states, new addresses, and the checks of phase 2.
#include <gmock/gmock.h>

#include <deque>

#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_foreach_mul_list.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

class ExecutorTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    gradient = std::make_unique<Gradient>(1);
    ASSERT_EQ(gradient->Plan(&bytes, &executor), 0) << TakeMessage();
    workspace = std::make_unique<DeviceArray<uint8_t>>(bytes + 64);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
    if (aclDestroyAclOpExecutor(executor) != 0) TakeMessage();
    gradient.reset();
    workspace.reset();
    RuntimeTest::TearDown();
  }
  int Run() { return aclnnEmbeddingDenseBackward(workspace->data(), bytes, executor, nullptr); }
  void ExpectRunRefused(int code, const char* says) {
    ExpectRefused({"aclnnEmbeddingDenseBackward", [this] { return Run(); }, code, says});
  }
  std::vector<float> Result() {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
    return gradient->out().Read();
  }
  std::unique_ptr<Gradient> gradient;
  std::unique_ptr<DeviceArray<uint8_t>> workspace;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
};

constexpr const char* kRepeatable = "aclSetAclOpExecutorRepeatable";
constexpr const char* kDestroy = "aclDestroyAclOpExecutor";
const std::vector<float> kExpected = {0, 0, 0, 0, 1, 2, 3, 4};

TEST_F(ExecutorTest, RunsOnce) {
  ASSERT_EQ(Run(), 0) << TakeMessage();
  ExpectRunRefused(ACLNN_ERR_INNER_NULLPTR, "executor state is spent");
  ExpectRefused({kRepeatable, [this] { return aclSetAclOpExecutorRepeatable(executor); },
                 ACLNN_ERR_INNER_NULLPTR, "executor state is spent"});
  ExpectRefused({kDestroy, [this] { return aclDestroyAclOpExecutor(executor); },
                 ACLNN_ERR_INNER_NULLPTR, "executor state is spent"});
  EXPECT_EQ(Result(), kExpected);
}

TEST_F(ExecutorTest, RepeatableRunsUntilDestroyed) {
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Run(), 0) << TakeMessage();
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), 0) << "is so already";
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0) << "queued work is not harmed";
  ExpectRunRefused(ACLNN_ERR_INNER_NULLPTR, "executor state is spent or destroyed");
  EXPECT_EQ(Result(), kExpected);
}

TEST_F(ExecutorTest, DestroyedWithoutARun) {
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  ExpectRefused({kDestroy, [this] { return aclDestroyAclOpExecutor(executor); },
                 ACLNN_ERR_INNER_NULLPTR, "executor state is spent or destroyed"});
}

TEST_F(ExecutorTest, Nulls) {
  ExpectRefused({kRepeatable, [] { return aclSetAclOpExecutorRepeatable(nullptr); },
                 ACLNN_ERR_INNER_NULLPTR, "executor value is null"});
  ExpectRefused({kDestroy, [] { return aclDestroyAclOpExecutor(nullptr); }, ACLNN_ERR_INNER_NULLPTR,
                 "executor value is null"});
  ExpectRefused({"aclnnEmbeddingDenseBackward",
                 [] { return aclnnEmbeddingDenseBackward(nullptr, 0, nullptr, nullptr); },
                 ACLNN_ERR_PARAM_NULLPTR, "executor value is null"});
}

TEST_F(ExecutorTest, OfAnotherOperator) {
  ExpectRefused({"aclnnEmbedding",
                 [this] { return aclnnEmbedding(workspace->data(), bytes, executor, nullptr); },
                 ACLNN_ERR_INNER, "executor operator is aclnnEmbeddingDenseBackward"});
  ASSERT_EQ(Run(), 0) << "a refusal leaves the executor as it was";
  EXPECT_EQ(Result(), kExpected);
}

TEST_F(ExecutorTest, StreamsThatAreNone) {
  aclrtStream stream = NewStream();
  ASSERT_EQ(aclrtDestroyStream(stream), 0);
  ExpectRefused(
      {"aclnnEmbeddingDenseBackward",
       [&] { return aclnnEmbeddingDenseBackward(workspace->data(), bytes, executor, stream); },
       ACL_ERROR_RT_INVALID_HANDLE, "stream value is a handle that was destroyed"});
  aclrtContext context = nullptr, other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  stream = NewStream();
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  ExpectRefused(
      {"aclnnEmbeddingDenseBackward",
       [&] { return aclnnEmbeddingDenseBackward(workspace->data(), bytes, executor, stream); },
       ACL_ERROR_RT_STREAM_CONTEXT, "stream context is not the thread's"});
  ASSERT_EQ(aclrtDestroyContext(other), 0);
  ASSERT_EQ(aclrtSetCurrentContext(context), 0);
  ASSERT_EQ(Run(), 0) << "a refusal leaves the executor as it was";
  EXPECT_EQ(Result(), kExpected);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(ExecutorTest, Addresses) {
  DeviceArray<float> grad({5, 6, 7, 8}), out(8);
  aclTensor* tensor = Gradient::Tensor({1, 4}, ACL_FLOAT, nullptr);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  ASSERT_EQ(Run(), 0);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, tensor, grad.data()), 0) << TakeMessage();
  ASSERT_EQ(Run(), 0);
  EXPECT_EQ(Result(), (std::vector<float>{0, 0, 0, 0, 5, 6, 7, 8}));
  ASSERT_EQ(AclSetOutputTensorAddr(executor, 0, tensor, out.data()), 0);
  ASSERT_EQ(aclSetTensorAddr(executor, 0, tensor, gradient->grad().data()), 0);
  ASSERT_EQ(Run(), 0);
  EXPECT_EQ(Result(), (std::vector<float>{0, 0, 0, 0, 5, 6, 7, 8})) << "the old output rests";
  EXPECT_EQ(out.Read(), kExpected);
  ASSERT_EQ(AclSetTensorAddr(executor, 2, tensor, nullptr), 0) << "outputs follow the inputs";
  ExpectRunRefused(ACLNN_ERR_PARAM_NULLPTR, "out data is null");
  // Like the first input, not the second: the page has no error for that, and index decides.
  ASSERT_EQ(AclSetInputTensorAddr(executor, 1, tensor, nullptr), 0);
  ExpectRunRefused(ACLNN_ERR_PARAM_NULLPTR, "indices data is null");
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(ExecutorTest, AddressRefusals) {
  aclTensor* tensor = Gradient::Tensor({1, 4}, ACL_FLOAT, nullptr);
  using Setter = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
  struct Row {
    const char* api;
    Setter set;
    size_t count;
  };
  for (const Row& row : {Row{"aclSetInputTensorAddr", aclSetInputTensorAddr, 2},
                         Row{"aclSetOutputTensorAddr", aclSetOutputTensorAddr, 1},
                         Row{"aclSetTensorAddr", aclSetTensorAddr, 3},
                         Row{"aclSetInputTensorAddr", AclSetInputTensorAddr, 2},
                         Row{"aclSetOutputTensorAddr", AclSetOutputTensorAddr, 1},
                         Row{"aclSetTensorAddr", AclSetTensorAddr, 3}}) {
    ExpectRefused({row.api, [&] { return row.set(nullptr, 0, tensor, nullptr); },
                   ACLNN_ERR_INNER_NULLPTR, "executor value is null"});
    ExpectRefused({row.api, [&] { return row.set(executor, 0, nullptr, nullptr); },
                   ACLNN_ERR_INNER_NULLPTR, "tensor value is null"});
    ExpectRefused({row.api, [&] { return row.set(executor, row.count, tensor, nullptr); },
                   ACLNN_ERR_PARAM_INVALID, "index value is"});
    ExpectRefused({row.api, [&] { return row.set(executor, SIZE_MAX, tensor, nullptr); },
                   ACLNN_ERR_PARAM_INVALID, "index value is"});
  }
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  EXPECT_EQ(Run(), 0) << TakeMessage();
}

TEST_F(ExecutorTest, ListAddressRefusals) {
  aclTensorList* list = aclCreateTensorList(nullptr, 0);
  using Setter = aclnnStatus (*)(aclOpExecutor*, size_t, size_t, aclTensorList*, void*);
  const std::pair<const char*, Setter> setters[] = {
      {"aclSetDynamicInputTensorAddr", aclSetDynamicInputTensorAddr},
      {"aclSetDynamicOutputTensorAddr", aclSetDynamicOutputTensorAddr},
      {"aclSetDynamicTensorAddr", aclSetDynamicTensorAddr},
      {"aclSetDynamicInputTensorAddr", AclSetDynamicInputTensorAddr},
      {"aclSetDynamicOutputTensorAddr", AclSetDynamicOutputTensorAddr},
      {"aclSetDynamicTensorAddr", AclSetDynamicTensorAddr}};
  for (const auto& [api, set] : setters) {
    const auto call = [set = set](aclOpExecutor* executor, aclTensorList* tensors) {
      return [=] { return set(executor, 0, 0, tensors, nullptr); };
    };
    ExpectRefused({api, call(nullptr, list), ACLNN_ERR_INNER_NULLPTR, "executor value is null"});
    ExpectRefused({api, call(executor, nullptr), ACLNN_ERR_INNER_NULLPTR, "tensors value is null"});
    ExpectRefused({api, call(executor, list), ACLNN_ERR_PARAM_INVALID, "irIndex value is 0"});
  }
  EXPECT_EQ(aclDestroyTensorList(list), 0);
}

/// A repeatable executor that multiplies two lists of two: out[i] = x1[i] * x2[i].
class ListExecutorTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    for (const float value : {2.F, 3.F, 5.F, 7.F, 0.F, 0.F}) arrays.emplace_back(1, value);
    x1 = List(0), x2 = List(2), out = List(4);
    ASSERT_EQ(aclnnForeachMulListGetWorkspaceSize(x1, x2, out, &bytes, &executor), 0)
        << TakeMessage();
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    for (aclTensorList* list : {x1, x2, out}) EXPECT_EQ(aclDestroyTensorList(list), 0);
    arrays.clear();
    RuntimeTest::TearDown();
  }

  /// The results of a run.
  std::vector<float> Run() {
    EXPECT_EQ(aclnnForeachMulList(nullptr, 0, executor, nullptr), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
    return {arrays[4].Read()[0], arrays[5].Read()[0]};
  }

  aclTensorList* List(size_t first) const {
    const aclTensor* members[] = {Gradient::Tensor({1}, ACL_FLOAT, arrays[first].data()),
                                  Gradient::Tensor({1}, ACL_FLOAT, arrays[first + 1].data())};
    return aclCreateTensorList(members, 2);
  }

  std::deque<DeviceArray<float>> arrays;  // two a list
  aclTensorList *x1 = nullptr, *x2 = nullptr, *out = nullptr;
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
};

TEST_F(ListExecutorTest, Addresses) {
  EXPECT_THAT(Run(), testing::ElementsAre(10, 21));
  const DeviceArray<float> other(1, 100), elsewhere(1);
  ASSERT_EQ(aclSetDynamicInputTensorAddr(executor, 1, 0, x2, other.data()), 0) << TakeMessage();
  EXPECT_THAT(Run(), testing::ElementsAre(200, 21));
  ASSERT_EQ(AclSetDynamicTensorAddr(executor, 0, 1, x1, other.data()), 0) << TakeMessage();
  EXPECT_THAT(Run(), testing::ElementsAre(200, 700));
  ASSERT_EQ(aclSetDynamicOutputTensorAddr(executor, 0, 1, out, elsewhere.data()), 0);
  ASSERT_EQ(aclSetDynamicTensorAddr(executor, 2, 0, out, arrays[5].data()), 0);
  EXPECT_THAT(Run(), testing::ElementsAre(200, 200));
  EXPECT_EQ(elsewhere.Read()[0], 700);
}

// A list is as many places as it has members, or one: the tensor that goes along tells which.
TEST_F(ListExecutorTest, PlacesBehindAList) {
  const DeviceArray<float> both(2), other(2), third(1, 5);
  aclTensorList* const list = List(0);
  aclTensor *const joined = Gradient::Tensor({2}, ACL_FLOAT, both.data()),
                   *const member = Gradient::Tensor({1}, ACL_FLOAT, arrays[1].data());
  aclOpExecutor* cat = nullptr;
  ASSERT_EQ(aclnnCatGetWorkspaceSize(list, 0, joined, &bytes, &cat), 0) << TakeMessage();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(cat), 0);
  const auto run = [&](const DeviceArray<float>& out) {
    EXPECT_EQ(aclnnCat(nullptr, 0, cat, nullptr), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
    return out.Read();
  };
  const std::vector<float> wanted = {arrays[0].Read()[0], arrays[1].Read()[0]};
  EXPECT_EQ(run(both), wanted);
  ASSERT_EQ(aclSetTensorAddr(cat, 1, joined, other.data()), 0) << TakeMessage();
  EXPECT_EQ(run(other), wanted) << "the list is one argument";
  ASSERT_EQ(aclSetTensorAddr(cat, 2, joined, both.data()), 0) << TakeMessage();
  ASSERT_EQ(aclSetTensorAddr(cat, 1, member, third.data()), 0) << TakeMessage();
  EXPECT_EQ(run(both), (std::vector<float>{wanted[0], 5})) << "its members are counted";
  ASSERT_EQ(aclSetOutputTensorAddr(cat, 0, joined, other.data()), 0) << TakeMessage();
  EXPECT_EQ(run(other), (std::vector<float>{wanted[0], 5}));
  EXPECT_EQ(aclDestroyAclOpExecutor(cat), 0);
  EXPECT_EQ(aclDestroyTensorList(list), 0);
  for (aclTensor* each : {joined, member}) EXPECT_EQ(aclDestroyTensor(each), 0);
}

TEST_F(ListExecutorTest, AddressRefusals) {
  const auto set = [&](size_t list, size_t member) {
    return [=, this] { return aclSetDynamicTensorAddr(executor, list, member, x1, nullptr); };
  };
  const char* const api = "aclSetDynamicTensorAddr";
  ExpectRefused({api, set(3, 0), ACLNN_ERR_PARAM_INVALID, "irIndex value is 3"});
  ExpectRefused({api, set(SIZE_MAX, 0), ACLNN_ERR_PARAM_INVALID, "irIndex value is"});
  ExpectRefused({api, set(0, 2), ACLNN_ERR_PARAM_INVALID, "relativeIndex value is 2"});
  ExpectRefused({api, set(0, SIZE_MAX), ACLNN_ERR_PARAM_INVALID, "relativeIndex value is"});
  EXPECT_THAT(Run(), testing::ElementsAre(10, 21));
}

TEST_F(ExecutorTest, DataThatIsNotDeviceMemory) {
  aclTensor* tensor = Gradient::Tensor({1}, ACL_FLOAT, nullptr);
  float host[8] = {};
  PinnedBytes pinned(64);
  auto freed = std::make_unique<DeviceArray<float>>(8);
  DeviceArray<float> large(8);
  const auto at = [&](void* address, const char* says) {
    ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, tensor, address), 0);
    ExpectRunRefused(ACLNN_ERR_PARAM_INVALID, says);
  };
  at(host, "which is not device memory");
  at(pinned.data(), "which is not device memory");
  float* address = freed->data();
  freed.reset();
  at(address, "which is device memory that was freed");
  at(large.data() + 1, "which leave their allocation");
  at(gradient->grad().data(), "which leave their allocation");
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(ExecutorTest, OutputThatSharesMemory) {
  DeviceArray<float> both(16);
  aclTensor* tensor = Gradient::Tensor({1}, ACL_FLOAT, nullptr);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  ASSERT_EQ(aclSetOutputTensorAddr(executor, 0, tensor, both.data() + 3), 0);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, tensor, both.data()), 0);
  ExpectRunRefused(ACLNN_ERR_PARAM_INVALID, "out memory is shared with grad");
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, tensor, both.data() + 11), 0);
  EXPECT_EQ(Run(), 0) << "neighbours: " << TakeMessage();
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(ExecutorTest, WorkspaceThatSharesMemoryWithAnInput) {
  if (bytes == 0) GTEST_SKIP() << "this operator asks for none";
  aclTensor* tensor = Gradient::Tensor({1, 4}, ACL_FLOAT, nullptr);
  const int invalid = ACLNN_ERR_PARAM_INVALID;
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, tensor, workspace->data()), 0) << TakeMessage();
  ExpectRunRefused(invalid, "workspace memory is shared with grad, expected");
  ASSERT_EQ(aclSetInputTensorAddr(executor, 0, tensor, gradient->grad().data()), 0);
  ASSERT_EQ(aclSetInputTensorAddr(executor, 1, tensor, workspace->data() + (bytes - 1) / 8 * 8), 0);
  ExpectRunRefused(invalid, "workspace memory is shared with indices, expected");
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(ExecutorTest, SizeWithoutAWorkspace) {
  DeviceArray<float> grad(4), out(4);
  DeviceArray<uint8_t> mask(4);
  aclTensor* tensors[] = {Gradient::Tensor({1, 1, 2, 2}, ACL_FLOAT, grad.data()),
                          Gradient::Tensor({1, 1, 2, 2}, ACL_BOOL, mask.data()),
                          Gradient::Tensor({1, 1, 2, 2}, ACL_FLOAT, out.data())};
  uint64_t size = 1;
  aclOpExecutor* other = nullptr;
  ASSERT_EQ(aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(tensors[0], tensors[0], tensors[1],
                                                             1.0, false, tensors[2], &size, &other),
            0)
      << TakeMessage();
  ASSERT_EQ(size, 0u) << "the refusal is that of a size which phase 1 did not ask for";
  ExpectRefused({"aclnnScaledMaskedSoftmaxBackward",
                 [&] { return aclnnScaledMaskedSoftmaxBackward(nullptr, 64, other, nullptr); },
                 ACLNN_ERR_PARAM_NULLPTR, "workspace value is null, expected the address of 64"});
  EXPECT_EQ(aclnnScaledMaskedSoftmaxBackward(nullptr, 0, other, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(ExecutorTest, Workspaces) {
  if (bytes == 0) GTEST_SKIP() << "this operator asks for none";
  const char* api = "aclnnEmbeddingDenseBackward";
  const auto run = [this](void* address, uint64_t size) {
    return [=, this] { return aclnnEmbeddingDenseBackward(address, size, executor, nullptr); };
  };
  char host[1] = {};
  const int invalid = ACLNN_ERR_PARAM_INVALID;
  ExpectRefused({api, run(nullptr, bytes), ACLNN_ERR_PARAM_NULLPTR, "workspace value is null"});
  ExpectRefused({api, run(workspace->data(), bytes - 1), invalid, "workspaceSize value is"});
  ExpectRefused({api, run(host, bytes), invalid, "workspace data is"});
  ExpectRefused({api, run(workspace->data() + 65, bytes), invalid, "leave their allocation"});
  ExpectRefused({api, run(gradient->out().data(), bytes), invalid, "workspace"});
  EXPECT_EQ(Run(), 0);
}

}  // namespace
}  // namespace openaclnn
