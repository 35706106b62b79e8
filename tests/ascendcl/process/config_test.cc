// SPDX-License-Identifier: Apache-2.0
// The environment variables: what each changes, and what it refuses.
#include "ascendcl/process/config.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "ascendcl/interface.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

/// aclInit with one variable set; ends what it started.
int InitWith(const char* name, const char* value) {
  const Variable variable(name, value);
  const int status = aclInit(nullptr);
  if (status == 0) {
    EXPECT_EQ(aclFinalize(), 0);
  }
  return status;
}

TEST(ConfigTest, WrongValuesAreRefused) {
  struct Row {
    const char *name, *value, *says;
  };
  const int code = ACL_ERROR_RT_SOC_VERSION;  // that of every variable, with EE2002
  for (const Row& row : {
           Row{"OPENACLNN_NUM_THREADS", "0", "expected a number from 1 to 1024"},
           Row{"OPENACLNN_NUM_THREADS", "1025", "is '1025'"},
           Row{"OPENACLNN_NUM_THREADS", "two", "is 'two'"},
           Row{"OPENACLNN_NUM_THREADS", "-1", "is '-1'"},
           Row{"OPENACLNN_NUM_THREADS", " 2", "is ' 2'"},
           Row{"OPENACLNN_NUM_THREADS", "99999999999999999999", "expected a number"},
           Row{"OPENACLNN_DEVICE_COUNT", "0", "expected a number from 1 to 64"},
           Row{"OPENACLNN_DEVICE_COUNT", "65", "is '65'"},
           Row{"OPENACLNN_DEVICE_MEMORY", "0", "a number of bytes"},
           Row{"OPENACLNN_DEVICE_MEMORY", "12Q", "is '12Q'"},
           Row{"OPENACLNN_DEVICE_MEMORY", "M", "is 'M'"},
           Row{"OPENACLNN_DEVICE_MEMORY", "99999999999T", "followed by K, M, G or T"},
           Row{"OPENACLNN_CHECK", "all", "expected off, fast or full"},
           Row{"OPENACLNN_PRODUCTS", "all", "expected documented or lenient"},
           Row{"OPENACLNN_GUARD_PAGES", "yes", "expected 0 or 1"},
           Row{"OPENACLNN_HOST_ACCESS", "2", "expected 0 or 1"},
           Row{"OPENACLNN_SIMD", "sse9", "baseline"},
       }) {
    const std::string says =
        std::string("environment variable ") + row.name + " is '" + row.value + "'";
    ExpectRefused({"aclInit", [&] { return InitWith(row.name, row.value); }, code, row.says});
    ExpectRefused({"aclInit", [&] { return InitWith(row.name, row.value); }, code, says.c_str()});
    InitWith(row.name, row.value);
    EXPECT_EQ(TakeMessage().substr(0, 8), "EE2002: ");
  }
  for (const char* name : {"OPENACLNN_NUM_THREADS", "OPENACLNN_DEVICE_COUNT", "OPENACLNN_SOC",
                           "OPENACLNN_DEVICE_MEMORY", "OPENACLNN_CHECK", "OPENACLNN_PRODUCTS",
                           "OPENACLNN_GUARD_PAGES", "OPENACLNN_SIMD"}) {
    EXPECT_EQ(InitWith(name, ""), 0) << name << " empty counts as not set";
  }
}

// Which has dot products of BFLOAT16 that are slower than what gives the same bits.
TEST(ConfigTest, FastestInstructionSet) {
  EXPECT_EQ(FastestSimd(OPENACLNN_SIMD_AVX512_BF16, /*intel=*/true), OPENACLNN_SIMD_AVX512);
  EXPECT_EQ(FastestSimd(OPENACLNN_SIMD_AVX2, /*intel=*/true), OPENACLNN_SIMD_AVX2);
  EXPECT_EQ(FastestSimd(OPENACLNN_SIMD_AMX, /*intel=*/true), OPENACLNN_SIMD_AMX);
  EXPECT_EQ(FastestSimd(OPENACLNN_SIMD_AVX512_BF16, /*intel=*/false), OPENACLNN_SIMD_AVX512_BF16);
}

