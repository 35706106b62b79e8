// SPDX-License-Identifier: Apache-2.0
// Routing: tokens in the order of the experts that they chose, as they are or quantised.
#include "supporting/experts/routing.h"

#include <algorithm>
#include <numeric>

#include "generated/experts.h"
#include "kernels/rows/rows.h"
#include "supporting/experts/quantised.h"
#include "supporting/experts/values.h"

namespace openaclnn::supporting {

std::vector<int64_t> OrderOf(const std::vector<int64_t>& keys) {
  std::vector<int64_t> order(keys.size());
  const int64_t largest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  if (largest > 4 * std::ssize(keys) + 4096) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
    });
    return order;
  }
  std::vector<int64_t> next(static_cast<size_t>(largest) + 2);
  for (const int64_t key : keys) ++next[static_cast<size_t>(key) + 1];
  Accumulate(&next);
  for (size_t i = 0; i < keys.size(); ++i) {
    order[static_cast<size_t>(next[static_cast<size_t>(keys[i])]++)] = static_cast<int64_t>(i);
  }
  return order;
}

std::vector<int64_t> PlacesOf(const std::vector<int64_t>& order) {
  std::vector<int64_t> places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return places;
}

void Accumulate(std::vector<int64_t>* counts) {
  std::partial_sum(counts->begin(), counts->end(), counts->begin());
}

namespace {

enum class Counting { kNone, kTotals, kCounts, kPairs };
constexpr int64_t kStatic = 0, kDynamic = 1;  // quantMode; others move the tokens unchanged

/// A call of any version but the first.
struct Routing {
  const Tensor &x, &experts, &scale, &offset, &out, &places, &counts, &before, &scales;
  int64_t active, capacity, number;  // capacity 0: no token is dropped, no row is padded
  int64_t first, end;                // the experts that take part
  Counting counting;
  bool asks_before = false;
  bool sources = false;  // places are those of the choices in the order, not the other way round
  int64_t quantised = -1;

