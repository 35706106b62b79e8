// SPDX-License-Identifier: Apache-2.0
// MaxPool3dWithArgmax and AdaptiveMaxPool2d and 3d have the first of the largest elements that the
// test finds place by place, and their numbers: of odd sizes, views, NaNs and infinities, under
// each setting.
#include "supporting/family_test.h"
#include "tests/support/bits.h"

namespace openaclnn::test {
namespace {

/// The elements of a dimension that a place has: begin, begin + step, ….
struct Taps {
  int64_t begin, count, step;
};

struct Axis {
  int64_t in, out;
  std::function<Taps(int64_t place)> taps;
};

Axis Windows(int64_t in, int64_t taps, int64_t stride, int64_t pad, int64_t dilation, bool up) {
  const int64_t room = in + 2 * pad - dilation * (taps - 1) - 1 + (up ? stride - 1 : 0);
  int64_t out = room / stride + 1;
  if (up && (out - 1) * stride >= in + pad) --out;
  return {in, out, [=](int64_t place) -> Taps { return {place * stride - pad, taps, dilation}; }};
}

Axis Shares(int64_t in, int64_t out) {
  return {in, out, [=](int64_t place) -> Taps {
            const int64_t begin = place * in / out, end = ((place + 1) * in + out - 1) / out;
            return {begin, end - begin, 1};
          }};
}

struct Largest {
  Doubles values, numbers;
};

/// NaN is the largest.
Largest LargestOf(const std::vector<Axis>& axes, const Doubles& x, int64_t volumes) {
  Largest found;
  const int64_t each = axes[0].in * axes[1].in * axes[2].in;
  for (int64_t place = 0; place < volumes * axes[0].out * axes[1].out * axes[2].out; ++place) {
    const int64_t k = place % axes[2].out, j = place / axes[2].out % axes[1].out;
    const int64_t i = place / axes[2].out / axes[1].out % axes[0].out;
    const int64_t volume = place / axes[2].out / axes[1].out / axes[0].out;
    const Taps deep = axes[0].taps(i), high = axes[1].taps(j), wide = axes[2].taps(k);
    double largest = 0, number = -1;
    for (int64_t tap = 0; tap < deep.count * high.count * wide.count; ++tap) {
      const int64_t at[] = {deep.begin + tap / wide.count / high.count * deep.step,
                            high.begin + tap / wide.count % high.count * high.step,
                            wide.begin + tap % wide.count * wide.step};
      bool inside = true;
      for (size_t d = 0; d < 3; ++d) inside = inside && at[d] >= 0 && at[d] < axes[d].in;
      if (!inside) continue;
      const int64_t own = (at[0] * axes[1].in + at[1]) * axes[2].in + at[2];
      const double value = x[static_cast<size_t>(volume * each + own)];
      const bool nan = std::isnan(value) && !std::isnan(largest);
      if (number >= 0 && !(value > largest) && !nan) continue;
      largest = value;
      number = static_cast<double>(own);
    }
    found.values.push_back(largest);
    found.numbers.push_back(number);
  }
  return found;
}

/// Numbers that meet again and again, and some that are special.
Doubles Crowded(Random& random, int64_t count) {
  Doubles values = SmallValues(random, count, -4, 4);
  for (double& value : values) {
    const int64_t chance = Uniform(random, 0, 50);
    value = chance == 0 ? NAN : chance == 1 ? INFINITY : chance < 12 ? -INFINITY : value;
  }
  return values;
}

constexpr int64_t kVolumes = 3;

struct Made {
  Made(const std::vector<Axis>& axes, size_t dims, aclDataType dtype, aclDataType index,
       Random& random)
      : in{kVolumes}, out{kVolumes} {
    for (size_t d = 3 - dims; d < 3; ++d) {
      in.push_back(axes[d].in);
      out.push_back(axes[d].out);
    }
    const Doubles values = Crowded(random, kVolumes * axes[0].in * axes[1].in * axes[2].in);
    x = std::make_unique<DeviceTensor>(Make(dtype, in, values, random));
    y = std::make_unique<DeviceTensor>(dtype, RandomLayout(random, out, false));
    numbers = std::make_unique<DeviceTensor>(index, RandomLayout(random, out, false));
  }
  void Expect(const std::vector<Axis>& axes) const {
    const Largest want = LargestOf(axes, ValuesOf(*x), kVolumes);
    EXPECT_EQ(y->Read(), ToBytes(y->dtype(), want.values));
    EXPECT_EQ(ValuesOf(*numbers), want.numbers);
    EXPECT_EQ(y->Damage(), "");
    EXPECT_EQ(numbers->Damage(), "");
  }

