// SPDX-License-Identifier: Apache-2.0
// The log: lines in the vendor's format, levels, places, files of bounded size and number.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;

class LogTest : public ::testing::Test {
 protected:
  // Each test has its own folder: the file of the one before is open until another is wanted.
  LogTest()
      : folder_(fs::temp_directory_path() /
                ("openaclnn_log_" + std::to_string(getpid()) +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~LogTest() override { fs::remove_all(folder_); }

  /// The files of this process, oldest first.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    const fs::path plog = folder_ / "debug" / "plog";
    if (!fs::exists(plog)) return files;
    for (const auto& entry : fs::directory_iterator(plog)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const fs::path& file : Files()) {
      std::ifstream stream(file);
      for (std::string line; std::getline(stream, line);) lines.push_back(line);
    }
    return lines;
  }

  /// aclInit with the variables in force, one refused call, aclFinalize.
  void Fail(int times = 1) const {
    ASSERT_EQ(aclInit(nullptr), 0);
    for (int i = 0; i < times; ++i) ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    ASSERT_EQ(aclFinalize(), 0);
  }

  const fs::path folder_;
  const Variable path_{"ASCEND_PROCESS_LOG_PATH", folder_.c_str()};
};

TEST_F(LogTest, LinesHaveTheVendorsFormat) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "1");
  Fail();
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 2U);
  const auto format = ::testing::MatchesRegex(
      R"(\[(INFO|ERROR)\] ASCENDCL\([0-9]+,[^)]+\):)"
      R"([0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\.[0-9]{3} )"
      R"(\[[a-z_]+\.cc:[0-9]+\].+)");
  EXPECT_THAT(lines, ::testing::Each(format));
  EXPECT_THAT(lines[0], ::testing::HasSubstr("as Ascend910B1"));
  EXPECT_THAT(lines[1], ::testing::HasSubstr("EE1001: aclrtSetDevice: deviceId value is -1"));
  EXPECT_THAT(Files().front().filename().string(),
              ::testing::StartsWith("plog-" + std::to_string(getpid()) + "_"));
}

TEST_F(LogTest, LevelsAndModules) {
  struct Row {
    const char *global, *modules;
    size_t lines;
  };
  const Row rows[] = {Row{"4", "", 0},
                      Row{"3", "", 1},
                      Row{"1", "", 2},
                      Row{"", "", 1},
                      Row{"9", "", 1},
                      Row{"/", "", 1},
                      Row{"44", "", 1},
                      Row{"4", "ASCENDCL", 0},
                      Row{"4", "ASCENDCL=3", 1},
                      Row{"0", "ASCENDCL=4", 0},
                      Row{"4", "TBE=0:ASCENDCL=1", 2},
                      Row{"4", "OP=0", 0}};
  for (const Row& row : rows) {
    fs::remove_all(folder_);
    const Variable global("ASCEND_GLOBAL_LOG_LEVEL", row.global);
    const Variable modules("ASCEND_MODULE_LOG_LEVEL", row.modules);
    const std::string name = std::to_string(&row - rows);
    const Variable elsewhere("ASCEND_PROCESS_LOG_PATH", (folder_ / name).c_str());
    Fail();
    size_t lines = 0;
    if (fs::exists(folder_)) {
      for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream stream(entry.path());
        for (std::string line; std::getline(stream, line);) ++lines;
      }
    }
    EXPECT_EQ(lines, row.lines) << row.global << " " << row.modules;
  }
}

TEST_F(LogTest, ProgramsWriteLinesOfTheirOwn) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "2");
  ASSERT_EQ(aclInit(nullptr), 0);
  aclAppLog(ACL_WARNING, "Load", "dir/model.py", 12, "%d of %s", 3, "five");
  aclAppLog(ACL_INFO, "Load", "model.py", 13, "below the level");
  aclAppLog(ACL_ERROR, nullptr, nullptr, 14, "%s", std::string(5000, 'x').c_str());
  aclAppLog(ACL_ERROR, "Load", "model.py", 15, nullptr);
  aclAppLog(static_cast<aclLogLevel>(ACL_ERROR + 1), "Load", "model.py", 16, "of no level");
  aclAppLog(static_cast<aclLogLevel>(ACL_DEBUG - 1), "Load", "model.py", 17, "of no level");
  ASSERT_EQ(aclFinalize(), 0);
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], ::testing::StartsWith("[WARNING] APP("));
  EXPECT_THAT(lines[0], ::testing::EndsWith("[model.py:12]Load: 3 of five"));
  EXPECT_LT(lines[1].size(), 1200U) << "long lines are cut";
}

TEST_F(LogTest, DeviceMemoryThatIsLeftAtFinalize) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "2");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  void *address = nullptr, *freed = nullptr, *range = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(aclrtMalloc(&address, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  }
  ASSERT_EQ(aclrtReserveMemAddress(&range, 2 << 20, 0, nullptr, 0), 0);
  aclrtDrvMemHandle physical = nullptr;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  ASSERT_EQ(aclrtMallocPhysical(&physical, 2 << 20, &prop, 0), 0);
  ASSERT_EQ(aclrtFree(freed), 0);
  ASSERT_EQ(aclFinalize(), 0);
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 15U);
  EXPECT_THAT(lines,
              ::testing::Contains(::testing::ContainsRegex(
                  "memcheck: aclFinalize: 100 bytes at 0x[0-9a-f]+ were left; where: bytes 0 "
                  "to 99 of the 100 that were allocated at 0x[0-9a-f]+ on device 0 by "
                  "aclrtMalloc( from [^;]*)?; fix: call aclrtFree before aclFinalize$")));
  EXPECT_THAT(lines.back(), ::testing::HasSubstr(
                                "aclFinalize: 14 allocations were left, 2098352 bytes of device"));
}

