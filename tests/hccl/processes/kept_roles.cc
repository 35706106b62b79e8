// SPDX-License-Identifier: Apache-2.0
// Communicators one after the other, used, left, late or outlived: what the process keeps of them.
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "hccl/processes/role.h"

namespace openaclnn::ranks {
namespace {

/// What the process holds: to be had again after communicators that are gone.
class Holdings {
 public:
  /// Each of them may leave so much; the segments and buffers of one are 4.5 MB resident over
  /// shared memory, 1.3 MB over TCP, and what the allocator has not given back was 271 KiB once.
  static constexpr size_t kHeapEach = 4096, kResidentEach = 512 << 10;

  void RequireSame(uint32_t communicators) const {
    // The root keeps those of the last one until all others have left.
    Require(Soon([&] { return OpenDescriptors() <= descriptors_; }), "descriptors are left",
            static_cast<int>(OpenDescriptors() - descriptors_));
    Require(Soon([&] { return FreeMemory() >= memory_; }), "device memory is left");
    Require(Soon([&] { return HeapBytes() <= heap_ + communicators * kHeapEach; }),
            "bytes of heap are left of each",
            static_cast<int>((HeapBytes() - heap_) / communicators));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what is freed
    Require(ResidentBytes() <= resident_ + communicators * kResidentEach,
            "resident bytes are left of each",
            static_cast<int>((ResidentBytes() - resident_) / communicators));
#endif
  }

