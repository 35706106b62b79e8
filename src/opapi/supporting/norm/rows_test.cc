// SPDX-License-Identifier: Apache-2.0
// LayerNorm and its gradient over many rows, and over rows about as long as lanes and blocks are.
#include <limits>
#include <optional>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct Normalized {
  std::vector<std::byte> y, mean, rstd;
  bool operator==(const Normalized&) const = default;
};

/// Rows of w.size() elements.
struct Problem {
  aclDataType dtype;
  Doubles x, w, b;
  double eps = 1e-5;
  std::optional<aclDataType> y_dtype = std::nullopt;  // if it is another
};

/// In views of the layout.
Normalized NormalizedRows(const Device& device, const Problem& of, const Layout& layout) {
  const auto n = static_cast<int64_t>(of.w.size()), rows = static_cast<int64_t>(of.x.size()) / n;
  const IntListHandle shape({{n}});
  DeviceTensor input(of.dtype, layout);
  input.Write(ToBytes(of.dtype, of.x));
  const DeviceTensor weight = Make(of.dtype, {n}, of.w), bias = Make(of.dtype, {n}, of.b),
                     out(of.y_dtype.value_or(of.dtype), layout),
                     mean(ACL_FLOAT, DenseLayout({rows, 1})),
                     rstd(ACL_FLOAT, DenseLayout({rows, 1}));
  EXPECT_RUN(device, LayerNorm, input.handle(), shape.get(), weight.handle(), bias.handle(), of.eps,
             Handle(out), Handle(mean), Handle(rstd));
  EXPECT_EQ(out.Damage(), "");
  return {out.Read(), mean.Read(), rstd.Read()};
}

TEST(LayerNorm, NeitherStridesNorSettingsChangeABit) {
  constexpr int64_t kRows = 40;
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<Normalized> first;  // results under the first setting
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      Random random(81);
      size_t at = 0;
      for (const int64_t n : {1, 7, 16, 65, 1025, 4097}) {
        SCOPED_TRACE(testing::Message() << setting << ", " << dtype << ", width " << n);
        const Doubles x = RealValues(random, kRows * n, 98, 102), w = RealValues(random, n),
                      b = RealValues(random, n);
        const Layout columns{{kRows, n}, {1, kRows + 1}, 0, (kRows + 1) * n};
        for (const Layout& layout : {DenseLayout({kRows, n}), columns}) {
          const Normalized got = NormalizedRows(device, {dtype, x, w, b}, layout);
          if (at == first.size()) first.push_back(got);
          EXPECT_TRUE(got == first[at]) << "other bits than before";
        }
        ++at;
      }
    });
  }
}

/// A result, and how large the terms are that it is the sum of.
struct Expected {
  double value = 0, terms = 0;
};

std::vector<Expected> NormalizedByFormula(const Problem& of) {
  std::vector<Expected> want;
  const size_t width = of.w.size();
  for (const double* x = of.x.data(); x < of.x.data() + of.x.size(); x += width) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < width; ++i) mean += x[i] / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(width) + of.eps);
    for (size_t i = 0; i < width; ++i) {
      const double normal = (x[i] - mean) * rstd;
      want.push_back({normal * of.w[i] + of.b[i], std::abs(normal * of.w[i]) + std::abs(of.b[i])});
    }
  }
  return want;
}

/// Rounded to what is stored: FLOAT from the very result, 16 bits from one that float may have got,
/// within 2^-20 of its terms.
void ExpectRounded(aclDataType dtype, const Doubles& got, const std::vector<Expected>& want) {
  const double apart = dtype == ACL_FLOAT ? 0 : std::ldexp(1, -20);
  const auto stored = [&](double value) { return ToDoubles(dtype, ToBytes(dtype, {value}))[0]; };
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_GE(got[i], stored(want[i].value - apart * want[i].terms)) << i;
    ASSERT_LE(got[i], stored(want[i].value + apart * want[i].terms)) << i;
  }
}

TEST(LayerNorm, WidthsAroundLanesAndBlocks) {
  const Device device;
  Random random(82);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const int64_t n : {1, 7, 15, 16, 17, 1023, 1025, 4097, 9000}) {
      SCOPED_TRACE(testing::Message() << dtype << ", width " << n);
      const auto stored = [&](const Doubles& values) {
        return ToDoubles(dtype, ToBytes(dtype, values));
      };
      const Problem problem{dtype, stored(RealValues(random, 3 * n)), stored(RealValues(random, n)),
                            stored(RealValues(random, n))};
      const Normalized got = NormalizedRows(device, problem, DenseLayout({3, n}));
      ExpectRounded(dtype, ToDoubles(dtype, got.y), NormalizedByFormula(problem));
    }
  }
}

