// SPDX-License-Identifier: Apache-2.0
// UCX as a guest in somebody else's process: the program's signals, standard streams and rights.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/processes/processes.h"
#include "hccl/processes/role.h"

namespace openaclnn {
namespace ranks {
namespace {

namespace fs = std::filesystem;

/// Whether the thread leaves a signal of the program to others, as the kernel says.
bool Blocks(const fs::path& thread, int signal) {
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigBlk:")) continue;
    const uint64_t mask =
        std::stoull(line.substr(line.find_first_of("0123456789abcdef", 7)), {}, 16);
    return (mask >> (signal - 1) & 1) != 0;
  }
  return false;
}

/// Of all threads the program's alone takes its signals.
int Signalled(uint32_t ranks, uint32_t rank) {
  Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const std::string own = std::to_string(gettid());
  size_t others = 0;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == own) {
      Require(!Blocks(thread, SIGUSR1), "the program's mask is another");
      continue;
    }
    ++others;
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    Require(Blocks(thread, SIGUSR1), ("signals reach the thread " + name).c_str());
  }
  Require(others > 0, "threads");
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// What is open under the numbers of standard streams, as "0: socket:[123] "; as "0: kept " what
/// can be neither read nor written.
std::string OnStandardStreams() {
  std::string found;
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int flags = fcntl(standard, F_GETFL);
    if (flags < 0) continue;
    const std::string number = std::to_string(standard);
    std::error_code gone;
    found += number + ": " +
             ((flags & O_PATH) != 0 ? "kept"
                                    : fs::read_symlink("/proc/self/fd/" + number, gone).string()) +
             " ";
  }
  return found;
}

/// Started without standard streams: what it prints may not go into sockets.
int Closed(uint32_t ranks, uint32_t rank) {
  const int said = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(standard);
  const aclrtStream stream = Start();
  const std::string found_before = OnStandardStreams();
  const HcclRootInfo info = MeetBy(0, rank == 0);
  const std::string found_by_root = OnStandardStreams();
  HcclComm comm = nullptr, alone[2] = {};
  int32_t devices[] = {0, 1};
  HcclResult result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  if (result == HCCL_SUCCESS) result = HcclCommInitAll(2, devices, alone);
  const std::string found_when_made = OnStandardStreams();
  const Device<float> data(std::vector<float>(200'000, 1));
  if (result == HCCL_SUCCESS) {
    result = HcclAllReduce(data.data(), data.data(), 200'000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                           comm, stream);
  }
  const int code = aclrtSynchronizeStream(stream);
  const std::string found_when_used = OnStandardStreams();
  dup2(said, STDERR_FILENO);
  const std::string kept = "0: kept 1: kept 2: kept ";  // while UCX may open something
  Require(found_before.empty(), ("before: " + found_before).c_str());
  Require(found_by_root.empty(), ("by HcclGetRootInfo: " + found_by_root).c_str());
  Require(found_when_made == kept, ("while communicators are made: " + found_when_made).c_str());
  Require(found_when_used == kept, ("by an operation: " + found_when_used).c_str());
  Require(result == HCCL_SUCCESS, "result", result);
  Require(code == 0, "code", code);
  for (const HcclComm each : {comm, alone[0], alone[1]}) REQUIRE(HcclCommDestroy(each));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!OnStandardStreams().starts_with("2: ") && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string found_after = OnStandardStreams();
  Require(found_after.starts_with("2: "), ("after the last: " + found_after).c_str());
  return 0;
}

/// With the rights of another user: ranks that need no UCX are there all the same.
int Privileged(uint32_t ranks, uint32_t rank) {
  Start();
  int32_t devices[] = {0, 1};
  HcclComm inside[2] = {};
  REQUIRE(HcclCommInitAll(2, devices, inside));
  for (const HcclComm each : inside) REQUIRE(HcclCommDestroy(each));
  REQUIRE(HcclCommDestroy(MakeComm(1, 0, ranks + rank)));
  const HcclRootInfo info = MeetBy(0, rank == 0);
  HcclComm comm = nullptr;
  const HcclResult result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  const char* const words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s\n", words != nullptr ? words : "");
  return result;
}

const bool kEntered = [] {
  Roles().merge(std::map<std::string, Role>{
      {"signalled", Run<Signalled>}, {"closed", Run<Closed>}, {"privileged", Run<Privileged>}});
  return true;
}();

}  // namespace
}  // namespace ranks

namespace {

using ranks::Processes;

void ExpectDone(const char* role) {
  for (const char* const way : {static_cast<const char*>(nullptr), "tcp,self"}) {
    const Variable tls("UCX_TLS", way);
    Processes processes(role, 2);
    for (const uint32_t rank : {0u, 1u}) {
      EXPECT_EQ(processes.Await(rank), 0) << "rank " << rank;
      EXPECT_EQ(processes.Said(rank), "") << "rank " << rank;
    }
  }
}

TEST(GuestTest, SignalsAreLeftToTheProgram) { ExpectDone("signalled"); }

TEST(GuestTest, ClosedStandardStreamsStayClosed) {
  const Variable devices("OPENACLNN_DEVICE_COUNT", "2");
  ExpectDone("closed");
}

/// What it starts runs with the rights of root for another user.
class ForAnother {
 public:
  ForAnother() : started_(geteuid() == 0 && setresuid(kNobody, -1, -1) == 0) {}
  ForAnother(const ForAnother&) = delete;
  ~ForAnother() {
    if (started_ && setresuid(0, -1, -1) != 0) std::abort();
  }
  explicit operator bool() const { return started_; }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool started_;
};

// UCX would write over whatever file UCX_LOG_FILE names.
TEST(GuestTest, WhoStartsAProgramWithMoreRightsIsNotHeard) {
  const ForAnother rights;
  if (!rights) GTEST_SKIP() << "needs root";
  std::string folder = std::filesystem::temp_directory_path() / "openaclnn-guest-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/file";
  std::ofstream(file) << "root's";
  {
    const Variable devices("OPENACLNN_DEVICE_COUNT", "2"), log("UCX_LOG_FILE", file.c_str()),
        level("UCX_LOG_LEVEL", "info"), soon("HCCL_CONNECT_TIMEOUT", "1");
    Processes processes("privileged", 2);
    for (const uint32_t rank : {0u, 1u}) {
      EXPECT_EQ(processes.Await(rank), HCCL_E_UNAVAIL) << processes.Said(rank);
      EXPECT_NE(processes.Said(rank).find("more rights than whoever started it"), std::string::npos)
          << processes.Said(rank);
    }
  }
  EXPECT_EQ(std::filesystem::file_size(file), 6U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace openaclnn
