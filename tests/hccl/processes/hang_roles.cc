// SPDX-License-Identifier: Apache-2.0
// What the processes of hang_test.cc do: they are stopped, or late, and look at every result.
#include <signal.h>

#include <cstdlib>
#include <random>
#include <string>

#include "hccl/processes/hangs.h"
#include "hccl/processes/role.h"

namespace openaclnn::ranks {
namespace {

constexpr size_t kMost = 240'000;
constexpr int32_t kLater = -7;  // what a program writes to its memory once it was told of a failure

std::vector<int32_t> Numbers(uint64_t round, uint32_t rank, size_t count) {
  std::vector<int32_t> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<int32_t>(round * 1009 + rank * 17 + i);
  }
  return numbers;
}

/// Prints what the stream has said; what it was, as the process's exit code.
int Told(int code) {
  const char* words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d %s\n", code, words != nullptr ? words : "");
  Require(code == ACL_ERROR_RT_TASK_TIMEOUT || code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code",
          code);
  return code == ACL_ERROR_RT_TASK_TIMEOUT ? kTimedOut : kLost;
}

/// Rounds of collectives, of which every result is looked at.
class Rounds {
 public:
  explicit Rounds(const Here& here) : here_(here) {}

  /// The stream's code; where it is 0 the numbers are right.
  int Run(uint64_t round) {
    constexpr size_t kCounts[] = {kMost, 24, 4800};
    const size_t count = kCounts[round / 4 % 3], share = count / here_.ranks;
    const uint32_t before = (here_.rank + here_.ranks - 1) % here_.ranks,
                   root = static_cast<uint32_t>(round % here_.ranks);
    send_.Write(Numbers(round, here_.rank, count));
    switch (round % 4) {
      case 0:
        REQUIRE(HcclAllReduce(send_.data(), recv_.data(), count, kType, HCCL_REDUCE_SUM, here_.comm,
                              here_.stream));
        return Await(recv_, Summed(round, count));
      case 1:
        REQUIRE(HcclBroadcast(send_.data(), count, kType, root, here_.comm, here_.stream));
        return Await(send_, Numbers(round, root, count));
      case 2:
        REQUIRE(HcclAlltoAll(send_.data(), share, kType, recv_.data(), share, kType, here_.comm,
                             here_.stream));
        return Await(recv_, Turned(round, share));
      default:
        return Pass(Numbers(round, before, count), before);
    }
  }

  /// Whether the first rank has been told to end: all hear it in one round.
  int Enough(bool* enough) {
    const bool ends = here_.rank == 0 && std::filesystem::exists(Job::Folder() + "/" + kEnoughFile);
    send_.Write({ends ? 1 : 0});
    REQUIRE(HcclAllReduce(send_.data(), recv_.data(), 1, kType, HCCL_REDUCE_MAX, here_.comm,
                          here_.stream));
    const int code = aclrtSynchronizeStream(here_.stream);
    *enough = code == 0 && recv_.Read()[0] != 0;
    return code;
  }

  /// As a program does that goes on after a failure: its memory is its own again.
  void WriteLater() { send_.Write(std::vector<int32_t>(kMost, kLater)); }

 private:
  static constexpr HcclDataType kType = HCCL_DATA_TYPE_INT32;

  int Await(const Device<int32_t>& data, const std::vector<int32_t>& expected) {
    const int code = aclrtSynchronizeStream(here_.stream);
    if (code != 0) return code;
    const std::vector<int32_t> got = data.Read();
    Require(std::equal(expected.begin(), expected.end(), got.begin()), "numbers");
    return 0;
  }

  std::vector<int32_t> Summed(uint64_t round, size_t count) const {
    std::vector<int32_t> sums(count, 0);
    for (uint32_t rank = 0; rank < here_.ranks; ++rank) {
      const std::vector<int32_t> terms = Numbers(round, rank, count);
      for (size_t i = 0; i < count; ++i) sums[i] += terms[i];
    }
    return sums;
  }

  std::vector<int32_t> Turned(uint64_t round, size_t share) const {
    std::vector<int32_t> turned;
    for (uint32_t rank = 0; rank < here_.ranks; ++rank) {
      const std::vector<int32_t> all = Numbers(round, rank, (here_.rank + 1) * share);
      turned.insert(turned.end(), all.end() - static_cast<ptrdiff_t>(share), all.end());
    }
    return turned;
  }

