// SPDX-License-Identifier: Apache-2.0
// The gradients of Convolution: that they are those of it, their sums, and what is refused.
#include <numeric>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// A convolution, of the same numbers along all spatial dimensions.
struct Setting {
  Dims input, weight, output;
  int64_t stride = 1, pad = 0, dilation = 1;
  bool transposed = false;
  int64_t more = 0;  // outputPadding
  int groups = 1;
};

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

double Dot(const Doubles& a, const Doubles& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The tensors of a call, and its lists.
struct Problem {
  Problem(const Setting& of, aclDataType dtype, const std::function<Doubles(int64_t)>& values,
          Random& random)
      : setting(of),
        x(Make(dtype, of.input, values(CountOf(of.input)), random)),
        w(Make(dtype, of.weight, values(CountOf(of.weight)), random)),
        b(Make(dtype, {of.output[1]}, values(of.output[1]), random)),
        dy(Make(dtype, of.output, values(CountOf(of.output)), random)),
        y(dtype, RandomLayout(random, of.output, false)),
        dx(dtype, RandomLayout(random, of.input, false)),
        dw(dtype, RandomLayout(random, of.weight, false)),
        db(dtype, RandomLayout(random, {of.output[1]}, false)) {}

  void Forward(const Device& device) const {
    EXPECT_RUN(device, Convolution, x.handle(), w.handle(), b.handle(), stride.get(), pad.get(),
               dilation.get(), setting.transposed, more.get(), setting.groups, Handle(y), 0);
  }
  void Backward(const Device& device, const aclBoolArray* asked) const {
    EXPECT_RUN(device, ConvolutionBackward, dy.handle(), x.handle(), w.handle(), nullptr,
               stride.get(), pad.get(), dilation.get(), setting.transposed, more.get(),
               setting.groups, asked, 0, Handle(dx), Handle(dw), Handle(db));
  }

  Setting setting;
  DeviceTensor x, w, b, dy, y, dx, dw, db;
  IntListHandle stride{IntListSpec{{setting.stride}}}, pad{IntListSpec{{setting.pad}}},
      dilation{IntListSpec{{setting.dilation}}}, more{IntListSpec{{setting.more}}};
};

const Setting kSettings[] = {
    {{2, 3, 9}, {4, 3, 3}, {2, 4, 4}, 2, 0, 1},
    {{2, 4, 9}, {6, 2, 3}, {2, 6, 4}, 2, 1, 2, false, 0, 2},
    {{1, 4, 7, 5}, {4, 1, 2, 2}, {1, 4, 4, 3}, 2, 1, 1, false, 0, 4},
    {{2, 2, 4, 3, 5}, {3, 2, 2, 3, 1}, {2, 3, 3, 1, 5}, 1, 0, 1},
    {{2, 3, 4}, {3, 2, 3}, {2, 2, 10}, 2, 0, 1, true, 1},
    {{2, 4, 3, 4}, {4, 3, 3, 2}, {2, 6, 7, 9}, 3, 1, 1, true, 0, 2},
    {{1, 2, 3, 2, 2}, {2, 1, 2, 2, 2}, {1, 1, 6, 4, 4}, 2, 0, 1, true, 0},
};

// Takes small integers, which float sums exactly: <dy, y> = <dx, x> + <db, b> = <dw, w> + <db, b>.
TEST(ConvolutionBackward, IsTheAdjoint) {
  const Device device;
  Random random(87);
  const FlagsHandle all({true, true, true});
  const auto integers = [&](int64_t count) { return SmallValues(random, count, -4, 4); };
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(&setting - kSettings);
    const Problem problem(setting, ACL_FLOAT, integers, random);
    problem.Forward(device);
    problem.Backward(device, all.get());
    const double whole = Dot(ValuesOf(problem.dy), ValuesOf(problem.y));
    const double bias = Dot(ValuesOf(problem.db), ValuesOf(problem.b));
    EXPECT_NE(whole, 0);
    EXPECT_EQ(Dot(ValuesOf(problem.dx), ValuesOf(problem.x)) + bias, whole);
    EXPECT_EQ(Dot(ValuesOf(problem.dw), ValuesOf(problem.w)) + bias, whole);
    for (const DeviceTensor* out : {&problem.dx, &problem.dw, &problem.db}) {
      EXPECT_EQ(out->Damage(), "");
    }
  }
}

