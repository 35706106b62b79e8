// SPDX-License-Identifier: Apache-2.0
// Graphs that run out of memory half-way, as they are captured and as they run.
#include <cstring>
#include <optional>
#include <string>

#include "aclnnop/aclnn_abs.h"
#include "ascendcl/interface.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/short_calls.h"

namespace openaclnn {
namespace {

using test::Shortage;
using test::ShortMemory;

// An execution is all of its tasks or none.
TEST_F(ShortMemoryTest, Graphs) {
  constexpr int kTasks = 40, kExecutions = 20;
  const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  aclrtStream stream = NewStream();
  int runs = 0, released = 0;
  int* counts[] = {&runs, &released};
  const OpenaclnnTask task = {
      .name = "task",
      .run = [](void* state, OpenaclnnMessage*) { return ++**static_cast<int**>(state), 0; },
      .release = [](void* state) { ++*static_cast<int**>(state)[1]; },
      .state = counts,
      .arguments = nullptr,
      .each_pin = [](const void*, void (*)(const OpenaclnnPin*)) {}};
  OpenaclnnMessage message = {};
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  for (int i = 0; i < kTasks; ++i) {
    EachFailure([&] { return runtime->submit(stream, &task, &message); },
                [&] { ASSERT_EQ(released, 0) << "still the caller's"; });
  }
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
  for (int i = 1; i <= kExecutions; ++i) {
    EachFailure([&] { return aclmdlRIExecuteAsync(model, stream); }, [] {});
    ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(runs, i * kTasks);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(released, kTasks);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

/// What outputs held is kept while their task runs.
class WatchedGraphTest : public ShortMemoryTest {
 protected:
  /// Runs the model once, with memory for a copy of kBytes or without; what was reported.
  static std::string Run(aclmdlRI model, bool has_memory) {
    constexpr Shortage kNoCopies = {.fails = Shortage::Fails::kFromThenOn,
                                    .threads = Shortage::Threads::kAll,
                                    .least_bytes = kBytes};
    testing::internal::CaptureStderr();
    {
      std::optional<ShortMemory> shortage;
      if (!has_memory) shortage.emplace(kNoCopies);
      EXPECT_EQ(aclmdlRIExecute(model, -1), 0) << TakeMessage();
    }
    return testing::internal::GetCapturedStderr();
  }

  static constexpr size_t kBytes = size_t{1} << 20;

 private:
  const Variable check_{"OPENACLNN_CHECK", "full"};
};

TEST_F(WatchedGraphTest, KeepsNothingOfOutputsFromRunToRun) {
  const DeviceArray<float> out(kBytes / sizeof(float));
  aclrtStream stream = NewStream();
  int runs = 0;
  OwnOperator own([&runs](void* const* data, void*) {
    std::memset(data[0], 1, ++runs == 3 ? kBytes / 2 : kBytes);
    return 0;
  });
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {kBytes / sizeof(float)}, {1}}, out.data());
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
  ASSERT_EQ(own.Launch(stream), 0);
  ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), 0) << TakeMessage();
  EXPECT_EQ(Run(model, true), "");
  EXPECT_EQ(Run(model, false), "");
  EXPECT_GT(ShortMemory::failures(), 0) << "what the first run had for it was given back";
  EXPECT_NE(Run(model, true).find("aclnnOwn has not written all of out\n"), std::string::npos)
      << "a run without memory is not watched, the one after it is";
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(aclmdlRIDestroy(model), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
