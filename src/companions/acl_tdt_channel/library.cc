// SPDX-License-Identifier: Apache-2.0
// libacl_tdt_channel.so, with which tensors are sent between host and device: the function that
// clients call to ask for a channel, which refuses.
#include "ascendcl/unsupported.h"

UNSUPPORTED_NOTHING(acltdtCreateChannelWithCapacity)