  int64_t tokens() const { return x.dim(0); }
  int64_t choices() const { return experts.dim(1); }
  int64_t all() const { return tokens() * choices(); }
  bool drops() const { return capacity > 0; }
  Shape OutShape() const {
    const int64_t width = x.dim(1);
    if (drops()) return {number, capacity, width};
    return {active > 0 ? std::min(active, all()) : all(), width};
  }
  int64_t OutRows() const { return drops() ? number * capacity : OutShape()[0]; }
};

Counting CountingOf(int64_t flag) {
  return flag == 1 ? Counting::kTotals : flag == 2 ? Counting::kCounts : Counting::kNone;
}

Routing RoutingOf(const MoeInitRoutingV2Params& p) {
  return {p.x,
          p.expertIdx,
          NoTensor(),
          NoTensor(),
          p.expandedXOut,
          p.expandedRowIdxOut,
          p.expertTokensCountOrCumsumOut,
          p.expertTokensBeforeCapacityOut,
          NoTensor(),
          p.activeNum,
          p.dropPadMode == 1 ? p.expertCapacity : 0,
          p.expertNum,
          0,
          p.expertNum > 0 ? p.expertNum : INT32_MAX,
          p.dropPadMode == 0 ? CountingOf(p.expertTokensCountOrCumsumFlag) : Counting::kNone,
          p.dropPadMode == 1 && p.expertTokensBeforeCapacityFlag};
}

Routing RoutingOf(const MoeInitRoutingQuantV2Params& p) {
  return {p.x,
          p.expertIdx,
          p.scaleOptional,
          p.offsetOptional,
          p.expandedXOut,
          p.expandedRowIdxOut,
          p.expertTokensCountOrCumsumOut,
          p.expertTokensBeforeCapacityOut,
          p.dynamicQuantScaleOut,
          p.activeNum,
          p.dropPadMode == 1 ? p.expertCapacity : 0,
          p.expertNum,
          0,
          p.expertNum > 0 ? p.expertNum : INT32_MAX,
          p.dropPadMode == 0 ? CountingOf(p.expertTokensCountOrCumsumFlag) : Counting::kNone,
          p.dropPadMode == 1 && p.expertTokensBeforeCapacityFlag,
          false,
          p.quantMode};
}

Routing RoutingOf(const MoeInitRoutingV3Params& p) {
  const auto range = p.activeExpertRangeOptional.values();
  constexpr Counting kCounting[] = {Counting::kTotals, Counting::kCounts, Counting::kPairs};
  const auto kind = static_cast<size_t>(p.expertTokensNumType);
  return {p.x,
          p.expertIdx,
          p.scaleOptional,
          p.offsetOptional,
          p.expandedXOut,
          p.expandedRowIdxOut,
          p.expertTokensCountOrCumsumOut,
          NoTensor(),
          p.expandedScaleOut,
          p.activeNum,
          p.dropPadMode == 1 ? p.expertCapacity : 0,
          p.expertNum,
          range.size() == 2 ? range[0] : 0,
          range.size() == 2 ? range[1] : p.expertNum,
          p.expertTokensNumFlag && kind < 3 ? kCounting[kind] : Counting::kNone,
          false,
          p.rowIdxType == 1,
          p.quantMode};
}

/// Refuses null for a tensor that is wanted.
void CheckGiven(const Tensor& tensor, bool wanted, Checker& checker) {
  checker.That(!wanted || tensor.present(), ACLNN_ERR_PARAM_NULLPTR,
               [&] { return Concat(tensor.name(), " value is null, expected a tensor"); });
}

void CheckCounts(const Routing& p, Checker& checker) {
  const bool counted = p.counting != Counting::kNone;
  CheckValue(!(counted || p.drops() || p.asks_before) || p.number > 0, "expertNum", p.number,
             checker, "1 or more");
  CheckGiven(p.counts, counted, checker);
  CheckGiven(p.before, p.asks_before, checker);
  if (!checker.ok()) return;
  if (counted) {
    const bool pairs = p.counting == Counting::kPairs;
    CheckShape(p.counts, pairs ? Shape{p.number, 2} : Shape{p.end - p.first}, checker);
    CheckIndexType(p.counts, checker);
  }
  if (p.asks_before) CheckShape(p.before, {p.number}, checker);
}

void CheckScales(const Routing& p, Checker& checker) {
  const int64_t width = p.x.dim(1);
  CheckGiven(p.scale, p.quantised == kStatic, checker);
  CheckGiven(p.offset, p.quantised == kStatic, checker);
  CheckGiven(p.scales, p.quantised == kDynamic || (p.scale.present() && p.quantised < 0), checker);
  if (!checker.ok()) return;
  if (p.quantised == kStatic) {
    CheckShape(p.scale, {1}, checker);
    CheckShape(p.offset, {1}, checker);
    return;
  }
  if (p.scale.present() && p.quantised == kDynamic) {
    const bool one = p.scale.rank() == 2 && p.scale.dim(0) == 1;
    CheckShape(p.scale, {one ? 1 : p.end - p.first, width}, checker);
  } else if (p.scale.present()) {
    CheckShape(p.scale, {p.tokens()}, checker);
  }
  if (p.quantised == kDynamic || p.scale.present()) {
    CheckShape(p.scales, {p.OutRows()}, checker);
  }
}

void CheckRouting(const Routing& p, Checker& checker) {
  checker.Rank(p.x, 2).Rank(p.experts, 2);
  checker.That(p.experts.dim(0) == p.x.dim(0), [&] {
    return Concat(p.experts.name(), " shape is ", ShapeText(p.experts), ", expected ", p.x.dim(0),
                  " rows as x has, ", ShapeText(p.x));
  });
  checker.That(p.number >= 0 && p.number <= 10240,
               [&] { return Concat("expertNum value is ", p.number, ", expected 0 to 10240"); });
  if (!checker.ok()) return;
  CheckCounts(p, checker);
  if (!checker.ok()) return;
  const int32_t type = p.quantised >= 0 ? ACL_INT8 : p.x.dtype();
  checker.That(p.out.dtype() == type, [&] { return DtypeIs(p.out, DtypeText(type)); });
  checker.That(p.quantised < 0 || p.x.dtype() != ACL_INT8,
               [&] { return DtypeIs(p.x, "a float type, which is quantised"); });
  CheckShape(p.out, p.OutShape(), checker);
  CheckShape(p.places, {p.all()}, checker);
  if (checker.ok()) CheckScales(p, checker);
}

void CheckDropping(int64_t mode, int64_t capacity, const Tensor& x, Checker& checker) {
  CheckValue(mode == 0 || mode == 1, "dropPadMode", mode, checker, "0 or 1");
  const int64_t rows = x.rank() == 2 ? x.dim(0) : 0;
  CheckValue(mode != 1 || (capacity > 0 && capacity <= rows), "expertCapacity", capacity, checker,
             "1 to ", rows, ", the rows of x");
}

/// The choices in the order of their experts.
struct Ordered {
  std::vector<int64_t> keys;   // the chosen experts; of one below the range the largest number
  std::vector<int64_t> order;  // of the choices
  int64_t taking = 0;          // choices of experts of the range, which come first
  std::vector<int64_t> sources, places;  // of each row, and of each choice; -1: none
};

/// Routes the tokens when the task runs.
class Router {
 public:
  explicit Router(const Routing& p)
      : choices_(p.choices()),
        capacity_(p.capacity),
        number_(p.number),
        first_(p.first),
        end_(p.end),
        rows_(p.OutRows()),
        counting_(p.counting),
        of_sources_(p.sources),
        mode_(p.quantised),
        name_(p.experts.name()),
        experts_(p.experts),
        places_(p.places),
        x_(p.x),
        out_(p.out) {
    if (p.counting != Counting::kNone) counts_ = IntegerValues(p.counts);
    if (p.asks_before) before_ = IntegerValues(p.before);
    if (p.scale.present()) {
      if (mode_ == kDynamic) factors_ = TokenRows(p.scale);
      if (mode_ != kDynamic) scale_ = TensorValues<float>(p.scale);
      if (mode_ == kStatic) offset_ = TensorValues<float>(p.offset);
    }
    if (mode_ == kDynamic || (mode_ != kStatic && p.scale.present())) {
      scales_ = TensorValues<float>(p.scales);
    }
    shared_factors_ = p.scale.present() && p.scale.rank() == 2 && p.scale.dim(0) == 1;
  }

