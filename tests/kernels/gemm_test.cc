// SPDX-License-Identifier: Apache-2.0
// Products of matrices against float64 loops: any sizes, types, transposes, steps, batches and
// taps.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/accuracy.h"
#include "tests/support/conv.h"

namespace openaclnn::test {
namespace {

/// Rows of elements in host memory, with gaps between rows and between elements.
struct Stored {
  Stored(Random& random, aclDataType type, int64_t row_count, int64_t width, int64_t batches = 1)
      : dtype(type),
        rows(row_count),
        step(Uniform(random, 1, 2)),
        row_step(std::max<int64_t>(width * step, 1) + Uniform(random, 0, 2)),
        batch_step(std::max<int64_t>(row_count, 1) * row_step) {
    const int64_t count = batch_step * batches + 1;
    bytes = ToBytes(dtype, RandomValues(random, count, kNormal));
    values = ToDoubles(dtype, bytes);
  }

  RowView view() const {
    RowView view;
    view.rows = Offsets(&rows, &row_step, 1);
    view.step = step;
    view.element_bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
    return view;
  }
  Offsets batches(int64_t count) const { return Offsets(&count, &batch_step, 1); }
  size_t At(int64_t batch, int64_t row, int64_t column) const {
    return static_cast<size_t>(batch * batch_step + row * row_step + column * step);
  }

  aclDataType dtype;
  int64_t rows, step, row_step, batch_step;
  std::vector<std::byte> bytes;
  std::vector<double> values;
};

TapMatrix Taps(const Stored& stored, int64_t width, bool transposed, Rounding rounding) {
  TapMatrix matrix = {};
  matrix.view = stored.view();
  matrix.dtype = stored.dtype;
  matrix.rounding = rounding;
  matrix.width = std::max<int64_t>(width, 1);
  matrix.transposed = transposed;
  return matrix;
}

/// Values as a product sees them.
std::vector<double> Seen(const Stored& stored, Rounding rounding) {
  return Rounded(stored.values, rounding == Rounding::kHf32      ? Computed::kAsHf32
                                : rounding == Rounding::kFloat16 ? Computed::kAsFloat16
                                                                 : Computed::kAsIs);
}

/// Runs it in scratch of exactly its size, whose end is watched.
void Multiply(const Gemm& gemm, const Stored& a, const Stored& b, const Stored& added, Stored* c) {
  constexpr float kGuard = 12345;
  const size_t floats = gemm.scratch_bytes() / sizeof(float);
  std::vector<float> scratch(floats + 16, kGuard);
  RunGemm(gemm, a.bytes.data(), b.bytes.data(), added.bytes.data(), c->bytes.data(),
          scratch.data());
  RC_ASSERT(std::count(scratch.begin() + static_cast<int64_t>(floats), scratch.end(), kGuard) ==
            16);
}

struct Sizes {
  int64_t batches, rows, columns, terms;
};

Sizes RandomSizes(Random& random) {
  const auto one = [&] {
    const int64_t sizes[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 48, 49, 64, 65, 97, 130};
    return sizes[Uniform(random, 0, std::size(sizes) - 1)];
  };
  Sizes sizes = {Uniform(random, 0, 2) == 0 ? Uniform(random, 2, 20) : 1, one(), one(), one()};
  // A chunk, a unit and more; many columns; no terms.
  if (Uniform(random, 0, 3) == 0)
    sizes.terms = std::vector{0, 1023, 1024, 1025, 2500}[random() % 5];
  if (Uniform(random, 0, 5) == 0) sizes.columns = Uniform(random, 256, 1100);
  if (sizes.batches * sizes.rows * sizes.columns * sizes.terms > 3000000) {
    sizes.batches = 1;
    sizes.rows = std::min<int64_t>(sizes.rows, 5);
  }
  return sizes;
}

/// c = alpha a b + beta d for each batch; either factor as it is or transposed, d whole or one row.
struct Product {
  explicit Product(Random& random)
      : n(RandomSizes(random)),
        a_transposed(Flag(random)),
        b_transposed(Flag(random)),
        rounding(std::vector{Rounding::kNone, Rounding::kNone, Rounding::kHf32,
                             Rounding::kFloat16}[static_cast<size_t>(Uniform(random, 0, 3))]),
        a(random, Type(random), a_transposed ? n.terms : n.rows, a_transposed ? n.rows : n.terms,
          n.batches),
        b(random, Type(random), b_transposed ? n.columns : n.terms,
          b_transposed ? n.terms : n.columns, n.batches),
        d(random, Type(random), n.rows, n.columns, n.batches),
        c(random, Type(random), n.rows, n.columns, n.batches) {
    if (Flag(random)) d.row_step = d.batch_step = 0;
    gemm.adds = Flag(random);
    gemm.alpha = Flag(random) ? 1.0f : -0.75f;
    gemm.beta = Flag(random) ? 1.0f : 0.375f;
  }

  static bool Flag(Random& random) { return Uniform(random, 0, 1) == 1; }
  static aclDataType Type(Random& random) {
    return kFloatDtypes[static_cast<size_t>(Uniform(random, 0, 2))];
  }

