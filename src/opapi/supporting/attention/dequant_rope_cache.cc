// SPDX-License-Identifier: Apache-2.0
// DequantRopeQuantKvcache: heads of queries and keys are turned, and keys and values become INT8
// rows of two caches; INT32 operands are scaled first.
#include <string_view>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/cache_rows.h"
#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {
namespace {

bool IsPaged(const char* mode) { return mode != nullptr && std::string_view(mode) == "page"; }

/// The tokens of a call, the width of heads, and how many heads each operand has.
struct SplitCall {
  explicit SplitCall(const DequantRopeCacheParams& p)
      : batches(p.x.dim(0)),
        rows(p.x.rank() == 3 ? p.x.dim(1) : 1),
        width(p.kCacheRef.dim(3)),
        q(p.sizeSplits.values()[0] / width),
        k(p.sizeSplits.values()[1] / width) {}

  /// (batches, rows, heads, width), or without rows.
  Shape HeadsOf(const Tensor& x, int64_t heads) const {
    return x.rank() == 3 ? Shape{batches, rows, heads, width} : Shape{batches, heads, width};
  }

  int64_t batches, rows, width, q, k;
};

void CheckSplits(const DequantRopeCacheParams& p, Checker& checker) {
  const auto splits = p.sizeSplits.values();
  checker.That(splits.size() == 3, [&] {
    return Concat(p.sizeSplits.name(), " size is ", splits.size(), ", expected 3");
  });
  checker.RankBetween(p.x, 2, 3).Rank(p.kCacheRef, 4).Rank(p.vCacheRef, 4);
  if (!checker.ok()) return;
  const int64_t width = p.kCacheRef.dim(3), heads = p.kCacheRef.dim(2);
  checker.That(width > 0 && width % 2 == 0, [&] {
    return Concat(p.kCacheRef.name(), " shape is ", ShapeText(p.kCacheRef),
                  ", expected an even last dimension");
  });
  if (!checker.ok()) return;
  CheckShape(p.vCacheRef, ShapeOf(p.kCacheRef), checker);
  const int64_t own = WrappingProduct(heads, width);
  const bool fine = splits[0] >= 0 && splits[0] % width == 0 && splits[1] == own &&
                    splits[2] == own && p.x.last_dim() - own - own == splits[0];
  checker.That(fine, [&] {
    return Concat(p.sizeSplits.name(), " values are ", splits[0], ", ", splits[1], ", ", splits[2],
                  ", expected a multiple of ", width, ", ", own, ", ", own, ", whose sum is ",
                  p.x.last_dim());
  });
}

/// Factors of elements and tokens, and the bias, which INT32 operands may have.
void CheckDequant(const DequantRopeCacheParams& p, Checker& checker) {
  const bool whole = p.x.dtype() == ACL_INT32;
  const Tensor &weights = p.weightScaleOptional, &tokens = p.activationScaleOptional,
               &bias = p.biasOptional;
  checker.That(!whole || weights.present(), [&] {
    return Concat(weights.name(), " value is null, expected a tensor, as x is INT32");
  });
  for (const Tensor* each : {&weights, &tokens, &bias}) {
    checker.That(whole || !each->present(), [&] {
      return Concat(each->name(), " value is a tensor, expected null: x is not INT32");
    });
  }
  if (!checker.ok() || !whole) return;
  for (const Tensor* each : {&weights, &tokens}) {
    if (!each->present()) continue;
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
  }
  CheckShape(weights, {p.x.last_dim()}, checker);
  if (bias.present()) CheckShape(bias, {p.x.last_dim()}, checker);
  if (!tokens.present()) return;
  const int64_t count = p.x.rank() == 3 ? WrappingProduct(p.x.dim(0), p.x.dim(1)) : p.x.dim(0);
  CheckShape(tokens, {count}, checker);
}

void CheckQuant(const DequantRopeCacheParams& p, Checker& checker) {
  for (const Tensor* cache : {&p.kCacheRef, &p.vCacheRef}) {
    checker.That(cache->dtype() == ACL_INT8, [&] { return DtypeIs(*cache, "INT8"); });
  }
  const int64_t heads = p.kCacheRef.dim(2), width = p.kCacheRef.dim(3);
  for (const Tensor* each : {&p.scaleK, &p.scaleV, &p.offsetKOptional, &p.offsetVOptional}) {
    if (!each->present()) continue;
    const bool of_heads = each->rank() == 2;
    CheckShape(*each, of_heads ? Shape{heads, width} : Shape{width}, checker);
  }
}

/// The numbers of heads' elements; those of one head are all heads'.
std::vector<double> OfHeads(const std::vector<double>& numbers, int64_t heads, int64_t width) {
  std::vector<double> all;
  if (numbers.empty()) return all;
  for (int64_t i = 0; i < heads * width; ++i) {
    all.push_back(numbers[static_cast<size_t>(i) % numbers.size()]);
  }
  return all;
}

struct DequantTask {
  explicit DequantTask(const DequantRopeCacheParams& p)
      : call(p),
        paged(IsPaged(p.cacheModeOptional)),
        cache_rows(p.kCacheRef.dim(1)),
        limit(WrappingProduct(p.kCacheRef.dim(0), cache_rows)),
        name(p.indices.name()),
        x(p.x),
        cos(p.cos),
        sin(p.sin),
        q_out(p.qOut),
        indices(p.indices, 0),
        weights(p.weightScaleOptional, 1),
        activations(p.activationScaleOptional, 1),
        bias(p.biasOptional, 0),
        whole_bias(p.biasOptional.present() && p.biasOptional.dtype() == ACL_INT32) {
    const auto cache_of = [&](const Tensor& cache) {
      const auto& strides = cache.tensor().strides;
      const RowsOfCache::Steps steps{strides[0], strides[1], strides[2], 0, strides[3]};
      return RowsOfCache(cache, cache_rows, steps, call.width);
    };
    keys = {cache_of(p.kCacheRef), Elements(p.scaleK, 1), Elements(p.offsetKOptional, 0), {}};
    values = {cache_of(p.vCacheRef), Elements(p.scaleV, 1), Elements(p.offsetVOptional, 0), {}};
    if (!p.kvOutput) return;
    keys.out.emplace_back(p.kOut);
    values.out.emplace_back(p.vOut);
  }

