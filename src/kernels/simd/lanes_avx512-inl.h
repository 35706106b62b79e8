// SPDX-License-Identifier: Apache-2.0
// Registers of F32x16 on x86-64-v4: one of sixteen floats. Included inside the target's namespace.

using Register = __m512;
constexpr int kWidth = 16;
constexpr int kRegisters = kLanes / kWidth;

inline Register LoadRegister(const float* from) { return _mm512_loadu_ps(from); }
inline Register LoadRegister(const Float16* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
typedef uint16_t Words __attribute__((vector_size(64)));

/// Sixteen bfloat16 as the upper halves of floats: one permutation of 16-bit words.
inline Register Widened(__m256i bits) {
  constexpr Words kPlaces = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                             0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
  constexpr __mmask32 kUpper = 0xAAAAAAAA;
  return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(
      kUpper, reinterpret_cast<__m512i>(kPlaces), _mm512_castsi256_si512(bits)));
}
inline Register LoadRegister(const BFloat16* from) {
  return Widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline Register CanonicalRegister(Register value) {
  const __m512 canonical = _mm512_castsi512_ps(_mm512_set1_epi32(kCanonicalNan));
  return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), canonical);
}

inline __m256i Narrowed(Register value, const Float16*) {
  return _mm512_cvtps_ph(CanonicalRegister(value), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Nearest, ties to even, by integer arithmetic: the native conversion flushes denormals.
inline __m256i Narrowed(Register value, const BFloat16*) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i bias = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF));
  const __mmask16 number = _mm512_cmp_ps_mask(value, value, _CMP_ORD_Q);
  const __m512i canonical = _mm512_set1_epi32(kCanonicalNan);
  const __m512i result = _mm512_mask_add_epi32(canonical, number, bits, bias);
  constexpr Words kUpper = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  return _mm512_castsi512_si256(
      _mm512_permutexvar_epi16(reinterpret_cast<__m512i>(kUpper), result));
}

inline void StoreRegister(Register value, float* to) { _mm512_storeu_ps(to, value); }
template <class T>
inline void StoreRegister(Register value, T* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), Narrowed(value, to));
}

inline void StreamRegister(Register value, float* to) { _mm512_stream_ps(to, value); }
template <class T>
inline void StreamRegister(Register value, T* to) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), Narrowed(value, to));
}

// The first n of sixteen: masked lanes touch no memory, and need no copy whose bytes are written
// in two parts and read in one, which the processor waits for.
#define OPENACLNN_MASKED_TAILS 1

inline __mmask16 First(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }

inline Register LoadFirst(const float* from, int64_t n, float rest = 0) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), First(n), from);
}
inline Register LoadFirst(const Float16* from, int64_t n) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(First(n), from));
}
inline Register LoadFirst(const BFloat16* from, int64_t n) {
  return Widened(_mm256_maskz_loadu_epi16(First(n), from));
}

inline Register KeepFirst(Register value, int64_t n, float rest) {
  return _mm512_mask_mov_ps(_mm512_set1_ps(rest), First(n), value);
}

inline void StoreFirst(Register value, float* to, int64_t n) {
  _mm512_mask_storeu_ps(to, First(n), value);
}
template <class T>
inline void StoreFirst(Register value, T* to, int64_t n) {
  _mm256_mask_storeu_epi16(to, First(n), Narrowed(value, to));
}

inline Register BroadcastRegister(float value) { return _mm512_set1_ps(value); }
inline Register AddRegister(Register a, Register b) { return _mm512_add_ps(a, b); }
inline Register DivideRegister(Register a, Register b) { return _mm512_div_ps(a, b); }
inline Register SubtractRegister(Register a, Register b) { return _mm512_sub_ps(a, b); }
inline Register MultiplyRegister(Register a, Register b) { return _mm512_mul_ps(a, b); }
inline Register MaxRegister(Register a, Register b) { return _mm512_max_ps(a, b); }

/// zero where the byte is 0, else `other`.
inline Register SelectRegister(const uint8_t* bytes, Register zero, Register other) {
  const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return _mm512_mask_blend_ps(_mm_cmpeq_epi8_mask(loaded, _mm_setzero_si128()), other, zero);
}
/// Selects by the first n bytes; zero in the other lanes.
inline Register SelectFirst(const uint8_t* bytes, int64_t n, Register zero, Register other) {
  const __m128i loaded = _mm_maskz_loadu_epi8(First(n), bytes);
  return _mm512_mask_blend_ps(_mm_cmpeq_epi8_mask(loaded, _mm_setzero_si128()), other, zero);
}

/// 2^n for whole n from -126 to 127; 0 for -127.
inline Register PowerOfTwoRegister(Register n) {
  const __m512i exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
  return _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
}

/// a times 2^n, added to its exponent: `whole` is n + 1.5 * 2^23, and neither a nor the product is
/// 0, below the normal range or not finite.
inline Register AddToExponent(Register a, Register whole) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(whole), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), exponent));
}

/// Whether each lane is at least that of `least`; NaN is not.
inline bool AllAtLeast(const Register (&a)[kRegisters], const Register (&least)[kRegisters]) {
  return _mm512_cmp_ps_mask(a[0], least[0], _CMP_GE_OQ) == 0xFFFF;
}

/// a*b + c, rounded once.
inline Register MulAddRegister(Register a, Register b, Register c) {
  return _mm512_fmadd_ps(a, b, c);
}
