// SPDX-License-Identifier: Apache-2.0
// The engine of the reductions: every element of an output from those of the input that it stands
// for.
#pragma once

#include <algorithm>

#include "generated/reduce.h"
#include "kernels/move/broadcast.h"
#include "kernels/rows/rows.h"
#include "supporting/complex.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

/// A view as rows over some of its dimensions.
struct Layout {
  Shape kept, reduced;              // lengths
  Shape kept_steps, reduced_steps;  // of self, in elements
  Shape result, result_kept;        // out's shape without and with the reduced dimensions
};

/// Nothing when a dimension is none.
std::optional<Layout> LayoutOf(const Operand& self, std::span<const int64_t> dims);

inline Offsets OffsetsOf(const Shape& dims, const Shape& steps) {
  return Offsets(dims.data(), steps.data(), static_cast<uint32_t>(dims.size()));
}

/// The elements that a result stands for.
inline Walk TermsOf(const Layout& layout, int64_t element_bytes) {
  Shape steps = layout.reduced_steps;
  for (int64_t& step : steps) step = WrappingProduct(step, element_bytes);
  return Walk(layout.reduced, std::vector<Steps>{Steps(steps)});
}

/// Whether integers stay integers, from the first operand to the first output.
bool Integral(const Params& params);

/// Which operands a fold goes from and to.
struct FoldPlaces {
  size_t self = 0, begin = 1, end = 2;  // the outputs are [begin, end)
};

/// A fold has Add(T), for all terms in order, then Again(n), whether to go through them once more,
/// and Result(n, i), the value for the i-th output.
template <class T, class Fold>
Plan MakeFold(const Params& p, const FoldPlaces& places, const Layout& layout, const Fold& fold) {
  const Operand& self = p.tensors[places.self];
  const int64_t self_bytes = BytesOf(self);
  const Walk terms = TermsOf(layout, self_bytes);
  const Offsets kept = OffsetsOf(layout.kept, layout.kept_steps);
  struct To {
    explicit To(const Operand& out)
        : offsets(out, out.rank()), bytes(BytesOf(out)), store(StoreOf<T>(out)) {}
    Offsets offsets;
    int64_t bytes;
    decltype(StoreOf<T>(self)) store;
  };
  std::vector<To> to;
  for (size_t i = places.begin; i < places.end; ++i) to.emplace_back(p.tensors[i]);
  const int64_t rows = CountOf(layout.kept), n = terms.count();
  const auto load = LoadOf<T>(self);
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(rows, std::max<int64_t>(n, 1), [&](int64_t row) {
              Fold each = fold;
              Walk::Pointers origin{};
              if (n > 0) origin[0] = buffers.As<std::byte>(places.self) + kept(row) * self_bytes;
              do {
                terms.ForRunsInOrder(origin, [&](const Walk::Pointers& at, int64_t run) {
                  T values[Walk::kRun];
                  load(at[0], terms.step(0), run, values);
                  for (int64_t i = 0; i < run; ++i) each.Add(values[i]);
                });
              } while (each.Again(n));
              for (size_t i = 0; i < to.size(); ++i) {
                const T result = each.Result(n, i);
                to[i].store(
                    &result, 1,
                    buffers.As<std::byte>(places.begin + i) + to[i].offsets(row) * to[i].bytes, 0);
              }
            });
            return {};
          }};
}

/// Members that folds of one pass and one result share.
struct OnePass {
  static bool Again(int64_t) { return false; }
};

/// Folds the first operand, to all others.
template <class T, class Fold>
Plan MakeFold(const Params& p, const Layout& layout, const Fold& fold) {
  return MakeFold<T>(p, FoldPlaces{0, 1, p.tensors.size()}, layout, fold);
}

/// Over the dimensions of the call's list; none are all.
template <class T, class Fold>
Plan MakeFold(const ReductionParams& p, const Fold& fold) {
  return MakeFold<T>(p, *LayoutOf(p.self, p.dim.values()), fold);
}

/// The fold for what the operands are computed in: double for floats.
template <template <class> class Fold>
Plan MakeFoldFor(const Params& p, const Layout& layout) {
  return Integral(p) ? MakeFold<int64_t>(p, layout, Fold<int64_t>())
                     : MakeFold<double>(p, layout, Fold<double>());
}

template <template <class> class Fold>
Plan MakeFoldFor(const ReductionParams& p) {
  return MakeFoldFor<Fold>(p, *LayoutOf(p.self, p.dim.values()));
}

/// Whether all terms, or any, are other than 0; sums and products of BOOL are that, too, whose
/// terms are converted first.
template <class T, bool kAll>
struct TruthFold : OnePass {
  bool truth = kAll;
  void Add(T term) { truth = kAll ? truth && term != 0 : truth || term != 0; }
  T Result(int64_t, size_t) { return static_cast<T>(truth); }
};

template <class T>
using AllFold = TruthFold<T, true>;
template <class T>
using AnyFold = TruthFold<T, false>;

/// The shape of each output, with and without kept dimensions.
void CheckResult(const Params& params, const Layout& layout, bool keep_dim, Checker& checker);

}  // namespace openaclnn::supporting
