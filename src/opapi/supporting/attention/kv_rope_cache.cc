// SPDX-License-Identifier: Apache-2.0
// KvRmsNormRopeCache: the latent keys and values of tokens and their ropes, normalised and turned,
// become rows of two caches.
#include <string_view>

#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {
namespace {

/// Where tokens go, by the name of the mode.
struct CacheMode {
  explicit CacheMode(const char* name) {
    const std::string_view mode = name == nullptr ? "" : name;
    of_batches = mode == "Norm" || mode.empty();
    of_blocks = mode == "PA_BLK_BNSD" || mode == "PA_BLK_NZ";
    grouped = mode == "PA_NZ" || mode == "PA_BLK_NZ";
  }

  bool of_batches;  // each has a cache of its own, (batches, 1, rows, elements)
  bool of_blocks;   // the index has a place for each block of a sequence, not for each token
  bool grouped;     // blocks lie in groups of 32 bytes of a row
};

/// The tokens of a call, and the parts of their rows. In the first version a row is normalised,
/// then turned; of the second one the first elements are turned after the whole row is normalised,
/// and values are operands of their own.
struct KvCall {
  explicit KvCall(const KvRopeCacheParams& p)
      : mode(p.cacheModeOptional),
        batches(p.kv.dim(0)),
        rows(p.kv.dim(2)),
        turned(p.cos.last_dim()),
        normal(p.gamma.dim(0)),
        apart(p.vOptional.present()),
        key_width(apart ? normal : turned),
        value_width(apart ? p.vOptional.last_dim() : normal) {}

  Shape TokensOf(int64_t width) const { return {batches, 1, rows, width}; }

  CacheMode mode;
  int64_t batches, rows, turned, normal;
  bool apart;
  int64_t key_width, value_width;
};

int64_t BlockRows(const Tensor& cache, const CacheMode& mode) {
  return cache.dim(mode.of_batches ? 2 : 1);
}

/// Checks that a cache has rows of so many elements; groups of 32 bytes lie in a whole block.
void CheckKvCache(const KvCall& call, const Tensor& cache, int64_t width, Checker& checker) {
  if (call.mode.of_batches) {
    return CheckShape(cache, {call.batches, 1, cache.dim(2), width}, checker);
  }
  CheckShape(cache, {cache.dim(0), cache.dim(1), 1, width}, checker);
  if (!checker.ok() || !call.mode.grouped) return;
  const int64_t group = 32 / BytesOf(cache);
  checker.That(width % group == 0, [&] {
    return Concat(cache.name(), " shape is ", ShapeText(cache), ", expected a multiple of ", group,
                  " elements, as the rows lie in groups of 32 bytes");
  });
}

RowsOfCache KvRows(const KvCall& call, const Tensor& cache, int64_t width) {
  const auto& strides = cache.tensor().strides;
  const int64_t rows = BlockRows(cache, call.mode);
  if (call.mode.of_batches) {
    return {cache, rows, {strides[0], strides[2], 0, 0, strides[3]}, width};
  }
  if (!call.mode.grouped) return {cache, rows, {strides[0], strides[1], 0, 0, strides[3]}, width};
  const int64_t group = 32 / BytesOf(cache);
  return {cache, rows, {strides[0], strides[1], 0, 0, strides[3]}, group, width};
}

/// Reads which rows of the caches tokens become.
struct KvSlots {
  KvSlots(const KvCall& call, const Tensor& index, const Tensor& cache)
      : mode(call.mode),
        batches(call.batches),
        rows(call.rows),
        block_rows(BlockRows(cache, call.mode)),
        limit(WrappingProduct(cache.dim(0), block_rows)),
        name(index.name()),
        numbers(index, 0) {}

  Status Find(const Buffers& buffers, Slots* slots) const {
    const std::vector<int64_t> read = numbers.AllWhole(buffers);
    const int64_t pages = mode.of_blocks ? DivideUp(rows, std::max<int64_t>(block_rows, 1)) : 0;
    for (int64_t batch = 0; batch < batches; ++batch) {
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = mode.of_blocks ? batch * pages + row / block_rows : batch * rows + row;
        int64_t slot = read[static_cast<size_t>(at)];
        if (slot >= (mode.of_batches ? block_rows : limit)) {
          return Status(507035,
                        Concat(name, " value ", at, " is ", slot, ", expected less than ",
                               mode.of_batches ? block_rows : limit, ", the rows of the cache"));
        }
        if (slot >= 0 && mode.of_batches) slot += batch * block_rows;
        if (slot >= 0 && mode.of_blocks) {
          slot = slot / block_rows * block_rows + row % block_rows;
        }
        slots->push_back(slot);
      }
    }
    return CheckSlots(name, limit, slots);
  }

