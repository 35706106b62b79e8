// SPDX-License-Identifier: Apache-2.0
// Symbols: what the loader knows of an address, found with its lock and without.
#include "ascendcl/process/symbol.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "ascendcl/memory/place.h"

#ifdef __SANITIZE_THREAD__
// The loader's lock, under which its list is read and freed, is not seen.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions() {
  return "race:openaclnn::WriteCallStack\n";
}
#endif

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
  ASSERT_TRUE(FindSymbol(At("getopt_long", 0), &symbol));
  EXPECT_EQ(symbol.file, file);
}

/// To their last byte, and not behind it.
void ExpectFunctionsOf(const char* library) {
  SCOPED_TRACE(library);
  void* const file = dlopen(library, RTLD_NOW);
  ASSERT_NE(file, nullptr) << dlerror();
  for (const char* name : {"function1000", "function4999"}) {
    const auto* const address = static_cast<const char*>(dlsym(file, name));
    Dl_info known = {};
    const ElfW(Sym)* entry = nullptr;
    ASSERT_NE(dladdr1(address, &known, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&entry)),
                      RTLD_DL_SYMENT),
              0);
    Symbol symbol;
    ASSERT_TRUE(FindSymbol(address + entry->st_size - 1, &symbol));
    EXPECT_STREQ(symbol.function, name);
    EXPECT_EQ(symbol.in_function, entry->st_size - 1);
    ASSERT_TRUE(FindSymbol(address + entry->st_size, &symbol));
    EXPECT_STRNE(symbol.function, name);
  }
  dlclose(file);
}

void ExpectNoFunctionAtAVariable() {
  Symbol symbol;
  ASSERT_TRUE(FindSymbol(At("stdout", 0), &symbol));
  EXPECT_EQ(symbol.function, nullptr);
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
    ExpectFunctionsOf(OPENACLNN_MANY_FUNCTIONS);
    ExpectFunctionsOf(OPENACLNN_OLD_FUNCTIONS);
    ExpectNoFunctionAtAVariable();
    ExpectOtherPlacesInFiles();
    ExpectNoFile();
  }
}

// Another thread unloads the file that a call came from, while that is told.
TEST(SymbolTest, FilesThatAreUnloadedMeanwhile) {
  PrepareSymbols();
  constexpr const char* kLast = "function4999";
  std::atomic<void*> call{nullptr};
  const auto load = [&call] {
    void* file = dlopen(OPENACLNN_MANY_FUNCTIONS, RTLD_NOW);
    call = static_cast<char*>(dlsym(file, kLast)) + 1;
    return file;
  };
  Place place;
  place.begin = &place;
  place.made_from.count = 1;
  const auto tells = [&] {
    place.made_from.frames[0] = call;
    return TextOf(&place, 1, place).find(std::string("from ") + kLast) != std::string::npos;
  };
  void* const file = load();
  EXPECT_TRUE(tells());
  dlclose(file);
  std::atomic<bool> ended{false};
  std::thread loads([&] {
    for (int i = 0; i < 2000; ++i) dlclose(load());
    ended = true;
  });
  int told = 0;
  while (!ended) told += static_cast<int>(tells());
  loads.join();
  RecordProperty("told", told);  // by chance: the file is there for a part of the time
  EXPECT_FALSE(tells()) << "the file is unloaded";
  void* const again = load();
  EXPECT_TRUE(tells());
  dlclose(again);
}

}  // namespace
}  // namespace openaclnn
