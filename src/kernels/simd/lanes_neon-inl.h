// SPDX-License-Identifier: Apache-2.0
// Registers of F32x16 on AArch64: four of four floats. Included inside the target's namespace.

using Register = float32x4_t;
constexpr int kWidth = 4;
constexpr int kRegisters = kLanes / kWidth;

inline uint16x4_t LoadBits(const void* from) {
  uint16x4_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}

inline Register LoadRegister(const float* from) { return vld1q_f32(from); }
inline Register LoadRegister(const Float16* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(LoadBits(from)));
}
inline Register LoadRegister(const BFloat16* from) {
  return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(LoadBits(from)), 16));
}

inline void StoreBits(uint16x4_t bits, void* to) { std::memcpy(to, &bits, sizeof(bits)); }

inline Register CanonicalRegister(Register value) {
  const float32x4_t canonical = vreinterpretq_f32_s32(vdupq_n_s32(kCanonicalNan));
  return vbslq_f32(vceqq_f32(value, value), value, canonical);
}

inline void StoreRegister(Register value, float* to) { vst1q_f32(to, value); }
inline void StoreRegister(Register value, Float16* to) {
  StoreBits(vreinterpret_u16_f16(vcvt_f16_f32(CanonicalRegister(value))), to);
}
// Nearest, ties to even.
inline void StoreRegister(Register value, BFloat16* to) {
  const uint32x4_t bits = vreinterpretq_u32_f32(value);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7FFF)));
  const uint32x4_t canonical = vdupq_n_u32(kCanonicalNan);
  const uint32x4_t number = vceqq_f32(value, value);
  StoreBits(vshrn_n_u32(vbslq_u32(number, rounded, canonical), 16), to);
}

// GCC has no intrinsic for stores past the caches.
template <class T>
inline void StreamRegister(Register value, T* to) {
  StoreRegister(value, to);
}

inline Register BroadcastRegister(float value) { return vdupq_n_f32(value); }
inline Register AddRegister(Register a, Register b) { return vaddq_f32(a, b); }
inline Register DivideRegister(Register a, Register b) { return vdivq_f32(a, b); }
inline Register SubtractRegister(Register a, Register b) { return vsubq_f32(a, b); }
inline Register MultiplyRegister(Register a, Register b) { return vmulq_f32(a, b); }
// As the other targets have it: b unless a is greater.
inline Register MaxRegister(Register a, Register b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }

/// zero where the byte is 0, else `other`.
inline Register SelectRegister(const uint8_t* bytes, Register zero, Register other) {
  uint32_t four = 0;
  std::memcpy(&four, bytes, sizeof(four));
  const uint16x8_t wide = vmovl_u8(vcreate_u8(four));
  const uint32x4_t is_zero = vceqzq_u32(vmovl_u16(vget_low_u16(wide)));
  return vbslq_f32(is_zero, zero, other);
}

/// 2^n for whole n from -126 to 127; 0 for -127.
inline Register PowerOfTwoRegister(Register n) {
  const int32x4_t exponent = vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127));
  return vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23));
}

/// a times 2^n, added to its exponent: `whole` is n + 1.5 * 2^23, and neither a nor the product is
/// 0, below the normal range or not finite.
inline Register AddToExponent(Register a, Register whole) {
  const uint32x4_t exponent = vshlq_n_u32(vreinterpretq_u32_f32(whole), 23);
  return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a), exponent));
}

/// Whether each lane is at least that of `least`; NaN is not.
inline bool AllAtLeast(const Register (&a)[kRegisters], const Register (&least)[kRegisters]) {
  uint32x4_t all = vcgeq_f32(a[0], least[0]);
  for (int i = 1; i < kRegisters; ++i) all = vandq_u32(all, vcgeq_f32(a[i], least[i]));
  return vminvq_u32(all) != 0;
}

/// a*b + c, rounded once.
inline Register MulAddRegister(Register a, Register b, Register c) { return vfmaq_f32(c, a, b); }
