// SPDX-License-Identifier: Apache-2.0
// Arange, Cat, MaskedSelect and Equal.
#include <atomic>
#include <cmath>

#include "kernels/broadcast.h"
#include "kernels/rows.h"
#include "supporting/operators.h"
#include "supporting/reduction.h"

namespace openaclnn::supporting {
namespace {

/// How many values there are from start, by step, before end.
double ArangeCount(const Params& p) {
  const Value &start = p.values[0], &end = p.values[1], &step = p.values[2];
  if (start.real || end.real || step.real) {
    return std::ceil((end.number - start.number) / step.number);
  }
  const __int128 span = static_cast<__int128>(end.integer) - start.integer;
  const __int128 sign = step.integer > 0 ? 1 : -1;
  const __int128 count = (span + step.integer - sign) / step.integer;
  return static_cast<double>(count);
}

template <class T>
Plan MakeArange(const Params& p) {
  const T start = p.values[0].As<T>(), step = p.values[2].As<T>();
  const Offsets offsets(p.out(), p.out().rank());
  const int64_t bytes = BytesOf(p.out()), count = *p.out().count();
  const auto store = StorerOf<T>(p.out().dtype());
  return {0, [=](const Buffers& buffers) -> Status {
            ParallelRows(count, 1, [&](int64_t i) {
              const T value = start + static_cast<T>(i) * step;
              store(&value, 1, buffers.As<std::byte>(0) + offsets(i) * bytes, 0);
            });
            return {};
          }};
}

/// torch.cat passes over tensors of shape (0,), whatever the rank of the others.
bool PassedOver(const Operand& tensor) { return tensor.rank() == 1 && tensor.dim(0) == 0; }

/// One copy of a Cat: a member into its part of out.
struct Piece {
  Walk walk;
  size_t operand;
  int64_t offset;  // of its part, in bytes
  bool moved;      // bits as they are, for its type is out's
  LoadRow<double> load_real;
  LoadRow<int64_t> load_integer;
};

}  // namespace

void CheckArange(const Params& p, Checker& checker) {
  const Value& step = p.values[2];
  checker.That(step.number != 0 && std::isfinite(step.number), [&] {
    return Concat("step value is ", step.number, ", expected one that is not 0");
  });
  if (!checker.ok()) return;
  const double count = ArangeCount(p);
  checker.That(p.out().rank() == 1 && static_cast<double>(p.out().dim(0)) == std::max(count, 0.0),
               [&] {
                 return Concat("out shape is ", ShapeText(p.out()), ", expected (",
                               std::max(count, 0.0), ")");
               });
}

Plan PlanArange(const Params& p) {
  const bool real = p.values[0].real || p.values[1].real || p.values[2].real;
  return real ? MakeArange<double>(p) : MakeArange<int64_t>(p);
}

void CheckCat(const Params& p, Checker& checker) {
  const Operand& out = p.out();
  const auto dim = WrapDim(p.integers[0], out.rank());
  checker.That(dim.has_value() && out.rank() > 0, [&] {
    return Concat("dim value is ", p.integers[0], ", expected a dimension of out, ",
                  ShapeText(out));
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  int64_t length = 0;
  for (const Operand& tensor : p.tensors) {
    if (tensor.role() == OPENACLNN_OUTPUT || PassedOver(tensor)) continue;
    shape[*dim] = tensor.dim(*dim);
    length += tensor.dim(*dim);
    CheckShape(tensor, shape, checker);
  }
  shape[*dim] = length;
  CheckShape(out, shape, checker);
}

Plan PlanCat(const Params& p) {
  const Operand& out = p.out();
  const uint32_t dim = *WrapDim(p.integers[0], out.rank());
  const size_t out_at = p.tensors.size() - 1;
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (size_t i = 0; i < out_at; ++i) {
    const Operand& tensor = p.tensors[i];
    if (PassedOver(tensor)) continue;
    const Shape shape = ShapeOf(tensor);
    const Steps to(ShapeOf(out), out);
    pieces.push_back({Walk(shape, {Steps(shape, tensor), to}), i, begin * to.bytes[dim],
                      tensor.dtype() == out.dtype() && out.dtype() != ACL_BOOL,
                      LoaderOf<double>(tensor.dtype()), LoaderOf<int64_t>(tensor.dtype())});
    begin += tensor.dim(dim);
  }
  const bool real = Contains(kRealTypes, out.dtype());
  const auto store_real = StorerOf<double>(out.dtype());
  const auto store_integer = StorerOf<int64_t>(out.dtype());
  const int64_t bytes = BytesOf(out);
  return {0, [=](const Buffers& buffers) -> Status {
            for (const Piece& piece : pieces) {
              const Walk::Pointers origins = {buffers.As<std::byte>(piece.operand),
                                              buffers.As<std::byte>(out_at) + piece.offset};
              piece.walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
                if (piece.moved) {
                  CopyStrided(at[0], piece.walk.step(0) / bytes, at[1], piece.walk.step(1) / bytes,
                              n, bytes);
                } else if (real) {
                  double values[Walk::kRun];
                  piece.load_real(at[0], piece.walk.step(0), n, values);
                  store_real(values, n, at[1], piece.walk.step(1));
                } else {
                  int64_t values[Walk::kRun];
                  piece.load_integer(at[0], piece.walk.step(0), n, values);
                  store_integer(values, n, at[1], piece.walk.step(1));
                }
              });
            }
            return {};
          }};
}

void CheckMaskedSelect(const Params& p, Checker& checker) {
  const Operand &self = p.tensors[0], &mask = p.tensors[1], &out = p.out();
  checker.That(mask.dtype() == ACL_BOOL || mask.dtype() == ACL_UINT8,
               [&] { return DtypeIs(mask, "BOOL, UINT8"); });
  checker.SameDtype(out, self).Rank(out, 1);
  Shape shape = ShapeOf(self);
  const bool fits = BroadcastShape(mask, &shape);
  checker.That(fits, [&] {
    return Concat("mask shape is ", ShapeText(mask), ", expected one that can be broadcast with ",
                  ShapeText(self));
  });
  const auto count = ElementCount(shape.data(), static_cast<uint32_t>(shape.size()));
  checker.That(!fits || (count.has_value() && out.dim(0) >= *count), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected room for the elements of ",
                  ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
  });
}

