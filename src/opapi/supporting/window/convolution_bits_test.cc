// SPDX-License-Identifier: Apache-2.0
// Convolution and its gradient by the weight have the bits of products of all windows, which the
// test gathers one by one: read from the image, by lines, by lanes, under each setting.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// A convolution of planes, the same along both dimensions.
struct Setting {
  const char* name;
  int64_t images, groups, channels, outputs;  // of a group
  int64_t height, width, taps_high, taps_wide;
  int64_t stride = 1, pad = 0, dilation = 1;

  int64_t taps() const { return taps_high * taps_wide; }
  int64_t out_height() const { return Places(height, taps_high); }
  int64_t out_width() const { return Places(width, taps_wide); }
  int64_t places() const { return out_height() * out_width(); }
  int64_t terms() const { return channels * taps(); }

 private:
  int64_t Places(int64_t length, int64_t taps) const {
    return (length + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
  }
};

Dims WeightDims(const Setting& s) {
  return {s.groups * s.outputs, s.channels, s.taps_high, s.taps_wide};
}

Dims OutputDims(const Setting& s) {
  return {s.images, s.groups * s.outputs, s.out_height(), s.out_width()};
}

const Setting kSettings[] = {
    {"several panels", 2, 1, 5, 7, 9, 37, 3, 3, 1, 1},
    {"several units", 1, 2, 130, 50, 6, 7, 3, 3, 1, 1},
    {"few places", 5, 1, 7, 13, 4, 3, 2, 2},
    {"a stride", 2, 1, 8, 4, 21, 18, 3, 5, 2, 2},
    {"a dilation", 1, 1, 6, 5, 19, 23, 3, 2, 3, 4, 2},
    {"one tap", 3, 1, 70, 20, 8, 9, 1, 1},
    {"taps beyond the image", 2, 1, 3, 4, 3, 4, 5, 7, 1, 3},
    {"many taps", 1, 1, 2, 3, 24, 24, 19, 21, 1, 2},
    {"lines", 2, 19, 1, 1, 13, 50, 3, 3, 1, 1},
    {"lines by remainders", 3, 17, 1, 2, 30, 31, 5, 5, 2, 2},
    {"lines, dilated", 1, 3, 1, 1, 20, 33, 7, 3, 3, 3, 2},
    {"small planes", 4, 16, 1, 1, 5, 5, 3, 3, 1, 1},
    {"lines shorter than a vector", 2, 5, 1, 2, 14, 14, 5, 5, 1, 2},
    {"lines without a pad", 1, 3, 1, 1, 7, 19, 3, 3, 1, 0},
    {"one line", 2, 3, 1, 1, 1, 9, 1, 3, 1, 1},
    {"more than 64 taps", 2, 4, 1, 1, 14, 15, 9, 9, 1, 4},
};

/// The factor that a term takes from a place; zero in the padding.
double At(const Setting& s, const Doubles& x, int64_t image, int64_t group, int64_t term,
          int64_t place) {
  const int64_t tap = term % s.taps(), channel = group * s.channels + term / s.taps();
  const int64_t y = place / s.out_width() * s.stride - s.pad + tap / s.taps_wide * s.dilation;
  const int64_t column = place % s.out_width() * s.stride - s.pad + tap % s.taps_wide * s.dilation;
  if (y < 0 || y >= s.height || column < 0 || column >= s.width) return 0;
  const int64_t plane = image * s.groups * s.channels + channel;
  return x[static_cast<size_t>((plane * s.height + y) * s.width + column)];
}

Doubles Product(const Device& device, aclDataType dtype, int64_t rows, int64_t terms,
                int64_t columns, const Doubles& a, const Doubles& b) {
  const DeviceTensor left = Make(dtype, {rows, terms}, a), right = Make(dtype, {terms, columns}, b),
                     out(dtype, DenseLayout({rows, columns}));
  EXPECT_RUN(device, Mm, left.handle(), right.handle(), Handle(out), 0);
  return ValuesOf(out);
}

/// The elements of `count` rows of `length` from row `first` on.
Doubles Rows(const Doubles& all, int64_t first, int64_t count, int64_t length) {
  return {all.begin() + first * length, all.begin() + (first + count) * length};
}

class ConvolutionBits {
 public:
  ConvolutionBits(const Device& device, const Setting& setting, aclDataType dtype, Random& random)
      : device_(device),
        s_(setting),
        dtype_(dtype),
        x_(Real({s_.images, s_.groups * s_.channels, s_.height, s_.width}, random)),
        w_(Real(WeightDims(s_), random)),
        dy_(Real(OutputDims(s_), random)) {}