  Dims in, out;
  std::unique_ptr<DeviceTensor> x, y, numbers;
};

struct Pooling {
  Dims in, taps, stride, pad, dilation;
  bool up;
};
const Pooling kPoolings[] = {
    {{5, 9, 37}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, false},
    {{4, 7, 18}, {2, 3, 5}, {1, 2, 3}, {1, 0, 2}, {1, 2, 1}, true},
    {{6, 5, 33}, {2, 2, 3}, {3, 1, 1}, {0, 1, 1}, {2, 1, 3}, false},
    {{3, 3, 1}, {3, 2, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}, false},
    {{2, 3, 140}, {2, 2, 9}, {2, 2, 7}, {0, 0, 4}, {1, 1, 1}, true},
};

TEST(MaxVolumes, OfWindows) {
  UnderEachSetting([](const std::string& name, const Device& device) {
    Random random(61);
    for (const Pooling& of : kPoolings) {
      for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        SCOPED_TRACE(testing::Message() << name << ", " << of.in[2] << " wide, " << dtype);
        std::vector<Axis> axes;
        for (size_t d = 0; d < 3; ++d) {
          axes.push_back(
              Windows(of.in[d], of.taps[d], of.stride[d], of.pad[d], of.dilation[d], of.up));
        }
        const Made made(axes, 3, dtype, dtype == ACL_BF16 ? ACL_INT64 : ACL_INT32, random);
        const IntListHandle taps(IntListSpec{of.taps}), stride(IntListSpec{of.stride}),
            pad(IntListSpec{of.pad}), dilation(IntListSpec{of.dilation});
        EXPECT_RUN(device, MaxPool3dWithArgmax, made.x->handle(), taps.get(), stride.get(),
                   pad.get(), dilation.get(), of.up, Handle(*made.y), Handle(*made.numbers));
        made.Expect(axes);
      }
    }
  });
}

struct Sharing {
  Dims in, out;
};
const Sharing kSharings[] = {
    {{1, 13, 29}, {1, 5, 7}},  {{1, 8, 64}, {1, 4, 16}},  {{1, 6, 21}, {1, 11, 50}},
    {{1, 3, 5}, {1, 1, 1}},    {{7, 5, 33}, {3, 4, 20}},  {{2, 2, 19}, {5, 3, 19}},
    {{1, 2, 300}, {1, 2, 31}}, {{1, 40, 9}, {1, 3, 200}},
};

TEST(MaxVolumes, OfShares) {
  UnderEachSetting([](const std::string& name, const Device& device) {
    Random random(62);
    for (const Sharing& of : kSharings) {
      const bool flat = of.in[0] == 1;
      for (const aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}) {
        SCOPED_TRACE(testing::Message() << name << ", " << of.in[2] << " wide, " << dtype);
        std::vector<Axis> axes;
        for (size_t d = 0; d < 3; ++d) axes.push_back(Shares(of.in[d], of.out[d]));
        const Made made(axes, flat ? 2 : 3, dtype, dtype == ACL_BF16 ? ACL_INT32 : ACL_INT64,
                        random);
        const IntListHandle size(
            IntListSpec{flat ? Dims{of.out[1], of.out[2]} : Dims{of.out[0], of.out[1], of.out[2]}});
        if (flat) {
          EXPECT_RUN(device, AdaptiveMaxPool2d, made.x->handle(), size.get(), Handle(*made.y),
                     Handle(*made.numbers));
        } else {
          EXPECT_RUN(device, AdaptiveMaxPool3d, made.x->handle(), size.get(), Handle(*made.y),
                     Handle(*made.numbers));
        }
        made.Expect(axes);
      }
    }
  });
}

}  // namespace
}  // namespace openaclnn::test
