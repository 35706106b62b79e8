// SPDX-License-Identifier: Apache-2.0
// Products of matrices: against float64 over shapes, views and types; equal bits; rounding.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <map>

#include "generated/supporting_headers.inc"
#include "tests/support/accuracy.h"
#include "tests/support/bits.h"
#include "tests/support/call.h"
#include "tests/support/cases.h"
#include "tests/support/conv.h"
#include "tests/support/numbers.h"
#include "tests/support/windows.h"

namespace openaclnn::test {
namespace {

using Doubles = std::vector<double>;

struct Case {
  Dims self, mat2, out;
};

/// One call of Matmul, or of Addmm or Baddbmm where something is added.
struct Problem {
  struct Options {
    uint64_t seed = 1;
    Values values = kNormal;
    bool strided = false;
    int8_t math = 0;
    std::optional<Dims> added = {};
    double beta = 1, alpha = 1;
  };

  Problem(const Case& shape, aclDataType dtype, const Options& how)
      : a(PlaceTensor(how.seed, dtype, shape.self, how.strided, true)),
        b(PlaceTensor(how.seed + 1, dtype, shape.mat2, how.strided, true)),
        out(PlaceTensor(how.seed + 2, dtype, shape.out, how.strided, false)),
        added(PlaceTensor(how.seed + 3, dtype, how.added.value_or(Dims{1}), how.strided, true)),
        options(how) {
    Random random(how.seed);
    for (DeviceTensor* tensor : {&a, &b, &added}) {
      tensor->Write(ToBytes(dtype, RandomValues(random, tensor->layout().count(), how.values)));
    }
  }

  Planned Plan() const {
    auto* const result = const_cast<aclTensor*>(out.handle());
    if (!options.added) {
      return Planned::Plan([&](auto... o) {
        return aclnnMatmulGetWorkspaceSize(a.handle(), b.handle(), result, options.math, o...);
      });
    }
    double beta = options.beta, alpha = options.alpha;
    aclScalar* const scalars[] = {aclCreateScalar(&beta, ACL_DOUBLE),
                                  aclCreateScalar(&alpha, ACL_DOUBLE)};
    const auto call =
        a.layout().dims.size() == 3 ? aclnnBaddbmmGetWorkspaceSize : aclnnAddmmGetWorkspaceSize;
    Planned planned = Planned::Plan([&](auto... o) {
      return call(added.handle(), a.handle(), b.handle(), scalars[0], scalars[1], result,
                  options.math, o...);
    });
    for (aclScalar* scalar : scalars) aclDestroyScalar(scalar);
    return planned;
  }

  Outcome Run(const Device& device) const {
    const Planned planned = Plan();
    const Phase2 run = !options.added                ? aclnnMatmul
                       : a.layout().dims.size() == 3 ? aclnnBaddbmm
                                                     : aclnnAddmm;
    return planned.outcome().ok() ? Execute(device, planned, run) : planned.outcome();
  }

  testing::AssertionResult IsRight() const {
    if (const std::string damage = out.Damage(); !damage.empty()) {
      return testing::AssertionFailure() << "beside out: " << damage;
    }
    return AreWithin(out.dtype(), ToDoubles(out.dtype(), out.Read()), Reference());
  }

  ReferenceSums Reference() const;

