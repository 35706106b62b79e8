// SPDX-License-Identifier: Apache-2.0
// Files that the libraries read and write: which ones, for whom, and under which descriptors.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "aclnn/aclnn_base.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/traced.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class FileTest : public TracedTest {
 protected:
  /// How often a trace has a call.
  static int64_t Count(const fs::path& trace, const std::string& call) {
    std::ifstream file(trace);
    int64_t count = 0;
    for (const json& event : json::parse(file)) count += event.at("name") == call ? 1 : 0;
    return count;
  }

  /// Gives the number under which `ours` is open to a new file, as a program does that closes all
  /// descriptors it does not know and then opens its own. The number, or -1.
  static int TakeNumber(const fs::path& ours, const fs::path& theirs) {
    int number = -1;
    std::error_code error;
    for (const auto& each : fs::directory_iterator("/proc/self/fd")) {
      if (fs::read_symlink(each, error) == ours) number = std::stoi(each.path().filename());
    }
    const int file = open(theirs.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool taken =
        number >= 0 && file >= 0 && write(file, "precious", 8) == 8 && dup2(file, number) == number;
    close(file);
    return taken ? number : -1;
  }
  static std::string Content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

// A name is meant as seen from where the program was when it was read, not when the file is made.
TEST_F(FileTest, ChangesOfDirectoryAreNotFollowed) {
  const fs::path elsewhere = folder_ / "elsewhere", before = fs::current_path();
  fs::create_directory(elsewhere);
  fs::current_path(folder_);
  {
    const Variable variable("OPENACLNN_TRACE", "first.json");
    ASSERT_EQ(aclInit(nullptr), 0);
    fs::current_path(elsewhere);
    ASSERT_EQ(aclFinalize(), 0);
  }
  fs::current_path(before);
  EXPECT_EQ(Count(folder_ / "first.json", "aclFinalize"), 1);
}

TEST_F(FileTest, LogStaysWhereItsNameLedFirst) {
  const fs::path elsewhere = folder_ / "elsewhere", before = fs::current_path();
  fs::create_directory(elsewhere);
  fs::current_path(folder_);
  {
    const Variable to_file("ASCEND_PROCESS_LOG_PATH", "first");
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
    Start();
    fs::current_path(elsewhere);
    EXPECT_NE(aclrtSetDevice(-1), 0);
    Stop();
    Start();  // the same name: it stays
    EXPECT_NE(aclrtSetDevice(-1), 0);
    Stop();
  }
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(elsewhere));
  EXPECT_FALSE(fs::is_empty(folder_ / "first" / "debug" / "plog"));
}

// What errors say of a program is not for everybody who is on the machine to read, or to replace.
TEST_F(FileTest, FoldersOfTheLogAreTheUsers) {
  const mode_t before = umask(0);
  {
    const Variable to_file("ASCEND_PROCESS_LOG_PATH", (folder_ / "new" / "log").c_str());
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
    Start();
    EXPECT_NE(aclrtSetDevice(-1), 0);
    Stop();
  }
  umask(before);
  fs::path folder = folder_;
  for (const char* each : {"new", "log", "debug", "plog"}) {
    folder /= each;
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0750)) << folder;
  }
  EXPECT_EQ(fs::directory_iterator(folder)->status().permissions(), fs::perms(0640));
}

TEST_F(FileTest, TraceWhoseNumberIsAnothersFileStops) {
  const fs::path precious = folder_ / "precious";
  int theirs = -1;
  {
    const Variable to_stdout("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
    testing::internal::CaptureStdout();
    Start();
    theirs = TakeNumber(file_, precious);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtSetDevice(0), 0);
    Stop();
    const std::string log = testing::internal::GetCapturedStdout();
    EXPECT_THAT(log, HasSubstr("expected a file that the program does not close"));
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  }
  ASSERT_GE(theirs, 0);
  EXPECT_EQ(Content(precious), "precious");
  EXPECT_EQ(close(theirs), 0) << "it is the program's to close";
  EXPECT_EQ(Count(file_, "aclrtSetDevice"), 1) << "what was written before is whole";
  EXPECT_EQ(Log(), "");
  EXPECT_EQ(Count(file_, "aclFinalize"), 1) << "from the next aclInit on there is one again";
}

