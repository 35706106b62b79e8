// SPDX-License-Identifier: Apache-2.0
// How products of matrices are cut: what decides it, and that no other way is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_layout.h"
#include "tests/support/device.h"
#include "tests/support/layout.h"

namespace openaclnn::test {
namespace {

/// Dense rows of a matrix, one behind the other.
RowView Rows(int64_t count, int64_t width, int64_t bytes, int64_t step = 1) {
  RowView view;
  const int64_t row_step = width * step;
  view.rows = Offsets(&count, &row_step, 1);
  view.step = step;
  view.element_bytes = bytes;
  return view;
}

TapMatrix Matrix(int64_t rows, int64_t width, aclDataType dtype) {
  TapMatrix matrix = {};
  matrix.view = Rows(rows, width, static_cast<int64_t>(aclDataTypeSize(dtype)));
  matrix.dtype = dtype;
  matrix.width = width;
  return matrix;
}

/// C [rows, columns] = A [rows, terms] B [terms, columns].
struct Shape {
  int64_t rows, columns, terms;
  int64_t batches = 1;
  bool own_b = true;
  aclDataType dtype = ACL_FLOAT16;
  int64_t taps = 1;  // of a convolution: rows are times, of which the ends have half of the taps

  Gemm gemm() const {
    Gemm gemm = {};
    gemm.a = Matrix(rows, terms, dtype);
    gemm.b = Matrix(terms, columns, dtype);
    gemm.c = Rows(rows, columns, 4);
    gemm.c_dtype = ACL_FLOAT;
    gemm.terms = terms;
    gemm.columns = columns;
    gemm.rows = RowsOfAll(rows, terms);
    if (taps > 1) {
      gemm.rows = {.groups = rows,
                   .group_rows = 1,
                   .first = taps / 2,
                   .step = -1,
                   .length = rows,
                   .places = taps,
                   .place_terms = terms / taps,
                   .merge = true};
    }
    const auto steps = [&](int64_t step) { return Offsets(&batches, &step, 1); };
    if (batches > 1) {
      gemm.batches = {batches,
                      steps(rows * terms),
                      steps(own_b ? terms * columns : 0),
                      steps(rows * columns),
                      {}};
    }
    return gemm;
  }
  Gemm plan() const {
    Gemm planned = gemm();
    PlanGemm(&planned);
    return planned;
  }
};

/// With two threads, whatever the machine has.
class GemmPlan : public testing::Test {
  const Device device_{{{"OPENACLNN_NUM_THREADS", "2"}}};
};

TEST_F(GemmPlan, WhoPacks) {
  const auto packing = [](const Shape& shape) { return shape.plan().packing; };
  EXPECT_EQ(packing({48, 512, 512}), GemmPacking::kUnit) << "one block of rows";
  EXPECT_EQ(packing({49, 512, 512}), GemmPacking::kShared);
  EXPECT_EQ(packing({48, 512, 512, 4}), GemmPacking::kUnit);
  EXPECT_EQ(packing({48, 512, 512, 4, false}), GemmPacking::kShared) << "of one B";
  EXPECT_EQ(packing({49, 512, 512, 16}), GemmPacking::kBatch) << "small batches, for all threads";
  EXPECT_EQ(packing({49, 512, 512, 15}), GemmPacking::kShared);
  EXPECT_EQ(packing({49, 513, 512, 16}), GemmPacking::kShared) << "more than 2^18 elements";
  EXPECT_EQ(packing({49, 512, 512, 16, false}), GemmPacking::kShared);
  EXPECT_EQ(packing({49, 512, 0, 16}), GemmPacking::kShared) << "without terms nobody's";
  for (const bool own_b : {true, false}) {
    const Gemm gemm = Shape{96, 64, 100'000, 3, own_b}.plan();
    EXPECT_EQ(gemm.rounds, own_b ? 3 : 1) << "shared: for all batches at once, if B is one";
  }
}

/// Whether a group's sums have the terms of all places.
bool HasAll(const GemmRows& rows, int64_t group) {
  const __int128 begin = rows.first + group * rows.step;
  return begin <= 0 && begin + rows.length >= rows.places;
}

TEST_F(GemmPlan, GroupsOfAllTermsShareBlocks) {
  Random random(1);
  int shared = 0;
  for (int i = 0; i < 20'000; ++i) {
    Gemm gemm = Shape{1, 64, 64}.gemm();
    gemm.rows = {.groups = Uniform(random, 1, 9),
                 .group_rows = Uniform(random, 1, 60),
                 .first = Uniform(random, -9, 9),
                 .step = Uniform(random, 0, 1) == 0 ? 1 : -1,
                 .length = Uniform(random, 1, 12),
                 .places = Uniform(random, 1, 8),
                 .place_terms = Uniform(random, 1, 70),
                 .merge = Uniform(random, 0, 3) != 0};
    const GemmRows& rows = gemm.rows;
    gemm.terms = rows.places * rows.place_terms;
    PlanGemm(&gemm);
    int64_t with_all = 0, least = INT64_MAX, most = 0;
    for (int64_t group = 0; group < rows.groups; ++group) {
      const bool merged = gemm.merged_begin <= group && group < gemm.merged_end;
      ASSERT_EQ(merged, rows.merge && HasAll(rows, group)) << group << " of " << rows.groups;
      with_all += merged;
      const int64_t begin = gemm::TermsOf(rows, group).term_begin;
      least = std::min(least, begin);
      most = std::max(most, begin);
    }
    shared += with_all > 1;
    const auto blocks = [&](int64_t count) {
      return (count + gemm.block_rows - 1) / gemm.block_rows;
    };
    ASSERT_EQ(gemm.blocks, (rows.groups - with_all) * blocks(rows.group_rows) +
                               blocks(with_all * rows.group_rows));
    ASSERT_EQ(gemm.first_term, least);
    ASSERT_EQ(gemm.last_first_term, most);
  }
  EXPECT_GT(shared, 1000);
}

TEST_F(GemmPlan, RowsAreReadAsTheyLie) {
  const auto step = [](int64_t width, int64_t columns, const auto& change) {
    Gemm gemm = Shape{100, columns, width, 1, true, ACL_FLOAT}.gemm();
    change(&gemm);
    PlanGemm(&gemm);
    return gemm.plain_step;
  };
  const auto as_is = [](Gemm*) {};
  EXPECT_EQ(step(640, 1024, as_is), 640);
  EXPECT_EQ(step(640, 1025, as_is), 0) << "many columns";
  EXPECT_EQ(step(511, 64, as_is), 511);
  EXPECT_EQ(step(512, 64, as_is), 0) << "2 KB apart";
  EXPECT_EQ(step(1536, 64, as_is), 0) << "6 KB apart";
  Gemm any = Shape{1, 1, 1}.gemm();
  PlanGemm(&any);
  const bool narrow = any.kernels->tile_columns < 32;
  EXPECT_EQ(step(768, 64, as_is), narrow ? 0 : 768) << "3 KB apart";
  EXPECT_EQ(step(640, 64, [](Gemm* gemm) { gemm->a.dtype = ACL_BF16; }), 0);
  EXPECT_EQ(step(640, 64, [](Gemm* gemm) { gemm->a.rounding = Rounding::kHf32; }), 0);
  EXPECT_EQ(step(640, 64, [](Gemm* gemm) { gemm->a.view.step = 2; }), 0);
  const auto taps_of = [](int64_t width, bool transposed) {
    return [=](Gemm* gemm) {
      gemm->a.width = width;
      gemm->a.transposed = transposed;
    };
  };
  EXPECT_EQ(step(640, 64, taps_of(128, false)), 640) << "whole chunks of a tap";
  EXPECT_EQ(step(640, 64, taps_of(100, false)), 0);
  EXPECT_EQ(step(640, 64, taps_of(129, false)), 0);
  EXPECT_EQ(step(640, 64, taps_of(641, false)), 640) << "one tap";
  EXPECT_EQ(step(640, 64, taps_of(100, true)), 640);
  const int64_t dims[] = {10, 10}, strides[] = {5000, 40};
  EXPECT_EQ(step(640, 64, [&](Gemm* gemm) { gemm->a.view.rows = Offsets(dims, strides, 2); }), 0);
}

// Where the processor multiplies them; a block's terms and B's then begin with a pair.
TEST_F(GemmPlan, PairsAreOfBFloat16) {
  const auto operands = [](const auto& change) {
    Gemm gemm = Shape{100, 64, 640, 1, true, ACL_BF16, 2}.gemm();
    change(&gemm);
    PlanGemm(&gemm);
    return gemm.operands;
  };
  Gemm any = Shape{1, 1, 1}.gemm();
  PlanGemm(&any);
  GemmOperands own = GemmOperands::kFloats;
  if (any.kernels->pairs && Simd() == OPENACLNN_SIMD_AVX512_BF16) own = GemmOperands::kPairs;
  if (any.kernels->pairs && Simd() == OPENACLNN_SIMD_AMX) own = GemmOperands::kTiles;
  EXPECT_EQ(operands([](Gemm*) {}), own);
  const auto expect_floats = [&](const auto& change) {
    EXPECT_EQ(operands(change), GemmOperands::kFloats);
  };
  expect_floats([](Gemm* gemm) { gemm->a.dtype = ACL_FLOAT16; });
  expect_floats([](Gemm* gemm) { gemm->b.dtype = ACL_FLOAT; });
  expect_floats([](Gemm* gemm) { gemm->a.rounding = Rounding::kFloat16; });
  expect_floats([](Gemm* gemm) { gemm->b.rounding = Rounding::kFloat16; });
  expect_floats([](Gemm* gemm) { gemm->rows.place_terms = 319; });
  EXPECT_EQ(operands([](Gemm* gemm) { gemm->rows.places = 1, gemm->rows.place_terms = 639; }), own);
}

// The types choose it, not the machine.
TEST_F(GemmPlan, ChainsAreOfTwoBFloat16) {
  const auto chains = [](int32_t a, int32_t b, int64_t place_terms) {
    Gemm gemm = Shape{100, 64, 640, 1, true, ACL_BF16, 2}.gemm();
    gemm.a.dtype = a;
    gemm.b.dtype = b;
    gemm.rows.place_terms = place_terms;
    PlanGemm(&gemm);
    return gemm.chains;
  };
  EXPECT_TRUE(chains(ACL_BF16, ACL_BF16, 320));
  EXPECT_TRUE(chains(ACL_BF16, ACL_BF16, 319));
  EXPECT_FALSE(chains(ACL_BF16, ACL_FLOAT, 320));
  EXPECT_FALSE(chains(ACL_FLOAT, ACL_BF16, 320));
  EXPECT_FALSE(chains(ACL_FLOAT16, ACL_FLOAT16, 320));
}

/// "48 rows, 2 x 16384 columns, 4 units, 8 groups, 2 bodies": what is done at a time.
std::string Cut(const Gemm& gemm) {
  std::ostringstream words;
  const int64_t columns = gemm.pass_panels * gemm::TileColumns(gemm);
  words << gemm.block_rows << " rows, " << DivideUp(gemm.panels, gemm.pass_panels) << " x "
        << columns << " columns, ";
  if (gemm.segment_units != 0) words << gemm.segment_units << " units, ";
  words << gemm.column_groups << " groups, " << gemm.bodies << " bodies";
  return words.str();
}

struct Planned {
  Shape shape;
  uint64_t most_bytes;
  const char* cut;
};

// The same with every instruction set.
const Planned kPlanned[] = {
    {{48, 4096, 64}, UINT64_MAX, "48 rows, 1 x 4096 columns, 32 groups, 2 bodies"},
    {{48, 4096, 64, 4}, UINT64_MAX, "48 rows, 1 x 4096 columns, 32 groups, 2 bodies"},
    {{49, 512, 512, 16}, UINT64_MAX, "48 rows, 1 x 512 columns, 1 groups, 2 bodies"},
    {{96, 512, 512}, UINT64_MAX, "48 rows, 1 x 512 columns, 8 groups, 2 bodies"},
    {{4800, 512, 512}, UINT64_MAX, "48 rows, 1 x 512 columns, 1 groups, 2 bodies"},
    {{480, 32768, 64}, UINT64_MAX, "48 rows, 1 x 32768 columns, 2 groups, 2 bodies"},
    {{480, 32768, 128}, UINT64_MAX, "48 rows, 2 x 16384 columns, 2 groups, 2 bodies"},
    {{480, 32768, 100'000}, UINT64_MAX, "48 rows, 128 x 256 columns, 2 groups, 2 bodies"},
    {{480, 320, 100'000}, UINT64_MAX, "48 rows, 1 x 320 columns, 6 units, 2 groups, 2 bodies"},
    {{48, 4096, 4096}, 0, "48 rows, 1 x 4096 columns, 128 groups, 2 bodies"},
    {{48, 4096, 4096}, 1 << 20, "48 rows, 1 x 4096 columns, 64 groups, 2 bodies"},
    {{480, 4096, 4096}, 16 << 20, "48 rows, 8 x 512 columns, 2 groups, 2 bodies"},
    {{480, 4096, 4096}, 4 << 20, "12 rows, 8 x 512 columns, 1 units, 1 groups, 2 bodies"},
    {{480, 4096, 4096}, 1 << 20, "12 rows, 64 x 64 columns, 1 groups, 2 bodies"},
    {{480, 4096, 1024}, 1 << 20, "24 rows, 22 x 192 columns, 1 groups, 2 bodies"},
    {{480, 4096, 1024}, 400 << 10, "12 rows, 64 x 64 columns, 1 groups, 2 bodies"},
    {{480, 4096, 1024}, 0, "24 rows, 64 x 64 columns, 1 groups, 2 bodies"},
    {{480, 512, 65536}, 1 << 20, "12 rows, 8 x 64 columns, 1 groups, 2 bodies"},
    {{480, 512, 65536}, 0, "12 rows, 8 x 64 columns, 1 groups, 2 bodies"},
    {{480, 512, 512}, 0, "24 rows, 4 x 128 columns, 1 groups, 2 bodies"},
    {{480, 512, 700}, 0, "24 rows, 4 x 128 columns, 1 groups, 2 bodies"},
    {{480, 128, 20'000}, 0, "12 rows, 2 x 64 columns, 1 groups, 2 bodies"},
    {{480, 64, 20'000}, 0, "12 rows, 1 x 64 columns, 1 groups, 2 bodies"},
    {{4800, 64, 1000}, 0, "24 rows, 1 x 64 columns, 1 groups, 2 bodies"},
    {{4800, 128, 600}, 0, "24 rows, 1 x 128 columns, 1 groups, 2 bodies"},
    {{480, 4096, 1024}, 1300 << 10, "24 rows, 16 x 256 columns, 1 groups, 2 bodies"},
    {{480, 4096, 4096}, 1300 << 10, "24 rows, 64 x 64 columns, 1 groups, 2 bodies"},
    {{800, 32, 65536}, 2 << 20, "48 rows, 1 x 32 columns, 8 units, 1 groups, 2 bodies"},
    {{800, 32, 65536}, 1 << 20, "24 rows, 1 x 32 columns, 1 units, 1 groups, 2 bodies"},
    {{480, 512, 2000, 1, true, ACL_FLOAT},
     UINT64_MAX,
     "48 rows, 1 x 512 columns, 2 groups, 2 bodies"},
    {{480, 512, 2000, 1, true, ACL_FLOAT}, 0, "12 rows, 8 x 64 columns, 1 groups, 2 bodies"},
    {{480, 640, 30'000, 1, true, ACL_FLOAT16, 3},
     UINT64_MAX,
     "48 rows, 3 x 224 columns, 2 groups, 2 bodies"},
    {{480, 640, 30'000, 1, true, ACL_FLOAT16, 3},
     24 << 20,
     "48 rows, 4 x 160 columns, 2 groups, 2 bodies"},
    {{480, 640, 30'000, 1, true, ACL_FLOAT16, 3},
     12 << 20,
     "48 rows, 7 x 96 columns, 2 groups, 2 bodies"},
    {{480, 640, 30'000, 1, true, ACL_FLOAT16, 3},
     8 << 20,
     "48 rows, 10 x 64 columns, 2 groups, 2 bodies"},
    {{4800, 512, 12'288, 1, true, ACL_FLOAT16, 12},
     8 << 20,
     "48 rows, 4 x 128 columns, 1 groups, 2 bodies"},
    {{4800, 64, 8192, 1, true, ACL_FLOAT16, 8},
     3 << 20,
     "48 rows, 1 x 64 columns, 1 groups, 2 bodies"},
    {{200, 256, 4096, 9}, 1 << 20, "12 rows, 4 x 64 columns, 1 groups, 2 bodies"},
    {{200, 256, 4096, 9, false}, 1 << 20, "12 rows, 4 x 64 columns, 1 groups, 2 bodies"},
    {{60, 256, 1024, 40}, 300 << 10, "48 rows, 1 x 256 columns, 1 groups, 2 bodies"},
};

TEST_F(GemmPlan, IsCutAsItWasMeasured) {
  for (const Planned& each : kPlanned) {
    const Shape& shape = each.shape;
    Gemm gemm = shape.gemm();
    gemm.most_bytes = each.most_bytes;
    PlanGemm(&gemm);
    EXPECT_EQ(Cut(gemm), each.cut)
        << shape.rows << " x " << shape.columns << " x " << shape.terms << " in " << each.most_bytes
        << ": " << gemm.scratch_bytes() << " bytes";
  }
}

}  // namespace
}  // namespace openaclnn::test
