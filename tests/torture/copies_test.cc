// SPDX-License-Identifier: Apache-2.0
// Any numbers for the sizes, pitches and heights of copies and fills: the code is what the
// definition says, and each byte of memory is.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "acl/acl.h"
#include "tests/support/device.h"
#include "tests/torture/choices.h"

namespace openaclnn::test {
namespace {

using Wide = unsigned __int128;

constexpr size_t kBytes = 600;  // of each block
constexpr int kNull = 100000, kInvalid = 107000, kUnsupported = 207000;

/// One of the places that a copy may go from or to.
struct Block {
  bool device = false;
  void* address = nullptr;
  std::vector<std::byte> expected = std::vector<std::byte>(kBytes);
};

/// Device memory, pinned memory and memory of the process.
class Blocks {
 public:
  Blocks() : pageable_(kBytes) {
    blocks_[0].device = blocks_[1].device = true;
    for (size_t i = 0; i < 2; ++i) {
      RC_ASSERT(aclrtMalloc(&blocks_[i].address, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    }
    RC_ASSERT(aclrtMallocHost(&blocks_[2].address, kBytes) == 0);
    blocks_[3].address = pageable_.data();
  }
  ~Blocks() {
    for (size_t i = 0; i < 2; ++i) aclrtFree(blocks_[i].address);
    aclrtFreeHost(blocks_[2].address);
  }
  Blocks(const Blocks&) = delete;

  Block& operator[](int64_t i) { return blocks_[static_cast<size_t>(i)]; }

  void Fill() {
    for (size_t which = 0; which < blocks_.size(); ++which) {
      Block& block = blocks_[which];
      for (size_t i = 0; i < kBytes; ++i) {
        block.expected[i] = static_cast<std::byte>(i * 7 + which * 101);
      }
      Move(block.address, block.expected.data());
    }
  }
  bool AsExpected() {
    std::vector<std::byte> found(kBytes);
    for (const Block& block : blocks_) {
      Move(found.data(), block.address);
      if (found != block.expected) return false;
    }
    return true;
  }

 private:
  static void Move(void* to, const void* from) {
    RC_ASSERT(aclrtMemcpy(to, kBytes, from, kBytes, ACL_MEMCPY_DEFAULT) == 0);
  }

  std::array<Block, 4> blocks_;
  std::vector<std::byte> pageable_;
};

/// One side of a call: where in a block, and how far apart rows are.
struct Side {
  Block* block = nullptr;
  size_t offset = 0, pitch = 0;
  bool null = false;

  void* address() const {
    return null ? nullptr : static_cast<std::byte*>(block->address) + offset;
  }
  bool Holds(size_t width, size_t height) const {
    return Wide{pitch} * (height - 1) + width <= Wide{kBytes - offset};
  }
};

/// Small, about what fits, or where computing goes wrong.
size_t Size(Choices& choose) {
  switch (choose.Below(6)) {
    case 5:
      return static_cast<size_t>(Extreme(choose));
    case 4:
      return kBytes - static_cast<size_t>(choose.Below(40));
    default:
      return static_cast<size_t>(choose.Below(40));
  }
}

/// What leaves pageable memory may meet other memory of the process: only what is beyond any
/// address is known to be refused.
bool IsKnown(const Side& side, size_t width, size_t height) {
  const Wide bytes = Wide{side.pitch} * (height - 1) + width;
  return side.block != nullptr &&
         (side.Holds(width, height) || side.offset + bytes > Wide{1} << 48 || side.block->device);
}

struct Call {
  Side dst, src;
  size_t width = 0, height = 1, most = SIZE_MAX;
  int kind = 0;
  bool plane = false, fill = false, queued = false;

  bool empty() const { return width == 0 || height == 0; }

  /// Nothing where the process's other memory decides.
  std::optional<int> Code() const {
    if (dst.null || (!fill && src.null)) return kNull;
    if (empty()) return 0;
    if (!fill && (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)) {
      return kInvalid;
    }
    if (plane ? width > dst.pitch || width > src.pitch : width > most) return kInvalid;
    for (const Side* side : {&dst, &src}) {
      if (fill && side == &src) continue;
      if (!side->Holds(width, height))
        return IsKnown(*side, width, height) ? std::optional(kInvalid) : std::nullopt;
    }
    if (queued && !fill && !dst.block->device && !src.block->device) return kUnsupported;
    return 0;
  }

  int Make(int value) const {
    const auto way = static_cast<aclrtMemcpyKind>(kind);
    void *const to = dst.address(), *const from = src.address();
    if (fill) {
      return queued ? aclrtMemsetAsync(to, most, value, width, nullptr)
                    : aclrtMemset(to, most, value, width);
    }
    if (plane) {
      return queued
                 ? aclrtMemcpy2dAsync(to, dst.pitch, from, src.pitch, width, height, way, nullptr)
                 : aclrtMemcpy2d(to, dst.pitch, from, src.pitch, width, height, way);
    }
    return queued ? aclrtMemcpyAsync(to, most, from, width, way, nullptr)
                  : aclrtMemcpy(to, most, from, width, way);
  }

  void Expect(int value) const {
    for (size_t row = 0; row < height; ++row) {
      std::byte* const to = dst.block->expected.data() + dst.offset + row * dst.pitch;
      if (fill) {
        std::memset(to, value, width);
      } else {
        std::memmove(to, src.block->expected.data() + src.offset + row * src.pitch, width);
      }
    }
  }

  std::string Text() const {
    const auto side = [](const Side& of) {
      return of.null ? std::string("null")
                     : std::to_string(of.offset) + " pitch " + std::to_string(of.pitch) +
                           (of.block->device ? " on the device" : "");
    };
    return std::string(fill    ? "fill "
                       : plane ? "plane "
                               : "copy ") +
           (queued ? "queued " : "") + side(dst) + ", " + side(src) + ", width " +
           std::to_string(width) + ", height " + std::to_string(height) + ", most " +
           std::to_string(most) + ", kind " + std::to_string(kind);
  }
};

Side SideOf(Choices& choose, Blocks& blocks) {
  Side side;
  side.block = &blocks[choose.Below(4)];
  side.offset = static_cast<size_t>(choose.One(4) ? choose.Below(kBytes) : choose.Below(16));
  side.pitch = Size(choose);
  side.null = choose.One(40);
  return side;
}

Call CallOf(Choices& choose, Blocks& blocks) {
  Call call;
  call.dst = SideOf(choose, blocks);
  call.src = SideOf(choose, blocks);
  const int64_t what = choose.Below(3);
  call.plane = what == 1;
  call.fill = what == 2;
  call.queued = choose.One(3);
  call.width = Size(choose);
  if (call.plane) {
    call.height = Size(choose);
    if (choose.One(2)) call.width = std::min({call.width, call.dst.pitch, call.src.pitch});
  } else {
    call.dst.pitch = call.src.pitch = 0;
    if (choose.One(4)) call.most = Size(choose);
  }
  // The asynchronous forms refuse a kind that does not fit, of which other tests are.
  call.kind = choose.One(20) ? 8 + static_cast<int>(choose.Below(3)) : int{ACL_MEMCPY_DEFAULT};
  return call;
}

TEST(Copies, OfAnySizes) {
  const Device device({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}});
  Blocks blocks;
  int refused = 0, done = 0, open = 0;
  EXPECT_TRUE(rc::check([&] {
    Choices choose(*Decisions(24));
    const Call call = CallOf(choose, blocks);
    RC_LOG(call.Text() + "\n");
    const std::optional<int> wanted = call.Code();
    if (!wanted) {
      ++open;
      return;
    }
    blocks.Fill();
    const Outcome outcome = TakeOutcome(call.Make(0x1A5));
    RC_ASSERT(outcome.code == *wanted);
    RC_ASSERT(outcome.ok() == outcome.message.empty());
    RC_ASSERT(aclrtSynchronizeStream(nullptr) == 0);
    if (outcome.ok() && !call.empty()) call.Expect(0x1A5);
    RC_ASSERT(blocks.AsExpected());
    ++(outcome.ok() ? done : refused);
  }));
  std::printf("%d refused, %d done, %d left open\n", refused, done, open);
}

/// Sizes that no memory has are refused in words; small ones are given.
TEST(Copies, AllocationsOfAnySizes) {
  const Device device({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}});
  EXPECT_TRUE(rc::check([&] {
    Choices choose(*Decisions(8));
    const size_t size = Size(choose);
    const bool host = choose.One(2);
    RC_LOG(std::to_string(size) + (host ? " pinned\n" : "\n"));
    RC_PRE((size < size_t{1} << 20 || size > size_t{1} << 48));
    void* memory = nullptr;
    const Outcome outcome =
        TakeOutcome(host ? aclrtMallocHost(&memory, size)
                         : aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    RC_ASSERT(outcome.ok() == (size > 0 && size < size_t{1} << 20));
    RC_ASSERT((memory != nullptr) == outcome.ok());
    RC_ASSERT(outcome.ok() == outcome.message.empty());
    if (outcome.ok()) RC_ASSERT((host ? aclrtFreeHost(memory) : aclrtFree(memory)) == 0);
  }));
}

}  // namespace
}  // namespace openaclnn::test
