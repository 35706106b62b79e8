// SPDX-License-Identifier: Apache-2.0
// Executors that a program has left at aclFinalize, for libascendcl.so to tell of.
#include "client/check.h"
#include "nnopbase/executor/executor.h"
#include "nnopbase/handles.h"

namespace openaclnn {
namespace {

using See = void (*)(const void* executor, const char* maker);

void ShowExecutors(See see) {
  const auto show = [](void* to, const void* handle, void* object) {
    const char* maker = static_cast<Executor*>(object)->LeftBy();
    if (maker != nullptr) (*static_cast<See*>(to))(handle, maker);
  };
  MetaHandles().ShowAll(Executor::kKind, show, &see);
}

[[maybe_unused]] const int kAtLoad = (Check().show_executors(ShowExecutors), 0);

}  // namespace
}  // namespace openaclnn
