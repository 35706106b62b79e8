// SPDX-License-Identifier: Apache-2.0
// Connection to libascendcl.so, and the reporting and tracing that go through it.
#include "client/client.h"

#include <cstdio>
#include <string>

#include "ascendcl/message.h"
#include "ascendcl/report/error.h"

namespace openaclnn {
namespace {

constexpr const char* kMixed =
    "library versions differ, expected libascendcl.so, libnnopbase.so and libopapi.so of one "
    "installation";

constexpr uint32_t kNeverTracing = 0;

constexpr OpenaclnnRuntime kRefusing = {
    .product = [](OpenaclnnMessage* message) -> const OpenaclnnProduct* {
      Write(message, kMixed);
      return nullptr;
    },
    .simd = [] { return OPENACLNN_SIMD_BASELINE; },
    .threads = [] { return uint32_t{1}; },
    .product_count = [] { return uint32_t{0}; },
    .product_at = [](uint32_t) -> const OpenaclnnProduct* { return nullptr; },
    .family_name = [](OpenaclnnFamily) { return ""; },
    .forked = [] { return 0; },
    .record_error = [](int, const char*) {},
    .tracing = &kNeverTracing,
    .note_arguments = [](const char*) {},
    .trace_call = [](const char*, const char*, int64_t, int) {},
    .record_unsupported = [](const char*) {},
    .pin = [](const void*, uint64_t, OpenaclnnPin*) { return OPENACLNN_NOT_DEVICE_MEMORY; },
    .unpin = [](const OpenaclnnPin*) {},
    .submit =
        [](void*, const OpenaclnnTask*, OpenaclnnMessage* message) {
          Write(message, kMixed);
          return 500000;
        },
    .attribute = [](const void*, const char*, OpenaclnnAttribute*) { return 0; },
    .parallel_for = [](uint64_t, int, void (*)(void*, uint64_t), void*) {},
    .hold = [](void*, OpenaclnnMessage* message) -> void* {
      Write(message, kMixed);
      return nullptr;
    },
    .let_go = [](void*) {},
    .stream_number = [](void*) { return uint64_t{0}; },
    .submit_held =
        [](void*, const OpenaclnnTask*, uint64_t*, OpenaclnnMessage* message) {
          Write(message, kMixed);
          return 500000;
        },
    .await_launch = [](void*, uint64_t) {},
    .wake = [](void*) {},
    .may_be_awaited = [] { return 0; },
    .begin_wait = [](void*, uint64_t, OpenaclnnMessage* message) -> void* {
      Write(message, kMixed);
      return nullptr;
    },
    .end_wait = [](void*) {},
    .check_level = [] { return int32_t{0}; },
    .lenient_products = [] { return int32_t{0}; },
};

}  // namespace

const OpenaclnnRuntime& Runtime() {
  static const OpenaclnnRuntime* const runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
  return runtime != nullptr ? *runtime : kRefusing;
}

const uint32_t* const kTracing = Runtime().tracing;

bool Forked() { return Runtime().forked() != 0; }

int Report(const char* api, const Status& status) {
  try {
    Runtime().record_error(status.code(), Concat(api, ": ", status.text()).c_str());
  } catch (const std::bad_alloc&) {
    Message cut;
    std::snprintf(cut.text, sizeof(cut.text), "%s: %s", api, status.text().c_str());
    Runtime().record_error(status.code(), cut.text);
  }
  return status.code();
}

void TraceCall(const char* api, const char* phase, int64_t start, int code) {
  Runtime().trace_call(api, phase, start, code);
}

}  // namespace openaclnn
