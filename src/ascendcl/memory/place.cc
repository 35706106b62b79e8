// SPDX-License-Identifier: Apache-2.0
// Places in memory: which bytes of which allocation.
#include "ascendcl/memory/place.h"

#include <cstdlib>

#include "ascendcl/process/symbol.h"
#include "common/text.h"

namespace openaclnn {

Place PlaceIn(const Allocation& allocation) {
  Place place;
  place.location = allocation.location;
  place.begin = allocation.block.device;
  place.bytes = allocation.block.bytes;
  place.device_id = allocation.device_id;
  place.reserved = allocation.range != nullptr;
  place.maker = allocation.maker;
  if (allocation.made_from != nullptr) place.made_from = *allocation.made_from;
  place.last_task = allocation.last_task.load(std::memory_order_relaxed);
  return place;
}

void WritePlace(const void* address, uint64_t bytes, const Place& place, BoundedText* text) {
  if (place.begin == nullptr) {
    *text << bytes << (bytes == 1 ? " byte at " : " bytes at ") << address
          << ": no allocation is there now; it was freed, or was never made";
    return;
  }
  const auto number = [text](int64_t offset) {
    *text << (offset < 0 ? "-" : "") << static_cast<uint64_t>(std::abs(offset));
  };
  const int64_t last = place.offset + static_cast<int64_t>(bytes) - 1;
  *text << (bytes == 1 ? "byte " : "bytes ");
  number(place.offset);
  if (bytes > 1) {
    *text << " to ";
    number(last);
  }
  const bool inside = place.offset >= 0 && static_cast<uint64_t>(last) < place.bytes;
  const bool begins = place.offset >= 0 && static_cast<uint64_t>(place.offset) < place.bytes;
  *text << (inside             ? " of the "
            : begins           ? ", beyond the end of the "
            : place.offset < 0 ? ", before the "
                               : ", behind the ")
        << place.bytes << (place.reserved ? " that were reserved at " : " that were allocated at ")
        << place.begin;
  if (place.location == Location::kDevice) {
    *text << " on device " << uint64_t{place.device_id};
  } else {
    *text << " in pinned host memory";
  }
  if (place.maker != nullptr) *text << " by " << place.maker;
  if (place.freed_by != nullptr) *text << " and that " << place.freed_by << " has freed";
  WriteCallStack(place.made_from, text);
}

std::string TextOf(const void* address, uint64_t bytes, const Place& place) {
  char room[2048];
  BoundedText text(room);
  WhileFilesStay([&] { WritePlace(address, bytes, place, &text); });
  return std::string(text.view());
}

}  // namespace openaclnn
