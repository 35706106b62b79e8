// SPDX-License-Identifier: Apache-2.0
// FlashAttentionScore and its gradient: out = dropout(softmax(scale * q k^T, masked)) v for each
// head. Everything is computed in double; a head of k and v may serve several of q.
#include "generated/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "supporting/attention/heads.h"
#include "supporting/elements.h"
#include "supporting/philox.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kCopies = 8;  // of each maximum and sum, as the API has them

/// What of a row's scores is left out.
struct Mask {
  bool Hides(const Buffers& buffers, int64_t batch, int64_t head, int64_t i, int64_t j) const {
    if (causal) return j > i;
    if (!given) return false;
    if (i - j > before || j - i > after) return true;  // their sums with i may overflow
    const int64_t offset = batch * steps[0] + head * steps[1] + i * steps[2] + j * steps[3];
    return place(buffers)[offset] != std::byte{0};
  }

  bool causal = false, given = false;
  int64_t before = 0, after = 0;
  Place place;
  std::array<int64_t, 4> steps{};
};

struct Attention {
  /// Of a call or of its gradient.
  template <class P>
  explicit Attention(const P& p)
      : layout(LayoutOf(p.inputLayout)),
        scale(p.scaleValue),
        keep(p.keepProb),
        seed(static_cast<uint64_t>(p.seed)),
        offset(static_cast<uint64_t>(p.offset)),
        drop(p.dropMaskOptional.place) {
    const Tensor& query = p.query;
    const int64_t width = layout.size() == 4 ? query.dim(static_cast<uint32_t>(layout.find('D')))
                                             : query.last_dim() / p.headNum;
    q = Heads(query, layout, width);
    k = Heads(p.key, layout, width);
    v = Heads(p.value, layout, width);
    has_drop = p.dropMaskOptional.present() && !p.dropMaskOptional.empty() && keep < 1;
    if (has_drop) drop_bytes = Offsets(p.dropMaskOptional, p.dropMaskOptional.rank());
    seeded = p.seeded && !has_drop && keep < 1;
    const Tensor& masking = p.attenMaskOptional;
    mask.causal = p.sparseMode == 2;
    mask.given = masking.present() && !masking.empty() && !mask.causal;
    // In mode 1 the mask alone counts.
    mask.before = p.sparseMode == 1 ? INT64_MAX : p.preTokens;
    mask.after = p.sparseMode == 1 ? INT64_MAX : p.nextTokens;
    mask.place = masking.place;
    for (uint32_t d = 0; d < masking.rank() && d < 4; ++d) {
      const uint32_t from = masking.rank() - 1 - d;
      if (masking.dim(from) != 1) mask.steps[3 - d] = masking.tensor().strides[from];
    }
  }

  /// The scores of a row of q, hidden ones as -infinity.
  void Scores(const Buffers& buffers, int64_t batch, int64_t head, int64_t i, const double* row,
              const std::vector<double>& keys, std::vector<double>* scores) const {
    scores->assign(static_cast<size_t>(k.rows), 0);
    for (int64_t j = 0; j < k.rows; ++j) {
      double& score = (*scores)[static_cast<size_t>(j)];
      if (mask.Hides(buffers, batch, head, i, j)) {
        score = -INFINITY;
        continue;
      }
      score = scale * Dot(row, keys.data() + j * k.elements, k.elements);
    }
  }

  /// 1 / keep for what stays, 0 for what is dropped.
  double Kept(const Buffers& buffers, int64_t batch, int64_t head, int64_t i, int64_t j) const {
    if (!has_drop && !seeded) return 1;
    const int64_t bit = ((batch * q.heads + head) * q.rows + i) * k.rows + j;
    if (seeded) {
      return 1 - Philox(seed, offset, static_cast<uint64_t>(bit)).Open(0) < keep ? 1 / keep : 0;
    }
    const bool stays =
        (static_cast<uint8_t>(drop(buffers)[drop_bytes(bit / 8)]) >> (bit % 8) & 1) != 0;
    return stays ? 1 / keep : 0;
  }

  int64_t group() const { return k.heads == 0 ? 1 : q.heads / k.heads; }

  std::string_view layout;
  Heads q, k, v;
  double scale, keep;
  bool has_drop = false, seeded = false;  // dropout by a mask, or by what the seed draws
  uint64_t seed, offset;
  Place drop;
  Offsets drop_bytes;
  Mask mask;
};

