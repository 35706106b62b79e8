// SPDX-License-Identifier: Apache-2.0
// QkvRmsNormRopeCache: heads of queries and keys are normalised and turned, and keys and values
// become rows of two caches in groups.
#include "generated/attention.h"
#include "kernels/rows/rows.h"
#include "supporting/attention/heads.h"
#include "supporting/attention/rope_rows.h"

namespace openaclnn::supporting {
namespace {

/// The heads of query, key and value, and their width.
struct QkvHeads {
  explicit QkvHeads(const QkvRopeCacheParams& p)
      : q(p.headNums.values()[0]),
        k(p.headNums.values()[1]),
        v(p.headNums.values()[2]),
        tokens(p.qkv.dim(0)),
        width(p.qkvSize.values()[3]) {}

  int64_t q, k, v, tokens, width;
};

void CheckLists(const QkvRopeCacheParams& p, Checker& checker) {
  const auto sizes = p.qkvSize.values(), heads = p.headNums.values();
  checker.That(sizes.size() == 4,
               [&] { return Concat(p.qkvSize.name(), " size is ", sizes.size(), ", expected 4"); });
  checker.That(heads.size() == 3, [&] {
    return Concat(p.headNums.name(), " size is ", heads.size(), ", expected 3");
  });
  if (!checker.ok()) return;
  constexpr int64_t kMost = int64_t{1} << 30;  // of heads, rows and widths: products fit in int64_t
  for (size_t i = 0; i < 3; ++i) {
    checker.That(heads[i] > 0 && heads[i] <= kMost, [&] {
      return Concat(p.headNums.name(), " value ", i, " is ", heads[i],
                    ", expected 1 <= value <= ", kMost);
    });
  }
  for (size_t i = 0; i < 4; ++i) {
    checker.That(sizes[i] >= 0 && sizes[i] <= 3 * kMost, [&] {
      return Concat(p.qkvSize.name(), " value ", i, " is ", sizes[i],
                    ", expected 0 <= value <= ", 3 * kMost);
    });
  }
  if (!checker.ok()) return;
  checker.That(heads[1] == heads[2], [&] {
    return Concat(p.headNums.name(), " value 2 is ", heads[2], ", expected ", heads[1],
                  ", the heads of keys");
  });
  const int64_t all = heads[0] + heads[1] + heads[2];
  checker.That(sizes[2] == all && sizes[3] > 0 && sizes[3] <= kMost && sizes[3] % 2 == 0, [&] {
    return Concat(p.qkvSize.name(), " values are ", sizes[0], ", ", sizes[1], ", ", sizes[2], ", ",
                  sizes[3], ", expected batches, rows, ", all,
                  " heads and an even width of at most ", kMost);
  });
}

/// Checks a cache (blocks, heads * width / n, rows, n), where n divides the width.
void CheckGroups(const QkvHeads& of, const Tensor& cache, int64_t heads, Checker& checker) {
  const int64_t group = cache.dim(3);
  checker.That(group > 0 && of.width % group == 0, [&] {
    return Concat(cache.name(), " shape is ", ShapeText(cache),
                  ", expected a last dimension that divides ", of.width, ", the width of heads");
  });
  if (!checker.ok()) return;
  CheckShape(cache, {cache.dim(0), heads * (of.width / group), cache.dim(2), group}, checker);
}

void CheckFactors(const QkvHeads& of, const Tensor& scale, const Tensor& offset, int64_t heads,
                  Checker& checker) {
  checker.That(scale.present() || !offset.present(), [&] {
    return Concat(offset.name(), " value is a tensor, expected null without ", scale.name());
  });
  for (const Tensor* each : {&scale, &offset}) {
    if (!each->present()) continue;
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
    CheckShape(*each, {heads, of.width}, checker);
  }
}

RowsOfCache GroupsOf(const QkvHeads& of, const Tensor& cache) {
  const auto& strides = cache.tensor().strides;
  const int64_t groups = of.width / cache.dim(3);
  return {cache,
          cache.dim(2),
          {strides[0], strides[2], groups * strides[1], strides[1], strides[3]},
          cache.dim(3)};
}

void CheckTensors(const QkvRopeCacheParams& p, const QkvHeads& of, Checker& checker) {
  CheckShape(p.qkv,
             {p.qkvSize.values()[0] * p.qkvSize.values()[1], (of.q + of.k + of.v) * of.width},
             checker);
  for (const Tensor* each : {&p.qGamma, &p.kGamma}) CheckShape(*each, {of.width}, checker);
  for (const Tensor* each : {&p.cos, &p.sin}) CheckShape(*each, {of.tokens, of.width}, checker);
  CheckShape(p.index, {of.tokens}, checker);
  CheckShape(p.qOut, {of.tokens, of.q * of.width}, checker);
  if (!checker.ok()) return;
  CheckGroups(of, p.kCacheRef, of.k, checker);
  CheckGroups(of, p.vCacheRef, of.v, checker);
  CheckFactors(of, p.kScaleOptional, p.kOffsetOptional, of.k, checker);
  CheckFactors(of, p.vScaleOptional, p.vOffsetOptional, of.v, checker);
  if (!checker.ok()) return;
  const int64_t blocks = p.kCacheRef.dim(0), rows = p.kCacheRef.dim(2);
  checker.That(p.vCacheRef.dim(0) == blocks && p.vCacheRef.dim(2) == rows, [&] {
    return Concat(p.vCacheRef.name(), " shape is ", ShapeText(p.vCacheRef), ", expected ", blocks,
                  " blocks of ", rows, " rows, those of ", p.kCacheRef.name());
  });
  for (const auto& [out, heads] : {std::pair(&p.qOutBeforeQuantOptional, of.q),
                                   {&p.kOutBeforeQuantOptional, of.k},
                                   {&p.vOutBeforeQuantOptional, of.v}}) {
    if (out->present()) CheckShape(*out, {of.tokens, heads * of.width}, checker);
  }
}

/// Heads of one kind: where they are among the elements of a token, and where they go. What is not
/// normalised is not turned.
struct QkvPart {
  int64_t first, heads;
  Elements gamma;
  bool turns;
  std::vector<PartsOfRows> outs;
  std::vector<RowsOfCache> cache;  // at most one
  Elements scale, offset;
};

struct QkvTask {
  explicit QkvTask(const QkvRopeCacheParams& p)
      : of(p),
        qkv(p.qkv),
        cos(p.cos),
        sin(p.sin),
        index(p.index, 0),
        name(p.index.name()),
        limit(WrappingProduct(p.kCacheRef.dim(0), p.kCacheRef.dim(2))),
        epsilon(p.epsilon) {
    const auto outs = [](std::initializer_list<const Tensor*> tensors) {
      std::vector<PartsOfRows> present;
      for (const Tensor* each : tensors) {
        if (each->present()) present.emplace_back(*each);
      }
      return present;
    };
    const Elements none(NoTensor(), 1);
    parts.push_back({0,
                     of.q,
                     Elements(p.qGamma, 1),
                     true,
                     outs({&p.qOut, &p.qOutBeforeQuantOptional}),
                     {},
                     none,
                     none});
    parts.push_back({of.q,
                     of.k,
                     Elements(p.kGamma, 1),
                     true,
                     outs({&p.kOutBeforeQuantOptional}),
                     {GroupsOf(of, p.kCacheRef)},
                     Elements(p.kScaleOptional, 1),
                     Elements(p.kOffsetOptional, 0)});
    parts.push_back({of.q + of.k,
                     of.v,
                     none,
                     false,
                     outs({&p.vOutBeforeQuantOptional}),
                     {GroupsOf(of, p.vCacheRef)},
                     Elements(p.vScaleOptional, 1),
                     Elements(p.vOffsetOptional, 0)});
  }

