// SPDX-License-Identifier: Apache-2.0
// Reading indices and writing to places.
#include "supporting/places.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

namespace {

/// Whether all of them are in [low, limit); all are looked at, so that there is one branch.
bool AllWithin(const int64_t* indices, int64_t n, int64_t low, int64_t limit) {
  bool within = true;
  for (int64_t i = 0; i < n; ++i) within &= (indices[i] >= low) & (indices[i] < limit);
  return within;
}

}  // namespace

Status IndexReader::Read(std::byte* origin, int64_t limit, bool from_end,
                         std::vector<int64_t>* indices) const {
  indices->resize(static_cast<size_t>(walk.count()));
  int64_t* next = indices->data();
  walk.ForRunsInOrder({origin}, [&](const Walk::Pointers& at, int64_t n) {
    load(at[0], walk.step(0), n, next);
    next += n;
  });
  const int64_t low = from_end ? -limit : 0;
  if (!AllWithin(indices->data(), walk.count(), low, limit)) {
    const auto bad = std::find_if(indices->begin(), indices->end(),
                                  [&](int64_t value) { return value < low || value >= limit; });
    return Status(507035, Concat("index value ", bad - indices->begin(), " is ", *bad,
                                 ", expected ", low, " <= value < ", limit));
  }
  if (from_end) {
    for (int64_t& value : *indices) value += value < 0 ? limit : 0;
  }
  return {};
}

Status IndexReader::Check(std::byte* origin, int64_t limit, bool from_end) const {
  std::atomic<bool> within = true;
  walk.ForRuns({origin}, [&](const Walk::Pointers& at, int64_t n) {
    int64_t indices[Walk::kRun];
    load(at[0], walk.step(0), n, indices);
    if (!AllWithin(indices, n, from_end ? -limit : 0, limit)) within = false;
  });
  if (within) return {};
  std::vector<int64_t> indices;  // the first one that is not has to be named
  return Read(origin, limit, from_end, &indices);
}

Placer::Placer(const Operand& out, Placing placing, const Operand& values, const Shape& shape)
    : dtype_(out.dtype()),
      bytes_(BytesOf(out)),
      placing_(placing),
      walk_(shape, {Steps(shape, values)}),
      values_dtype_(values.dtype()) {}

Placer::Placer(const Operand& out, Placing placing, const Value& value)
    : dtype_(out.dtype()), bytes_(BytesOf(out)), placing_(placing), value_(value) {}

template <class T>
void Placer::Place(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const {
  std::vector<T> given(places.size(), value_ ? value_->As<T>() : T{});
  if (!value_) {
    const auto load = LoaderOf<T>(values_dtype_);
    size_t done = 0;
    walk_.ForRunsInOrder({values}, [&](const Walk::Pointers& at, int64_t n) {
      load(at[0], walk_.step(0), n, given.data() + done);
      done += static_cast<size_t>(n);
    });
  }
  const auto store = StorerOf<T>(dtype_);
  const auto load = LoaderOf<T>(dtype_);
  if (placing_ == Placing::kSet) {
    for (size_t i = 0; i < places.size(); ++i) store(&given[i], 1, out + places[i] * bytes_, 0);
    return;
  }
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return places[a] < places[b]; });
  const T scale = scale_ ? scale_->As<T>() : T{1};
  for (size_t i = 0; i < order.size();) {
    const int64_t place = places[order[i]];
    T total{};
    load(out + place * bytes_, 0, 1, &total);
    TreeSum<T> sum;
    sum.Add(total);
    for (; i < order.size() && places[order[i]] == place; ++i) {
      total *= given[order[i]];
      sum.Add(scale * given[order[i]]);
    }
    if (placing_ == Placing::kAdd) total = sum.Total();
    store(&total, 1, out + place * bytes_, 0);
  }
}

/// Values of out's type, whose bits stay as they are.
void Placer::Move(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const {
  auto place = places.begin();
  walk_.ForRunsInOrder({values}, [&](const Walk::Pointers& at, int64_t n) {
    for (int64_t i = 0; i < n; ++i, ++place) {
      std::memcpy(out + *place * bytes_, at[0] + i * walk_.step(0), static_cast<size_t>(bytes_));
    }
  });
}

void Placer::operator()(const std::vector<int64_t>& places, std::byte* values,
                        std::byte* out) const {
  const bool moved = placing_ == Placing::kSet && !value_ && values_dtype_ == dtype_;
  if (moved && dtype_ != ACL_BOOL) return Move(places, values, out);
  DomainOf(dtype_) == Domain::kInteger ? Place<int64_t>(places, values, out)
                                       : Place<double>(places, values, out);
}

}  // namespace openaclnn::supporting
