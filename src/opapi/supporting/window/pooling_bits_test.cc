// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients have the bits of sums and maxima that the test takes window by window,
// in double and in order: by rows in lanes and place by place, under each setting.
#include <bit>

#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

struct Axis {
  int64_t in, taps, stride, pad;
  bool up;

  int64_t out() const {
    const int64_t room = in + 2 * pad - taps + (up ? stride - 1 : 0);
    const int64_t places = room / stride + 1;
    return up && (places - 1) * stride >= in + pad ? places - 1 : places;
  }
  int64_t begin(int64_t place) const { return place * stride - pad; }
};

struct Setting {
  const char* name;
  int64_t height, width;
  int64_t high, wide;  // taps
  int64_t stride_high, stride_wide, pad_high, pad_wide;
  bool up = false;

  Axis rows() const { return {height, high, stride_high, pad_high, up}; }
  Axis columns() const { return {width, wide, stride_wide, pad_wide, up}; }
  int64_t places() const { return rows().out() * columns().out(); }
  int64_t elements() const { return height * width; }
  /// Windows that an element is in, at most.
  int64_t shared() const { return ((high - 1) / stride_high + 1) * ((wide - 1) / stride_wide + 1); }
};

const Setting kSettings[] = {
    {"two by two", 14, 34, 2, 2, 2, 2, 0, 0},
    {"overlapping", 19, 61, 3, 3, 2, 2, 1, 1},
    {"steps of one", 9, 45, 3, 5, 1, 1, 1, 2},
    {"rounded up", 12, 20, 3, 4, 2, 3, 1, 2, true},
    {"gaps", 23, 37, 2, 3, 5, 4, 0, 1},
    {"one column", 17, 1, 3, 1, 2, 1, 1, 0},
    {"few places", 8, 7, 3, 5, 3, 2, 0, 1},
    {"one window", 7, 7, 7, 7, 1, 1, 0, 0},
    {"many taps", 40, 33, 17, 16, 16, 15, 1, 1},
    {"a long row", 3, 200, 2, 9, 1, 7, 1, 4},
    {"more than 64 windows", 21, 20, 9, 9, 1, 1, 4, 4},
    {"rows too long for lanes", 2, 30000, 2, 3, 1, 2, 1, 1},
};
constexpr int64_t kPlanes = 3;

/// Calls body(place, element, tap) for each element of each window of a plane, all in order.
template <class Body>
void ForWindows(const Setting& s, const Body& body) {
  const Axis rows = s.rows(), columns = s.columns();
  for (int64_t i = 0; i < rows.out(); ++i) {
    for (int64_t j = 0; j < columns.out(); ++j) {
      for (int64_t tap = 0; tap < s.high * s.wide; ++tap) {
        const int64_t y = rows.begin(i) + tap / s.wide, x = columns.begin(j) + tap % s.wide;
        if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
        body(static_cast<size_t>(i * columns.out() + j), static_cast<size_t>(y * s.width + x), tap);
      }
    }
  }
}

/// How many elements a window has, or with the padding.
double CountOf(const Setting& s, size_t place, bool padded) {
  const auto along = [&](const Axis& axis, int64_t i) {
    const int64_t begin = axis.begin(i), end = begin + axis.taps;
    return padded ? std::min(end, axis.in + axis.pad) - begin
                  : std::min(end, axis.in) - std::max(begin, int64_t{0});
  };
  const auto at = static_cast<int64_t>(place), width = s.columns().out();
  return static_cast<double>(along(s.rows(), at / width) * along(s.columns(), at % width));
}

Doubles Plane(const Doubles& all, int64_t plane, int64_t each) {
  return {all.begin() + plane * each, all.begin() + (plane + 1) * each};
}

struct Maxima {
  Doubles values;
  std::vector<int64_t> elements, taps;
};

/// The first of the largest; NaN is the largest.
Maxima LargestOf(const Setting& s, const Doubles& x) {
  const auto places = static_cast<size_t>(s.places());
  Maxima maxima = {Doubles(places), std::vector<int64_t>(places, -1),
                   std::vector<int64_t>(places, -1)};
  ForWindows(s, [&](size_t place, size_t element, int64_t tap) {
    double& largest = maxima.values[place];
    const bool first = maxima.taps[place] < 0;
    if (!first && !(x[element] > largest) && !(std::isnan(x[element]) && !std::isnan(largest))) {
      return;
    }
    largest = x[element];
    maxima.elements[place] = static_cast<int64_t>(element);
    maxima.taps[place] = tap;
  });
  return maxima;
}

/// Numbers that meet again and again, of both zeros, and some infinities and NaNs.
Doubles Crowded(Random& random, int64_t count) {
  Doubles values = SmallValues(random, count, -6, 6);
  for (double& value : values) {
    const int64_t chance = Uniform(random, 0, 60);
    value = chance == 0   ? NAN
            : chance == 1 ? INFINITY
            : chance < 5  ? -INFINITY
            : value == 0  ? -0.0
            : value == 1  ? 0.0
                          : value;
  }
  return values;
}

