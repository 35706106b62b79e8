// SPDX-License-Identifier: Apache-2.0
// Two ways, by the shape alone, so that strides do not change a sum's bits. If the last dimension
// is reduced, every result is a row's, which a kernel folds by the tree of a row. Else rows are
// folded onto a row of results: at most 64 in sequence, then chunks pairwise.
#include "supporting/reduce/row_reduction.h"

#include <cstdlib>

#include "kernels/work/divide_up.h"
#include "supporting/in_turn.h"

namespace openaclnn::supporting {
namespace {

constexpr int64_t kChunk = 64;        // rows in sequence
constexpr int64_t kRowsAtOnce = 4;    // that a kernel takes
constexpr int64_t kTile = 512;        // columns whose accumulators stay in the first-level cache
constexpr int64_t kPiece = 2048;      // elements of a row that are loaded at once: whole blocks
constexpr int64_t kGrain = 32768;     // elements that are worth a thread
constexpr int64_t kEnoughParts = 64;  // pieces of work that keep all threads busy

/// Dimensions as few as their steps allow; none are one of length 1.
struct Terms {
  Terms(const Shape& dims, const Shape& steps, int64_t element_bytes) : bytes(element_bytes) {
    Shape outer_dims, outer_steps;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      if (inner != 1 && step == WrappingProduct(dims[i], steps[i])) {
        inner = WrappingProduct(inner, dims[i]);
      } else {
        if (inner != 1) {
          outer_dims.push_back(inner);
          outer_steps.push_back(step);
        }
        inner = dims[i];
      }
      step = steps[i];
    }
    outer = OffsetsOf(outer_dims, outer_steps);
    count = CountOf(dims);
  }

  std::byte* At(std::byte* origin, int64_t i) const {
    return origin + (outer(i / inner) + i % inner * step) * bytes;
  }

  /// Elements [begin, begin + n).
  template <class T>
  void Load(LoadRow<T> load, std::byte* origin, int64_t begin, int64_t n, T* to) const {
    while (n > 0) {
      const int64_t run = std::min(n, inner - begin % inner);
      load(At(origin, begin), step * bytes, run, to);
      begin += run;
      to += run;
      n -= run;
    }
  }

  template <class T>
  void Store(StoreRow<T> store, std::byte* origin, int64_t begin, int64_t n, const T* from) const {
    while (n > 0) {
      const int64_t run = std::min(n, inner - begin % inner);
      store(from, run, At(origin, begin), step * bytes);
      begin += run;
      from += run;
      n -= run;
    }
  }

  int64_t inner = 1, step = 0, count = 1, bytes;
  Offsets outer;
};

Terms TermsOf(const Operand& operand) {
  return {ShapeOf(operand),
          Shape(operand.tensor().strides, operand.tensor().strides + operand.rank()),
          BytesOf(operand)};
}

/// The least power of two that cuts `count` units into at most `most` groups: parts of the tree.
int64_t UnitsOfGroup(int64_t count, int64_t most) {
  int64_t units = 1;
  while (DivideUp(count, units) > most) units *= 2;
  return units;
}

int64_t GroupsOf(int64_t count, int64_t units) {
  return std::max<int64_t>(DivideUp(count, units), 1);
}

template <class T>
struct Work {
  RowReduction<T> reduction;
  Place self, out;
  Terms kept, terms, results;
  LoadRow<T> load;
  StoreRow<T> store;
  bool floats;         // FLOAT elements are read where they lie
  int64_t units;       // chunks or blocks of a group
  int64_t groups = 1;  // whose totals are joined at last

  /// Where the terms of a result are; nowhere if there are none.
  std::byte* Row(std::byte* origin, int64_t result) const {
    return terms.count > 0 ? kept.At(origin, result) : nullptr;
  }

  T Finish(T total) const { return reduction.finish(total, terms.count); }

