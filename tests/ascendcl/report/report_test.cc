// SPDX-License-Identifier: Apache-2.0
// Reports of mistakes: their file, their number, the message, and what forks and links do to them.
// The mistake is a race, two fills of the same bytes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "tests/ascendcl/own_operator.h"

namespace openaclnn {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class ReportTest : public testing::Test {
 protected:
  ReportTest() : folder_(testing::TempDir() + "report_test." + std::to_string(getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~ReportTest() override { std::filesystem::remove_all(folder_); }

  void Start() {
    testing::internal::CaptureStderr();
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0);
    ASSERT_EQ(aclrtMalloc(&memory_, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  }
  /// Fills the first bytes on that many new streams, with nothing between them.
  void Fill(int streams) {
    for (int i = 0; i < streams; ++i) {
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), 0);
      ASSERT_EQ(aclrtMemsetAsync(memory_, 4, 1, 4, stream), 0);
      streams_.push_back(stream);
    }
  }
  /// What was written to standard error.
  std::string End() {
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    for (aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), 0);
    streams_.clear();
    EXPECT_EQ(aclrtFree(memory_), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
    return testing::internal::GetCapturedStderr();
  }

  const void* memory() const { return memory_; }
  const std::vector<aclrtStream>& streams() const { return streams_; }
  std::string file() const { return folder_ + "/report.jsonl"; }
  std::vector<Json> Lines() const {
    std::vector<Json> lines;
    std::ifstream in(file());
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  /// The number that a file would have which is opened now.
  static int NextDescriptor() {
    const int descriptor = dup(STDIN_FILENO);
    close(descriptor);
    return descriptor;
  }

  const std::string folder_;

 private:
  Variable check_{"OPENACLNN_CHECK", "full"};
  Variable log_{"ASCEND_GLOBAL_LOG_LEVEL", "4"};  // whose file takes a descriptor
  void* memory_ = nullptr;
  std::vector<aclrtStream> streams_;
};

TEST_F(ReportTest, TheFileHasALineForEach) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  Fill(3);
  End();
  const std::vector<Json> lines = Lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["check"], "racecheck");
  EXPECT_EQ(lines[0]["severity"], "error");
  EXPECT_EQ(lines[0]["code"], 0);
  EXPECT_EQ(lines[0]["pid"], getpid());
  EXPECT_THAT(lines[0]["title"].get<std::string>(),
              StartsWith("nothing orders aclrtMemsetAsync on stream 0x"));
  EXPECT_EQ(lines[0]["what"],
            "aclrtMemsetAsync writes devPtr; aclrtMemsetAsync, called before, writes devPtr");
  EXPECT_THAT(lines[0]["where"].get<std::string>(), StartsWith("bytes 0 to 3 of the 64 "));
  EXPECT_THAT(lines[0]["fix"].get<std::string>(), StartsWith("record an event on stream 0x"));
  EXPECT_EQ(lines[2], Json({{"pid", getpid()}, {"summary", {{"racecheck", 2}}}, {"reported", 2}}));
  struct stat facts = {};
  ASSERT_EQ(stat(file().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(ReportTest, WhoMadeTheMemory) {
  Start();
  Fill(2);
  const std::string place =
      Concat(" of the 64 that were allocated at ", memory(), " on device 0 by aclrtMalloc\n");
  // The innermost may be a sanitizer's own.
  EXPECT_THAT(End(), AllOf(HasSubstr(place + "         from "),
                           HasSubstr("\n         from runtime_races+0x")));
}

TEST_F(ReportTest, LeaksNameWhoMadeThem) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  for (const char* level : {"fast", "full"}) {
    const Variable check("OPENACLNN_CHECK", level);
    void *aligned = nullptr, *range = nullptr;
    aclrtDrvMemHandle physical = nullptr, mapped = nullptr;
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    Start();
    ASSERT_EQ(aclrtMallocAlign32(&aligned, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtReserveMemAddress(&range, 2 << 20, 0, nullptr, 0), 0);
    ASSERT_EQ(aclrtMallocPhysical(&physical, 4 << 20, &prop, 0), 0);
    ASSERT_EQ(aclrtMallocPhysical(&mapped, 2 << 20, &prop, 0), 0);
    ASSERT_EQ(aclrtMapMem(range, 2 << 20, 0, mapped, 0), 0);
    ASSERT_EQ(aclrtFreePhysical(mapped), 0) << "it goes with the range";
    EXPECT_EQ(End(), "");  // a warning
    std::vector<std::string> places;
    std::vector<Json> lines = Lines();
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines.back(), Json({{"pid", getpid()}, {"leaks", 3}, {"bytes", (4 << 20) + 32}}));
    lines.pop_back();
    for (const Json& line : lines) {
      EXPECT_EQ(line["check"], "memcheck");
      EXPECT_EQ(line["severity"], "leak");
      EXPECT_EQ(line["code"], 0);
      const auto where = line["where"].get<std::string>();
      EXPECT_EQ(where.find(" from ") != std::string::npos, std::string(level) == "full") << where;
      places.push_back(where.substr(0, where.find(" from ")));
    }
    std::sort(places.begin(), places.end());  // "4194304 bytes", "bytes … 2097152", "bytes … 32"
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places[0], "4194304 bytes that were allocated on device 0 by aclrtMallocPhysical");
    EXPECT_THAT(places[1], EndsWith(" on device 0 by aclrtReserveMemAddress"));
    EXPECT_THAT(places[2], EndsWith(" on device 0 by aclrtMallocAlign32"));
    std::filesystem::remove(file());
  }
}

TEST_F(ReportTest, AHundredLeaksAreTold) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  for (const int allocations : {99, 101}) {
    Start();
    for (int i = 0; i < allocations; ++i) {
      void* left = nullptr;
      ASSERT_EQ(aclrtMalloc(&left, 32, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    }
    for (int i = 0; i < 2; ++i) {
      aclrtDrvMemHandle left = nullptr;
      ASSERT_EQ(aclrtMallocPhysical(&left, 2 << 20, &prop, 0), 0);
    }
    EXPECT_EQ(End(), "");
    const std::vector<Json> lines = Lines();
    ASSERT_EQ(lines.size(), 101U) << allocations;
    EXPECT_EQ(lines.back()["leaks"], allocations + 2);
    std::filesystem::remove(file());
  }
}

TEST_F(ReportTest, TheFileStaysWhereItWas) {
  const std::string before = std::filesystem::current_path();
  ASSERT_EQ(chdir(folder_.c_str()), 0);
  const Variable name("OPENACLNN_CHECK_JSON", "report.jsonl");
  Start();
  ASSERT_EQ(chdir(before.c_str()), 0);
  Fill(2);
  End();
  EXPECT_EQ(Lines().size(), 2U);
}

// A program that closes what it does not know gives the number to a file of its own.
TEST_F(ReportTest, NoDescriptorStaysOpen) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  const int before = NextDescriptor();
  Fill(2);
  EXPECT_EQ(NextDescriptor(), before);
  Fill(1);
  End();
  EXPECT_EQ(Lines().size(), 3U);
}

TEST_F(ReportTest, ALinkIsNotFollowed) {
  const std::string target = folder_ + "/target";
  std::ofstream(target) << "kept";
  ASSERT_EQ(symlink(target.c_str(), file().c_str()), 0);
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  Fill(3);
  const std::string text = End();
  EXPECT_THAT(text, HasSubstr("OPENACLNN_CHECK_JSON is '" + file() + "', expected a plain file"));
  EXPECT_EQ(text.find("OPENACLNN_CHECK_JSON"), text.rfind("OPENACLNN_CHECK_JSON")) << "once";
  EXPECT_EQ(std::filesystem::file_size(target), 4U);
}

// Nor one of the program's standard streams in its place.
TEST_F(ReportTest, APipeIsNotWritten) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  const int pipe = open(file().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  const int before = NextDescriptor();
  Fill(3);
  EXPECT_EQ(NextDescriptor(), before);
  EXPECT_THAT(End(), HasSubstr("expected a plain file, no link, that can be written (error 22)\n"));
  EXPECT_NE(fcntl(STDIN_FILENO, F_GETFD), -1);
  char letter = 0;
  EXPECT_EQ(read(pipe, &letter, 1), 0);
  close(pipe);
}

TEST_F(ReportTest, AnEmptyNameIsNone) {
  const Variable name("OPENACLNN_CHECK_JSON", "");
  Start();
  Fill(2);
  EXPECT_EQ(End().find("OPENACLNN_CHECK_JSON"), std::string::npos);
}

TEST_F(ReportTest, TheMessageOfTheThread) {
  Start();
  Fill(1);
  TakeMessage();
  Fill(1);
  const std::string message = TakeMessage();
  EXPECT_THAT(message, StartsWith("openaclnn: racecheck: nothing orders aclrtMemsetAsync on "));
  EXPECT_THAT(message, HasSubstr("; where: bytes 0 to 3 of the 64 "));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
  End();
}

TEST_F(ReportTest, AHundredAreTold) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  Fill(111);
  EXPECT_THAT(End(), HasSubstr("openaclnn: 110 errors found (racecheck 110), 100 reported "));
  EXPECT_EQ(Lines().size(), 101U);
  std::filesystem::remove(file());
  Start();
  Fill(2);  // counted anew, and the file as well
  EXPECT_THAT(End(), HasSubstr("openaclnn: 1 error found (racecheck 1), 1 reported "));
  EXPECT_EQ(Lines().size(), 2U);
}

TEST_F(ReportTest, AChildOfForkSumsUpItsOwn) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  Fill(2);
  const pid_t child = fork();
  if (child == 0) exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  End();
  ASSERT_EQ(Lines().size(), 2U);
  EXPECT_EQ(Lines()[1]["pid"], getpid());
}

