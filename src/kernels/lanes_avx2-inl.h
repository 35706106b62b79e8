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

inline void StoreRegister(Register value, float* to) { _mm256_storeu_ps(to, value); }
inline void StoreRegister(Register value, Float16* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
// Nearest, ties to even.
inline void StoreRegister(Register value, BFloat16* to) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  const __m256i rounded = _mm256_add_epi32(bits, bias);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  const __m256i result = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(to),
      _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1)));
}

inline Register BroadcastRegister(float value) { return _mm256_set1_ps(value); }
inline Register AddRegister(Register a, Register b) { return _mm256_add_ps(a, b); }
inline Register DivideRegister(Register a, Register b) { return _mm256_div_ps(a, b); }