// The means of such rows take more digits than a float has.
TEST(LayerNorm, NarrowRowsFarFromZero) {
  const Device device;
  Random random(85);
  constexpr int64_t kWidth = 3000;
  for (const auto& [dtype, away] : {std::pair{ACL_FLOAT16, 0.0},
                                    {ACL_FLOAT16, 100.0},
                                    {ACL_FLOAT16, 2040.0},
                                    {ACL_FLOAT, 8e6 + 0.25}}) {
    SCOPED_TRACE(testing::Message() << dtype << " near " << away);
    const Doubles x = RealValues(random, 2 * kWidth, away - 2, away + 2);
    const Problem problem{.dtype = dtype,
                          .x = ToDoubles(dtype, ToBytes(dtype, x)),
                          .w = Doubles(kWidth, 1),
                          .b = Doubles(kWidth, 0),
                          .y_dtype = ACL_FLOAT16};
    const Normalized got = NormalizedRows(device, problem, DenseLayout({2, kWidth}));
    ExpectRounded(ACL_FLOAT16, ToDoubles(ACL_FLOAT16, got.y), NormalizedByFormula(problem));
  }
}

// Squares of such elements, or weights, are beyond float.
TEST(LayerNorm, NarrowRowsNearTheEndsOfFloat) {
  const Device device;
  Random random(86);
  constexpr int64_t kWidth = 40;
  const auto stored = [](Doubles values, double factor) {
    for (double& value : values) value *= factor;
    return ToDoubles(ACL_BF16, ToBytes(ACL_BF16, values));
  };
  for (const auto& [x_factor, w_factor, eps] : {std::tuple{1e37, 1.0, 1e-5},
                                                {1e-36, 1.0, 1e-5},
                                                {1e-39, 1.0, 0.0},
                                                {1.0, 1e37, 1e-5},
                                                {1.0, 1.6e38, 1e-5},
                                                {1e37, 1e37, 1e-5},
                                                {1e30, 1e-30, 1e-5}}) {
    SCOPED_TRACE(testing::Message() << x_factor << " by " << w_factor << ", eps " << eps);
    const Problem problem{ACL_BF16, stored(RealValues(random, 3 * kWidth), x_factor),
                          stored(RealValues(random, kWidth), w_factor),
                          stored(RealValues(random, kWidth), w_factor), eps};
    const Normalized got = NormalizedRows(device, problem, DenseLayout({3, kWidth}));
    ExpectRounded(ACL_BF16, ToDoubles(ACL_BF16, got.y), NormalizedByFormula(problem));
  }
}

TEST(LayerNorm, NarrowRowsOfDenormals) {
  const Device device;
  Doubles x = {3, 5, 7, 8, 9, 100, 2};
  for (double& value : x) value *= 0x1p-149;
  const Problem problem{.dtype = ACL_FLOAT,
                        .x = x,
                        .w = Doubles(x.size(), 4000),
                        .b = Doubles(x.size(), 0),
                        .eps = 6.2e-8,
                        .y_dtype = ACL_BF16};
  const Normalized got = NormalizedRows(device, problem, DenseLayout({1, 7}));
  ExpectRounded(ACL_BF16, ToDoubles(ACL_BF16, got.y), NormalizedByFormula(problem));
}

/// A row of a gradient.
struct GradientProblem {
  aclDataType dtype;
  Doubles x, g, w;
  double mean, rstd;
};