  void Plan() {
    gemm.a = Taps(a, a_transposed ? n.rows : n.terms, a_transposed, rounding);
    gemm.b = Taps(b, b_transposed ? n.terms : n.columns, b_transposed, rounding);
    gemm.c = c.view();
    gemm.c_dtype = c.dtype;
    gemm.added = {d.view(), d.dtype};
    gemm.terms = n.terms;
    gemm.columns = n.columns;
    gemm.rows = RowsOfAll(n.rows, n.terms);
    if (n.batches > 1) {
      gemm.batches = {n.batches, a.batches(n.batches), b.batches(n.batches), c.batches(n.batches),
                      d.batches(n.batches)};
    }
    PlanGemm(&gemm);
  }

  /// Whether element (i, j) of a batch of c is within the bound of the loop over its terms.
  bool IsRight(const std::vector<double>& got, int64_t batch, int64_t i, int64_t j) const {
    double sum = 0, size = 0;
    for (int64_t k = 0; k < n.terms; ++k) {
      const double term = a_seen[a_transposed ? a.At(batch, k, i) : a.At(batch, i, k)] *
                          b_seen[b_transposed ? b.At(batch, j, k) : b.At(batch, k, j)];
      sum += term;
      size += std::abs(term);
    }
    const double alpha = gemm.alpha;
    const double more =
        gemm.adds ? static_cast<double>(gemm.beta) * d.values[d.At(batch, i, j)] : 0;
    const double bound = Bound(n.terms + 1, std::abs(alpha) * size + std::abs(more));
    return IsWithin(c.dtype, got[c.At(batch, i, j)], alpha * sum + more, bound);
  }

  Sizes n;
  bool a_transposed, b_transposed;
  Rounding rounding;
  Stored a, b, d, c;
  std::vector<double> a_seen = Seen(a, rounding), b_seen = Seen(b, rounding);
  Gemm gemm = {};
};

// What is no element of c stays.
TEST(Gemm, OfRandomSizesTypesAndTransposes) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    Product product(random);
    product.Plan();
    Multiply(product.gemm, product.a, product.b, product.d, &product.c);
    const Stored& c = product.c;
    const std::vector<double> got = ToDoubles(c.dtype, c.bytes);
    std::vector<bool> written(got.size());
    for (int64_t batch = 0; batch < product.n.batches; ++batch) {
      for (int64_t i = 0; i < product.n.rows; ++i) {
        for (int64_t j = 0; j < product.n.columns; ++j) {
          RC_ASSERT(product.IsRight(got, batch, i, j));
          written[c.At(batch, i, j)] = true;
        }
      }
    }
    for (size_t i = 0; i < got.size(); ++i) RC_ASSERT(written[i] || got[i] == c.values[i]);
  }));
}

// The rows of a convolution over time: group t takes the taps k with 0 <= t + k - pad < length.
TEST(Gemm, OfTaps) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const ConvCase shape = RandomConvCase(random);
    const Stored x(random, ACL_FLOAT, shape.in_length * shape.batch, shape.in_channels);
    const Stored w(random, ACL_FLOAT16, shape.taps * shape.in_channels, shape.out_channels);
    Stored y(random, ACL_FLOAT, shape.out_length() * shape.batch, shape.out_channels);
    if (shape.out_length() <= 0) return;
    Gemm gemm = {};
    gemm.a = Taps(x, shape.in_channels, false, Rounding::kNone);
    gemm.a.shift = -shape.pad * shape.batch;
    gemm.a.step = shape.batch;
    gemm.b = Taps(w, shape.out_channels, false, Rounding::kNone);
    gemm.c = y.view();
    gemm.c_dtype = y.dtype;
    gemm.terms = shape.taps * shape.in_channels;
    gemm.columns = shape.out_channels;
    gemm.rows = {.groups = shape.out_length(),
                 .group_rows = shape.batch,
                 .first = shape.pad,
                 .step = -1,
                 .length = shape.in_length,
                 .places = shape.taps,
                 .place_terms = shape.in_channels,
                 .merge = *rc::gen::arbitrary<bool>()};
    PlanGemm(&gemm);
    Multiply(gemm, x, w, x, &y);
    const std::vector<double> got = ToDoubles(y.dtype, y.bytes);
    for (int64_t row = 0; row < shape.out_length() * shape.batch; ++row) {
      for (int64_t o = 0; o < shape.out_channels; ++o) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < shape.taps; ++k) {
          const int64_t time = row / shape.batch + k - shape.pad;
          if (time < 0 || time >= shape.in_length) continue;
          for (int64_t c = 0; c < shape.in_channels; ++c) {
            const double term = x.values[x.At(0, time * shape.batch + row % shape.batch, c)] *
                                w.values[w.At(0, k * shape.in_channels + c, o)];
            sum += term;
            size += std::abs(term);
          }
        }
        RC_ASSERT(IsWithin(y.dtype, got[y.At(0, row, o)], sum, Bound(gemm.terms, size)));
      }
    }
  }));
}

// All zeros, as a plan of empty operands is left: nothing is touched.
TEST(Gemm, OfNothing) {
  const Gemm gemm = {};
  EXPECT_EQ(gemm.scratch_bytes(), 0u);
  RunGemm(gemm, nullptr, nullptr, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace openaclnn::test
