// SPDX-License-Identifier: Apache-2.0
// Capturing, linked in front of the libraries as preloading puts it: what is saved, and that the
// program sees no difference.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <tuple>

#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cat.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/gradient.h"
#include "tests/capture/folder.h"

namespace openaclnn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFolder = CaptureTo("openaclnn_capture");

class CaptureTest : public RuntimeTest {
 protected:
  void TearDown() override {
    RuntimeTest::TearDown();
    fs::remove_all(kFolder);
  }

  static std::vector<fs::path> Folders() {
    std::set<fs::path> found;
    for (const auto& entry : fs::directory_iterator(kFolder)) found.insert(entry.path());
    return {found.begin(), found.end()};
  }
  static json Read(const fs::path& folder) {
    std::ifstream file(folder / "call.json");
    return json::parse(file);
  }
  static std::vector<float> Floats(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::vector<float> values(fs::file_size(file) / sizeof(float));
    stream.read(reinterpret_cast<char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(float)));
    return values;
  }

  /// Both phases of Abs, and synchronise; the first code that is not 0.
  static int Abs(const aclTensor* self, aclTensor* out, aclrtStream stream = nullptr) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int code = aclnnAbsGetWorkspaceSize(self, out, &size, &executor);
    if (code == 0) code = aclnnAbs(nullptr, size, executor, stream);
    return code == 0 ? aclrtSynchronizeStream(stream) : code;
  }
};

