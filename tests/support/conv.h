// SPDX-License-Identifier: Apache-2.0
// Shapes of the convolution over time and of its gradient, and what operands are rounded to.
#pragma once

#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "tests/support/cases.h"
#include "tests/support/numbers.h"
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

}  // namespace openaclnn::test
