// SPDX-License-Identifier: Apache-2.0
// Functions that libascendcl.so exports and does not implement.
#include "ascendcl/unsupported.h"

#include "ascendcl/api/stream_refusal.h"
#include "ascendcl/api/unsupported.inc"
