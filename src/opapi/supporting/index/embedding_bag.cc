// SPDX-License-Identifier: Apache-2.0
// EmbeddingBag: rows of a table, summed, averaged or their maxima in bags.
#include <algorithm>
#include <array>
#include <vector>

#include "generated/index.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/along.h"
#include "supporting/elements.h"
#include "supporting/places.h"

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
  struct Room {
    std::vector<int64_t> rows;  // of a bag, by their place in the indices
    std::vector<double> values, sums, numbers;
    std::vector<std::vector<double>> halves;  // of longer sums, by depth
  };

  explicit Bags(const EmbeddingBagParams& p)
      : factors(p.perSampleWeights, 1),
        bag_of(p.offset2bag, 0),
        sizes(p.bagSize, 0),
        maxima(p.maxIndices, 0),
        weight(p.weight),
        output(p.output),
        weight_at(p.weight.place),
        output_at(p.output.place),
        columns(p.weight.dim(1)),
        mode(p.mode),
        padding(p.paddingIdx),
        has_factors(p.perSampleWeights.present()),
        is_dense(p.weight.dtype() == ACL_FLOAT && weight.step == 1),
        load(LoaderOf<double>(p.weight.dtype())),
        store(StorerOf<double>(p.output.dtype())),
        kernels(OPENACLNN_TARGET_SELECT(kDoubleRowKernels)) {}

  void Compute(const Buffers& buffers, const std::vector<int64_t>& indices, int64_t bag,
               int64_t begin, int64_t end, Room* room) const {
    room->rows.clear();
    for (int64_t i = begin; i < end; ++i) {
      if (indices[static_cast<size_t>(i)] != padding) room->rows.push_back(i);
    }
    room->numbers.assign(static_cast<size_t>(end - begin), static_cast<double>(bag));
    bag_of.SetRun(buffers, begin, room->numbers.data(), end - begin);
    const auto count = static_cast<int64_t>(room->rows.size());
    sizes.Set(buffers, bag, static_cast<double>(count));
    room->values.resize(static_cast<size_t>(kTogether * columns));
    room->sums.assign(static_cast<size_t>(columns), 0);
    if (mode == kMaximum) {
      Maximum(buffers, indices, bag, room);
    } else {
      Sum(buffers, indices, 0, count, 0, room->sums.data(), room);
      if (mode == kMean && count > 0) {
        kernels->divide(room->sums.data(), static_cast<double>(count), columns);
      }
    }
    store(room->sums.data(), columns, output.Row(output_at(buffers), bag),
          output.step * output.element_bytes);
  }

  Elements factors, bag_of, sizes, maxima;
  RowView weight, output;
  Place weight_at, output_at;
  int64_t columns, mode, padding;
  bool has_factors, is_dense;
  LoadRow<double> load;
  StoreRow<double> store;
  const DoubleRowKernels* kernels;

 private:
  static constexpr int64_t kInSequence = 64;  // rows of the tree that are added in turn
  static constexpr int64_t kTogether = 4;     // of those, rows that one pass adds

  const std::byte* RowOf(const Buffers& buffers, const std::vector<int64_t>& indices,
                         int64_t i) const {
    return weight.Row(weight_at(buffers), indices[static_cast<size_t>(i)]);
  }

  /// Adds rows [begin, end) of the bag to sums, which are 0, by the one tree.
  void Sum(const Buffers& buffers, const std::vector<int64_t>& indices, int64_t begin, int64_t end,
           size_t depth, double* sums, Room* room) const {
    if (end - begin <= kInSequence) return AddInTurn(buffers, indices, begin, end, sums, room);
    const int64_t middle = begin + LeftHalf(DivideUp(end - begin, kInSequence)) * kInSequence;
    Sum(buffers, indices, begin, middle, depth, sums, room);
    if (room->halves.size() <= depth) room->halves.resize(depth + 1);
    room->halves[depth].assign(static_cast<size_t>(columns), 0);
    // Deeper calls move the vectors of this list, but not the memory that they own.
    double* const half = room->halves[depth].data();
    Sum(buffers, indices, middle, end, depth + 1, half, room);
    kernels->sum.join(half, columns, sums);
  }

  void AddInTurn(const Buffers& buffers, const std::vector<int64_t>& indices, int64_t begin,
                 int64_t end, double* sums, Room* room) const {
    const bool in_place = is_dense && !has_factors;
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t n = std::min(kTogether, end - first);
      std::array<const float*, kTogether> floats{};
      std::array<const double*, kTogether> doubles{};
      for (int64_t r = 0; r < n; ++r) {
        const auto at = static_cast<size_t>(r);
        const int64_t i = room->rows[static_cast<size_t>(first + r)];
        const std::byte* const row = RowOf(buffers, indices, i);
        floats[at] = reinterpret_cast<const float*>(row);
        if (in_place) continue;
        double* const own = room->values.data() + r * columns;
        load(row, weight.step * weight.element_bytes, columns, own);
        if (has_factors) kernels->scale(own, 0, factors.Get(buffers, i), columns);
        doubles[at] = own;
      }
      in_place ? kernels->sum.float_rows(floats.data(), n, columns, sums)
               : kernels->sum.rows(doubles.data(), n, columns, sums);
    }
  }

  /// The first of the largest; NaN is the largest. A bag without rows has row 0.
  void Maximum(const Buffers& buffers, const std::vector<int64_t>& indices, int64_t bag,
               Room* room) const {
    room->numbers.assign(static_cast<size_t>(columns), 0);
    for (size_t r = 0; r < room->rows.size(); ++r) {
      const int64_t i = room->rows[r];
      load(RowOf(buffers, indices, i), weight.step * weight.element_bytes, columns,
           room->values.data());
      const auto row = static_cast<double>(indices[static_cast<size_t>(i)]);
      for (size_t j = 0; j < static_cast<size_t>(columns); ++j) {
        const double own = room->values[j];
        const bool is_larger = r == 0 || Less(room->sums[j], own);
        room->sums[j] = is_larger ? own : room->sums[j];
        room->numbers[j] = is_larger ? row : room->numbers[j];
      }
    }
    maxima.SetRun(buffers, bag * columns, room->numbers.data(), columns);
  }
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
            constexpr std::array<double, 512> kZeros{};
            constexpr auto kRun = static_cast<int64_t>(kZeros.size());
            for (int64_t i = 0; i < maxima; i += kRun) {
              bags.maxima.SetRun(buffers, i, kZeros.data(), std::min(kRun, maxima - i));
            }
            const int64_t mean_rows = bag_count > 0 ? count / bag_count + 1 : 1;
            ParallelRowsIn<Bags::Room>(bag_count, WrappingProduct(bags.columns, mean_rows),
                                       [&](int64_t bag, Bags::Room* room) {
                                         const auto at = static_cast<size_t>(bag);
                                         bags.Compute(buffers, rows_of, bag, begins[at],
                                                      begins[at + 1], room);
                                       });
            return {};
          }};
}

}  // namespace openaclnn::supporting
