// SPDX-License-Identifier: Apache-2.0
// The trace: whole JSON at any time, every call and task on its row, and never in the way.
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <locale>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "aclnnop/aclnn_neg.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/traced.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

struct Event {
  std::string category, name;
  int64_t row;
  double start, end;
  json arguments;
};

/// A trace that was read back. What is no trace ends the test with an exception.
struct Trace {
  explicit Trace(const fs::path& path) {
    std::ifstream file(path);
    for (const json& event : json::parse(file)) {
      EXPECT_EQ(event.at("pid"), getpid());
      if (event.at("ph") == "M") {
        rows[event.at("tid")] = event.at("args").at("name");
        continue;
      }
      const double start = event.at("ts"), duration = event.at("dur");
      EXPECT_GE(duration, 0) << event;
      events.push_back({event.at("cat"), event.at("name"), event.at("tid"), start, start + duration,
                        event.at("args")});
    }
  }

  std::vector<Event> Named(const std::string& category, const std::string& name) const {
    std::vector<Event> found;
    std::copy_if(events.begin(), events.end(), std::back_inserter(found),
                 [&](const Event& e) { return e.category == category && e.name == name; });
    return found;
  }
  /// The only event of that name; a failure otherwise.
  Event Only(const std::string& category, const std::string& name) const {
    const std::vector<Event> found = Named(category, name);
    EXPECT_EQ(found.size(), 1U) << category << " " << name;
    return found.empty() ? Event{} : found.front();
  }

  std::vector<Event> events;
  std::map<int64_t, std::string> rows;
};

class TraceTest : public TracedTest {
 protected:
  static aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    return stream;
  }
};

