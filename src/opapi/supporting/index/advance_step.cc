// SPDX-License-Identifier: Apache-2.0
// AdvanceStep: the next token of each sequence, its position and its slot of a cache in blocks.
#include <algorithm>
#include <initializer_list>

#include "generated/index.h"
#include "supporting/elements.h"

namespace openaclnn::supporting {
namespace {

void CheckCount(const char* name, int64_t value, Checker& checker) {
  checker.That(value > 0,
               [&] { return Concat(name, " value is ", value, ", expected one above 0"); });
}

/// Checks what both forms have: numbers above 0, and a row of blocks for each sequence.
template <class P>
void CheckStep(const P& p, int64_t rows, Checker& checker) {
  CheckCount("numSeqs", p.numSeqs, checker);
  CheckCount("numQueries", p.numQueries, checker);
  CheckCount("blockSize", p.blockSize, checker);
  checker.Rank(p.blockTables, 2).Rank(p.sampledTokenIds, 2);
  if (!checker.ok()) return;
  for (const Tensor* each : {&p.inputTokens, &p.inputPositions, &p.seqLens, &p.slotMapping}) {
    CheckShape(*each, {rows}, checker);
  }
  CheckShape(p.blockTables, {p.numSeqs, p.blockTables.dim(1)}, checker);
}

/// Sums of numbers that may be any: they wrap.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// Slots of a cache, by tables of blocks.
class Slots {
 public:
  template <class P>
  explicit Slots(const P& p)
      : tables_(p.blockTables, 0), blocks_(p.blockTables.dim(1)), block_size_(p.blockSize) {}

  /// Whether a row of the table has the position.
  bool Has(int64_t position) const { return 0 <= position && position / block_size_ < blocks_; }

  static Status Refuse(const char* name, int64_t row, int64_t position) {
    return Status(507035, Concat(name, " value is ", position, " at element ", row,
                                 ", expected a position that blockTables has a block for"));
  }

  std::vector<int64_t> Tables(const Buffers& buffers) const { return tables_.AllWhole(buffers); }
  int64_t At(const std::vector<int64_t>& tables, int64_t row, int64_t position) const {
    const int64_t block = tables[static_cast<size_t>(row * blocks_ + position / block_size_)];
    return Sum(WrappingProduct(block, block_size_), position % block_size_);
  }

 private:
  Elements tables_;
  int64_t blocks_, block_size_;
};

/// The four vectors that a step updates.
class Vectors {
 public:
  template <class P>
  explicit Vectors(const P& p)
      : places_{p.inputTokens.place, p.inputPositions.place, p.seqLens.place, p.slotMapping.place},
        steps_{p.inputTokens.tensor().strides[0], p.inputPositions.tensor().strides[0],
               p.seqLens.tensor().strides[0], p.slotMapping.tensor().strides[0]} {}

  int64_t& Token(const Buffers& buffers, int64_t i) const { return At(buffers, 0, i); }
  int64_t& Position(const Buffers& buffers, int64_t i) const { return At(buffers, 1, i); }
  int64_t& Length(const Buffers& buffers, int64_t i) const { return At(buffers, 2, i); }
  int64_t& Slot(const Buffers& buffers, int64_t i) const { return At(buffers, 3, i); }

 private:
  int64_t& At(const Buffers& buffers, size_t vector, int64_t i) const {
    return reinterpret_cast<int64_t*>(places_[vector](buffers))[i * steps_[vector]];
  }

  std::array<Place, 4> places_;
  std::array<int64_t, 4> steps_;
};

/// Sequences that ask for a token get the one that was sampled; the others become padding.
Plan PlanOne(const AdvanceStepV2Params& p) {
  const Vectors vectors(p);
  const Slots slots(p);
  const Elements sampled(p.sampledTokenIds, 0);
  const int64_t queries = p.numQueries, all = p.numSeqs;
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> tables = slots.Tables(buffers),
                                       tokens = sampled.AllWhole(buffers);
            for (int64_t i = 0; i < queries; ++i) {
              const int64_t position = vectors.Length(buffers, i);
              if (!slots.Has(position)) return Slots::Refuse("seqLens", i, position);
            }
            for (int64_t i = 0; i < queries; ++i) {
              const int64_t position = vectors.Length(buffers, i);
              vectors.Token(buffers, i) = tokens[static_cast<size_t>(i)];
              vectors.Position(buffers, i) = position;
              vectors.Length(buffers, i) = Sum(position, 1);
              vectors.Slot(buffers, i) = slots.At(tables, i, position);
            }
            for (int64_t i = queries; i < all; ++i) {
              vectors.Token(buffers, i) = 0;
              vectors.Position(buffers, i) = 0;
              vectors.Slot(buffers, i) = -1;
            }
            return {};
          }};
}

