// SPDX-License-Identifier: Apache-2.0
// Cat and Stack.
#include "generated/arrange.h"
#include "kernels/broadcast.h"
#include "kernels/copy.h"
#include "kernels/rows.h"
#include "supporting/along.h"

namespace openaclnn::supporting {
namespace {

/// torch.cat passes over tensors of shape (0,), whatever the rank of the others.
bool PassedOver(const Operand& tensor) { return tensor.rank() == 1 && tensor.dim(0) == 0; }

/// One copy of a Cat: a member into its part of out.
struct Piece {
  Walk walk;
  Copy copy;
  Place from;
  int64_t offset;  // of its part, in bytes
  bool moved;      // bits as they are, for its type is out's
  LoadRow<double> load_real;
  LoadRow<int64_t> load_integer;
};

}  // namespace

void CheckCat(const CatParams& p, Checker& checker) {
  const Tensor& out = p.out;
  const auto dim = WrapDim(p.dim, out.rank());
  checker.That(dim.has_value() && out.rank() > 0, [&] {
    return Concat("dim value is ", p.dim, ", expected a dimension of out, ", ShapeText(out));
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  int64_t length = 0;
  for (const Tensor* tensor : p.tensors.tensors) {
    checker.That(
        Contains(kIntegerTypes, tensor->dtype()) || Contains(kRealTypes, out.dtype()), [&] {
          return DtypeIs(out, Concat("a float type for ", DtypesText(Dtypes(tensor->dtype())),
                                     " of ", tensor->name()));
        });
    if (PassedOver(*tensor)) continue;
    shape[*dim] = tensor->dim(*dim);
    // Of tensors without elements, which may be of any length.
    checker.That(!__builtin_add_overflow(length, tensor->dim(*dim), &length), [&] {
      return Concat("tensors length along dimension ", *dim,
                    " is beyond 2^63 in all, expected one that out can have");
    });
    CheckShape(*tensor, shape, checker);
  }
  shape[*dim] = length;
  CheckShape(out, shape, checker);
}

Plan PlanCat(const CatParams& p, const Product&) {
  const Tensor& out = p.out;
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (const Tensor* member : p.tensors.tensors) {
    const Tensor& tensor = *member;
    if (PassedOver(tensor)) continue;
    const Shape shape = ShapeOf(tensor);
    const Steps to(ShapeOf(out), out);
    const Steps from(shape, tensor);
    pieces.push_back({Walk(shape, {from, to}), Copy(shape, from, to, BytesOf(out)), tensor.place,
                      WrappingProduct(begin, to.bytes[dim]),  // of none behind out's last, any
                      tensor.dtype() == out.dtype() && out.dtype() != ACL_BOOL,
                      LoaderOf<double>(tensor.dtype()), LoaderOf<int64_t>(tensor.dtype())});
    begin += tensor.dim(dim);
  }
  const bool real = Contains(kRealTypes, out.dtype());
  const auto store_real = StorerOf<double>(out.dtype());
  const auto store_integer = StorerOf<int64_t>(out.dtype());
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            for (const Piece& piece : pieces) {
              const Walk::Pointers origins = {piece.from(buffers), out_at(buffers) + piece.offset};
              if (piece.moved) {
                piece.copy(origins[0], origins[1]);
                continue;
              }
              piece.walk.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
                if (real) {
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

void CheckStack(const StackParams& p, Checker& checker) {
  const Tensor& out = p.out;
  CheckDim(out, p.dim, checker);
  checker.RankBetween(out, 1, kMaxRank);
  if (!checker.ok()) return;
  Shape shape = ShapeOf(out);
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  checker.That(shape[dim] == static_cast<int64_t>(p.tensors.size), [&] {
    return Concat("out shape is ", ShapeText(out), ", expected ", p.tensors.size, " in dimension ",
                  dim);
  });
  shape.erase(shape.begin() + dim);
  for (const Tensor* tensor : p.tensors.tensors) {
    CheckShape(*tensor, shape, checker);
    checker.SameDtype(*tensor, out);
  }
}

Plan PlanStack(const StackParams& p, const Product&) {
  const Tensor& out = p.out;
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  Steps to(ShapeOf(out), out);
  const int64_t step = out.tensor().strides[dim] * BytesOf(out);
  to.bytes.erase(to.bytes.begin() + dim);
  std::vector<std::pair<Place, Copy>> copies;
  for (const Tensor* tensor : p.tensors.tensors) {
    const Shape shape = ShapeOf(*tensor);
    copies.push_back({tensor->place, Copy(shape, Steps(shape, *tensor), to, BytesOf(out))});
  }
  const Place out_at = out.place;
  return {0, [=](const Buffers& buffers) -> Status {
            for (size_t k = 0; k < copies.size(); ++k) {
              const auto& [from, copy] = copies[k];
              copy(from(buffers), out_at(buffers) + static_cast<int64_t>(k) * step);
            }
            return {};
          }};
}

}  // namespace openaclnn::supporting
