// SPDX-License-Identifier: Apache-2.0
// LayerNorm and its gradient over many rows, and over rows about as long as lanes and blocks are.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct Normalized {
  std::vector<std::byte> y, mean, rstd;
  bool operator==(const Normalized&) const = default;
};

/// Of rows of w.size() elements, in views of the layout.
Normalized NormalizedRows(const Device& device, aclDataType dtype, const Layout& layout,
                          const Doubles& x, const Doubles& w, const Doubles& b) {
  const auto n = static_cast<int64_t>(w.size()), rows = static_cast<int64_t>(x.size()) / n;
  const IntListHandle shape({{n}});
  DeviceTensor input(dtype, layout);
  input.Write(ToBytes(dtype, x));
  const DeviceTensor weight = Make(dtype, {n}, w), bias = Make(dtype, {n}, b), out(dtype, layout),
                     mean(ACL_FLOAT, DenseLayout({rows, 1})),
                     rstd(ACL_FLOAT, DenseLayout({rows, 1}));
  EXPECT_RUN(device, LayerNorm, input.handle(), shape.get(), weight.handle(), bias.handle(), 1e-5,
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
          const Normalized got = NormalizedRows(device, dtype, layout, x, w, b);
          if (at == first.size()) first.push_back(got);
          EXPECT_TRUE(got == first[at]) << "other bits than before";
        }
        ++at;
      }
    });
  }
}

TEST(LayerNorm, WidthsAroundLanesAndBlocks) {
  const Device device;
  Random random(82);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    for (const int64_t n : {1, 7, 15, 16, 17, 1023, 1025, 4097}) {
      SCOPED_TRACE(testing::Message() << dtype << ", width " << n);
      const auto width = static_cast<size_t>(n);
      const auto stored = [&](const Doubles& values) {
        return ToDoubles(dtype, ToBytes(dtype, values));
      };
      const Doubles x = stored(RealValues(random, 3 * n)), w = stored(RealValues(random, n)),
                    b = stored(RealValues(random, n));
      const Normalized got = NormalizedRows(device, dtype, DenseLayout({3, n}), x, w, b);
      Doubles want;
      for (size_t row = 0; row < 3; ++row) {
        const double* const own = &x[row * width];
        double mean = 0, squares = 0;
        for (size_t i = 0; i < width; ++i) mean += own[i] / static_cast<double>(n);
        for (size_t i = 0; i < width; ++i) squares += (own[i] - mean) * (own[i] - mean);
        const double rstd = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
        for (size_t i = 0; i < width; ++i) want.push_back((own[i] - mean) * rstd * w[i] + b[i]);
      }
      EXPECT_EQ(ToDoubles(dtype, got.y), stored(want));
    }
  }
}

// The sums of the weight's and the bias's gradients are a tree of parts of the rows.
TEST(LayerNorm, GradientOverManyChunksOfRows) {
  const FlagsHandle all({true, true, true});
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{9001, 40}, {65, 700}, {1, 3}}) {
    Random random(83);
    const auto width = static_cast<size_t>(n);
    const Doubles x = RealValues(random, rows * n), g = RealValues(random, rows * n),
                  w = RealValues(random, n), means = RealValues(random, rows),
                  rstds = RealValues(random, rows, 0.5, 2);
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
      const DeviceTensor tg = Of({rows, n}, g), tx = Of({rows, n}, x), tw = Of({n}, w),
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
