// SPDX-License-Identifier: Apache-2.0
// Host functions and callbacks: work of the host in the order of a stream.
#pragma once

#include "ascendcl/stream.h"

namespace openaclnn {

/// Ends the subscription of a stream that goes away. Callbacks that no thread has taken do not run.
void ForgetSubscription(const Stream* stream);

}  // namespace openaclnn
