// SPDX-License-Identifier: Apache-2.0
// FusedInferAttentionScoreV2: softmax(scale * q k^T + shift, masked) v for each head, in double.
#include "generated/attention.h"
#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "supporting/attention/heads.h"

namespace openaclnn::supporting {
namespace {

/// A tensor that is broadcast to (batch, head, row of q, row of k). Masks of three dimensions, and
/// of two where q has one row, begin with the batch and are the same for all heads.
struct Scores {
  Scores() = default;
  /// Of at most four dimensions.
  Scores(const Tensor& tensor, bool of_batches)
      : given(true),
        place(tensor.place),
        dims(4, 1),
        steps(4, 0),
        load(LoaderOf<double>(tensor.dtype())) {
    const uint32_t rank = tensor.rank();
    for (uint32_t d = 0; d < rank; ++d) {
      const uint32_t to = of_batches && d == 0 ? 0 : d + 4 - rank;
      dims[to] = tensor.dim(d);
      // Of a view that is not checked yet.
      steps[to] = dims[to] == 1 ? 0 : WrappingProduct(tensor.tensor().strides[d], BytesOf(tensor));
    }
  }

  bool Fits(const Shape& shape) const {
    bool fits = true;
    for (size_t i = 0; i < 4; ++i) fits = fits && (dims[i] == 1 || dims[i] == shape[i]);
    return fits;
  }

  void Load(const Buffers& buffers, const std::array<int64_t, 3>& at, int64_t n, double* to) const {
    const int64_t offset = at[0] * steps[0] + at[1] * steps[1] + at[2] * steps[2];
    load(place(buffers) + offset, steps[3], n, to);
  }

  bool given = false;
  Place place;
  Shape dims, steps;  // steps in bytes
  LoadRow<double> load = nullptr;
};

Scores MaskOf(const Tensor& mask, const Heads& q) {
  return {mask, mask.rank() == 3 || (mask.rank() == 2 && q.rows == 1)};
}

struct Inference {
  explicit Inference(const FusedInferParams& p)
      : layout(LayoutOf(p.inputLayout)),
        scale(p.scaleValue),
        before(p.preTokens),
        after(p.nextTokens) {
    const int64_t width = layout.size() == 4 ? p.query.dim(static_cast<uint32_t>(layout.find('D')))
                                             : p.query.last_dim() / p.numHeads;
    q = Heads(p.query, layout, width);
    k = Heads(p.key[0], layout, width);
    v = Heads(p.value[0], layout, width);
    out = Heads(p.attentionOut, layout, width);
    windowed = p.sparseMode == 0 && q.rows > 1;
    if (p.pseShiftOptional.present()) shift = Scores(p.pseShiftOptional, false);
    if (p.attenMaskOptional.present()) mask = MaskOf(p.attenMaskOptional, q);
  }

  /// A row of scores; hidden ones are -infinity.
  void Row(const Buffers& buffers, const std::array<int64_t, 3>& at, const double* query,
           const std::vector<double>& keys, std::vector<double>* scores) const {
    const auto n = static_cast<size_t>(k.rows);
    scores->resize(n);
    std::vector<double> shifts(n), hidden(n);
    if (shift.given) shift.Load(buffers, at, k.rows, shifts.data());
    if (mask.given) mask.Load(buffers, at, k.rows, hidden.data());
    for (int64_t j = 0; j < k.rows; ++j) {
      const auto place = static_cast<size_t>(j);
      const bool outside = mask.given && windowed && (at[2] - j > before || j - at[2] > after);
      (*scores)[place] =
          hidden[place] != 0 || outside
              ? -INFINITY
              : scale * Dot(query, keys.data() + j * k.elements, k.elements) + shifts[place];
    }
  }

  void Head(const Buffers& buffers, int64_t batch, int64_t head) const {
    const int64_t served = head / (q.heads / k.heads);
    const auto queries = q.Load(buffers, batch, head), keys = k.Load(buffers, batch, served),
               values = v.Load(buffers, batch, served);
    std::vector<double> results(queries.size()), weights;
    for (int64_t i = 0; i < q.rows; ++i) {
      Row(buffers, {batch, head, i}, queries.data() + i * q.elements, keys, &weights);
      Softmax(&weights);
      auto sum = SumOfRows(k.elements);
      for (int64_t j = 0; j < k.rows; ++j) {
        sum.Add(Scaled{{&weights[static_cast<size_t>(j)], 1}, RowOf(values, j, k.elements)});
      }
      std::ranges::copy(sum.Total().values, results.begin() + i * q.elements);
    }
    out.Store(buffers, batch, head, results.data());
  }