  void RunPart(const Buffers& buffers, const QkvPart& part, const Slots& slots) const {
    const int64_t width = of.width;
    const std::vector<double> gamma = part.gamma.All(buffers);
    const Quantizer quantizer{part.scale.All(buffers), part.offset.All(buffers),
                              Quantizer::kDivides};
    ParallelRows(of.tokens, part.heads * width, [&](int64_t token) {
      std::vector<double> numbers(static_cast<size_t>(4 * width));
      double *const c = numbers.data(), *const s = c + width, *const x = s + width,
                    *const turned = x + width;
      cos.Load(buffers, token, 0, width, c);
      sin.Load(buffers, token, 0, width, s);
      const int64_t slot = slots[static_cast<size_t>(token)];
      for (int64_t head = 0; head < part.heads; ++head) {
        qkv.Load(buffers, token, (part.first + head) * width, width, x);
        if (part.turns) {
          NormalizeRow(gamma, epsilon, x);
          TurnPairs({kHalves, width}, x, c, s, turned);
        }
        double* const row = part.turns ? turned : x;
        for (const PartsOfRows& out : part.outs) {
          out.Store(buffers, token, head * width, width, row);
        }
        if (part.cache.empty() || slot < 0) continue;
        quantizer.Apply(static_cast<size_t>(head * width), width, row);
        part.cache[0].Store(buffers, slot, head, width, row);
      }
    });
  }

  Status Run(const Buffers& buffers) const {
    Slots slots = index.AllWhole(buffers);
    Status found = CheckSlots(name, limit, &slots);
    if (!found.ok()) return found;
    for (const QkvPart& part : parts) RunPart(buffers, part, slots);
    return {};
  }

  QkvHeads of;
  PartsOfRows qkv, cos, sin;
  Elements index;
  const char* name;
  int64_t limit;
  double epsilon;
  std::vector<QkvPart> parts;
};

}  // namespace

void CheckQkvRopeCache(const QkvRopeCacheParams& p, Checker& checker) {
  CheckLists(p, checker);
  checker.Rank(p.qkv, 2).Rank(p.kCacheRef, 4).Rank(p.vCacheRef, 4);
  for (const Tensor* each :
       {&p.qGamma, &p.kGamma, &p.cos, &p.sin, &p.qOut, &p.qOutBeforeQuantOptional,
        &p.kOutBeforeQuantOptional, &p.vOutBeforeQuantOptional}) {
    if (each->present()) checker.SameDtype(*each, p.qkv);
  }
  CheckType(p.qkv, checker);
  CheckIndexType(p.index, checker);
  CheckCacheType(p.kCacheRef, p.qkv, p.kScaleOptional, checker);
  CheckCacheType(p.vCacheRef, p.qkv, p.vScaleOptional, checker);
  if (checker.ok()) CheckTensors(p, QkvHeads(p), checker);
}

Plan PlanQkvRopeCache(const QkvRopeCacheParams& p, const Product&) {
  return {0, [task = QkvTask(p)](const Buffers& buffers) { return task.Run(buffers); }};
}

}  // namespace openaclnn::supporting