TEST_F(FileTest, LogWhoseNumberIsAnothersFileOpensAnew) {
  const fs::path logged = folder_ / "anew", logs = logged / "debug" / "plog";
  const Variable to_file("ASCEND_PROCESS_LOG_PATH", logged.c_str());
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
  const fs::path precious = folder_ / "precious";
  const auto lines = [&] {
    std::string all;
    for (const auto& file : fs::directory_iterator(logs)) all += Content(file);
    return std::count(all.begin(), all.end(), '\n');
  };
  Start();
  EXPECT_NE(aclrtSetDevice(-1), 0);
  ASSERT_EQ(lines(), 1);
  const int theirs = TakeNumber(fs::directory_iterator(logs)->path(), precious);
  ASSERT_GE(theirs, 0);
  for (int i = 0; i < 2; ++i) EXPECT_NE(aclrtSetDevice(-1), 0);
  EXPECT_EQ(lines(), 3);
  Stop();
  EXPECT_EQ(Content(precious), "precious");
  EXPECT_EQ(close(theirs), 0) << "it is the program's to close";
}

TEST_F(FileTest, LogThatMovesClosesItsOwnFileAlone) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
  const fs::path logged = folder_ / "moves", logs = logged / "debug" / "plog";
  int theirs = -1;
  {
    const Variable to_file("ASCEND_PROCESS_LOG_PATH", logged.c_str());
    Start();
    EXPECT_NE(aclrtSetDevice(-1), 0);
    theirs = TakeNumber(fs::directory_iterator(logs)->path(), folder_ / "precious");
    Stop();
  }
  ASSERT_GE(theirs, 0);
  const Variable elsewhere("ASCEND_PROCESS_LOG_PATH", (folder_ / "elsewhere").c_str());
  Start();
  Stop();
  EXPECT_EQ(close(theirs), 0) << "it is the program's to close";
}

