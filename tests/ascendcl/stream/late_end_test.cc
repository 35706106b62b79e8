// SPDX-License-Identifier: Apache-2.0
// The log of a late end: what a stream that is being destroyed waits for.
#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The runtime writes its log to a folder of the test's own.
class LateEndTest : public RuntimeTest {
 protected:
  LateEndTest() { std::filesystem::remove_all(folder_); }
  ~LateEndTest() override { std::filesystem::remove_all(folder_); }
  void SetUp() override {
    RuntimeTest::SetUp();
    number_ = std::make_unique<DeviceArray<uint64_t>>(1);
    stream_ = NewStream();
  }
  void TearDown() override {
    number_.reset();
    RuntimeTest::TearDown();
  }

  std::string Logged() const {
    std::string text;
    if (!std::filesystem::exists(folder_)) return text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      text.append(std::istreambuf_iterator<char>(file), {});
    }
    return text;
  }
  void AwaitLogged() const {
    for (int i = 0; i < 100 && Logged().empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  void Wait(aclrtStream stream, uint32_t flag = ACL_STREAM_WAIT_VALUE_EQ) const {
    ASSERT_EQ(aclrtValueWait(number_->data(), 1, flag, stream), 0) << TakeMessage();
  }
  /// On a thread that has no device.
  void Write() const {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), 0);
    EXPECT_EQ(aclrtValueWrite(number_->data(), 1, 0, stream), 0) << TakeMessage();
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    EXPECT_EQ(aclrtDestroyStream(stream), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }
  /// Ends something that waits for the number, which is written once the log tells of that.
  template <class End>
  void WriteOnceLogged(const End& end) const {
    std::thread writer([&] {
      AwaitLogged();
      Write();
    });
    EXPECT_EQ(end(), 0);
    writer.join();
  }
  /// A pointer as the log writes it.
  static std::string Written(const void* pointer) {
    return (std::ostringstream() << pointer).str();
  }
  static std::string Name(aclrtStream stream) { return "stream " + Written(stream); }
  /// The line's beginning where the end of the stream waits.
  static std::string End(aclrtStream stream) {
    return "the end of " + Name(stream) + " has waited 5 s for its work; " + Name(stream) +
           " waits until ";
  }
  std::string NumberIs1() const {
    return "the number at " + Written(number_->data()) +
           " is 1 (it is 0), aclrtDestroyStreamForce would drop the wait";
  }

  aclrtStream stream_ = nullptr;  // which the test ends
  std::unique_ptr<DeviceArray<uint64_t>> number_;

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("openaclnn_late_end_" + std::to_string(getpid()) +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const Variable path_{"ASCEND_PROCESS_LOG_PATH", folder_.c_str()};
};

// Another thread may still write the number, so the wait is neither refused nor dropped.
TEST_F(LateEndTest, TheEndOfAStreamTellsWhatItWaitsFor) {
  DeviceArray<uint8_t> bytes(8);
  Wait(stream_);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 8, 7, 8, stream_), 0);
  WriteOnceLogged([&] { return aclrtDestroyStream(stream_); });
  EXPECT_EQ(bytes.Read()[0], 7) << "no work is lost";
  EXPECT_THAT(Logged(), HasSubstr(End(stream_) + NumberIs1()));
}

TEST_F(LateEndTest, TheEndOfAContextTellsToo) {
  aclrtContext before = nullptr, context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), 0);
  ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
  Wait(nullptr, ACL_STREAM_WAIT_VALUE_GEQ);
  ASSERT_EQ(aclrtSetCurrentContext(before), 0);
  WriteOnceLogged([&] { return aclrtDestroyContext(context); });
  EXPECT_THAT(Logged(), HasSubstr("the default stream of device 0 waits until the number"));
  EXPECT_THAT(Logged(), HasSubstr(" is at least 1 (it is 0), "));
}

// A third stream waits for the same number, and nobody waits for it.
TEST_F(LateEndTest, OnlyStreamsThatItAwaitsAreNamed) {
  const aclrtStream awaited = NewStream(), third = NewStream();
  const aclrtEvent event = NewEvent();
  Wait(third);
  Wait(awaited);
  ASSERT_EQ(aclrtRecordEvent(event, awaited), 0);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  WriteOnceLogged([&] { return aclrtDestroyStream(stream_); });
  const std::string text = Logged();
  EXPECT_THAT(text, HasSubstr(End(stream_) + Name(awaited) +
                              " has come to the record of an event, aclrtDestroyStreamForce would "
                              "drop the wait; " +
                              Name(awaited) + " waits until " + NumberIs1()));
  EXPECT_THAT(text, Not(HasSubstr(Name(third) + " ")));
  EXPECT_EQ(aclrtDestroyStream(third), 0);
  EXPECT_EQ(aclrtDestroyStream(awaited), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(LateEndTest, AFunctionThatRunsIsTold) {
  const aclrtStream other = NewStream();
  Wait(other);
  std::function<void()> wait = [&] { AwaitLogged(); };
  const auto call = [](void* function) { (*static_cast<std::function<void()>*>(function))(); };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, call, &wait), 0) << TakeMessage();
  EXPECT_EQ(aclrtDestroyStream(stream_), 0);
  EXPECT_THAT(Logged(), HasSubstr(End(stream_) + "its host function has returned\n"));
  EXPECT_THAT(Logged(), Not(HasSubstr(Name(other) + " ")));
  std::thread([&] { Write(); }).join();
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

TEST_F(LateEndTest, ACallbackThatNoThreadHasTakenIsTold) {
  std::atomic<bool> subscribed = false, ran = false;
  std::atomic<uint64_t> number = 0;
  std::thread subscriber([&] {
    number = pthread_self();
    while (!subscribed) std::this_thread::yield();
    AwaitLogged();
    EXPECT_EQ(aclrtProcessReport(10'000), 0) << TakeMessage();
  });
  while (number == 0) std::this_thread::yield();
  EXPECT_EQ(aclrtSubscribeReport(number, stream_), 0) << TakeMessage();
  EXPECT_EQ(aclrtLaunchCallback([](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; },
                                &ran, ACL_CALLBACK_BLOCK, stream_),
            0);
  subscribed = true;
  EXPECT_EQ(aclrtDestroyStream(stream_), 0);
  subscriber.join();
  EXPECT_TRUE(ran) << "which is not dropped";
  EXPECT_THAT(Logged(), HasSubstr(End(stream_) + "thread " + std::to_string(number) +
                                  " has taken its callback in aclrtProcessReport, "
                                  "aclrtDestroyStreamForce would drop the wait"));
}

}  // namespace
}  // namespace openaclnn
