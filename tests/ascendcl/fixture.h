// SPDX-License-Identifier: Apache-2.0
// What tests of the libraries share: a started runtime, device buffers, held streams, refusals.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace openaclnn {

/// Sets an environment variable (null: removes it) and puts back what was there.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Set(value);
  }
  Variable(const Variable&) = delete;
  ~Variable() { Set(before_ ? before_->c_str() : nullptr); }

 private:
  void Set(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> before_;
};

/// The calling thread's recent error message, which is forgotten; empty when there is none.
inline std::string TakeMessage() {
  const char* message = aclGetRecentErrMsg();
  return message != nullptr ? message : "";
}

/// A call that has to fail: with which code, and what its message has to say.
struct Refusal {
  const char* api;
  std::function<int()> call;
  int code;
  const char* says;
};

/// The message has to be `<prefix>: <api>: … <says> …, expected …`.
inline void ExpectRefused(const Refusal& refusal) {
  SCOPED_TRACE(std::string(refusal.api) + ", " + refusal.says);
  TakeMessage();
  EXPECT_EQ(refusal.call(), refusal.code);
  const std::string message = TakeMessage();
  EXPECT_EQ(message.find(std::string(": ") + refusal.api + ": "), 6u) << message;
  EXPECT_EQ(message.substr(0, 1), "E") << message;
  EXPECT_EQ(message.find_first_not_of("EHZ0123456789"), 6u) << message;
  EXPECT_EQ(message.find("EH9999"), std::string::npos) << "the code has no entry: " << message;
  EXPECT_NE(message.find(refusal.says), std::string::npos) << message;
  EXPECT_NE(message.find("expected"), std::string::npos) << message;
}

/// Device memory that holds values of one type.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count, T fill = T{}) : DeviceArray(std::vector<T>(count, fill)) {}
  explicit DeviceArray(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_EQ(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), 0) << TakeMessage();
    EXPECT_EQ(
        aclrtMemcpy(data_, bytes(), values.data(), count_ * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE),
        0)
        << TakeMessage();
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() {
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFree(data_), 0) << TakeMessage();
    }
  }

  T* data() const { return static_cast<T*>(data_); }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), 0)
        << TakeMessage();
    return values;
  }
  /// Frees the memory before its time.
  void Free() { EXPECT_EQ(aclrtFree(std::exchange(data_, nullptr)), 0) << TakeMessage(); }

 private:
  size_t count_;
  void* data_ = nullptr;
};

/// Pinned host memory.
class PinnedBytes {
 public:
  explicit PinnedBytes(size_t size) { EXPECT_EQ(aclrtMallocHost(&data_, size), 0); }
  PinnedBytes(const PinnedBytes&) = delete;
  ~PinnedBytes() { EXPECT_EQ(aclrtFreeHost(data_), 0); }
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

/// Holds a stream with a host function until it is opened.
class Gate {
 public:
  explicit Gate(aclrtStream stream) {
    EXPECT_EQ(aclrtLaunchHostFunc(stream, Hold, new std::shared_ptr<State>(state_)), 0)
        << TakeMessage();
  }
  Gate(const Gate&) = delete;
  ~Gate() {
    Open();
    if (opener_.joinable()) opener_.join();
  }

  void Open() {
    std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  /// Once: by another thread, while this one waits for the stream, which has come to the gate.
  void OpenSoon() {
    ASSERT_FALSE(opener_.joinable());
    AwaitReached();
    opener_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Open();
    });
  }
  bool IsOpen() const {
    std::lock_guard lock(state_->mutex);
    return state_->open;
  }
  /// Returns once the stream stands at the gate.
  void AwaitReached() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->reached; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool reached = false;
    bool open = false;
  };

  static void Hold(void* argument) {
    const std::unique_ptr<std::shared_ptr<State>> held(
        static_cast<std::shared_ptr<State>*>(argument));
    State& state = **held;
    std::unique_lock lock(state.mutex);
    state.reached = true;
    state.changed.notify_all();
    state.changed.wait(lock, [&] { return state.open; });
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread opener_;
};

/// Starts the runtime with two devices, of which the first is current, and ends it.
class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), 0) << TakeMessage();
    ASSERT_EQ(aclrtSetDevice(0), 0) << TakeMessage();
    TakeMessage();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtResetDevice(0), 0) << TakeMessage();
    EXPECT_EQ(aclFinalize(), 0) << TakeMessage();
  }

  static aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0) << TakeMessage();
    return stream;
  }
  static aclrtEvent NewEvent(uint32_t flags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE) {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&event, flags), 0) << TakeMessage();
    return event;
  }
  static size_t FreeMemory() {
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0) << TakeMessage();
    return free;
  }

 private:
  Variable devices_{"OPENACLNN_DEVICE_COUNT", "2"};
};

}  // namespace openaclnn
