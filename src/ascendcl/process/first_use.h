// SPDX-License-Identifier: Apache-2.0
// First use: calls by which a process begins to use the runtime, while they are under way.
#pragma once

namespace openaclnn {

/// Lives in such a call, from before its first lock until it ends or has called MarkUsed. A child
/// that another thread forks meanwhile finds locks taken and singletons half made: it counts as
/// the child of a process that has used the runtime.
class FirstUse {
 public:
  FirstUse();
  FirstUse(const FirstUse&) = delete;
  ~FirstUse();
};

}  // namespace openaclnn