TEST(ConfigTest, RefusedInitLeavesTheRuntimeAsItWas) {
  EXPECT_EQ(InitWith("OPENACLNN_NUM_THREADS", "none"), ACL_ERROR_RT_SOC_VERSION);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(InitWith("OPENACLNN_NUM_THREADS", "3"), 0);
}

TEST(ConfigTest, Products) {
  ExpectRefused({"aclInit", [] { return InitWith("OPENACLNN_SOC", "Ascend9000"); },
                 ACL_ERROR_RT_SOC_VERSION, "OPENACLNN_SOC is 'Ascend9000', expected one of"});
  InitWith("OPENACLNN_SOC", "ascend910b1");
  const std::string message = TakeMessage();
  for (const char* known : {"Ascend910A", "Ascend910B1", "Ascend910B4-1", "Ascend910_9391",
                            "Ascend310P3", "Ascend310B1", "Ascend950PR_9579"}) {
    EXPECT_NE(message.find(known), std::string::npos) << known;
    const Variable product("OPENACLNN_SOC", known);
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    EXPECT_STREQ(aclrtGetSocName(), known);
    EXPECT_EQ(aclFinalize(), 0);
  }
}

// Clients take any name that begins so for one of the family.
TEST(ConfigTest, Family950) {
  for (const char* name : {"Ascend950", "Ascend950DT_9582", "Ascend950PR_957z"}) {
    const Variable product("OPENACLNN_SOC", name);
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    EXPECT_STREQ(aclrtGetSocName(), name);
    const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
    OpenaclnnMessage message = {};
    EXPECT_EQ(runtime->product(&message)->family, OPENACLNN_FAMILY_950) << message.text;
    EXPECT_EQ(aclFinalize(), 0);
  }
  for (const char* name : {"Ascend95", "ascend950", " Ascend950"}) {
    EXPECT_EQ(InitWith("OPENACLNN_SOC", name), ACL_ERROR_RT_SOC_VERSION) << name;
  }
  InitWith("OPENACLNN_SOC", "Ascend95");
  EXPECT_NE(TakeMessage().find("begins with Ascend950"), std::string::npos);
}

TEST(ConfigTest, VisibleDevices) {
  struct Row {
    const char* value;
    uint32_t count;
  };
  const Variable devices("OPENACLNN_DEVICE_COUNT", "8");
  for (const Row& row :
       {Row{nullptr, 8}, Row{"0", 1}, Row{"7", 1}, Row{"0,1,2,3,4,5,6,7", 8}, Row{"1, 2,3", 1},
        Row{"1,3,8", 2}, Row{"3,1", 1}, Row{"2,2", 1}, Row{"", 0}, Row{"x", 0}, Row{"-1", 0},
        Row{"0,", 1}, Row{",0", 0}, Row{"0,1x,2", 1}, Row{"99999999999999999999999", 0}}) {
    const Variable visible("ASCEND_RT_VISIBLE_DEVICES", row.value);
    const std::string text = row.value != nullptr ? row.value : "(not set)";
    ASSERT_EQ(aclInit(nullptr), 0) << text;
    uint32_t count = 99;
    EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
    EXPECT_EQ(count, row.count) << text;
    const auto last = static_cast<int32_t>(row.count);
    EXPECT_EQ(aclrtSetDevice(last), ACL_ERROR_RT_INVALID_DEVICEID) << "numbered anew from 0";
    if (last > 0) {
      EXPECT_EQ(aclrtSetDevice(last - 1), 0) << text;
    }
    EXPECT_EQ(aclFinalize(), 0);
  }
}

TEST(ConfigTest, WordsWhereNoDeviceIsShown) {
  const Variable visible("ASCEND_RT_VISIBLE_DEVICES", "3");
  ASSERT_EQ(aclInit(nullptr), 0);
  ExpectRefused(
      {"aclrtSetDevice", [] { return aclrtSetDevice(0); }, ACL_ERROR_RT_INVALID_DEVICEID,
       "deviceId value is 0, expected ASCEND_RT_VISIBLE_DEVICES to show one of 1 devices, "
       "counted from 0; it shows none"});
  EXPECT_EQ(aclFinalize(), 0);
}