  void Forward(Random& random) const {
    const DeviceTensor y(dtype_, RandomLayout(random, OutputDims(s_), false)),
        dense(dtype_, DenseLayout(OutputDims(s_)));  // lines one behind the other
    for (const DeviceTensor* out : {&y, &dense}) {
      EXPECT_RUN(device_, Convolution, x_.handle(), w_.handle(), nullptr, stride_.get(), pad_.get(),
                 dilation_.get(), false, none_.get(), static_cast<int>(s_.groups), Handle(*out), 0);
      EXPECT_EQ(out->Damage(), "");
    }
    const Doubles x = ValuesOf(x_), w = ValuesOf(w_), got = ValuesOf(y);
    EXPECT_EQ(ValuesOf(dense), got);
    for (int64_t image = 0; image < s_.images; ++image) {
      for (int64_t group = 0; group < s_.groups; ++group) {
        Doubles windows;
        for (int64_t term = 0; term < s_.terms(); ++term) {
          for (int64_t p = 0; p < s_.places(); ++p) {
            windows.push_back(At(s_, x, image, group, term, p));
          }
        }
        const Doubles want = Product(device_, dtype_, s_.outputs, s_.terms(), s_.places(),
                                     Rows(w, group * s_.outputs, s_.outputs, s_.terms()), windows);
        EXPECT_EQ(Rows(got, (image * s_.groups + group) * s_.outputs, s_.outputs, s_.places()),
                  want);
      }
    }
  }

  void Weight(Random& random) const {
    const DeviceTensor dw(dtype_, RandomLayout(random, WeightDims(s_), false));
    const FlagsHandle weight_alone({false, true, false});
    EXPECT_RUN(device_, ConvolutionBackward, dy_.handle(), x_.handle(), w_.handle(), nullptr,
               stride_.get(), pad_.get(), dilation_.get(), false, none_.get(),
               static_cast<int>(s_.groups), weight_alone.get(), 0, nullptr, Handle(dw), nullptr);
    const Doubles x = ValuesOf(x_), dy = ValuesOf(dy_), got = ValuesOf(dw);
    for (int64_t group = 0; group < s_.groups; ++group) {
      Doubles windows, rows;
      for (int64_t m = 0; m < s_.outputs; ++m) {
        for (int64_t image = 0; image < s_.images; ++image) {
          const Doubles row =
              Rows(dy, (image * s_.groups + group) * s_.outputs + m, 1, s_.places());
          rows.insert(rows.end(), row.begin(), row.end());
        }
      }
      for (int64_t image = 0; image < s_.images; ++image) {
        for (int64_t p = 0; p < s_.places(); ++p) {
          for (int64_t term = 0; term < s_.terms(); ++term) {
            windows.push_back(At(s_, x, image, group, term, p));
          }
        }
      }
      EXPECT_EQ(
          Rows(got, group * s_.outputs, s_.outputs, s_.terms()),
          Product(device_, dtype_, s_.outputs, s_.images * s_.places(), s_.terms(), rows, windows));
    }
  }

 private:
  DeviceTensor Real(const Dims& dims, Random& random) const {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    return Make(dtype_, dims, RealValues(random, count), random);
  }

  const Device& device_;
  const Setting& s_;
  aclDataType dtype_;
  DeviceTensor x_, w_, dy_;
  IntListHandle stride_{IntListSpec{{s_.stride}}}, pad_{IntListSpec{{s_.pad}}},
      dilation_{IntListSpec{{s_.dilation}}}, none_{IntListSpec{{0}}};
};

TEST(ConvolutionBits, AreThoseOfProducts) {
  for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    UnderEachSetting([&](const std::string& name, const Device& device) {
      for (const Setting& setting : kSettings) {
        SCOPED_TRACE(testing::Message() << setting.name << ", " << name << ", " << dtype);
        Random random(91);
        const ConvolutionBits problem(device, setting, dtype, random);
        problem.Forward(random);
        problem.Weight(random);
      }
    });
  }
}

}  // namespace
}  // namespace openaclnn::test