  std::string_view layout;
  double scale;
  int64_t before, after;
  bool windowed = false;
  Heads q, k, v, out;
  Scores shift, mask;
};

/// All but the shift, the mask and sums that are not asked for must be left out.
void CheckAbsent(const FusedInferParams& p, Checker& checker) {
  for (const Tensor& tensor : p.tensors) {
    const bool taken = &tensor == &p.pseShiftOptional || &tensor == &p.attenMaskOptional ||
                       &tensor == &p.softmaxLse;
    checker.That(!tensor.optional || taken || !tensor.present(), [&] {
      return Concat(tensor.name(), " value is a tensor, expected null: it is not supported");
    });
  }
  for (const IntList& list : p.arrays) {
    checker.That(list.values().empty(), [&] {
      return Concat(list.name(), " size is ", list.values().size(),
                    ", expected 0: it is not supported");
    });
  }
  for (const GivenList* list : {&p.key, &p.value}) {
    checker.That(list->size == 1,
                 [&] { return Concat(list->name, " size is ", list->size, ", expected 1"); });
  }
}

void CheckSettings(const FusedInferParams& p, Checker& checker) {
  checker.That(!p.softmaxLseFlag, [&] { return "softmaxLseFlag value is true, expected false"; });
  const int64_t heads = p.numHeads, served = p.numKeyValueHeads == 0 ? heads : p.numKeyValueHeads;
  checker.That(heads > 0 && served > 0 && heads % served == 0, [&] {
    return Concat("numKeyValueHeads value is ", p.numKeyValueHeads,
                  ", expected a divisor of numHeads, ", heads);
  });
  if (!checker.ok()) return;
  const auto rank = static_cast<uint32_t>(std::string_view(p.inputLayout).size());
  for (const Tensor* tensor : {&p.query, p.key.tensors[0], p.value.tensors[0]}) {
    checker.Rank(*tensor, rank).SameDtype(*tensor, p.query);
  }
  checker.SameDtype(p.attentionOut, p.query);
  CheckShape(p.attentionOut, ShapeOf(p.query), checker);
}

/// What sums become that are not asked for.
std::function<void(const Buffers&)> ZerosOf(const Tensor& out) {
  const Offsets offsets(out, out.rank());
  const auto store = StorerOf<double>(out.dtype());
  return
      [=, count = *out.count(), bytes = BytesOf(out), place = out.place](const Buffers& buffers) {
        const double zero = 0;
        for (int64_t i = 0; i < count; ++i) store(&zero, 1, place(buffers) + offsets(i) * bytes, 0);
      };
}

}  // namespace

void CheckFusedInfer(const FusedInferParams& p, Checker& checker) {
  CheckAbsent(p, checker);
  if (checker.ok()) CheckSettings(p, checker);
  if (!checker.ok()) return;
  const std::string_view layout = p.inputLayout;
  const int64_t width = layout.size() == 4 ? p.query.dim(static_cast<uint32_t>(layout.find('D')))
                                           : p.query.last_dim() / p.numHeads;
  const Heads q(p.query, layout, width), k(p.key[0], layout, width), v(p.value[0], layout, width);
  const int64_t served = p.numKeyValueHeads == 0 ? p.numHeads : p.numKeyValueHeads;
  checker.That(q.heads == p.numHeads, [&] {
    return Concat("query shape is ", ShapeText(p.query), ", expected ", p.numHeads, " heads");
  });
  checker.That(k.batches == q.batches && k.heads == served &&
                   (layout.size() == 3 || p.key[0].last_dim() == width),
               [&] {
                 return Concat("key shape is ", ShapeText(p.key[0]), ", expected ", served,
                               " heads with the batches and the width of query's");
               });
  CheckShape(p.value[0], ShapeOf(p.key[0]), checker);
  checker.That(p.sparseMode == 0 || p.sparseMode == 1 || q.rows == 1,
               [&] { return Concat("sparseMode value is ", p.sparseMode, ", expected 0 or 1"); });
  const Shape shape = {q.batches, q.heads, q.rows, k.rows};
  const auto check = [&](const Tensor& scores, const auto& aligned) {
    if (!scores.present()) return;
    checker.That(scores.rank() <= 4 && aligned().Fits(shape), [&] {
      return Concat(scores.name(), " shape is ", ShapeText(scores),
                    ", expected one that can be broadcast to ", ShapeText(shape.data(), 4));
    });
  };
  check(p.pseShiftOptional, [&] { return Scores(p.pseShiftOptional, false); });
  check(p.attenMaskOptional, [&] { return MaskOf(p.attenMaskOptional, q); });
}

Plan PlanFusedInfer(const FusedInferParams& p, const Product&) {
  const Tensor& sums = p.softmaxLse;
  std::function<void(const Buffers&)> clear = [](const Buffers&) {};
  if (sums.present()) clear = ZerosOf(sums);
  if (p.attentionOut.empty()) {
    return {0, [=](const Buffers& buffers) -> Status {
              clear(buffers);
              return {};
            }};
  }
  const Inference inference(p);
  return {0, [=](const Buffers& buffers) -> Status {
            clear(buffers);
            const Heads& q = inference.q;
            ParallelRows(
                q.batches * q.heads, q.rows * inference.k.rows * q.elements,
                [&](int64_t which) { inference.Head(buffers, which / q.heads, which % q.heads); });
            return {};
          }};
}

}  // namespace openaclnn::supporting
