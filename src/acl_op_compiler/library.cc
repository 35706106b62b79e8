// SPDX-License-Identifier: Apache-2.0
// How this library reports: through libascendcl's interface.
#include "ascendcl/error.h"
#include "ascendcl/interface.h"

namespace openaclnn {
namespace {

const OpenaclnnRuntime* Runtime() {
  static const OpenaclnnRuntime* const runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  return runtime;
}

}  // namespace

bool Forked() { return Runtime() != nullptr && Runtime()->forked() != 0; }

int Report(const char* api, const Status& status) {
  if (Runtime() != nullptr) {
    Runtime()->record_error(status.code(), Concat(api, ": ", status.text()).c_str());
  }
  return status.code();
}

}  // namespace openaclnn