  /// Where keys or values of a call go, and how they become INT8.
  struct Side {
    RowsOfCache cache;
    Elements scale, offset;
    std::vector<PartsOfRows> out;  // at most one
  };

  Status FindSlots(const Buffers& buffers, Slots* slots) const {
    const std::vector<int64_t> read = indices.AllWhole(buffers);
    for (int64_t token = 0; token < call.batches * call.rows; ++token) {
      const int64_t batch = token / call.rows, row = token % call.rows;
      const int64_t at = paged ? token : batch;
      const int64_t index = read[static_cast<size_t>(at)];
      const int64_t most = paged ? limit - 1 : cache_rows - call.rows;
      if (index < 0 || index > most) {
        return Status(507035, Concat(name, " value ", at, " is ", index, ", expected 0 to ", most,
                                     ", rows of the cache"));
      }
      slots->push_back(paged ? index : batch * cache_rows + index + row);
    }
    return CheckSlots(name, limit, slots);
  }

  void Dequantize(const std::vector<double>& by_element, const std::vector<double>& added,
                  double factor, double* row) const {
    if (by_element.empty()) return;
    for (size_t i = 0; i < by_element.size(); ++i) {
      const double more = Elements::At(added, i, 0);
      const double product = (row[i] + (whole_bias ? more : 0)) * by_element[i] * factor;
      row[i] = product + (whole_bias ? 0 : more);
    }
  }

  /// Stores the heads of keys or values.
  void Put(const Buffers& buffers, const Side& side, const Quantizer& quantizer, int64_t token,
           int64_t slot, double* heads) const {
    const int64_t width = call.width;
    for (int64_t head = 0; head < call.k; ++head) {
      double* const row = heads + head * width;
      for (const PartsOfRows& out : side.out) {
        out.Store(buffers, token * call.k + head, 0, width, row);
      }
      if (slot < 0) continue;
      quantizer.Apply(static_cast<size_t>(head * width), width, row);
      side.cache.Store(buffers, slot, head, width, row);
    }
  }

