// SPDX-License-Identifier: Apache-2.0
// Reductions and running totals, against plain loops in double.
#include <numeric>

#include "supporting/rows_test.h"

namespace openaclnn::test {
namespace {

TEST(Reduce, SumsOverSomeDimensions) {
  const Device device;
  Random random(3);
  const Doubles values = SmallValues(random, 3 * 70 * 5, -9, 9);
  const int64_t dims[] = {-2};
  aclIntArray* list = aclCreateIntArray(dims, 1);
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_INT32, ACL_DOUBLE}) {
    const DeviceTensor self = Make(dtype, {3, 70, 5}, values, random);
    const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {3, 1, 5}, false));
    ASSERT_EQ(Call(device, aclnnReduceSum,
                   [&](auto... o) {
                     return aclnnReduceSumGetWorkspaceSize(self.handle(), list, true, ACL_FLOAT,
                                                           Handle(out), o...);
                   })
                  .message,
              "");
    const Doubles got = ValuesOf(out);
    for (size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < 70; ++j) sum += values[i / 5 * 350 + j * 5 + i % 5];
      ASSERT_EQ(got[i], sum) << dtype << " " << i;
    }
  }
  aclDestroyIntArray(list);
}

double Mean(const Doubles& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

double Variance(const Doubles& row, double correction) {
  double sum = 0;
  for (const double x : row) sum += (x - Mean(row)) * (x - Mean(row));
  return sum / (static_cast<double>(row.size()) - correction);
}

double Norm(const Doubles& row, double p) {
  double sum = 0;
  for (const double x : row) sum += std::pow(std::abs(x), p);
  return std::pow(sum, 1 / p);
}

TEST(Reduce, VariancesNormsAndTheLike) {
  const Device device;
  Random random(21);
  const IntListHandle dim({{1}});
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}) {
    SCOPED_TRACE(dtype);
    const RowsProblem problem(dtype, random);
    const aclTensor* self = problem.self.handle();
    const DeviceTensor out(dtype, RandomLayout(random, {3, 5}, false));
    const DeviceTensor kept(dtype, RandomLayout(random, {3, 1, 5}, false)),
        mean(dtype, RandomLayout(random, {3, 1, 5}, false));
    EXPECT_RUN(device, VarMean, self, dim.get(), 1, true, Handle(kept), Handle(mean));
    ExpectNear(ValuesOf(kept), problem.Each([](auto& row) { return Variance(row, 1); }), dtype);
    ExpectNear(ValuesOf(mean), problem.Each(Mean), dtype, 0, 1e-3);
    if (dtype == ACL_DOUBLE) continue;  // which the others do not take
    EXPECT_RUN(device, VarCorrection, self, dim.get(), 1, false, Handle(out));
    ExpectNear(ValuesOf(out), problem.Each([](auto& row) { return Variance(row, 1); }), dtype);
    EXPECT_RUN(device, Std, self, dim.get(), 0, false, Handle(out));
    ExpectNear(ValuesOf(out), problem.Each([](auto& row) { return std::sqrt(Variance(row, 0)); }),
               dtype);
    EXPECT_RUN(device, LogSumExp, self, dim.get(), false, Handle(out));
    ExpectNear(ValuesOf(out), problem.Each([](auto& row) {
      double sum = 0;
      for (const double x : row) sum += std::exp(x);
      return std::log(sum);
    }),
               dtype);
    for (const double p : {1.0, 2.0, 3.0}) {
      const ScalarHandle order(p);
      EXPECT_RUN(device, Norm, self, order.get(), dim.get(), false, Handle(out));
      ExpectNear(ValuesOf(out), problem.Each([&](auto& row) { return Norm(row, p); }), dtype);
    }
    EXPECT_EQ(out.Damage(), "");
  }
}

TEST(Reduce, ExtremeOrdersOfNorms) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {0, -3, 2, 0, 0, 1});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({2}));
  const IntListHandle dim({{-1}});
  const auto norm = [&](double p) {
    const ScalarHandle order(p);
    EXPECT_RUN(device, LinalgVectorNorm, self.handle(), order.get(), dim.get(), false, ACL_FLOAT,
               Handle(out));
    return ValuesOf(out);
  };
  EXPECT_EQ(norm(INFINITY), (Doubles{3, 1}));
  EXPECT_EQ(norm(-INFINITY), (Doubles{0, 0}));
  EXPECT_EQ(norm(0), (Doubles{2, 1}));
}