TEST(ConvolutionBackward, HasTheSameBitsUnderEachSetting) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    std::vector<std::vector<std::byte>> want;
    UnderEachSetting([&](const std::string& name, const Device& device) {
      if (!IsFused(name)) return;
      SCOPED_TRACE(testing::Message() << name << ", " << dtype);
      Random random(88);
      const FlagsHandle all({true, true, true});
      const auto reals = [&](int64_t count) { return RealValues(random, count); };
      const Setting of{{3, 6, 37, 31}, {8, 3, 3, 3}, {3, 8, 37, 31}, 1, 1, 1, false, 0, 2};
      const Problem problem(of, dtype, reals, random);
      problem.Backward(device, all.get());
      std::vector<std::vector<std::byte>> got;
      for (const DeviceTensor* out : {&problem.dx, &problem.dw, &problem.db}) {
        got.push_back(out->Read());
      }
      if (want.empty()) want = got;
      EXPECT_TRUE(got == want);
    });
  }
}

// With one tap the gradient by the weight is dy times x turned round; 2,500 terms are three pieces.
TEST(ConvolutionBackward, PiecesAreTheOneTree) {
  constexpr int64_t kChannels = 1100, kPlaces = 2500, kOut = 3;
  const Device device;
  Random random(89);
  const FlagsHandle weight_alone({false, true, false});
  const auto reals = [&](int64_t count) { return RealValues(random, count); };
  const Setting of{{1, kChannels, kPlaces}, {kOut, kChannels, 1}, {1, kOut, kPlaces}};
  const Problem problem(of, ACL_FLOAT, reals, random);
  problem.Backward(device, weight_alone.get());
  const Doubles x = ValuesOf(problem.x);
  Doubles turned(x.size());
  for (size_t i = 0; i < x.size(); ++i) turned[i % kPlaces * kChannels + i / kPlaces] = x[i];
  const DeviceTensor a = Make(ACL_FLOAT, {kOut, kPlaces}, ValuesOf(problem.dy)),
                     b = Make(ACL_FLOAT, {kPlaces, kChannels}, turned),
                     product(ACL_FLOAT, DenseLayout({kOut, kChannels}));
  EXPECT_RUN(device, Mm, a.handle(), b.handle(), Handle(product), 0);
  EXPECT_EQ(ValuesOf(problem.dw), ValuesOf(product));
}

// Takes planes: rows above and below, columns left and right.
TEST(Convolution, FourPads) {
  const Device device;
  Random random(92);
  const auto reals = [&](int64_t count) { return RealValues(random, count); };
  const IntListHandle stride({{2, 1}}), dilation({{1, 1}}), four({{1, 2, 0, 3}}), none({{0, 0}}),
      three({{1, 2, 0}});
  const DeviceTensor x = Make(ACL_FLOAT, {1, 2, 4, 5}, reals(40), random),
                     w = Make(ACL_FLOAT, {3, 2, 3, 2}, reals(36), random),
                     got(ACL_FLOAT, DenseLayout({1, 3, 3, 7})),
                     want(ACL_FLOAT, DenseLayout({1, 3, 3, 7}));
  const Doubles values = ValuesOf(x);
  Doubles padded;
  for (int64_t plane = 0; plane < 2; ++plane) {
    for (int64_t row = -1; row < 6; ++row) {
      for (int64_t column = 0; column < 8; ++column) {
        const bool inside = row >= 0 && row < 4 && column < 5;
        padded.push_back(inside ? values[static_cast<size_t>((plane * 4 + row) * 5 + column)] : 0);
      }
    }
  }
  const DeviceTensor whole = Make(ACL_FLOAT, {1, 2, 7, 8}, padded);
  EXPECT_RUN(device, Convolution, x.handle(), w.handle(), nullptr, stride.get(), four.get(),
             dilation.get(), false, none.get(), 1, Handle(got), 0);
  EXPECT_RUN(device, Convolution, whole.handle(), w.handle(), nullptr, stride.get(), none.get(),
             dilation.get(), false, none.get(), 1, Handle(want), 0);
  EXPECT_EQ(ValuesOf(got), ValuesOf(want));
  EXPECT_REFUSED(161002, "padding value is (1, 2, 0), expected 2 numbers", Convolution, x.handle(),
                 w.handle(), nullptr, stride.get(), three.get(), dilation.get(), false, none.get(),
                 1, Handle(got), 0);
}