  /// Totals of groups [begin, end), rows of `width` that lie `pitch` apart, joined in place.
  void Join(T* totals, int64_t pitch, int64_t width, int64_t begin, int64_t end) const {
    if (end - begin <= 1) return;
    const int64_t half = LeftHalf(end - begin);
    Join(totals, pitch, width, begin, begin + half);
    Join(totals, pitch, width, begin + half, end);
    reduction.fold->join(totals + (begin + half) * pitch, width, totals + begin * pitch);
  }
};

template <class T>
class Inner : Work<T> {
 public:
  explicit Inner(Work<T> work) : Work<T>(std::move(work)) {
    const int64_t blocks = DivideUp(this->terms.count, kRowBlock);
    const int64_t most = std::max<int64_t>(kEnoughParts / std::max<int64_t>(rows(), 1), 1);
    this->units = std::max(UnitsOfGroup(blocks, most), kGrain / kRowBlock);
    this->groups = GroupsOf(blocks, this->units);
  }

  uint64_t Workspace() const {
    return this->groups > 1 ? static_cast<uint64_t>(rows() * this->groups) * sizeof(T) : 0;
  }

  void Run(const Buffers& buffers) const {
    std::byte *const self = this->self(buffers), *const out = this->out(buffers);
    if (this->groups == 1) {
      return ParallelRowBlocks(rows(), std::max<int64_t>(this->terms.count, 1),
                               [&](int64_t begin, int64_t end) {
                                 for (; begin < end; begin += kResults) {
                                   FoldRows(self, out, begin, std::min(kResults, end - begin));
                                 }
                               });
    }
    T* const totals = static_cast<T*>(buffers.workspace);
    const int64_t length = this->units * kRowBlock;
    ParallelFor(rows() * this->groups, [&](int64_t part) {
      const int64_t row = part / this->groups, begin = part % this->groups * length;
      totals[part] = Fold(this->Row(self, row), begin, std::min(begin + length, this->terms.count));
    });
    for (int64_t row = 0; row < rows(); ++row) {
      T* const own = totals + row * this->groups;
      this->Join(own, 1, 1, 0, this->groups);
      const T result = this->Finish(*own);
      this->store(&result, 1, this->results.At(out, row), 0);
    }
  }

 private:
  // Results that are stored together: short rows cost little beside a division for where they lie.
  static constexpr int64_t kResults = 64;

  int64_t rows() const { return this->kept.count; }

  /// Results of `n` rows from `first` on, each of one group.
  void FoldRows(std::byte* self, std::byte* out, int64_t first, int64_t n) const {
    T results[kResults];
    for (int64_t i = 0; i < n;) {
      const int64_t run = std::min(n - i, this->kept.inner - (first + i) % this->kept.inner);
      std::byte* row = this->Row(self, first + i);
      for (const int64_t end = i + run; i < end; ++i) {
        results[i] = this->Finish(Fold(row, 0, this->terms.count));
        if (row != nullptr) row += this->kept.step * this->kept.bytes;
      }
    }
    this->results.Store(this->store, out, first, n, results);
  }

  /// Terms [begin, end) of a row; pieces of the length are parts of the tree.
  T Fold(std::byte* row, int64_t begin, int64_t end) const {
    const RowFold<T>& fold = *this->reduction.fold;
    if (begin >= end) return fold.nothing;
    if (this->floats && this->terms.step == 1 && this->terms.inner == this->terms.count) {
      return fold.float_row(reinterpret_cast<const float*>(row) + begin, end - begin);
    }
    return FoldPieces(row, begin, end);
  }

  /// Inline, its values would be on the stack once for each level of the tree.
  [[gnu::noinline]] T FoldPiece(std::byte* row, int64_t begin, int64_t end) const {
    T values[kPiece];
    this->terms.Load(this->load, row, begin, end - begin, values);
    return this->reduction.fold->row(values, end - begin);
  }