TEST_F(ReportTest, AParentOfForkGoesOn) {
  Start();
  Fill(2);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  alarm(60);  // a lock that fork has left is a hang
  Fill(1);
  EXPECT_THAT(End(), HasSubstr("openaclnn: 2 errors found (racecheck 2), 2 reported "));
  alarm(0);
}

// As an operand that the program has named may have.
TEST_F(ReportTest, NamesOfManyLinesAreWhole) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  std::string lines = "out";
  for (int i = 0; i < 300; ++i) lines += "\nx";
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add(lines.c_str(), OPENACLNN_OUTPUT, {ACL_FLOAT, {4}, {1}}, const_cast<void*>(memory()));
  ASSERT_EQ(own.Launch(nullptr), 0);
  const std::string text = End();
  EXPECT_THAT(text,
              HasSubstr("are as they were before the task\n  where: bytes 0 to 15 of the 64 "));
  EXPECT_THAT(text, HasSubstr("let it say so (OPENACLNN_PART, `part` in its record)\n"));
  ASSERT_EQ(Lines().size(), 2U);
  EXPECT_THAT(Lines()[0]["fix"].get<std::string>(), EndsWith("in its record)"));
}

// A terminal would obey them, as those in the name of a library's file.
TEST_F(ReportTest, ControlsAreQuestionMarks) {
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  Start();
  OwnOperator own([](void* const*, void*) { return 0; });
  own.Add("out\x1b[2K\u202e", OPENACLNN_OUTPUT, {ACL_FLOAT, {4}, {1}}, const_cast<void*>(memory()));
  ASSERT_EQ(own.Launch(nullptr), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  const std::string message = TakeMessage(), text = End();
  for (const std::string& each : {message, text, Lines()[0]["title"].get<std::string>()}) {
    EXPECT_THAT(each, HasSubstr("out?[2K???"));
    EXPECT_THAT(each, testing::Not(HasSubstr("\x1b")));
  }
}

/// Leave what they write as it is, each by its own name, so that each is told.
class Idle {
 public:
  Idle(const void* memory, std::initializer_list<const char*> names, int code = 0) {
    for (const char* name : names) {
      operators_.emplace_back([code](void* const*, void*) { return code; });
      operators_.back().Add(name, OPENACLNN_OUTPUT, {ACL_FLOAT, {4}, {1}},
                            const_cast<void*>(memory));
    }
  }
  void Launch(const std::vector<aclrtStream>& streams) {
    for (size_t i = 0; i < operators_.size(); ++i) {
      ASSERT_EQ(operators_[i].Launch(streams[i % streams.size()]), 0);
    }
  }

 private:
  std::deque<OwnOperator> operators_;
};

std::string Unwritten(const char* name) {
  return Concat("openaclnn: initcheck: aclnnOwn has not written all of ", name, ";");
}

// Whichever thread has run the task.
TEST_F(ReportTest, WhatATaskFindsComesWithTheNextSynchronise) {
  Start();
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), 0);
  const std::function<int()> waits[] = {
      [] { return aclrtSynchronizeStream(nullptr); },
      [] { return aclrtSynchronizeStreamWithTimeout(nullptr, 60'000); },
      [] { return aclrtSynchronizeDevice(); },
      [] { return aclrtSynchronizeDeviceWithTimeout(60'000); },
      [&] { return aclrtRecordEvent(event, nullptr) + aclrtSynchronizeEvent(event); },
  };
  for (const auto& wait : waits) {
    const std::string first = Concat("first", &wait - waits), second = first + " and more";
    Idle idle(memory(), {first.c_str(), second.c_str()});
    idle.Launch({nullptr});
    EXPECT_EQ(TakeMessage(), "");
    EXPECT_EQ(wait(), 0);
    EXPECT_THAT(TakeMessage(), StartsWith(Unwritten(first.c_str())));
    EXPECT_EQ(wait(), 0);
    EXPECT_EQ(TakeMessage(), "");
  }
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_THAT(End(), HasSubstr("openaclnn: 10 errors found (initcheck 10), 10 reported "));
}

TEST_F(ReportTest, OfSeveralStreamsTheFirstIsTold) {
  Start();
  Fill(1);
  Idle idle(memory(), {"first", "second"});
  idle.Launch({nullptr, streams().front()});
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_THAT(TakeMessage(), StartsWith(Unwritten("first")));
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(TakeMessage(), "");
  End();
}

// Which is what the call returns.
TEST_F(ReportTest, AnErrorIsToldBeforeWhatWasFound) {
  Start();
  Idle idle(memory(), {"first"}), failing(memory(), {"second"}, 561000);
  idle.Launch({nullptr});
  failing.Launch({nullptr});
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 561000);
  EXPECT_THAT(TakeMessage(), testing::Not(HasSubstr("initcheck")));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_THAT(End(), HasSubstr("has not written all of first"));
}

// The task has failed, and its stream has an error to tell.
TEST_F(ReportTest, WhatIsFoundInAnExceptionCallbackIsItsOwn) {
  static const void* memory_of_both = nullptr;
  static aclrtStream both[2];
  static aclrtContext context = nullptr;
  static std::string message;
  Start();
  memory_of_both = memory();
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  Idle failing(memory(), {"first"}, 561000);
  for (aclrtStream& stream : both) ASSERT_EQ(aclrtCreateStream(&stream), 0);
  ASSERT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) {
              (void)aclrtSetCurrentContext(context);  // of any thread
              for (aclrtStream stream : both) {
                (void)aclrtMemsetAsync(const_cast<void*>(memory_of_both), 4, 1, 4, stream);
              }
              message = TakeMessage();
            }),
            0);
  failing.Launch({nullptr});
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 561000);
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), 0);
  EXPECT_THAT(message, StartsWith("openaclnn: racecheck: nothing orders aclrtMemsetAsync"));
  for (aclrtStream stream : both) EXPECT_EQ(aclrtDestroyStream(stream), 0);
  End();
}