  Status operator()(const Buffers& buffers) const {
    Ordered ordered;
    ordered.keys = experts_.Read(buffers);
    Status status = CheckRange(name_, ordered.keys, 0, number_ > 0 ? number_ : end_);
    if (!status.ok()) return status;
    const std::vector<int64_t> counts = Order(&ordered);
    Place(&ordered);
    places_.Write(buffers, of_sources_ ? ordered.order : ordered.places);
    WriteCounts(buffers, counts);
    Move(buffers, ordered);
    return {};
  }

 private:
  bool InRange(int64_t expert) const { return expert >= first_ && expert < end_; }

  /// Orders the choices; returns how many chose each expert of the range.
  std::vector<int64_t> Order(Ordered* ordered) const {
    const bool counted = counting_ != Counting::kNone || before_.present();
    std::vector<int64_t> counts(static_cast<size_t>(counted ? end_ - first_ : 0));
    int64_t beyond = 0;
    for (const int64_t key : ordered->keys) beyond = std::max(beyond, key + 1);
    for (int64_t& key : ordered->keys) {
      if (InRange(key)) {
        ++ordered->taking;
        if (counted) ++counts[static_cast<size_t>(key - first_)];
      } else if (key < first_) {
        key = beyond;
      }
    }
    ordered->order = OrderOf(ordered->keys);
    return counts;
  }

  /// Gives each row its choice.
  void Place(Ordered* ordered) const {
    ordered->sources.assign(static_cast<size_t>(rows_), -1);
    ordered->places.assign(ordered->keys.size(), -1);
    int64_t last = -1, slot = 0;
    for (int64_t i = 0; i < ordered->taking; ++i) {
      const int64_t choice = ordered->order[static_cast<size_t>(i)];
      const int64_t expert = ordered->keys[static_cast<size_t>(choice)];
      slot = expert == last ? slot + 1 : 0;
      last = expert;
      if (capacity_ > 0 && slot >= capacity_) continue;
      const int64_t row = capacity_ > 0 ? expert * capacity_ + slot : i;
      ordered->places[static_cast<size_t>(choice)] = row;
      if (row < rows_) ordered->sources[static_cast<size_t>(row)] = choice;
    }
  }