TEST_F(TraceTest, EachCallAndTaskIsThere) {
  Start();
  aclrtStream stream = NewStream();
  {
    Gradient gradient(1, 3);
    EXPECT_EQ(gradient.Launch(stream), 0);
    PinnedBytes pinned(64);
    EXPECT_EQ(aclrtMemcpyAsync(pinned.data(), 32, gradient.out().data(), 32,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream),
              0);
    EXPECT_EQ(aclrtMemsetAsync(gradient.out().data(), 32, 1, 16, stream), 0);
    Gate(stream).Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();

  const Trace trace(file_);
  const Event task = trace.Only("task", "aclnnEmbeddingDenseBackward");
  const json operands = {
      {"grad", "FLOAT (3, 4)"}, {"indices", "INT64 (3)"}, {"out", "FLOAT (2, 4)"}};
  const json expected = {{"bytes_read", 72}, {"bytes_written", 32}, {"operands", operands}};
  EXPECT_EQ(task.arguments, expected);
  EXPECT_EQ(trace.rows.at(task.row).substr(0, 7), "stream ");
  EXPECT_EQ(trace.Only("task", "copy").arguments,
            json({{"kind", "device to host"}, {"bytes", 32}}));
  EXPECT_EQ(trace.Only("task", "fill").arguments, json({{"bytes", 16}}));
  trace.Only("task", "host function");
  const json copied = trace.Named("call", "aclrtMemcpy").at(0).arguments;
  EXPECT_EQ(copied, json({{"kind", "host to device"}, {"bytes", 48}}));
  for (const char* once :
       {"aclrtSetDevice", "aclrtCreateStream", "aclrtMemcpyAsync",
        "aclnnEmbeddingDenseBackwardGetWorkspaceSize", "aclnnEmbeddingDenseBackward",
        "aclrtMemsetAsync", "aclrtLaunchHostFunc", "aclrtSynchronizeStream", "aclrtDestroyStream",
        "aclrtResetDevice", "aclFinalize"}) {
    EXPECT_EQ(trace.Only("call", once).row, gettid()) << once;
  }
  EXPECT_EQ(trace.Named("call", "aclCreateTensor").size(), 3U);
  const std::string row = trace.rows.at(task.row);
  for (const char* about_the_stream : {"aclrtCreateStream", "aclnnEmbeddingDenseBackward",
                                       "aclrtSynchronizeStream", "aclrtDestroyStream"}) {
    EXPECT_EQ(trace.Only("call", about_the_stream).arguments, json({{"stream", row}}));
  }
  EXPECT_EQ(trace.Only("call", "aclrtMemcpyAsync").arguments.at("stream"), row);
  EXPECT_EQ(trace.Only("call", "aclrtMallocHost").arguments, json({{"size", 64}}));
  const json planned = trace.Only("call", "aclnnEmbeddingDenseBackwardGetWorkspaceSize").arguments;
  EXPECT_TRUE(planned.at("workspace_size").is_number_unsigned());
  EXPECT_EQ(planned.at("operands"), operands);
}

// Operators that are made from records collect their arguments on the way into phase 1.
TEST_F(TraceTest, EachPhaseOfARecordedOperatorIsThereOnce) {
  Start();
  aclrtStream stream = NewStream();
  {
    DeviceArray<float> values({-1, 2, -3});
    aclTensor* tensor = Gradient::Tensor({3}, ACL_FLOAT, values.data());
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnInplaceNegGetWorkspaceSize(tensor, &bytes, &executor), 0);
    EXPECT_EQ(aclnnInplaceNeg(nullptr, bytes, executor, stream), 0);
    EXPECT_EQ(aclnnInplaceNegGetWorkspaceSize(nullptr, &bytes, &executor), 161001);
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();

  const Trace trace(file_);
  trace.Only("task", "aclnnInplaceNeg");
  trace.Only("call", "aclnnInplaceNeg");
  EXPECT_EQ(trace.Named("call", "aclnnInplaceNegGetWorkspaceSize").size(), 2U);
}

TEST_F(TraceTest, TimesAreNested) {
  Start();
  aclrtStream stream = NewStream();
  {
    Gradient gradient(1, 2000);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(gradient.Launch(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();

  const Trace trace(file_);
  std::map<int64_t, double> last;  // on one row nothing overlaps here
  for (const Event& event : trace.events) {
    EXPECT_GE(event.start, last[event.row]) << event.name;
    last[event.row] = event.end;
  }
  const auto launches = trace.Named("call", "aclnnEmbeddingDenseBackward");
  const auto tasks = trace.Named("task", "aclnnEmbeddingDenseBackward");
  const Event waited = trace.Only("call", "aclrtSynchronizeStream");
  ASSERT_EQ(launches.size(), 20U);
  ASSERT_EQ(tasks.size(), 20U);
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_GE(tasks[i].start, launches[i].start);
    EXPECT_LE(tasks[i].end, waited.end);
    EXPECT_GT(tasks[i].end, tasks[i].start);
  }
}

// A task that waits begins when its turn comes, not when it goes on.
TEST_F(TraceTest, TasksOfGraphsAreThereForEachExecution) {
  Start();
  aclrtStream stream = NewStream();
  {
    DeviceArray<uint8_t> from(64), to(64);
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), 0);
    EXPECT_EQ(aclrtMemcpyAsync(to.data(), 64, from.data(), 32, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              0);
    EXPECT_EQ(aclmdlRICaptureEnd(stream, &model), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(aclmdlRIExecuteAsync(model, stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(aclmdlRIDestroy(model), 0);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();
  const Trace trace(file_);
  EXPECT_EQ(trace.Named("call", "aclmdlRIExecuteAsync").size(), 3U);
  size_t copies = 0;
  for (const Event& copy : trace.Named("task", "copy")) {
    copies += copy.arguments.at("kind") == "device to device" && copy.arguments.at("bytes") == 32;
  }
  EXPECT_EQ(copies, 3U);
}

TEST_F(TraceTest, WaitsAreShown) {
  Start();
  aclrtStream stream = NewStream();
  Gate gate(stream);
  gate.AwaitReached();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();
  const Event waited = Trace(file_).Only("task", "host function");
  EXPECT_GE(waited.end - waited.start, 20'000);
}

// Waiting is no work: a category of its own keeps it out of the tasks' sum.
TEST_F(TraceTest, TasksThatOnlyWaitAreWaits) {
  Start();
  aclrtStream stream = NewStream();
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), 0);
  EXPECT_EQ(aclrtRecordEvent(event, stream), 0);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, event), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  Stop();
  const Trace trace(file_);
  trace.Only("task", "record event");
  EXPECT_EQ(trace.Only("wait", "wait for event").row, trace.Only("task", "record event").row);
}

TEST_F(TraceTest, StreamsAndThreadsAreRows) {
  Start();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), 0);
      aclrtStream stream = NewStream();
      DeviceArray<uint8_t> bytes(64);
      for (int n = 0; n < 100; ++n) {
        EXPECT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, stream), 0);
      }
      EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
      EXPECT_EQ(aclrtDestroyStream(stream), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Stop();
  const Trace trace(file_);
  std::map<int64_t, int> tasks, calls;
  for (const Event& event : trace.Named("task", "fill")) ++tasks[event.row];
  for (const Event& event : trace.Named("call", "aclrtMemsetAsync")) ++calls[event.row];
  for (const auto& rows : {tasks, calls}) {
    ASSERT_EQ(rows.size(), 2U);
    for (const auto& [row, count] : rows) EXPECT_EQ(count, 100) << trace.rows.at(row);
  }
  for (const auto& [row, count] : tasks) EXPECT_EQ(calls.count(row), 0U);
}

TEST_F(TraceTest, FailuresHaveTheirCode) {
  Start();
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Gradient(Gradient::kOutOfRange).Launch(nullptr), 0);
  const int code = aclrtSynchronizeStream(nullptr);
  EXPECT_NE(code, 0);
  Stop();
  EXPECT_EQ(Trace(file_).Named("call", "aclrtSetDevice").at(1).arguments,
            json({{"code", ACL_ERROR_RT_INVALID_DEVICEID}}));
  EXPECT_EQ(Trace(file_).Only("task", "aclnnEmbeddingDenseBackward").arguments.at("code"), code);
}

