// SPDX-License-Identifier: Apache-2.0
// Host threads: they run the host functions of streams, which may block.
#pragma once

#include <functional>

#include "common/status.h"

namespace openaclnn {

/// Runs the function soon, on a thread that is not a worker's. A function that blocks delays no
/// other: there are as many threads as functions that run at once; beyond a few they end when they
/// have been idle for a while. 207005 where none is idle and no other can be started; the function
/// is not run then.
Status RunOnHostThread(std::function<void()> function);

/// Ends the threads once they have run what was handed to them. The next function starts new ones.
void StopHostThreads();

}  // namespace openaclnn
