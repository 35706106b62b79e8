// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of tasks and of phase 1, whatever their thread was set to.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace openaclnn {

/// Rounding to nearest, no flush to zero, exceptions masked while it lives; the thread's own
/// setting and flags afterwards. (A client may have asked its threads to flush denormals, which
/// would change results.) Registers are written only where they differ: a write costs as much as
/// many reads.
class FloatEnvironment {
 public:
#if defined(__SSE2__)
  FloatEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatEnvironment() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned int kDefault = 0x1F80, kFlags = 0x3F;
  unsigned int saved_;
#elif defined(__aarch64__)
  FloatEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(flags_));
    if (control_ != 0) asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~FloatEnvironment() {
    if (control_ != 0) asm volatile("msr fpcr, %0" : : "r"(control_));
    asm volatile("msr fpsr, %0" : : "r"(flags_));
  }

 private:
  uint64_t control_, flags_;
#endif
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
};

}  // namespace openaclnn
