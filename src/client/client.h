// SPDX-License-Identifier: Apache-2.0
// The libascendcl.so that a library above it was loaded with.
//
// client.cc is compiled into each of those libraries: it also is their Report, Forked and TraceCall
// (ascendcl/report/error.h, ascendcl/report/trace.h), which go through the interface.
#pragma once

#include "ascendcl/interface.h"

namespace openaclnn {

/// Never null: with a libascendcl.so of another version it is a table that refuses.
const OpenaclnnRuntime& Runtime();

}  // namespace openaclnn
