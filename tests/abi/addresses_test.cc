// SPDX-License-Identifier: Apache-2.0
// Every exported function against addresses that are not what it takes: null, freed, of another
// kind, misaligned, beside what is right, nowhere.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "abi/address_rows.h"

namespace openaclnn {
namespace {

constexpr size_t kPage = size_t{2} << 20;
// Of a range of addresses that no other allocation shares.
constexpr size_t kLarge = size_t{100} << 20;

struct Address {
  std::string what;
  Place place;
  void* address;
};

/// 'r' where this process may read, '-' where it may not; 0 where nothing is mapped.
char AccessTo(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char read = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx %c", &begin, &end, &read) != 3) continue;
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at >= begin && at < end) return read;
  }
  return 0;
}

class AddressesTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    large_ = std::make_unique<DeviceArray<uint8_t>>(kLarge, 0x5A);
    other_ = std::make_unique<DeviceArray<uint8_t>>(64);
    workspace_ = std::make_unique<DeviceArray<uint8_t>>(4096);
    gradient_ = std::make_unique<Gradient>(0);
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_EQ(aclrtReserveMemAddress(&reserved_, 2 * kPage, 0, nullptr, 0), 0) << TakeMessage();
    ASSERT_EQ(aclrtReserveMemAddress(&mapped_, 2 * kPage, 0, nullptr, 0), 0) << TakeMessage();
    for (void** memory : {&piece_, &live_.physical}) {
      ASSERT_EQ(aclrtMallocPhysical(memory, kPage, &prop, 0), 0) << TakeMessage();
    }
    ASSERT_EQ(aclrtMapMem(mapped_, kPage, 0, piece_, 0), 0) << TakeMessage();
    ASSERT_EQ(aclrtMallocHost(&pinned_, 256), 0);
    std::memset(pinned_, 0, 256);
    ASSERT_EQ(aclrtMallocHost(&large_pinned_, kLarge), 0);
    live_.stream = NewStream();
    live_.device = other_->data();
    live_.tensor = Gradient::Tensor({4}, ACL_FLOAT, nullptr);
    live_.gradient = gradient_.get();
    live_.workspace = workspace_->data();
    Free(kLarge + kPage, aclrtFree, &freed_);
    Free(kLarge, aclrtFreeHost, &freed_pinned_);
    Collect();
  }
  void TearDown() override {
    // Nothing that was refused has ended or changed what is live.
    EXPECT_EQ(aclrtSynchronizeDevice(), 0) << TakeMessage();
    EXPECT_EQ(large_->Read(), std::vector<uint8_t>(kLarge, 0x5A));
    for (size_t i = 0; i < 256; ++i) EXPECT_EQ(static_cast<uint8_t*>(pinned_)[i], 0) << i;
    EXPECT_EQ(aclrtUnmapMem(mapped_), 0) << TakeMessage();
    EXPECT_EQ(aclrtReleaseMemAddress(mapped_), 0) << TakeMessage();
    EXPECT_EQ(aclrtReleaseMemAddress(reserved_), 0) << TakeMessage();
    for (void* memory : {piece_, live_.physical}) EXPECT_EQ(aclrtFreePhysical(memory), 0);
    for (void* memory : {pinned_, large_pinned_}) EXPECT_EQ(aclrtFreeHost(memory), 0);
    EXPECT_EQ(aclDestroyTensor(live_.tensor), 0);
    EXPECT_EQ(aclrtDestroyStream(live_.stream), 0);
    for (auto* array : {&large_, &other_, &workspace_}) array->reset();
    gradient_.reset();
    RuntimeTest::TearDown();
  }

  /// An address of memory that is no longer.
  static void Free(size_t bytes, aclError (*end)(void*), void** freed) {
    const int made = end == &aclrtFree ? aclrtMalloc(freed, bytes, ACL_MEM_MALLOC_HUGE_FIRST)
                                       : aclrtMallocHost(freed, bytes);
    ASSERT_EQ(made, 0) << TakeMessage();
    ASSERT_EQ(end(*freed), 0) << TakeMessage();
  }

  /// Whether an address lies in what this test has: right behind one may be another.
  bool IsHeld(const char* address) const {
    const std::pair<void*, size_t> held[] = {{large_->data(), kLarge},
                                             {large_pinned_, kLarge},
                                             {reserved_, 2 * kPage},
                                             {mapped_, 2 * kPage}};
    return std::any_of(std::begin(held), std::end(held), [&](const auto& each) {
      const char* const begin = static_cast<const char*>(each.first);
      return address >= begin && address < begin + each.second;
    });
  }

  void Collect() {
    const auto add = [this](const char* what, Place place, void* base, ptrdiff_t bytes) {
      addresses_.push_back({std::string(what) + (bytes < 0 ? " " : " +") + std::to_string(bytes),
                            place, static_cast<char*>(base) + bytes});
    };
    void* large = large_->data();
    const auto size = static_cast<ptrdiff_t>(kLarge), page = static_cast<ptrdiff_t>(kPage);
    add("null", kNull, nullptr, 0);
    add("device memory", kDeviceStart, large, 0);
    for (const ptrdiff_t inside : {1, 8, 64, 4096}) {
      add("device memory", kDeviceInside, large, inside);
    }
    add("device memory", kDeviceEnd, large, size - 1);
    // What lies beside may be the program's, which copies may take (OPENACLNN_HOST_ACCESS).
    const auto add_beside = [&](const char* what, void* base, ptrdiff_t bytes) {
      const char* beside = static_cast<char*>(base) + bytes;
      if (!IsHeld(beside)) add(what, AccessTo(beside) == 'r' ? kOfProgram : kNowhere, base, bytes);
    };
    for (const ptrdiff_t before : {-1, -16, -64, -4096}) add_beside("device memory", large, before);
    for (const ptrdiff_t behind : {0, 64, 4096, 600 << 10, 3 << 20}) {
      add_beside("device memory", large, size + behind);
      if (behind <= 4096) add_beside("pinned memory", large_pinned_, size + behind);
      add_beside("reserved addresses", reserved_, 2 * page + behind);
      add_beside("mapped memory", mapped_, 2 * page + behind);
    }
    for (const ptrdiff_t inside : {0, 1, 64})
      add("freed device memory", kDeviceFreed, freed_, inside);
    add("pinned memory", kPinnedStart, pinned_, 0);
    add("pinned memory", kPinnedInside, pinned_, 1);
    for (const ptrdiff_t inside : {0, 64})
      add("freed pinned memory", kPinnedFreed, freed_pinned_, inside);
    add("reserved addresses", kReserved, reserved_, 0);
    add("reserved addresses", kReservedInside, reserved_, page);
    add("mapped memory", kMapped, mapped_, 0);
    add("mapped memory", kMappedInside, mapped_, 64);
    add("a stream", kNowhere, live_.stream, 0);
    add("a tensor", kNowhere, live_.tensor, 0);
    add("physical memory", kNowhere, live_.physical, 0);
    add("this test", kOfProgram, scratch_, 0);
    for (const uintptr_t number :
         {uintptr_t{1}, uintptr_t{63}, uintptr_t{0xDEADBEEF}, uintptr_t{1} << 47,
          uintptr_t{1} << 63, ~uintptr_t{0} / 2, ~uintptr_t{0} - 15, ~uintptr_t{0}}) {
      void* address = reinterpret_cast<void*>(number);
      // Sanitizers reserve some of them.
      add("a number", AccessTo(address) == 0 ? kNowhere : kOfProgram, address, 0);
    }
  }

  AddressLive live_;
  std::vector<Address> addresses_;

 private:
  std::unique_ptr<DeviceArray<uint8_t>> large_, other_, workspace_;
  std::unique_ptr<Gradient> gradient_;
  void *reserved_ = nullptr, *mapped_ = nullptr, *piece_ = nullptr, *pinned_ = nullptr;
  void *freed_ = nullptr, *freed_pinned_ = nullptr, *large_pinned_ = nullptr;
  char scratch_[64] = {};
};

TEST_F(AddressesTest, AreToldWhatTheyAre) {
  size_t calls = 0;
  for (const AddressRow& row : AddressRows(live_)) {
    for (const Address& each : addresses_) {
      if ((row.takes & each.place) != 0) continue;
      SCOPED_TRACE(row.api + std::string(", ") + row.argument + ": " + each.what);
      TakeMessage();
      ++calls;
      const int code = each.place == kNull ? row.null : row.other;
      ASSERT_EQ(row.call(each.address), code);
      const std::string message = TakeMessage();
      if (code == 0) continue;
      if (row.refused_by != nullptr) {
        EXPECT_NE(message.find(row.refused_by), std::string::npos) << message;
      } else {
        EXPECT_NE(message.find(std::string(row.api) + ": " + row.argument), std::string::npos)
            << message;
      }
      EXPECT_NE(message.find(", expected "), std::string::npos) << message;
    }
  }
  EXPECT_GT(calls, 500u);
  RecordProperty("calls", static_cast<int>(calls));
}

}  // namespace
}  // namespace openaclnn