/// Numbers whose sums tell the order: small ones are lost beside large ones, which meet their
/// opposites. Halves are too few for that.
Doubles Spread(Random& random, int64_t count, aclDataType dtype) {
  Doubles values = RealValues(random, count);
  for (double& value : values) {
    const int64_t chance = Uniform(random, 0, 3);
    if (dtype != ACL_FLOAT16 && chance < 2) value = chance == 0 ? 0x1p60 : -0x1p60;
  }
  return values;
}

class PoolingBits {
 public:
  PoolingBits(const Device& device, const Setting& setting, aclDataType dtype, Random& random)
      : device_(device), s_(setting), dtype_(dtype), random_(random) {}

  void LargestElements() {
    const DeviceTensor x = Made(InDims(), Crowded(random_, kPlanes * s_.elements())),
                       dy = Made(OutDims(), Spread(random_, kPlanes * s_.places(), dtype_));
    const Dims mask_dims = {kPlanes, s_.high * s_.wide,
                            (s_.places() / 16 + (s_.places() % 16 != 0 ? 1 : 0) + 1) * 32};
    const DeviceTensor y = Result(OutDims()), z = Result(OutDims()), dx = Result(InDims()),
                       by_mask = Result(InDims());
    const DeviceTensor numbers(ACL_INT32, RandomLayout(random_, OutDims(), false)),
        mask(ACL_INT8, RandomLayout(random_, mask_dims, false));
    EXPECT_RUN(device_, MaxPool2dWithIndices, x.handle(), taps_.get(), stride_.get(), pad_.get(),
               one_.get(), s_.up, Handle(y), Handle(numbers));
    EXPECT_RUN(device_, MaxPool2dWithMask, x.handle(), taps_.get(), stride_.get(), pad_.get(),
               one_.get(), s_.up, Handle(z), Handle(mask));
    if (dtype_ == ACL_FLOAT) {  // its page lists no other
      EXPECT_RUN(device_, MaxPool2dWithIndicesBackward, dy.handle(), x.handle(), numbers.handle(),
                 taps_.get(), stride_.get(), pad_.get(), one_.get(), s_.up, Handle(dx));
    }
    EXPECT_RUN(device_, MaxPool2dWithMaskBackward, dy.handle(), x.handle(), mask.handle(),
               taps_.get(), stride_.get(), pad_.get(), one_.get(), s_.up, Handle(by_mask));
    EXPECT_EQ(y.Read(), z.Read());
    if (dtype_ == ACL_FLOAT) {
      EXPECT_EQ(dx.Read(), by_mask.Read());
    }
    const Doubles of = ValuesOf(x), by = ValuesOf(dy), told = ValuesOf(numbers),
                  bits = ValuesOf(mask);
    Doubles values, gradients;
    for (int64_t plane = 0; plane < kPlanes; ++plane) {
      const Maxima want = LargestOf(s_, Plane(of, plane, s_.elements()));
      values.insert(values.end(), want.values.begin(), want.values.end());
      const Doubles given = Plane(by, plane, s_.places());
      Doubles sums(static_cast<size_t>(s_.elements()), 0);
      size_t wrong = 0;
      for (size_t i = 0; i < given.size(); ++i) {
        sums[static_cast<size_t>(want.elements[i])] += given[i];
        const auto at = static_cast<size_t>(plane * s_.places()) + i;
        wrong += told[at] != static_cast<double>(want.elements[i]);
        const auto row = static_cast<size_t>(plane * mask_dims[1] + want.taps[i]);
        const auto byte = static_cast<int>(bits[row * static_cast<size_t>(mask_dims[2]) + i / 8]);
        wrong += (byte >> (i % 8) & 1) == 0;
      }
      EXPECT_EQ(wrong, 0U);
      gradients.insert(gradients.end(), sums.begin(), sums.end());
    }
    EXPECT_EQ(y.Read(), ToBytes(dtype_, values));
    if (s_.shared() > 64) return;  // by a tree
    EXPECT_EQ(by_mask.Read(), ToBytes(dtype_, gradients));
  }

  /// A mask of a program's own, which tells several maxima of a window: all of its elements.
  void EveryTap() {
    const DeviceTensor dy = Made(OutDims(), Spread(random_, kPlanes * s_.places(), dtype_)),
                       x = Result(InDims()), dx = Result(InDims());
    const int64_t width = (s_.places() / 16 + (s_.places() % 16 != 0 ? 1 : 0) + 1) * 32;
    const DeviceTensor mask =
        Make(ACL_INT8, {kPlanes, s_.high * s_.wide, width},
             Doubles(static_cast<size_t>(kPlanes * s_.high * s_.wide * width), -1), random_);
    EXPECT_RUN(device_, MaxPool2dWithMaskBackward, dy.handle(), x.handle(), mask.handle(),
               taps_.get(), stride_.get(), pad_.get(), one_.get(), s_.up, Handle(dx));
    if (s_.shared() > 64) return;  // by a tree
    const Doubles by = ValuesOf(dy);
    Doubles sums(static_cast<size_t>(kPlanes * s_.elements()), 0);
    for (int64_t plane = 0; plane < kPlanes; ++plane) {
      ForWindows(s_, [&](size_t place, size_t element, int64_t) {
        sums[static_cast<size_t>(plane * s_.elements()) + element] +=
            by[static_cast<size_t>(plane * s_.places()) + place];
      });
    }
    EXPECT_EQ(dx.Read(), ToBytes(dtype_, sums));
  }

