// SPDX-License-Identifier: Apache-2.0
// TriangularSolve: what it does not look at, what it gives on any number of threads, refusals.
#include <limits>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

// Takes A = (2 0; 1 4), with NaN where another triangle or diagonal would be read.
TEST(TriangularSolve, ReadsItsTriangleAlone) {
  const Device device;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto solve = [&](const Doubles& a, bool upper, bool transpose, bool unit) {
    const DeviceTensor right = Make(ACL_FLOAT, {2, 1}, {2, 9}), left = Make(ACL_FLOAT, {2, 2}, a),
                       x(ACL_FLOAT, DenseLayout({2, 1})), copy(ACL_FLOAT, DenseLayout({2, 2}));
    EXPECT_RUN(device, TriangularSolve, right.handle(), left.handle(), upper, transpose, unit,
               Handle(x), Handle(copy));
    const Doubles results = ValuesOf(x);
    EXPECT_EQ(copy.Read(), left.Read());  // all of A, as PyTorch's clone of it
    return results;
  };
  EXPECT_EQ(solve({2, kNan, 1, 4}, false, false, false), (Doubles{1, 2}));
  EXPECT_EQ(solve({2, 1, kNan, 4}, true, true, false), (Doubles{1, 2}));
  EXPECT_EQ(solve({2, 1, kNan, 3}, true, false, false), (Doubles{-0.5, 3}));
  EXPECT_EQ(solve({2, kNan, 1, 3}, false, true, false), (Doubles{-0.5, 3}));
  EXPECT_EQ(solve({kNan, kNan, 1, kNan}, false, false, true), (Doubles{2, 7}));
  EXPECT_EQ(solve({kNan, 1, kNan, kNan}, true, false, true), (Doubles{-7, 9}));
}

// More columns than a block has, and more terms than are added in sequence, against substitution in
// double: the results are those of each column alone, in FLOAT.
TEST(TriangularSolve, OfManyColumns) {
  const Device device;
  Random random(84);
  for (const bool upper : {false, true}) {
    for (const bool transpose : {false, true}) {
      SCOPED_TRACE(testing::Message() << upper << transpose);
      const int64_t size = 150, columns = 37;
      Doubles a = RealValues(random, size * size, -0.1, 0.1);
      for (int64_t i = 0; i < size; ++i) a[static_cast<size_t>(i * size + i)] = 1.5;
      a = Held(ACL_FLOAT, a);
      const Doubles b = Held(ACL_FLOAT, RealValues(random, size * columns));
      const auto at = [&](int64_t i, int64_t k) {
        return a[static_cast<size_t>(transpose ? k * size + i : i * size + k)];
      };
      const bool lower = upper == transpose;
      Doubles want = b;
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t step = 0; step < size; ++step) {
          const int64_t i = lower ? step : size - 1 - step;
          double& x = want[static_cast<size_t>(i * columns + j)];
          for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : size); ++k) {
            x -= at(i, k) * want[static_cast<size_t>(k * columns + j)];
          }
          x /= at(i, i);
        }
      }
      const DeviceTensor left = Make(ACL_FLOAT, {size, size}, a, random),
                         right = Make(ACL_FLOAT, {size, columns}, b, random),
                         x(ACL_FLOAT, RandomLayout(random, {size, columns}, false)),
                         copy(ACL_FLOAT, DenseLayout({size, size}));
      EXPECT_RUN(device, TriangularSolve, right.handle(), left.handle(), upper, transpose, false,
                 Handle(x), Handle(copy));
      ExpectNear(ValuesOf(x), want, ACL_FLOAT, 0x1.01p-24, 1e-12);
      EXPECT_EQ(x.Damage(), "");
    }
  }
}

// (1 + i) x = 2, then x + i y = 3: x = 1 - i, y = (2 + i) / i = 1 - 2i.
TEST(TriangularSolve, OfComplexNumbers) {
  const Device device;
  const auto of = [](const Dims& dims, const std::vector<double>& parts) {
    DeviceTensor tensor(ACL_COMPLEX128, DenseLayout(dims));
    std::vector<std::byte> bytes(parts.size() * sizeof(double));
    std::memcpy(bytes.data(), parts.data(), bytes.size());
    tensor.Write(bytes);
    return tensor;
  };
  const DeviceTensor right = of({2, 1}, {2, 0, 3, 0}), left = of({2, 2}, {1, 1, 9, 9, 1, 0, 0, 1}),
                     x(ACL_COMPLEX128, DenseLayout({2, 1})),
                     copy(ACL_COMPLEX128, DenseLayout({2, 2}));
  EXPECT_RUN(device, TriangularSolve, right.handle(), left.handle(), false, false, false, Handle(x),
             Handle(copy));
  EXPECT_EQ(x.Read(), of({2, 1}, {1, -1, 1, -2}).Read());
  EXPECT_EQ(copy.Read(), left.Read());
}

TEST(TriangularSolve, HasTheSameBitsUnderEachSetting) {
  constexpr int64_t kSize = 150, kColumns = 7;
  Doubles want;
  UnderEachSetting([&](const std::string& name, const Device& device) {
    SCOPED_TRACE(name);
    Random random(91);
    Doubles a = RealValues(random, 2 * kSize * kSize, -0.1, 0.1);
    for (size_t i = 0; i < a.size(); i += kSize + 1) a[i] = 1.5;
    const DeviceTensor left = Make(ACL_FLOAT, {2, kSize, kSize}, a, random),
                       right = Make(ACL_FLOAT, {kSize, kColumns},
                                    RealValues(random, kSize * kColumns), random),
                       x(ACL_FLOAT, DenseLayout({2, kSize, kColumns})),
                       copy(ACL_FLOAT, DenseLayout({2, kSize, kSize}));
    EXPECT_RUN(device, TriangularSolve, right.handle(), left.handle(), false, false, false,
               Handle(x), Handle(copy));
    const Doubles got = ValuesOf(x);
    if (want.empty()) want = got;
    EXPECT_EQ(got, want);
  });
}

TEST(TriangularSolve, Refusals) {
  const Device device;
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor b = of({2, 3, 4}), a = of({2, 3, 3}), x = of({2, 3, 4}), m = of({2, 3, 3});
  const auto refused = [&](const char* says, const DeviceTensor& left, const DeviceTensor& out,
                           const DeviceTensor& copy) {
    EXPECT_REFUSED(161002, says, TriangularSolve, b.handle(), left.handle(), true, false, false,
                   Handle(out), Handle(copy));
  };
  refused("A shape is (2, 3, 4), expected squares of 3 rows", b, x, m);
  refused("A shape is (4, 4), expected squares of 3 rows", of({4, 4}), x, m);
  refused("A shape is (5, 3, 3), expected batches as those of self", of({5, 3, 3}), x, m);
  refused("A dtype is DOUBLE, expected that of self", of({2, 3, 3}, ACL_DOUBLE), x, m);
  refused("xOut shape is (2, 3, 3), expected (2, 3, 4)", a, m, m);
  refused("mOut shape is (2, 3, 4), expected (2, 3, 3)", a, x, x);
}

}  // namespace
}  // namespace openaclnn::test