  Status Run(const Buffers& buffers) const {
    Slots slots;
    Status found = FindSlots(buffers, &slots);
    if (!found.ok()) return found;
    const int64_t width = call.width, all = call.q + 2 * call.k;
    const std::vector<double> by_element = weights.All(buffers), added = bias.All(buffers),
                              by_token = activations.All(buffers);
    const auto quantizer_of = [&](const Side& side) {
      return Quantizer{OfHeads(side.scale.All(buffers), call.k, width),
                       OfHeads(side.offset.All(buffers), call.k, width), Quantizer::kMultiplies};
    };
    const Quantizer of_keys = quantizer_of(keys), of_values = quantizer_of(values);
    ParallelRows(call.batches * call.rows, all * width, [&](int64_t token) {
      std::vector<double> row(static_cast<size_t>(all * width)), turned(row.size()),
          angles(static_cast<size_t>(2 * width));
      x.Load(buffers, token, 0, all * width, row.data());
      Dequantize(by_element, added, Elements::At(by_token, static_cast<size_t>(token), 1),
                 row.data());
      cos.Load(buffers, token, 0, width, angles.data());
      sin.Load(buffers, token, 0, width, angles.data() + width);
      for (int64_t head = 0; head < call.q + call.k; ++head) {
        TurnPairs({kHalves, width}, row.data() + head * width, angles.data(), angles.data() + width,
                  turned.data() + head * width);
      }
      for (int64_t head = 0; head < call.q; ++head) {
        q_out.Store(buffers, token * call.q + head, 0, width, turned.data() + head * width);
      }
      const int64_t slot = slots[static_cast<size_t>(token)];
      Put(buffers, keys, of_keys, token, slot, turned.data() + call.q * width);
      Put(buffers, values, of_values, token, slot, row.data() + (call.q + call.k) * width);
    });
    return {};
  }

  SplitCall call;
  bool paged;
  int64_t cache_rows, limit;
  const char* name;
  PartsOfRows x, cos, sin, q_out;
  Elements indices, weights, activations, bias;
  bool whole_bias;
  Side keys{{}, Elements(NoTensor(), 1), Elements(NoTensor(), 0), {}}, values = keys;
};

}  // namespace

void CheckDequantRopeCache(const DequantRopeCacheParams& p, Checker& checker) {
  CheckSplits(p, checker);
  CheckIntegers(p.indices, 1, checker);
  if (!checker.ok()) return;
  CheckDequant(p, checker);
  CheckQuant(p, checker);
  if (!checker.ok()) return;
  const SplitCall call(p);
  const int64_t tokens = WrappingProduct(call.batches, call.rows);
  const bool paged = IsPaged(p.cacheModeOptional);
  if (!paged) {
    checker.That(p.kCacheRef.dim(0) == call.batches, [&] {
      return Concat(p.kCacheRef.name(), " shape is ", ShapeText(p.kCacheRef), ", expected ",
                    call.batches, " batches, as cacheModeOptional is not page");
    });
  }
  CheckShape(p.indices, {paged ? tokens : call.batches}, checker);
  for (const Tensor* each : {&p.cos, &p.sin}) {
    CheckShape(*each, call.HeadsOf(p.x, 1), checker);
    checker.SameDtype(*each, p.x.dtype() == ACL_INT32 ? p.cos : p.x);
  }
  checker.SameDtype(p.qOut, p.cos);
  CheckShape(p.qOut, call.HeadsOf(p.x, call.q), checker);
  if (!p.kvOutput) return;
  for (const Tensor* out : {&p.kOut, &p.vOut}) {
    checker.SameDtype(*out, p.cos);
    CheckShape(*out, call.HeadsOf(p.x, call.k), checker);
  }
}

Plan PlanDequantRopeCache(const DequantRopeCacheParams& p, const Product&) {
  return {0, [task = DequantTask(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