  CacheMode mode;
  int64_t batches, rows, block_rows, limit;
  const char* name;
  Elements numbers;
};

void CheckKvOperands(const KvRopeCacheParams& p, Checker& checker) {
  checker.Rank(p.kv, 4).Rank(p.gamma, 1).Rank(p.cos, 4).Rank(p.sin, 4);
  checker.Rank(p.kCacheRef, 4).Rank(p.ckvCacheRef, 4);
  checker.Rank(p.index, CacheMode(p.cacheModeOptional).of_batches ? 2 : 1);
  for (const Tensor* each : {&p.gamma, &p.cos, &p.sin, &p.vOptional}) {
    if (each->present()) checker.SameDtype(*each, p.kv);
  }
  if (p.vOptional.present()) checker.Rank(p.vOptional, 4);
  for (const Tensor* each : {&p.kRopeOffsetOptional, &p.cKvOffsetOptional}) {
    checker.That(!each->present(), [&] {
      return Concat(each->name(), " value is a tensor, expected null: it is not supported");
    });
  }
  checker.That(p.kRopeScaleOptional.present() == p.ckvScaleOptional.present(), [&] {
    return Concat(p.ckvScaleOptional.name(), " value is ",
                  p.ckvScaleOptional.present() ? "a tensor" : "null", ", expected what ",
                  p.kRopeScaleOptional.name(), " is: both or none");
  });
  CheckType(p.kv, checker);
  CheckIndexType(p.index, checker);
}

void CheckKvCaches(const KvRopeCacheParams& p, const KvCall& call, Checker& checker) {
  CheckCacheType(p.kCacheRef, p.kv, p.kRopeScaleOptional, checker);
  CheckCacheType(p.ckvCacheRef, p.kv, p.ckvScaleOptional, checker);
  if (!checker.ok()) return;
  CheckKvCache(call, p.kCacheRef, call.key_width, checker);
  CheckKvCache(call, p.ckvCacheRef, call.value_width, checker);
  if (!checker.ok()) return;
  const int64_t blocks = p.kCacheRef.dim(0), rows = BlockRows(p.kCacheRef, call.mode);
  checker.That(p.ckvCacheRef.dim(0) == blocks && BlockRows(p.ckvCacheRef, call.mode) == rows, [&] {
    return Concat(p.ckvCacheRef.name(), " shape is ", ShapeText(p.ckvCacheRef), ", expected ",
                  blocks, " blocks of ", rows, " rows, those of ", p.kCacheRef.name());
  });
  checker.That(rows > 0 || call.rows == 0, [&] {
    return Concat(p.kCacheRef.name(), " shape is ", ShapeText(p.kCacheRef), ", expected rows");
  });
  if (!checker.ok()) return;
  const int64_t pages = rows == 0 ? 0 : DivideUp(call.rows, rows);
  if (call.mode.of_batches) {
    CheckShape(p.index, {call.batches, call.rows}, checker);
  } else {
    CheckShape(p.index, {call.batches * (call.mode.of_blocks ? pages : call.rows)}, checker);
  }
  if (!p.kRopeScaleOptional.present()) return;
  CheckShape(p.kRopeScaleOptional, {call.key_width}, checker);
  CheckShape(p.ckvScaleOptional, {call.value_width}, checker);
}

}  // namespace

void CheckKvRopeCache(const KvRopeCacheParams& p, Checker& checker) {
  CheckKvOperands(p, checker);
  if (!checker.ok()) return;
  const KvCall call(p);
  CheckShape(p.kv, call.TokensOf(call.apart ? call.normal : call.normal + call.turned), checker);
  if (call.apart) CheckShape(p.vOptional, call.TokensOf(call.value_width), checker);
  checker.That(call.turned % 2 == 0 && (!call.apart || call.turned <= call.normal), [&] {
    return Concat(p.cos.name(), " shape is ", ShapeText(p.cos), ", expected an even number of ",
                  "angles, at most the elements of a row");
  });
  for (const Tensor* angles : {&p.cos, &p.sin}) {
    Shape common = call.TokensOf(call.turned);
    const Shape want = common;
    checker.That(
        angles->last_dim() == call.turned && BroadcastShape(*angles, &common) && common == want,
        [&] {
          return Concat(angles->name(), " shape is ", ShapeText(*angles),
                        ", expected one that can be broadcast to ", ShapeText(want.data(), 4));
        });
  }
  CheckKvCaches(p, call, checker);
  if (!checker.ok() || !p.isOutputKv) return;
  for (const Tensor* out : {&p.kRopeOut, &p.cKvOut}) {
    checker.That(out->present(), [&] {
      return Concat(out->name(), " value is null, expected a tensor, as isOutputKv is true");
    });
    if (checker.ok()) checker.SameDtype(*out, p.kv);
  }
  if (!checker.ok()) return;
  CheckShape(p.kRopeOut, call.TokensOf(call.key_width), checker);
  CheckShape(p.cKvOut, call.TokensOf(call.value_width), checker);
}

