// SPDX-License-Identifier: Apache-2.0
// FlashAttentionScore and its gradient: out = dropout(softmax(scale * q k^T, masked)) v for each
// head. Everything is computed in double; a head of k and v may serve several of q.
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "kernels/rows.h"
#include "supporting/operators.h"
#include "supporting/philox.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

// Places that the forward and the gradient have in common.
enum : size_t { kQ, kK, kV };

constexpr int64_t kCopies = 8;  // of each maximum and sum, as the API has them

/// q, k, v and tensors of their shapes as (batch, head, row, element).
struct Heads {
  Heads() = default;
  /// `given` is that of the operand's layout, by the letters of BNSD, BSND, BSH and SBH.
  Heads(const Operand& operand, std::string_view layout, int64_t width)
      : bytes(BytesOf(operand)),
        load(LoaderOf<double>(operand.dtype())),
        store(StorerOf<double>(operand.dtype())) {
    const auto axis = [&](char letter) { return static_cast<uint32_t>(layout.find(letter)); };
    const auto step_of = [&](uint32_t d) { return operand.tensor().strides[d]; };
    batches = operand.dim(axis('B'));
    rows = operand.dim(axis('S'));
    elements = width;
    batch_step = step_of(axis('B'));
    row_step = step_of(axis('S'));
    if (layout.size() == 4) {
      heads = operand.dim(axis('N'));
      head_step = step_of(axis('N'));
      element_step = step_of(axis('D'));
    } else {
      heads = width == 0 ? 0 : operand.dim(axis('H')) / width;
      element_step = step_of(axis('H'));
      head_step = element_step * width;
    }
  }

  std::byte* Row(std::byte* origin, int64_t batch, int64_t head, int64_t row) const {
    return origin + (batch * batch_step + head * head_step + row * row_step) * bytes;
  }
  /// All rows of a head, one after the other.
  std::vector<double> Load(std::byte* origin, int64_t batch, int64_t head) const {
    std::vector<double> values(static_cast<size_t>(rows * elements));
    for (int64_t row = 0; row < rows; ++row) {
      load(Row(origin, batch, head, row), element_step * bytes, elements,
           values.data() + row * elements);
    }
    return values;
  }
  void Store(std::byte* origin, int64_t batch, int64_t head, const double* values) const {
    for (int64_t row = 0; row < rows; ++row) {
      store(values + row * elements, elements, Row(origin, batch, head, row), element_step * bytes);
    }
  }

  int64_t batches = 0, heads = 0, rows = 0, elements = 0;
  int64_t batch_step = 0, head_step = 0, row_step = 0, element_step = 0;
  int64_t bytes = 0;
  LoadRow<double> load = nullptr;
  StoreRow<double> store = nullptr;
};

/// What of a row's scores is left out.
struct Mask {
  bool Hides(const Buffers& buffers, int64_t batch, int64_t head, int64_t i, int64_t j) const {
    if (causal) return j > i;
    if (!given) return false;
    if (j < i - before || j > i + after) return true;
    const int64_t offset = batch * steps[0] + head * steps[1] + i * steps[2] + j * steps[3];
    return buffers.As<uint8_t>(place)[offset] != 0;
  }

  bool causal = false, given = false;
  int64_t before = 0, after = 0;
  size_t place = 0;
  std::array<int64_t, 4> steps{};
};

/// What a call has besides its tensors, in this order.
struct Settings {
  explicit Settings(const Params& p)
      : before(p.integers[0]),
        after(p.integers[1]),
        heads(p.integers[2]),
        layout(p.integers[3]),
        sparse_mode(p.integers[4]),
        scale(p.reals[0]),
        keep(p.reals[1]) {
    // Later versions end with the seed and the offset of a dropout without a mask.
    if (p.integers.size() > 6) {
      seeded = true;
      seed = static_cast<uint64_t>(p.integers.end()[-2]);
      offset = static_cast<uint64_t>(p.integers.end()[-1]);
    }
  }

  int64_t before, after, heads, layout, sparse_mode;
  double scale, keep;
  bool seeded = false;
  uint64_t seed = 0, offset = 0;
};

constexpr std::array<std::string_view, 4> kLayouts = {"BNSD", "BSND", "BSH", "SBH"};

