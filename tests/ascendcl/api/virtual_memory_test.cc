// SPDX-License-Identifier: Apache-2.0
// Reserved addresses and physical memory: ranges that are used as one, tasks that outlive a
// mapping, limits, refusals.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

constexpr size_t kPiece = size_t{2} << 20;

class VirtualMemoryTest : public RuntimeTest {
 protected:
  static aclrtDrvMemHandle Physical(size_t size = kPiece) {
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle memory = nullptr;
    EXPECT_EQ(aclrtMallocPhysical(&memory, size, &prop, 0), 0) << TakeMessage();
    return memory;
  }
  static std::byte* Reserve(size_t size) {
    void* address = nullptr;
    EXPECT_EQ(aclrtReserveMemAddress(&address, size, 0, nullptr, 1), 0) << TakeMessage();
    return static_cast<std::byte*>(address);
  }
  static size_t FreeBytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
    return free;
  }
};

TEST_F(VirtualMemoryTest, NeighboursAreUsedAsOne) {
  std::byte* range = Reserve(4 * kPiece);
  const aclrtDrvMemHandle a = Physical(), b = Physical(2 * kPiece);
  ASSERT_EQ(aclrtMapMem(range + kPiece, kPiece, 0, a, 0), 0) << TakeMessage();
  ASSERT_EQ(aclrtMapMem(range + 2 * kPiece, 2 * kPiece, 0, b, 0), 0) << TakeMessage();
  EXPECT_EQ(aclrtMemset(range + kPiece, 3 * kPiece, 7, 3 * kPiece), 0) << TakeMessage();
  std::vector<unsigned char> host(3 * kPiece);
  EXPECT_EQ(
      aclrtMemcpy(host.data(), host.size(), range + kPiece, host.size(), ACL_MEMCPY_DEVICE_TO_HOST),
      0);
  EXPECT_EQ(host.front() + host.back() + host[kPiece], 21);
  // One byte more, on either side, is not mapped.
  EXPECT_NE(aclrtMemset(range + kPiece - 1, 2, 7, 2), 0);
  EXPECT_NE(aclrtMemset(range + 4 * kPiece - 1, 2, 7, 2), 0);
  for (std::byte* piece : {range + kPiece, range + 2 * kPiece}) {
    EXPECT_EQ(aclrtUnmapMem(piece), 0) << TakeMessage();
  }
  EXPECT_EQ(aclrtFreePhysical(a), 0);
  EXPECT_EQ(aclrtFreePhysical(b), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0) << TakeMessage();
}