  T FoldPieces(std::byte* row, int64_t begin, int64_t end) const {
    const int64_t pieces = DivideUp(end - begin, kPiece);
    if (pieces == 1) return FoldPiece(row, begin, end);
    const int64_t middle = begin + LeftHalf(pieces) * kPiece;
    T left = FoldPieces(row, begin, middle);
    const T right = FoldPieces(row, middle, end);
    this->reduction.fold->join(&right, 1, &left);
    return left;
  }
};

template <class T>
class Outer : Work<T> {
 public:
  explicit Outer(Work<T> work) : Work<T>(std::move(work)) {
    tiles_ = DivideUp(this->kept.inner, kTile);
    const int64_t chunks = DivideUp(this->terms.count, kChunk);
    const int64_t most = std::max<int64_t>(kEnoughParts / std::max<int64_t>(parts(), 1), 1);
    const int64_t width = std::clamp<int64_t>(this->kept.inner, 1, kTile);
    this->units = UnitsOfGroup(chunks, most);
    while (this->units * kChunk * width < kGrain) this->units *= 2;
    this->groups = GroupsOf(chunks, this->units);
  }

  uint64_t Workspace() const {
    if (this->groups == 1) return 0;
    return static_cast<uint64_t>(this->kept.count * this->groups) * sizeof(T);
  }

  void Run(const Buffers& buffers) const {
    std::byte *const self = this->self(buffers), *const out = this->out(buffers);
    T* const totals = static_cast<T*>(buffers.workspace);
    const int64_t cost = this->terms.count * std::min(this->kept.inner, kTile);
    if (this->groups == 1) {
      return ParallelRows(parts(), std::max<int64_t>(cost, 1), [&](int64_t part) {
        T acc[kTile];
        FoldTile(self, TileOf(part), 0, acc);
        Store(out, TileOf(part), acc);
      });
    }
    ParallelFor(parts() * this->groups, [&](int64_t each) {
      const Tile tile = TileOf(each / this->groups);
      const int64_t group = each % this->groups;
      FoldTile(self, tile, group, totals + group * this->kept.count + tile.column);
    });
    ParallelRows(parts(), this->groups * kTile, [&](int64_t part) {
      const Tile tile = TileOf(part);
      this->Join(totals + tile.column, this->kept.count, tile.width, 0, this->groups);
      Store(out, tile, totals + tile.column);
    });
  }

 private:
  /// Columns that are folded together.
  struct Tile {
    int64_t column, width;
  };

  int64_t parts() const {
    return this->kept.inner == 0 ? 0 : this->kept.count / this->kept.inner * tiles_;
  }

  Tile TileOf(int64_t part) const {
    const int64_t first = part % tiles_ * kTile;
    return {part / tiles_ * this->kept.inner + first, std::min(kTile, this->kept.inner - first)};
  }

  void FoldTile(std::byte* self, const Tile& tile, int64_t group, T* acc) const {
    const int64_t chunks = DivideUp(this->terms.count, kChunk);
    const int64_t begin = group * this->units;
    FoldChunks(this->Row(self, tile.column), tile.width, begin,
               std::min(begin + this->units, chunks), acc);
  }

  void FoldChunks(std::byte* first, int64_t width, int64_t begin, int64_t end, T* acc) const {
    if (end - begin <= 1) return FoldChunk(first, width, begin, acc);
    const int64_t middle = begin + LeftHalf(end - begin);
    T right[kTile];
    FoldChunks(first, width, begin, middle, acc);
    FoldChunks(first, width, middle, end, right);
    this->reduction.fold->join(right, width, acc);
  }

