// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set: nothing here may call code that others share.
#include "tests/kernels/lanes_target.h"

#include "kernels/simd/lanes-inl.h"

namespace openaclnn::OPENACLNN_TARGET {

extern const test::LaneFunctions kLaneFunctions;

namespace {

template <class T, class Element>
void Load(const Element* from, int64_t n, float* to) {
  const T* elements = reinterpret_cast<const T*>(from);
  const F32x16 lanes = n == kLanes ? F32x16::Load(elements) : F32x16::LoadTail(elements, n);
  lanes.Store(to);
}

template <class T, class Element>
void Store(const float* from, int64_t n, Element* to) {
  T* elements = reinterpret_cast<T*>(to);
  const F32x16 lanes = F32x16::Load(from);
  n == kLanes ? lanes.Store(elements) : lanes.StoreTail(elements, n);
}

void Result(const float* from, float* to) { F32x16::Load(from).AsResult<float>().Store(to); }

void Add(const float* a, const float* b, float* c) { (F32x16::Load(a) + F32x16::Load(b)).Store(c); }

void Divide(const float* a, const float* b, float* c) {
  (F32x16::Load(a) / F32x16::Load(b)).Store(c);
}

void LoadRest(const float* from, int64_t n, float rest, float* to) {
  F32x16::LoadTail(from, n, rest).Store(to);
}

void Until(const float* from, int64_t n, float rest, float* to) {
  F32x16::Load(from).Until(n, rest).Store(to);
}

void SelectTail(const uint8_t* bytes, int64_t n, float* to) {
  TailLanes{n}.Select(bytes, F32x16::Broadcast(1), F32x16::Broadcast(2)).Store(to);
}

float Largest(const float* from) { return F32x16::Load(from).Largest(); }

}  // namespace

const test::LaneFunctions kLaneFunctions = {
    LANES_NAME,      Load<Float16>, Load<BFloat16>, Load<float>, Store<Float16>,
    Store<BFloat16>, Store<float>,  Result,         Add,         Divide,
    LoadRest,        Until,         SelectTail,     Largest,
};

}  // namespace openaclnn::OPENACLNN_TARGET