// The memory, not the address, holds the bytes.
TEST_F(VirtualMemoryTest, BytesMoveWithTheMemory) {
  std::byte* range = Reserve(2 * kPiece);
  const aclrtDrvMemHandle memory = Physical();
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, memory, 0), 0);
  EXPECT_EQ(aclrtMemset(range, kPiece, 9, kPiece), 0);
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  ASSERT_EQ(aclrtMapMem(range + kPiece, kPiece, 0, memory, 0), 0) << TakeMessage();
  unsigned char last = 0;
  EXPECT_EQ(aclrtMemcpy(&last, 1, range + 2 * kPiece - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(last, 9);
  EXPECT_EQ(aclrtUnmapMem(range + kPiece), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

TEST_F(VirtualMemoryTest, QueuedWorkKeepsWhatIsUnmapped) {
  std::byte* range = Reserve(kPiece);
  const aclrtDrvMemHandle memory = Physical(), other = Physical();
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, memory, 0), 0);
  const size_t before = FreeBytes();
  aclrtStream stream = NewStream();
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(range, kPiece, 5, kPiece, stream), 0) << TakeMessage();
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(FreeBytes(), before) << "the task still uses the memory";
  ExpectRefused({"aclrtMapMem", [&] { return aclrtMapMem(range, kPiece, 0, other, 0); },
                 ACL_ERROR_RT_PARAM_INVALID, "is used by queued tasks"});
  EXPECT_NE(aclrtMemset(range, 1, 0, 1), 0) << "new work does not reach it";
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  EXPECT_EQ(FreeBytes(), before + kPiece);
  EXPECT_EQ(aclrtMapMem(range, kPiece, 0, other, 0), 0) << TakeMessage();
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  EXPECT_EQ(aclrtFreePhysical(other), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

// What queued work uses is its piece, not the range.
TEST_F(VirtualMemoryTest, NeighboursOfWhatIsUsedCanBeMappedAnew) {
  std::byte* range = Reserve(4 * kPiece);
  std::vector<aclrtDrvMemHandle> memory;
  for (size_t i = 0; i < 4; ++i) {
    memory.push_back(Physical());
    ASSERT_EQ(aclrtMapMem(range + i * kPiece, kPiece, 0, memory[i], 0), 0) << TakeMessage();
  }
  const aclrtDrvMemHandle other = Physical();
  aclrtStream stream = NewStream();
  Gate gate(stream);
  ASSERT_EQ(aclrtMemsetAsync(range + kPiece + 1, kPiece, 5, kPiece, stream), 0) << TakeMessage();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(aclrtUnmapMem(range + i * kPiece), 0) << i;
  for (const size_t used : {1, 2}) {
    std::byte* piece = range + used * kPiece;
    ExpectRefused({"aclrtMapMem", [&] { return aclrtMapMem(piece, kPiece, 0, other, 0); },
                   ACL_ERROR_RT_PARAM_INVALID, "is used by queued tasks"});
  }
  for (const size_t free : {0, 3}) {
    std::byte* piece = range + free * kPiece;
    EXPECT_EQ(aclrtMapMem(piece, kPiece, 0, other, 0), 0) << TakeMessage();
    EXPECT_EQ(aclrtMemset(piece, kPiece, 9, kPiece), 0) << TakeMessage();
    EXPECT_EQ(aclrtUnmapMem(piece), 0);
  }
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, memory[1], 0), 0);
  unsigned char first = 0, last = 0;
  EXPECT_EQ(aclrtMemcpy(&first, 1, range, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_EQ(aclrtMemcpy(&last, 1, range + kPiece - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
  EXPECT_NE(first, 5) << "before the part that was filled";
  EXPECT_EQ(last, 5) << "the task wrote what was mapped when it was queued";
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
  for (aclrtDrvMemHandle each : memory) EXPECT_EQ(aclrtFreePhysical(each), 0);
  EXPECT_EQ(aclrtFreePhysical(other), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

TEST_F(VirtualMemoryTest, FinalizeEndsWhatIsLeft) {
  const size_t before = FreeBytes();
  std::byte* range = Reserve(kPiece);
  const aclrtDrvMemHandle mapped = Physical(), apart = Physical();
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, mapped, 0), 0);
  TearDown();
  SetUp();
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_EQ(aclrtFreePhysical(mapped), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtFreePhysical(apart), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(VirtualMemoryTest, PhysicalMemoryCountsAgainstTheDevice) {
  const size_t before = FreeBytes();
  const aclrtDrvMemHandle memory = Physical(4 * kPiece);
  EXPECT_EQ(FreeBytes(), before - 4 * kPiece);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(FreeBytes(), before);
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle none = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(&none, before / kPiece * kPiece + kPiece, &prop, 0),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST_F(VirtualMemoryTest, SizesAreRoundedUp) {
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t unit = 0;
  for (const auto option :
       {ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED}) {
    ASSERT_EQ(aclrtMemGetAllocationGranularity(&prop, option, &unit), 0) << TakeMessage();
    EXPECT_EQ(unit, kPiece);
  }
  ExpectRefused({"aclrtMemGetAllocationGranularity",
                 [&] {
                   const auto option = static_cast<aclrtMemGranularityOptions>(2);
                   return aclrtMemGetAllocationGranularity(&prop, option, &unit);
                 },
                 ACL_ERROR_RT_PARAM_INVALID, "option value is 2"});
  prop.location.id = 99;
  ExpectRefused({"aclrtMemGetAllocationGranularity",
                 [&] {
                   return aclrtMemGetAllocationGranularity(
                       &prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit);
                 },
                 ACL_ERROR_RT_INVALID_DEVICEID, "prop->location.id value is 99"});
  std::byte* range = Reserve(kPiece + 1);
  const aclrtDrvMemHandle first = Physical(), second = Physical();
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, first, 0), 0) << TakeMessage();
  ASSERT_EQ(aclrtMapMem(range + kPiece, kPiece, 0, second, 0), 0) << TakeMessage();
  EXPECT_EQ(aclrtMemset(range, 2 * kPiece, 9, 2 * kPiece), 0) << TakeMessage();
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  EXPECT_EQ(aclrtUnmapMem(range + kPiece), 0);
  EXPECT_EQ(aclrtFreePhysical(first), 0);
  EXPECT_EQ(aclrtFreePhysical(second), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

// The device and the host see one memory; the device's address is no memory of the process.
TEST_F(VirtualMemoryTest, HostMemoryOfTheDevice) {
  constexpr size_t kBytes = 8192;
  void* host = std::aligned_alloc(4096, kBytes);
  ASSERT_NE(host, nullptr);
  std::memset(host, 1, kBytes);
  void *device = nullptr, *again = nullptr;
  const auto mapped = ACL_HOST_REGISTER_MAPPED;
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  ASSERT_EQ(aclrtHostRegister(host, kBytes, mapped, &device), 0) << TakeMessage();
  EXPECT_NE(device, host);
  ASSERT_EQ(aclrtMemset(device, kBytes, 7, kBytes), 0) << TakeMessage();
  EXPECT_EQ(static_cast<const char*>(host)[0] + static_cast<const char*>(host)[kBytes - 1], 14);
  EXPECT_NE(aclrtMemset(device, kBytes + 1, 7, kBytes + 1), 0) << "it ends there";
  aclrtPtrAttributes attributes = {};
  ASSERT_EQ(aclrtPointerGetAttributes(device, &attributes), 0);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  const aclrtDrvMemHandle memory = Physical();
  for (const Refusal& refusal : std::vector<Refusal>{
           {"aclrtHostRegister", [&] { return aclrtHostRegister(host, kBytes, mapped, &again); },
            invalid, "expected memory that is not registered yet"},
           {"aclrtHostRegister",
            [&] { return aclrtHostRegister(static_cast<char*>(host) + 64, 64, mapped, &again); },
            invalid, "expected a multiple of 4096"},
           {"aclrtHostRegister", [&] { return aclrtHostRegister(host, 0, mapped, &again); },
            invalid, "size value is 0"},
           {"aclrtHostRegister", [&] { return aclrtHostRegister(nullptr, 1, mapped, &again); },
            ACL_ERROR_INVALID_PARAM, "ptr value is null"},
           {"aclrtHostRegister",
            [&] {
              return aclrtHostRegister(host, kBytes, static_cast<aclrtHostRegisterType>(1), &again);
            },
            invalid, "type value is 1"},
           {"aclrtHostRegister",
            [&] { return aclrtHostRegister(device, 0x7FFFFFFFFFFF, mapped, &again); }, invalid,
            "is not all memory of this process"},
           {"aclrtHostUnregister", [&] { return aclrtHostUnregister(&again); }, invalid,
            "expected memory that is registered"},
           {"aclrtHostUnregister", [&] { return aclrtHostUnregister(nullptr); },
            ACL_ERROR_INVALID_PARAM, "ptr value is null"},
           {"aclrtFree", [&] { return aclrtFree(device); }, invalid, "devPtr value is"},
           {"aclrtReleaseMemAddress", [&] { return aclrtReleaseMemAddress(device); }, invalid,
            "virPtr range holds memory"},
           {"aclrtMapMem", [&] { return aclrtMapMem(device, kPiece, 0, memory, 0); }, invalid,
            "is memory of the host"}}) {
    ExpectRefused(refusal);
  }
  EXPECT_EQ(aclrtHostUnregister(host), 0) << TakeMessage();
  EXPECT_NE(aclrtMemset(device, 1, 7, 1), 0) << "it is gone";
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  std::free(host);
}

TEST_F(VirtualMemoryTest, MemoryThatIsNotTheHostsToRegister) {
  constexpr size_t kPage = 4096;
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  void *device = nullptr, *made = nullptr, *first = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kPage, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  auto* const host = static_cast<char*>(
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(host, MAP_FAILED);
  ASSERT_EQ(mprotect(host + 3 * kPage, kPage, PROT_NONE), 0);
  ASSERT_EQ(aclrtHostRegister(host + kPage, kPage, ACL_HOST_REGISTER_MAPPED, &first), 0);
  const auto on = [&](void* address, size_t bytes, const char* says) {
    ExpectRefused(
        {"aclrtHostRegister",
         [=, &made] { return aclrtHostRegister(address, bytes, ACL_HOST_REGISTER_MAPPED, &made); },
         invalid, says});
  };
  auto* const page = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(device) / kPage * kPage);
  on(page, 2 * kPage, "is device memory, expected the host's");
  on(first, kPage, "is device memory, expected the host's");
  on(host, 2 * kPage, "expected memory that is not registered yet");
  on(host + kPage, 2 * kPage, "expected memory that is not registered yet");
  on(host, 3 * kPage, "expected memory that is not registered yet");
  on(host + 2 * kPage, 2 * kPage, "expected memory that may be read");
  ASSERT_EQ(aclrtHostRegister(host + 2 * kPage, kPage, ACL_HOST_REGISTER_MAPPED, &made), 0)
      << "it is beside what is registered: " << TakeMessage();
  EXPECT_EQ(aclrtHostUnregister(host + 2 * kPage), 0);
  EXPECT_EQ(aclrtHostUnregister(host + kPage), 0);
  EXPECT_EQ(munmap(host, 4 * kPage), 0);
  EXPECT_EQ(aclrtFree(device), 0);
}

TEST_F(VirtualMemoryTest, Refusals) {
  std::byte* range = Reserve(kPiece);
  const aclrtDrvMemHandle memory = Physical(), longer = Physical(2 * kPiece);
  ASSERT_EQ(aclrtMapMem(range, kPiece, 0, memory, 0), 0);
  void* address = nullptr;
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  for (const Refusal& refusal : std::vector<Refusal>{
           {"aclrtReserveMemAddress",
            [&] { return aclrtReserveMemAddress(nullptr, kPiece, 0, nullptr, 0); },
            ACL_ERROR_INVALID_PARAM, "virPtr value is null"},
           {"aclrtReserveMemAddress",
            [&] { return aclrtReserveMemAddress(&address, 0, 0, nullptr, 0); },
            ACL_ERROR_INVALID_PARAM, "size value is 0"},
           {"aclrtReserveMemAddress",
            [&] { return aclrtReserveMemAddress(&address, kPiece, 64, nullptr, 0); }, invalid,
            "alignment value is 64"},
           {"aclrtReleaseMemAddress", [&] { return aclrtReleaseMemAddress(range); }, invalid,
            "virPtr range holds memory"},
           {"aclrtReleaseMemAddress", [&] { return aclrtReleaseMemAddress(&address); }, invalid,
            "virPtr value is"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range, kPiece, 0, memory, 0); }, invalid,
            "holds memory already"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range, 2 * kPiece, 0, longer, 0); }, invalid,
            "is longer than reserved"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range, kPiece, 0, longer, 0); }, invalid,
            "size value is"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range + 64, kPiece, 0, memory, 0); }, invalid,
            "virPtr value is"},
           {"aclrtUnmapMem", [&] { return aclrtUnmapMem(range + 64); }, invalid, "virPtr value is"},
           {"aclrtUnmapMem", [&] { return aclrtUnmapMem(&address); }, invalid, "virPtr value is"},
           {"aclrtFree", [&] { return aclrtFree(range); }, invalid, "devPtr value is"}}) {
    ExpectRefused(refusal);
  }
  EXPECT_EQ(aclrtUnmapMem(range), 0);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtFreePhysical(longer), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

