// SPDX-License-Identifier: Apache-2.0
// Conversions between stored types and what operators compute in.
#include "kernels/number/number.h"

namespace openaclnn {
namespace {

size_t PlaceOf(int32_t dtype) {
  size_t place = 0;
  // The checks leave nothing but the table's types.
  while (place + 1 < std::size(kStoredTypes) && kStoredTypes[place] != dtype) ++place;
  return place;
}

template <class T>
const NumberRows<T>& RowsOf() {
  const NumberKernels& kernels = *OPENACLNN_TARGET_SELECT(kNumberKernels);
  if constexpr (std::is_same_v<T, float>) return kernels.floats;
  if constexpr (std::is_same_v<T, double>) return kernels.doubles;
  if constexpr (std::is_same_v<T, int64_t>) return kernels.integers;
}

}  // namespace

template <class T>
LoadRow<T> LoaderOf(int32_t dtype) {
  return RowsOf<T>().load[PlaceOf(dtype)];
}

template <class T>
StoreRow<T> StorerOf(int32_t dtype) {
  return RowsOf<T>().store[PlaceOf(dtype)];
}

template LoadRow<float> LoaderOf<float>(int32_t);
template LoadRow<double> LoaderOf<double>(int32_t);
template LoadRow<int64_t> LoaderOf<int64_t>(int32_t);
template StoreRow<float> StorerOf<float>(int32_t);
template StoreRow<double> StorerOf<double>(int32_t);
template StoreRow<int64_t> StorerOf<int64_t>(int32_t);

}  // namespace openaclnn
