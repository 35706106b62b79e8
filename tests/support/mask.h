// SPDX-License-Identifier: Apache-2.0
// Masks of rank 4 whose first two dimensions may be 1 and then stand for all of the data's.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/problem.h"
#include "tests/support/small_stack.h"
#include "tests/support/tables.h"

namespace openaclnn::test {

enum MaskMode { kMaskOfEach, kMaskOfBatch, kMaskOfHead, kMaskOfAll };

inline constexpr std::array kMaskModes = {kMaskOfEach, kMaskOfBatch, kMaskOfHead, kMaskOfAll};

struct MaskCase {
  std::string name;
  Group group;
  Dims dims;
  MaskMode mask;
  int64_t percent;  // of the mask's elements that are true
  double scale;
};

inline Dims MaskDims(Dims data, MaskMode mode) {
  if (mode == kMaskOfHead || mode == kMaskOfAll) data[0] = 1;
  if (mode == kMaskOfBatch || mode == kMaskOfAll) data[1] = 1;
  return data;
}

/// `percent` of the bytes are true: any byte but 0.
inline std::vector<std::byte> RandomMask(Random& random, int64_t count, int64_t percent) {
  std::vector<std::byte> mask(static_cast<size_t>(count));
  for (std::byte& byte : mask) {
    if (Uniform(random, 1, 100) <= percent) byte = static_cast<std::byte>(Uniform(random, 1, 255));
  }
  return mask;
}

/// The byte of each element of the data.
inline std::vector<uint8_t> BroadcastMask(const Dims& data, const Dims& mask,
                                          const std::vector<std::byte>& bytes) {
  Layout layout = DenseLayout(mask);
  layout.dims = data;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (mask[axis] == 1) layout.strides[axis] = 0;
  }
  std::vector<uint8_t> result(static_cast<size_t>(layout.count()));
  ForEachElement(layout, [&](int64_t at, int64_t i) {
    result[static_cast<size_t>(i)] = static_cast<uint8_t>(bytes[static_cast<size_t>(at)]);
  });
  return result;
}

/// What the rooms of the masked softmax and of its gradient have in common. No product is fused
/// with a sum: the exponential uses no fused operation either.
template <class RoomProblem>
struct MaskRoom {
  using Case = MaskCase;
  using Problem = RoomProblem;
  static constexpr uint64_t kVariants = 3;
  static constexpr bool kFused = false;
  static constexpr Group kBitsUpTo = kReal;
  static constexpr std::array<uint64_t, 3> kTimed = {0, 1, 2};

  static aclDataType TypeOf(uint64_t variant) { return kFloatDtypes[variant]; }
  static Problem Make(const MaskCase& shape, uint64_t variant, const Fill& fill) {
    return Problem(shape, TypeOf(variant), fill);
  }
  static MaskCase Random() {
    MaskCase shape{"", kSmoke, {}, kMaskOfEach, 0, 0};
    for (int axis = 0; axis < 3; ++axis) shape.dims.push_back(*rc::gen::element(0, 1, 1, 2, 3, 5));
    shape.dims.push_back(*rc::gen::element(1, 2, 3, 7, 15, 16, 17, 33, 64, 100, 257, 1030, 4096));
    shape.mask = *rc::gen::elementOf(kMaskModes);
    shape.percent = *rc::gen::element(0, 10, 50, 90, 100);
    shape.scale = *rc::gen::element(1.0, 0.125, -3.0, 1.0 / 3, 1e-3, 30.0, 1e4);
    return shape;
  }
  static std::vector<MaskCase> Shapes() {
    return {{"", kEdge, {2, 3, 5, 30}, kMaskOfEach, 30, 0.5},
            {"", kEdge, {2, 3, 5, 301}, kMaskOfBatch, 30, 0.5}};
  }
};

/// Every broadcast of the mask, in every type and many views.
template <class Room>
void ExpectEveryMaskInEveryView() {
  const Device device;
  for (const MaskMode mode : kMaskModes) {
    for (uint64_t seed = 0; seed < 36; ++seed) {
      SCOPED_TRACE(testing::Message() << mode << " " << seed);
      ExpectRight(device, Room::Make({"", kEdge, {2, 3, 4, 37}, mode, 40, 0.5}, seed % 3,
                                     {seed, kNormal, seed > 2}));
    }
  }
}

/// No workspace but for rows whose elements lie apart, and, since whoever synchronises may run the
/// task, a stack that is small.
template <class Room>
void ExpectLittleWorkspaceAndStack() {
  const Device device({{"OPENACLNN_NUM_THREADS", "1"}});
  for (const bool strided : {false, true}) {
    const auto problem =
        Room::Make({"", kEdge, {1, 1, 2, 4096}, kMaskOfEach, 30, 0.5}, 0, {1, kNormal, strided});
    const auto least = static_cast<uint64_t>(problem.LeastBytes());
    EXPECT_LE(problem.Plan().workspace_size(), strided ? least + least / 10 : 0u);
    OnSmallStack([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      for (int i = 0; i < 50; ++i) ASSERT_EQ(problem.Run(device).message, "");
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
    EXPECT_TRUE(problem.IsRight());
  }
}

/// As long as 950 has them.
template <class Room>
void ExpectRowsOf8192On950() {
  const Device device{{"OPENACLNN_SOC", "Ascend950PR_9579"}};
  for (const int64_t width : {4097, 5000, 8191, 8192}) {
    for (const bool strided : {false, true}) {
      for (const Values values : {kNormal, kEqual}) {
        ExpectRight(device, Room::Make({"", kEdge, {1, 2, 3, width}, kMaskOfHead, 30, 0.5}, 0,
                                       {static_cast<uint64_t>(width), values, strided}));
      }
    }
  }
}

}  // namespace openaclnn::test