 private:
  static size_t HeapBytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  static size_t ResidentBytes() {
    size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

  size_t descriptors_ = OpenDescriptors(), heap_ = HeapBytes(), memory_ = FreeMemory(),
         resident_ = ResidentBytes();
};

/// `each` for OPENACLNN_TEST_COMMUNICATORS or `everyday` numbers, of which the last two thirds may
/// leave nothing.
void ForMany(int everyday, const std::function<void(uint32_t)>& each) {
  const auto all = static_cast<uint32_t>(Times("OPENACLNN_TEST_COMMUNICATORS", everyday));
  const uint32_t warm = all / 3;
  for (uint32_t number = 0; number < warm; ++number) each(number);
  const Holdings before;
  for (uint32_t number = warm; number < all; ++number) each(number);
  before.RequireSame(all - warm);
}

void ReduceTen(const Device<float>& data, HcclComm comm, aclrtStream stream) {
  REQUIRE(HcclAllReduce(data.data(), data.data(), 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, comm,
                        stream));
}

/// One after the other.
int Many(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Device<float> data(std::vector<float>(10, 1));
  ForMany(30, [&](uint32_t number) {
    const HcclComm comm = MakeComm(ranks, rank, number, number % ranks);
    ReduceTen(data, comm, stream);
    REQUIRE(HcclCommDestroy(comm));
  });
  return 0;
}

/// The stream waits for a rank that has left in good order.
void RequireLeft(aclrtStream stream) {
  const int code = aclrtSynchronizeStream(stream);
  Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
  const std::string said = aclGetRecentErrMsg();
  if (said.find("has destroyed its communicator") != std::string::npos) return;
  Require(false, ("not that a rank has left: " + said).c_str());
}

/// So many communicators, each with a collective of 20,000 numbers that is done.
std::vector<HcclComm> MakeUsed(uint32_t count, uint32_t ranks, uint32_t rank,
                               const Device<float>& data, aclrtStream stream) {
  std::vector<HcclComm> comms;
  for (uint32_t number = 0; number < count; ++number) {
    comms.push_back(MakeComm(ranks, rank, number));
    REQUIRE(HcclAllReduce(data.data(), data.data(), 20'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                          comms.back(), stream));
    REQUIRE(aclrtSynchronizeStream(stream));
  }
  return comms;
}

/// Rank 0 calls, sooner or later, the others destroy what they have just made.
int Fresh(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  ForMany(20, [&](uint32_t number) {
    const Device<float> data(std::vector<float>(10, 1));
    const HcclComm comm = MakeComm(ranks, rank, number, number % ranks);
    if (rank == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(number % 2 * number * 500));
      ReduceTen(data, comm, stream);
      RequireLeft(stream);
    }
    REQUIRE(HcclCommDestroy(comm));
  });
  return 0;
}

/// Rank 0 destroys, one after the other, what the other one has used and not yet destroyed.
int First(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Device<float> data(std::vector<float>(20'000, 1));
  const std::vector<HcclComm> comms = MakeUsed(4, ranks, rank, data, stream);
  if (rank != 0) AwaitFile(Job::Folder() + "/first");
  const auto begin = Processes::Clock::now();
  for (const HcclComm comm : comms) REQUIRE(HcclCommDestroy(comm));
  const auto took = Processes::Clock::now() - begin;
  Require(took < std::chrono::seconds(2), "destroyed after so many ms",
          static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  if (rank == 0) Reach("first");
  return 0;
}

/// Rank 0's process ends while another of its threads destroys communicators, which rank 1 uses.
int Ending(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Device<float> data(std::vector<float>(20'000, 1));
  const std::vector<HcclComm> comms = MakeUsed(6, ranks, rank, data, stream);
  if (rank == 0) {
    AwaitFile(Job::Folder() + "/ready");
    std::thread([&] {
      for (const HcclComm comm : comms) HcclCommDestroy(comm);
    }).detach();
    std::this_thread::sleep_for(std::chrono::microseconds(getpid() % 3000));
    std::quick_exit(0);
  }
  Reach("ready");
  for (const HcclComm comm : comms) {
    REQUIRE(HcclRecv(data.data(), 10, HCCL_DATA_TYPE_FP32, 0, comm, stream));
    RequireLeft(stream);
    REQUIRE(HcclCommDestroy(comm));
  }
  return 0;
}

/// A child of fork of a process that has not used the runtime, but ranks.
int Forked(uint32_t ranks, uint32_t rank) {
  HcclComm comm = MakeComm(ranks, rank, 0);
  const pid_t child = fork();
  if (child == 0) {
    HcclRootInfo info;
    HcclComm other = nullptr;
    const bool refused = HcclGetRootInfo(&info) == HCCL_E_NOT_SUPPORT &&
                         HcclCommInitRootInfo(1, &info, 0, &other) == HCCL_E_NOT_SUPPORT;
    const bool told = std::string(aclGetRecentErrMsg()).find("child of fork") != std::string::npos;
    _exit(refused && told && HcclCommDestroy(comm) == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  Require(status == 0, "child", status);
  const aclrtStream stream = Start();
  const Device<float> data(std::vector<float>(10, 1));
  ReduceTen(data, comm, stream);
  REQUIRE(aclrtSynchronizeStream(stream));
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// Rank 0 waits for the others by the time-out, more than one message long.
int TooLate(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  ForMany(6, [&](uint32_t number) {
    const std::string told = "told." + std::to_string(number);
    const Device<float> data(std::vector<float>(200'000, 1));
    const HcclComm comm = MakeComm(ranks, rank, number);
    if (rank == 0) {
      REQUIRE(HcclAllReduce(data.data(), data.data(), 200'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                            comm, stream));
      const int code = aclrtSynchronizeStream(stream);
      Require(code == ACL_ERROR_RT_TASK_TIMEOUT, "code", code);
      Reach(told);
    }
    AwaitFile(Job::Folder() + "/" + told);
    REQUIRE(HcclCommDestroy(comm));
  });
  return 0;
}

/// With one descriptor more from try to try rank 0 is refused, by words, until there are enough. It
/// may try again, since the root's is another, which waits for it.
int Scarce(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Device<float> data(std::vector<float>(200'000, 1));
  // UndefinedBehaviorSanitizer needs descriptors to look at a type, which it does once. Rank 1 is
  // root here too: what the root keeps until the others have left would be looked at later.
  REQUIRE(HcclCommDestroy(MakeComm(ranks, rank, 1, 1)));
  const HcclRootInfo info = MeetBy(0, rank == 1);
  HcclComm comm = nullptr;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = rank == 0 ? 8 : limit.rlim_cur;
  for (; comm == nullptr; ++limit.rlim_cur) {
    setrlimit(RLIMIT_NOFILE, &limit);
    const HcclResult result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
    const char* const said = aclGetRecentErrMsg();
    const std::string words = "(ulimit -n) is " + std::to_string(limit.rlim_cur) + ", of which";
    const bool told = said != nullptr && std::string(said).find(words) != std::string::npos;
    Require(result == HCCL_SUCCESS || (result == HCCL_E_UNAVAIL && told), "refusal", result);
  }
  Require(rank != 0 || limit.rlim_cur > 16, "limit", static_cast<int>(limit.rlim_cur));
  REQUIRE(HcclAllReduce(data.data(), data.data(), 200'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                        comm, stream));
  REQUIRE(aclrtSynchronizeStream(stream));
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

constexpr const char* kNumber = "OPENACLNN_TEST_NUMBER";

/// Dies in an operation.
int Victim(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, static_cast<uint32_t>(Times(kNumber, 0)));
  const Device<float> data(std::vector<float>(200'000, 1));
  for (int round = 0; round < 4; ++round) {
    if (round == 3) REQUIRE(aclrtSynchronizeStream(stream));
    REQUIRE(HcclAllReduce(data.data(), data.data(), 200'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                          comm, stream));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(getpid() % 500));
  return raise(SIGKILL);
}

/// Outlives the other rank of each communicator.
int Outlive(uint32_t, uint32_t) {
  const aclrtStream stream = Start();
  ForMany(12, [&](uint32_t number) {
    setenv(kNumber, std::to_string(number).c_str(), 1);
    std::string program = "/proc/self/exe", role = "victim", ranks = "2", rank = "1";
    char* const arguments[] = {program.data(), role.data(), ranks.data(), rank.data(), nullptr};
    pid_t victim = -1;
    Require(posix_spawn(&victim, program.c_str(), nullptr, nullptr, arguments, environ) == 0,
            "victim");
    const Device<float> data(std::vector<float>(200'000, 1));
    const HcclComm comm = MakeComm(2, 0, number);
    int code = 0;
    while (code == 0) {
      REQUIRE(HcclAllReduce(data.data(), data.data(), 200'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                            comm, stream));
      code = aclrtSynchronizeStream(stream);
    }
    Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
    REQUIRE(HcclCommDestroy(comm));
    waitpid(victim, nullptr, 0);
  });
  return 0;
}

const bool kEntered = [] {
  Roles().merge(std::map<std::string, Role>{
      {"many", Run<Many>},
      {"fresh", Run<Fresh>},
      {"first", Run<First>},
      {"ending", Run<Ending>},
      {"forked", Run<Forked>},
      {"too_late", Run<TooLate>},
      {"victim", Run<Victim>},
      {"outlive", Run<Outlive>},
      {"scarce", Run<Scarce>},
  });
  return true;
}();

}  // namespace
}  // namespace openaclnn::ranks
