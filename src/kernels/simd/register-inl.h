// SPDX-License-Identifier: Apache-2.0
// How wide a register of the instruction set is, for vectors of the compiler.
#pragma once

namespace openaclnn {
namespace OPENACLNN_TARGET {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

}  // namespace OPENACLNN_TARGET
}  // namespace openaclnn
