// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10, compiled once for each instruction set (Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", 2011).
#include <cstring>

#include "kernels/number/philox.h"
#include "kernels/simd/wide-inl.h"

namespace openaclnn::OPENACLNN_TARGET {
namespace {

// Registers of places that are worked on together: a round waits for its products.
constexpr int kGroups = 4;
constexpr int kPlaces = kGroups * kWideLanes;

/// The four words of each place, two by two.
struct Words {
  U64s first[kGroups], second[kGroups];
};

/// The words are kept in lanes of 64 bits; what is in the upper halves plays no part.
Words WordsAt(const RandomKey& key, uint64_t begin) {
  constexpr uint64_t kHalf = 0xFFFFFFFF;
  U64s a[kGroups], b[kGroups], c[kGroups], d[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    for (int i = 0; i < kWideLanes; ++i) {
      a[g][i] = begin + static_cast<uint64_t>(g * kWideLanes + i);
    }
    b[g] = a[g] >> 32;
    c[g] = AllOf(key.offset);
    d[g] = AllOf(key.offset >> 32);
  }
  auto low = static_cast<uint32_t>(key.seed), high = static_cast<uint32_t>(key.seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    for (int g = 0; g < kGroups; ++g) {
      const U64s x = MultiplyHalves(a[g], AllOf(uint64_t{0xD2511F53}));
      const U64s y = MultiplyHalves(c[g], AllOf(uint64_t{0xCD9E8D57}));
      a[g] = (y >> 32) ^ b[g] ^ AllOf(uint64_t{low});
      c[g] = (x >> 32) ^ d[g] ^ AllOf(uint64_t{high});
      b[g] = y;
      d[g] = x;
    }
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  Words words;
  for (int g = 0; g < kGroups; ++g) {
    words.first[g] = (b[g] << 32) | (a[g] & kHalf);
    words.second[g] = (d[g] << 32) | (c[g] & kHalf);
  }
  return words;
}

/// Calls value(first, second), the words of a register of places, for each; stores what comes.
template <class T, class Value>
void ForPlaces(const RandomKey& key, uint64_t begin, int64_t n, T* out, const Value& value) {
  for (int64_t i = 0; i < n; i += kPlaces) {
    const Words words = WordsAt(key, begin + static_cast<uint64_t>(i));
    T values[kPlaces];
    const bool whole = i + kPlaces <= n;
    T* const to = whole ? out + i : values;
    for (int g = 0; g < kGroups; ++g) {
      const auto one = value(words.first[g], words.second[g]);
      std::memcpy(to + g * kWideLanes, &one, sizeof one);
    }
    if (!whole) std::memcpy(out + i, values, static_cast<size_t>(n - i) * sizeof(T));
  }
}

void Bits(const RandomKey& key, uint64_t begin, int64_t n, uint64_t* out) {
  ForPlaces(key, begin, n, out, [](U64s first, U64s) { return first; });
}

void Uniform(const RandomKey& key, uint64_t begin, int64_t n, int digits, double low, double span,
             double* out) {
  const double step = 1.0 / static_cast<double>(uint64_t{1} << digits);
  ForPlaces(key, begin, n, out, [=](U64s first, U64s) {
    const F64s unit = ToDoubles(~first >> (64 - digits)) * step;
    return low + span * unit;
  });
}

/// In (0, 1].
F64s Open(U64s bits) { return (ToDoubles(bits >> 11) + 1.0) * 0x1p-53; }

/// Two numbers of each place, by Box and Muller.
void Normal(const RandomKey& key, uint64_t begin, int64_t n, double mean, double deviation,
            double* out) {
  double values[2 * kPlaces];
  for (int64_t i = -static_cast<int64_t>(begin % 2); i < n; i += 2 * kPlaces) {
    const Words words = WordsAt(key, (begin + static_cast<uint64_t>(i)) / 2);
    const bool whole = i >= 0 && i + 2 * kPlaces <= n;
    double* const to = whole ? out + i : values;
    for (int g = 0; g < kGroups; ++g) {
      const F64s radius = SquareRoot(-2.0 * LogOf(Open(words.first[g])));
      const CosineAndSine turns = OfTurns(Open(words.second[g]));
      StoreInTurn(mean + deviation * (radius * turns.cosine),
                  mean + deviation * (radius * turns.sine), to + 2 * g * kWideLanes);
    }
    if (whole) continue;
    const int64_t from = i < 0 ? 1 : 0, end = n - i < 2 * kPlaces ? n - i : 2 * kPlaces;
    std::memcpy(out + i + from, values + from, static_cast<size_t>(end - from) * sizeof(double));
  }
}

void AtLeast(const RandomKey& key, uint64_t begin, int64_t n, double probability, uint8_t* out) {
  const double scaled = probability * 0x1p53;  // exact; u * 2^53 is whole
  const auto whole = static_cast<int64_t>(scaled);
  const int64_t least = whole + (static_cast<double>(whole) < scaled ? 1 : 0);
  uint64_t kept[kPlaces];
  for (int64_t i = 0; i < n; i += kPlaces) {
    ForPlaces(key, begin + static_cast<uint64_t>(i), kPlaces, kept, [=](U64s first, U64s) {
      return (reinterpret_cast<I64s>(~first >> 11) >= least) & 1;
    });
    const int64_t places = n - i < kPlaces ? n - i : kPlaces;
    for (int64_t byte = 0; byte * 8 < places; ++byte) {
      uint64_t bits = 0;
      for (int64_t k = 0; k < 8; ++k) bits |= kept[byte * 8 + k] << k;
      if (places - byte * 8 < 8) bits &= (uint64_t{1} << (places - byte * 8)) - 1;
      out[i / 8 + byte] = static_cast<uint8_t>(bits);
    }
  }
}

}  // namespace

extern const PhiloxKernels kPhiloxKernels = {Bits, Uniform, Normal, AtLeast};

}  // namespace openaclnn::OPENACLNN_TARGET
