// SPDX-License-Identifier: Apache-2.0
// Refusals that are mistakes with memory: each is a finding with its code, and no other refusal is.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "aclnnop/aclnn_exp.h"
#include "tests/ascendcl/gradient.h"
#include "tests/ascendcl/own_operator.h"
#include "tests/ascendcl/watched.h"

namespace openaclnn {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr size_t kBytes = 400;

class RefusalTest : public WatchedTest {
 protected:
  explicit RefusalTest(const char* level = "fast") : WatchedTest(level) {}
  ~RefusalTest() override { std::filesystem::remove(file_); }

  /// What was reported since the last time.
  std::vector<Json> Findings() {
    std::vector<Json> lines;
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(seen_));
    seen_ += lines.size();
    return lines;
  }
  /// There is one, of a call that was refused with this message.
  Json TheFinding(int code) {
    const std::string message = TakeMessage();
    const std::vector<Json> findings = Findings();
    EXPECT_EQ(findings.size(), 1U);
    if (findings.empty()) return {};
    EXPECT_EQ(findings[0]["check"], "memcheck");
    EXPECT_EQ(findings[0]["severity"], "error");
    EXPECT_EQ(findings[0]["code"], code);
    EXPECT_EQ(message.substr(8), findings[0]["title"]) << "behind the code's prefix";
    return findings[0];
  }
  static std::string Where(const Json& finding) { return finding.value("where", ""); }
  static std::string Fix(const Json& finding) { return finding.value("fix", ""); }

  /// aclnnExp of 100 floats at each address.
  static int Exp(void* from, void* to, aclrtStream where) {
    aclTensor* self = Gradient::Tensor({100}, ACL_FLOAT, from);
    aclTensor* out = Gradient::Tensor({100}, ACL_FLOAT, to);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnExpGetWorkspaceSize(self, out, &size, &executor), 0) << TakeMessage();
    const int code = aclnnExp(nullptr, size, executor, where);
    if (code != 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    EXPECT_EQ(aclDestroyTensor(self), 0);
    EXPECT_EQ(aclDestroyTensor(out), 0);
    return code;
  }

 private:
  const std::string file_ = testing::TempDir() + "refusals." + std::to_string(getpid());
  const Variable name_{"OPENACLNN_CHECK_JSON", file_.c_str()};
  size_t seen_ = 0;
};

TEST_F(RefusalTest, OperandsThatAreNotTheDevices) {
  DeviceArray<uint8_t> memory(kBytes), shorter(kBytes - 4);
  float host[100] = {};
  TakeMessage();
  ASSERT_EQ(Exp(host, memory.data(), stream), 161002);
  Json finding = TheFinding(161002);
  EXPECT_EQ(Where(finding), "");
  EXPECT_THAT(Fix(finding), StartsWith("allocate it with aclrtMalloc"));

  ASSERT_EQ(Exp(memory.data(), shorter.data(), stream), 161002);
  finding = TheFinding(161002);
  EXPECT_THAT(Where(finding), StartsWith("bytes 0 to 399, beyond the end of the 396 that were "
                                         "allocated at 0x"));
  EXPECT_THAT(Fix(finding), HasSubstr("too large"));

  uint8_t* const freed = shorter.data();
  shorter.Free();
  ASSERT_EQ(Exp(freed, memory.data(), stream), 161002);
  finding = TheFinding(161002);
  EXPECT_THAT(Where(finding), ContainsRegex("the 396 that were allocated at 0x[0-9a-f]+ on device "
                                            "0 by aclrtMalloc and that aclrtFree has freed"));
  EXPECT_EQ(Fix(finding), "free memory when nothing uses it any more");
}

