// SPDX-License-Identifier: Apache-2.0
// Activations of rows of floats between and behind the products of experts.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace openaclnn::supporting {

enum class Activation { kNone, kRelu, kGeluTanh, kGelu, kFastGelu, kSilu };

inline float Activated(Activation activation, float x) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGeluTanh:
      return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    case Activation::kGelu:
      return 0.5f * x * (1 + std::erf(x * 0.7071067812f));
    case Activation::kFastGelu:
      return x / (1 + std::exp(-1.702f * std::abs(x))) * std::exp(0.851f * (x - std::abs(x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    default:
      return x;
  }
}

/// Applies it to a row.
inline void Activate(Activation activation, int64_t n, float* row) {
  if (activation == Activation::kNone) return;
  for (int64_t i = 0; i < n; ++i) row[i] = Activated(activation, row[i]);
}

}  // namespace openaclnn::supporting