void ExpectGradient(const Device& device, const GradientProblem& of) {
  const auto n = static_cast<int64_t>(of.x.size());
  const FlagsHandle only_x({true, false, false});
  const IntListHandle shape({{n}});
  const DeviceTensor x = Make(of.dtype, {1, n}, of.x), g = Make(of.dtype, {1, n}, of.g),
                     w = Make(of.dtype, {n}, of.w), mean = Of({1, 1}, {of.mean}),
                     rstd = Of({1, 1}, {of.rstd}), dx(of.dtype, DenseLayout({1, n}));
  EXPECT_RUN(device, LayerNormBackward, g.handle(), x.handle(), shape.get(), mean.handle(),
             rstd.handle(), w.handle(), nullptr, only_x.get(), Handle(dx), nullptr, nullptr);
  const auto normal = [&](size_t i) { return (of.x[i] - of.mean) * of.rstd; };
  double shift = 0, slope = 0;
  for (size_t i = 0; i < of.x.size(); ++i) {
    shift += of.g[i] * of.w[i] / static_cast<double>(n);
    slope += of.g[i] * of.w[i] * normal(i) / static_cast<double>(n);
  }
  std::vector<Expected> want;
  for (size_t i = 0; i < of.x.size(); ++i) {
    const double own = of.g[i] * of.w[i], along = normal(i) * slope;
    want.push_back({of.rstd * (own - shift - along),
                    of.rstd * (std::abs(own) + std::abs(shift) + std::abs(along))});
  }
  ExpectRounded(of.dtype, ToDoubles(of.dtype, dx.Read()), want);
}

TEST(LayerNorm, GradientsOfNarrowRows) {
  const Device device;
  Random random(87);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const int64_t n : {1, 16, 1030, 2100}) {
      SCOPED_TRACE(testing::Message() << dtype << ", width " << n);
      const auto stored = [&](const Doubles& values) {
        return ToDoubles(dtype, ToBytes(dtype, values));
      };
      ExpectGradient(device,
                     {dtype, stored(RealValues(random, n, 98, 102)), stored(RealValues(random, n)),
                      stored(RealValues(random, n)), 100.125, 0.75});
    }
  }
}

// Products on the way are beyond float, or below it.
TEST(LayerNorm, GradientsOfNarrowRowsNearTheEndsOfFloat) {
  const Device device;
  Random random(88);
  constexpr int64_t kWidth = 40;
  struct Sizes {
    double g, w, x, rstd;
  };
  for (const Sizes& size : std::initializer_list<Sizes>{{1e20, 1e19, 1e18, 1e-18},
                                                        {1e25, 1e14, 1e3, 1e-3},
                                                        {1e38, 1e3, 0, 1e-5},
                                                        {1e-22, 1e-22, 1e-20, 1e20},
                                                        {1e-22, 1e-20, 1, 3e3},
                                                        {1e15, 1, 1e25, 1e-25},
                                                        {1, 1, 3e-39, 3e38}}) {
    SCOPED_TRACE(testing::Message() << size.g << ", " << size.w << ", " << size.x);
    const auto values = [&](double factor) {
      Doubles drawn = RealValues(random, kWidth);
      for (double& value : drawn) value *= factor;
      return ToDoubles(ACL_BF16, ToBytes(ACL_BF16, drawn));
    };
    ExpectGradient(
        device, {ACL_BF16, values(size.x), values(size.g), values(size.w), size.x / 8, size.rstd});
  }
}

// Beyond the last element nothing is 0 times infinity.
TEST(LayerNorm, GradientsWhoseDeviationIsZero) {
  const Device device;
  const FlagsHandle all({true, true, true});
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE}) {
    const aclDataType given = dtype == ACL_DOUBLE ? ACL_FLOAT : dtype;  // it takes no DOUBLE
    for (const int64_t n : {15, 16, 17}) {
      const Doubles ones(static_cast<size_t>(n), 1);
      const DeviceTensor x = Make(given, {1, n}, ones), w = Make(given, {n}, ones),
                         mean = Of({1, 1}, {0.5}),
                         rstd = Of({1, 1}, {std::numeric_limits<double>::infinity()}),
                         dx(dtype, DenseLayout({1, n})), dw = Empty({n}), db = Empty({n});
      const IntListHandle shape({{n}});
      EXPECT_RUN(device, LayerNormBackward, x.handle(), x.handle(), shape.get(), mean.handle(),
                 rstd.handle(), w.handle(), w.handle(), all.get(), Handle(dx), Handle(dw),
                 Handle(db));
      for (const double value : ValuesOf(dx)) {
        EXPECT_EQ(value, -std::numeric_limits<double>::infinity()) << dtype << ", width " << n;
      }
    }
  }
}

