// SPDX-License-Identifier: Apache-2.0
// Registers of F32x16 on x86-64-v2: four of four floats. Included inside the target's namespace.

using Register = __m128;
constexpr int kWidth = 4;
constexpr int kRegisters = kLanes / kWidth;

inline __m128i LoadBits(const void* from) {
  return _mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
}

inline Register LoadRegister(const float* from) { return _mm_loadu_ps(from); }
inline Register LoadRegister(const BFloat16* from) {
  return _mm_castsi128_ps(_mm_slli_epi32(LoadBits(from), 16));
}
// Without F16C: the exponent and mantissa move into place, a multiplication by 2^112 rebiases the
// exponent (exactly, denormals included), and Inf and NaN get the largest exponent.
inline Register LoadRegister(const Float16* from) {
  const __m128i half = LoadBits(from);
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x8000)), 16);
  const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi32(0x7FFF));
  const __m128 scaled = _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)),
                                   _mm_castsi128_ps(_mm_set1_epi32((127 + 112) << 23)));
  const __m128i special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7BFF));
  const __m128i exponent = _mm_and_si128(special, _mm_set1_epi32(0x7F800000));
  return _mm_castsi128_ps(_mm_or_si128(_mm_or_si128(_mm_castps_si128(scaled), exponent), sign));
}

inline Register CanonicalRegister(Register value) {
  const __m128 canonical = _mm_castsi128_ps(_mm_set1_epi32(kCanonicalNan));
  return _mm_blendv_ps(value, canonical, _mm_cmpunord_ps(value, value));
}

/// The low halves of four words, in the lower half of the result.
inline __m128i LowHalves(__m128i words) { return _mm_packus_epi32(words, words); }

// Nearest, ties to even.
inline __m128i Narrowed(Register value, const BFloat16*) {
  const __m128i bits = _mm_castps_si128(value);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded = _mm_add_epi32(bits, _mm_add_epi32(odd, _mm_set1_epi32(0x7FFF)));
  const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(value, value));
  const __m128i result = _mm_blendv_epi8(rounded, _mm_set1_epi32(kCanonicalNan), nan);
  return LowHalves(_mm_srli_epi32(result, 16));
}
// Without F16C, nearest, ties to even: results below the smallest normal are rounded by adding a
// constant whose last place is theirs; the others by adding half a place to the bits.
inline __m128i Narrowed(Register value, const Float16*) {
  const __m128i all = _mm_castps_si128(CanonicalRegister(value));
  const __m128i sign = _mm_and_si128(all, _mm_set1_epi32(INT32_MIN));
  const __m128i bits = _mm_xor_si128(all, sign);
  const __m128i magic = _mm_set1_epi32((127 - 15 + 23 - 10 + 1) << 23);
  const __m128i small = _mm_sub_epi32(
      _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(bits), _mm_castsi128_ps(magic))), magic);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 13), _mm_set1_epi32(1));
  const __m128i rebias = _mm_set1_epi32(static_cast<int32_t>(((15u - 127u) << 23) + 0xFFFu));
  const __m128i normal = _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(bits, rebias), odd), 13);
  const __m128i is_small = _mm_cmpgt_epi32(_mm_set1_epi32((127 - 14) << 23), bits);
  const __m128i is_nan = _mm_cmpgt_epi32(bits, _mm_set1_epi32(0x7F800000));
  const __m128i is_large = _mm_cmpgt_epi32(bits, _mm_set1_epi32(((127 + 16) << 23) - 1));
  const __m128i quiet = _mm_and_si128(is_nan, _mm_set1_epi32(0x200));
  const __m128i special = _mm_or_si128(_mm_set1_epi32(0x7C00), quiet);
  const __m128i finite = _mm_blendv_epi8(normal, small, is_small);
  const __m128i half = _mm_blendv_epi8(finite, special, is_large);
  return LowHalves(_mm_or_si128(half, _mm_srli_epi32(sign, 16)));
}

inline void StoreRegister(Register value, float* to) { _mm_storeu_ps(to, value); }
template <class T>
inline void StoreRegister(Register value, T* to) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), Narrowed(value, to));
}

inline void StreamRegister(Register value, float* to) { _mm_stream_ps(to, value); }
template <class T>
inline void StreamRegister(Register value, T* to) {
  _mm_stream_si64(reinterpret_cast<long long*>(to), _mm_cvtsi128_si64(Narrowed(value, to)));
}

inline Register BroadcastRegister(float value) { return _mm_set1_ps(value); }
inline Register AddRegister(Register a, Register b) { return _mm_add_ps(a, b); }
inline Register DivideRegister(Register a, Register b) { return _mm_div_ps(a, b); }
inline Register SubtractRegister(Register a, Register b) { return _mm_sub_ps(a, b); }
inline Register MultiplyRegister(Register a, Register b) { return _mm_mul_ps(a, b); }
inline Register MaxRegister(Register a, Register b) { return _mm_max_ps(a, b); }

/// zero where the byte is 0, else `other`.
inline Register SelectRegister(const uint8_t* bytes, Register zero, Register other) {
  int32_t four = 0;
  std::memcpy(&four, bytes, sizeof(four));
  const __m128i is_zero =
      _mm_cmpeq_epi32(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)), _mm_setzero_si128());
  return _mm_blendv_ps(other, zero, _mm_castsi128_ps(is_zero));
}

/// 2^n for whole n from -126 to 127; 0 for -127.
inline Register PowerOfTwoRegister(Register n) {
  const __m128i exponent = _mm_add_epi32(_mm_cvtps_epi32(n), _mm_set1_epi32(127));
  return _mm_castsi128_ps(_mm_slli_epi32(exponent, 23));
}

/// a times 2^n, added to its exponent: `whole` is n + 1.5 * 2^23, and neither a nor the product is
/// 0, below the normal range or not finite.
inline Register AddToExponent(Register a, Register whole) {
  const __m128i exponent = _mm_slli_epi32(_mm_castps_si128(whole), 23);
  return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(a), exponent));
}

/// Whether each lane is at least that of `least`; NaN is not.
inline bool AllAtLeast(const Register (&a)[kRegisters], const Register (&least)[kRegisters]) {
  Register all = _mm_cmpge_ps(a[0], least[0]);
  for (int i = 1; i < kRegisters; ++i) all = _mm_and_ps(all, _mm_cmpge_ps(a[i], least[i]));
  return _mm_movemask_ps(all) == 0xF;
}

/// a*b + c, rounded twice: x86-64-v2 has no FMA.
inline Register MulAddRegister(Register a, Register b, Register c) {
  return _mm_add_ps(_mm_mul_ps(a, b), c);
}