// A program may end in any way: the file needs no closing.
TEST_F(TraceTest, ProgramThatIsKilled) {
  const auto program = [] {
    Start();
    DeviceArray<uint8_t> bytes(64);
    EXPECT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, nullptr), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    raise(SIGKILL);
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // traces from its first call on
  EXPECT_EXIT(program(), testing::KilledBySignal(SIGKILL), "");
  std::ifstream file(file_);
  std::set<std::string> names;
  for (const json& event : json::parse(file)) names.insert(event.at("name"));
  for (const char* name : {"aclInit", "aclrtMemsetAsync", "fill", "aclrtSynchronizeDevice"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST_F(TraceTest, ProgramThatDoesNotFinalise) {
  const auto program = [] {
    Start();
    std::exit(0);
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  std::ifstream file(file_);
  EXPECT_EQ(json::parse(file).back().at("name"), "aclrtSetDevice");
}

TEST_F(TraceTest, ChildOfForkWritesNothing) {
  Start();
  auto bytes = std::make_optional<DeviceArray<uint8_t>>(64);
  const uintmax_t before = fs::file_size(file_);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool refused = aclrtSetDevice(0) != 0 && aclInit(nullptr) != 0;
    _exit(refused && aclrtFree(bytes->data()) == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fs::file_size(file_), before);
  bytes.reset();
  Stop();
  Trace(file_).Only("call", "aclFinalize");
}

// Forks while other threads write events: neither side hangs, the parent's file stays whole.
TEST_F(TraceTest, ForksWhileThreadsWrite) {
  Start();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) aclrtSetDevice(0);
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(aclrtSetDevice(0) != 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  Stop();
  Trace(file_).Only("call", "aclFinalize");
}

/// Forks while another thread writes events of its own; the children use the runtime, as those of a
/// pool do that is made before its program does. How many of them went well.
int ForkBeforeUse() {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) aclDestroyTensor(nullptr);
  });
  int well = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(aclInit(nullptr) == 0 && aclFinalize() == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    well += status == 0 ? 1 : 0;
  }
  stop = true;
  busy.join();
  return well;
}

TEST_F(TraceTest, ChildrenThatUseTheRuntimeHaveTheirOwn) {
  const Variable variable("OPENACLNN_TRACE", (file_.string() + "%p").c_str());
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(std::_Exit(ForkBeforeUse()), testing::ExitedWithCode(20), "");
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::ifstream file(entry.path());
    EXPECT_GE(json::parse(file).size(), 2U) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 21U);
}

