// SPDX-License-Identifier: Apache-2.0
// MaxUnpool2d and 3d: elements go where an index says, and zeros are around them; gradients of what
// takes elements by their numbers.
#include <cstring>
#include <vector>

#include "generated/window.h"
#include "kernels/rows/rows.h"
#include "supporting/in_turn.h"
#include "supporting/places.h"
#include "supporting/window/flat_planes.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRun = 512;

/// Spreads a plane; of several elements at one place the last one stays.
template <class Bits>
void Spread(const FlatPlanes& from, std::byte* source, const int64_t* numbers, int64_t begin,
            int64_t n, const FlatPlanes& to, std::byte* target) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to.At(target, numbers[i]), from.At(source, begin + i), sizeof(Bits));
  }
}

auto SpreadOf(int64_t bytes) {
  return bytes == 1   ? Spread<uint8_t>
         : bytes == 2 ? Spread<uint16_t>
         : bytes == 4 ? Spread<uint32_t>
                      : Spread<uint64_t>;
}

void Clear(const FlatPlanes& planes, std::byte* plane) {
  const int64_t step = planes.inside.step();
  if (step != 0) return ZeroStrided(plane, step, planes.count, planes.bytes);
  for (int64_t i = 0; i < planes.count; ++i) {
    std::memset(planes.At(plane, i), 0, static_cast<size_t>(planes.bytes));
  }
}

}  // namespace

void CheckMaxUnpool(const MaxUnpoolParams& p, Checker& checker) {
  const auto dims = static_cast<uint32_t>(p.dims);
  checker.RankBetween(p.self, dims + 1, dims + 2).SameDtype(p.out, p.self);
  CheckIndexType(p.indices, checker);
  if (!checker.ok()) return;
  CheckShape(p.indices, ShapeOf(p.self), checker);
  CheckAxes(p.outputSize, dims, 0, checker);
  if (p.windows) CheckAxes(p.stride, dims, 1, checker);
  if (p.windows) CheckAxes(p.padding, dims, 0, checker);
  if (!checker.ok()) return;
  std::array<int64_t, 3> lengths{};
  for (uint32_t i = 0; i < dims; ++i) lengths[i] = AtAxis(p.outputSize, i);
  CheckPlanes(p.out, p.self, std::span(lengths.data(), dims), checker);
}

Plan PlanMaxUnpool(const MaxUnpoolParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const auto dims = static_cast<uint32_t>(p.dims);
  const FlatPlanes from(p.self, dims), told(p.indices, dims), to(p.out, dims);
  const IndexReader reader(p.indices, ShapeOf(p.indices));
  return {0,
          [=, read = LoaderOf<int64_t>(p.indices.dtype()),
           spread = SpreadOf(from.bytes)](const Buffers& buffers) -> Status {
            Status status = reader.Check(told.place(buffers), to.count, false);
            if (!status.ok()) return status;
            ParallelRows(to.planes, to.count + from.count, [&](int64_t plane) {
              std::byte* const target = to.Plane(buffers, plane);
              Clear(to, target);
              std::array<int64_t, kRun> numbers;
              for (int64_t begin = 0; begin < from.count; begin += kRun) {
                const int64_t n = std::min(kRun, from.count - begin);
                told.Load(read, told.Plane(buffers, plane), begin, n, numbers.data());
                spread(from, from.Plane(buffers, plane), numbers.data(), begin, n, to, target);
              }
            });
            return {};
          }};
}

Plan PlanSumsByNumber(const Tensor& gradients, const Tensor& numbers, const Tensor& out,
                      uint32_t dims) {
  if (out.empty()) return Nothing();
  const FlatPlanes from(gradients, dims), told(numbers, dims), to(out, dims);
  const IndexReader reader(numbers, ShapeOf(numbers));
  return {0,
          [=, load = LoaderOf<double>(gradients.dtype()), store = StorerOf<double>(out.dtype()),
           read = LoaderOf<int64_t>(numbers.dtype())](const Buffers& buffers) -> Status {
            Status status = reader.Check(told.place(buffers), to.count, false);
            if (!status.ok()) return status;
            ParallelRows(to.planes, to.count + from.count, [&](int64_t plane) {
              std::vector<double> sums(static_cast<size_t>(to.count));
              std::array<int64_t, kRun> at;
              std::array<double, kRun> terms;
              for (int64_t begin = 0; begin < from.count; begin += kRun) {
                const int64_t n = std::min(kRun, from.count - begin);
                told.Load(read, told.Plane(buffers, plane), begin, n, at.data());
                from.Load(load, from.Plane(buffers, plane), begin, n, terms.data());
                for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(at[i])] += terms[i];
              }
              to.Store(store, sums.data(), to.count, to.Plane(buffers, plane), 0);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
