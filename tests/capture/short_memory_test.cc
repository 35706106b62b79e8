// SPDX-License-Identifier: Apache-2.0
// Capturing while memory is short: calls that cannot be saved are not, and the program's go on.
#include "tests/support/short_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cat.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/gradient.h"
#include "tests/capture/folder.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;
using test::Shortage;
using test::ShortMemory;

const fs::path kFolder = CaptureTo("openaclnn_capture_short");

/// How many calls were saved since the last time; what is there is whole.
int TakeSaved() {
  int saved = 0;
  if (fs::exists(kFolder)) {
    for (const auto& folder : fs::directory_iterator(kFolder)) {
      std::ifstream file(folder.path() / "call.json");
      const auto call = nlohmann::json::parse(file, nullptr, false);
      EXPECT_TRUE(call.is_object()) << folder.path();
      ++saved;
    }
  }
  fs::remove_all(kFolder);
  return saved;
}

enum class Kind { kAdd, kCat, kRefused };

/// A call from its objects to their end, which needs no memory of its own.
class Operator {
 public:
  /// The first code that is not 0; -1 if an object was not made.
  int Run(Kind kind) {
    aclTensor* const tensors[] = {Tensor(3, first_), Tensor(3, second_),
                                  Tensor(kind == Kind::kCat ? 6 : 3, out_)};
    const aclTensor* const members[] = {tensors[0], tensors[1]};
    const bool made = tensors[0] != nullptr && tensors[1] != nullptr && tensors[2] != nullptr;
    const aclTensorList* list = nullptr;
    if (made && kind == Kind::kCat) list = aclCreateTensorList(members, 2);
    const int code = !made                ? -1
                     : kind == Kind::kCat ? Cat(list, tensors[2])
                     : kind == Kind::kAdd ? Add(tensors[0], tensors[1], tensors[2])
                                          : Add(tensors[0], tensors[1], nullptr);
    if (list != nullptr) aclDestroyTensorList(list);  // with its members
    for (const aclTensor* tensor : tensors) {
      if (tensor != nullptr && (list == nullptr || tensor == tensors[2])) aclDestroyTensor(tensor);
    }
    aclrtSynchronizeStream(nullptr);
    return code;
  }

 private:
  static aclTensor* Tensor(int64_t size, const DeviceArray<float>& array) {
    return aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, array.data());
  }
  int Add(const aclTensor* self, const aclTensor* other, aclTensor* out) {
    float one = 1;
    aclScalar* const alpha = aclCreateScalar(&one, ACL_FLOAT);
    if (alpha == nullptr) return -1;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int code = aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor);
    if (code == 0) code = Launch(aclnnAdd, size, executor);
    aclDestroyScalar(alpha);
    return code;
  }
  int Cat(const aclTensorList* list, aclTensor* out) {
    if (list == nullptr) return -1;
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const int code = aclnnCatGetWorkspaceSize(list, 0, out, &size, &executor);
    return code == 0 ? Launch(aclnnCat, size, executor) : code;
  }
  template <class Phase2>
  int Launch(Phase2* phase_2, uint64_t size, aclOpExecutor* executor) {
    const int code = size > kBytes ? -2 : phase_2(workspace_.data(), size, executor, nullptr);
    if (code != 0) aclDestroyAclOpExecutor(executor);
    return code;
  }

  static constexpr uint64_t kBytes = 1 << 16;
  const DeviceArray<float> first_{{1, 2, 3}}, second_{{4, 5, 6}}, out_{std::vector<float>(6)};
  const DeviceArray<uint8_t> workspace_{kBytes};
};

constexpr Kind kKinds[] = {Kind::kAdd, Kind::kCat, Kind::kRefused};

/// What the program is told where there is memory.
int CodeOf(Kind kind) { return kind == Kind::kRefused ? ACLNN_ERR_PARAM_NULLPTR : 0; }

class CaptureShortMemoryTest : public RuntimeTest {};

TEST_F(CaptureShortMemoryTest, EachAllocationOfACall) {
  Operator calls;
  testing::internal::CaptureStderr();  // a line for each call that is not saved
  for (const Kind kind : kKinds) {
    for (const auto fails : {Shortage::Fails::kOnce, Shortage::Fails::kFromThenOn}) {
      int64_t failed = 1;
      for (int64_t first = 0; failed > 0; ++first) {
        SCOPED_TRACE(first);
        int code = 0;
        {
          const ShortMemory memory({.first = first, .fails = fails});
          code = calls.Run(kind);
          failed = ShortMemory::failures();
        }
        const int saved = TakeSaved();
        EXPECT_LE(saved, 1);
        if (failed == 0) {
          EXPECT_EQ(code, CodeOf(kind)) << TakeMessage();
          EXPECT_EQ(saved, 1);
        }
        TakeMessage();
      }
      EXPECT_EQ(calls.Run(kind), CodeOf(kind)) << TakeMessage();
      EXPECT_EQ(TakeSaved(), 1) << "it goes on";
      TakeMessage();
    }
  }
  testing::internal::GetCapturedStderr();
}

/// The first captured call of a process, whose allocation `first` fails: 0 if none does any more, 1
/// if it went well or is repeated well.
int FirstCall(int64_t first) {
  alarm(20);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 2;
  Operator calls;
  int64_t failed = 0;
  {
    const ShortMemory memory({.first = first});
    calls.Run(Kind::kCat);
    failed = ShortMemory::failures();
  }
  TakeSaved();
  if (calls.Run(Kind::kCat) != 0 || TakeSaved() != 1) return 3;
  return failed > 0 ? 1 : 0;
}

// What is looked up once is looked up again if there was no memory for it. The first suite to run:
// it forks children that use the runtime.
TEST(CaptureShortMemoryDeathTest, EachAllocationOfTheFirstCall) {
  int status = 0x100;
  for (int64_t first = 0; WIFEXITED(status) && WEXITSTATUS(status) == 1; ++first) {
    const pid_t child = fork();
    if (child == 0) {
      close(STDERR_FILENO);
      _exit(FirstCall(first));
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        << "status " << status << ", allocation " << first;
  }
}

// A tensor's earlier address is not read in place of one that there was no memory to note.
TEST_F(CaptureShortMemoryTest, ChangesThatAreNotNoted) {
  const DeviceArray<float> before({-1, 2, 0}), now({-3, 4, 0}), out(3);
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out.data());
  testing::internal::CaptureStderr();
  int64_t failed = 1;
  for (int64_t first = 0; failed > 0; ++first) {
    aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, before.data());
    int code = 0;
    {
      const ShortMemory memory({.first = first});
      code = aclSetRawTensorAddr(self, now.data());
      failed = ShortMemory::failures();
    }
    ASSERT_EQ(code, 0);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnAbsGetWorkspaceSize(self, result, &size, &executor), 0) << TakeMessage();
    ASSERT_EQ(aclnnAbs(nullptr, size, executor, nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(out.Read(), (std::vector<float>{3, 4, 0}));
    EXPECT_EQ(TakeSaved(), failed > 0 ? 0 : 1);
    EXPECT_EQ(aclDestroyTensor(self), 0);
  }
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(aclDestroyTensor(result), 0);
}

}  // namespace
}  // namespace openaclnn
