// SPDX-License-Identifier: Apache-2.0
// LinalgCross: products of vectors of three elements.
#include "generated/elementwise.h"
#include "supporting/along.h"
#include "supporting/complex.h"
#include "supporting/elementwise.h"

namespace openaclnn::supporting {
namespace {

/// The type that the factors meet in.
Domain DomainOfFactors(const CrossParams& p) {
  const Domain self = DomainOf(p.self.dtype()), other = DomainOf(p.other.dtype());
  return self == Domain::kInteger || other == Domain::kDouble ? other : self;
}

/// A tensor with the dimension's length taken out: the vectors, and the step along each.
struct Vectors {
  Vectors(const Tensor& tensor, const Shape& shape, uint32_t dim)
      : place(tensor.place), steps(shape, tensor), step(steps.bytes[dim]) {}
  Place place;
  Steps steps;
  int64_t step;
};

/// a b - c d; integers wrap.
template <class T>
T Difference(T a, T b, T c, T d) {
  if constexpr (std::is_same_v<T, Pair>) {
    return ProductOf(a, b) - ProductOf(c, d);
  } else if constexpr (std::is_integral_v<T>) {
    const auto wide = [](T value) { return static_cast<uint64_t>(value); };
    return static_cast<T>(wide(a) * wide(b) - wide(c) * wide(d));
  } else {
    return a * b - c * d;
  }
}

template <class T>
Plan MakeCross(const CrossParams& p) {
  Shape shape = ShapeOf(p.out);
  const uint32_t dim = *WrapDim(p.dim, p.out.rank());
  const Vectors self(p.self, shape, dim), other(p.other, shape, dim), out(p.out, shape, dim);
  shape[dim] = 1;
  const Walk walk(shape, {self.steps, other.steps, out.steps});
  const auto load = LoadOf<T>(p.self), load_other = LoadOf<T>(p.other);
  const auto store = StoreOf<T>(p.out);
  return {0, [=](const Buffers& buffers) -> Status {
            const Walk::Pointers origins = {self.place(buffers), other.place(buffers),
                                            out.place(buffers)};
            walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                T a[3], b[3];
                load(at[0] + i * walk.step(0), self.step, 3, a);
                load_other(at[1] + i * walk.step(1), other.step, 3, b);
                const T c[3] = {Difference(a[1], b[2], a[2], b[1]),
                                Difference(a[2], b[0], a[0], b[2]),
                                Difference(a[0], b[1], a[1], b[0])};
                store(c, 3, at[2] + i * walk.step(2), out.step);
              }
            });
            return {};
          }};
}

}  // namespace

void CheckCross(const CrossParams& p, Checker& checker) {
  Shape shape;
  MeetShape(p.self, &shape, &checker);
  MeetShape(p.other, &shape, &checker);
  checker.Rank(p.other, p.self.rank());
  CheckDim(p.self, p.dim, checker);
  if (!checker.ok()) return;
  for (const Tensor* tensor : {&p.self, &p.other}) {
    const int64_t length = tensor->dim(*WrapDim(p.dim, tensor->rank()));
    checker.That(length == 3, [&] {
      return Concat(tensor->name(), " shape is ", ShapeText(*tensor), ", expected 3 in dim");
    });
  }
  CheckShape(p.out, shape, checker);
  for (const Tensor* factor : {&p.self, &p.other}) CheckHolds(*factor, p.out, checker);
}

Plan PlanCross(const CrossParams& p, const Product&) {
  if (IsComplex(p.self) || IsComplex(p.other)) return MakeCross<Pair>(p);
  const auto made = [&] {
    switch (DomainOfFactors(p)) {
      case Domain::kFloat:
        return MakeCross<float>(p);
      case Domain::kDouble:
        return MakeCross<double>(p);
      case Domain::kInteger:
        break;
    }
    return MakeCross<int64_t>(p);
  };
  return ForParts(p, p.self, p.out, made());
}

}  // namespace openaclnn::supporting
