// SPDX-License-Identifier: Apache-2.0
// Files without names as memory, mapped where kernels see them.
#include "ascendcl/memory/address_range.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "acl/acl.h"
#include "common/descriptor.h"
#include "common/write_quietly.h"

namespace openaclnn {
namespace {

/// The pieces that lie in a part of the range, or reach into it. `act` may take its piece away.
template <class Pieces, class Act>
void EachIn(Pieces& pieces, uint64_t offset, uint64_t bytes, Act&& act) {
  auto next = pieces.upper_bound(offset);
  if (next != pieces.begin()) --next;
  while (next != pieces.end() && next->first < offset + std::max<uint64_t>(bytes, 1)) {
    const auto piece = next++;
    if (piece->first + piece->second.memory->bytes() > offset) act(piece);
  }
}

/// Why there is no file of so many bytes, by what `function` has left in errno.
Status NoFile(const char* function, uint64_t bytes) {
  const char* most = nullptr;
  switch (errno) {
    case EFBIG:
      most = "no more than the limit of a file's size (ulimit -f) allows";
      break;
    case EMFILE:
    case ENFILE:
      most = "a descriptor for it within the limits (ulimit -n, fs.file-max)";
      break;
    case EINVAL:  // a size that no file has
    case ENOMEM:
    case ENOSPC:
      most = "no more than this machine has";
      break;
    default:
      return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    Concat("physical memory is refused: ", function, " fails (",
                           std::strerror(errno), "), expected a system that allows it"));
  }
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                Concat("size value is ", bytes, ", expected ", most));
}

}  // namespace

// Device memory has two addresses (arena.h), so it needs twice its size of the limit.
Status NoAddresses(uint64_t bytes) {
  const char* refused = ", expected no more than this process can reserve";
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION, Concat("size value is ", bytes, refused));
  }
  return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                Concat("size value is ", bytes, refused, ": it may have ", limit.rlim_cur / 1024,
                       " KiB of addresses (ulimit -v), and device memory takes twice its size of "
                       "them; start the program with `ulimit -v unlimited`"));
}

Status PhysicalMemory::Create(uint32_t device_id, uint64_t bytes,
                              std::shared_ptr<PhysicalMemory>* made) {
  // First the object: without memory for it there is no descriptor to lose.
  std::shared_ptr<PhysicalMemory> memory(new PhysicalMemory(device_id, bytes));
  const int file = AboveStandard(memfd_create("openaclnn", MFD_CLOEXEC));
  if (file < 0) return NoFile("memfd_create", bytes);
  memory->file_.Keep(file);
  if (!ResizeQuietly(file, static_cast<off_t>(bytes))) return NoFile("ftruncate", bytes);
  *made = std::move(memory);
  return {};
}

void PhysicalMemory::Fill(int value) const {
  void* all = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
  if (all == MAP_FAILED) return;
  std::memset(all, value, bytes_);
  munmap(all, bytes_);
}

PhysicalMemory::~PhysicalMemory() {
  if (ended_ != nullptr) ended_(device_id_, bytes_);
}

namespace {

/// Addresses that nobody may touch.
Status MapNothing(uint64_t asked, uint64_t bytes, std::byte** address) {
  void* const mapping =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return NoAddresses(asked);
  *address = static_cast<std::byte*>(mapping);
  return {};
}

}  // namespace

// Memory is mapped in units of the granularity: the last one is whole.
Status AddressRange::Reserve(uint64_t bytes, bool host_access,
                             std::unique_ptr<AddressRange>* made) {
  std::unique_ptr<AddressRange> range(new AddressRange(Block()));
  const uint64_t ranges = host_access ? 1 : 2;
  const uint64_t whole =
      bytes <= UINT64_MAX / 4 ? (bytes + kGranularity - 1) / kGranularity * kGranularity : bytes;
  const uint64_t mapped = bytes <= UINT64_MAX / 4 ? ranges * whole : UINT64_MAX / 2;
  std::byte* device = nullptr;
  Status status = MapNothing(bytes, mapped, &device);
  if (!status.ok()) return status;
  range->block_ = {device, device + (ranges - 1) * whole, whole};
  *made = std::move(range);
  return status;
}

Status AddressRange::Register(void* host, uint64_t bytes, std::unique_ptr<AddressRange>* made) {
  std::unique_ptr<AddressRange> range(new AddressRange(Block()));
  std::byte* device = nullptr;
  Status status = MapNothing(bytes, bytes, &device);
  if (!status.ok()) return status;
  range->block_ = {device, static_cast<std::byte*>(host), bytes};
  range->registered_ = true;
  *made = std::move(range);
  return status;
}

