// SPDX-License-Identifier: Apache-2.0
// Shapes of NSA compression and of its gradient: windows that slide over segments of tokens.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/cases.h"
#include "tests/support/int_list.h"
#include "tests/support/problem.h"

namespace openaclnn::test {

struct WindowCase {
  std::string name;
  Group group;
  Dims ends;  // of the segments; none: one segment
  int64_t tokens, heads, width, block, stride;
};

/// First token of each window, found by sliding over every segment.
std::vector<int64_t> WindowStarts(const WindowCase& shape);

/// The list of a case; null where it has none.
IntListSpec ListOf(const WindowCase& shape);

/// Some segments, empty and short ones among them, and at least one window; stride < block, or up
/// to it if `may_abut`. Few enough elements for many runs.
WindowCase RandomWindowCase(Random& random, bool may_abut);

/// What the rooms of NSA compression and of its gradient have in common; `MayAbut`: windows may.
template <class RoomProblem, bool MayAbut>
struct WindowRoom {
  using Case = WindowCase;
  using Problem = RoomProblem;
  static constexpr uint64_t kVariants = 2;
  static constexpr bool kFused = true;
  static constexpr Group kBitsUpTo = kEdge;
  static constexpr std::array<uint64_t, 2> kTimed = {0, 1};

  static aclDataType TypeOf(uint64_t variant) { return variant == 0 ? ACL_FLOAT16 : ACL_BF16; }
  static Problem Make(const WindowCase& shape, uint64_t variant, const Fill& fill) {
    return Problem(shape, TypeOf(variant), fill);
  }
  static WindowCase Random() {
    test::Random random(*rc::gen::arbitrary<uint32_t>());
    return RandomWindowCase(random, MayAbut);
  }
  static std::vector<WindowCase> Shapes() {
    return {{"", kEdge, {0, 70, 83, 171}, 171, 5, 48, 48, 32}};
  }
};

/// Not a number and infinities anywhere in the inputs.
template <class Room>
void ExpectNonFiniteValuesFlow() {
  const Device device;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto problem =
        Room::Make(RandomWindowCase(random, false), seed % 2, {seed, kNormal, seed % 4 >= 2});
    for (const CallOperand& operand : problem.operands()) {
      if (operand.is_output()) continue;
      std::vector<double> values = ValuesOf(*operand.tensor);
      for (int64_t n = Uniform(random, 0, 2); n > 0; --n) {
        const auto last = static_cast<int64_t>(values.size()) - 1;
        values[static_cast<size_t>(Uniform(random, 0, last))] = specials[Uniform(random, 0, 2)];
      }
      OperatorProblem::Set(const_cast<DeviceTensor*>(operand.tensor), values);
    }
    ExpectRight(device, problem);
  }
}

}  // namespace openaclnn::test