  DeviceTensor a, b, out, added;
  Options options;
};

/// Number of the element of a tensor that is broadcast, at a place of the result. The last
/// `matrix` dimensions of both stay out of it.
int64_t BroadcastIndex(const Dims& dims, const Dims& of, const Dims& index, size_t matrix) {
  int64_t number = 0;
  for (size_t i = 0; i + matrix < dims.size(); ++i) {
    const size_t at = of.size() - dims.size() + i;
    number = number * dims[i] + (dims[i] == 1 ? 0 : index[at]);
  }
  return number;
}

ReferenceSums Problem::Reference() const {
  const Computed how = HowComputed(Family::kA2, out.dtype(), options.math);
  const auto values = [&](const DeviceTensor& tensor) {
    return ToDoubles(tensor.dtype(), tensor.Read());
  };
  const Doubles left = Rounded(values(a), how), right = Rounded(values(b), how);
  const Doubles addend = values(added);
  Dims a_dims = a.layout().dims, b_dims = b.layout().dims, dims = out.layout().dims;
  if (b_dims.size() == 1) dims.push_back(1), b_dims.push_back(1);
  if (a_dims.size() == 1) {
    dims.insert(dims.end() - 1, 1);
    a_dims.insert(a_dims.begin(), 1);
  }
  const int64_t m = a_dims.end()[-2], k = a_dims.back(), n = b_dims.back();
  ReferenceSums sums;
  ForEachElement(DenseLayout(dims), [&](int64_t, int64_t number) {
    Dims index(dims.size());
    for (size_t i = dims.size(), rest = static_cast<size_t>(number); i-- > 0;) {
      index[i] = static_cast<int64_t>(rest) % dims[i];
      rest /= static_cast<size_t>(dims[i]);
    }
    const int64_t row = index.end()[-2], column = index.back();
    const int64_t a_first = (BroadcastIndex(a_dims, dims, index, 2) * m + row) * k;
    const int64_t b_first = BroadcastIndex(b_dims, dims, index, 2) * k * n + column;
    double value = 0, magnitude = 0;
    for (int64_t q = 0; q < k; ++q) {
      const double product =
          left[static_cast<size_t>(a_first + q)] * right[static_cast<size_t>(b_first + q * n)];
      value += product;
      magnitude += std::abs(product);
    }
    if (options.added) {
      const auto at = BroadcastIndex(added.layout().dims, dims, index, 0);
      const double extra = options.beta * addend[static_cast<size_t>(at)];
      value = options.alpha * value + (options.beta == 0 ? 0 : extra);
      magnitude = std::abs(options.alpha) * magnitude + std::abs(extra);
    }
    sums.value.push_back(value);
    sums.magnitude.push_back(magnitude);
    sums.terms.push_back(k + 1);
  });
  return sums;
}

Case Matrices(int64_t m, int64_t k, int64_t n) { return {{m, k}, {k, n}, {m, n}}; }

// Borders of lanes, tiles, blocks, chunks and units; one row, one column, no term; vectors;
// batches that are broadcast on either side, few and many, small and large.
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      Matrices(1, 1, 1),
      Matrices(1, 300, 70),
      Matrices(70, 300, 1),
      Matrices(5, 0, 7),
      Matrices(3, 2, 33),
      Matrices(4, 63, 31),
      Matrices(13, 65, 32),
      Matrices(16, 64, 64),
      Matrices(50, 1025, 40),
      Matrices(97, 130, 17),
      Matrices(7, 5000, 9),
      Matrices(3, 20, 1030),
      Matrices(97, 130, 11),
      Matrices(100, 30, 12),
      {{300}, {300, 20}, {20}},
      {{20, 300}, {300}, {20}},
      {{300}, {300}, {}},
      {{2, 3, 5, 70}, {70, 33}, {2, 3, 5, 33}},
      {{4, 70}, {3, 70, 33}, {3, 4, 33}},
      {{70}, {3, 70, 33}, {3, 33}},
      {{3, 4, 70}, {70}, {3, 4}},
      {{2, 1, 5, 70}, {3, 70, 9}, {2, 3, 5, 9}},
      {{2, 3, 5, 70}, {2, 1, 70, 9}, {2, 3, 5, 9}},
      {{20, 5, 9}, {20, 9, 6}, {20, 5, 6}},
      {{40, 1, 3}, {40, 3, 1}, {40, 1, 1}},
      {{3, 0, 4}, {3, 4, 5}, {3, 0, 5}},
      {{0, 3, 4}, {0, 4, 5}, {0, 3, 5}},
      {{17, 2, 0}, {17, 0, 3}, {17, 2, 3}},
      // By who packs mat2: all for a batch after the other, a body for its batches, all again
      // where that is too much, all in more than one pass.
      {{3, 50, 70}, {3, 70, 33}, {3, 50, 33}},
      {{16, 50, 30}, {16, 30, 40}, {16, 50, 40}},
      {{17, 50, 600}, {17, 600, 450}, {17, 50, 450}},
      Matrices(50, 8200, 288),
  };
  return cases;
}

std::string NameOf(const Case& shape) {
  return testing::PrintToString(shape.self) + testing::PrintToString(shape.mat2);
}

TEST(Matmul, NamedCases) {
  const Device device;
  uint64_t seed = 0;
  for (const Case& shape : Cases()) {
    for (const bool strided : {false, true}) {
      const aclDataType dtype = seed % 2 == 0 ? ACL_FLOAT : kFloatDtypes[seed / 2 % 3];
      SCOPED_TRACE(NameOf(shape) + (strided ? " strided" : ""));
      const Problem problem(shape, dtype, {.seed = ++seed, .strided = strided});
      ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_TRUE(problem.IsRight());
    }
  }
}

