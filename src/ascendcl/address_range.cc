// SPDX-License-Identifier: Apache-2.0
// Files without names as memory, mapped where kernels see them.
#include "ascendcl/address_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include "acl/acl.h"

namespace openaclnn {

Status PhysicalMemory::Create(uint32_t device_id, uint64_t bytes, Ended ended,
                              std::shared_ptr<PhysicalMemory>* made) {
  const int descriptor = memfd_create("openaclnn", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    if (descriptor >= 0) close(descriptor);
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  Concat("size value is ", bytes, ", expected no more than this machine has"));
  }
  made->reset(new PhysicalMemory(device_id, bytes, descriptor, ended));
  return {};
}

PhysicalMemory::~PhysicalMemory() {
  close(descriptor_);
  ended_(device_id_, bytes_);
}

Status AddressRange::Reserve(uint64_t bytes, bool host_access,
                             std::unique_ptr<AddressRange>* made) {
  std::unique_ptr<AddressRange> range(new AddressRange(Block()));
  const uint64_t ranges = host_access ? 1 : 2;
  void* mapping = MAP_FAILED;
  if (bytes <= UINT64_MAX / 4) {
    mapping = mmap(nullptr, ranges * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
  }
  if (mapping == MAP_FAILED) {
    return Status(ACL_ERROR_RT_MEMORY_ALLOCATION, Concat("size value is ", bytes,
                                                         ", expected no more than this process can "
                                                         "reserve"));
  }
  auto* device = static_cast<std::byte*>(mapping);
  range->block_ = {device, device + (ranges - 1) * bytes, bytes};
  *made = std::move(range);
  return {};
}

AddressRange::~AddressRange() {
  if (block_.bytes == 0) return;
  const uint64_t ranges = block_.host == block_.device ? 1 : 2;
  munmap(block_.device, ranges * block_.bytes);
}

bool AddressRange::Overlaps(const Pieces& pieces, uint64_t offset, uint64_t bytes) {
  auto next = pieces.lower_bound(offset + bytes);
  if (next == pieces.begin()) return false;
  const auto& [start, memory] = *std::prev(next);
  return start + memory->bytes() > offset;
}

bool AddressRange::Holds(uint64_t offset, uint64_t bytes) const {
  auto next = mapped_.upper_bound(offset);
  if (next == mapped_.begin()) return false;
  uint64_t end = std::prev(next)->first + std::prev(next)->second->bytes();
  if (end <= offset) return false;
  for (; end - offset < bytes && next != mapped_.end() && next->first == end; ++next) {
    end += next->second->bytes();
  }
  return end - offset >= bytes;
}

Status AddressRange::Map(uint64_t offset, std::shared_ptr<PhysicalMemory> memory) {
  const uint64_t bytes = memory->bytes();
  const char* obstacle = bytes > block_.bytes - offset       ? "is longer than reserved"
                         : Overlaps(mapped_, offset, bytes)  ? "holds memory already"
                         : Overlaps(leaving_, offset, bytes) ? "is used by queued tasks"
                         : mmap(block_.host + offset, bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, memory->descriptor(), 0) == MAP_FAILED
                             ? "cannot be mapped"
                             : nullptr;
  if (obstacle != nullptr) {
    return Status(ACL_ERROR_RT_PARAM_INVALID, Concat("virPtr range of ", bytes, " bytes ", obstacle,
                                                     ", expected free reserved addresses"));
  }
  mapped_.emplace(offset, std::move(memory));
  return {};
}

Status AddressRange::Unmap(uint64_t offset) {
  const auto found = mapped_.find(offset);
  if (found == mapped_.end()) {
    return Status(ACL_ERROR_RT_PARAM_INVALID,
                  "virPtr value is no start of mapped memory, expected an address that was given "
                  "to aclrtMapMem");
  }
  leaving_.insert(mapped_.extract(found));
  return {};
}

std::vector<std::shared_ptr<PhysicalMemory>> AddressRange::Settle() {
  std::vector<std::shared_ptr<PhysicalMemory>> left;
  for (const auto& [offset, memory] : leaving_) {
    // A failure would leave the old memory readable, which nobody reads.
    (void)mmap(block_.host + offset, memory->bytes(), PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    left.push_back(memory);
  }
  leaving_.clear();
  return left;
}

}  // namespace openaclnn
