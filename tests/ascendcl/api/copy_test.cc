// SPDX-License-Identifier: Apache-2.0
// Copies and fills: every direction, rows, order, pinned and pageable host memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

class CopyTest : public RuntimeTest {
 protected:
  static std::vector<uint8_t> Counting(size_t size) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
  }
};

TEST_F(CopyTest, SynchronousTakesTheKindForAHint) {
  const std::vector<uint8_t> source = Counting(100);
  for (int kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE; ++kind) {
    DeviceArray<uint8_t> first(100), second(100);
    std::vector<uint8_t> back(100);
    const auto hint = static_cast<aclrtMemcpyKind>(kind);
    ASSERT_EQ(aclrtMemcpy(first.data(), 100, source.data(), 100, hint), 0) << kind;
    ASSERT_EQ(aclrtMemcpy(second.data() + 1, 99, first.data(), 99, hint), 0) << kind;
    ASSERT_EQ(aclrtMemcpy(back.data(), 99, second.data() + 1, 99, hint), 0) << kind;
    back[99] = source[99];
    EXPECT_EQ(back, source) << kind;
  }
}

// Small memory stays in its mapping when it is freed, large memory has one of its own.
TEST_F(CopyTest, FreedMemoryIsRefused) {
  for (const size_t size : {size_t{256}, size_t{100} << 20}) {
    std::vector<uint8_t> host(256);
    void* freed = nullptr;
    ASSERT_EQ(aclrtMalloc(&freed, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    ASSERT_EQ(aclrtFree(freed), 0);
    EXPECT_EQ(aclrtMemcpy(host.data(), 256, freed, 256, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
    EXPECT_EQ(aclrtMemcpy(freed, 256, host.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    EXPECT_EQ(aclrtMemset(freed, 256, 0, 256), 107000);
  }
}

// Whatever its size, nobody else has got its addresses.
TEST_F(CopyTest, FreedPinnedMemoryIsRefused) {
  for (const size_t size : {size_t{256}, size_t{100} << 20}) {
    void* freed = nullptr;
    ASSERT_EQ(aclrtMallocHost(&freed, size), 0);
    ASSERT_EQ(aclrtFreeHost(freed), 0);
    const std::vector<uint8_t> another(size);  // at no address of it
    DeviceArray<uint8_t> device(256);
    auto* last = static_cast<char*>(freed) + size - 256;
    for (const auto& call : std::vector<std::function<int()>>{
             [&] { return aclrtMemcpy(device.data(), 256, last, 256, ACL_MEMCPY_HOST_TO_DEVICE); },
             [&] { return aclrtMemcpy(freed, 256, device.data(), 256, ACL_MEMCPY_DEVICE_TO_HOST); },
             [&] {
               return aclrtMemcpyAsync(device.data(), 256, freed, 256, ACL_MEMCPY_HOST_TO_DEVICE,
                                       nullptr);
             },
             [&] { return aclrtMemset(freed, 256, 0, 256); }}) {
      EXPECT_EQ(call(), ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_NE(TakeMessage().find("pinned memory that was freed"), std::string::npos);
    }
  }
}

// Nothing is there, so that a copy would end the process.
TEST_F(CopyTest, AddressesWithoutMemoryAreRefused) {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<void*> addresses = {reinterpret_cast<void*>(uintptr_t{64}),
                                  reinterpret_cast<void*>(UINTPTR_MAX - 100)};
  void* range = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&range, kBytes, 0, nullptr, 0), 0);
  EXPECT_EQ(aclrtMemset(range, kBytes, 0, 256), 107000) << "reserved only";
  ASSERT_EQ(aclrtReleaseMemAddress(range), 0);
  addresses.push_back(range);
  aclrtStream stream = NewStream();
  addresses.push_back(stream);
  std::vector<uint8_t> host(256);
  DeviceArray<uint8_t> device(256);
  for (void* address : addresses) {
    for (const auto& call : std::vector<std::function<int()>>{
             [&] {
               return aclrtMemcpy(device.data(), 256, address, 256, ACL_MEMCPY_HOST_TO_DEVICE);
             },
             [&] { return aclrtMemcpy(address, 256, host.data(), 256, ACL_MEMCPY_HOST_TO_HOST); },
             [&] {
               return aclrtMemcpyAsync(address, 256, device.data(), 256, ACL_MEMCPY_DEVICE_TO_HOST,
                                       stream);
             },
             [&] {
               return aclrtMemcpy2d(address, 16, device.data(), 16, 16, 16,
                                    ACL_MEMCPY_DEVICE_TO_HOST);
             },
             [&] { return aclrtMemset(address, 256, 0, 256); },
             [&] { return aclrtMemsetAsync(address, 256, 0, 256, stream); }}) {
      EXPECT_EQ(call(), ACL_ERROR_RT_PARAM_INVALID) << address;
      EXPECT_NE(TakeMessage().find("where this process has no memory"), std::string::npos);
    }
  }
  EXPECT_NE(aclrtMemset(host.data(), SIZE_MAX, 0, SIZE_MAX), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// What lies between the rows is nobody's business.
TEST_F(CopyTest, RowsBeyondAllAddresses) {
  const DeviceArray<char> device(64);
  char rows[64] = {}, before[64] = {};
  const auto host_to_device = ACL_MEMCPY_HOST_TO_DEVICE, device_to_host = ACL_MEMCPY_DEVICE_TO_HOST;
  // The second row would begin anew at the lowest addresses, two bytes before the first.
  const size_t around = SIZE_MAX - 1;
  EXPECT_EQ(aclrtMemcpy2d(rows + 8, around, device.data(), 8, 1, 2, device_to_host), 107000);
  EXPECT_EQ(aclrtMemcpy2d(device.data(), 8, rows + 8, around, 1, 2, host_to_device), 107000);
  EXPECT_EQ(std::memcmp(rows, before, sizeof(rows)), 0);
  // Refused by the range, not row by row.
  EXPECT_EQ(aclrtMemcpy2d(rows, 1, before, 1, 1, size_t{1} << 60, ACL_MEMCPY_HOST_TO_HOST), 107000);
}

TEST_F(CopyTest, RowsWithHolesBetweenThem) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* rows = static_cast<uint8_t*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(rows, MAP_FAILED);
  ASSERT_EQ(munmap(rows + page, page), 0);
  rows[5] = 1;
  rows[2 * page + 5] = 2;
  DeviceArray<uint8_t> device(16);
  EXPECT_EQ(aclrtMemcpy2d(device.data(), 8, rows, 2 * page, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE), 0)
      << TakeMessage();
  EXPECT_EQ(device.Read(), (std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(aclrtMemcpy2d(device.data(), 8, rows, page, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  munmap(rows, page);
  munmap(rows + 2 * page, page);
}

TEST_F(CopyTest, AsynchronousDirections) {
  PinnedBytes pinned(100);
  std::memcpy(pinned.data(), Counting(100).data(), 100);
  const std::pair<aclrtMemcpyKind, aclrtMemcpyKind> kinds[] = {
      {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_DEVICE},
      {ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE},
      {ACL_MEMCPY_DEFAULT, ACL_MEMCPY_DEFAULT}};
  for (const auto& [in, across] : kinds) {
    DeviceArray<uint8_t> first(100), second(100);
    PinnedBytes back(100);
    ASSERT_EQ(aclrtMemcpyAsync(first.data(), 100, pinned.data(), 100, in, nullptr), 0);
    ASSERT_EQ(aclrtMemcpyAsync(second.data(), 100, first.data(), 100, across, nullptr), 0);
    const auto out = in == ACL_MEMCPY_DEFAULT ? in : ACL_MEMCPY_DEVICE_TO_HOST;
    ASSERT_EQ(aclrtMemcpyAsync(back.data(), 100, second.data(), 100, out, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
    EXPECT_EQ(std::memcmp(back.data(), pinned.data(), 100), 0);
  }
}

TEST_F(CopyTest, PinnedMemoryIsReadWhenTheStreamGetsThere) {
  aclrtStream stream = NewStream();
  PinnedBytes pinned(1);
  DeviceArray<uint8_t> byte(1);
  Gate gate(stream);
  *pinned.data() = 1;
  ASSERT_EQ(aclrtMemcpyAsync(byte.data(), 1, pinned.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            0);
  *pinned.data() = 2;
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(byte.Read()[0], 2);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(CopyTest, PageableMemoryIsFreeAfterTheCall) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(4096);
  for (int i = 0; i < 20; ++i) {
    auto pageable = std::make_unique<std::vector<uint8_t>>(4096, i);
    ASSERT_EQ(aclrtMemcpyAsync(bytes.data(), 4096, pageable->data(), 4096,
                               ACL_MEMCPY_HOST_TO_DEVICE, stream),
              0);
    pageable.reset();
    std::vector<uint8_t> back(4096);
    ASSERT_EQ(
        aclrtMemcpyAsync(back.data(), 4096, bytes.data(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream),
        0);
    EXPECT_EQ(back, std::vector<uint8_t>(4096, i)) << "before any synchronise";
  }
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(CopyTest, SynchronousWaitsForNoStream) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> bytes(64, 1);
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(bytes.data(), 64, 2, 64, stream), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 1));
  ASSERT_EQ(aclrtMemset(bytes.data(), 64, 3, 64), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 3));
  gate.Open();
  ASSERT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(bytes.Read(), std::vector<uint8_t>(64, 2));
}

TEST_F(CopyTest, Rectangles) {
  const std::vector<uint8_t> source = Counting(60);
  for (const bool queued : {false, true}) {
    DeviceArray<uint8_t> device(80, 0xEE);
    std::vector<uint8_t> back(40, 0xDD);
    const auto copy = [&](void* dst, size_t dpitch, const void* src, size_t spitch,
                          aclrtMemcpyKind kind) {
      return queued ? aclrtMemcpy2dAsync(dst, dpitch, src, spitch, 5, 4, kind, nullptr)
                    : aclrtMemcpy2d(dst, dpitch, src, spitch, 5, 4, kind);
    };
    ASSERT_EQ(copy(device.data(), 20, source.data(), 15, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    ASSERT_EQ(copy(back.data(), 10, device.data(), 20, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    const std::vector<uint8_t> written = device.Read();
    for (size_t i = 0; i < 80; ++i) {
      EXPECT_EQ(written[i], i % 20 < 5 ? source[i / 20 * 15 + i % 20] : 0xEE) << i;
    }
    for (size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(back[i], i % 10 < 5 ? source[i / 10 * 15 + i % 10] : 0xDD) << i;
    }
  }
}

TEST_F(CopyTest, NothingToDoSucceedsOfAnyMemory) {
  const auto kind = ACL_MEMCPY_HOST_TO_DEVICE;
  int at = 0;
  EXPECT_EQ(aclrtMemcpy(&at, 0, &at, 0, kind), 0);
  EXPECT_EQ(aclrtMemcpyAsync(&at, 0, &at, 0, kind, nullptr), 0);
  EXPECT_EQ(aclrtMemcpy2d(&at, 0, &at, 0, 0, 5, kind), 0);
  EXPECT_EQ(aclrtMemcpy2d(&at, 8, &at, 8, 8, 0, kind), 0);
  EXPECT_EQ(aclrtMemcpy2dAsync(&at, 8, &at, 8, 8, 0, kind, nullptr), 0);
  EXPECT_EQ(aclrtMemset(&at, 0, 0, 0), 0);
  EXPECT_EQ(aclrtMemsetAsync(&at, 0, 0, 0, nullptr), 0);
}

TEST_F(CopyTest, Fills) {
  DeviceArray<uint8_t> bytes(10, 1);
  PinnedBytes pinned(10);
  uint8_t host[10] = {};
  ASSERT_EQ(aclrtMemset(bytes.data() + 2, 8, 0x1FF, 3), 0) << "the lowest 8 bits count";
  EXPECT_EQ(bytes.Read(), (std::vector<uint8_t>{1, 1, 255, 255, 255, 1, 1, 1, 1, 1}));
  ASSERT_EQ(aclrtMemset(host, 10, 4, 10), 0);
  ASSERT_EQ(aclrtMemsetAsync(host + 5, 5, 6, 1, nullptr), 0);
  EXPECT_EQ(host[4], 4);
  EXPECT_EQ(host[5], 6) << "pageable memory is written before the call returns";
  ASSERT_EQ(aclrtMemsetAsync(pinned.data(), 10, 7, 10, nullptr), 0);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(pinned.data()[9], 7);
}

}  // namespace
}  // namespace openaclnn
