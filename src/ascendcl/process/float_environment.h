// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of tasks and of phase 1, whatever their thread was set to.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace openaclnn {

/// Rounding to nearest, no flush to zero, exceptions masked while it lives; the thread's own
/// setting afterwards, flags included. (A client may have asked its threads to flush denormals,
/// which would change results.)
class FloatEnvironment {
 public:
#if defined(__SSE2__)
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }

 private:
  unsigned int saved_;
#elif defined(__aarch64__)
  FloatEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(flags_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~FloatEnvironment() {
    asm volatile("msr fpcr, %0" : : "r"(control_));
    asm volatile("msr fpsr, %0" : : "r"(flags_));
  }

 private:
  uint64_t control_, flags_;
#endif
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
};

}  // namespace openaclnn
