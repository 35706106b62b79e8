// SPDX-License-Identifier: Apache-2.0
// A group of calls that is made while memory is short, or the kernel refuses, and what has to hold
// of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "tests/ascendcl/fixture.h"
#include "tests/support/short_kernel.h"

namespace openaclnn {

/// Calls that belong together, and the end of what they make. Nothing here needs memory: what is to
/// be said of a call is noted, and said when there is memory again.
class CallGroup {
 public:
  virtual ~CallGroup() = default;
  /// Makes the calls up to the first that fails; whether none did.
  virtual bool Use() = 0;
  /// Ends what Use has made and what is still there; whether nothing is left.
  virtual bool End() = 0;

  /// Each call that failed has said that memory was short.
  void ExpectShortages() {
    for (size_t i = 0; i < num_notes_; ++i) {
      const Note& note = notes_[i];
      SCOPED_TRACE(note.api);
      EXPECT_TRUE(note.code == ACL_ERROR_BAD_ALLOC || note.code == ACL_ERROR_RT_MEMORY_ALLOCATION ||
                  note.code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL)
          << note.code << ": " << note.text;
      const std::string text = note.text;
      EXPECT_EQ(text.find("EE10"), 0u) << text;
      EXPECT_NE(text.find(": acl"), std::string::npos) << text;
    }
    num_notes_ = 0;
  }
  /// None has failed.
  void ExpectNone() {
    for (size_t i = 0; i < num_notes_; ++i) {
      ADD_FAILURE() << notes_[i].api << ": " << notes_[i].code << ": " << notes_[i].text;
    }
    num_notes_ = 0;
  }

 protected:
  bool Ok(const char* api, int code) {
    if (code == 0) return true;
    Note& note = notes_[std::min(num_notes_++, notes_.size() - 1)];
    num_notes_ = std::min(num_notes_, notes_.size());
    const char* text = aclGetRecentErrMsg();
    note.api = api;
    note.code = code;
    std::snprintf(note.text, sizeof(note.text), "%s", text != nullptr ? text : "no message");
    return false;
  }
  /// The same for a function that returns what it makes.
  template <class Handle>
  bool Made(const char* api, Handle* made, Handle** thing) {
    *thing = made;
    return made != nullptr || Ok(api, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  }
  /// Ends a thing that was made and is still there.
  template <class Handle, class Destroy>
  bool Gone(const char* api, Handle*& thing, Destroy&& destroy) {
    if (thing != nullptr && Ok(api, destroy(thing))) thing = nullptr;
    return thing == nullptr;
  }

 private:
  struct Note {
    const char* api = "";
    int code = 0;
    char text[256] = "";
  };
  std::array<Note, 16> notes_;
  size_t num_notes_ = 0;
};

inline ptrdiff_t OpenDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

/// From aclInit to aclFinalize: the group while something is short, its end with enough again, and
/// the group once more. Returns how many allocations, or calls of the kernel, failed.
template <class Group, class Short>
int64_t LiveThrough(const test::Shortage& shortage) {
  const ptrdiff_t descriptors = OpenDescriptors();
  EXPECT_EQ(aclInit(nullptr), 0) << TakeMessage();
  EXPECT_EQ(aclrtSetDevice(0), 0) << TakeMessage();

  size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), 0) << TakeMessage();
  int64_t failures = 0;
  {
    Group group;
    {
      const Short made(shortage);
      group.Use();
      group.End();
      failures = Short::failures();
    }
    if (failures > 0) group.ExpectShortages();
    EXPECT_TRUE(group.End()) << "with memory again";
    group.ExpectNone();
  }
  {
    Group again;
    EXPECT_TRUE(again.Use()) << "with memory again";
    EXPECT_TRUE(again.End()) << "with memory again";
    again.ExpectNone();
  }
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), 0) << TakeMessage();
  EXPECT_EQ(after, before) << "bytes of the device";
  EXPECT_EQ(aclrtResetDevice(0), 0) << TakeMessage();
  EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  return failures;
}

/// Whether the program runs under OPENACLNN_CHECK=full.
inline bool CheckedFully() {
  const char* const level = std::getenv("OPENACLNN_CHECK");
  return level != nullptr && std::string_view(level) == "full";
}

/// With full the addresses of what was freed rest. A life without drops them.
inline void EndRest() {
  if (!CheckedFully()) return;
  const Variable check("OPENACLNN_CHECK", "off");
  void *device = nullptr, *host = nullptr;
  EXPECT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtMallocHost(&host, 64), 0);
  EXPECT_EQ(aclrtFree(device), 0);
  EXPECT_EQ(aclrtFreeHost(host), 0);
  EXPECT_EQ(aclFinalize(), 0);
}

/// Every allocation of the group fails, or every call of the kernel, once and from then on. What a
/// failure loses it loses each time; what it keeps may depend on the thread that it meets.
template <class Group, class Short = test::ShortMemory>
void EachShortage() {
  const Variable devices("OPENACLNN_DEVICE_COUNT", "2");
  const Variable no_log("ASCEND_GLOBAL_LOG_LEVEL", "4");
  for (const auto fails : {test::Shortage::Fails::kOnce, test::Shortage::Fails::kFromThenOn}) {
    int64_t first = 0;
    for (int64_t failures = 1; failures > 0; ++first) {
      SCOPED_TRACE(first);
      ASSERT_LT(first, 1000);
      const test::Shortage shortage = {first, fails, test::Shortage::Threads::kAll};
      failures = LiveThrough<Group, Short>(shortage);
      EndRest();
      const int64_t live = test::LiveBlocks();
      for (int i = 0; i == 0 || (i < 10 && test::LiveBlocks() > live); ++i) {
        LiveThrough<Group, Short>(shortage);
        EndRest();
      }
      EXPECT_LE(test::LiveBlocks(), live) << "lost";
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(first, 1) << "the group needs some";
  }
}

}  // namespace openaclnn
