// SPDX-License-Identifier: Apache-2.0
// Fork: from when on the children of this process cannot use the runtime.
#pragma once

namespace openaclnn {

/// This process has, or is about to have, threads or memory that a child of fork would lack.
void MarkUsed();

}  // namespace openaclnn