TEST_F(TraceTest, GoesOnAfterAnotherInit) {
  Start();
  Stop();
  Start();
  Stop();
  EXPECT_EQ(Trace(file_).Named("call", "aclFinalize").size(), 2U);
  const fs::path other = folder_ / "other_%p.json";
  {
    const Variable variable("OPENACLNN_TRACE", other.c_str());
    Start();
    Stop();
  }
  const Trace trace(folder_ / ("other_" + std::to_string(getpid()) + ".json"));
  trace.Only("call", "aclFinalize");
  EXPECT_EQ(trace.rows.count(gettid()), 1U) << "each file names its rows";
  EXPECT_EQ(Trace(file_).Named("call", "aclFinalize").size(), 2U);
  const Variable off("OPENACLNN_TRACE", "");
  Start();
  Stop();
  EXPECT_EQ(Trace(file_).Named("call", "aclFinalize").size(), 2U);
}

// A program's locale may group digits, a thread's name may be anything.
TEST_F(TraceTest, NumbersAndNamesAreJson) {
  struct Grouping : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  Start();
  std::thread([] {
    pthread_setname_np(pthread_self(), "a\"\\\n\xff");
    EXPECT_EQ(aclrtSetDevice(0), 0);
    Gradient gradient(1, 2000);
    EXPECT_EQ(gradient.Launch(nullptr), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  }).join();
  std::locale::global(before);
  Stop();
  const Trace trace(file_);
  const Event task = trace.Only("task", "aclnnEmbeddingDenseBackward");
  EXPECT_EQ(task.arguments.at("bytes_read"), 2000 * 24);
  EXPECT_EQ(task.arguments.at("operands").at("grad"), "FLOAT (2000, 4)");
  const int64_t row = trace.Only("call", "aclrtSynchronizeDevice").row;
  EXPECT_EQ(trace.rows.at(row).substr(0, 3), "a\"\\");
}

TEST_F(TraceTest, FileThatCannotBeMadeIsLogged) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string in_no_folder = folder_ / "no" / "such" / "folder";
  for (const std::string& path : {in_no_folder, folder_.string(), pipe.string(),
                                  std::string("/dev/full"), std::string("/proc/version")}) {
    const Variable variable("OPENACLNN_TRACE", path.c_str());
    const std::string log = Log();
    EXPECT_THAT(log, HasSubstr("OPENACLNN_TRACE is '" + path + "', expected a file that can be"));
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  }
}

TEST_F(TraceTest, FileOfAnotherProcessIsLeftAlone) {
  std::ofstream(file_) << "theirs";
  const int theirs = open(file_.c_str(), O_RDWR);
  ASSERT_EQ(flock(theirs, LOCK_EX), 0);
  EXPECT_THAT(Log(), HasSubstr("expected a file that no other process writes"));
  EXPECT_EQ(fs::file_size(file_), 6U);
  close(theirs);
  EXPECT_EQ(Log(), "");
  Trace(file_).Only("call", "aclFinalize");
}

// As a disk that is full: the file keeps what fitted, the program goes on.
TEST_F(TraceTest, FullDiskEndsTheTraceOnly) {
  const auto program = [] {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit = {4000, 4000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Variable no_log("ASCEND_GLOBAL_LOG_LEVEL", "4");
    Start();
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(aclrtSetDevice(0), 0);
    std::_Exit(aclFinalize());
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  std::ifstream file(file_);
  EXPECT_GT(json::parse(file).size(), 10U);
}

// Another empties the file, and it may not be as long again.
TEST_F(TraceTest, EmptiedFileOfLimitedLengthEndsTheTraceOnly) {
  const auto program = [this] {
    signal(SIGXFSZ, SIG_DFL);
    const Variable no_log("ASCEND_GLOBAL_LOG_LEVEL", "4");
    Start();
    const rlimit limit = {100, 100};
    if (fs::file_size(file_) <= limit.rlim_cur) std::_Exit(1);
    fs::resize_file(file_, 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_EQ(aclrtSetDevice(0), 0);
    std::_Exit(aclFinalize());
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace openaclnn