TEST(Reduce, ProductsAndMedians) {
  const Device device;
  const DeviceTensor self = Make(ACL_INT32, {2, 4}, {1, 2, 3, 4, -1, 5, 2, 2});
  const DeviceTensor out(ACL_INT64, DenseLayout({2})), all(ACL_INT64, DenseLayout({}));
  EXPECT_RUN(device, ProdDim, self.handle(), 1, false, ACL_INT64, Handle(out));
  EXPECT_EQ(ValuesOf(out), (Doubles{24, -20}));
  EXPECT_RUN(device, Prod, self.handle(), ACL_INT64, Handle(all));
  EXPECT_EQ(ValuesOf(all), (Doubles{-480}));
  const DeviceTensor middle(ACL_INT32, DenseLayout({})), row(ACL_INT32, DenseLayout({2})),
      at(ACL_INT64, DenseLayout({2}));
  EXPECT_RUN(device, Median, self.handle(), Handle(middle));
  EXPECT_EQ(ValuesOf(middle), (Doubles{2}));
  EXPECT_RUN(device, MedianDim, self.handle(), 1, false, Handle(row), Handle(at));
  EXPECT_EQ(ValuesOf(row), (Doubles{2, 2}));
  EXPECT_EQ(ValuesOf(at), (Doubles{1, 2}));
}

TEST(Reduce, WhatIsNotANumber) {
  const Device device;
  const DeviceTensor self = Make(ACL_FLOAT, {2, 3}, {1, NAN, 3, 4, -INFINITY, -INFINITY});
  const DeviceTensor out(ACL_FLOAT, DenseLayout({2})), more(ACL_FLOAT, DenseLayout({2})),
      at(ACL_INT64, DenseLayout({2}));
  const IntListHandle dim({{1}});
  EXPECT_RUN(device, ReduceNansum, self.handle(), dim.get(), false, ACL_FLOAT, Handle(out));
  ExpectNear(ValuesOf(out), {4, -INFINITY}, ACL_FLOAT);
  EXPECT_RUN(device, LogSumExp, self.handle(), dim.get(), false, Handle(out));
  ExpectNear(ValuesOf(out), {NAN, 4}, ACL_FLOAT);
  EXPECT_RUN(device, Aminmax, self.handle(), dim.get(), false, Handle(out), Handle(more));
  ExpectNear(ValuesOf(out), {NAN, -INFINITY}, ACL_FLOAT);
  ExpectNear(ValuesOf(more), {NAN, 4}, ACL_FLOAT);
  EXPECT_RUN(device, MedianDim, self.handle(), 1, false, Handle(out), Handle(at));
  ExpectNear(ValuesOf(out), {NAN, -INFINITY}, ACL_FLOAT);
  EXPECT_EQ(ValuesOf(at)[0], 1);
}

TEST(Reduce, RunningTotals) {
  const Device device;
  Random random(22);
  const RowsProblem problem(ACL_FLOAT, random, 9);
  const DeviceTensor out(ACL_FLOAT, RandomLayout(random, {3, 9, 5}, false));
  const ScalarHandle dim(int64_t{1});
  const auto check = [&](bool product) {
    const Doubles got = ValuesOf(out);
    for (size_t row = 0; row < 15; ++row) {
      double total = product ? 1 : 0;
      for (size_t i = 0; i < 9; ++i) {
        total = product ? total * problem.rows[row][i] : total + problem.rows[row][i];
        ASSERT_NEAR(got[row / 5 * 45 + i * 5 + row % 5], total, 1e-6 * (1 + std::abs(total)));
      }
    }
  };
  EXPECT_RUN(device, Cumsum, problem.self.handle(), -2, ACL_FLOAT, Handle(out));
  check(false);
  EXPECT_RUN(device, Cumprod, problem.self.handle(), dim.get(), ACL_FLOAT, Handle(out));
  check(true);
  const DeviceTensor integers = Make(ACL_INT8, {4}, {100, 100, -1, 3}),
                     sums(ACL_INT64, DenseLayout({4}));
  EXPECT_RUN(device, Cumsum, integers.handle(), 0, ACL_INT64, Handle(sums));
  EXPECT_EQ(ValuesOf(sums), (Doubles{100, 200, 199, 202}));
  const DeviceTensor x = Make(ACL_FLOAT, {5}, {1, 3, 3, NAN, 9}), top(ACL_FLOAT, DenseLayout({5})),
                     at(ACL_INT64, DenseLayout({5}));
  EXPECT_RUN(device, Cummax, x.handle(), 0, Handle(top), Handle(at));
  ExpectNear(ValuesOf(top), {1, 3, 3, NAN, NAN}, ACL_FLOAT);
  EXPECT_EQ(ValuesOf(at), (Doubles{0, 1, 2, 3, 3}));
  const DeviceTensor where(ACL_INT32, DenseLayout({4}));
  EXPECT_RUN(device, Cummin, integers.handle(), 0, Handle(sums), Handle(where));
  EXPECT_EQ(ValuesOf(sums), (Doubles{100, 100, -1, -1}));
}

