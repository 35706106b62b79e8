// SPDX-License-Identifier: Apache-2.0
// A client's own task, which writes beside the memory that it pins.
#pragma once

#include <cstring>

#include "ascendcl/interface.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {

/// Writes `bytes` from byte `at` of the memory on.
struct Overrun {
  Overrun(std::ptrdiff_t first, size_t count) : at(first), bytes(count) {}

  std::ptrdiff_t at;
  size_t bytes;
  OpenaclnnPin pin = {};
  void* from = nullptr;

  /// `instead`: what the task takes for the memory.
  void Launch(const void* memory, size_t size, aclrtStream stream, void* instead = nullptr) {
    const OpenaclnnRuntime* runtime = openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE);
    ASSERT_EQ(runtime->pin(memory, size, &pin), OPENACLNN_PINNED);
    from = instead != nullptr ? instead : pin.host;
    const OpenaclnnTask task = {
        .name = "sumOfMine",
        .run =
            [](void* state, OpenaclnnMessage*) {
              const auto* overrun = static_cast<Overrun*>(state);
              std::memset(static_cast<char*>(overrun->from) + overrun->at, 1, overrun->bytes);
              return 0;
            },
        .release =
            [](void* state) {
              openaclnn_runtime(OPENACLNN_RUNTIME_INTERFACE)
                  ->unpin(&static_cast<Overrun*>(state)->pin);
            },
        .state = this,
        .arguments = nullptr,
        .each_pin = nullptr,
    };
    OpenaclnnMessage message;
    ASSERT_EQ(runtime->submit(stream, &task, &message), 0) << message.text;
  }
};

}  // namespace openaclnn
