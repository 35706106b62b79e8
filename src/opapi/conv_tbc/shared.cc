// SPDX-License-Identifier: Apache-2.0
// Convolution over time, batch, channel tensors: shared checks, rounding of operands, bands.
#include "conv_tbc/shared.h"

#include <algorithm>

#include "kernels/work/scratch.h"
#include "openaclnn/status.h"

namespace openaclnn::conv_tbc {
namespace {

constexpr int kFormats[] = {ACL_FORMAT_ND, ACL_FORMAT_NCL};
constexpr int kBiasFormats[] = {ACL_FORMAT_ND};

/// More than a dimension holds where pad is large.
__int128 OutputLength(int64_t in_length, int64_t taps, int64_t pad) {
  return static_cast<__int128>(in_length) + 2 * static_cast<__int128>(pad) + 1 - taps;
}

void CheckAtMost(Checker& checker, const Product& product, const std::string& what, int64_t value,
                 int64_t most) {
  checker.That(most == 0 || value <= most, [&] {
    return Concat(what, " is ", value, ", expected at most ", most, " on ", product.name);
  });
}

void CheckLimits(Checker& checker, const Product& product, const Operand& w, int64_t pad,
                 std::initializer_list<const Operand*> sized) {
  const OpenaclnnFamilyRules& rules = *product.rules;
  CheckAtMost(checker, product, Concat(w.name(), " dimension 0"), w.dim(0), rules.max_conv_taps);
  CheckAtMost(checker, product, "pad value", pad, rules.max_conv_pad);
  for (const Operand* operand : sized) {
    for (uint32_t i = 0; i < operand->rank(); ++i) {
      CheckAtMost(checker, product, Concat(operand->name(), " dimension ", i), operand->dim(i),
                  rules.max_conv_dim);
    }
  }
}

}  // namespace

Geometry::Geometry(const Operand& x, const Operand& w, int64_t padding)
    : in_length(x.dim(0)),
      out_length(static_cast<int64_t>(OutputLength(x.dim(0), w.dim(0), padding))),
      batch(x.dim(1)),
      in_channels(x.dim(2)),
      out_channels(w.dim(2)),
      taps(w.dim(0)),
      pad(padding) {}

void CheckFormats(Checker& checker, const Operand& operand) { checker.Format(operand, kFormats); }

void CheckBiasFormat(Checker& checker, const Operand& operand) {
  checker.Format(operand, kBiasFormats);
}

void CheckGeometry(Checker& checker, const Product& product, const Operand& x, const Operand& w,
                   const Operand& bias, int64_t pad, std::initializer_list<const Operand*> sized) {
  checker
      .That(x.dim(2) == w.dim(1),
            [&] {
              return Concat(x.name(), " dimension 2 is ", x.dim(2), ", expected ", w.dim(1),
                            ", dimension 1 of ", w.name());
            })
      .Shape(bias, {w.dim(2)})
      .That(pad >= 0, [&] { return Concat("pad value is ", pad, ", expected 0 or more"); });
  CheckLimits(checker, product, w, pad, sized);
  checker.That(OutputLength(x.dim(0), w.dim(0), pad) >= 0, [&] {
    const auto least = static_cast<int64_t>(std::max<__int128>(-OutputLength(0, w.dim(0), pad), 0));
    return Concat(x.name(), " dimension 0 is ", x.dim(0), ", expected at least ", least, " for ",
                  w.dim(0), " taps and pad ", pad);
  });
}

void CheckOutput(Checker& checker, const Operand& y, const Operand& x, const Operand& w,
                 int64_t pad) {
  const __int128 length = OutputLength(x.dim(0), w.dim(0), pad);
  checker
      .That(length <= INT64_MAX,
            [&] {
              return Concat(y.name(), " dimension 0 is ", y.dim(0), ", expected ", x.dim(0),
                            " + 2 * ", pad, " + 1 - ", w.dim(0),
                            ", which is more than a dimension holds");
            })
      .Shape(y, {static_cast<int64_t>(length), x.dim(1), w.dim(2)});
}

void CheckMathType(Checker& checker, const Product& product, int32_t dtype, int8_t math) {
  const auto has = [&](int type) { return RoundingOf(dtype, type, product).has_value(); };
  checker
      .That(0 <= math && math < kMathTypes,
            [&] {
              return Concat("cubeMathType value is ", int{math}, ", expected one of 0, 1, 2, 3");
            })
      .That(0 <= math && math < kMathTypes && has(math), [&] {
        std::string wanted;
        int count = 0;
        for (int i = 0; i < kMathTypes; ++i) {
          if (has(i)) wanted += Concat(count++ == 0 ? "" : ", ", i);
        }
        return Concat("cubeMathType value is ", int{math}, ", expected ",
                      count > 1 ? "one of " : "", wanted, " for ", DtypeText(dtype), " on ",
                      product.name);
      });
}

TapMatrix TapsOf(const Operand& operand, const DenseInput& dense, Rounding rounding, int64_t shift,
                 int64_t step, bool transposed) {
  return {.view = dense.rows(),
          .dtype = operand.dtype(),
          .rounding = rounding,
          .width = operand.last_dim(),
          .shift = shift,
          .step = step,
          .transposed = transposed};
}

uint64_t MostWorkspace(std::span<const Operand* const> operands) {
  __int128 bytes = 0;
  for (const Operand* operand : operands) {
    bytes += static_cast<__int128>(operand->count().value_or(INT64_MAX)) *
             static_cast<int>(FindDataType(operand->dtype())->bytes);
  }
  return ScratchBytes(bytes / 10);
}

int64_t RowsBetween(int64_t steps, const Geometry& geometry) {
  return static_cast<int64_t>(static_cast<uint64_t>(steps) * static_cast<uint64_t>(geometry.batch));
}

}  // namespace openaclnn::conv_tbc