// Rows that are scanned side by side, and those that are left; widths about the pieces of a row.
TEST(Reduce, RunningTotalsOfManyRows) {
  const Device device;
  Random random(57);
  for (const int64_t rows : {7, 63, 64, 67}) {
    for (const int64_t n : {1, 255, 256, 257, 600}) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
      const Doubles x = RealValues(random, rows * n);
      Doubles want = x;
      for (size_t i = 0; i < x.size(); ++i) {
        if (i % static_cast<size_t>(n) != 0) want[i] += want[i - 1];
      }
      for (const Layout& layout :
           {DenseLayout({rows, n}), Layout{{rows, n}, {1, rows}, 0, rows * n}}) {
        DeviceTensor self(ACL_DOUBLE, layout);
        self.Write(ToBytes(ACL_DOUBLE, x));
        const DeviceTensor out(ACL_DOUBLE, layout);
        EXPECT_RUN(device, Cumsum, self.handle(), 1, ACL_DOUBLE, Handle(out));
        EXPECT_EQ(ValuesOf(out), want);
      }
    }
  }
}

TEST(Reduce, ThreadsDoNotChangeABit) {
  std::vector<std::vector<std::byte>> seen;
  for (const char* threads : {"1", "3"}) {
    const Device device({{"OPENACLNN_NUM_THREADS", threads}});
    Random random(24);
    const DeviceTensor self = Make(ACL_FLOAT, {64, 3000}, RealValues(random, 64 * 3000));
    const DeviceTensor index = Make(ACL_INT64, {64, 3000}, SmallValues(random, 64 * 3000, 0, 63));
    const DeviceTensor sum(ACL_FLOAT, DenseLayout({3000})), total(ACL_FLOAT, DenseLayout({})),
        added = Make(ACL_FLOAT, {64, 3000}, Doubles(64 * 3000, 0.1));
    const IntListHandle dim({{0}}), normalized({{3000}});
    EXPECT_RUN(device, VarCorrection, self.handle(), dim.get(), 1, false, Handle(sum));
    seen.push_back(sum.Read());
    EXPECT_RUN(device, MseLoss, self.handle(), added.handle(), 1, Handle(total));
    seen.push_back(total.Read());
    EXPECT_RUN(device, ScatterAdd, added.handle(), 0, index.handle(), self.handle(), Handle(added));
    seen.push_back(added.Read());
    EXPECT_RUN(device, LayerNorm, self.handle(), normalized.get(), nullptr, nullptr, 1e-5,
               Handle(added), nullptr, nullptr);
    seen.push_back(added.Read());
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(seen[i], seen[i + 4]) << i;
}

/// The first NaN, or the first of the largest.
int64_t PlaceOfLargest(const Doubles& row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size() && !std::isnan(row[best]); ++i) {
    if (std::isnan(row[i]) || row[i] > row[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

TEST(Reduce, TheFirstExtremeIsFoundInRowsOfAnyWidth) {
  const Device device;
  Random random(31);
  for (const int64_t width : {1, 2, 63, 64, 65, 66, 128, 129, 130, 200}) {
    // Few values, so that the largest is there several times; ascending; with a NaN.
    Doubles rows = SmallValues(random, static_cast<size_t>(3 * width), -3, 3);
    for (int64_t i = 0; i < width; ++i) {
      rows[static_cast<size_t>(width + i)] = static_cast<double>(i);
    }
    rows[static_cast<size_t>(2 * width + width * 2 / 3)] = std::nan("");
    for (const aclDataType dtype : {ACL_FLOAT, ACL_BF16, ACL_DOUBLE}) {
      SCOPED_TRACE(testing::Message() << width << " of " << dtype);
      const DeviceTensor self = Make(dtype, {3, width}, rows, random);
      const DeviceTensor out(dtype, DenseLayout({3})), at(ACL_INT64, DenseLayout({3}));
      if (dtype == ACL_DOUBLE) {  // which MaxDim does not take
        EXPECT_RUN(device, ArgMax, self.handle(), 1, false, Handle(at));
      } else {
        EXPECT_RUN(device, MaxDim, self.handle(), 1, false, Handle(out), Handle(at));
      }
      const Doubles places = ValuesOf(at);
      for (int64_t r = 0; r < 3; ++r) {
        const Doubles row(rows.begin() + r * width, rows.begin() + (r + 1) * width);
        EXPECT_EQ(places[static_cast<size_t>(r)], static_cast<double>(PlaceOfLargest(row))) << r;
      }
    }
  }
}

TEST(Reduce, ExtremesTakeEachDimensionOnce) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}), row = Empty({3}),
                     one(ACL_FLOAT, DenseLayout({})), column(ACL_FLOAT, DenseLayout({2}));
  const IntListHandle last({{-1}}), twice({{1, -1}}), both({{0, 1}});
  EXPECT_RUN(device, Amax, x.handle(), last.get(), false, Handle(column));
  EXPECT_RUN(device, Amin, x.handle(), both.get(), false, Handle(one));
  EXPECT_REFUSED(161002, "dim value is -1 once more", Amax, x.handle(), twice.get(), false,
                 Handle(column));
  EXPECT_REFUSED(161002, "dim value is -1 once more", Amin, x.handle(), twice.get(), false,
                 Handle(column));
}

// As ggml has it.
TEST(Reduce, ASumOfTheOnlyDimensionMayBeARow) {
  const Device device;
  const DeviceTensor x = Make(ACL_FLOAT, {3}, {1, 2, 4}), row(ACL_FLOAT, DenseLayout({1})),
                     pair(ACL_FLOAT, DenseLayout({2})), square(ACL_FLOAT, DenseLayout({2, 2}));
  const IntListHandle first({{0}}), beyond({{1}}), both({{0, 1}});
  EXPECT_RUN(device, ReduceSum, x.handle(), first.get(), false, ACL_FLOAT, Handle(row));
  EXPECT_EQ(ValuesOf(row), (Doubles{7}));
  EXPECT_REFUSED(161002, "dims value is (1), expected dimensions", ReduceSum, x.handle(),
                 beyond.get(), false, ACL_FLOAT, Handle(row));
  EXPECT_REFUSED(161002, "out shape is (2), expected ()", ReduceSum, x.handle(), first.get(), false,
                 ACL_FLOAT, Handle(pair));
  EXPECT_REFUSED(161002, "out shape is (1), expected ()", ReduceSum, square.handle(), both.get(),
                 false, ACL_FLOAT, Handle(row));
}

// Under UndefinedBehaviorSanitizer: rows that are not there may be of any length.
TEST(Reduce, OfNoRowsNothingIsCounted) {
  const Device device;
  const DeviceTensor rows(ACL_FLOAT, DenseLayout({0, INT64_MAX})),
      columns(ACL_FLOAT, DenseLayout({INT64_MAX, 0})), none(ACL_FLOAT, DenseLayout({0}));
  const IntListHandle first({{0}}), second({{1}});
  EXPECT_RUN(device, ReduceSum, rows.handle(), second.get(), false, ACL_FLOAT, Handle(none));
  EXPECT_RUN(device, ReduceSum, columns.handle(), first.get(), false, ACL_FLOAT, Handle(none));
}

TEST(Reduce, RunningProductsInPlace) {
  const Device device;
  Random random(73);
  const DeviceTensor x = Make(ACL_FLOAT, {2, 3}, {1, 2, 3, 4, 5, 6}, random);
  const ScalarHandle first(int64_t{0});
  EXPECT_RUN(device, Cumprod, x.handle(), first.get(), ACL_FLOAT, Handle(x));
  EXPECT_EQ(ValuesOf(x), (Doubles{1, 2, 3, 4, 10, 18}));
}

TEST(Reduce, RefusesWhatDoesNotFit) {
  const Device device;
  const DeviceTensor x(ACL_FLOAT, DenseLayout({2, 3})), row(ACL_FLOAT, DenseLayout({3})),
      at(ACL_INT64, DenseLayout({2, 3})), none(ACL_FLOAT, DenseLayout({0})),
      one(ACL_FLOAT, DenseLayout({}));
  const IntListHandle dim({{2}}), first({{0}});
  EXPECT_REFUSED(161002, "dim value is (2), expected dimensions of self", VarCorrection, x.handle(),
                 dim.get(), 1, false, Handle(row));
  EXPECT_REFUSED(161002, "out shape is (2, 3), expected (3)", Std, x.handle(), first.get(), 1,
                 false, Handle(x));
  EXPECT_REFUSED(161002, "dim value is 5, expected a dimension of self", Cumsum, x.handle(), 5,
                 ACL_FLOAT, Handle(x));
  EXPECT_REFUSED(161002, "k value is 4, expected 0 to 3", Topk, x.handle(), 4, 1, true, true,
                 Handle(x), Handle(at));
  EXPECT_REFUSED(161002, "indicesOut dtype is FLOAT, expected INT32, INT64", Sort, x.handle(), true,
                 1, false, Handle(x), Handle(x));
  EXPECT_REFUSED(161001, "pScalar value is null", Norm, x.handle(), nullptr, first.get(), false,
                 Handle(row));
  const IntListHandle all(IntListSpec{});
  EXPECT_REFUSED(161002, "self shape is (0), expected elements", Aminmax, none.handle(), all.get(),
                 false, Handle(one), Handle(one));
}

}  // namespace
}  // namespace openaclnn::test
