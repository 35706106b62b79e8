// SPDX-License-Identifier: Apache-2.0
// Transfer: a copy of all elements of one view to those of another of the same type.
#pragma once

#include "kernels/broadcast.h"
#include "kernels/strided.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

struct Transfer {
  Transfer(const Walk& over, int64_t element_bytes) : walk(over), bytes(element_bytes) {}
  /// `from` is broadcast to the shape of `to`.
  Transfer(const Operand& from, const Operand& to)
      : walk(ShapeOf(to), {Steps(ShapeOf(to), from), Steps(ShapeOf(to), to)}),
        bytes(BytesOf(from)) {}

  void operator()(std::byte* from, std::byte* to) const {
    walk.ForRuns({from, to}, [&](const Walk::Pointers& at, int64_t n) {
      CopyStrided(at[0], walk.step(0) / bytes, at[1], walk.step(1) / bytes, n, bytes);
    });
  }

  Walk walk;
  int64_t bytes;
};

}  // namespace openaclnn::supporting
