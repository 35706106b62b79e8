// SPDX-License-Identifier: Apache-2.0
// Symbols: what the loader knows of an address, found with its lock and without.
#include "ascendcl/check/symbol.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace openaclnn {
namespace {

const char* At(const char* function, uint64_t offset) {
  return static_cast<const char*>(dlsym(RTLD_DEFAULT, function)) + offset;
}

void ExpectExportedFunctions() {
  Symbol symbol;
  for (const uint64_t offset : {0, 5}) {
    ASSERT_TRUE(FindSymbol(At("getopt_long_only", offset), &symbol));
    ASSERT_NE(symbol.function, nullptr);
    EXPECT_STREQ(symbol.function, "getopt_long_only");
    EXPECT_EQ(symbol.in_function, offset);
    EXPECT_TRUE(symbol.path.ends_with("libc.so.6")) << symbol.path;
  }
  const void* const file = symbol.file;
  ASSERT_TRUE(FindSymbol(At("puts", 0), &symbol));
  EXPECT_EQ(symbol.file, file);
}

void Hidden() {}

void ExpectOtherPlacesInFiles() {
  Symbol symbol;
  const auto* const address = reinterpret_cast<const char*>(&Hidden);
  Dl_info known = {};
  ASSERT_NE(dladdr(address, &known), 0);
  ASSERT_TRUE(FindSymbol(address, &symbol));
  EXPECT_EQ(symbol.function, nullptr);
  EXPECT_EQ(symbol.in_file, static_cast<uint64_t>(address - static_cast<char*>(known.dli_fbase)));
  EXPECT_TRUE(std::string(symbol.path).ends_with("runtime_tables")) << symbol.path;
}

void ExpectNoFile() {
  Symbol symbol;
  int local = 0;
  EXPECT_FALSE(FindSymbol(&local, &symbol));
  EXPECT_FALSE(FindSymbol(nullptr, &symbol));
  EXPECT_FALSE(FindSymbol(reinterpret_cast<const void*>(UINTPTR_MAX), &symbol));
}

TEST(SymbolTest, WithTheLoadersLockAndWithout) {
  for (const bool without : {false, true}) {
    SCOPED_TRACE(without);
    if (without) PrepareSymbols();
    ExpectExportedFunctions();
    ExpectOtherPlacesInFiles();
    ExpectNoFile();
  }
}

}  // namespace
}  // namespace openaclnn