[[noreturn]] void ReportWhereNoFileMayGrow(const std::filesystem::path& file) {
  constexpr rlimit kNothing = {0, 0};
  const bool limited =
      setrlimit(RLIMIT_FSIZE, &kNothing) == 0 && signal(SIGXFSZ, SIG_DFL) != SIG_ERR;
  if (!limited || aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) _exit(99);
  int host = 0;
  if (aclrtFree(&host) != ACL_ERROR_RT_PARAM_INVALID || aclFinalize() != 0) _exit(99);
  if (std::filesystem::file_size(file) != 0) _exit(98);
  std::filesystem::remove_all(file.parent_path());
  sigset_t pending;
  sigpending(&pending);
  _exit(sigismember(&pending, SIGXFSZ));
}

// It costs the reports, and not the program its life.
TEST_F(ReportTest, ALimitOfFilesEndsNoProgram) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const Variable name("OPENACLNN_CHECK_JSON", file().c_str());
  EXPECT_EXIT(ReportWhereNoFileMayGrow(file()), testing::ExitedWithCode(0), "");
}

TEST_F(ReportTest, AProgramThatEndsWithoutFinalizeIsToldTheSum) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) exit(99);
        void* memory = nullptr;
        if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) exit(99);
        for (int i = 0; i < 2; ++i) {
          aclrtStream stream = nullptr;
          if (aclrtCreateStream(&stream) != 0) exit(99);
          if (aclrtMemsetAsync(memory, 4, 1, 4, stream) != 0) exit(99);
        }
        exit(0);
      },
      testing::ExitedWithCode(0), "openaclnn: 1 error found \\(racecheck 1\\), 1 reported");
}

}  // namespace
}  // namespace openaclnn