  void Means(bool padded, int64_t divisor) {
    const DeviceTensor x = Made(InDims(), Spread(random_, kPlanes * s_.elements(), dtype_)),
                       dy = Made(OutDims(), Spread(random_, kPlanes * s_.places(), dtype_));
    const DeviceTensor y = Result(OutDims()), dx = Result(InDims());
    EXPECT_RUN(device_, AvgPool2d, x.handle(), taps_.get(), stride_.get(), pad_.get(), s_.up,
               padded, divisor, int8_t{0}, Handle(y));
    if (s_.high * s_.wide > 64) return;  // by a tree
    const Doubles of = ValuesOf(x);
    Doubles values;
    for (int64_t plane = 0; plane < kPlanes; ++plane) {
      const Doubles elements = Plane(of, plane, s_.elements());
      Doubles sums(static_cast<size_t>(s_.places()), 0);
      ForWindows(s_,
                 [&](size_t place, size_t element, int64_t) { sums[place] += elements[element]; });
      for (size_t i = 0; i < sums.size(); ++i) {
        values.push_back(sums[i] /
                         (divisor != 0 ? static_cast<double>(divisor) : CountOf(s_, i, padded)));
      }
    }
    EXPECT_EQ(y.Read(), ToBytes(dtype_, values));
    EXPECT_RUN(device_, AvgPool2dBackward, dy.handle(), x.handle(), taps_.get(), stride_.get(),
               pad_.get(), s_.up, padded, divisor, int8_t{0}, Handle(dx));
    EXPECT_EQ(dx.Read(), ToBytes(dtype_, GradientOfMeans(ValuesOf(dy), padded, divisor)));
  }

 private:
  Doubles GradientOfMeans(const Doubles& by, bool padded, int64_t divisor) const {
    const auto part = [&](const Axis& axis, int64_t i, bool outer) {
      const int64_t begin = axis.begin(i), end = begin + axis.taps;
      const int64_t count = padded ? std::min(end, axis.in + axis.pad) - begin
                                   : std::min(end, axis.in) - std::max(begin, int64_t{0});
      return 1 / static_cast<double>(divisor == 0 ? count : outer ? divisor : 1);
    };
    Doubles gradients;
    const int64_t width = s_.columns().out();
    for (int64_t plane = 0; plane < kPlanes; ++plane) {
      Doubles sums(static_cast<size_t>(s_.elements()), 0);
      ForWindows(s_, [&](size_t place, size_t element, int64_t) {
        const auto at = static_cast<int64_t>(place);
        sums[element] += part(s_.rows(), at / width, true) * part(s_.columns(), at % width, false) *
                         by[static_cast<size_t>(plane * s_.places()) + place];
      });
      gradients.insert(gradients.end(), sums.begin(), sums.end());
    }
    return gradients;
  }

  Dims InDims() const { return {kPlanes, s_.height, s_.width}; }
  Dims OutDims() const { return {kPlanes, s_.rows().out(), s_.columns().out()}; }
  DeviceTensor Made(const Dims& dims, const Doubles& values) {
    return Make(dtype_, dims, values, random_);
  }
  DeviceTensor Result(const Dims& dims) {
    return DeviceTensor(dtype_, RandomLayout(random_, dims, false));
  }

  const Device& device_;
  const Setting& s_;
  aclDataType dtype_;
  Random& random_;
  IntListHandle taps_{IntListSpec{{s_.high, s_.wide}}},
      stride_{IntListSpec{{s_.stride_high, s_.stride_wide}}},
      pad_{IntListSpec{{s_.pad_high, s_.pad_wide}}}, one_{IntListSpec{{1, 1}}};
};

TEST(PoolingBits, AreThoseOfWindowsInOrder) {
  UnderEachSetting([](const std::string& name, const Device& device) {
    Random random(93);
    for (const Setting& setting : kSettings) {
      for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        SCOPED_TRACE(testing::Message() << name << ", " << setting.name << ", " << dtype);
        if (setting.width > 1000 && dtype != ACL_FLOAT) continue;  // which takes long
        PoolingBits bits(device, setting, dtype, random);
        bits.LargestElements();
        if (setting.width <= 1000) bits.EveryTap();
        bits.Means(true, 0);
        bits.Means(false, 3);
        if (setting.up) bits.Means(false, 0);
      }
    }
  });
}

}  // namespace
}  // namespace openaclnn::test
