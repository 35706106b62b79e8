// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 for many places at once, and the numbers that are made of its bits.
#pragma once

#include <cstdint>

#include "kernels/simd/target.h"

namespace openaclnn {

/// The values that random numbers depend on beside their place.
struct RandomKey {
  uint64_t seed, offset;
};

/// The loops that are compiled for each instruction set; each gives the same bits. Of the places
/// [begin, begin + n); `bits` are the first 64 of a place.
struct PhiloxKernels {
  /// out = bits
  void (*bits)(const RandomKey& key, uint64_t begin, int64_t n, uint64_t* out);
  /// out = low + span * u; u in [0, 1) has the first `digits` of the inverted bits.
  void (*uniform)(const RandomKey& key, uint64_t begin, int64_t n, int digits, double low,
                  double span, double* out);
  /// out = mean + deviation * a normal number, by Box and Muller from all 128 bits of a place that
  /// is half its own: the cosine of even ones, the sine of odd ones.
  void (*normal)(const RandomKey& key, uint64_t begin, int64_t n, double mean, double deviation,
                 double* out);
  /// A bit for each place, the lowest first, in (n + 7) / 8 bytes: whether the u of 53 digits is at
  /// least `probability`.
  void (*at_least)(const RandomKey& key, uint64_t begin, int64_t n, double probability,
                   uint8_t* out);
};
OPENACLNN_TARGET_DECLARE(extern const PhiloxKernels kPhiloxKernels)

/// Those that fit the machine.
const PhiloxKernels* RandomNumbers();

}  // namespace openaclnn
