// SPDX-License-Identifier: Apache-2.0
// Numbers in messages, names of files and traces, in a program whose locale groups digits.
#include "common/text.h"

#include <gmock/gmock.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>

#include "aclnnop/aclnn_embedding.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Groups of two digits, and a comma for the point.
class Grouping : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\2"; }
};

class TextTest : public ::testing::Test {
 protected:
  TextTest() : before_(std::locale::global(std::locale(std::locale(), new Grouping))) {
    std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // where the machine has it
    fs::create_directories(folder_);
  }
  ~TextTest() override {
    std::locale::global(before_);
    std::setlocale(LC_NUMERIC, "C");
    fs::remove_all(folder_);
  }

  const std::locale before_;
  // Not a stream's text: the test's own process number must not be grouped.
  const std::string process_ = std::to_string(getpid());
  const fs::path folder_ = fs::temp_directory_path() / ("openaclnn_text_" + process_);
};

TEST_F(TextTest, TheLocaleGroupsWhatStreamsWrite) {
  std::ostringstream stream;
  stream << 12345 << " " << 0.5;
  EXPECT_EQ(stream.str(), "1.23.45 0,5");
}

TEST_F(TextTest, NumbersOfEveryType) {
  EXPECT_EQ(Concat(12345, " ", int64_t{-1234567}, " ", UINT64_MAX, " ", uint8_t{200}),
            "12345 -1234567 18446744073709551615 200");
  EXPECT_EQ(Concat('x', true, ACL_FLOAT16, std::string("y"), std::string_view("z")), "x11yz");
  EXPECT_EQ(Concat(reinterpret_cast<void*>(uintptr_t{0x12345678})), "0x12345678");
}

// The fewest digits that give the number back.
TEST_F(TextTest, Floats) {
  EXPECT_EQ(Concat(0.5, " ", 0.1F, " ", 1234567.0, " ", -1e300), "0.5 0.1 1234567 -1e+300");
  EXPECT_EQ(Concat(1000000.5, " ", 16777217.0), "1000000.5 16777217");
  EXPECT_EQ(Concat(std::numeric_limits<double>::quiet_NaN(), " ", -INFINITY), "nan -inf");
}

TEST_F(TextTest, Messages) {
  ASSERT_EQ(aclInit(nullptr), 0);
  EXPECT_NE(aclrtSetDevice(12345), 0);
  EXPECT_THAT(TakeMessage(), HasSubstr("deviceId value is 12345, expected"));
  const auto make = [](const std::vector<int64_t>& dims, aclDataType dtype) {
    const size_t rank = dims.size();
    return aclCreateTensor(dims.data(), rank, dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(), rank,
                           nullptr);
  };
  const aclTensor* tensors[] = {make({12345, 3}, ACL_FLOAT), make({5}, ACL_INT64),
                                make({12345, 4}, ACL_FLOAT)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnEmbeddingGetWorkspaceSize(tensors[0], tensors[1], tensors[2], &size, &executor),
            161002);
  EXPECT_THAT(TakeMessage(), HasSubstr("out shape is (12345, 4), expected"));
  for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

TEST_F(TextTest, LogFilesAndTraces) {
  const fs::path trace = folder_ / "trace-%p.json";
  const Variable path("ASCEND_PROCESS_LOG_PATH", folder_.c_str());
  const Variable level("ASCEND_GLOBAL_LOG_LEVEL", "3");
  const Variable trace_variable("OPENACLNN_TRACE", trace.c_str());
  ASSERT_EQ(aclInit(nullptr), 0);
  EXPECT_NE(aclrtSetDevice(12345), 0);
  ASSERT_EQ(aclFinalize(), 0);
  const auto log = *fs::directory_iterator(folder_ / "debug" / "plog");
  EXPECT_THAT(log.path().filename().string(), ::testing::StartsWith("plog-" + process_ + "_"));
  std::ifstream stream(log.path());
  std::string line;
  std::getline(stream, line);
  EXPECT_THAT(line, HasSubstr("ASCENDCL(" + process_ + ","));
  EXPECT_THAT(line, ::testing::ContainsRegex("[a-z]\\.cc:[0-9]+\\]"));
  std::ifstream file(folder_ / ("trace-" + process_ + ".json"));
  const nlohmann::json events = nlohmann::json::parse(file);
  EXPECT_FALSE(events.empty());
  for (const auto& event : events) EXPECT_EQ(event.at("pid"), getpid());
}

}  // namespace
}  // namespace openaclnn
