// SPDX-License-Identifier: Apache-2.0
// Rounding of the operands of products before they are multiplied, and where the result lies.
#pragma once

#include <cstdint>
#include <optional>

#include "frame/support.h"

namespace openaclnn {

/// To nearest, ties to even. HF32 has 1 sign, 8 exponent and 11 mantissa bits. gemm_simd.cc rounds.
enum class Rounding { kNone, kHf32, kFloat16 };

/// cubeMathType is 0 KEEP_DTYPE, 1 ALLOW_FP32_DOWN_PRECISION, 2 USE_FP16 or 3 USE_HF32.
inline constexpr int kMathTypes = 4;

/// The rounding that a cubeMathType applies to operands of a type on a product. Nothing where its
/// cube has no such products: convolutions refuse those, products of matrices take operands as they
/// are.
std::optional<Rounding> RoundingOf(int32_t dtype, int64_t cube_math_type,
                                   const OpenaclnnProduct& product);

}  // namespace openaclnn