// In order, since each element's place depends on those before it. The number of elements becomes
// out's shape.
Plan PlanMaskedSelect(const Params& p) {
  Shape shape = ShapeOf(p.tensors[0]);
  BroadcastShape(p.tensors[1], &shape);
  const Walk walk(shape, {Steps(shape, p.tensors[0]), Steps(shape, p.tensors[1])});
  const int64_t bytes = BytesOf(p.out());
  const int64_t out_step = p.out().tensor().strides[0];
  const aclTensor* handle = p.out_handles[0];
  return {0, [=](const Buffers& buffers) -> Status {
            int64_t count = 0;
            auto* out = buffers.As<std::byte>(2);
            const Walk::Pointers origins = {buffers.As<std::byte>(0), buffers.As<std::byte>(1)};
            walk.ForRunsInOrder(origins, [&](const Walk::Pointers& at, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                if (at[1][i * walk.step(1)] == std::byte{0}) continue;
                CopyStrided(at[0] + i * walk.step(0), 1, out + count++ * out_step * bytes, 1, 1,
                            bytes);
              }
            });
            Meta()->set_view_shape(handle, &count, 1);
            return {};
          }};
}

void CheckEqual(const Params& p, Checker& checker) {
  checker.That(p.out().dtype() == ACL_BOOL, [&] { return DtypeIs(p.out(), "BOOL"); });
  checker.That(p.out().count() == 1, [&] {
    return Concat("out shape is ", ShapeText(p.out()), ", expected one element");
  });
}

Plan PlanEqual(const Params& p) {
  const Shape shape = ShapeOf(p.tensors[0]);
  const bool same_shape = shape == ShapeOf(p.tensors[1]);
  Walk walk;
  if (same_shape) walk = Walk(shape, {Steps(shape, p.tensors[0]), Steps(shape, p.tensors[1])});
  const auto a = LoaderOf<double>(p.tensors[0].dtype()), b = LoaderOf<double>(p.tensors[1].dtype());
  const auto c = LoaderOf<int64_t>(p.tensors[0].dtype());
  const auto d = LoaderOf<int64_t>(p.tensors[1].dtype());
  const bool integers = DomainOf(p.tensors[0].dtype()) == Domain::kInteger &&
                        DomainOf(p.tensors[1].dtype()) == Domain::kInteger;
  return {0, [=](const Buffers& buffers) -> Status {
            std::atomic<bool> equal = same_shape;
            const Walk::Pointers origins = {buffers.As<std::byte>(0), buffers.As<std::byte>(1)};
            const auto compare = [&](const Walk::Pointers& at, int64_t n, auto left, auto right,
                                     auto zero) {
              decltype(zero) x[Walk::kRun], y[Walk::kRun];
              left(at[0], walk.step(0), n, x);
              right(at[1], walk.step(1), n, y);
              for (int64_t i = 0; i < n; ++i) {
                if (!(x[i] == y[i])) equal = false;
              }
            };
            if (same_shape) {
              walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
                integers ? compare(at, n, c, d, int64_t{}) : compare(at, n, a, b, double{});
              });
            }
            *buffers.As<uint8_t>(2) = equal ? 1 : 0;
            return {};
          }};
}

}  // namespace openaclnn::supporting
