// SPDX-License-Identifier: Apache-2.0
// The order of a product's sums, term by term, against the same written as plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "tests/support/conv.h"

namespace openaclnn::test {
namespace {

/// A product of one dtype, rows and columns that follow each other, with FLOAT results.
struct Ordered {
  Ordered(aclDataType type, int64_t row_count, int64_t column_count, int64_t term_count)
      : dtype(type),
        rows(row_count),
        columns(column_count),
        terms(term_count),
        a_bytes(ToBytes(dtype, RandomValues(random, rows * terms, kNormal))),
        b_bytes(ToBytes(dtype, RandomValues(random, terms * columns, kNormal))),
        a(ToDoubles(dtype, a_bytes)),
        b(ToDoubles(dtype, b_bytes)) {}

  std::vector<float> Multiply() const {
    Gemm gemm = {};
    gemm.a = Matrix(rows, terms);
    gemm.b = Matrix(terms, columns);
    std::vector<float> c(static_cast<size_t>(rows * columns));
    gemm.c.rows = Offsets(&rows, &columns, 1);
    gemm.c.step = 1;
    gemm.c.element_bytes = sizeof(float);
    gemm.c_dtype = ACL_FLOAT;
    gemm.terms = terms;
    gemm.columns = columns;
    gemm.rows = RowsOfAll(rows, terms);
    PlanGemm(&gemm);
    std::vector<float> scratch(gemm.scratch_bytes() / sizeof(float));
    RunGemm(gemm, a_bytes.data(), b_bytes.data(), nullptr, c.data(), scratch.data());
    return c;
  }

  TapMatrix Matrix(int64_t count, int64_t width) const {
    TapMatrix matrix = {};
    matrix.view.rows = Offsets(&count, &width, 1);
    matrix.view.step = 1;
    matrix.view.element_bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
    matrix.dtype = dtype;
    matrix.width = width;
    return matrix;
  }

  /// sum + a[i, k] b[k, j]; the baseline of x86-64 has no FMA.
  float Add(float sum, int64_t i, int64_t k, int64_t j) const {
    const auto left = static_cast<float>(a[static_cast<size_t>(i * terms + k)]);
    const auto right = static_cast<float>(b[static_cast<size_t>(k * columns + j)]);
#if defined(__x86_64__)
    if (Simd() == OPENACLNN_SIMD_BASELINE) return sum + left * right;
#endif
    return std::fma(left, right, sum);
  }

  Random random{7};
  aclDataType dtype;
  int64_t rows, columns, terms;
  std::vector<std::byte> a_bytes, b_bytes;
  std::vector<double> a, b;
};

/// Pairwise, split at the largest power of two below their number.
float Tree(const float* sums, size_t count) {
  if (count == 1) return *sums;
  size_t half = 1;
  while (2 * half < count) half *= 2;
  return Tree(sums, half) + Tree(sums + half, count - half);
}

/// Chunks of 64 terms, of each pair the second first.
float InChunks(const Ordered& of, int64_t i, int64_t j) {
  std::vector<float> chunks;
  for (int64_t begin = 0; begin < of.terms; begin += 64) {
    const int64_t end = std::min(begin + 64, of.terms);
    float sum = 0;
    for (int64_t k = begin; k < end; k += 2) {
      if (k + 1 < end) sum = of.Add(sum, i, k + 1, j);
      sum = of.Add(sum, i, k, j);
    }
    chunks.push_back(sum);
  }
  return Tree(chunks.data(), chunks.size());
}

/// Units of 1,024 terms, in each of them blocks of 32, in each of them two chains.
float InChains(const Ordered& of, int64_t i, int64_t j) {
  std::vector<float> units;
  for (int64_t unit = 0; unit < of.terms; unit += 1024) {
    float sum = 0;
    for (int64_t begin = unit; begin < std::min(unit + 1024, of.terms); begin += 32) {
      float chains[2] = {};
      for (int64_t k = begin; k < std::min(begin + 32, of.terms); ++k) {
        chains[(k - begin) % 2] = of.Add(chains[(k - begin) % 2], i, k, j);
      }
      sum += chains[0] + chains[1];
    }
    units.push_back(sum);
  }
  return Tree(units.data(), units.size());
}

void ExpectOrder(aclDataType dtype, float (*sum)(const Ordered&, int64_t, int64_t)) {
  for (const int64_t terms : {1, 2, 3, 31, 32, 33, 64, 95, 97, 1023, 1024, 1057, 3100}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {35, 50}, {17, 16}}) {
      const Ordered of(dtype, rows, columns, terms);
      const std::vector<float> got = of.Multiply();
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          ASSERT_EQ(got[static_cast<size_t>(i * columns + j)], sum(of, i, j))
              << rows << " x " << columns << " of " << terms << " terms: " << i << ", " << j;
        }
      }
    }
  }
}

TEST(GemmOrder, ChunksOfFloats) { ExpectOrder(ACL_FLOAT, InChunks); }
TEST(GemmOrder, ChunksOfFloat16) { ExpectOrder(ACL_FLOAT16, InChunks); }
TEST(GemmOrder, ChainsOfBFloat16) { ExpectOrder(ACL_BF16, InChains); }

}  // namespace
}  // namespace openaclnn::test
