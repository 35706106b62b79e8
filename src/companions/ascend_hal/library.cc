// SPDX-License-Identifier: Apache-2.0
// libascend_hal.so, the driver's library: the functions that clients link to show memory of the
// host to a device, which refuse.
#include "ascendcl/unsupported.h"

UNSUPPORTED(halHostRegister)
UNSUPPORTED(halHostUnregister)
