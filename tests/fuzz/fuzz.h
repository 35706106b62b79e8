// SPDX-License-Identifier: Apache-2.0
// What the targets share: the entry that libFuzzer and replay.cc call, decisions, and what must
// hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace openaclnn::fuzz {

/// Stops at what must not be, so that the input is kept.
inline void Must(bool holds, const char* what, int code = 0) {
  if (holds) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "fuzz: %s (%d): %s\n", what, code, message != nullptr ? message : "");
  std::abort();
}

/// Decisions from the bytes of an input; 0 where there are none left.
class Decisions {
 public:
  Decisions(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  bool More() const { return next_ != end_; }
  uint32_t Below(uint32_t count) { return (More() ? *next_++ : 0U) % count; }

 private:
  const uint8_t *next_, *end_;
};

}  // namespace openaclnn::fuzz
