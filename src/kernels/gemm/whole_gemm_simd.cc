// SPDX-License-Identifier: Apache-2.0
// Products of whole numbers of one byte, compiled once for each instruction set.
#include "kernels/gemm/whole_gemm.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

/// Sums of four rows by a column. The compiler multiplies and adds pairs of 16 bits at a time.
void FourRows(const int16_t* a, int64_t a_step, const int16_t* b, int64_t terms, int32_t* sums) {
  const int16_t *const a0 = a, *const a1 = a0 + a_step, *const a2 = a1 + a_step,
                       *const a3 = a2 + a_step;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t k = 0; k < terms; ++k) {
    s0 += int32_t{a0[k]} * int32_t{b[k]};
    s1 += int32_t{a1[k]} * int32_t{b[k]};
    s2 += int32_t{a2[k]} * int32_t{b[k]};
    s3 += int32_t{a3[k]} * int32_t{b[k]};
  }
  sums[0] += s0;
  sums[kWholeColumns] += s1;
  sums[2 * kWholeColumns] += s2;
  sums[3 * kWholeColumns] += s3;
}

void OneRow(const int16_t* a, const int16_t* b, int64_t terms, int32_t* sum) {
  int32_t own = 0;
  for (int64_t k = 0; k < terms; ++k) own += int32_t{a[k]} * int32_t{b[k]};
  *sum += own;
}

void Dots(const int16_t* a, int64_t a_step, int64_t rows, const int16_t* b, int64_t columns,
          int64_t terms, int32_t* sums) {
  for (int64_t j = 0; j < columns; ++j, b += kWholeStep) {
    if (rows == kWholeRows) {
      FourRows(a, a_step, b, terms, sums + j);
      continue;
    }
    for (int64_t r = 0; r < rows; ++r) {
      OneRow(a + r * a_step, b, terms, sums + r * kWholeColumns + j);
    }
  }
}

void Gather(const int8_t* from, int64_t term_step, int64_t column_step, int64_t columns,
            int64_t terms, int16_t* __restrict to, int64_t to_step) {
  if (term_step == 1) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t k = 0; k < terms; ++k) to[j * to_step + k] = from[j * column_step + k];
    }
    return;
  }
  // Lines of the columns stay in a first-level cache while those of rows pass by.
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t j = 0; j < columns; ++j) {
      to[j * to_step + k] = from[k * term_step + j * column_step];
    }
  }
}

}  // namespace

extern const WholeGemmKernels kWholeGemmKernels = {Dots, Gather};

}  // namespace openaclnn::OPENACLNN_TARGET
