// SPDX-License-Identifier: Apache-2.0
// Places in memory: which bytes of which allocation.
#include "ascendcl/check/place.h"

#include "common/text.h"

namespace openaclnn {

void WritePlace(const void* address, uint64_t bytes, const Memory::Place& place,
                BoundedText* text) {
  if (place.begin == nullptr) {
    *text << bytes << (bytes == 1 ? " byte at " : " bytes at ") << address
          << ": no allocation is there now; it was freed, or was never made";
    return;
  }
  if (bytes == 1) {
    *text << "byte " << place.offset;
  } else {
    *text << "bytes " << place.offset << " to " << place.offset + bytes - 1;
  }
  *text << " of the " << place.bytes
        << (place.reserved ? " that were reserved at " : " that were allocated at ") << place.begin;
  if (place.location == Location::kDevice) {
    *text << " on device " << uint64_t{place.device_id};
  } else {
    *text << " in pinned host memory";
  }
  if (place.maker != nullptr) *text << " by " << place.maker;
  WriteCallStack(place.made_from, text);
}

std::string TextOf(const void* address, uint64_t bytes, const Memory::Place& place) {
  char room[2048];
  BoundedText text(room);
  WritePlace(address, bytes, place, &text);
  return std::string(text.view());
}

std::string PlaceOf(const void* address, uint64_t bytes) {
  Memory::Place place;
  if (Memory::Get().Find(address, &place)) return TextOf(address, bytes, place);
  return Concat(bytes, bytes == 1 ? " byte at " : " bytes at ", address);
}

}  // namespace openaclnn