namespace {

/// A task: rows of the operands, and where they go.
struct KvTask {
  explicit KvTask(const KvRopeCacheParams& p)
      : call(p),
        cos(call.TokensOf(call.turned), p.cos),
        sin(call.TokensOf(call.turned), p.sin),
        kv(p.kv),
        keys(KvRows(call, p.kCacheRef, call.key_width)),
        values(KvRows(call, p.ckvCacheRef, call.value_width)),
        slots(call, p.index, p.kCacheRef),
        gamma(p.gamma, 1),
        key_scale(p.kRopeScaleOptional, 1),
        value_scale(p.ckvScaleOptional, 1),
        asks(p.isOutputKv),
        epsilon(p.epsilon) {
    if (call.apart) v = PartsOfRows(p.vOptional);
    if (!asks) return;
    key_out = PartsOfRows(p.kRopeOut);
    value_out = PartsOfRows(p.cKvOut);
  }

  /// Makes the key and the value of a token.
  void Make(const Buffers& buffers, int64_t token, const std::vector<double>& gammas,
            std::vector<double>* key, std::vector<double>* value) const {
    const int64_t normal = call.normal, turned = call.turned;
    std::vector<double> row(static_cast<size_t>(normal + turned)),
        angles(static_cast<size_t>(2 * turned));
    kv.Load(buffers, token, 0, call.apart ? normal : normal + turned, row.data());
    cos.Load(buffers, token, turned, angles.data());
    sin.Load(buffers, token, turned, angles.data() + turned);
    NormalizeRow(gammas, epsilon, row.data());
    if (call.apart) {
      std::copy(row.begin() + turned, row.begin() + normal, key->begin() + turned);
      v.Load(buffers, token, 0, call.value_width, value->data());
    } else {
      std::copy(row.begin(), row.begin() + normal, value->begin());
    }
    TurnPairs({kNeighboursToHalves, turned}, row.data() + (call.apart ? 0 : normal), angles.data(),
              angles.data() + turned, key->data());
  }

  Status Run(const Buffers& buffers) const {
    Slots places;
    Status found = slots.Find(buffers, &places);
    if (!found.ok()) return found;
    const std::vector<double> gammas = gamma.All(buffers);
    const Quantizer of_keys{key_scale.All(buffers), {}, Quantizer::kMultiplies},
        of_values{value_scale.All(buffers), {}, Quantizer::kMultiplies};
    const int64_t key_width = call.key_width, value_width = call.value_width;
    ParallelRows(call.batches * call.rows, key_width + value_width, [&](int64_t token) {
      std::vector<double> key(static_cast<size_t>(key_width)),
          value(static_cast<size_t>(value_width));
      Make(buffers, token, gammas, &key, &value);
      if (asks) {
        key_out.Store(buffers, token, 0, key_width, key.data());
        value_out.Store(buffers, token, 0, value_width, value.data());
      }
      const int64_t place = places[static_cast<size_t>(token)];
      if (place < 0) return;
      of_keys.Apply(0, key_width, key.data());
      of_values.Apply(0, value_width, value.data());
      keys.Store(buffers, place, 0, key_width, key.data());
      values.Store(buffers, place, 0, value_width, value.data());
    });
    return {};
  }

  KvCall call;
  BroadcastRows cos, sin;
  PartsOfRows kv, v, key_out, value_out;
  RowsOfCache keys, values;
  KvSlots slots;
  Elements gamma, key_scale, value_scale;
  bool asks;
  double epsilon;
};

}  // namespace

Plan PlanKvRopeCache(const KvRopeCacheParams& p, const Product&) {
  return {0, [task = KvTask(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