/// The last of the tokens of a row that are not -1; -1 if the first one is.
int64_t LastToken(const int64_t* row, int64_t width) {
  const int64_t* const end = std::find(row, row + width, -1);
  return end == row ? -1 : end[-1];
}

/// Each sequence has rows for a token and for its guesses.
Plan PlanGuessed(const AdvanceStepV2Params& p) {
  const Vectors vectors(p);
  const Slots slots(p);
  const Elements sampled(p.sampledTokenIds, 0), guesses(p.specToken, 0), accepted(p.acceptedNum, 0);
  const int64_t all = p.numSeqs, each = p.sampledTokenIds.dim(1);
  return {0, [=](const Buffers& buffers) -> Status {
            const std::vector<int64_t> tables = slots.Tables(buffers),
                                       tokens = sampled.AllWhole(buffers),
                                       guessed = guesses.AllWhole(buffers),
                                       counts = accepted.AllWhole(buffers);
            const auto position_of = [&](int64_t i) {
              return Sum(Sum(vectors.Position(buffers, i), counts[static_cast<size_t>(i / each)]),
                         1);
            };
            for (int64_t i = 0; i < all * each; ++i) {
              const int64_t position = position_of(i);
              if (!slots.Has(position)) return Slots::Refuse("inputPositions", i, position);
            }
            for (int64_t i = 0; i < all * each; ++i) {
              const int64_t row = i / each, place = i % each, position = position_of(i);
              vectors.Token(buffers, i) =
                  place == 0 ? LastToken(&tokens[static_cast<size_t>(row * each)], each)
                             : guessed[static_cast<size_t>(row * (each - 1) + place - 1)];
              vectors.Position(buffers, i) = position;
              vectors.Length(buffers, i) = Sum(position, 1);
              vectors.Slot(buffers, i) = slots.At(tables, row, position);
            }
            return {};
          }};
}

void CheckOne(const AdvanceStepV2Params& p, Checker& checker) {
  CheckStep(p, p.numSeqs, checker);
  checker.That(p.numQueries <= p.numSeqs, [&] {
    return Concat("numQueries value is ", p.numQueries, ", expected at most numSeqs, ", p.numSeqs);
  });
  if (checker.ok()) CheckShape(p.sampledTokenIds, {p.numQueries, 1}, checker);
}

}  // namespace

void CheckAdvanceStep(const AdvanceStepV2Params& p, Checker& checker) { CheckOne(p, checker); }

Plan PlanAdvanceStep(const AdvanceStepV2Params& p, const Product&) { return PlanOne(p); }

void CheckAdvanceStepV2(const AdvanceStepV2Params& p, Checker& checker) {
  checker.That(p.specToken.present() == p.acceptedNum.present(), [&] {
    const bool missing = !p.specToken.present();
    return Concat(missing ? "specToken" : "acceptedNum", " is null, expected one as ",
                  missing ? "acceptedNum" : "specToken", " is given");
  });
  if (!p.specToken.present()) return CheckOne(p, checker);
  checker.Rank(p.specToken, 2);
  if (!checker.ok()) return;
  const int64_t each = Sum(p.specToken.dim(1), 1);
  CheckStep(p, WrappingProduct(p.numSeqs, each), checker);
  checker.That(p.numQueries == p.numSeqs, [&] {
    return Concat("numQueries value is ", p.numQueries, ", expected numSeqs, ", p.numSeqs,
                  ", beside specToken");
  });
  if (!checker.ok()) return;
  CheckShape(p.specToken, {p.numSeqs, each - 1}, checker);
  CheckShape(p.acceptedNum, {p.numSeqs}, checker);
  CheckShape(p.sampledTokenIds, {p.numSeqs, each}, checker);
}

Plan PlanAdvanceStepV2(const AdvanceStepV2Params& p, const Product&) {
  return p.specToken.present() ? PlanGuessed(p) : PlanOne(p);
}

}  // namespace openaclnn::supporting