  [[gnu::noinline]] void FoldChunk(std::byte* first, int64_t width, int64_t chunk, T* acc) const {
    const RowFold<T>& fold = *this->reduction.fold;
    std::fill_n(acc, width, fold.nothing);
    const int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, this->terms.count);
    if (std::abs(this->terms.step) < std::abs(this->kept.step)) {
      return FoldColumns(first, width, begin, end, acc);
    }
    for (int64_t i = begin; i < end; i += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, end - i);
      const std::byte* rows[kRowsAtOnce];
      for (int64_t r = 0; r < count; ++r) rows[r] = this->terms.At(first, i + r);
      FoldSome(rows, count, width, acc);
    }
  }

  /// Folds where the terms of a result lie closer than the results: some columns are loaded, and
  /// turned into rows.
  void FoldColumns(std::byte* first, int64_t width, int64_t begin, int64_t end, T* acc) const {
    constexpr int64_t kColumns = 8;
    for (int64_t column = 0; column < width; column += kColumns) {
      const int64_t columns = std::min(kColumns, width - column);
      T loaded[kChunk], values[kChunk][kColumns];
      for (int64_t j = 0; j < columns; ++j) {
        std::byte* const at = first + (column + j) * this->kept.step * this->kept.bytes;
        this->terms.Load(this->load, at, begin, end - begin, loaded);
        for (int64_t i = 0; i < end - begin; ++i) values[i][j] = loaded[i];
      }
      for (int64_t i = 0; i < end - begin; i += kRowsAtOnce) {
        const int64_t count = std::min(kRowsAtOnce, end - begin - i);
        const T* rows[kRowsAtOnce];
        for (int64_t r = 0; r < count; ++r) rows[r] = values[i + r];
        this->reduction.fold->rows(rows, count, columns, acc + column);
      }
    }
  }

  void FoldSome(const std::byte* const* rows, int64_t count, int64_t width, T* acc) const {
    const RowFold<T>& fold = *this->reduction.fold;
    if (this->floats && this->kept.step == 1) {
      const float* floats[kRowsAtOnce];
      for (int64_t r = 0; r < count; ++r) floats[r] = reinterpret_cast<const float*>(rows[r]);
      return fold.float_rows(floats, count, width, acc);
    }
    T values[kRowsAtOnce][kTile];
    const T* loaded[kRowsAtOnce];
    for (int64_t r = 0; r < count; ++r) {
      this->load(rows[r], this->kept.step * this->kept.bytes, width, values[r]);
      loaded[r] = values[r];
    }
    fold.rows(loaded, count, width, acc);
  }

  void Store(std::byte* out, const Tile& tile, T* acc) const {
    for (int64_t j = 0; j < tile.width; ++j) acc[j] = this->Finish(acc[j]);
    this->results.Store(this->store, out, tile.column, tile.width, acc);
  }

  int64_t tiles_;
};

template <class Way>
Plan MakePlan(Way way) {
  return {way.Workspace(), [way](const Buffers& buffers) -> Status {
            way.Run(buffers);
            return {};
          }};
}

/// Whether the last dimension that has a length is reduced.
bool LastIsReduced(const Operand& self, const Layout& layout) {
  for (uint32_t i = self.rank(); i-- > 0;) {
    if (self.dim(i) != 1) return layout.result_kept[i] == 1;
  }
  return true;
}

}  // namespace

template <class T>
Plan MakeRowReduction(const Params& p, const FoldPlaces& places, const Layout& layout,
                      const RowReduction<T>& reduction) {
  const Tensor &self = p.tensors[places.self], &out = p.tensors[places.begin];
  if (out.empty()) return Nothing();
  const int64_t bytes = BytesOf(self);
  Work<T> work{reduction,
               self.place,
               out.place,
               Terms(layout.kept, layout.kept_steps, bytes),
               Terms(layout.reduced, layout.reduced_steps, bytes),
               TermsOf(out),
               LoaderOf<T>(PartOf(self.dtype())),
               StorerOf<T>(PartOf(out.dtype())),
               self.dtype() == ACL_FLOAT && reduction.fold->float_row != nullptr,
               1};
  return LastIsReduced(self, layout) ? MakePlan(Inner<T>(std::move(work)))
                                     : MakePlan(Outer<T>(std::move(work)));
}

template Plan MakeRowReduction(const Params&, const FoldPlaces&, const Layout&,
                               const RowReduction<double>&);
template Plan MakeRowReduction(const Params&, const FoldPlaces&, const Layout&,
                               const RowReduction<int64_t>&);

}  // namespace openaclnn::supporting
