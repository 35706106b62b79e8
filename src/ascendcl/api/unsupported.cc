// SPDX-License-Identifier: Apache-2.0
// What libascendcl.so exports and does not do.
#include "ascendcl/unsupported.h"

#include "ascendcl/api/stream_refusal.h"
#include "ascendcl/api/unsupported.inc"
