// SPDX-License-Identifier: Apache-2.0
// How this library reports: through libascendcl's interface.
#include "ascendcl/error.h"
#include "ascendcl/interface.h"
#include "ascendcl/trace.h"

namespace openaclnn {
namespace {

constexpr uint32_t kNeverTracing = 0;

const OpenaclnnRuntime* Runtime() {
  static const OpenaclnnRuntime* const runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  return runtime;
}

}  // namespace

const uint32_t* const kTracing = Runtime() != nullptr ? Runtime()->tracing : &kNeverTracing;

bool Forked() { return Runtime() != nullptr && Runtime()->forked() != 0; }

int Report(const char* api, const Status& status) {
  if (Runtime() != nullptr) {
    Runtime()->record_error(status.code(), Concat(api, ": ", status.text()).c_str());
  }
  return status.code();
}

void TraceCall(const char* api, const char* phase, int64_t start, int code) {
  if (Runtime() != nullptr) Runtime()->trace_call(api, phase, start, code);
}

}  // namespace openaclnn
