// SPDX-License-Identifier: Apache-2.0
// A room for the fuzzer: any of its calls is right, and has the same bits whatever the instruction
// set and the number of threads.
//
// A room's fuzz.cc defines Choose(Decisions&, Case*) and a FuzzedRoom.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/problem.h"

namespace openaclnn::fuzz {

/// Few, around a multiple of a group of lanes, or any.
inline int64_t Length(Decisions& choose, int64_t most) {
  const uint32_t kind = choose.Below(4);
  const int64_t length = kind == 0   ? choose.Below(6)
                         : kind == 1 ? 16 * (1 + choose.Below(8)) - 1 + choose.Below(3)
                         : kind == 2 ? choose.Below(256)
                                     : 5 * choose.Below(256);
  return std::min(length, most);
}

/// Of rows, so that a tensor stays small.
inline int64_t Width(Decisions& choose, int64_t rows) {
  return Length(choose, 20000 / std::max<int64_t>(rows, 1));
}

inline test::Random Numbers(Decisions& choose) {
  return test::Random(choose.Below(256) << 8 | choose.Below(256));
}

/// Bytes that replace those of an input's element: NaNs with a payload, infinities, subnormals, the
/// largest, ones and zeros; for integers far out of range.
struct Patch {
  size_t operand, element;
  uint32_t pattern;
};
std::vector<Patch> Patches(Decisions& choose);
void Apply(const std::vector<Patch>& patches, const test::OperatorProblem& problem);

struct Setting {
  const char *simd, *threads;

  /// Empty on a machine without the instruction set.
  std::unique_ptr<test::Device> Start() const;
};
inline constexpr Setting kSettings[] = {
    {"avx2", "1"}, {"baseline", "2"}, {"avx512", "2"}, {"avx512bf16", "3"}, {"amx", "3"}};

/// What no setting may change.
struct Result {
  int code;
  std::vector<std::vector<std::byte>> outputs;

  bool operator==(const Result&) const = default;
};

/// Without fused multiply-adds sums of products have bits of their own.
template <class Room>
bool HasOwnBits(const Setting& setting) {
  return Room::kFused && setting.simd == std::string("baseline");
}

template <class Room>
void Try(Decisions& choose) {
  typename Room::Case shape;
  Choose(choose, &shape);
  const uint64_t variant = (choose.Below(256) << 8 | choose.Below(256)) % Room::kVariants;
  const test::Fill fill = {choose.Below(256), static_cast<test::Values>(choose.Below(4)),
                           choose.Below(2) == 1};
  const std::vector<Patch> patches = Patches(choose);
  std::optional<Result> first;
  for (const Setting& setting : kSettings) {
    const auto device = setting.Start();
    if (device == nullptr) continue;
    const auto problem = Room::Make(shape, variant, fill);
    Apply(patches, problem);
    Result result = {problem.Run(*device).code, {}};
    result.outputs = problem.Outputs();
    if (patches.empty()) {
      Must(result.code == 0, problem.api(), result.code);
      Must(static_cast<bool>(problem.IsRight()), problem.api());
    }
    if (HasOwnBits<Room>(setting)) continue;
    if (!first) {
      first = std::move(result);
    } else {
      Must(*first == result, "the bits or the code are others under another setting", result.code);
    }
  }
}

/// Adds a room to those that inputs choose from, in the order of their names.
struct FuzzedRoom {
  FuzzedRoom(const char* api, void (*attempt)(Decisions&));
};

}  // namespace openaclnn::fuzz