struct Attention {
  Attention(const Params& p, size_t drop, size_t mask_place) : drop_place(drop) {
    const Settings settings(p);
    layout = kLayouts[static_cast<size_t>(settings.layout)];
    const Operand& query = p.tensors[kQ];
    const int64_t width = layout.size() == 4 ? query.dim(static_cast<uint32_t>(layout.find('D')))
                                             : query.last_dim() / settings.heads;
    q = Heads(query, layout, width);
    k = Heads(p.tensors[kK], layout, width);
    v = Heads(p.tensors[kV], layout, width);
    scale = settings.scale;
    keep = settings.keep;
    has_drop = p.tensors[drop].present() && !p.tensors[drop].empty() && keep < 1;
    seeded = settings.seeded && !has_drop && keep < 1;
    seed = settings.seed;
    offset = settings.offset;
    const Operand& masking = p.tensors[mask_place];
    mask.causal = settings.sparse_mode == 2;
    mask.given = masking.present() && !masking.empty() && !mask.causal;
    // In mode 1 the mask alone counts.
    mask.before = settings.sparse_mode == 1 ? k.rows + q.rows : settings.before;
    mask.after = settings.sparse_mode == 1 ? k.rows + q.rows : settings.after;
    mask.place = mask_place;
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

  static double Dot(const double* a, const double* b, int64_t n) {
    TreeSum<double> sum;
    for (int64_t i = 0; i < n; ++i) sum.Add(a[i] * b[i]);
    return sum.Total();
  }

  /// 1 / keep for what stays, 0 for what is dropped.
  double Kept(const Buffers& buffers, int64_t batch, int64_t head, int64_t i, int64_t j) const {
    if (!has_drop && !seeded) return 1;
    const int64_t bit = ((batch * q.heads + head) * q.rows + i) * k.rows + j;
    if (seeded) {
      return 1 - Philox(seed, offset, static_cast<uint64_t>(bit)).Open(0) < keep ? 1 / keep : 0;
    }
    const bool stays = (buffers.As<uint8_t>(drop_place)[bit / 8] >> (bit % 8) & 1) != 0;
    return stays ? 1 / keep : 0;
  }

  int64_t group() const { return k.heads == 0 ? 1 : q.heads / k.heads; }

  std::string_view layout;
  Heads q, k, v;
  double scale = 1, keep = 1;
  bool has_drop = false, seeded = false;
  uint64_t seed = 0, offset = 0;
  size_t drop_place;
  Mask mask;
};

/// What softmax leaves behind for the gradient.
struct RowSums {
  double max = 0, sum = 0;
};

/// A row of scores becomes its softmax; one that is hidden whole becomes zeros.
RowSums Softmax(std::vector<double>* scores) {
  RowSums sums;
  const double max = *std::max_element(scores->begin(), scores->end());
  if (max == -INFINITY) {
    std::fill(scores->begin(), scores->end(), 0.0);
    return sums;
  }
  sums.max = max;
  TreeSum<double> sum;
  for (double& score : *scores) {
    score = std::exp(score - max);
    sum.Add(score);
  }
  sums.sum = sum.Total();
  for (double& score : *scores) score /= sums.sum;
  return sums;
}

/// Factors, one for each row of a sum of rows, times a row.
struct Scaled {
  std::span<const double> factors, row;
};

/// Rows that a tree sums together.
struct SummedRows {
  std::vector<double> values;

