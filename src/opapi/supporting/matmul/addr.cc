// SPDX-License-Identifier: Apache-2.0
// Addr: the products of all elements of two vectors, added to a matrix.
#include <type_traits>
#include <vector>

#include "generated/matmul.h"
#include "kernels/rows/rows.h"
#include "supporting/complex.h"
#include "supporting/in_turn.h"
#include "supporting/promotion.h"

namespace openaclnn::supporting {
namespace {

/// Integers wrap.
template <class T>
using Number = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <class T>
Plan MakeAddr(const AddrParams& p, const Value& beta, const Value& alpha) {
  const Shape shape = ShapeOf(p.out);
  const Steps self(shape, p.self), out(shape, p.out);
  const int64_t rows = shape[0], columns = shape[1];
  const int64_t step1 = p.vec1.tensor().strides[0] * BytesOf(p.vec1);
  const int64_t step2 = p.vec2.tensor().strides[0] * BytesOf(p.vec2);
  const auto load_self = LoaderOf<T>(p.self.dtype()), load1 = LoaderOf<T>(p.vec1.dtype()),
             load2 = LoaderOf<T>(p.vec2.dtype());
  const auto store = StorerOf<T>(p.out.dtype());
  const auto b = static_cast<Number<T>>(beta.As<T>()), a = static_cast<Number<T>>(alpha.As<T>());
  const Place self_at = p.self.place, at1 = p.vec1.place, at2 = p.vec2.place, out_at = p.out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRowsIn<std::vector<T>>(rows, 2 * columns, [&](int64_t row, auto* room) {
              room->assign(static_cast<size_t>(2 * columns), T{0});
              T* const sums = room->data();
              T* const factors = sums + columns;
              T first = 0;
              load1(at1(buffers) + row * step1, 0, 1, &first);
              load2(at2(buffers), step2, columns, factors);
              // Without a beta self takes no part, whatever is there.
              if (b != 0)
                load_self(self_at(buffers) + row * self.bytes[0], self.bytes[1], columns, sums);
              for (int64_t j = 0; j < columns; ++j) {
                const auto product =
                    static_cast<Number<T>>(first) * static_cast<Number<T>>(factors[j]);
                sums[j] = static_cast<T>(b * static_cast<Number<T>>(sums[j]) + a * product);
              }
              store(sums, columns, out_at(buffers) + row * out.bytes[0], out.bytes[1]);
            });
            return {};
          }};
}

}  // namespace

void CheckAddr(const AddrParams& p, Checker& checker) {
  checker.Rank(p.vec1, 1).Rank(p.vec2, 1);
  if (!checker.ok()) return;
  CheckShape(p.out, Shape{p.vec1.dim(0), p.vec2.dim(0)}, checker);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(p.out);
  checker.That(BroadcastShape(p.self, &shape) && shape == ShapeOf(p.out), [&] {
    return Concat("self shape is ", ShapeText(p.self), ", expected one that can be broadcast to ",
                  ShapeText(p.out));
  });
  for (const Tensor* each : {&p.self, &p.vec1, &p.vec2}) CheckHolds(*each, p.out, checker);
  const bool whole = Contains(kIntegerTypes, p.out.dtype());
  for (const Value* factor : {&p.beta, &p.alpha}) {
    checker.That(!factor->complex() && !(whole && factor->real), [&] {
      return Concat(factor->name, " dtype is ", DtypeText(factor->dtype), ", expected a ",
                    whole ? "type of integers for numbers of integers" : "real type");
    });
  }
}

Plan PlanAddr(const AddrParams& p, const Product&) {
  if (p.out.empty()) return Nothing();
  const int32_t type = MetType(MetType(p.vec1.dtype(), p.vec2.dtype()), p.self.dtype());
  const Value beta = p.beta.In(type), alpha = p.alpha.In(type);
  const bool whole = Contains(kIntegerTypes, type);
  return whole ? MakeAddr<int64_t>(p, beta, alpha) : MakeAddr<double>(p, beta, alpha);
}

}  // namespace openaclnn::supporting
