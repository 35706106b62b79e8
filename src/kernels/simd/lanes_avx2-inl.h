// SPDX-License-Identifier: Apache-2.0
// Registers of F32x16 on x86-64-v3: two of eight floats. Included inside the target's namespace.

using Register = __m256;
constexpr int kWidth = 8;
constexpr int kRegisters = kLanes / kWidth;

inline Register LoadRegister(const float* from) { return _mm256_loadu_ps(from); }
inline Register LoadRegister(const Float16* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
inline Register LoadRegister(const BFloat16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

inline Register CanonicalRegister(Register value) {
  const __m256 canonical = _mm256_castsi256_ps(_mm256_set1_epi32(kCanonicalNan));
  return _mm256_blendv_ps(value, canonical, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

inline __m128i Narrowed(Register value, const Float16*) {
  return _mm256_cvtps_ph(CanonicalRegister(value), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Nearest, ties to even.
inline __m128i Narrowed(Register value, const BFloat16*) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  const __m256i rounded = _mm256_add_epi32(bits, bias);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  const __m256i result =
      _mm256_srli_epi32(_mm256_blendv_epi8(rounded, _mm256_set1_epi32(kCanonicalNan), nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1));
}

inline void StoreRegister(Register value, float* to) { _mm256_storeu_ps(to, value); }
template <class T>
inline void StoreRegister(Register value, T* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), Narrowed(value, to));
}

inline void StreamRegister(Register value, float* to) { _mm256_stream_ps(to, value); }
template <class T>
inline void StreamRegister(Register value, T* to) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), Narrowed(value, to));
}

inline Register BroadcastRegister(float value) { return _mm256_set1_ps(value); }
inline Register AddRegister(Register a, Register b) { return _mm256_add_ps(a, b); }
inline Register DivideRegister(Register a, Register b) { return _mm256_div_ps(a, b); }
inline Register SubtractRegister(Register a, Register b) { return _mm256_sub_ps(a, b); }
inline Register MultiplyRegister(Register a, Register b) { return _mm256_mul_ps(a, b); }
inline Register MaxRegister(Register a, Register b) { return _mm256_max_ps(a, b); }

/// zero where the byte is 0, else `other`.
inline Register SelectRegister(const uint8_t* bytes, Register zero, Register other) {
  const __m128i loaded = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  const __m256i is_zero = _mm256_cmpeq_epi32(_mm256_cvtepu8_epi32(loaded), _mm256_setzero_si256());
  return _mm256_blendv_ps(other, zero, _mm256_castsi256_ps(is_zero));
}

/// 2^n for whole n from -126 to 127; 0 for -127.
inline Register PowerOfTwoRegister(Register n) {
  const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
}

/// a times 2^n, added to its exponent: `whole` is n + 1.5 * 2^23, and neither a nor the product is
/// 0, below the normal range or not finite.
inline Register AddToExponent(Register a, Register whole) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(whole), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), exponent));
}

/// Whether each lane is at least that of `least`; NaN is not.
inline bool AllAtLeast(const Register (&a)[kRegisters], const Register (&least)[kRegisters]) {
  const Register first = _mm256_cmp_ps(a[0], least[0], _CMP_GE_OQ);
  const Register second = _mm256_cmp_ps(a[1], least[1], _CMP_GE_OQ);
  return _mm256_movemask_ps(_mm256_and_ps(first, second)) == 0xFF;
}

/// a*b + c, rounded once.
inline Register MulAddRegister(Register a, Register b, Register c) {
  return _mm256_fmadd_ps(a, b, c);
}