/// Of tensors that may be null, all but some must be; so must all lists.
void CheckNull(const Params& p, std::initializer_list<const Tensor*> supported, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    const bool left_out = !tensor.present() || tensor.empty();
    if (!tensor.optional || tensor.role() == OPENACLNN_OUTPUT || left_out) continue;
    const bool fine = std::find(supported.begin(), supported.end(), &tensor) != supported.end();
    checker.That(fine, [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& prefix : p.arrays) {
    checker.That(prefix.values().empty(), [&] {
      return Concat(prefix.name(), " size is ", prefix.values().size(),
                    ", expected 0: it is not supported");
    });
  }
}

template <class P>
void CheckSettings(const P& p, Checker& checker) {
  checker.That(p.keepProb > 0 && p.keepProb <= 1, [&] {
    return Concat("keepProb value is ", p.keepProb, ", expected more than 0, at most 1");
  });
  checker.That(p.headNum > 0,
               [&] { return Concat("headNum value is ", p.headNum, ", expected more than 0"); });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(std::string_view(p.inputLayout).size());
  for (const Tensor* tensor : {&p.query, &p.key, &p.value}) {
    checker.Rank(*tensor, rank).SameDtype(*tensor, p.query);
  }
}

template <class P>
void CheckHeads(const P& p, const Attention& attention, Checker& checker) {
  const Heads &q = attention.q, &k = attention.k, &v = attention.v;
  checker.That(q.heads == p.headNum, [&] {
    return Concat("query shape is ", ShapeText(p.query), ", expected ", p.headNum, " heads");
  });
  checker.That(k.batches == q.batches && k.heads > 0 && q.heads % k.heads == 0 &&
                   (attention.layout.size() == 3 || p.key.last_dim() == q.elements),
               [&] {
                 return Concat("key shape is ", ShapeText(p.key),
                               ", expected the batches and the width of query's heads, and a ",
                               "number of heads that divides theirs");
               });
  checker.That(ShapeOf(p.value) == ShapeOf(p.key) && v.heads == k.heads, [&] {
    return Concat("value shape is ", ShapeText(p.value), ", expected that of key, ",
                  ShapeText(p.key));
  });
  const Shape scores = {q.batches, q.heads, q.rows, k.rows};
  const Tensor& masking = p.attenMaskOptional;
  if (attention.mask.given) {
    checker.That(masking.dtype() == ACL_BOOL || masking.dtype() == ACL_UINT8,
                 [&] { return DtypeIs(masking, "BOOL, UINT8"); });
    Shape shape = scores;
    checker.That(masking.rank() <= 4 && BroadcastShape(masking, &shape) && shape == scores, [&] {
      return Concat("attenMask shape is ", ShapeText(masking), ", expected one that can be ",
                    "broadcast to ", ShapeText(scores.data(), 4));
    });
  }
  const Tensor& drops = p.dropMaskOptional;
  const auto bits = ElementCount(scores.data(), 4);
  const bool enough =
      bits.has_value() && drops.present() && *drops.count() >= *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
  checker.That(!attention.has_drop || (drops.dtype() == ACL_UINT8 && enough), [&] {
    return Concat("dropMask shape is ", ShapeText(drops),
                  ", expected UINT8 with a bit for each of ", ShapeText(scores.data(), 4));
  });
}

}  // namespace