TEST_F(RefusalTest, CopiesFromAndToNoMemory) {
  DeviceArray<uint8_t> memory(kBytes);
  std::vector<uint8_t> host(2 * kBytes);
  TakeMessage();
  ASSERT_EQ(aclrtMemcpy(memory.data(), 500, host.data(), 500, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_THAT(Where(TheFinding(107000)), StartsWith("bytes 0 to 499, beyond the end of the 400 "));
  ASSERT_EQ(aclrtMemset(memory.data() + 1, UINT64_MAX, 0, UINT64_MAX), 107000);
  EXPECT_THAT(Where(TheFinding(107000)), StartsWith("byte 1 of the 400 "));
  constexpr uint64_t kMost = uint64_t{1} << 62;  // of which all are numbered
  ASSERT_EQ(aclrtMemsetAsync(memory.data() + 1, kMost, 0, kMost, stream), 107000);
  EXPECT_THAT(Where(TheFinding(107000)),
              StartsWith("bytes 1 to 4611686018427387904, beyond the end of the 400 "));
  ASSERT_EQ(aclrtMemcpyAsync(memory.data() + 1, kMost + 1, memory.data() + 1, kMost + 1,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
            107000);
  EXPECT_THAT(Where(TheFinding(107000)), StartsWith("byte 1 of the 400 "));
  ASSERT_EQ(aclrtMemcpyAsync(memory.data(), 4, stream, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            107000);
  const Json finding = TheFinding(107000);
  EXPECT_EQ(Where(finding), "");
  EXPECT_EQ(Fix(finding), "give an address of memory that lives");
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), 0);
  ASSERT_EQ(aclrtFreeHost(pinned), 0);
  ASSERT_EQ(aclrtMemsetAsync(pinned, 4, 0, 4, stream), 107000);
  EXPECT_THAT(Where(TheFinding(107000)), HasSubstr(" that aclrtFreeHost has freed"));
}

TEST_F(RefusalTest, KernelsAddressesAreNoProgramsPlace) {
  constexpr size_t kLarge = size_t{100} << 20;  // whose kernels' addresses are right behind it
  DeviceArray<uint8_t> memory(kLarge);
  TakeMessage();
  ASSERT_EQ(aclrtMemset(memory.data() + kLarge, 64, 0, 64), 107000);
  EXPECT_THAT(Where(TheFinding(107000)),
              StartsWith("bytes 104857600 to 104857663, behind the 104857600 that were "));
  ASSERT_EQ(aclrtMemset(memory.data() + kLarge + kLarge / 2, 64, 0, 64), 107000);
  const Json finding = TheFinding(107000);
  EXPECT_EQ(Where(finding), "");
  EXPECT_EQ(Fix(finding), "give an address of memory that lives");
}

TEST_F(RefusalTest, WhatIsNoAllocationIsFreed) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  TakeMessage();
  ASSERT_EQ(aclrtFree(static_cast<char*>(memory) + 64), 107000);
  EXPECT_THAT(Where(TheFinding(107000)), StartsWith("byte 64 of the 400 "));
  ASSERT_EQ(aclrtFreeHost(memory), 107000);
  EXPECT_THAT(Fix(TheFinding(107000)), HasSubstr("aclrtFree takes device memory"));
  ASSERT_EQ(aclrtFree(memory), 0);
  ASSERT_EQ(aclrtFree(memory), 107000);
  EXPECT_THAT(Where(TheFinding(107000)), HasSubstr(" and that aclrtFree has freed"));
  ASSERT_EQ(aclrtFree(memory), 107000);
  EXPECT_EQ(Findings().size(), 0U) << "told once";
  EXPECT_THAT(Reported(), HasSubstr("openaclnn: memcheck: aclrtFree: devPtr value is 0x"));
}

// Of one mistake in a loop, whatever the addresses, there is one report, and room for others.
TEST_F(RefusalTest, ALoopIsToldOnce) {
  DeviceArray<uint8_t> memory(kBytes);
  std::vector<float> host(400);
  for (size_t i = 0; i < 150; ++i) {
    ASSERT_EQ(Exp(host.data() + i, memory.data(), stream), 161002);
  }
  EXPECT_EQ(Findings().size(), 1U);
  TakeMessage();
  ASSERT_EQ(aclrtFreeHost(memory.data()), 107000);
  TheFinding(107000);
  ASSERT_EQ(aclrtMemset(memory.data(), 500, 0, 500), 107000);
  TheFinding(107000);
  ASSERT_EQ(aclrtMemsetAsync(memory.data(), 500, 0, 500, stream), 107000);
  TheFinding(107000);
}

TEST_F(RefusalTest, ValuesOutOfRange) {
  Gradient gradient(Gradient::kOutOfRange);
  ASSERT_EQ(gradient.Launch(stream), 0) << TakeMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 507035);
  const Json finding = TheFinding(507035);
  EXPECT_EQ(finding["title"],
            "aclnnEmbeddingDenseBackward: indices value 0 is 9, expected 0 <= value < 2");
  EXPECT_THAT(Where(finding), StartsWith("bytes 0 to 7 of the 8 that were allocated at 0x"));
  EXPECT_THAT(Fix(finding), StartsWith("look where the value comes from"));
}