  void WriteCounts(const Buffers& buffers, std::vector<int64_t> counts) const {
    before_.Write(buffers, counts);
    if (counting_ == Counting::kTotals) Accumulate(&counts);
    if (counting_ != Counting::kPairs) return counts_.Write(buffers, counts);
    std::vector<int64_t> pairs;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0) pairs.insert(pairs.end(), {static_cast<int64_t>(i) + first_, counts[i]});
    }
    pairs.resize(static_cast<size_t>(2 * number_));
    counts_.Write(buffers, pairs);
  }

  void Move(const Buffers& buffers, const Ordered& ordered) const {
    const std::vector<float> scale = scale_.Read(buffers), offset = offset_.Read(buffers);
    std::vector<float> scales = scales_.Read(buffers);  // of rows without a choice it stays
    ParallelRowsIn<std::vector<float>>(
        rows_, x_.width(), [&](int64_t row, std::vector<float>* values) {
          const auto at = static_cast<size_t>(row);
          const int64_t choice = ordered.sources[at];
          if (choice < 0) {
            if (capacity_ == 0) return;
            out_.Clear(buffers, row);
            if (scales_.present()) scales[at] = 0;
            return;
          }
          const int64_t token = choice / choices_;
          if (mode_ != kStatic && mode_ != kDynamic) {
            out_.Take(buffers, x_, token, row);
            if (scales_.present()) scales[at] = scale[static_cast<size_t>(token)];
            return;
          }
          values->resize(static_cast<size_t>(2 * x_.width()));
          float* const line = values->data();
          x_.Load(buffers, token, line);
          if (mode_ == kStatic) {
            QuantiseBy(line, x_.width(), scale[0], offset[0]);
          } else {
            Weigh(buffers, ordered.keys[static_cast<size_t>(choice)], line);
            scales[at] = QuantiseByLargest(line, x_.width());
          }
          out_.Store(buffers, row, line);
        });
    scales_.Write(buffers, scales);
  }

  /// Multiplies a row by the factors of its expert, or by those of all; behind the row is room.
  void Weigh(const Buffers& buffers, int64_t expert, float* line) const {
    if (!factors_.present()) return;
    float* const factors = line + x_.width();
    factors_.Load(buffers, shared_factors_ ? 0 : expert - first_, factors);
    for (int64_t i = 0; i < x_.width(); ++i) line[i] *= factors[i];
  }

  int64_t choices_, capacity_, number_, first_, end_, rows_;
  Counting counting_;
  bool of_sources_;
  int64_t mode_;
  const char* name_;
  IntegerValues experts_, places_, counts_, before_;
  TokenRows x_, out_, factors_;
  TensorValues<float> scale_, offset_, scales_;
  bool shared_factors_;
};

template <class P>
Plan MakeRouting(const P& p) {
  return {0, Router(RoutingOf(p))};
}

}  // namespace

void CheckMoeInitRouting(const MoeInitRoutingParams& p, Checker& checker) {
  checker.Rank(p.x, 2).Rank(p.expertIdx, 2);
  checker.That(p.expertIdx.dim(0) == p.x.dim(0), [&] {
    return Concat("expertIdx shape is ", ShapeText(p.expertIdx), ", expected ", p.x.dim(0),
                  " rows as x has, ", ShapeText(p.x));
  });
  CheckValue(p.activeNum >= 0, "activeNum", p.activeNum, checker, "0 or more");
  if (!checker.ok()) return;
  const int64_t tokens = p.x.dim(0), choices = p.expertIdx.dim(1);
  CheckShape(p.rowIdx, {tokens, choices}, checker);
  checker.SameDtype(p.expandedXOut, p.x);
  CheckShape(p.expandedXOut, {std::min(tokens, p.activeNum) * choices, p.x.dim(1)}, checker);
  CheckShape(p.expandedRowIdxOut, {tokens * choices}, checker);
  CheckShape(p.expandedExpertIdxOut, {tokens * choices}, checker);
}

