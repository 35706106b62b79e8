// SPDX-License-Identifier: Apache-2.0
// What the definition says of strided views, in numbers wide enough for any 64-bit ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace openaclnn::test {

using Wide = __int128;
using Numbers = std::vector<int64_t>;

/// An operand as a client describes it; its first element of storage is number `base` of a block.
struct GivenView {
  Numbers dims, strides, storage;
  int64_t offset = 0, base = 0;
  bool dense = false;  // strides are left to the library
  bool null = false;   // no address
};

inline constexpr Wide kLimit = Wide{1} << 63;
inline constexpr int64_t kCounted = 4096;  // elements that are looked at one by one

/// The product, where it is below 2^63 and no dimension is negative.
inline std::optional<int64_t> CountOf(const Numbers& dims) {
  Wide count = 1;
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) return {};
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  for (const int64_t dim : dims) {
    count *= dim;
    if (count >= kLimit) return {};
  }
  return static_cast<int64_t>(count);
}

/// Dense rows, where their strides are numbers at all.
inline std::optional<Numbers> RowsOf(const Numbers& dims) {
  Numbers strides(dims.size());
  Wide step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (step >= kLimit || step <= -kLimit) return {};
    strides[i] = static_cast<int64_t>(step);
    step *= dims[i];
  }
  return strides;
}

/// The first and the last element of storage that a view with elements reaches.
inline std::pair<Wide, Wide> ReachOf(const GivenView& view) {
  std::pair<Wide, Wide> reach = {view.offset, view.offset};
  for (size_t i = 0; i < view.dims.size(); ++i) {
    const Wide last = Wide{view.dims[i] - 1} * view.strides[i];
    (last < 0 ? reach.first : reach.second) += last;
  }
  return reach;
}

/// Where each element of a small view lies, in order of the indices.
inline std::vector<Wide> PlacesOf(const GivenView& view) {
  if (CountOf(view.dims) == 0) return {};  // whatever the other dimensions are
  std::vector<Wide> places = {view.offset};
  for (size_t i = 0; i < view.dims.size(); ++i) {
    std::vector<Wide> next;
    for (const Wide place : places) {
      for (int64_t x = 0; x < view.dims[i]; ++x) next.push_back(place + Wide{x} * view.strides[i]);
    }
    places = std::move(next);
  }
  return places;
}

enum class Answer { kNo, kYes, kUnknown };

/// Whether two indices are one element, which the size alone decides for large views.
inline Answer MeetsItself(const GivenView& view, int64_t count) {
  if (count <= kCounted) {
    const std::vector<Wide> places = PlacesOf(view);
    return std::set<Wide>(places.begin(), places.end()).size() < places.size() ? Answer::kYes
                                                                               : Answer::kNo;
  }
  const auto [first, last] = ReachOf(view);
  if (Wide{count} > last - first + 1) return Answer::kYes;
  std::vector<std::pair<Wide, int64_t>> steps;
  for (size_t i = 0; i < view.dims.size(); ++i) {
    const Wide step = view.strides[i];
    if (view.dims[i] > 1) steps.emplace_back(step < 0 ? -step : step, view.dims[i]);
  }
  std::sort(steps.begin(), steps.end());
  Wide reach = 0;
  for (const auto& [step, dim] : steps) {
    if (step == 0) return Answer::kYes;
    if (step <= reach) return Answer::kUnknown;
    reach += step * (dim - 1);
  }
  return Answer::kNo;
}

/// Whether a block of so many elements holds all that the view reaches, whatever the count that
/// its storage was given as.
inline bool FitsItsBlock(const GivenView& view, int64_t block) {
  return view.storage.size() <= 1 && !view.null && view.base + ReachOf(view).second < block;
}

/// Whether the shapes are numbers, and the elements lie in a storage that a memory may have.
inline bool FitsItsStorage(const GivenView& view, int64_t element_bytes, int64_t block) {
  const auto count = CountOf(view.dims), storage = CountOf(view.storage);
  if (!count || !storage) return false;
  if (*count == 0) return true;
  const auto [first, last] = ReachOf(view);
  return first >= 0 && Wide{*storage} * element_bytes < kLimit &&
         (last < *storage || FitsItsBlock(view, block));
}

/// What both shapes can be repeated to, if there is one.
inline std::optional<Numbers> Together(const Numbers& a, const Numbers& b) {
  Numbers shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {  // from the last on
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return {};
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

}  // namespace openaclnn::test
