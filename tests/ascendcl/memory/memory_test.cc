// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, limits, deferred frees, what an address is.
#include <cmath>
#include <cstring>

#include "tests/ascendcl/fixture.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

class MemoryTest : public RuntimeTest {
 protected:
  static aclrtPtrAttributes Attributes(const void* address) {
    aclrtPtrAttributes attributes;
    std::memset(&attributes, 0xFF, sizeof(attributes));
    EXPECT_EQ(aclrtPointerGetAttributes(address, &attributes), 0) << TakeMessage();
    return attributes;
  }
};

TEST_F(MemoryTest, AddressesAreAlignedAndApart) {
  std::vector<char*> blocks;
  for (size_t size = 1; size < 3000; size = size * 3 / 2 + 1) {
    for (const auto policy : {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_TYPE_HIGH_BAND_WIDTH}) {
      void* address = nullptr;
      ASSERT_EQ(aclrtMalloc(&address, size, policy), 0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
      ASSERT_EQ(aclrtMemset(address, size, static_cast<int>(blocks.size()), size), 0);
      blocks.push_back(static_cast<char*>(address));
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    char byte = 0;
    ASSERT_EQ(aclrtMemcpy(&byte, 1, blocks[i], 1, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT_EQ(byte, static_cast<char>(i));
    EXPECT_EQ(aclrtFree(blocks[i]), 0);
    EXPECT_EQ(aclrtFree(blocks[i]), ACL_ERROR_RT_PARAM_INVALID) << "a second free";
  }
}

TEST_F(MemoryTest, PinnedHostMemoryIsTheHosts) {
  PinnedBytes pinned(1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pinned.data()) % 64, 0u);
  std::memset(pinned.data(), 3, 1000);
  EXPECT_EQ(aclrtFree(pinned.data()), ACL_ERROR_RT_PARAM_INVALID);
  DeviceArray<uint8_t> bytes(1000);
  EXPECT_EQ(aclrtFreeHost(bytes.data()), ACL_ERROR_RT_PARAM_INVALID);
  aclrtMallocAttribute attributes[3] = {{ACL_RT_MEM_ATTR_MODULE_ID, {7}},
                                        {ACL_RT_MEM_ATTR_DEVICE_ID, {}},
                                        {ACL_RT_MEM_ATTR_VA_FLAG, {}}};
  aclrtMallocConfig config = {attributes, 3};
  for (aclrtMallocConfig* const given : {static_cast<aclrtMallocConfig*>(nullptr), &config}) {
    void* made = nullptr;
    ASSERT_EQ(aclrtMallocHostWithCfg(&made, 1000, given), 0) << TakeMessage();
    aclrtPtrAttributes found = {};
    EXPECT_EQ(aclrtPointerGetAttributes(made, &found), 0);
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    std::memset(made, 3, 1000);
    EXPECT_EQ(aclrtFreeHost(made), 0) << TakeMessage();
  }
}

// The documented rounding: up to 32, and 32 more from aclrtMalloc on A2.
TEST_F(MemoryTest, CountedSizes) {
  const size_t before = FreeMemory();
  struct Row {
    size_t size, counted;
  };
  for (const Row& row : {Row{1, 32}, Row{32, 32}, Row{33, 64}, Row{4096, 4096}}) {
    void* address = nullptr;
    ASSERT_EQ(aclrtMalloc(&address, row.size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(before - FreeMemory(), row.counted + 32) << row.size;
    ASSERT_EQ(aclrtFree(address), 0);
    ASSERT_EQ(aclrtMallocAlign32(&address, row.size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT_EQ(before - FreeMemory(), row.counted) << row.size;
    ASSERT_EQ(aclrtFree(address), 0);
  }
  EXPECT_EQ(FreeMemory(), before);
}

TEST_F(MemoryTest, InfoIsPerDeviceAndKind) {
  size_t free = 1, total = 1;
  ASSERT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(99), &free, &total), 0);
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(total, 0u);
  for (int attr = ACL_DDR_MEM; attr <= ACL_MEM_P2P_HUGE1G; ++attr) {
    ASSERT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free, &total), 0);
    EXPECT_GT(total, 0u) << attr;
    EXPECT_LE(free, total) << attr;
  }
  const size_t here = FreeMemory();
  ASSERT_EQ(aclrtSetDevice(1), 0);
  void* there = nullptr;
  ASSERT_EQ(aclrtMalloc(&there, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_LT(FreeMemory(), total);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(FreeMemory(), here);
  EXPECT_EQ(aclrtFree(there), 0) << "from any device";
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST_F(MemoryTest, PointerAttributes) {
  PinnedBytes pinned(64);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  auto bytes = std::make_unique<DeviceArray<uint8_t>>(64);
  ASSERT_EQ(aclrtSetDevice(0), 0);
  aclrtPtrAttributes attributes = Attributes(bytes->data() + 63);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 1u);
  EXPECT_GT(attributes.pageSize, 0u);
  for (const uint32_t reserved : attributes.rsv) EXPECT_EQ(reserved, 0u);
  attributes = Attributes(pinned.data());
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(attributes.location.id, 0u);
  EXPECT_EQ(Attributes(&attributes).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  const uint8_t* freed = bytes->data();
  bytes.reset();
  EXPECT_EQ(Attributes(freed).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);
}

TEST_F(MemoryTest, FreeOfMemoryThatACopyUses) {
  aclrtStream stream = NewStream();
  const size_t before = FreeMemory();
  DeviceArray<uint8_t> from(1 << 20, 7), to(1 << 20);
  const size_t both = FreeMemory();
  Gate gate(stream);
  ASSERT_EQ(aclrtMemcpyAsync(to.data(), 1 << 20, from.data(), 1 << 20, ACL_MEMCPY_DEVICE_TO_DEVICE,
                             stream),
            0);
  uint8_t* address = from.data();
  from.Free();
  EXPECT_EQ(FreeMemory(), both) << "the queued copy keeps it";
  EXPECT_EQ(aclrtFree(address), ACL_ERROR_RT_PARAM_INVALID) << "but the address is gone at once";
  uint8_t byte = 0;
  EXPECT_EQ(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  DeviceArray<uint8_t> fresh(1 << 20, 9);
  EXPECT_NE(fresh.data(), address) << "handed out while it is in use";
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  fresh.Free();
  EXPECT_GT(FreeMemory(), both) << "given back with the copy";
  EXPECT_EQ(to.Read(), std::vector<uint8_t>(1 << 20, 7));
  to.Free();
  EXPECT_EQ(FreeMemory(), before);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(MemoryTest, FreeOfPinnedMemoryThatACopyUses) {
  aclrtStream stream = NewStream();
  DeviceArray<uint8_t> to(4096);
  {
    Gate gate(stream);
    PinnedBytes pinned(4096);
    std::memset(pinned.data(), 5, 4096);
    ASSERT_EQ(
        aclrtMemcpyAsync(to.data(), 4096, pinned.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream),
        0);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  EXPECT_EQ(to.Read(), std::vector<uint8_t>(4096, 5));
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(MemoryTest, FreeOfMemoryThatAnOperatorUses) {
  aclrtStream stream = NewStream();
  Gradient gradient(1);
  DeviceArray<float> result(8);
  Gate gate(stream);
  ASSERT_EQ(gradient.Launch(stream), 0) << TakeMessage();
  ASSERT_EQ(aclrtMemcpyAsync(result.data(), 32, gradient.out().data(), 32,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
            0);
  gradient.grad().Free();
  gradient.out().Free();
  DeviceArray<float> other(8, -1.0F);  // would take the place of either
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
  EXPECT_EQ(result.Read(), (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

TEST_F(MemoryTest, SizesOfTypes) {
  const std::vector<std::pair<aclDataType, size_t>> sizes = {
      {ACL_FLOAT, 4},        {ACL_FLOAT16, 2},     {ACL_INT8, 1},          {ACL_INT32, 4},
      {ACL_UINT8, 1},        {ACL_INT16, 2},       {ACL_UINT16, 2},        {ACL_UINT32, 4},
      {ACL_INT64, 8},        {ACL_UINT64, 8},      {ACL_DOUBLE, 8},        {ACL_BOOL, 1},
      {ACL_COMPLEX64, 8},    {ACL_BF16, 2},        {ACL_COMPLEX128, 16},   {ACL_COMPLEX32, 4},
      {ACL_HIFLOAT8, 1},     {ACL_FLOAT8_E5M2, 1}, {ACL_FLOAT8_E4M3FN, 1}, {ACL_FLOAT8_E8M0, 1},
      {ACL_DT_UNDEFINED, 0}, {ACL_STRING, 0},      {ACL_INT4, 0},          {ACL_UINT1, 0},
      {ACL_FLOAT6_E3M2, 0},  {ACL_FLOAT6_E2M3, 0}, {ACL_FLOAT4_E2M1, 0},   {ACL_FLOAT4_E1M2, 0}};
  for (const auto& [type, size] : sizes) EXPECT_EQ(aclDataTypeSize(type), size) << type;
  for (const int none : {5, 14, 15, 28, 42, 1000, -2}) {
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(none)), 0u) << none;
  }
}

// Each of the 65,536 comes back, what lies between two goes to the nearer one, and to the even one
// from the middle.
TEST_F(MemoryTest, NumbersAsFloat16) {
  EXPECT_EQ(aclFloat16ToFloat(0x3C01), 1 + 0x1p-10F);
  EXPECT_EQ(aclFloat16ToFloat(0x0001), 0x1p-24F);
  EXPECT_EQ(aclFloat16ToFloat(0x0400), 0x1p-14F);
  EXPECT_EQ(aclFloat16ToFloat(0xFBFF), -65504.0F);
  EXPECT_EQ(aclFloat16ToFloat(0x7C00), INFINITY);
  EXPECT_TRUE(std::signbit(aclFloat16ToFloat(0x8000)));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const float value = aclFloat16ToFloat(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_EQ(aclFloatToFloat16(value) & 0x7FFF, 0x7E00) << bits;
      continue;
    }
    ASSERT_EQ(aclFloatToFloat16(value), half) << bits;
    if ((bits & 0x7FFF) >= 0x7BFF) continue;
    const float next = aclFloat16ToFloat(static_cast<aclFloat16>(bits + 1));
    const float middle = (value + next) / 2;  // exact: a float has 13 bits more
    const auto even = static_cast<aclFloat16>(bits + (bits & 1));
    ASSERT_EQ(aclFloatToFloat16(middle), even) << bits;
    ASSERT_EQ(aclFloatToFloat16(std::nextafter(middle, value)), half) << bits;
    ASSERT_EQ(aclFloatToFloat16(std::nextafter(middle, next)), bits + 1) << bits;
  }
  EXPECT_EQ(aclFloatToFloat16(65519.996F), 0x7BFF);
  EXPECT_EQ(aclFloatToFloat16(65520.0F), 0x7C00);
  EXPECT_EQ(aclFloatToFloat16(-1e38F), 0xFC00);
  EXPECT_EQ(aclFloatToFloat16(1e-45F), 0);
}

}  // namespace
}  // namespace openaclnn
