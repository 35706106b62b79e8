// SPDX-License-Identifier: Apache-2.0
// Sums over one row and each of many columns, compiled once for each instruction set.
#include "kernels/rows/double_rows.h"
#include "kernels/simd/double_lanes-inl.h"
#include "kernels/simd/wide-inl.h"
#include "supporting/columns.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

using Numbers = Lanes<double>;
using Part = Numbers::Part;
static_assert(kLanes == kColumnLanes);

constexpr int64_t kInSequence = 64;

/// The size of a number, without its sign.
inline Part SizeOf(Part a) {
  typedef int64_t Bits __attribute__((vector_size(sizeof(Part))));
  return reinterpret_cast<Part>(reinterpret_cast<Bits>(a) & INT64_MAX);
}

struct Products {
  static Part Add(Part sum, Part row, Part column) { return sum + row * column; }
};
struct Squares {
  static Part Add(Part sum, Part row, Part column) {
    const Part difference = row - column;
    return MulAdd(difference, difference, sum);
  }
};
struct Sizes {
  static Part Add(Part sum, Part row, Part column) { return sum + SizeOf(row - column); }
};
struct Counts {
  static Part Add(Part sum, Part row, Part column) {
    return sum + (row - column != 0 ? Part{} + 1 : Part{});
  }
};
struct Largest {
  static Part Add(Part sum, Part row, Part column) {
    const Part size = SizeOf(row - column);
    const auto is_larger = ~(size <= sum) & (sum == sum);  // NOLINT(misc-redundant-expression)
    return is_larger ? size : sum;
  }
};

/// Terms [begin, end) of kLanes columns, from column j on, one after the other.
template <class Op>
inline __attribute__((always_inline)) Numbers InTurn(const ColumnSums& of, int64_t j, int64_t begin,
                                                     int64_t end) {
  Numbers sum = Numbers::All(0);
  for (int64_t k = begin; k < end; ++k) {
    const Numbers column = Numbers::Load(of.columns + k * of.pitch + j);
    const Part row = of.row[k] - Part{};
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p) sum.part[p] = Op::Add(sum.part[p], row, column.part[p]);
  }
  return sum;
}

/// The tree over chunks [begin, end).
template <class Op>
Numbers Tree(const ColumnSums& of, int64_t j, int64_t begin, int64_t end) {
  if (end - begin <= 1) {
    const int64_t last = end * kInSequence;
    return InTurn<Op>(of, j, begin * kInSequence, last < of.width ? last : of.width);
  }
  const int64_t middle = begin + LeftHalf(end - begin);
  const Numbers left = Tree<Op>(of, j, begin, middle);
  return left + Tree<Op>(of, j, middle, end);
}

template <class Op>
void Sums(const ColumnSums& of) {
  const int64_t chunks = (of.width + kInSequence - 1) / kInSequence;
  for (int64_t j = 0; j < of.pitch; j += kLanes) {
    Numbers sum = Tree<Op>(of, j, 0, chunks);
    if constexpr (__is_same(Op, Squares)) {
      for (Part& part : sum.part) part = SquareRoot(part);
    }
    sum.Store(of.out + j);
  }
}

void Extremes(const ColumnSums& of) {
  for (int64_t j = 0; j < of.pitch; j += kLanes) {
    InTurn<Largest>(of, j, 0, of.width).Store(of.out + j);
  }
}

}  // namespace

extern const ColumnKernels kColumnKernels = {Sums<Products>, Sums<Squares>, Sums<Sizes>,
                                             Sums<Counts>, Extremes};

}  // namespace openaclnn::OPENACLNN_TARGET
