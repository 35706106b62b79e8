// SPDX-License-Identifier: Apache-2.0
// Cat and Stack.
#include "generated/arrange.h"
#include "kernels/move/broadcast.h"
#include "kernels/move/copy.h"
#include "kernels/rows/rows.h"
#include "supporting/along.h"
#include "supporting/complex.h"

namespace openaclnn::supporting {
namespace {

/// torch.cat skips tensors of shape (0,), whatever the rank of the others.
bool PassedOver(const Operand& tensor) { return tensor.rank() == 1 && tensor.dim(0) == 0; }

constexpr DtypeSet kConvertedTypes = kNumericTypes | kComplexTypes;

/// Checks that out's type can hold a member's numbers: complex ones need a complex out, floats a
/// float or a complex one. Types that are not converted must be out's.
void CheckMember(const Tensor& member, const Tensor& out, Checker& checker) {
  if (!Contains(kConvertedTypes, member.dtype()) || !Contains(kConvertedTypes, out.dtype())) {
    checker.SameDtype(member, out);
    return;
  }
  const DtypeSet holding = IsComplex(member) ? kComplexTypes : kRealTypes | kComplexTypes;
  checker.That(Contains(kIntegerTypes, member.dtype()) || Contains(holding, out.dtype()), [&] {
    const char* const kind = IsComplex(member) ? "a complex" : "a float";
    return DtypeIs(
        out, Concat(kind, " type for ", DtypesText(Dtypes(member.dtype())), " of ", member.name()));
  });
}

/// Copies a member into its part of out, as it is or converted.
class Piece {
 public:
  /// `to` are the steps of the part, which is `offset` bytes from where out begins.
  Piece(const Tensor& member, const Tensor& out, const Steps& to, int64_t offset)
      : walk_(ShapeOf(member), {Steps(ShapeOf(member), member), to}),
        copy_(ShapeOf(member), Steps(ShapeOf(member), member), to, BytesOf(out)),
        from_(member.place),
        to_(out.place),
        offset_(offset),
        moved_(member.dtype() == out.dtype() && out.dtype() != ACL_BOOL),
        real_(Contains(kRealTypes, out.dtype())),
        pairs_(IsComplex(out)),
        load_pairs_(member),
        store_pairs_(out) {
    if (moved_ || pairs_) return;
    load_real_ = LoaderOf<double>(member.dtype());
    store_real_ = StorerOf<double>(out.dtype());
    load_integer_ = LoaderOf<int64_t>(member.dtype());
    store_integer_ = StorerOf<int64_t>(out.dtype());
  }

  void operator()(const Buffers& buffers) const {
    const Walk::Pointers origins = {from_(buffers), to_(buffers) + offset_};
    if (moved_) return copy_(origins[0], origins[1]);
    if (pairs_) return Convert<Pair>(origins, load_pairs_, store_pairs_);
    real_ ? Convert<double>(origins, load_real_, store_real_)
          : Convert<int64_t>(origins, load_integer_, store_integer_);
  }

 private:
  template <class T, class Load, class Store>
  void Convert(const Walk::Pointers& origins, const Load& load, const Store& store) const {
    walk_.ForRuns(origins, [&](const Walk::Pointers& at, int64_t n) {
      T values[Walk::kRun];
      load(at[0], walk_.step(0), n, values);
      store(values, n, at[1], walk_.step(1));
    });
  }

  Walk walk_;
  Copy copy_;
  Place from_, to_;
  int64_t offset_;
  bool moved_;  // the types are equal: the bits are copied
  bool real_, pairs_;
  LoadPairs load_pairs_;
  StorePairs store_pairs_;
  LoadRow<double> load_real_ = nullptr;
  StoreRow<double> store_real_ = nullptr;
  LoadRow<int64_t> load_integer_ = nullptr;
  StoreRow<int64_t> store_integer_ = nullptr;
};

Plan PlanOfPieces(std::vector<Piece> pieces) {
  return {0, [pieces = std::move(pieces)](const Buffers& buffers) -> Status {
            for (const Piece& piece : pieces) piece(buffers);
            return {};
          }};
}

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
    CheckMember(*tensor, out, checker);
    if (PassedOver(*tensor)) continue;
    shape[*dim] = tensor->dim(*dim);
    // Tensors without elements may be of any length, so that the sum may leave int64_t.
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
  const Steps to(ShapeOf(out), out);
  std::vector<Piece> pieces;
  int64_t begin = 0;
  for (const Tensor* member : p.tensors.tensors) {
    if (PassedOver(*member)) continue;
    // The offset of a member without elements may be behind out's end, and wrap.
    pieces.emplace_back(*member, out, to, WrappingProduct(begin, to.bytes[dim]));
    begin += member->dim(dim);
  }
  return PlanOfPieces(std::move(pieces));
}

void CheckStack(const StackParams& p, Checker& checker) {
  const Tensor& out = p.out;
  if (p.tensors.size == 0) {
    checker.That(false, [] { return "tensors length is 0, expected at least 1"; });
    return;
  }
  const Tensor& first = *p.tensors.tensors.front();
  checker.RankBetween(first, 0, kMaxRank - 1);
  const auto dim = WrapDim(p.dim, first.rank() + 1);
  checker.That(dim.has_value(), [&] {
    return Concat("dim value is ", p.dim, ", expected one of the ", first.rank() + 1,
                  " dimensions of out");
  });
  if (!checker.ok()) return;
  Shape shape = ShapeOf(first);
  for (const Tensor* tensor : p.tensors.tensors) CheckShape(*tensor, shape, checker);
  shape.insert(shape.begin() + *dim, static_cast<int64_t>(p.tensors.size));
  CheckShape(out, shape, checker);
  for (const Tensor* tensor : p.tensors.tensors) CheckMember(*tensor, out, checker);
}

Plan PlanStack(const StackParams& p, const Product&) {
  const Tensor& out = p.out;
  const uint32_t dim = *WrapDim(p.dim, out.rank());
  Steps to(ShapeOf(out), out);
  const int64_t step = to.bytes[dim];
  to.bytes.erase(to.bytes.begin() + dim);
  std::vector<Piece> pieces;
  for (const Tensor* member : p.tensors.tensors) {
    pieces.emplace_back(*member, out, to, WrappingProduct(pieces.size(), step));
  }
  return PlanOfPieces(std::move(pieces));
}

}  // namespace openaclnn::supporting
