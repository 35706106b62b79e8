// SPDX-License-Identifier: Apache-2.0
// A framework's way: executors made once, run with new addresses on many streams, events between.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_grouped_bias_add_grad.h"

namespace {

constexpr int kStreams = 8, kRounds = 200;
constexpr int64_t kRows = 60, kWidth = 33, kGroups = 3;
constexpr int32_t kEnds[kGroups] = {10, 10, 60};  // the second group is empty
constexpr float kAlpha = 2;

void Check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: %d %s\n", what, code, aclGetRecentErrMsg());
  std::exit(1);
}
#define CHECK(call) Check(call, #call)

void* Allocate(size_t bytes) {
  void* memory = nullptr;
  if (bytes > 0) CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return memory;
}

// A shape without memory: each call brings its own.
aclTensor* Describe(const std::vector<int64_t>& dims, aclDataType type) {
  aclTensor* tensor = aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND,
                                      dims.data(), dims.size(), nullptr);
  Check(tensor == nullptr, "aclCreateTensor");
  return tensor;
}

using Phase2 = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// One operator for one set of shapes.
class Operator {
 public:
  Operator(Phase2 phase2, std::vector<aclTensor*> tensors)
      : phase2_(phase2), tensors_(std::move(tensors)) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() {
    CHECK(aclDestroyAclOpExecutor(executor_));
    for (const aclTensor* tensor : tensors_) CHECK(aclDestroyTensor(tensor));
  }

  uint64_t* size() { return &size_; }
  aclOpExecutor** executor() { return &executor_; }

  // After phase 1.
  void Keep() { CHECK(aclSetAclOpExecutorRepeatable(executor_)); }

  void Run(void* workspace, const std::vector<void*>& addresses, aclrtStream stream) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      CHECK(AclSetTensorAddr(executor_, i, tensors_[i], addresses[i]));
    }
    CHECK(phase2_(workspace, size_, executor_, stream));
  }

 private:
  Phase2 phase2_;
  std::vector<aclTensor*> tensors_;
  uint64_t size_ = 0;
  aclOpExecutor* executor_ = nullptr;
};

// What one round computes: db = sums of the groups' rows of a + alpha * b.
struct Round {
  void *a, *b, *sum, *db;
  std::vector<float> host_a, host_b;
  aclrtEvent summed;
};

void Upload(void* memory, const void* host, size_t bytes) {
  CHECK(aclrtMemcpy(memory, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

Round MakeRound(int number) {
  constexpr size_t kBytes = kRows * kWidth * sizeof(float);
  Round round = {Allocate(kBytes),
                 Allocate(kBytes),
                 Allocate(kBytes),
                 Allocate(kGroups * kWidth * sizeof(float)),
                 {},
                 {},
                 nullptr};
  // Small whole numbers: every sum is exact.
  for (int i = 0; i < kRows * kWidth; ++i) {
    round.host_a.push_back(static_cast<float>((i * 7 + number) % 13));
    round.host_b.push_back(static_cast<float>((i + number * 5) % 11));
  }
  Upload(round.a, round.host_a.data(), kBytes);
  Upload(round.b, round.host_b.data(), kBytes);
  CHECK(aclrtCreateEvent(&round.summed));
  return round;
}

bool IsRight(const Round& round) {
  std::vector<float> db(kGroups * kWidth);
  const size_t bytes = db.size() * sizeof(float);
  CHECK(aclrtMemcpy(db.data(), bytes, round.db, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int64_t group = 0; group < kGroups; ++group) {
    for (int64_t column = 0; column < kWidth; ++column) {
      float wanted = 0;
      for (int64_t row = group == 0 ? 0 : kEnds[group - 1]; row < kEnds[group]; ++row) {
        const int64_t at = row * kWidth + column;
        wanted += round.host_a[at] + kAlpha * round.host_b[at];
      }
      if (db[group * kWidth + column] != wanted) return false;
    }
  }
  return true;
}

void Free(const Round& round) {
  CHECK(aclrtDestroyEvent(round.summed));
  for (void* memory : {round.a, round.b, round.sum, round.db}) CHECK(aclrtFree(memory));
}

// Each round's sum runs on one stream and its gradient on the next, all queued before any wait.
int RunRounds(Operator* add, Operator* grad, void* ends) {
  aclrtStream streams[kStreams];
  void *add_workspaces[kStreams], *grad_workspaces[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    CHECK(aclrtCreateStream(&streams[i]));
    add_workspaces[i] = Allocate(*add->size());
    grad_workspaces[i] = Allocate(*grad->size());
  }
  std::vector<Round> rounds;
  for (int number = 0; number < kRounds; ++number) rounds.push_back(MakeRound(number));

  for (int number = 0; number < kRounds; ++number) {
    const Round& round = rounds[number];
    const int here = number % kStreams, next = (number + 1) % kStreams;
    add->Run(add_workspaces[here], {round.a, round.b, round.sum}, streams[here]);
    CHECK(aclrtRecordEvent(round.summed, streams[here]));
    CHECK(aclrtStreamWaitEvent(streams[next], round.summed));
    grad->Run(grad_workspaces[next], {round.sum, ends, round.db}, streams[next]);
  }
  for (aclrtStream stream : streams) CHECK(aclrtSynchronizeStream(stream));

  int wrong = 0;
  for (const Round& round : rounds) {
    wrong += IsRight(round) ? 0 : 1;
    Free(round);
  }
  for (int i = 0; i < kStreams; ++i) {
    if (add_workspaces[i] != nullptr) CHECK(aclrtFree(add_workspaces[i]));
    if (grad_workspaces[i] != nullptr) CHECK(aclrtFree(grad_workspaces[i]));
    CHECK(aclrtDestroyStream(streams[i]));
  }
  return wrong;
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  void* ends = Allocate(sizeof kEnds);
  Upload(ends, kEnds, sizeof kEnds);
  int wrong = 0;
  {
    float factor = kAlpha;
    aclScalar* alpha = aclCreateScalar(&factor, ACL_FLOAT);
    aclTensor* a = Describe({kRows, kWidth}, ACL_FLOAT);
    aclTensor* b = Describe({kRows, kWidth}, ACL_FLOAT);
    aclTensor* sum = Describe({kRows, kWidth}, ACL_FLOAT);
    Operator add(aclnnAdd, {a, b, sum});
    CHECK(aclnnAddGetWorkspaceSize(a, b, alpha, sum, add.size(), add.executor()));
    add.Keep();
    CHECK(aclDestroyScalar(alpha));

    aclTensor* dy = Describe({kRows, kWidth}, ACL_FLOAT);
    aclTensor* list = Describe({kGroups}, ACL_INT32);
    aclTensor* db = Describe({kGroups, kWidth}, ACL_FLOAT);
    Operator grad(aclnnGroupedBiasAddGradV2, {dy, list, db});
    CHECK(aclnnGroupedBiasAddGradV2GetWorkspaceSize(dy, list, 0, db, grad.size(), grad.executor()));
    grad.Keep();
    wrong = RunRounds(&add, &grad, ends);
  }
  CHECK(aclrtFree(ends));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("%d of %d results right, %d streams\n", kRounds - wrong, kRounds, kStreams);
  return wrong == 0 ? 0 : 1;
}