void CheckAttention(const AttentionParams& p, Checker& checker) {
  CheckNull(p, {&p.dropMaskOptional, &p.attenMaskOptional}, checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  const Attention attention(p);
  CheckHeads(p, attention, checker);
  const Heads& q = attention.q;
  for (const Tensor* sums : {&p.softmaxMaxOut, &p.softmaxSumOut}) {
    CheckShape(*sums, {q.batches, q.heads, q.rows, kCopies}, checker);
  }
  checker.SameShapeAndDtype(p.attentionOutOut, p.query);
}

Plan PlanAttention(const AttentionParams& p, const Product&) {
  const Attention attention(p);
  const Heads out(p.attentionOutOut, attention.layout, attention.q.elements);
  const Elements maxima(p.softmaxMaxOut, 0), sums(p.softmaxSumOut, 0);
  return {0, [=](const Buffers& buffers) -> Status {
            const Heads &q = attention.q, &k = attention.k;
            ParallelRows(q.batches * q.heads, q.rows * k.rows * q.elements, [&](int64_t which) {
              const int64_t batch = which / q.heads, head = which % q.heads;
              const auto queries = q.Load(buffers, batch, head);
              const auto keys = k.Load(buffers, batch, head / attention.group());
              const auto values = attention.v.Load(buffers, batch, head / attention.group());
              std::vector<double> results(queries.size(), 0), scores;
              for (int64_t i = 0; i < q.rows; ++i) {
                attention.Scores(buffers, batch, head, i, queries.data() + i * q.elements, keys,
                                 &scores);
                const RowSums row = Softmax(&scores);
                auto sum = SumOfRows(k.elements);
                for (int64_t j = 0; j < k.rows; ++j) {
                  const double weight =
                      scores[static_cast<size_t>(j)] * attention.Kept(buffers, batch, head, i, j);
                  sum.Add(Scaled{{&weight, 1}, RowOf(values, j, k.elements)});
                }
                std::ranges::copy(sum.Total().values, results.begin() + i * q.elements);
                for (int64_t copy = 0; copy < kCopies; ++copy) {
                  const int64_t to = (which * q.rows + i) * kCopies + copy;
                  maxima.Set(buffers, to, row.max);
                  sums.Set(buffers, to, row.sum);
                }
              }
              out.Store(buffers, batch, head, results.data());
            });
            return {};
          }};
}

// The softmax is made again from q and k, so that what the forward left is not needed.
void CheckAttentionGradient(const AttentionGradientParams& p, Checker& checker) {
  CheckNull(p,
            {&p.dropMaskOptional, &p.attenMaskOptional, &p.softmaxMaxOptional,
             &p.softmaxSumOptional, &p.softmaxInOptional, &p.attentionInOptional},
            checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  CheckHeads(p, Attention(p), checker);
  checker.SameShapeAndDtype(p.dy, p.query)
      .SameShapeAndDtype(p.dqOut, p.query)
      .SameShapeAndDtype(p.dkOut, p.key)
      .SameShapeAndDtype(p.dvOut, p.value);
}

namespace {

/// The gradients of one head of k and v, and of the heads of q that it serves.
struct HeadGradient {
  HeadGradient(const Attention& of, const Heads& dy, const Buffers& b)
      : attention(of), upstream(dy), buffers(b) {}

  /// The gradient of a row of q; what the row adds to those of k and v goes to their sums.
  void AddRow(int64_t batch, int64_t head, int64_t i, const std::vector<double>& queries,
              const std::vector<double>& dys, std::vector<double>* dq) {
    const Heads& k = attention.k;
    const auto query = RowOf(queries, i, k.elements), dy = RowOf(dys, i, k.elements);
    attention.Scores(buffers, batch, head, i, query.data(), keys, &weights);
    Softmax(&weights);
    kept.assign(weights.size(), 0);
    slopes.assign(weights.size(), 0);
    TreeSum<double> mean_sum;
    for (int64_t j = 0; j < k.rows; ++j) {
      const auto at = static_cast<size_t>(j);
      const double factor = attention.Kept(buffers, batch, head, i, j);
      kept[at] = weights[at] * factor;
      slopes[at] = factor * Dot(dy.data(), values.data() + j * k.elements, k.elements);
      mean_sum.Add(slopes[at] * weights[at]);
    }
    dv.Add(Scaled{kept, dy});
    const double mean = mean_sum.Total();
    auto dq_row = SumOfRows(k.elements);
    for (int64_t j = 0; j < k.rows; ++j) {
      double& slope = slopes[static_cast<size_t>(j)];
      slope = attention.scale * weights[static_cast<size_t>(j)] * (slope - mean);
      dq_row.Add(Scaled{{&slope, 1}, RowOf(keys, j, k.elements)});
    }
    dk.Add(Scaled{slopes, query});
    std::ranges::copy(dq_row.Total().values, dq->begin() + i * k.elements);
  }

  void Run(int64_t batch, int64_t kv_head, const Heads& dq_to, const Heads& dk_to,
           const Heads& dv_to) {
    const Heads& q = attention.q;
    keys = attention.k.Load(buffers, batch, kv_head);
    values = attention.v.Load(buffers, batch, kv_head);
    dk = SumOfRows(static_cast<int64_t>(keys.size()));
    dv = SumOfRows(static_cast<int64_t>(values.size()));
    for (int64_t g = 0; g < attention.group(); ++g) {
      const int64_t head = kv_head * attention.group() + g;
      const auto queries = q.Load(buffers, batch, head), dy = upstream.Load(buffers, batch, head);
      std::vector<double> dq(queries.size(), 0);
      for (int64_t i = 0; i < q.rows; ++i) {
        AddRow(batch, head, i, queries, dy, &dq);
      }
      dq_to.Store(buffers, batch, head, dq.data());
    }
    dk_to.Store(buffers, batch, kv_head, dk.Total().values.data());
    dv_to.Store(buffers, batch, kv_head, dv.Total().values.data());
  }

  const Attention& attention;
  const Heads& upstream;
  const Buffers& buffers;
  std::vector<double> keys, values, weights, kept, slopes;
  TreeSum<SummedRows> dk, dv;  // over the rows of all heads of q
};

}  // namespace

Plan PlanAttentionGradient(const AttentionGradientParams& p, const Product&) {
  const Attention attention(p);
  const auto heads = [&](const Tensor& tensor) {
    return Heads(tensor, attention.layout, attention.q.elements);
  };
  const Heads dy = heads(p.dy), dq = heads(p.dqOut), dk = heads(p.dkOut), dv = heads(p.dvOut);
  return {0, [=](const Buffers& buffers) -> Status {
            const Heads &q = attention.q, &k = attention.k;
            ParallelRows(k.batches * k.heads, q.rows * k.rows * q.elements, [&](int64_t which) {
              HeadGradient gradient(attention, dy, buffers);
              gradient.Run(which / k.heads, which % k.heads, dq, dk, dv);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
