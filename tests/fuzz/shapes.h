// SPDX-License-Identifier: Apache-2.0
// Shapes for the fuzzer that a forward and its gradient share.
#pragma once

#include "tests/fuzz/room.h"
#include "tests/support/conv.h"
#include "tests/support/mask.h"
#include "tests/support/windows.h"

namespace openaclnn::fuzz {

inline void Choose(Decisions& choose, test::MaskCase* shape) {
  constexpr double kScales[] = {1, 0.125, -3, 1.0 / 3, 1e-3, 30, 1e4};
  *shape = {"", test::kEdge, {}, test::kMaskModes[choose.Below(4)], 0, 0};
  for (int axis = 0; axis < 3; ++axis) shape->dims.push_back(choose.Below(5));
  shape->dims.push_back(
      std::max<int64_t>(Width(choose, shape->dims[0] * shape->dims[1] * shape->dims[2]), 1));
  shape->percent = 25 * choose.Below(5);
  shape->scale = kScales[choose.Below(std::size(kScales))];
}

inline void Choose(Decisions& choose, test::ConvCase* shape) {
  test::Random random = Numbers(choose);
  *shape = test::RandomConvCase(random);
}

inline void Choose(Decisions& choose, test::WindowCase* shape) {
  test::Random random = Numbers(choose);
  *shape = test::RandomWindowCase(random, false);  // that abut the gradient refuses
}

}  // namespace openaclnn::fuzz