Case RandomCase(Random& random) {
  const auto size = [&](int64_t most) { return Uniform(random, 1, most); };
  const int64_t m = size(60), k = size(200), n = size(70);
  Case shape = Matrices(m, k, n);
  for (int64_t batches = Uniform(random, 0, 2); batches > 0; --batches) {
    const int64_t count = size(4), repeats = Uniform(random, 0, 2);
    shape.self.insert(shape.self.begin(), repeats == 1 ? 1 : count);
    shape.mat2.insert(shape.mat2.begin(), repeats == 2 ? 1 : count);
    shape.out.insert(shape.out.begin(), count);
  }
  while (shape.mat2.size() > 2 && shape.mat2[0] == 1) shape.mat2.erase(shape.mat2.begin());
  return shape;
}

TEST(Matmul, RandomShapesTypesAndViews) {
  const Device device;
  EXPECT_TRUE(rc::check([&] {
    Random random(*rc::gen::arbitrary<uint32_t>());
    const Case shape = RandomCase(random);
    Problem::Options options = {.seed = random(),
                                .values = *rc::gen::element(kNormal, kWide, kEqual, kOpposite),
                                .strided = *rc::gen::arbitrary<bool>(),
                                .math = static_cast<int8_t>(Uniform(random, 0, 3))};
    const size_t rank = shape.self.size();
    // Addmm and Baddbmm do not broadcast the batch of their factors.
    const bool alike = rank == shape.mat2.size() && (rank == 2 || shape.self[0] == shape.mat2[0]);
    if (rank < 4 && alike && *rc::gen::arbitrary<bool>()) {
      Dims added = shape.out;
      for (int64_t& dim : added) dim = Uniform(random, 0, 1) == 0 ? 1 : dim;
      added.erase(added.begin(), added.begin() + Uniform(random, 0, static_cast<int64_t>(rank)));
      options.added = added;
      options.beta = *rc::gen::element(0.0, 1.0, -0.5);
      options.alpha = *rc::gen::element(1.0, 3.0);
    }
    const Problem problem(shape, *rc::gen::elementOf(kFloatDtypes), options);
    const Outcome outcome = problem.Run(device);
    if (!outcome.ok()) RC_FAIL(outcome.message);
    const testing::AssertionResult right = problem.IsRight();
    if (!right) RC_FAIL(std::string(right.message()));
  }));
}

// The baseline has no FMA: its bits are its own, and within the bound.
TEST(MatmulBits, AreThoseOfOneThreadAndEveryFusedInstructionSet) {
  std::map<std::string, std::vector<std::byte>> first;
  UnderEachSetting([&](const std::string& setting, const Device& device) {
    uint64_t number = 0;
    for (const Case& shape : Cases()) {
      const aclDataType dtype = kFloatDtypes[number % 3];
      const Problem problem(shape, dtype,
                            {.seed = ++number, .values = kWide, .strided = number % 2 == 0});
      ASSERT_EQ(problem.Run(device).message, "");
      if (!IsFused(setting)) {
        EXPECT_TRUE(problem.IsRight()) << NameOf(shape);
        continue;
      }
      const auto [entry, added] = first.emplace(NameOf(shape), problem.out.Read());
      EXPECT_TRUE(added || entry->second == problem.out.Read()) << NameOf(shape) << " " << setting;
    }
  });
}

// A view gives the bits that its dense copy gives; most are transposed, some step through both
// dimensions.
TEST(MatmulBits, AreThoseOfDenseViews) {
  const Device device;
  const Case shape = {{3, 50, 130}, {3, 130, 40}, {3, 50, 40}};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const aclDataType dtype = kFloatDtypes[seed % 3];
    const std::optional<Dims> added = seed % 2 == 0 ? std::optional(Dims{50, 1}) : std::nullopt;
    const Problem strided(shape, dtype, {.seed = seed, .strided = true, .added = added});
    Problem dense(shape, dtype, {.seed = seed, .added = added});
    dense.a.Write(strided.a.Read());
    dense.b.Write(strided.b.Read());
    dense.added.Write(strided.added.Read());
    ASSERT_EQ(strided.Run(device).message, "");
    ASSERT_EQ(dense.Run(device).message, "");
    EXPECT_EQ(strided.out.Read(), dense.out.Read());
  }
}