  int Pass(const std::vector<int32_t>& expected, uint32_t before) {
    HcclSendRecvItem items[] = {
        {HCCL_SEND, send_.data(), expected.size(), kType, (here_.rank + 1) % here_.ranks},
        {HCCL_RECV, recv_.data(), expected.size(), kType, before},
    };
    REQUIRE(HcclBatchSendRecv(items, 2, here_.comm, here_.stream));
    return Await(recv_, expected);
  }

  const Here here_;
  Device<int32_t> send_{std::vector<int32_t>(kMost)}, recv_{std::vector<int32_t>(kMost)};
};

/// Rounds until there are enough, or one fails: then all stay until the test has looked at them.
int RunRounds(uint32_t ranks, uint32_t rank, int delay) {
  const aclrtStream stream = Start();
  const Here here = {ranks, rank, MakeComm(ranks, rank, 0), stream};
  std::mt19937 random(rank + 1);
  Rounds rounds(here);
  int code = 0;
  bool enough = false;
  for (uint64_t round = 0; code == 0 && !enough; ++round) {
    if (delay > 0 && random() % 2 == 0) {
      std::this_thread::sleep_for(
          std::chrono::microseconds(random() % static_cast<uint32_t>(delay)));
    }
    code = round % 8 == 7 ? rounds.Enough(&enough) : rounds.Run(round);
    if (round == 20) Reach("running." + std::to_string(rank));
  }
  int result = 0;
  if (code != 0) {
    result = Told(code);
    rounds.WriteLater();
    Reach("told." + std::to_string(rank));
    AwaitFile(Job::Folder() + "/" + kEnoughFile);
  }
  REQUIRE(HcclCommDestroy(here.comm));
  return result;
}

int Steady(uint32_t ranks, uint32_t rank) { return RunRounds(ranks, rank, 0); }

int Delayed(uint32_t ranks, uint32_t rank) { return RunRounds(ranks, rank, 3000); }

/// Rank 0 sends and is told that nobody takes it; rank 1 calls when that has used its memory again.
int LateCall(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<int32_t> data(Numbers(1, rank, kMost));
  if (rank == 1) AwaitFile(Job::Folder() + "/told.0");
  const auto call = rank == 0 ? HcclSend : HcclRecv;
  REQUIRE(call(data.data(), kMost, HCCL_DATA_TYPE_INT32, 1 - rank, comm, stream));
  const int code = aclrtSynchronizeStream(stream);
  Require(code != 0 || data.Read() == Numbers(1, 0, kMost), "numbers");
  const int result = code != 0 ? Told(code) : 0;
  data.Write(std::vector<int32_t>(kMost, kLater));
  Reach("told." + std::to_string(rank));
  AwaitFile(Job::Folder() + "/" + kEnoughFile);
  REQUIRE(HcclCommDestroy(comm));
  return result;
}

/// A communicator is made, or why not is said.
int Make(uint32_t ranks, uint32_t rank, bool stops) {
  const HcclRootInfo info = MeetBy(0, rank == 0);
  Reach("running." + std::to_string(rank));
  if (stops) raise(SIGSTOP);
  HcclComm comm = nullptr;
  const int result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  const char* words = aclGetRecentErrMsg();
  if (result != 0) std::fprintf(stderr, "%d %s\n", result, words != nullptr ? words : "");
  if (result == 0) REQUIRE(HcclCommDestroy(comm));
  return result;
}

/// The root stands still between its root info and the others' coming.
int StoppedRoot(uint32_t ranks, uint32_t rank) {
  Start();
  return Make(ranks, rank, rank == 0);
}

constexpr const char* kConnectTimeout = "HCCL_CONNECT_TIMEOUT";

/// It is not the first: UCX takes longer to open than the ranks to connect.
int Newborn(uint32_t ranks, uint32_t rank) {
  Start();
  const std::string timeout = std::getenv(kConnectTimeout);
  setenv(kConnectTimeout, "60", 1);  // for processes that start on a busy machine
  const HcclComm first = MakeComm(ranks, rank, 1);
  setenv(kConnectTimeout, timeout.c_str(), 1);
  const int result = Make(ranks, rank, false);
  REQUIRE(HcclCommDestroy(first));
  return result;
}

const bool kEntered = [] {
  Roles().merge(std::map<std::string, Role>{
      {"steady", Run<Steady>},
      {"delayed", Run<Delayed>},
      {"late_call", Run<LateCall>},
      {"stopped_root", Run<StoppedRoot>},
      {"newborn", Run<Newborn>},
  });
  return true;
}();

}  // namespace
}  // namespace openaclnn::ranks
