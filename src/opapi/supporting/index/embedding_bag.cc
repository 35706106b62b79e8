// SPDX-License-Identifier: Apache-2.0
// EmbeddingBag: rows of a table, summed, averaged or their maxima in bags.
#include <algorithm>

#include "generated/index.h"
#include "kernels/rows.h"
#include "supporting/elements.h"
#include "supporting/places.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {
namespace {

enum Mode { kSum, kMean, kMaximum };

int64_t BagsOf(const EmbeddingBagParams& p) {
  return p.offsets.dim(0) - (p.includeLastOffset ? 1 : 0);
}

void CheckIntegers(const Tensor& tensor, int64_t count, int64_t most, Checker& checker) {
  CheckIndexType(tensor, most, checker);
  checker.That(tensor.count() == count, [&] {
    return Concat(tensor.name(), " shape is ", ShapeText(tensor), ", expected ", count,
                  " elements");
  });
}

/// The results of one call, a bag at a time.
struct Bags {
  explicit Bags(const EmbeddingBagParams& p)
      : weight(p.weight, 0),
        factors(p.perSampleWeights, 1),
        output(p.output, 0),
        bag_of(p.offset2bag, 0),
        sizes(p.bagSize, 0),
        maxima(p.maxIndices, 0),
        columns(p.weight.dim(1)),
        mode(p.mode),
        padding(p.paddingIdx) {}

  void Compute(const Buffers& buffers, const std::vector<int64_t>& indices, int64_t bag,
               int64_t begin, int64_t end) const {
    std::vector<int64_t> rows;  // by their place in indices
    for (int64_t i = begin; i < end; ++i) {
      bag_of.Set(buffers, i, static_cast<double>(bag));
      if (indices[static_cast<size_t>(i)] != padding) rows.push_back(i);
    }
    sizes.Set(buffers, bag, static_cast<double>(rows.size()));
    for (int64_t column = 0; column < columns; ++column) {
      const auto value = [&](int64_t i) {
        return weight.Get(buffers, indices[static_cast<size_t>(i)] * columns + column);
      };
      double result = 0;
      if (mode == kMaximum) {
        int64_t best = 0;
        for (const int64_t i : rows) {
          const double own = value(i);
          const bool nan = IsNan(own) && !IsNan(result);
          if (i != rows.front() && !(own > result) && !nan) continue;
          result = own;
          best = indices[static_cast<size_t>(i)];
        }
        maxima.Set(buffers, bag * columns + column, static_cast<double>(best));
      } else {
        TreeSum<double> sum;
        for (const int64_t i : rows) sum.Add(value(i) * factors.Get(buffers, i));
        result = sum.Total();
        if (mode == kMean && !rows.empty()) result /= static_cast<double>(rows.size());
      }
      output.Set(buffers, bag * columns + column, result);
    }
  }

  Elements weight, factors, output, bag_of, sizes, maxima;
  int64_t columns, mode, padding;
};

/// Offsets begin at 0 and do not fall, to the last one if there has to be one.
Status CheckOffsets(const std::vector<int64_t>& offsets, std::optional<int64_t> last) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t least = i == 0 ? 0 : offsets[i - 1];
    if (offsets[i] >= least && (i > 0 || offsets[0] == 0)) continue;
    return Status(507035, Concat("offsets value ", i, " is ", offsets[i], ", expected ", least,
                                 i == 0 ? "" : " or more"));
  }
  if (last && offsets.back() != *last) {
    return Status(507035, Concat("offsets value ", offsets.size() - 1, " is ", offsets.back(),
                                 ", expected ", *last, ", where the last bag ends"));
  }
  return {};
}

}  // namespace

void CheckEmbeddingBag(const EmbeddingBagParams& p, Checker& checker) {
  checker.Rank(p.weight, 2).Rank(p.indices, 1).Rank(p.offsets, 1);
  checker.That(Contains(kRealTypes, p.weight.dtype()),
               [&] { return DtypeIs(p.weight, DtypesText(kRealTypes)); });
  CheckIndexType(p.indices, checker);
  CheckIndexType(p.offsets, checker);
  const int64_t bags = BagsOf(p), columns = p.weight.dim(1);
  checker.That(bags >= 0, [&] {
    return Concat("offsets shape is ", ShapeText(p.offsets), ", expected a last offset");
  });
  checker.That(p.offsets.dim(0) > 0 || p.indices.empty(), [&] {
    return Concat("offsets shape is ", ShapeText(p.offsets), ", expected a bag for ",
                  p.indices.dim(0), " indices");
  });
  if (p.perSampleWeights.present()) {
    checker.That(p.mode == kSum, [&] {
      return Concat("perSampleWeights value is a tensor, expected null unless mode is sum (0)");
    });
    checker.SameDtype(p.perSampleWeights, p.weight);
    CheckShape(p.perSampleWeights, ShapeOf(p.indices), checker);
  }
  checker.SameDtype(p.output, p.weight);
  CheckShape(p.output, {bags, columns}, checker);
  if (!p.offset2bag.empty()) CheckIntegers(p.offset2bag, p.indices.dim(0), bags - 1, checker);
  CheckIndexType(p.bagSize, p.indices.dim(0), checker);
  checker.That(*p.bagSize.count() >= bags, [&] {
    return Concat("bagSize shape is ", ShapeText(p.bagSize), ", expected (", bags, ")");
  });
  if (!checker.ok() || p.mode != kMaximum) return;
  CheckIntegers(p.maxIndices, bags * columns, p.weight.dim(0) - 1, checker);
}

Plan PlanEmbeddingBag(const EmbeddingBagParams& p, const Product&) {
  const Bags bags(p);
  const IndexReader indices(p.indices, ShapeOf(p.indices)), offsets(p.offsets, ShapeOf(p.offsets));
  const Place indices_at = p.indices.place, offsets_at = p.offsets.place;
  const int64_t rows = p.weight.dim(0), count = p.indices.dim(0), bag_count = BagsOf(p);
  const auto last = p.includeLastOffset ? std::optional(count) : std::nullopt;
  const int64_t maxima = p.mode == kMaximum ? 0 : *p.maxIndices.count();
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<int64_t> rows_of, begins;
            Status status = indices.Read(indices_at(buffers), rows, false, &rows_of);
            if (status.ok()) status = offsets.Read(offsets_at(buffers), count + 1, false, &begins);
            if (status.ok()) status = CheckOffsets(begins, last);
            if (!status.ok()) return status;
            begins.push_back(count);
            for (int64_t i = 0; i < maxima; ++i) bags.maxima.Set(buffers, i, 0);
            ParallelRows(bag_count, bags.columns, [&](int64_t bag) {
              const auto at = static_cast<size_t>(bag);
              bags.Compute(buffers, rows_of, bag, begins[at], begins[at + 1]);
            });
            return {};
          }};
}

}  // namespace openaclnn::supporting