// The parts of a batch are the products of its matrices.
TEST(MatmulBits, OfABatchAreThoseOfItsMatrices) {
  const Device device;
  for (const int64_t count : {3, 20}) {
    Problem batch({{count, 20, 90}, {count, 90, 35}, {count, 20, 35}}, ACL_FLOAT, {});
    ASSERT_EQ(batch.Run(device).message, "");
    const auto part = [&](const DeviceTensor& tensor, int64_t i) {
      const std::vector<std::byte> all = tensor.Read();
      const auto size = static_cast<int64_t>(all.size()) / count;
      return std::vector<std::byte>(all.begin() + i * size, all.begin() + (i + 1) * size);
    };
    for (int64_t i = 0; i < count; ++i) {
      Problem one(Matrices(20, 90, 35), ACL_FLOAT, {});
      one.a.Write(part(batch.a, i));
      one.b.Write(part(batch.b, i));
      ASSERT_EQ(one.Run(device).message, "");
      ASSERT_EQ(one.out.Read(), part(batch.out, i)) << i;
    }
  }
}

/// value times 1, as a product gives it on a machine.
double Product1(const char* soc, aclDataType dtype, int8_t math, double value) {
  const Device device{{"OPENACLNN_SOC", soc}};
  Problem problem(Matrices(1, 1, 1), dtype, {.math = math});
  problem.a.Write(ToBytes(dtype, {value}));
  problem.b.Write(ToBytes(dtype, {1}));
  EXPECT_EQ(problem.Run(device).message, "");
  return ToDoubles(dtype, problem.out.Read())[0];
}

TEST(Matmul, RoundsOperandsAsAsked) {
  const double fine = 1 + 0x1p-23, hf32_tie = 1 + 0x3p-12, half_tie = 1 + 0x3p-11;
  for (const char* soc : {"Ascend910B1", "Ascend910_9391", "Ascend910A", "Ascend310P3"}) {
    const bool hf32 = std::string(soc) == "Ascend910B1" || std::string(soc) == "Ascend910_9391";
    SCOPED_TRACE(soc);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 0, fine), fine);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 1, hf32_tie), 1 + 0x1p-10);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 1, 1 + 0x1p-11), hf32 ? 1 + 0x1p-11 : 1);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 2, half_tie), 1 + 0x1p-9);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 2, 65520), INFINITY);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 3, 1 + 0x1p-12), hf32 ? 1 : 1 + 0x1p-12);
    EXPECT_EQ(Product1(soc, ACL_FLOAT, 3, -hf32_tie), hf32 ? -1 - 0x1p-10 : -hf32_tie);
    EXPECT_TRUE(std::isnan(Product1(soc, ACL_FLOAT, 1, NAN)));
    for (int8_t math = 0; math < 4; ++math) {
      EXPECT_EQ(Product1(soc, ACL_FLOAT16, math, 0x1p-24), 0x1p-24);
    }
  }
  EXPECT_EQ(Product1("Ascend910B1", ACL_BF16, 2, 0x1p17), INFINITY);
  EXPECT_EQ(Product1("Ascend910B1", ACL_BF16, 3, 0x1p17), 0x1p17);
}

TEST(Matmul, DoubleIsComputedInDouble) {
  const Device device;
  Problem problem(Matrices(35, 200, 67), ACL_FLOAT, {});
  const DeviceTensor out(ACL_DOUBLE, DenseLayout({35, 67}));
  const Planned planned = Planned::Plan([&](auto... o) {
    return aclnnMatmulGetWorkspaceSize(problem.a.handle(), problem.b.handle(),
                                       const_cast<aclTensor*>(out.handle()), int8_t{1}, o...);
  });
  ASSERT_EQ(Execute(device, planned, aclnnMatmul).message, "");
  const ReferenceSums sums = [&] {
    problem.options.math = 0;
    return problem.Reference();
  }();
  const Doubles got = ToDoubles(ACL_DOUBLE, out.Read());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], sums.value[i], 200 * 0x1p-53 * sums.magnitude[i]) << i;
  }
}

// beta 0 leaves out what is added, NaN and all; without terms the result is what is added.
TEST(Addmm, TakesPartOnlyWithABeta) {
  const Device device;
  Problem none(Matrices(3, 5, 40), ACL_FLOAT, {.added = Dims{3, 40}, .beta = 0, .alpha = 2});
  none.added.Write(ToBytes(ACL_FLOAT, Doubles(120, NAN)));
  ASSERT_EQ(none.Run(device).message, "");
  for (const double value : ToDoubles(ACL_FLOAT, none.out.Read())) EXPECT_FALSE(std::isnan(value));
  const Problem only(Matrices(3, 0, 40), ACL_BF16, {.added = Dims{40}, .beta = 2});
  ASSERT_EQ(only.Run(device).message, "");
  EXPECT_TRUE(only.IsRight());
}

