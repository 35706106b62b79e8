// SPDX-License-Identifier: Apache-2.0
// Kernels compiled several times: how a room declares them and how one is chosen at run time.
#pragma once

#include "frame/operand.h"

// A kernel_simd.cc is compiled once for each instruction set, with OPENACLNN_TARGET naming the
// namespace that its functions live in. OPENACLNN_TARGET_DECLARE declares the room's table of
// kernels in each of them; OPENACLNN_TARGET_SELECT is the address of the one that fits the machine.
// A build may be confined to one target (the dev preset), which then serves for all.
#if defined(OPENACLNN_TARGET_ONLY)
#define OPENACLNN_TARGET_DECLARE(...) \
  namespace OPENACLNN_TARGET_ONLY {   \
  __VA_ARGS__;                        \
  }
#define OPENACLNN_TARGET_SELECT(table) (&OPENACLNN_TARGET_ONLY::table)
#elif defined(__x86_64__)
#define OPENACLNN_TARGET_DECLARE(...) \
  namespace baseline {                \
  __VA_ARGS__;                        \
  }                                   \
  namespace avx2 {                    \
  __VA_ARGS__;                        \
  }                                   \
  namespace avx512 {                  \
  __VA_ARGS__;                        \
  }
#define OPENACLNN_TARGET_SELECT(table)                           \
  (::openaclnn::Simd() >= OPENACLNN_SIMD_AVX512 ? &avx512::table \
   : ::openaclnn::Simd() == OPENACLNN_SIMD_AVX2 ? &avx2::table   \
                                                : &baseline::table)
#else
#define OPENACLNN_TARGET_DECLARE(...) \
  namespace baseline {                \
  __VA_ARGS__;                        \
  }
#define OPENACLNN_TARGET_SELECT(table) (&baseline::table)
#endif

namespace openaclnn {

/// The instruction set of this process; asked when a call is planned.
inline OpenaclnnSimd Simd() { return Meta()->runtime->simd(); }

}  // namespace openaclnn