AddressRange::~AddressRange() {
  if (block_.bytes == 0) return;
  const uint64_t ranges = registered_ || block_.host == block_.device ? 1 : 2;
  munmap(block_.device, ranges * block_.bytes);
}

bool AddressRange::Overlaps(const Pieces& pieces, uint64_t offset, uint64_t bytes) {
  auto next = pieces.lower_bound(offset + bytes);
  if (next == pieces.begin()) return false;
  const auto& [start, piece] = *std::prev(next);
  return start + piece.memory->bytes() > offset;
}

bool AddressRange::Holds(uint64_t offset, uint64_t bytes) const {
  if (registered_) return offset < block_.bytes && bytes <= block_.bytes - offset;
  auto next = mapped_.upper_bound(offset);
  if (next == mapped_.begin()) return false;
  uint64_t end = std::prev(next)->first + std::prev(next)->second.memory->bytes();
  if (end <= offset) return false;
  for (; end - offset < bytes && next != mapped_.end() && next->first == end; ++next) {
    end += next->second.memory->bytes();
  }
  return end - offset >= bytes;
}

bool AddressRange::HasOtherAddresses(uint64_t offset, uint64_t bytes) const {
  bool others = false;
  const auto look = [&](auto piece) { others |= piece->second.memory->mappings() > 1; };
  EachIn(mapped_, offset, bytes, look);
  EachIn(leaving_, offset, bytes, look);
  return others;
}

// At an address there is one piece at most as long as it is used: no other is mapped beside one
// that is leaving. So the part says which pieces were meant.
void AddressRange::Use(uint64_t offset, uint64_t bytes) {
  if (registered_) return;
  EachIn(mapped_, offset, bytes,
         [](auto piece) { piece->second.uses.fetch_add(1, std::memory_order_relaxed); });
}

void AddressRange::EndUse(uint64_t offset, uint64_t bytes, Pieces* left) {
  if (registered_) return;
  const auto end = [](auto piece) { return piece->second.uses.fetch_sub(1) == 1; };
  EachIn(mapped_, offset, bytes, end);
  EachIn(leaving_, offset, bytes, [&](auto piece) {
    if (end(piece)) Leave(piece, left);
  });
}

void AddressRange::Leave(Pieces::iterator piece, Pieces* left) {
  // A failure would leave the old memory readable, which nobody reads.
  (void)mmap(block_.host + piece->first, piece->second.memory->bytes(), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  left->insert(leaving_.extract(piece));
}

Status AddressRange::Map(uint64_t offset, const std::shared_ptr<PhysicalMemory>& memory,
                         const std::byte** used) {
  const uint64_t bytes = memory->bytes();
  const char* obstacle = registered_                        ? "is memory of the host"
                         : bytes > block_.bytes - offset    ? "is longer than reserved"
                         : Overlaps(mapped_, offset, bytes) ? "holds memory already"
                                                            : nullptr;
  if (obstacle == nullptr && Overlaps(leaving_, offset, bytes)) {
    obstacle = "is used by queued tasks";
    *used = block_.host + offset;
  }
  if (obstacle == nullptr) {
    const int file = memory->descriptor();
    if (file < 0) {
      return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "handle memory is gone with its descriptor, which the program has closed, "
                    "expected descriptors that it did not open left open");
    }
    // First the piece: without memory for it nothing is mapped.
    const auto piece = mapped_.try_emplace(offset, memory).first;
    if (mmap(block_.host + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
             0) != MAP_FAILED) {
      return {};
    }
    mapped_.erase(piece);
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Concat("virPtr range of ", bytes,
                         " bytes cannot be mapped, expected fewer mappings in this process"));
  }
  return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("virPtr range of ", bytes, " bytes ", obstacle,
                                                   ", expected free reserved addresses"));
}

Status AddressRange::Unmap(uint64_t offset, Pieces* left) {
  const auto found = mapped_.find(offset);
  if (found == mapped_.end()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "virPtr value is no start of mapped memory, expected an address that was given "
                  "to aclrtMapMem");
  }
  const auto piece = leaving_.insert(mapped_.extract(found)).position;
  if (piece->second.uses.load() == 0) Leave(piece, left);
  return {};
}

}  // namespace openaclnn