  SummedRows& operator+=(const Scaled& term) {
    double* to = values.data();
    for (const double factor : term.factors) {
      for (const double element : term.row) *to++ += factor * element;
    }
    return *this;
  }
  friend SummedRows operator+(const SummedRows& left, SummedRows right) {
    for (size_t i = 0; i < right.values.size(); ++i) right.values[i] += left.values[i];
    return right;
  }
};

/// Of `count` elements.
TreeSum<SummedRows> SumOfRows(int64_t count) {
  return TreeSum<SummedRows>({std::vector<double>(static_cast<size_t>(count))});
}

std::span<const double> RowOf(const std::vector<double>& rows, int64_t row, int64_t n) {
  return std::span(rows).subspan(static_cast<size_t>(row * n), static_cast<size_t>(n));
}

/// The place of the first output.
size_t OutputsOf(const Params& p) {
  size_t at = 0;
  while (p.tensors[at].role() == OPENACLNN_INPUT) ++at;
  return at;
}

/// What is not supported, and what later versions have from `more` on.
void CheckNull(const Params& p, size_t shift, size_t padding, size_t more, Checker& checker) {
  for (size_t at = shift; at < OutputsOf(p); ++at) {
    if (at != shift && at != padding && at < more) continue;
    const Operand& operand = p.tensors[at];
    checker.That(!operand.present() || operand.empty(), [&] {
      return Concat(operand.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& prefix : p.arrays) {
    checker.That(prefix.values().empty(), [&] {
      return Concat(prefix.name(), " size is ", prefix.values().size(),
                    ", expected 0: it is not supported");
    });
  }
}

void CheckSettings(const Params& p, Checker& checker) {
  const Settings settings(p);
  checker.That(settings.layout >= 0,
               [&] { return "inputLayout value is another, expected BNSD, BSND, BSH or SBH"; });
  checker.That(settings.sparse_mode >= 0 && settings.sparse_mode <= 2, [&] {
    return Concat("sparseMode value is ", settings.sparse_mode, ", expected 0, 1 or 2");
  });
  checker.That(settings.keep > 0 && settings.keep <= 1, [&] {
    return Concat("keepProb value is ", settings.keep, ", expected more than 0, at most 1");
  });
  checker.That(settings.heads > 0, [&] {
    return Concat("headNum value is ", settings.heads, ", expected more than 0");
  });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(kLayouts[static_cast<size_t>(settings.layout)].size());
  for (size_t at = kQ; at <= kV; ++at) {
    checker.Rank(p.tensors[at], rank).SameDtype(p.tensors[at], p.tensors[kQ]);
  }
}

void CheckHeads(const Params& p, const Attention& attention, size_t mask, size_t drop,
                Checker& checker) {
  const Settings settings(p);
  const Heads &q = attention.q, &k = attention.k, &v = attention.v;
  checker.That(q.heads == settings.heads, [&] {
    return Concat("query shape is ", ShapeText(p.tensors[kQ]), ", expected ", settings.heads,
                  " heads");
  });
  checker.That(k.batches == q.batches && k.heads > 0 && q.heads % k.heads == 0 &&
                   (attention.layout.size() == 3 || p.tensors[kK].last_dim() == q.elements),
               [&] {
                 return Concat("key shape is ", ShapeText(p.tensors[kK]),
                               ", expected the batches and the width of query's heads, and a ",
                               "number of heads that divides theirs");
               });
  checker.That(ShapeOf(p.tensors[kV]) == ShapeOf(p.tensors[kK]) && v.heads == k.heads, [&] {
    return Concat("value shape is ", ShapeText(p.tensors[kV]), ", expected that of key, ",
                  ShapeText(p.tensors[kK]));
  });
  const Operand& masking = p.tensors[mask];
  if (attention.mask.given) {
    checker.That(masking.dtype() == ACL_BOOL || masking.dtype() == ACL_UINT8,
                 [&] { return DtypeIs(masking, "BOOL, UINT8"); });
    Shape shape = {q.batches, q.heads, q.rows, k.rows};
    const Shape scores = shape;
    checker.That(masking.rank() <= 4 && BroadcastShape(masking, &shape) && shape == scores, [&] {
      return Concat("attenMask shape is ", ShapeText(masking), ", expected one that can be ",
                    "broadcast to ", ShapeText(scores.data(), 4));
    });
  }
  const Operand& drops = p.tensors[drop];
  const int64_t bits = q.batches * q.heads * q.rows * k.rows;
  checker.That(
      !attention.has_drop || (drops.dtype() == ACL_UINT8 && *drops.count() >= (bits + 7) / 8), [&] {
        return Concat("dropMask shape is ", ShapeText(drops), ", expected UINT8 with ", bits,
                      " bits");
      });
}

}  // namespace

int64_t AttentionLayout(const char* name) {
  for (size_t i = 0; name != nullptr && i < kLayouts.size(); ++i) {
    if (kLayouts[i] == name) return static_cast<int64_t>(i);
  }
  return -1;
}

// query, key, value, realShift, dropMask, paddingMask, attenMask, …; softmaxMax, softmaxSum,
// softmaxOut, attentionOut.
void CheckAttention(const Params& p, Checker& checker) {
  CheckNull(p, 3, 5, 7, checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  const Attention attention(p, 4, 6);
  CheckHeads(p, attention, 6, 4, checker);
  const size_t outputs = OutputsOf(p);
  for (const size_t at : {outputs, outputs + 1}) {
    const Heads& q = attention.q;
    CheckShape(p.tensors[at], {q.batches, q.heads, q.rows, kCopies}, checker);
  }
  checker.SameShapeAndDtype(p.tensors[outputs + 3], p.tensors[kQ]);
}

Plan PlanAttention(const Params& p) {
  const Attention attention(p, 4, 6);
  const size_t outputs = OutputsOf(p);
  const Heads out(p.tensors[outputs + 3], attention.layout, attention.q.elements);
  struct Sums {
    explicit Sums(const Operand& operand)
        : offsets(operand, operand.rank()),
          bytes(BytesOf(operand)),
          store(StorerOf<double>(operand.dtype())) {}
    Offsets offsets;
    int64_t bytes;
    StoreRow<double> store;
  };
  const Sums maxima(p.tensors[outputs]), sums(p.tensors[outputs + 1]);
  return {0, [=](const Buffers& buffers) -> Status {
            const Heads &q = attention.q, &k = attention.k;
            const auto at = [&](size_t i) { return buffers.As<std::byte>(i); };
            if (k.rows == 0) return {};
            ParallelRows(q.batches * q.heads, q.rows * k.rows * q.elements, [&](int64_t which) {
              const int64_t batch = which / q.heads, head = which % q.heads;
              const auto queries = q.Load(at(kQ), batch, head);
              const auto keys = k.Load(at(kK), batch, head / attention.group());
              const auto values = attention.v.Load(at(kV), batch, head / attention.group());
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
                  maxima.store(&row.max, 1, at(outputs) + maxima.offsets(to) * maxima.bytes, 0);
                  sums.store(&row.sum, 1, at(outputs + 1) + sums.offsets(to) * sums.bytes, 0);
                }
              }
              out.Store(at(outputs + 3), batch, head, results.data());
            });
            return {};
          }};
}

// query, key, value, dy, pseShift, dropMask, paddingMask, attenMask, softmaxMax, softmaxSum,
// softmaxIn, attentionIn, …; dq, dk, dv, …. The softmax is made again from q and k, so that what
// the forward left is not needed.
void CheckAttentionGradient(const Params& p, Checker& checker) {
  CheckNull(p, 4, 6, 12, checker);
  CheckSettings(p, checker);
  if (!checker.ok()) return;
  CheckHeads(p, Attention(p, 5, 7), 7, 5, checker);
  checker.SameShapeAndDtype(p.tensors[3], p.tensors[kQ]);
  for (size_t i = 0; i < 3; ++i) {
    checker.SameShapeAndDtype(p.tensors[OutputsOf(p) + i], p.tensors[kQ + i]);
  }
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
      slopes[at] = factor * Attention::Dot(dy.data(), values.data() + j * k.elements, k.elements);
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

  void Run(int64_t batch, int64_t kv_head, size_t outputs, const Heads& dq_to, const Heads& dk_to,
           const Heads& dv_to) {
    const Heads& q = attention.q;
    const auto at = [&](size_t i) { return buffers.As<std::byte>(i); };
    keys = attention.k.Load(at(kK), batch, kv_head);
    values = attention.v.Load(at(kV), batch, kv_head);
    dk = SumOfRows(static_cast<int64_t>(keys.size()));
    dv = SumOfRows(static_cast<int64_t>(values.size()));
    for (int64_t g = 0; g < attention.group(); ++g) {
      const int64_t head = kv_head * attention.group() + g;
      const auto queries = q.Load(at(kQ), batch, head), dy = upstream.Load(at(3), batch, head);
      std::vector<double> dq(queries.size(), 0);
      for (int64_t i = 0; i < q.rows && attention.k.rows > 0; ++i) {
        AddRow(batch, head, i, queries, dy, &dq);
      }
      dq_to.Store(at(outputs), batch, head, dq.data());
    }
    dk_to.Store(at(outputs + 1), batch, kv_head, dk.Total().values.data());
    dv_to.Store(at(outputs + 2), batch, kv_head, dv.Total().values.data());
  }

  const Attention& attention;
  const Heads& upstream;
  const Buffers& buffers;
  std::vector<double> keys, values, weights, kept, slopes;
  TreeSum<SummedRows> dk, dv;  // over the rows of all heads of q
};

}  // namespace

Plan PlanAttentionGradient(const Params& p) {
  const Attention attention(p, 5, 7);
  const auto heads = [&](size_t at) {
    return Heads(p.tensors[at], attention.layout, attention.q.elements);
  };
  const size_t outputs = OutputsOf(p);
  const Heads dy = heads(3), dq = heads(outputs), dk = heads(outputs + 1), dv = heads(outputs + 2);
  return {0, [=](const Buffers& buffers) -> Status {
            const Heads &q = attention.q, &k = attention.k;
            ParallelRows(k.batches * k.heads, q.rows * k.rows * q.elements, [&](int64_t which) {
              HeadGradient gradient(attention, dy, buffers);
              gradient.Run(which / k.heads, which % k.heads, outputs, dq, dk, dv);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
