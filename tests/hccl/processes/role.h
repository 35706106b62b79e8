// SPDX-License-Identifier: Apache-2.0
// What the roles of the processes share: how ranks meet, device memory, what must hold.
#pragma once

#include <dirent.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/numbers.h"
#include "hccl/processes/processes.h"

namespace openaclnn::ranks {

/// What went wrong first; the process ends with 1.
struct Failed {};

inline void Require(bool ok, const char* what, int got = 0) {
  if (ok) return;
  const char* words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, got, words != nullptr ? words : "");
  throw Failed();
}
#define REQUIRE(call)                      \
  do {                                     \
    const int result_ = (call);            \
    Require(result_ == 0, #call, result_); \
  } while (false)

inline void Reach(const std::string& file) {
  std::ofstream(Job::Folder() + "/" + file) << "here\n";
}

/// Waits until a rank, or the test, has made the file.
inline void AwaitFile(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

inline HcclRootInfo MeetBy(uint32_t number, bool root) {
  HcclRootInfo info;
  const std::string path = Job::PathOfInfo(number);
  if (root) {
    REQUIRE(HcclGetRootInfo(&info));
    std::ofstream(path + ".new", std::ios::binary).write(info.internal, sizeof(info.internal));
    std::filesystem::rename(path + ".new", path);
    return info;
  }
  AwaitFile(path);
  std::ifstream(path, std::ios::binary).read(info.internal, sizeof(info.internal));
  return info;
}

inline HcclComm MakeComm(uint32_t ranks, uint32_t rank, uint32_t number, uint32_t root = 0) {
  const HcclRootInfo info = MeetBy(number, rank == root);
  HcclComm comm = nullptr;
  REQUIRE(HcclCommInitRootInfo(ranks, &info, rank, &comm));
  return comm;
}

/// Device memory with values.
template <class T>
class Device {
 public:
  explicit Device(const std::vector<T>& values) : count_(values.size()) {
    REQUIRE(aclrtMalloc(&data_, count_ * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(aclrtMemcpy(data_, count_ * sizeof(T), values.data(), count_ * sizeof(T),
                        ACL_MEMCPY_HOST_TO_DEVICE));
  }
  Device(const Device&) = delete;
  ~Device() { aclrtFree(data_); }
  T* data() const { return static_cast<T*>(data_); }
  /// The first of them anew.
  void Write(const std::vector<T>& values) const {
    REQUIRE(aclrtMemcpy(data_, count_ * sizeof(T), values.data(), values.size() * sizeof(T),
                        ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    REQUIRE(aclrtMemcpy(values.data(), count_ * sizeof(T), data_, count_ * sizeof(T),
                        ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

template <class T>
Vectors<T> Inputs(uint32_t ranks, size_t count, uint32_t seed) {
  Vectors<T> inputs;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    inputs.push_back(Random<T>(count, seed * 100 + rank));
  }
  return inputs;
}

/// One rank, and where it calls.
struct Here {
  uint32_t ranks, rank;
  HcclComm comm;
  aclrtStream stream;
};

inline aclrtStream Start() {
  aclrtStream stream = nullptr;
  REQUIRE(aclInit(nullptr));
  REQUIRE(aclrtSetDevice(0));
  REQUIRE(aclrtCreateStream(&stream));
  return stream;
}

inline size_t OpenDescriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

/// Whether it comes true in a second.
inline bool Soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

inline size_t FreeMemory() {
  size_t free = 0, total = 0;
  REQUIRE(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

/// The roles by name; files of them enter theirs.
inline std::map<std::string, Role>& Roles() {
  static std::map<std::string, Role> roles;
  return roles;
}

template <int (*kRole)(uint32_t, uint32_t)>
int Run(uint32_t ranks, uint32_t rank) {
  try {
    return kRole(ranks, rank);
  } catch (const Failed&) {
    return 1;
  }
}

}  // namespace openaclnn::ranks