TEST(ConfigTest, MemoryLimit) {
  const Variable limit("OPENACLNN_DEVICE_MEMORY", "1M");
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
  EXPECT_EQ(total, 1u << 20);
  EXPECT_EQ(free, total);
  void *first = nullptr, *second = nullptr;
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;
  ExpectRefused({"aclrtMalloc", [&] { return aclrtMalloc(&first, 1 << 20, policy); },
                 ACL_ERROR_RT_MEMORY_ALLOCATION, "size value is 1048576, expected at most"});
  EXPECT_EQ(first, nullptr);
  ASSERT_EQ(aclrtMallocAlign32(&first, 1 << 20, policy), 0) << "exactly what there is";
  EXPECT_EQ(aclrtMalloc(&second, 1, policy), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(aclrtFree(first), 0);
  ASSERT_EQ(aclrtMalloc(&second, 600'000, policy), 0);
  ASSERT_EQ(aclrtMalloc(&first, 400'000, policy), 0);
  EXPECT_EQ(aclrtMalloc(&first, 100'000, policy), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(aclrtFree(first), 0);
  ASSERT_EQ(aclrtFree(second), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

// 80 % of what the machine has, or of what the control group allows.
TEST(ConfigTest, DefaultMemoryLimit) {
  const Variable limit("OPENACLNN_DEVICE_MEMORY", nullptr);
  ASSERT_EQ(aclInit(nullptr), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
  size_t machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream group(path);
    if (size_t allowed = 0; group >> allowed) machine = std::min(machine, allowed);
  }
  // The groups between the root and this process: see control_group_test.cc.
  EXPECT_LE(total, machine / 10 * 8);
  EXPECT_GT(total, 0u);
  EXPECT_EQ(aclFinalize(), 0);
}

// Another number of threads may change no bit, and one must be enough.
TEST(ConfigTest, ThreadCounts) {
  for (const char* count : {"1", "2", "3", "7", "64"}) {
    const Variable threads("OPENACLNN_NUM_THREADS", count);
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    {
      Gradient gradient(1);
      ASSERT_EQ(gradient.Launch(nullptr), 0) << TakeMessage();
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
      EXPECT_EQ(gradient.out().Read()[5], 2.0F);
    }
    ASSERT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
}

TEST(ConfigTest, ConfigFile) {
  const std::string path = testing::TempDir() + "config_test." + std::to_string(getpid());
  const auto init = [&](const char* content) {
    std::ofstream(path) << content;
    const int status = aclInit(path.c_str());
    if (status == 0) {
      EXPECT_EQ(aclFinalize(), 0);
    }
    return status;
  };
  EXPECT_EQ(init("{}"), 0);
  EXPECT_EQ(init(R"({"op_debug_config": {"enable_debug_kernel": "on"}})"), 0);
  ExpectRefused({"aclInit", [&] { return init("{"); }, ACL_ERROR_PARSE_FILE, "is not JSON"});
  ExpectRefused({"aclInit", [&] { return init(""); }, ACL_ERROR_PARSE_FILE, path.c_str()});
  std::remove(path.c_str());
  ExpectRefused({"aclInit", [&] { return aclInit(path.c_str()); }, ACL_ERROR_INVALID_FILE,
                 "expected a file that can be read"});
}

// Functions that need the environment read it when aclInit has not, and refuse with its codes.
TEST(ConfigTest, ReadWithoutInit) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // in a process that has not read it
  EXPECT_EXIT(
      {
        setenv("OPENACLNN_SOC", "Ascend1", 1);
        uint32_t count = 0;
        const bool refused = aclrtGetSocName() == nullptr &&
                             aclrtSetDevice(0) == ACL_ERROR_RT_SOC_VERSION &&
                             aclrtGetDeviceCount(&count) == ACL_ERROR_RT_SOC_VERSION;
        unsetenv("OPENACLNN_SOC");
        _exit(refused && aclrtSetDevice(0) == 0 && aclrtGetSocName() != nullptr ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace openaclnn