// What is not there to choose is refused, and nothing is made.
TEST_F(VirtualMemoryTest, PropertiesAreChecked) {
  aclrtDrvMemHandle made = nullptr;
  size_t granularity = 0;
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  struct Row {
    int code;
    const char* says;
    std::function<void(aclrtPhysicalMemProp*)> change;
  };
  for (const Row& row : std::vector<Row>{
           {invalid, "prop->handleType value is 2, expected 0",
            [](auto* prop) { prop->handleType = ACL_MEM_HANDLE_TYPE_POSIX; }},
           {invalid, "prop->allocationType value is 1, expected 0",
            [](auto* prop) { prop->allocationType = static_cast<aclrtMemAllocationType>(1); }},
           {invalid, "prop->location type is 0, expected ACL_MEM_LOCATION_TYPE_DEVICE (1)",
            [](auto* prop) { prop->location.type = ACL_MEM_LOCATION_TYPE_HOST; }},
           {ACL_ERROR_RT_INVALID_DEVICEID, "prop->location.id value is 99",
            [](auto* prop) { prop->location.id = 99; }}}) {
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    row.change(&prop);
    ExpectRefused({"aclrtMallocPhysical",
                   [&] { return aclrtMallocPhysical(&made, kPiece, &prop, 0); }, row.code,
                   row.says});
    ExpectRefused({"aclrtMemGetAllocationGranularity",
                   [&] {
                     return aclrtMemGetAllocationGranularity(
                         &prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity);
                   },
                   row.code, row.says});
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(granularity, 0U);
}

TEST_F(VirtualMemoryTest, SizesAndFlagsAreChecked) {
  std::byte* range = Reserve(kPiece);
  const aclrtDrvMemHandle memory = Physical();
  aclrtDrvMemHandle made = nullptr;
  void* address = nullptr;
  const int invalid = ACL_ERROR_RT_PARAM_INVALID;
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  for (const Refusal& refusal : std::vector<Refusal>{
           {"aclrtMallocPhysical", [&] { return aclrtMallocPhysical(&made, 0, &prop, 0); },
            ACL_ERROR_INVALID_PARAM, "size value is 0"},
           {"aclrtMallocPhysical", [&] { return aclrtMallocPhysical(&made, kPiece + 1, &prop, 0); },
            invalid, "size value is 2097153, expected a multiple of 2 MiB"},
           {"aclrtMallocPhysical", [&] { return aclrtMallocPhysical(&made, kPiece, &prop, 1); },
            invalid, "flags value is 1, expected 0"},
           {"aclrtReserveMemAddress",
            [&] { return aclrtReserveMemAddress(&address, kPiece, 0, nullptr, 2); }, invalid,
            "flags value is 2, expected 0 or 1"},
           {"aclrtReserveMemAddress",
            [&] { return aclrtReserveMemAddress(&address, kPiece, 0, range, 0); }, invalid,
            "expectPtr value is an address, expected null"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range, kPiece, kPiece, memory, 0); }, invalid,
            "offset value is 2097152, expected 0"},
           {"aclrtMapMem", [&] { return aclrtMapMem(range, kPiece, 0, memory, 1); }, invalid,
            "flags value is 1, expected 0"}}) {
    ExpectRefused(refusal);
  }
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(aclrtFreePhysical(memory), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(range), 0);
}

}  // namespace
}  // namespace openaclnn