TEST(ConvolutionBackward, OfNothing) {
  const Device device;
  Random random(90);
  const FlagsHandle all({true, true, true});
  const auto ones = [](int64_t count) { return Doubles(static_cast<size_t>(count), 1); };
  for (const bool transposed : {false, true}) {  // without batches
    const Problem none({{0, 2, 4}, {2, 2, 3}, {0, 2, transposed ? 6 : 2}, 1, 0, 1, transposed},
                       ACL_FLOAT, ones, random);
    none.Backward(device, all.get());
    EXPECT_EQ(ValuesOf(none.dw), Doubles(12, 0));
    EXPECT_EQ(ValuesOf(none.db), Doubles(2, 0));
  }
  // The taps reach farther than the input.
  const Problem narrow({{1, 2, 2}, {2, 2, 3}, {1, 2, 0}}, ACL_FLOAT, ones, random);
  narrow.Backward(device, all.get());
  EXPECT_EQ(ValuesOf(narrow.dx), Doubles(4, 0));
  EXPECT_EQ(ValuesOf(narrow.dw), Doubles(12, 0));
  EXPECT_EQ(ValuesOf(narrow.db), Doubles(2, 0));
}

TEST(ConvolutionBackward, Refusals) {
  const Device device;
  const FlagsHandle all({true, true, true}), two({true, true});
  const IntListHandle one({{1}}), none({{0}}), sizes({{4}});
  const auto of = [](const Dims& dims, aclDataType dtype = ACL_FLOAT) {
    return DeviceTensor(dtype, DenseLayout(dims));
  };
  const DeviceTensor x = of({2, 3, 9}), w = of({4, 3, 3}), dy = of({2, 4, 7}), b = of({4}),
                     long_dy = of({2, 4, 8}), half = of({2, 3, 9}, ACL_FLOAT16);
  const auto refused = [&](int code, const char* says, const DeviceTensor& gradient,
                           const aclIntArray* bias_sizes, const FlagsHandle& mask, int groups,
                           aclTensor* dx, aclTensor* dw, aclTensor* db) {
    EXPECT_REFUSED(code, says, ConvolutionBackward, gradient.handle(), x.handle(), w.handle(),
                   bias_sizes, one.get(), none.get(), one.get(), false, none.get(), groups,
                   mask.get(), 0, dx, dw, db);
  };
  aclTensor *const dx = Handle(x), *const dw = Handle(w), *const db = Handle(b);
  refused(161002, "outputMask size is 2, expected 3", dy, nullptr, two, 1, dx, dw, db);
  refused(161001, "gradWeight value is null", dy, nullptr, all, 1, dx, nullptr, db);
  refused(161002, "groups value is 0, expected a divisor", dy, nullptr, all, 0, dx, dw, db);
  refused(161002, "gradOutput shape is (2, 4, 8), expected (2, 4, 7)", long_dy, nullptr, all, 1, dx,
          dw, db);
  refused(161002, "biasSizes value is (1), expected (4)", dy, one.get(), all, 1, dx, dw, db);
  refused(161002, "gradInput dtype is FLOAT16", dy, sizes.get(), all, 1, Handle(half), dw, db);
  refused(161002, "gradInput shape is (4, 3, 3), expected (2, 3, 9)", dy, nullptr, all, 1, dw, dw,
          db);
  refused(161002, "gradBias shape is (2, 3, 9), expected (4)", dy, nullptr, all, 1, dx, dw, dx);
}

}  // namespace
}  // namespace openaclnn::test
