// SPDX-License-Identifier: Apache-2.0
// The libraries by dlopen: their names, symbols through the handle, dlclose with live threads.
#include <dlfcn.h>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

TEST(LoadTest, ByName) {
  for (const char* name : {"libascendcl.so", "libnnopbase.so", "libopapi.so"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    if (library != nullptr) {
      EXPECT_EQ(dlclose(library), 0);
    }
  }
}

// Frameworks look the meta API up through libopapi's handle.
TEST(LoadTest, MetaApiThroughTheOperatorLibrary) {
  void* library = dlopen("libopapi.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const char* symbol :
       {"aclnnEmbeddingDenseBackward", "aclCreateTensor", "aclDestroyTensor", "aclCreateScalar",
        "aclCreateIntArray", "aclGetViewShape", "aclGetRecentErrMsg", "aclrtMalloc"}) {
    EXPECT_NE(dlsym(library, symbol), nullptr) << symbol;
  }
  for (const char* hidden : {"_ZN9openaclnn6ReportEPKcRKNS_6StatusE", "aclnnNoSuchOperator"}) {
    EXPECT_EQ(dlsym(library, hidden), nullptr) << hidden;
  }
  EXPECT_EQ(dlclose(library), 0);
}

// As torch-npu does, which reads the counter's frequency from 7.25.5 on.
TEST(LoadTest, TheDriversVersion) {
  void* library = dlopen("libascend_hal.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "halGetAPIVersion"));
  ASSERT_NE(get, nullptr) << dlerror();
  int version = 0;
  EXPECT_EQ(get(&version), 0);
  EXPECT_GE(version, 0x070000);
  EXPECT_LT(version, 0x071905);
  EXPECT_EQ(dlsym(library, "halGetDeviceInfo"), nullptr);
  EXPECT_NE(get(nullptr), 0);
  EXPECT_EQ(dlclose(library), 0);
}

// Threads of the runtime stand in its code: dlclose may not take that away.
TEST(LoadTest, CloseWhileItsThreadsLive) {
  using Call = aclError (*)(int32_t);
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen("libascendcl.so", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    const auto set = reinterpret_cast<Call>(dlsym(library, "aclrtSetDevice"));
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(set(0), 0);
    DeviceArray<uint8_t> bytes(64);
    EXPECT_EQ(aclrtMemsetAsync(bytes.data(), 64, 1, 64, nullptr), 0);
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  }
}

}  // namespace
}  // namespace openaclnn