TEST_F(FileTest, MemoryWhoseNumberIsAnothersFileIsRefused) {
  constexpr size_t kBytes = size_t{2} << 20;
  const fs::path precious = folder_ / "precious";
  Start();
  ASSERT_EQ(aclrtSetDevice(0), 0);
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle memory = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&memory, kBytes, &prop, 0), 0);
  void* range = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&range, kBytes, 0, nullptr, 1), 0);
  const int theirs = TakeNumber("/memfd:openaclnn (deleted)", precious);
  ASSERT_GE(theirs, 0);
  ASSERT_EQ(ftruncate(theirs, kBytes), 0);
  EXPECT_EQ(aclrtMapMem(range, kBytes, 0, memory, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(TakeMessage(), HasSubstr("handle memory is gone with its descriptor"));
  EXPECT_NE(aclrtMemset(range, 8, 0, 8), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
  Stop();
  EXPECT_EQ(Content(precious).substr(0, 8), "precious");
  EXPECT_EQ(close(theirs), 0) << "it is the program's to close";
}

/// Makes pipes of all names that the log of this process would give its files in these seconds.
bool MakePipes(const fs::path& folder, std::time_t begin, std::time_t end) {
  constexpr int kMilliseconds = 1000;
  for (std::time_t second = begin; second < end; ++second) {
    std::tm parts = {};
    char digits[32];
    std::strftime(digits, sizeof(digits), "%Y%m%d%H%M%S", localtime_r(&second, &parts));
    for (int i = kMilliseconds; i < 2 * kMilliseconds; ++i) {
      const std::string name =
          "plog-" + std::to_string(getpid()) + "_" + digits + std::to_string(i).substr(1) + ".log";
      if (mkfifo((folder / name).c_str(), 0600) != 0) return false;
    }
  }
  return true;
}

/// Returns as the first of these seconds begins: as soon as this machine makes so many in time.
bool AwaitPipes(const fs::path& folder) {
  for (int wait = 1; wait < 16; wait *= 2) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::time_t begin = std::time(nullptr) + wait + 1;
    if (!MakePipes(folder, begin, begin + 2)) return false;
    if (std::time(nullptr) >= begin) continue;
    while (std::time(nullptr) < begin) usleep(1000);
    return true;
  }
  return false;
}

// Another user may have put a pipe there, which nobody reads: opening it would wait for ever.
TEST_F(FileTest, LogOpensNoPipes) {
  const auto program = [] {
    alarm(60);
    const fs::path logged = Folder() / "pipes", logs = logged / "debug" / "plog";
    const Variable to_file("ASCEND_PROCESS_LOG_PATH", logged.c_str());
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
    Start();
    const bool made = AwaitPipes(logs);
    bool well = made && aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID;
    fs::remove_all(logs);
    well = well && aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID;
    well = well && fs::file_size(fs::directory_iterator(logs)->path()) > 0;  // it goes on
    std::_Exit(well && aclFinalize() == 0 ? 0 : 1);
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

// Another user may have put a link where all may make files.
TEST_F(FileTest, LinksAreNotFollowed) {
  const fs::path precious = folder_ / "precious";
  std::ofstream(precious) << "mine";
  fs::create_symlink(precious, file_);
  EXPECT_THAT(Log(), HasSubstr("expected a file that is no symbolic link"));
  EXPECT_EQ(fs::file_size(precious), 4U);
  fs::remove(file_);
  fs::create_symlink(folder_ / "new", file_);
  EXPECT_THAT(Log(), HasSubstr("expected a file that is no symbolic link"));
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

// What a program prints whose standard output is closed belongs into no file of ours.
TEST_F(FileTest, ClosedStandardStreamsStayClosed) {
  const auto program = [] {
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO}) close(standard);
    const Variable to_file("ASCEND_PROCESS_LOG_PATH", Folder().c_str());
    const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "0");
    Start();
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory = nullptr;
    const bool made = aclrtMallocPhysical(&memory, 2 << 20, &prop, 0) == 0;
    const bool closed = fcntl(STDIN_FILENO, F_GETFD) < 0 && fcntl(STDOUT_FILENO, F_GETFD) < 0;
    const bool logged = fs::exists(Folder() / "debug" / "plog");
    std::_Exit(made && closed && logged && aclFinalize() == 0 ? 0 : 1);
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // traces from its first call on
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(Count(file_, "aclFinalize"), 1);
}

/// Runs a test of this program as another user with the rights of its owner, who is root; nothing
/// if that cannot be done here.
std::optional<int> RunWithMoreRights(const fs::path& folder, const char* test) {
  struct statvfs facts = {};
  if (geteuid() != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0 ||
      statvfs(folder.c_str(), &facts) != 0 || (facts.f_flag & ST_NOSUID) != 0) {
    return std::nullopt;
  }
  const fs::path program = folder / "program";
  fs::copy_file("/proc/self/exe", program);
  if (chmod(folder.c_str(), 0755) != 0 || chmod(program.c_str(), 04755) != 0) return std::nullopt;
  constexpr int kCannot = 99;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(kCannot);
    execl(program.c_str(), program.c_str(), test, nullptr);
    _exit(kCannot);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return -1;
  return WEXITSTATUS(status) == kCannot ? std::nullopt : std::optional(WEXITSTATUS(status));
}

TEST_F(FileTest, WhoStartsAProgramWithMoreRightsIsNotHeard) {
  std::ofstream(file_) << "root's";
  const Variable log("ASCEND_PROCESS_LOG_PATH", (folder_ / "log").c_str());
  const auto status = RunWithMoreRights(folder_, "--gtest_filter=LifeTest.CallsAreNotCounted");
  if (!status) GTEST_SKIP() << "needs root, and a folder whose programs may have more rights";
  EXPECT_EQ(*status, 0);
  EXPECT_EQ(fs::file_size(file_), 6U);
  EXPECT_FALSE(fs::exists(folder_ / "log"));
}

// Opening a pipe would wait for its writer.
TEST_F(FileTest, ConfigurationThatIsNoFile) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_TRUE(mkfifo(pipe.c_str(), 0600) == 0 || errno == EEXIST);  // of the parent
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const char* path : {"/", "/dev/zero", pipe.c_str()}) {
    const auto program = [&] {
      alarm(20);
      const bool refused = aclInit(path) == ACL_ERROR_INVALID_FILE &&
                           TakeMessage().find("expected a file that can be read") < 200 &&
                           aclnnInit(path) == ACLNN_ERR_PARAM_INVALID;
      std::_Exit(refused && aclInit(nullptr) == 0 ? 0 : 1);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(0), "") << path;
  }
}

}  // namespace
}  // namespace openaclnn
