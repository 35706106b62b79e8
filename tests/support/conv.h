// SPDX-License-Identifier: Apache-2.0
// Shapes of the convolution over time and of its gradient, and what operands are rounded to.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "tests/support/cases.h"
#include "tests/support/numbers.h"
#include "tests/support/problem.h"
#include "tests/support/tables.h"

namespace openaclnn::test {

struct ConvCase {
  std::string name;
  Group group;
  int64_t in_length, batch, in_channels, out_channels, taps, pad;

  int64_t out_length() const { return in_length + 2 * pad + 1 - taps; }
  Dims input() const { return {in_length, batch, in_channels}; }
  Dims weight() const { return {taps, in_channels, out_channels}; }
  Dims output() const { return {out_length(), batch, out_channels}; }
  /// Multiplications of one product of the two.
  double products() const {
    return static_cast<double>(out_length() * batch * taps) *
           static_cast<double>(in_channels * out_channels);
  }
};

/// Pads 0 to 4 and 255, up to as many taps as there are steps, channels around the lanes of a tile.
/// Few enough elements for many runs.
ConvCase RandomConvCase(Random& random);

/// The documented table: what cubeMathType does to operands.
enum class Computed { kRefused, kAsIs, kAsHf32, kAsFloat16 };
Computed HowComputed(Family family, aclDataType dtype, int math);

/// Values as the products see them.
std::vector<double> Rounded(std::vector<double> values, Computed how);

/// What the rooms of the convolution and of its gradient have in common: `Products` products of two
/// matrices, on A2 in every type and with every cubeMathType.
template <class RoomProblem, int Products>
struct ConvRoom {
  using Case = ConvCase;
  using Problem = RoomProblem;
  static constexpr uint64_t kVariants = 12;
  static constexpr bool kFused = true;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static aclDataType TypeOf(uint64_t variant) { return kFloatDtypes[variant % 3]; }
  static Problem Make(const ConvCase& shape, uint64_t variant, const Fill& fill) {
    return Problem(shape, TypeOf(variant), fill, static_cast<int8_t>(variant / 3));
  }
  static ConvCase Random() {
    test::Random random(*rc::gen::arbitrary<uint32_t>());
    return RandomConvCase(random);
  }
  static std::vector<ConvCase> Shapes() { return {{"", kEdge, 61, 5, 21, 35, 3, 1}}; }
  static double Multiplications(const ConvCase& shape) { return Products * shape.products(); }
};

/// Every product, type and cubeMathType that goes together.
template <class Problem>
void ExpectOperandsAreRoundedAsAsked() {
  for (const ProductEntry& product : kProducts) {
    if (product.family == Family::k310P || product.family == Family::k310B) continue;
    const Device device{{"OPENACLNN_SOC", product.name}};
    for (const aclDataType dtype : kFloatDtypes) {
      for (int8_t math = 0; math < 4; ++math) {
        if (HowComputed(product.family, dtype, math) == Computed::kRefused) continue;
        SCOPED_TRACE(testing::Message() << product.name << " " << dtype << " " << int{math});
        ExpectRight(device, Problem({"", kSmoke, 5, 3, 20, 18, 3, 1}, dtype,
                                    {1, kNormal, math % 2 == 1}, math, product.family));
      }
    }
  }
}

}  // namespace openaclnn::test