// Once each, whatever ends the stream; what a synchronise has returned is not said again.
TEST_F(LogTest, TaskErrorsThatNoSynchroniseReturned) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3"), check("OPENACLNN_CHECK", "fast");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  {
    Gradient bad(Gradient::kOutOfRange);
    const auto fail = [&](aclrtStream stream) {
      ASSERT_EQ(bad.Launch(stream), 0);
      aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
      while (status != ACL_STREAM_STATUS_COMPLETE) {
        ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
      }
    };
    aclrtStream seen = nullptr, destroyed = nullptr, forced = nullptr;
    for (aclrtStream* stream : {&seen, &destroyed, &forced}) {
      ASSERT_EQ(aclrtCreateStream(stream), 0);
      fail(*stream);
    }
    EXPECT_EQ(aclrtSynchronizeStream(seen), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(aclrtDestroyStream(seen), 0);
    EXPECT_EQ(aclrtDestroyStream(destroyed), 0);
    EXPECT_EQ(aclrtDestroyStreamForce(forced), 0);
    fail(nullptr);
    EXPECT_EQ(aclrtDestroyContext(context), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    fail(nullptr);
  }
  ASSERT_EQ(aclFinalize(), 0);
  std::vector<std::string> lines = Lines();
  // The report of it, once for all of them.
  const auto is_report = [](const auto& line) { return line.find("]memcheck: ") != line.npos; };
  EXPECT_EQ(std::erase_if(lines, is_report), 1U);
  EXPECT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines, ::testing::Each(::testing::HasSubstr(
                         "]error code 507035: EZ2001: aclnnEmbeddingDenseBackward: indices")));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& line) { return line.ends_with("has returned it)"); }),
            4);
}

TEST_F(LogTest, FilesAreBoundedInSizeAndNumber) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
  const Variable files("ASCEND_HOST_LOG_FILE_NUM", "2");
  Fail(450'000);  // about 65 MB of lines
  const std::vector<fs::path> left = Files();
  EXPECT_EQ(left.size(), 2U);
  for (const fs::path& file : left) EXPECT_LE(fs::file_size(file), 20U << 20) << file;
}

TEST_F(LogTest, GoesToStandardOutputInstead) {
  for (const char* name : {"ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_LOG_PRINT_TO_STDOUT"}) {
    const Variable to_stdout(name, "1");
    testing::internal::CaptureStdout();
    Fail();
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_THAT(printed, ::testing::StartsWith("[ERROR] ASCENDCL(")) << name;
    EXPECT_THAT(printed, ::testing::EndsWith("\n")) << name;
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << name;
  }
  EXPECT_TRUE(Files().empty());
}

// ASCEND_PROCESS_LOG_PATH, else ASCEND_WORK_PATH, else HOME; with none of them, nowhere.
TEST_F(LogTest, PlaceOfTheFiles) {
  const std::string path = folder_ / "path", work = folder_ / "work", home = folder_ / "home";
  struct Row {
    const char *path, *work, *home;
    std::string folder;
  };
  for (const Row& row :
       {Row{path.c_str(), work.c_str(), home.c_str(), path},
        Row{nullptr, work.c_str(), home.c_str(), work + "/log"},
        Row{"", "", home.c_str(), home + "/ascend/log"}, Row{nullptr, nullptr, nullptr, ""}}) {
    fs::remove_all(folder_);
    const Variable first("ASCEND_PROCESS_LOG_PATH", row.path);
    const Variable second("ASCEND_WORK_PATH", row.work);
    const Variable third("HOME", row.home);
    Fail();
    std::vector<std::string> folders;
    if (fs::exists(folder_)) {
      for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (entry.is_regular_file()) folders.push_back(entry.path().parent_path());
      }
    }
    std::vector<std::string> expected;
    if (!row.folder.empty()) expected.push_back(row.folder + "/debug/plog");
    EXPECT_EQ(folders, expected);
  }
}

TEST_F(LogTest, PlaceThatCannotBeWrittenIsNoError) {
  const Variable nowhere("ASCEND_PROCESS_LOG_PATH", "/proc/no/such");
  Fail();
  EXPECT_TRUE(Files().empty());
}

TEST(LaunchBlockingTest, Phase2WaitsForItsTask) {
  const Variable variable("ASCEND_LAUNCH_BLOCKING", "1");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    Gradient gradient(1, 100'000);
    ASSERT_EQ(gradient.Launch(stream), 0);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    ASSERT_EQ(aclrtStreamQuery(stream, &status), 0);
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
  }
  EXPECT_EQ(aclFinalize(), 0);
}

TEST_F(LogTest, WarnsOfAKindThatDoesNotFitOnce) {
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "2"), check("OPENACLNN_CHECK", "fast");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  {
    DeviceArray<float> device(4);
    std::vector<float> host(4);
    for (int i = 0; i < 3; ++i) {
      for (const auto kind :
           {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
        ASSERT_EQ(aclrtMemcpy(host.data(), 16, device.data(), 16, kind), 0)
            << "the addresses decide";
      }
    }
  }
  ASSERT_EQ(aclrtResetDevice(0), 0);
  ASSERT_EQ(aclFinalize(), 0);
  const std::vector<std::string> lines = Lines();
  const auto told = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("aclrtMemcpy is given a kind that does not fit its pointers") != line.npos;
  });
  EXPECT_EQ(told, 1);
  EXPECT_THAT(lines, ::testing::Contains(::testing::HasSubstr(
                         "kind is 3, dst is host memory; the copy goes device to host")));
}

}  // namespace
}  // namespace openaclnn
