// SPDX-License-Identifier: Apache-2.0
// RingAttentionUpdate: results of attention over two parts of the keys become that over both.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "generated/attention.h"
#include "supporting/attention/heads.h"
#include "supporting/row_group.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kRowsTogether = 64;  // of one allocation

/// A partial result: for each row the output, the largest score and the sum of exponentials.
struct Partial {
  Heads out, max, sum;
};

/// Sequences that lie one behind the other: where they end, as a tensor says.
struct SequenceEnds {
  Place place;
  int64_t count, step, rows;  // step in elements

  /// The ends of sequences that have rows, and that of the rows behind the last one, which are a
  /// sequence too.
  Status Read(const Buffers& buffers, std::vector<int64_t>* ends) const {
    const auto* const from = reinterpret_cast<const int64_t*>(place(buffers));
    int64_t last = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t end = from[i * step];
      if (end < last || end > rows) {
        return Status(507035, Concat("actualSeqQlenOptional value ", i, " is ", end, ", expected ",
                                     last, " to ", rows, ", the end of a sequence"));
      }
      if (end != last) ends->push_back(end);
      last = end;
    }
    ends->push_back(rows);
    return {};
  }
};

/// Where the numbers of a row are. With `ends`, a sequence has the numbers of its first head row by
/// row, then those of its second head. Without, numbers lie as their dimensions say.
int64_t NumbersAt(const Heads& numbers, int64_t batch, int64_t head, int64_t row,
                  const std::vector<int64_t>& ends) {
  if (ends.empty()) return numbers.lie.Offset(batch, head, row);
  const auto end = std::upper_bound(ends.begin(), ends.end(), row);
  const int64_t first = end == ends.begin() ? 0 : end[-1];
  const int64_t number = first * numbers.heads + head * (*end - first) + row - first;
  return numbers.lie.Offset(0, number % numbers.heads, number / numbers.heads);
}

bool HasPackedRows(const RingAttentionUpdateParams& p) {
  return IsPacked(LayoutOf(p.inputLayoutOptional));
}

/// Whether a sequence has its numbers head after head.
bool ByHeads(const RingAttentionUpdateParams& p) {
  const bool as_rows = p.inputSoftmaxLayout != nullptr && IsPacked(p.inputSoftmaxLayout);
  return HasPackedRows(p) && !as_rows;
}

}  // namespace

void CheckRingAttentionUpdate(const RingAttentionUpdateParams& p, Checker& checker) {
  const bool packed = HasPackedRows(p);
  const Tensor &of = p.prevAttnOut, &numbers = p.prevSoftmaxMax, &ends = p.actualSeqQlenOptional;
  checker.Rank(of, 3).Rank(numbers, packed ? 3 : 4);
  CheckType(of, checker);
  checker.SameShapeAndDtype(p.curAttnOut, of).SameShapeAndDtype(p.attnOutOut, of);
  if (!checker.ok()) return;
  const int64_t heads = numbers.dim(1);
  checker.That(packed || (heads > 0 && of.dim(2) % heads == 0), [&] {
    return Concat("prevSoftmaxMax shape is ", ShapeText(numbers),
                  ", expected a number of heads that divides the last dimension of prevAttnOut, ",
                  ShapeText(of));
  });
  const Shape shape = packed ? Shape{of.dim(0), of.dim(1), kAttentionCopies}
                             : Shape{of.dim(1), heads, of.dim(0), kAttentionCopies};
  for (const Tensor* each : {&p.prevSoftmaxMax, &p.prevSoftmaxSum, &p.curSoftmaxMax,
                             &p.curSoftmaxSum, &p.softmaxMaxOut, &p.softmaxSumOut}) {
    checker.That(each->dtype() == ACL_FLOAT, [&] { return DtypeIs(*each, "FLOAT"); });
    CheckShape(*each, shape, checker);
  }
  if (!packed || !checker.ok()) return;
  checker.That(ends.present(), [] {
    return "actualSeqQlenOptional value is null, expected a tensor, as inputLayoutOptional is TND";
  });
  if (!checker.ok()) return;
  checker.Rank(ends, 1);
  checker.That(ends.dtype() == ACL_INT64, [&] { return DtypeIs(ends, "INT64"); });
  constexpr int64_t kMostEnds = int64_t{1} << 21;
  checker.That(ends.rank() != 1 || ends.dim(0) <= kMostEnds, [&] {
    return Concat(ends.name(), " shape is ", ShapeText(ends), ", expected at most ", kMostEnds,
                  " sequences");
  });
}

namespace {

/// The call as phase 2 runs it. Everything is computed in double.
class RingUpdate {
 public:
  explicit RingUpdate(const RingAttentionUpdateParams& p)
      : parts_{Of(p, p.prevAttnOut, p.prevSoftmaxMax, p.prevSoftmaxSum),
               Of(p, p.curAttnOut, p.curSoftmaxMax, p.curSoftmaxSum)},
        result_(Of(p, p.attnOutOut, p.softmaxMaxOut, p.softmaxSumOut)),
        load_(LoaderOf<double>(p.attnOutOut.dtype())),
        store_(StorerOf<double>(p.attnOutOut.dtype())) {}

