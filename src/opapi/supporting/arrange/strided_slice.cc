// SPDX-License-Identifier: Apache-2.0
// StridedSlice: a tensor indexed as NumPy does it, by slices, places, new dimensions and an
// ellipsis, which bits of masks say.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "generated/arrange.h"
#include "supporting/along.h"
#include "supporting/arrange/view.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

bool Has(int64_t mask, size_t i) { return i < 64 && (static_cast<uint64_t>(mask) >> i & 1) != 0; }

/// The view that a call makes: out's shape, and where its elements are in self, in bytes.
struct Slicing {
  Shape shape = {}, steps = {};
  int64_t offset = 0;
};

/// One entry of begin, end and strides.
struct Entry {
  int64_t begin, end, stride;
  bool from_start, to_end;  // begin or end does not count
};

/// Takes a dimension from an entry, as NumPy slices: ends are counted from the end where negative,
/// and cut off.
void AddSlice(const Entry& entry, int64_t length, int64_t step, Slicing* slicing) {
  const bool up = entry.stride > 0;
  const int64_t low = up ? 0 : -1, high = up ? length : length - 1;
  const auto within = [&](int64_t place) {
    return std::clamp(place < 0 ? place + length : place, low, high);
  };
  const int64_t begin = entry.from_start ? (up ? 0 : length - 1) : within(entry.begin);
  const int64_t end = entry.to_end ? (up ? length : -1) : within(entry.end);
  const int64_t span = up ? end - begin : begin - end;
  // The magnitude of a stride that is longer than the dimension does not matter.
  const int64_t stride = std::clamp(entry.stride, -length - 1, length + 1);
  const int64_t count = span <= 0 ? 0 : (span - 1) / std::abs(stride) + 1;
  slicing->shape.push_back(count);
  slicing->steps.push_back(WrappingProduct(step, count > 1 ? stride : 0));
  if (count > 0) slicing->offset += WrappingProduct(step, begin);
}

/// Reads the entries in order: the lists are of one size, and the mask names one ellipsis at most.
/// Says in *wrong why there is no view.
std::optional<Slicing> SlicingOf(const StridedSliceParams& p, std::string* wrong) {
  const auto begin = p.begin.values(), end = p.end.values(), strides = p.strides.values();
  const uint32_t rank = p.self.rank();
  const Shape steps = StepsOf(p.self);
  size_t taken = 0;  // dimensions of self that entries name
  for (size_t i = 0; i < begin.size(); ++i) {
    if (!Has(p.ellipsisMask, i) && !Has(p.newAxisMask, i)) ++taken;
  }
  if (taken > rank) {
    *wrong = Concat("begin size is ", begin.size(), ", expected entries for at most ", rank,
                    " dimensions of self, ", ShapeText(p.self));
    return {};
  }
  Slicing slicing;
  uint32_t dim = 0;
  const auto pass = [&](size_t count) {
    for (size_t k = 0; k < count; ++k, ++dim) {
      slicing.shape.push_back(p.self.dim(dim));
      slicing.steps.push_back(steps[dim]);
    }
  };
  for (size_t i = 0; i < begin.size(); ++i) {
    if (Has(p.ellipsisMask, i)) {
      pass(rank - taken);
    } else if (Has(p.newAxisMask, i)) {
      slicing.shape.push_back(1);
      slicing.steps.push_back(0);
    } else if (Has(p.shrinkAxisMask, i)) {
      const int64_t length = p.self.dim(dim), place = begin[i] + (begin[i] < 0 ? length : 0);
      if (place < 0 || place >= length) {
        *wrong = Concat("begin value is ", begin[i], ", expected a place in dimension ", dim,
                        " of self, ", ShapeText(p.self));
        return {};
      }
      slicing.offset += WrappingProduct(steps[dim++], place);
    } else {
      const Entry entry = {begin[i], end[i], strides[i], Has(p.beginMask, i), Has(p.endMask, i)};
      AddSlice(entry, p.self.dim(dim), steps[dim], &slicing);
      ++dim;
    }
  }
  pass(rank - dim);
  return slicing;
}

}  // namespace

void CheckStridedSlice(const StridedSliceParams& p, Checker& checker) {
  const size_t count = p.begin.values().size();
  for (const IntList* each : {&p.end, &p.strides}) {
    checker.That(each->values().size() == count, [&] {
      return Concat(each->name(), " size is ", each->values().size(), ", expected that of begin, ",
                    count);
    });
  }
  checker.That(std::popcount(static_cast<uint64_t>(p.ellipsisMask)) <= 1, [&] {
    return Concat("ellipsisMask value is ", p.ellipsisMask, ", expected one bit at most");
  });
  if (!checker.ok()) return;
  for (size_t i = 0; i < count; ++i) {
    const int64_t stride = p.strides.values()[i];
    const bool counts = !Has(p.ellipsisMask, i) && !Has(p.newAxisMask, i);
    const bool fits = !counts || (Has(p.shrinkAxisMask, i) ? stride > 0 : stride != 0);
    checker.That(fits, [&] {
      return Concat("strides value is ", stride, ", expected one ",
                    Has(p.shrinkAxisMask, i) ? "above 0" : "that is not 0");
    });
  }
  std::string wrong;
  const auto slicing = SlicingOf(p, &wrong);
  checker.That(slicing.has_value(), [&] { return wrong; });
  checker.SameDtype(p.out, p.self);
  if (slicing) CheckShape(p.out, slicing->shape, checker);
}

Plan PlanStridedSlice(const StridedSliceParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  std::string wrong;
  Slicing slicing = *SlicingOf(p, &wrong);
  return MakeCopy(p.self, p.out, std::move(slicing.steps), slicing.offset);
}

}  // namespace openaclnn::supporting
