// SPDX-License-Identifier: Apache-2.0
// Rows of places of windows, compiled once for each instruction set.
#include "kernels/simd/double_lanes-inl.h"
#include "kernels/simd/wide-inl.h"
#include "kernels/window/window_rows.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

constexpr int kFloatParts = kLanes * 4 / kRegisterBytes;
static_assert(kLanes == kWindowLanes);

typedef float Floats __attribute__((vector_size(kRegisterBytes)));
typedef int32_t Numbers __attribute__((vector_size(kRegisterBytes)));

template <class V, class T>
inline V LoadPart(const T* from) {
  V part;
  __builtin_memcpy(&part, from, sizeof(part));
  return part;
}

template <class V, class T>
inline void StorePart(V part, T* to) {
  __builtin_memcpy(to, &part, sizeof(part));
}

/// Sums kGroups groups of lanes from place i on, which do not wait for each other.
template <bool kWeighted, int kGroups>
inline __attribute__((always_inline)) void SumPlaces(const WindowSums& of, int64_t i) {
  Lanes<double> sum[kGroups];
  for (Lanes<double>& lanes : sum) lanes = Lanes<double>::All(0);
  for (int64_t j = 0; j < of.line_count; ++j) {
    const double* const line = of.lines[j] + i;
    for (int64_t t = 0; t < of.taps; ++t) {
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) {
        Lanes<double> term = Lanes<double>::Load(line + of.offsets[t] + g * kLanes);
        if constexpr (kWeighted) {
          term = Lanes<double>::Load(of.weights + t * of.pitch + i + g * kLanes) *
                 of.line_weights[j] * term;
        }
        sum[g] = sum[g] + term;
      }
    }
  }
  for (int g = 0; g < kGroups; ++g) {
    if (of.divisors != nullptr) {
      const auto divisor = Lanes<double>::Load(of.divisors + i + g * kLanes) * of.line_divisor;
      for (int p = 0; p < kParts; ++p) sum[g].part[p] /= divisor.part[p];
    }
    sum[g].Store(of.out + i + g * kLanes);
  }
}

template <bool kWeighted>
void SumRow(const WindowSums& of) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= of.pitch; i += 2 * kLanes) SumPlaces<kWeighted, 2>(of, i);
  if (i < of.pitch) SumPlaces<kWeighted, 1>(of, i);
}

void Sums(const WindowSums& of) { of.weights != nullptr ? SumRow<true>(of) : SumRow<false>(of); }

/// The result marks elements that are larger than the largest ones before them.
inline Numbers IsLarger(Floats element, Floats largest) {
  return ~(element <= largest) & (largest == largest);  // NOLINT(misc-redundant-expression)
}

void Maxima(const WindowMaxima& of) {
  constexpr int kWidthOfFloats = kLanes / kFloatParts;
  for (int64_t i = 0; i < of.pitch; i += kWidthOfFloats) {
    Floats largest = Floats{} - __builtin_inff();
    Numbers number = LoadPart<Numbers>(of.first + i), own = LoadPart<Numbers>(of.numbers + i);
    for (int64_t t = 0; t < of.taps; ++t) {
      const auto element = LoadPart<Floats>(of.line + of.offsets[t] + i);
      const Numbers larger = IsLarger(element, largest);
      largest = larger ? element : largest;
      number = larger ? own : number;
      own += of.step;
    }
    StorePart(largest, of.largest + i);
    StorePart(number, of.number + i);
  }
}

void Join(const float* line, const int32_t* line_number, int32_t base, int64_t pitch,
          float* largest, int32_t* number) {
  constexpr int kWidthOfFloats = kLanes / kFloatParts;
  for (int64_t i = 0; i < pitch; i += kWidthOfFloats) {
    const auto before = LoadPart<Floats>(largest + i), element = LoadPart<Floats>(line + i);
    const Numbers larger = IsLarger(element, before);
    StorePart(larger ? element : before, largest + i);
    StorePart(larger ? LoadPart<Numbers>(line_number + i) + base : LoadPart<Numbers>(number + i),
              number + i);
  }
}

bool Codes(const uint8_t* bytes, uint8_t code, int64_t count, uint64_t* codes) {
  constexpr uint64_t kOnes = 0x0101010101010101, kDiagonal = 0x8040201008040201,
                     kSevens = 0x7F7F7F7F7F7F7F7F;
  typedef uint8_t Bytes __attribute__((vector_size(kWideLanes)));
  const uint64_t own = kOnes * code;
  U64s several = {};
  for (int64_t b = 0; b < count; b += kWideLanes) {
    U64s bits = __builtin_convertvector(LoadPart<Bytes>(bytes + b), U64s);
    bits |= bits << 8;
    bits |= bits << 16;
    bits |= bits << 32;
    // Bit k is left of byte k, and then fills it.
    bits &= kDiagonal;
    const U64s set = ((bits + kSevens) | bits) >> 7 & kOnes;
    const U64s all = (set << 8) - set, before = LoadPart<U64s>(codes + b);
    several |= before & all;
    StorePart(before | (all & own), codes + b);
  }
  uint64_t any = 0;
  for (int l = 0; l < kWideLanes; ++l) any |= several[l];
  return any != 0;
}

void Targets(const WindowTargets& of) {
  const WindowTargets s = of;
  const double factor = 1 / static_cast<double>(s.width);
#pragma GCC ivdep
  for (int64_t j = 0; j < s.places; ++j) {
    const int32_t number = s.numbers[j];
    // The quotient of INT32 numbers: half a number is much more than what the product is off by.
    const auto y = static_cast<int32_t>((static_cast<double>(number) + 0.5) * factor);
    const int32_t row = y - s.top, x = number - y * s.width + s.pad;
    const int32_t column = x - static_cast<int32_t>(j) * s.stride;
    const bool inside = (row >= 0) & (row < s.high) & (column >= 0) & (column < s.wide);
    s.targets[j] = inside ? row * s.pitch + x : s.none;
  }
}

/// With the number of taps known their loop is none.
template <int64_t kTaps>
void SumTaken(const TakenSums& of) {
  const int64_t n = of.places, taps = kTaps > 0 ? kTaps : of.taps;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      float element;
      __builtin_memcpy(&element, of.from + of.offsets[t * n + i], sizeof(element));
      sum += static_cast<double>(element) * of.weights[t * n + i];
    }
    of.out[i] = sum;
  }
}

bool Taken(const TakenSums& of) {
  of.taps == 4 ? SumTaken<4>(of) : of.taps == 8 ? SumTaken<8>(of) : SumTaken<0>(of);
  bool known = true;
  for (int64_t i = 0; i < of.places; ++i) known &= of.out[i] == of.out[i];  // NOLINT
  return known;
}

}  // namespace

extern const WindowRowKernels kWindowRowKernels = {Sums, Maxima, Join, Codes, Targets, Taken};

}  // namespace openaclnn::OPENACLNN_TARGET