TEST_F(RefusalTest, ValuesOfNoOperand) {
  OwnOperator own([](void* const*, void*) { return 507035; });
  const DeviceArray<float> out(8);
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {8}, {1}}, out.data());
  ASSERT_EQ(own.Launch(stream), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 507035);
  EXPECT_EQ(Where(TheFinding(507035)), "");
}

// Of a list the report names the member's memory, and rather none than another's.
TEST_F(RefusalTest, ValuesOfMembersOfLists) {
  OwnOperator own([](void* const*, void*) { return 507035; });
  const DeviceArray<float> first(4), last(12), out(1);
  own.Add("in", OPENACLNN_INPUT, {ACL_FLOAT, {4}, {1}}, first.data());
  own.Add("in", OPENACLNN_INPUT, {ACL_FLOAT, {0}, {1}}, nullptr);
  own.Add("in", OPENACLNN_INPUT, {ACL_FLOAT, {8}, {1}}, last.data() + 4);
  own.Add("out", OPENACLNN_OUTPUT, {ACL_FLOAT, {1}, {1}}, out.data());
  for (const auto& [words, where] :
       {std::pair("in[0] value is odd", "bytes 0 to 15 of the 16 "),
        std::pair("in[2] value is even", "bytes 16 to 47 of the 48 "),
        std::pair("out value is large", "bytes 0 to 3 of the 4 "),
        std::pair("in[1] value is none", ""), std::pair("in[3] value is behind", ""),
        std::pair("in value is anywhere", "")}) {
    SCOPED_TRACE(words);
    own.Say(words);
    ASSERT_EQ(own.Launch(stream), 0) << TakeMessage();
    ASSERT_EQ(aclrtSynchronizeStream(stream), 507035);
    const std::string told = Where(TheFinding(507035));
    EXPECT_TRUE(*where != '\0' ? told.starts_with(where) : told.empty()) << told;
  }
}

TEST_F(RefusalTest, OtherRefusalsAreNone) {
  DeviceArray<uint8_t> memory(2 * kBytes);
  aclrtPtrAttributes attributes;
  void* address = nullptr;
  EXPECT_EQ(aclrtPointerGetAttributes(this, &attributes), 0) << "a question";
  EXPECT_NE(aclrtMalloc(&address, 0, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_NE(aclrtMalloc(&address, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_NE(aclrtFree(nullptr), 0);
  EXPECT_NE(aclrtMemcpy(nullptr, 1, memory.data(), 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_NE(aclrtMemset(memory.data(), 1, 0, 2), 0);
  EXPECT_NE(
      aclrtMemcpyAsync(memory.data(), 1, memory.data() + 1, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream),
      0);
  EXPECT_NE(Exp(nullptr, memory.data(), stream), 0);
  EXPECT_NE(Exp(memory.data(), memory.data() + 4, nullptr), 0) << "shared, within the allocation";
  EXPECT_NE(aclrtDestroyStream(memory.data()), 0);
  EXPECT_EQ(Findings().size(), 0U);
}

class UncheckedRefusalTest : public RefusalTest {
 protected:
  UncheckedRefusalTest() : RefusalTest("off") {}
};

TEST_F(UncheckedRefusalTest, NothingIsReported) {
  float host[100] = {};
  EXPECT_EQ(Exp(host, host, stream), 161002);
  EXPECT_EQ(aclrtFree(host), 107000);
  EXPECT_EQ(Findings().size(), 0U);
  EXPECT_EQ(Reported(), "");
}

// Programs free at their exit what aclFinalize has freed: once that is no mistake.
TEST(RefusalAtExitTest, AFreeAfterFinalizeIsNone) {
  testing::internal::CaptureStderr();
  void* memory = nullptr;
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclFinalize(), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace openaclnn
