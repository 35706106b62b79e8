// SPDX-License-Identifier: Apache-2.0
// Random shapes of convolutions, and the table of cubeMathType.
#include "tests/support/conv.h"

namespace openaclnn::test {
namespace {

constexpr BinaryFormat kHf32Format = {11, -126, 127};

}  // namespace

ConvCase RandomConvCase(Random& random) {
  constexpr int64_t kPads[] = {0, 0, 1, 2, 3, 4, 255};
  constexpr int64_t kChannels[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};
  const auto pick = [&](const auto& list) {
    return list[Uniform(random, 0, static_cast<int64_t>(std::size(list)) - 1)];
  };
  ConvCase shape{"", kEdge, 0, 0, 0, 0, 0, pick(kPads)};
  shape.in_channels = pick(kChannels);
  shape.out_channels = pick(kChannels);
  shape.batch = Uniform(random, 1, shape.pad == 255 ? 2 : 9);
  shape.in_length = Uniform(random, 1, 20);
  shape.taps = Uniform(random, 1, std::min<int64_t>(shape.in_length + 2 * shape.pad, 7));
  if (shape.pad == 255 && Uniform(random, 0, 1) == 1) {
    shape.taps = 255;
    shape.in_channels = shape.out_channels = Uniform(random, 1, 3);
  }
  return shape;
}

Computed HowComputed(Family family, aclDataType dtype, int math) {
  if (dtype == ACL_FLOAT16) return Computed::kAsIs;
  if (family == Family::k910) {
    const bool is_float = dtype == ACL_FLOAT && (math == 1 || math == 2);
    return is_float ? Computed::kAsFloat16 : Computed::kRefused;
  }
  if (math == 2) return Computed::kAsFloat16;
  const bool is_hf32 = dtype == ACL_FLOAT && (math == 1 || math == 3);
  return is_hf32 ? Computed::kAsHf32 : Computed::kAsIs;
}

std::vector<double> Rounded(std::vector<double> values, Computed how) {
  for (double& value : values) {
    if (how == Computed::kAsHf32) value = Round(kHf32Format, value);
    if (how == Computed::kAsFloat16) value = Round(kHalf, value);
  }
  return values;
}

}  // namespace openaclnn::test
