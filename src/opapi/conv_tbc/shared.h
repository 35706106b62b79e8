// SPDX-License-Identifier: Apache-2.0
// Convolution over time, batch, channel tensors: what the operator and its gradient share.
//
//   y[t,b,o] = bias[o] + sum over k, c of x[t+k-pad,b,c] * w[k,c,o]   where 0 <= t+k-pad < T_in
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "frame/checker.h"
#include "kernels/gemm/gemm.h"
#include "kernels/move/dense_input.h"

namespace openaclnn::conv_tbc {

//                                      910                A2           A3           950
inline constexpr DtypesByFamily kTypes = {kFloatTypesNoBf16, kFloatTypes, kFloatTypes,
                                          kFloatTypes,       kNone,       kNone};  // 310P, 310B

/// x is (in_length, batch, in_channels), w (taps, in_channels, out_channels), y (out_length, batch,
/// out_channels).
struct Geometry {
  int64_t in_length, out_length, batch, in_channels, out_channels, taps, pad;

  /// Takes operands that were checked.
  Geometry(const Operand& x, const Operand& w, int64_t padding);
};

/// ND or NCL; ND only.
void CheckFormats(Checker& checker, const Operand& operand);
void CheckBiasFormat(Checker& checker, const Operand& operand);

/// x's channels and the bias against w, pad, the product's limits, and that y has a length.
/// `sized`: the operands whose dimensions the limits hold for, in order.
void CheckGeometry(Checker& checker, const Product& product, const Operand& x, const Operand& w,
                   const Operand& bias, int64_t pad, std::initializer_list<const Operand*> sized);

/// The shape of y. After CheckGeometry.
void CheckOutput(Checker& checker, const Operand& y, const Operand& x, const Operand& w,
                 int64_t pad);

/// 0 to 3, and one that the product has for the type.
void CheckMathType(Checker& checker, const Product& product, int32_t dtype, int8_t math);

/// An operand of a product: its rows are those of its tensor, or of the copy of it, each of the
/// last dimension's elements.
TapMatrix TapsOf(const Operand& operand, const DenseInput& dense, Rounding rounding, int64_t shift,
                 int64_t step, bool transposed);

/// Bytes that the workspace should have: a tenth of what the call reads and writes.
uint64_t MostWorkspace(std::span<const Operand* const> operands);

/// Rows of x or y from one step of time to `steps` after it. It may wrap around: with so many taps
/// that it does, no row that is read lies there.
int64_t RowsBetween(int64_t steps, const Geometry& geometry);

}  // namespace openaclnn::conv_tbc
