// SPDX-License-Identifier: Apache-2.0
// Capturing in a program that has none of the libraries: each function that is stood in front of
// says that there is none behind it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/abi/exports.h"

namespace openaclnn {
namespace {

constexpr int kMissing = 561000;  // ACLNN_ERR_INNER

/// Called with nothing but nulls, as far as the longest has parameters.
long Call(void* function) {
  using Any = long (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                       void*, void*, void*, void*, void*, void*, void*, void*, void*);
  void* const z = nullptr;
  return reinterpret_cast<Any>(function)(z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z,
                                         z);
}

TEST(CaptureAloneTest, FunctionsOfNoLibraryAreMissing) {
  const std::filesystem::path folder =
      testing::TempDir() + "capture_alone." + std::to_string(getpid());
  setenv("OPENACLNN_CAPTURE", folder.c_str(), 1);
  void* const library = dlopen(OPENACLNN_CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  size_t operators = 0, others = 0;
  for (const char* behind : {"opapi", "nnopbase", "ascendcl"}) {
    for (const std::string& name : ExportsOf(behind)) {
      void* const function = dlsym(library, name.c_str());
      if (function == nullptr) continue;  // it stands in front of some
      ++(name.starts_with("aclnn") ? operators : others);
      const long result = Call(function);
      if (name.starts_with("aclCreate") || name == "aclGetRecentErrMsg") {  // an address
        EXPECT_EQ(result, 0) << name;
      } else {
        EXPECT_EQ(static_cast<int>(result), kMissing) << name;
      }
    }
  }
  EXPECT_GT(operators, 800U);
  EXPECT_GT(others, 20U);
  EXPECT_FALSE(std::filesystem::exists(folder)) << "nothing is saved";
}

}  // namespace
}  // namespace openaclnn
