// SPDX-License-Identifier: Apache-2.0
// Every exported function by the addresses that it takes of the runtime's own memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/ascendcl/gradient.h"

namespace openaclnn {

/// What an address is, one bit each.
enum Place : unsigned {
  kNowhere = 1,       // no memory of the process: handles, numbers
  kOfProgram = 2,     // its stack, its heap
  kDeviceStart = 4,   // an allocation's first byte
  kDeviceInside = 8,  // with room behind it
  kDeviceEnd = 16,    // its last byte
  kDeviceFreed = 32,
  kPinnedStart = 64,
  kPinnedInside = 128,
  kPinnedFreed = 256,
  kReserved = 512,  // the start of a range without memory
  kReservedInside = 1024,
  kMapped = 2048,  // the start of a range with memory
  kMappedInside = 4096,
  kNull = 8192
};

/// Memory that there is at all, with room for kAddressBytes.
constexpr unsigned kLiveDevice = kDeviceStart | kDeviceInside | kMapped | kMappedInside;
constexpr unsigned kLive = kLiveDevice | kPinnedStart | kPinnedInside | kOfProgram;
constexpr size_t kAddressBytes = 16;

/// A function with one of its addresses left open.
struct AddressRow {
  const char* api;
  const char* argument;
  unsigned takes;  // the places that are right, which are not tried
  std::function<int(void*)> call;
  int null, other;  // the codes for what is wrong; 0: every address is right, and is tried
  const char* refused_by = nullptr;  // which function says so, if another
};

/// What calls need beside the address.
struct AddressLive {
  void* stream = nullptr;
  void* physical = nullptr;  // that is mapped nowhere
  void* device = nullptr;    // for the other side of a copy
  aclTensor* tensor = nullptr;
  Gradient* gradient = nullptr;
  void* workspace = nullptr;  // of it
};

std::vector<AddressRow> AddressRows(const AddressLive& live);

}  // namespace openaclnn