Plan PlanMoeInitRouting(const MoeInitRoutingParams& p, const Product&) {
  const IntegerValues rows(p.rowIdx), experts(p.expertIdx), places(p.expandedRowIdxOut),
      sorted(p.expandedExpertIdxOut);
  const TokenRows x(p.x), out(p.expandedXOut);
  const int64_t tokens = p.x.dim(0), moved = p.expandedXOut.dim(0);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> row_of = rows.Read(buffers);
            std::vector<int64_t> chosen = experts.Read(buffers);
            Status status = CheckRange("rowIdx", row_of, 0, std::ssize(row_of));
            if (status.ok()) status = CheckRange("expertIdx", chosen, 0, INT32_MAX);
            if (!status.ok()) return status;
            const std::vector<int64_t> order = OrderOf(chosen);
            std::vector<int64_t> experts_in_order(chosen.size()), place(chosen.size());
            for (size_t i = 0; i < order.size(); ++i) {
              const auto choice = static_cast<size_t>(order[i]);
              experts_in_order[i] = chosen[choice];
              place[static_cast<size_t>(row_of[choice])] = static_cast<int64_t>(i);
            }
            places.Write(buffers, place);
            sorted.Write(buffers, experts_in_order);
            ParallelRows(moved, x.width(), [&](int64_t i) {
              const auto choice = static_cast<size_t>(order[static_cast<size_t>(i)]);
              out.Take(buffers, x, row_of[choice] % tokens, i);
            });
            return {};
          }};
}

namespace {

template <class P>
void CheckSecondVersion(const P& p, Checker& checker) {
  CheckDropping(p.dropPadMode, p.expertCapacity, p.x, checker);
  CheckValue(p.expertTokensCountOrCumsumFlag >= 0 && p.expertTokensCountOrCumsumFlag <= 2,
             "expertTokensCountOrCumsumFlag", p.expertTokensCountOrCumsumFlag, checker, "0 to 2");
  CheckValue(p.activeNum >= 0, "activeNum", p.activeNum, checker, "0 or more");
  if (checker.ok()) CheckRouting(RoutingOf(p), checker);
}

}  // namespace

void CheckMoeInitRoutingV2(const MoeInitRoutingV2Params& p, Checker& checker) {
  CheckSecondVersion(p, checker);
}

Plan PlanMoeInitRoutingV2(const MoeInitRoutingV2Params& p, const Product&) {
  return MakeRouting(p);
}

void CheckMoeInitRoutingQuantV2(const MoeInitRoutingQuantV2Params& p, Checker& checker) {
  CheckSecondVersion(p, checker);
}

Plan PlanMoeInitRoutingQuantV2(const MoeInitRoutingQuantV2Params& p, const Product&) {
  return MakeRouting(p);
}

void CheckMoeInitRoutingV3(const MoeInitRoutingV3Params& p, Checker& checker) {
  const auto range = p.activeExpertRangeOptional.values();
  CheckDropping(p.dropPadMode, p.expertCapacity, p.x, checker);
  CheckValue(p.activeNum >= -1, "activeNum", p.activeNum, checker, "-1 or more");
  CheckValue(p.expertNum > 0, "expertNum", p.expertNum, checker, "1 or more");
  const bool all = p.dropPadMode == 0;
  const bool fits = range.empty() || (range.size() == 2 && range[0] >= 0 && range[0] < range[1] &&
                                      range[1] <= p.expertNum);
  checker.That(fits, [&] {
    return Concat("activeExpertRangeOptional value is ",
                  ShapeText(range.data(), static_cast<uint32_t>(range.size())),
                  ", expected two numbers, 0 <= first < end <= expertNum, ", p.expertNum);
  });
  const bool whole = !fits || range.empty() || (range[0] == 0 && range[1] == p.expertNum);
  checker.That(all || whole, [&] {
    return Concat("activeExpertRangeOptional value is ", ShapeText(range.data(), 2),
                  ", expected all experts, (0, ", p.expertNum, "), where dropPadMode is 1");
  });
  CheckValue(p.rowIdxType == 0 || p.rowIdxType == 1, "rowIdxType", p.rowIdxType, checker, "0 or 1");
  CheckValue(!p.expertTokensNumFlag || (p.expertTokensNumType >= 0 && p.expertTokensNumType <= 2),
             "expertTokensNumType", p.expertTokensNumType, checker, "0, 1 or 2");
  CheckValue(all || p.rowIdxType == 0, "rowIdxType", p.rowIdxType, checker,
             "0 where dropPadMode is 1");
  CheckValue(all || !p.expertTokensNumFlag || p.expertTokensNumType == 1, "expertTokensNumType",
             p.expertTokensNumType, checker, "1 where dropPadMode is 1");
  if (checker.ok()) CheckRouting(RoutingOf(p), checker);
}

Plan PlanMoeInitRoutingV3(const MoeInitRoutingV3Params& p, const Product&) {
  return MakeRouting(p);
}

}  // namespace openaclnn::supporting