TEST_F(CaptureTest, SavesWhatTheCallReadAndWrote) {
  const DeviceArray<float> in({-1, 2, -3}), out(3);
  aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out.data());
  EXPECT_EQ(Abs(self, result), 0) << TakeMessage();
  EXPECT_EQ(out.Read(), (std::vector<float>{1, 2, 3}));
  const auto folders = Folders();
  ASSERT_EQ(folders.size(), 1U);
  const json call = Read(folders[0]);
  EXPECT_EQ(call.at("api"), "aclnnAbs");
  EXPECT_EQ(call.at("product"), "Ascend910B1");
  EXPECT_EQ(call.at("phase_2"), json({{"code", 0}, {"message", ""}}));
  const json& argument = call.at("arguments").at(1);
  EXPECT_EQ(argument.at("name"), "out");
  EXPECT_TRUE(argument.at("output"));
  EXPECT_EQ(argument.at("value").at("shape"), json({3}));
  const json& memory = call.at("memory").at(argument.at("value").at("memory").get<size_t>());
  EXPECT_EQ(memory.at("bytes"), 12);
  const fs::path before = memory.at("before").at("file"), after = memory.at("after").at("file");
  EXPECT_EQ(Floats(folders[0] / before), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(Floats(folders[0] / after), (std::vector<float>{1, 2, 3}));
  // It is what the program computes with: no other user's.
  const auto none = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(folders[0]).permissions() & none, fs::perms::none);
  for (const auto& file : fs::directory_iterator(folders[0])) {
    EXPECT_EQ(file.status().permissions() & none, fs::perms::none) << file.path();
  }
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// With OPENACLNN_CHECK=full nothing is said of what the capture, and nobody else, reads.
TEST_F(CaptureTest, OutputsThatNothingHasWritten) {
  const DeviceArray<float> in({-1, 2, -3});
  void* out = nullptr;
  ASSERT_EQ(aclrtMalloc(&out, 12, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out);
  EXPECT_EQ(Abs(self, result), 0) << TakeMessage();
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  EXPECT_EQ(aclrtFree(out), 0);
}

// What is shared in the program is shared in the capture.
TEST_F(CaptureTest, TensorsInOneMemory) {
  const DeviceArray<float> array({-1, -2, -3, -4});
  aclTensor* const tensor = Gradient::Tensor({4}, ACL_FLOAT, array.data());
  EXPECT_EQ(Abs(tensor, tensor), 0) << TakeMessage();
  const json call = Read(Folders().at(0));
  EXPECT_EQ(call.at("memory").size(), 1U);
  for (const json& argument : call.at("arguments")) EXPECT_EQ(argument["value"]["memory"], 0);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// Addresses that are no device's are not read, whoever refuses them.
TEST_F(CaptureTest, AddressesThatAreNone) {
  const DeviceArray<float> array(4);
  float host[4] = {};
  aclTensor* const good = Gradient::Tensor({4}, ACL_FLOAT, array.data());
  for (void* const address : {static_cast<void*>(host), reinterpret_cast<void*>(uintptr_t{8})}) {
    aclTensor* const bad = Gradient::Tensor({4}, ACL_FLOAT, address);
    EXPECT_EQ(Abs(bad, good), ACLNN_ERR_PARAM_INVALID);
    EXPECT_NE(TakeMessage().find("which is not device memory"), std::string::npos);
    EXPECT_EQ(Abs(bad, nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_NE(TakeMessage().find("out value is null"), std::string::npos);
    EXPECT_EQ(aclDestroyTensor(bad), 0);
  }
  const auto folders = Folders();
  ASSERT_EQ(folders.size(), 4U);
  for (const fs::path& folder : folders) {
    const json memory = Read(folder).at("memory");
    EXPECT_EQ(memory.back().at("before"), nullptr) << memory;
  }
  EXPECT_EQ(aclDestroyTensor(good), 0);
}

// An executor that phase 2 refused may be tried again, and is captured again.
TEST_F(CaptureTest, RetriesAreCaptured) {
  const DeviceArray<float> in(4, -1), out(4);
  aclTensor* const self = Gradient::Tensor({4}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({4}, ACL_FLOAT, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAbsGetWorkspaceSize(self, result, &size, &executor), 0);
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  auto* const bad = reinterpret_cast<aclrtStream>(uintptr_t{0x1234});
  EXPECT_EQ(aclnnAbs(nullptr, 0, executor, bad), 107017);
  TakeMessage();
  EXPECT_EQ(aclnnAbs(nullptr, 0, executor, nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(out.Read()[3], 1);
  const auto folders = Folders();
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(Read(folders[0]).at("phase_2").at("code"), 107017);
  EXPECT_EQ(Read(folders[0]).at("synchronize"), nullptr);
  EXPECT_EQ(Read(folders[1]).at("phase_2").at("code"), 0);
}

/// A capture's first memory of an argument, of which it is the part from the tensor's first byte.
class SavedTensor {
 public:
  SavedTensor(const fs::path& folder, const json& call, const json& value)
      : folder_(folder), piece_(call.at("memory").at(value.at("memory").get<size_t>())) {}
  fs::path before() const { return folder_ / piece_.at("before").at("file"); }

 private:
  const fs::path folder_;
  const json piece_;
};

// Each function that moves an operand of a repeatable executor is followed.
TEST_F(CaptureTest, NewAddressesOfOperands) {
  const DeviceArray<float> first(2, -1), second(2, -2), out(2), other(2);
  aclTensor* const self = Gradient::Tensor({2}, ACL_FLOAT, first.data());
  aclTensor* const result = Gradient::Tensor({2}, ACL_FLOAT, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAbsGetWorkspaceSize(self, result, &size, &executor), 0);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  using Set = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
  const std::tuple<Set, size_t, bool> moves[] = {
      {aclSetInputTensorAddr, 0, true},   {AclSetInputTensorAddr, 0, true},
      {aclSetTensorAddr, 0, true},        {AclSetTensorAddr, 0, true},
      {aclSetOutputTensorAddr, 0, false}, {AclSetOutputTensorAddr, 0, false},
      {aclSetTensorAddr, 1, false},       {AclSetTensorAddr, 1, false}};
  for (const auto& [set, place, input] : moves) {
    for (const bool back : {false, true}) {
      float* const to = input ? (back ? first : second).data() : (back ? out : other).data();
      ASSERT_EQ(set(executor, place, input ? self : result, to), 0) << TakeMessage();
      ASSERT_EQ(aclnnAbs(nullptr, size, executor, nullptr), 0) << TakeMessage();
      const fs::path folder = Folders().back();
      const json call = Read(folder), value = call.at("arguments").at(0).at("value");
      const float wanted = input && !back ? -2 : -1;
      EXPECT_EQ(Floats(SavedTensor(folder, call, value).before()), std::vector<float>(2, wanted));
      EXPECT_EQ((back || input ? out : other).Read(), std::vector<float>(2, -wanted));
      ASSERT_EQ(aclrtMemset(out.data(), 8, 0, 8), 0);
    }
  }
  EXPECT_EQ(aclSetInputTensorAddr(executor, 1, self, first.data()), ACLNN_ERR_PARAM_INVALID);
  TakeMessage();
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// The same for members of lists.
TEST_F(CaptureTest, NewAddressesOfMembers) {
  const DeviceArray<float> first(2, -1), second(2, -2), third(2, -3), out(4);
  const aclTensor* const members[] = {Gradient::Tensor({2}, ACL_FLOAT, first.data()),
                                      Gradient::Tensor({2}, ACL_FLOAT, second.data())};
  aclTensorList* const list = aclCreateTensorList(members, 2);
  aclTensor* const result = Gradient::Tensor({4}, ACL_FLOAT, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnCatGetWorkspaceSize(list, 0, result, &size, &executor), 0) << TakeMessage();
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), 0);
  for (const auto set : {aclSetDynamicInputTensorAddr, AclSetDynamicInputTensorAddr,
                         aclSetDynamicTensorAddr, AclSetDynamicTensorAddr}) {
    for (float* const to : {third.data(), second.data()}) {
      ASSERT_EQ(set(executor, 0, 1, list, to), 0) << TakeMessage();
      ASSERT_EQ(aclnnCat(nullptr, size, executor, nullptr), 0) << TakeMessage();
      const fs::path folder = Folders().back();
      const json call = Read(folder), value = call.at("arguments").at(0).at("value");
      EXPECT_EQ(Floats(SavedTensor(folder, call, value.at(0)).before())[0], -1);
      EXPECT_EQ(Floats(SavedTensor(folder, call, value.at(1)).before())[0],
                to == third.data() ? -3 : -2);
    }
  }
  EXPECT_NE(aclSetDynamicOutputTensorAddr(executor, 0, 0, list, out.data()), 0) << "no list";
  EXPECT_NE(AclSetDynamicInputTensorAddr(executor, 0, 2, list, out.data()), 0) << "no member";
  TakeMessage();
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  EXPECT_EQ(aclDestroyTensorList(list), 0);
  EXPECT_EQ(aclDestroyTensor(result), 0);
}

// Objects that the program has changed are captured as they are.
TEST_F(CaptureTest, ChangedTensors) {
  const DeviceArray<float> first(4, -1), second(4, -2), out(4);
  aclTensor* const self = Gradient::Tensor({4}, ACL_FLOAT, first.data());
  aclTensor* const result = Gradient::Tensor({4}, ACL_FLOAT, out.data());
  ASSERT_EQ(aclSetRawTensorAddr(self, second.data()), 0);
  EXPECT_EQ(Abs(self, result), 0) << TakeMessage();
  json call = Read(Folders().back());
  json value = call.at("arguments").at(0).at("value");
  EXPECT_EQ(Floats(SavedTensor(Folders().back(), call, value).before())[0], -2);
  const int64_t dims[] = {2, 2}, strides[] = {1, 2}, storage[] = {4};
  for (aclTensor* const tensor : {self, result}) {
    void* const data = tensor == self ? first.data() : out.data();
    ASSERT_EQ(
        aclInitTensor(tensor, dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_NCL, storage, 1, data), 0);
  }
  EXPECT_EQ(Abs(self, result), 0) << TakeMessage();
  call = Read(Folders().back());
  value = call.at("arguments").at(0).at("value");
  EXPECT_EQ(value.at("shape"), json({2, 2}));
  EXPECT_EQ(value.at("strides"), json({1, 2}));
  EXPECT_EQ(value.at("format"), static_cast<int>(ACL_FORMAT_NCL));
  EXPECT_EQ(Floats(SavedTensor(Folders().back(), call, value).before()), std::vector<float>(4, -1));
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// What the libraries refuse has no memory that could be read.
TEST_F(CaptureTest, ViewsThatReachNowhere) {
  const DeviceArray<float> memory(4), out(4);
  aclTensor* const result = Gradient::Tensor({4}, ACL_FLOAT, out.data());
  constexpr int64_t kHuge = int64_t{1} << 62;
  struct View {
    int64_t dim, stride, offset, storage;
  };
  const View views[] = {{4, kHuge, 0, 4},     {4, 1, -1, 4},        {-1, 1, 0, 4},
                        {4, 1, INT64_MAX, 4}, {4, 1, 0, INT64_MIN}, {0, 1, 0, 4},
                        {4, kHuge, kHuge, 4}};
  size_t saved = 0;
  for (const View& view : views) {
    aclTensor* const bad = aclCreateTensor(&view.dim, 1, ACL_FLOAT, &view.stride, view.offset,
                                           ACL_FORMAT_FRACTAL_NZ, &view.storage, 1, memory.data());
    EXPECT_EQ(Abs(bad, result), ACLNN_ERR_PARAM_INVALID) << view.dim << " " << view.offset;
    TakeMessage();
    ASSERT_EQ(Folders().size(), ++saved);
    EXPECT_EQ(Read(Folders().back()).at("arguments").at(0).at("value").at("memory"), nullptr);
    EXPECT_EQ(aclDestroyTensor(bad), 0);
  }
  EXPECT_EQ(aclDestroyTensor(result), 0);
}

// Another operator's phase 2 has nothing to do with the call that waits.
TEST_F(CaptureTest, OtherOperatorsAreNotMixedUp) {
  const DeviceArray<float> in(4, -1), out(4);
  aclTensor* const self = Gradient::Tensor({4}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({4}, ACL_FLOAT, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAbsGetWorkspaceSize(self, result, &size, &executor), 0);
  EXPECT_EQ(aclnnAdd(nullptr, 0, executor, nullptr), ACLNN_ERR_INNER);
  TakeMessage();
  EXPECT_FALSE(fs::exists(kFolder));
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST_F(CaptureTest, ThreadsHaveTheirOwn) {
  constexpr int kThreads = 4, kCalls = 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      EXPECT_EQ(aclrtSetDevice(0), 0);
      aclrtStream stream = nullptr;
      EXPECT_EQ(aclrtCreateStream(&stream), 0);
      for (int call = 0; call < kCalls; ++call) {
        const DeviceArray<float> in(5, static_cast<float>(-i)), out(5);
        aclTensor* const self = Gradient::Tensor({5}, ACL_FLOAT, in.data());
        aclTensor* const result = Gradient::Tensor({5}, ACL_FLOAT, out.data());
        EXPECT_EQ(Abs(self, result, stream), 0) << TakeMessage();
        EXPECT_EQ(out.Read()[4], static_cast<float>(i));
        for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
      }
      EXPECT_EQ(aclrtDestroyStream(stream), 0);
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Folders().size(), size_t{kThreads * kCalls});
}

// A daemon's umask keeps nobody out.
TEST_F(CaptureTest, NewFoldersAreTheUsersAlone) {
  const DeviceArray<float> in({-1, 2, -3}), out(3);
  aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out.data());
  const mode_t before = umask(0);
  EXPECT_EQ(Abs(self, result), 0) << TakeMessage();
  umask(before);
  EXPECT_EQ(fs::status(kFolder).permissions(), fs::perms(0700));
  for (const aclTensor* tensor : {self, result}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

/// One captured call of a program that is elsewhere than it was as the libraries were loaded.
[[noreturn]] void CallFromElsewhere() {
  const fs::path elsewhere = kFolder / "else" / "where", before = fs::current_path();
  const std::string name = fs::relative(kFolder / "calls", before);
  fs::create_directories(elsewhere);
  fs::current_path(elsewhere);
  bool well = !name.starts_with("/") && setenv("OPENACLNN_CAPTURE", name.c_str(), 1) == 0;
  const DeviceArray<float> in({-1, 2, -3}), out(3);
  aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  well = well && aclnnAbsGetWorkspaceSize(self, result, &size, &executor) == 0 &&
         aclnnAbs(nullptr, size, executor, nullptr) == 0;
  const bool there = fs::exists(kFolder / "calls" / "000001-aclnnAbs" / "call.json");
  fs::current_path(before);
  fs::remove_all(kFolder);
  _exit(!well ? 99 : there ? 0 : 98);
}

TEST_F(CaptureTest, ChangesOfDirectoryAreNotFollowed) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(CallFromElsewhere(), testing::ExitedWithCode(0), "");
}

[[noreturn]] void CallWhereNoFileMayGrow() {
  const DeviceArray<float> in({-1, 2, -3}), out(3);
  aclTensor* const self = Gradient::Tensor({3}, ACL_FLOAT, in.data());
  aclTensor* const result = Gradient::Tensor({3}, ACL_FLOAT, out.data());
  constexpr rlimit kLittle = {4, 4};
  if (signal(SIGXFSZ, SIG_DFL) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &kLittle) != 0) _exit(99);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  int code = aclnnAbsGetWorkspaceSize(self, result, &size, &executor);
  if (code == 0) code = aclnnAbs(nullptr, size, executor, nullptr);
  if (code == 0) code = aclrtSynchronizeStream(nullptr);
  const bool empty = fs::is_empty(kFolder);
  fs::remove_all(kFolder);
  _exit(code == 0 && empty && out.Read() == std::vector<float>{1, 2, 3} ? 0 : 98);
}

// It costs the capture, and not the program its life.
TEST_F(CaptureTest, ALimitOfFilesEndsNoProgram) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(CallWhereNoFileMayGrow(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace openaclnn
