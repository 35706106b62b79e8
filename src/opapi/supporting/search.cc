// SPDX-License-Identifier: Apache-2.0
// SearchSorted and Unique2.
#include <algorithm>
#include <numeric>

#include "kernels/rows.h"
#include "supporting/along.h"
#include "supporting/operators.h"

namespace openaclnn::supporting {
namespace {

/// Whether elements follow each other in row-major order.
bool IsDense(const Operand& operand) {
  int64_t step = 1;
  for (uint32_t d = operand.rank(); d-- > 0; step *= operand.dim(d)) {
    if (operand.dim(d) > 1 && operand.tensor().strides[d] != step) return false;
  }
  return true;
}

template <class T>
Plan MakeSearch(const Params& p) {
  const Operand &sorted = p.tensors[0], &self = p.tensors[1], &out = p.tensors[3];
  const RowView rows(sorted);
  const int64_t width = sorted.last_dim(), count = *self.count();
  // Elements of self for each row; one row serves all.
  const int64_t each = sorted.rank() == 1 ? std::max<int64_t>(count, 1) : self.last_dim();
  const Offsets from(self, self.rank()), to(out, out.rank());
  const bool right = p.integers[1] != 0;
  const int64_t self_bytes = BytesOf(self), out_bytes = BytesOf(out);
  const auto load = LoaderOf<T>(sorted.dtype()), load_self = LoaderOf<T>(self.dtype());
  const auto store = StorerOf<int64_t>(out.dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count / each, width + each, [&](int64_t row) {
              std::vector<T> values(static_cast<size_t>(width));
              load(rows.Row(buffers.As<std::byte>(0), row), rows.step * rows.element_bytes, width,
                   values.data());
              const auto less = [](T a, T b) { return Less(a, b); };
              for (int64_t i = row * each; i < (row + 1) * each; ++i) {
                T value{};
                load_self(buffers.As<std::byte>(1) + from(i) * self_bytes, 0, 1, &value);
                const auto found =
                    right ? std::upper_bound(values.begin(), values.end(), value, less)
                          : std::lower_bound(values.begin(), values.end(), value, less);
                const int64_t place = found - values.begin();
                store(&place, 1, buffers.As<std::byte>(3) + to(i) * out_bytes, 0);
              }
            });
            return {};
          }};
}

template <class T>
Plan MakeUnique(const Params& p) {
  const Operand &self = p.tensors[0], &out = p.tensors[1];
  const int64_t count = *self.count(), bytes = BytesOf(self), out_step = out.tensor().strides[0];
  const Offsets from(self, self.rank());
  const auto load = LoaderOf<T>(self.dtype());
  const auto store = StorerOf<T>(out.dtype());
  // Asked for and given: their elements follow each other.
  const bool wants_inverse = p.integers[1] != 0 && !p.tensors[2].empty();
  const bool wants_counts = p.integers[2] != 0 && !p.tensors[3].empty();
  const std::vector<const aclTensor*> handles = p.out_handles;
  const bool has_counts = p.tensors[3].present();
  return {0, [=](const Buffers& buffers) -> Status {
            std::vector<T> values(static_cast<size_t>(count));
            for (int64_t i = 0; i < count; ++i) {
              load(buffers.As<std::byte>(0) + from(i) * bytes, 0, 1,
                   &values[static_cast<size_t>(i)]);
            }
            std::vector<size_t> order(values.size());
            std::iota(order.begin(), order.end(), size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](size_t a, size_t b) { return Less(values[a], values[b]); });
            int64_t found = 0;
            for (size_t i = 0; i < order.size(); ++i) {
              // NaN is not equal to itself: each is one of its own.
              const T value = values[order[i]];
              const bool is_new = i == 0 || !(value == values[order[i - 1]]);
              if (is_new) {
                store(&value, 1, buffers.As<std::byte>(1) + found * out_step * bytes, 0);
                if (wants_counts) buffers.As<int64_t>(3)[found] = 0;
                ++found;
              }
              if (wants_counts) ++buffers.As<int64_t>(3)[found - 1];
              if (wants_inverse) buffers.As<int64_t>(2)[order[i]] = found - 1;
            }
            Meta()->set_view_shape(handles[0], &found, 1);
            if (has_counts && wants_counts) Meta()->set_view_shape(handles[2], &found, 1);
            return {};
          }};
}

}  // namespace

// sortedSequence, self, sorter; out. outInt32, right.
void CheckSearchSorted(const Params& p, Checker& checker) {
  const Operand &sorted = p.tensors[0], &self = p.tensors[1], &out = p.tensors[3];
  checker.That(!p.tensors[2].present(), [&] {
    return "sorter value is a tensor, expected null: a sequence that is sorted already";
  });
  checker.RankBetween(sorted, 1, kMaxRank);
  const int32_t wanted = p.integers[0] != 0 ? ACL_INT32 : ACL_INT64;
  checker.That(out.dtype() == wanted, [&] { return DtypeIs(out, DtypeText(wanted)); });
  bool fits = sorted.rank() == 1 || sorted.rank() == self.rank();
  for (uint32_t d = 0; fits && sorted.rank() > 1 && d + 1 < self.rank(); ++d) {
    fits = sorted.dim(d) == self.dim(d);
  }
  checker.That(fits, [&] {
    return Concat("sortedSequence shape is ", ShapeText(sorted), ", expected one dimension, or ",
                  "the leading ones of self, ", ShapeText(self));
  });
  CheckShape(out, ShapeOf(self), checker);
}

Plan PlanSearchSorted(const Params& p) {
  if (p.tensors[1].empty()) return {0, [](const Buffers&) -> Status { return {}; }};
  const bool integers = DomainOf(p.tensors[0].dtype()) == Domain::kInteger &&
                        DomainOf(p.tensors[1].dtype()) == Domain::kInteger;
  return integers ? MakeSearch<int64_t>(p) : MakeSearch<double>(p);
}

// self; valueOut, inverseOut, countsOut. sorted, returnInverse, returnCounts.
void CheckUnique(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &out = p.tensors[1];
  const int64_t count = *self.count();
  checker.SameDtype(out, self).Rank(out, 1);
  checker.That(out.dim(0) >= count, [&] {
    return Concat("valueOut shape is ", ShapeText(out), ", expected (", count, ")");
  });
  for (size_t i = 2; i < 4; ++i) {
    const Operand& more = p.tensors[i];
    if (p.integers[i - 1] == 0 || !more.present()) continue;
    checker.That(more.dtype() == ACL_INT64, [&] { return DtypeIs(more, "INT64"); });
    const bool dense = more.rank() == 1 ? more.empty() || more.tensor().strides[0] == 1
                                        : ShapeOf(more) == ShapeOf(self) && IsDense(more);
    checker.That(*more.count() >= count && dense, [&] {
      return Concat(more.name(), " shape is ", ShapeText(more), ", expected ", count,
                    " elements that follow each other");
    });
  }
}

Plan PlanUnique(const Params& p) {
  return DomainOf(p.tensors[0].dtype()) == Domain::kInteger ? MakeUnique<int64_t>(p)
                                                            : MakeUnique<double>(p);
}

}  // namespace openaclnn::supporting