// In place: what is added may be the result's own view.
TEST(Addmm, AddsToItself) {
  const Device device;
  Problem problem(Matrices(50, 70, 40), ACL_FLOAT, {.added = Dims{50, 40}});
  ASSERT_EQ(problem.Run(device).message, "");
  const std::vector<std::byte> want = problem.out.Read();
  problem.out.Write(problem.added.Read());
  double one = 1;
  aclScalar* const scalar = aclCreateScalar(&one, ACL_DOUBLE);
  auto* const out = const_cast<aclTensor*>(problem.out.handle());
  const Planned planned = Planned::Plan([&](auto... o) {
    return aclnnAddmmGetWorkspaceSize(out, problem.a.handle(), problem.b.handle(), scalar, scalar,
                                      out, int8_t{0}, o...);
  });
  aclDestroyScalar(scalar);
  ASSERT_EQ(Execute(device, planned, aclnnAddmm).message, "");
  EXPECT_EQ(problem.out.Read(), want);
}

// A factor is read again after the first elements of the result are written.
TEST(Matmul, ResultInAFactorIsRefused) {
  const Device device;
  Problem problem(Matrices(40, 40, 40), ACL_FLOAT, {});
  auto* const out = const_cast<aclTensor*>(problem.out.handle());
  for (const bool left : {true, false}) {
    const aclTensor* const self = left ? out : problem.a.handle();
    const aclTensor* const mat2 = left ? problem.b.handle() : out;
    const Planned planned = Planned::Plan(
        [&](auto... o) { return aclnnMmGetWorkspaceSize(self, mat2, out, int8_t{0}, o...); });
    const Outcome outcome = Execute(device, planned, aclnnMm);
    EXPECT_EQ(outcome.code, 161002);
    EXPECT_NE(outcome.message.find("out memory is shared with "), std::string::npos)
        << outcome.message;
  }
}

// Shapes that nobody could hold are planned or refused at once, whatever their products overflow.
TEST(Matmul, HugeShapes) {
  const Device device;
  const int64_t big = int64_t{1} << 40, half = int64_t{1} << 30;
  const auto planned = [&](const TensorSpec& a, const TensorSpec& b, const TensorSpec& c) {
    const TensorHandle self(a), mat2(b), out(c);
    return Planned::Plan([&](auto... o) {
      return aclnnMatmulGetWorkspaceSize(self.get(), mat2.get(), out.get(), int8_t{0}, o...);
    });
  };
  const auto plan = [&](const TensorSpec& a, const TensorSpec& b, const TensorSpec& c) {
    return planned(a, b, c).outcome();
  };
  const auto repeated = [](Dims dims) {
    const Dims strides(dims.size());
    return TensorSpec{.dims = std::move(dims), .strides = strides, .storage = Dims{1}};
  };
  EXPECT_EQ(plan({.dims = {big, 0}}, {.dims = {0, 0}}, {.dims = {big, 0}}).message, "");
  EXPECT_EQ(plan({.dims = {big, 2, 0}}, {.dims = {0, 0}}, {.dims = {big, 2, 0}}).message, "");
  EXPECT_EQ(plan({.dims = {0, big}}, {.dims = {big, 0}}, {.dims = {0, 0}}).message, "");
  EXPECT_EQ(plan({.dims = {half, 0}}, {.dims = {0, half}}, {.dims = {half, half}}).message, "");
  EXPECT_EQ(plan(repeated({half, half}), repeated({half, half}), {.dims = {half, half}}).message,
            "");
  EXPECT_EQ(
      plan(repeated({1, big * 1024}), repeated({big * 1024, 1024}), {.dims = {1, 1024}}).message,
      "");
  EXPECT_EQ(
      plan(repeated({big, 1, 1024}), repeated({big, 1024, 1024}), {.dims = {big, 1, 1024}}).message,
      "");
  EXPECT_EQ(plan({.dims = {big, 0}}, {.dims = {0, big}}, {.dims = {big, big}}).code, 161002);
  // Packed, mat2 has 2^64 bytes.
  const auto size = [&](int64_t rows, int64_t terms) {
    return planned(repeated({rows, terms}), repeated({terms, rows}), {.dims = {rows, rows}})
        .workspace_size();
  };
  EXPECT_EQ(size(64, int64_t{1} << 56), uint64_t{INT64_MAX});
  // A row of sums for each level of the tree, of which these have equally many.
  EXPECT_EQ(size(1, INT64_MAX), size(1, INT64_MAX - 4096));
}

// More than a chunk of terms, tiles cut by every border, batches broadcast.

}  // namespace
}  // namespace openaclnn::test