// The sums of the weight's and the bias's gradients are a tree of parts of the rows.
TEST(LayerNorm, GradientOverManyChunksOfRows) {
  const FlagsHandle all({true, true, true});
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{9001, 40}, {65, 700}, {1, 3}}) {
    Random random(83);
    const auto width = static_cast<size_t>(n);
    const Doubles x = Held(ACL_FLOAT, RealValues(random, rows * n)),
                  g = Held(ACL_FLOAT, RealValues(random, rows * n)), w = RealValues(random, n),
                  means = RealValues(random, rows), rstds = RealValues(random, rows, 0.5, 2);
    Doubles by_weight(width), by_bias(width), by_x;
    for (size_t row = 0; row < means.size(); ++row) {
      double sum = 0, products = 0;
      const auto normal = [&](size_t i) { return (x[row * width + i] - means[row]) * rstds[row]; };
      for (size_t i = 0; i < width; ++i) {
        const double own = g[row * width + i];
        by_weight[i] += own * normal(i);
        by_bias[i] += own;
        sum += own * w[i] / static_cast<double>(n);
        products += own * w[i] * normal(i) / static_cast<double>(n);
      }
      for (size_t i = 0; i < width; ++i) {
        by_x.push_back(rstds[row] * (g[row * width + i] * w[i] - sum - normal(i) * products));
      }
    }
    const IntListHandle shape({{n}});
    std::vector<Doubles> first;
    UnderEachSetting([&, rows = rows, n = n](const std::string& setting, const Device& device) {
      SCOPED_TRACE(testing::Message() << setting << ", " << rows << " rows of " << n);
      const DeviceTensor tg = Floats({rows, n}, g), tx = Floats({rows, n}, x), tw = Of({n}, w),
                         mean = Of({rows, 1}, means), rstd = Of({rows, 1}, rstds),
                         dx = Empty({rows, n}), dw = Empty({n}), db = Empty({n});
      EXPECT_RUN(device, LayerNormBackward, tg.handle(), tx.handle(), shape.get(), mean.handle(),
                 rstd.handle(), tw.handle(), tw.handle(), all.get(), Handle(dx), Handle(dw),
                 Handle(db));
      const std::vector<Doubles> got = {ValuesOf(dx), ValuesOf(dw), ValuesOf(db)};
      if (first.empty()) first = got;
      EXPECT_EQ(got, first);
    });
    ExpectNear(first[0], by_x, ACL_DOUBLE, 1e-11, 1e-12);
    ExpectNear(first[1], by_weight, ACL_DOUBLE, 1e-11, 1e-10);
    ExpectNear(first[2], by_bias, ACL_DOUBLE, 1e-11, 1e-10);
  }
}

TEST(LayerNorm, GradientOfDenseRowsIsThatOfViews) {
  constexpr int64_t kRows = 70;
  const FlagsHandle all({true, true, true});
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<std::vector<std::byte>> first;  // results under the first setting
    UnderEachSetting([&](const std::string& setting, const Device& device) {
      Random random(84);
      size_t at = 0;
      for (const int64_t n : {1, 7, 16, 1030, 2100}) {
        SCOPED_TRACE(testing::Message() << setting << ", " << dtype << ", width " << n);
        const Doubles x = RealValues(random, kRows * n, 98, 102), g = RealValues(random, kRows * n);
        const DeviceTensor w = Make(dtype, {n}, RealValues(random, n)),
                           mean = Make(ACL_FLOAT, {kRows, 1}, RealValues(random, kRows, 99, 101)),
                           rstd = Make(ACL_FLOAT, {kRows, 1}, RealValues(random, kRows, 0.5, 2));
        const IntListHandle shape({{n}});
        const Layout columns{{kRows, n}, {1, kRows + 1}, 0, (kRows + 1) * n};
        for (const Layout& layout : {DenseLayout({kRows, n}), columns}) {
          DeviceTensor tx(dtype, layout), tg(dtype, layout);
          tx.Write(ToBytes(dtype, x));
          tg.Write(ToBytes(dtype, g));
          const DeviceTensor dx(dtype, layout), dw(ACL_DOUBLE, DenseLayout({n})),
              db(ACL_DOUBLE, DenseLayout({n}));
          EXPECT_RUN(device, LayerNormBackward, tg.handle(), tx.handle(), shape.get(),
                     mean.handle(), rstd.handle(), w.handle(), w.handle(), all.get(), Handle(dx),
                     Handle(dw), Handle(db));
          std::vector<std::byte> got = dx.Read();
          for (const DeviceTensor* sums : {&dw, &db}) {
            const std::vector<std::byte> more = sums->Read();
            got.insert(got.end(), more.begin(), more.end());
          }
          if (at == first.size()) first.push_back(got);
          EXPECT_TRUE(got == first[at]) << "other bits than before";
        }
        ++at;
      }
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
