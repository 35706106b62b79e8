// SPDX-License-Identifier: Apache-2.0
// Fork: from when on the children of this process cannot use the runtime.
#pragma once

namespace openaclnn {

// libascendcl defines Forked by its own state; in the libraries above it client.cc does, through
// libascendcl's interface.

/// True in a child of fork: threads and device memory stayed with the parent.
bool Forked();

// The following functions are libascendcl's own.

/// This process has, or is about to have, threads or memory that a child of fork would lack.
void MarkUsed();

}  // namespace openaclnn
