// SPDX-License-Identifier: Apache-2.0
// The seed and the offset of a call's random numbers: plain numbers, or what tensors hold.
#pragma once

#include <cstring>

#include "kernels/number/philox.h"
#include "supporting/family.h"

namespace openaclnn::supporting {

/// Tensors are read when the task runs. A graph that is executed again so draws other numbers if
/// the program has changed what they hold.
class Seed {
 public:
  template <class P>
  explicit Seed(const P& p)
      : given_{static_cast<uint64_t>(p.seed), static_cast<uint64_t>(p.offset)} {
    if constexpr (requires { p.seedTensor; }) {
      in_tensors_ = p.seedTensor.present();
      seed_ = p.seedTensor.place;
      offset_ = p.offsetTensor.place;
    }
  }

  /// The offset is the sum of the tensor's and the call's.
  RandomKey operator()(const Buffers& buffers) const {
    if (!in_tensors_) return given_;
    return {NumberAt(seed_(buffers)), NumberAt(offset_(buffers)) + given_.offset};
  }

 private:
  static uint64_t NumberAt(const std::byte* at) {
    uint64_t number = 0;
    std::memcpy(&number, at, sizeof(number));
    return number;
  }

  RandomKey given_;
  bool in_tensors_ = false;
  Place seed_, offset_;
};

/// Tensors of a seed and an offset, whose types the records list, hold one number each.
template <class P>
void CheckSeed(const P& p, Checker& checker) {
  if (!p.seedTensor.present()) return;
  CheckShape(p.seedTensor, {1}, checker);
  CheckShape(p.offsetTensor, {1}, checker);
}

}  // namespace openaclnn::supporting
