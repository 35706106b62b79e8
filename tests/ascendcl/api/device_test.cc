// SPDX-License-Identifier: Apache-2.0
// Devices: set, reset, count, names, peers, synchronise.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

class DeviceTest : public RuntimeTest {};

TEST_F(DeviceTest, SetAndGetBelongToTheThread) {
  int32_t device = -1;
  std::thread([] {
    int32_t inner = -1;
    EXPECT_EQ(aclrtGetDevice(&inner), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(inner, -1);
    ASSERT_EQ(aclrtSetDevice(1), 0);
    EXPECT_EQ(aclrtGetDevice(&inner), 0);
    EXPECT_EQ(inner, 1);
    EXPECT_EQ(aclrtResetDevice(1), 0);
  }).join();
  ASSERT_EQ(aclrtGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
}

TEST_F(DeviceTest, ResetCountsSets) {
  aclrtContext first = nullptr, second = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtGetCurrentContext(&second), 0);
  EXPECT_EQ(first, second) << "threads and calls share a device's default context";
  ASSERT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtGetCurrentContext(&second), 0) << "one set is still open";
  ASSERT_EQ(aclrtResetDevice(0), 0);
  EXPECT_EQ(aclrtGetCurrentContext(&second), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSetCurrentContext(first), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetDevice(0), 0);
}

TEST_F(DeviceTest, LastResetEndsStreamsAndWaitsForTheirWork) {
  DeviceArray<uint8_t> bytes(64, 1);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  aclrtStream stream = NewStream();
  for (int i = 2; i < 200; ++i) {
    ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, i, 64, stream), 0);
  }
  ASSERT_EQ(aclrtResetDevice(1), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 199));
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST_F(DeviceTest, Facts) {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetRunMode(&mode), 0);
  EXPECT_EQ(mode, ACL_HOST);
  int32_t major = 0, minor = 0, patch = -1;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), 0);
  EXPECT_EQ(major, ACL_MAJOR_VERSION);
  EXPECT_EQ(minor, ACL_MINOR_VERSION);
  EXPECT_EQ(patch, ACL_PATCH_VERSION);
}

TEST_F(DeviceTest, Peers) {
  int32_t can = -1;
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 1, 1), 0);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), 0) << "twice is no error";
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), 0);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), 0);
}

TEST_F(DeviceTest, CopiesBetweenDevices) {
  DeviceArray<uint32_t> here({1, 2, 3, 4});
  ASSERT_EQ(aclrtSetDevice(1), 0);
  DeviceArray<uint32_t> there(4);
  ASSERT_EQ(aclrtMemcpyAsync(there.data(), 16, here.data(), 16, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE,
                             nullptr),
            0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(there.Read(), here.Read());
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST_F(DeviceTest, SynchronizeWaitsForAllContextsOfTheDevice) {
  DeviceArray<uint8_t> bytes(64);
  aclrtContext main = nullptr, other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&main), 0);
  ASSERT_EQ(aclrtCreateContext(&other, 0), 0);
  aclrtStream stream = NewStream();
  auto gate = std::make_unique<Gate>(stream);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 9, 64, stream), 0);
  ASSERT_EQ(aclrtSetCurrentContext(main), 0);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_NE(TakeMessage().find("device is not done after 0 ms"), std::string::npos);
  gate->Open();
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 9));
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-1), 0);
  EXPECT_EQ(aclrtDestroyContext(other), 0);
}

// Whether a timed synchronise that began before a task was queued ends without waiting for it.
bool EndsWithoutLaterWork(aclrtContext context, aclrtStream stream) {
  std::atomic<bool> begun{false}, ended{false};
  Gate gate(stream);
  std::thread waiter([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), 0);
    begun = true;
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(60'000), 0) << TakeMessage();
    ended = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream), 0);
  gate.Open();
  for (int i = 0; i < 100 && !ended; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const bool in_time = ended;
  EXPECT_EQ(aclrtProcessReport(60'000), 0);  // lets the later task go on
  waiter.join();
  return in_time;
}

TEST_F(DeviceTest, TimedSynchronizeLeavesLaterWorkAlone) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  aclrtStream stream = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), 0);
  bool in_time = false;
  // On a busy machine the waiter may begin too late to tell; once is enough.
  for (int i = 0; i < 5 && !in_time; ++i) in_time = EndsWithoutLaterWork(context, stream);
  EXPECT_TRUE(in_time);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace openaclnn