  /// Those of the numbers: a result without elements has no heads that can be counted.
  int64_t rows() const { return result_.max.batches * result_.max.rows * result_.max.heads; }
  int64_t width() const { return result_.out.elements; }

  /// Rows [first, first + count), of which a row of the query has one for each head.
  void Run(const Buffers& buffers, const std::vector<int64_t>& ends, int64_t first,
           int64_t count) const {
    std::vector<double> sum(static_cast<size_t>(width())), one(sum.size());
    for (int64_t i = first; i < first + count; ++i) {
      const Heads &out = result_.out, &of_rows = result_.max;
      const int64_t head = i % of_rows.heads, row = i / of_rows.heads % of_rows.rows,
                    batch = i / of_rows.heads / of_rows.rows;
      std::array<double, 2> max, weight;
      for (size_t j = 0; j < 2; ++j) {
        max[j] = NumberOf(parts_[j].max, buffers, batch, head, row, ends);
        weight[j] = NumberOf(parts_[j].sum, buffers, batch, head, row, ends);
      }
      const double top = Largest(max, weight);
      for (size_t j = 0; j < 2; ++j) {
        if (weight[j] != 0 && max[j] != top) weight[j] *= std::exp(max[j] - top);
      }
      const double total = weight[0] + weight[1];
      std::fill(sum.begin(), sum.end(), 0.0);
      // A part that has seen no key adds nothing, whatever its result is.
      for (size_t j = 0; j < 2; ++j) {
        if (weight[j] == 0) continue;
        const Heads& of = parts_[j].out;
        load_(of.place(buffers) + of.lie.Offset(batch, head, row),
              of.lie.element_step * of.lie.bytes, width(), one.data());
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += weight[j] / total * one[k];
      }
      store_(sum.data(), width(), out.place(buffers) + out.lie.Offset(batch, head, row),
             out.lie.element_step * out.lie.bytes);
      StoreNumber(result_.max, buffers, batch, head, row, ends, top);
      StoreNumber(result_.sum, buffers, batch, head, row, ends, total);
    }
  }

 private:
  /// The largest score of the parts that have seen keys, or of both if neither has.
  static double Largest(const std::array<double, 2>& max, const std::array<double, 2>& sum) {
    if ((sum[0] == 0) != (sum[1] == 0)) return sum[0] == 0 ? max[1] : max[0];
    return Less(max[0], max[1]) ? max[1] : max[0];
  }

  static Partial Of(const RingAttentionUpdateParams& p, const Tensor& out, const Tensor& max,
                    const Tensor& sum) {
    const std::string_view layout = LayoutOf(p.inputLayoutOptional);
    const std::string_view numbers = HasPackedRows(p) ? "TND" : "BNSD";
    return {{out, layout, WidthOf(out, layout, max.dim(1))},
            {max, numbers, kAttentionCopies},
            {sum, numbers, kAttentionCopies}};
  }

  static double NumberOf(const Heads& numbers, const Buffers& buffers, int64_t batch, int64_t head,
                         int64_t row, const std::vector<int64_t>& ends) {
    const int64_t at = NumbersAt(numbers, batch, head, row, ends);
    return *reinterpret_cast<const float*>(numbers.place(buffers) + at);
  }

  /// Writes all copies.
  static void StoreNumber(const Heads& numbers, const Buffers& buffers, int64_t batch, int64_t head,
                          int64_t row, const std::vector<int64_t>& ends, double number) {
    std::array<double, kAttentionCopies> copies;
    copies.fill(number);
    StorerOf<double>(ACL_FLOAT)(copies.data(), kAttentionCopies,
                                numbers.place(buffers) + NumbersAt(numbers, batch, head, row, ends),
                                numbers.lie.element_step * numbers.lie.bytes);
  }

  std::array<Partial, 2> parts_;
  Partial result_;
  LoadRow<double> load_;
  StoreRow<double> store_;
};

}  // namespace

Plan PlanRingAttentionUpdate(const RingAttentionUpdateParams& p, const Product&) {
  const Tensor& ends = p.actualSeqQlenOptional;
  const bool by_heads = ByHeads(p);
  const int64_t step = by_heads ? ends.tensor().strides[0] : 0;
  const SequenceEnds sequences = {ends.place, by_heads ? ends.dim(0) : 0, step,
                                  p.attnOutOut.dim(0)};
  return {0, [=, update = RingUpdate(p)](const Buffers& buffers) -> Status {
            std::vector<int64_t> read;
            if (by_heads) {
              Status found = sequences.Read(buffers, &read);
              if (!found.ok()) return found;
            }
            ParallelRowGroups(
                update.rows(), update.width(), kRowsTogether,
                [&](int64_t first, int64_t count) { update.Run(buffers, read, first, count); });
            return {};
          }};
}

}  // namespace openaclnn::supporting
