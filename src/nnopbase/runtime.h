// SPDX-License-Identifier: Apache-2.0
// The libascendcl.so that this library was loaded with.
#pragma once

#include "ascendcl/interface.h"

namespace openaclnn {

/// Never null: with a libascendcl.so of another version it is a table that refuses.
const OpenaclnnRuntime& Runtime();

}  // namespace openaclnn
