// SPDX-License-Identifier: Apache-2.0
// Rows of whole numbers.
#include "supporting/whole_rows.h"

#include <array>

#include "ascendcl/packed.h"

namespace openaclnn::supporting {
namespace {

/// The steps of the dimensions but the last.
Offsets RowsOf(const Tensor& tensor) {
  return {tensor.tensor().dims, tensor.tensor().strides, tensor.rank() - 1};
}

unsigned BitsOf(double whole) { return static_cast<unsigned>(static_cast<int>(whole)) & 15; }

}  // namespace

LastRows::LastRows(const Tensor& tensor)
    : place_(tensor.place),
      rows_(tensor, tensor.rank() - 1),
      width_(tensor.last_dim()),
      count_(ExtentOf(tensor, -1).rows),
      load_(LoaderOf<double>(tensor.dtype())),
      store_(StorerOf<double>(tensor.dtype())) {}

WholeRows::WholeRows(const Tensor& tensor, Holding holding)
    : place_(tensor.place),
      rows_(RowsOf(tensor)),
      dtype_(tensor.dtype()),
      eights_(dtype_ == ACL_INT32 && holding != Holding::kOne),
      pairs_(dtype_ == ACL_INT8 && holding == Holding::kTwo),
      bytes_(UnitBytes(tensor.dtype())),
      of_byte_(ElementsOfByte(tensor.dtype())),
      step_(tensor.tensor().strides[tensor.rank() - 1] * bytes_),
      width_(tensor.last_dim() * (eights_  ? kEight
                                  : pairs_ ? 2
                                           : 1)) {
  const bool four = eights_ || pairs_ || dtype_ == ACL_INT4;
  low_ = four ? -8 : dtype_ == ACL_UINT8 ? 0 : dtype_ == ACL_INT32 ? INT32_MIN : INT8_MIN;
  high_ = four ? 7 : dtype_ == ACL_UINT8 ? UINT8_MAX : dtype_ == ACL_INT32 ? INT32_MAX : INT8_MAX;
  if (four) return;
  load_ = LoaderOf<double>(dtype_);
  store_ = StorerOf<double>(dtype_);
}

void WholeRows::Load(const Buffers& buffers, int64_t row, double* to) const {
  const std::byte* const from = At(buffers, row);
  if (load_ != nullptr) return load_(from, step_, width_, to);
  if (!eights_) {
    const int64_t step = pairs_ ? step_ : 1;
    for (int64_t i = 0; i < width_; ++i) {
      const auto byte = std::to_integer<unsigned>(from[i / 2 * step]);
      to[i] = Int4Of(i % 2 == 0 ? byte : byte >> 4);
    }
    return;
  }
  for (int64_t i = 0; i < width_; ++i) {
    const auto* const word = reinterpret_cast<const uint32_t*>(from + i / kEight * step_);
    to[i] = Int4Of(*word >> (4 * (i % kEight)));
  }
}

void WholeRows::Store(const Buffers& buffers, int64_t row, Snap how, double* values) const {
  Snaps().snap[static_cast<size_t>(how)](values, width_, low_, high_);
  std::byte* const to = At(buffers, row);
  if (store_ != nullptr) return store_(values, width_, to, step_);
  if (!eights_) {
    const int64_t step = pairs_ ? step_ : 1;
    for (int64_t i = 0; i < width_; i += 2) {
      to[i / 2 * step] = static_cast<std::byte>(BitsOf(values[i]) | BitsOf(values[i + 1]) << 4);
    }
    return;
  }
  for (int64_t i = 0; i < width_; i += kEight) {
    uint32_t word = 0;
    for (int64_t k = 0; k < kEight; ++k) word |= BitsOf(values[i + k]) << (4 * k);
    *reinterpret_cast<uint32_t*>(to + i / kEight * step_) = word;
  }
}

void CheckWhole(const Tensor& tensor, Shape shape, Checker& checker) {
  if (tensor.dtype() == ACL_INT32) {
    checker.That(!shape.empty() && shape.back() % kEight == 0, [&] {
      return Concat(tensor.name(), " dtype is INT32, which holds ", kEight,
                    " INT4, expected a multiple of them in the last dimension of ",
                    ShapeText(shape.data(), static_cast<uint32_t>(shape.size())));
    });
    if (!checker.ok()) return;
    shape.back() /= kEight;
  }
  CheckShape(tensor, shape, checker);
  if (!checker.ok() || tensor.dtype() != ACL_INT4 || tensor.empty()) return;
  checker.That(PairedDim(tensor.tensor()) == tensor.rank() - 1, [&] {
    return Concat(tensor.name(), " strides are ", ShapeText(tensor.given_strides(), tensor.rank()),
                  " for shape ", ShapeText(tensor),
                  ", expected two neighbours of the last dimension in each byte of INT4");
  });
}

Shape WholeShape(const Tensor& tensor) {
  Shape shape = ShapeOf(tensor);
  if (tensor.dtype() == ACL_INT32 && !shape.empty()) shape.back() *= kEight;
  return shape;
}

void CheckType(const char* name, int64_t value, const Tensor& tensor, Checker& checker) {
  // Programs pass an aclDataType, of 32 bits, whatever the page says.
  const auto number = static_cast<int32_t>(value);
  checker.That(number == tensor.dtype(), [&] {
    return Concat(name, " value is ", number, ", expected ", tensor.dtype(), ", the number of ",
                  tensor.name(), "'s type ", DtypeText(tensor.dtype()));
  });
}

std::optional<Snap> SnapOf(std::string_view name) {
  using Named = std::pair<std::string_view, Snap>;
  static constexpr std::array<Named, 5> kNames = {Named{"rint", Snap::kEven},
                                                  {"round", Snap::kAway},
                                                  {"floor", Snap::kDown},
                                                  {"ceil", Snap::kUp},
                                                  {"trunc", Snap::kZero}};
  for (const auto& [known, snap] : kNames) {
    if (known == name) return snap;
  }
  return std::nullopt;
}

}  // namespace openaclnn::supporting
