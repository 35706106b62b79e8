// SPDX-License-Identifier: Apache-2.0
// libascend_hal.so, the driver's library: the version of its interface, and the functions that
// clients link to show memory of the host to a device, which refuse.
#include "ascendcl/unsupported.h"

namespace {

/// 7.25.0, a byte each. From 7.25.5 on clients read the frequency of the device's counter
/// (halGetDeviceInfo), which is not here.
constexpr int kVersion = 0x071900;
constexpr int kInvalidValue = 3;  // DRV_ERROR_INVALID_VALUE

}  // namespace

extern "C" ACL_FUNC_VISIBILITY int halGetAPIVersion(int* halAPIVersion) {
  if (halAPIVersion == nullptr) return kInvalidValue;
  *halAPIVersion = kVersion;
  return 0;
}

UNSUPPORTED(halHostRegister)
UNSUPPORTED(halHostUnregister)
