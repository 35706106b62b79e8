// SPDX-License-Identifier: Apache-2.0
// The tree over ranks: a block of elements at a time, each level of the tree a row of scratch.
#include "hccl/plan/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hccl/plan/small_float.h"

namespace openaclnn {
namespace {

// Elements of a row: the rows of 16 ranks' doubles fill a first-level cache of 32 KiB by half.
constexpr uint64_t kBlock = 512;
// A tree over 2^32 ranks has so many levels.
constexpr int kMaxLevels = 33;

template <class T>
constexpr bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// How an element is stored, and what it is computed in.
template <class T>
struct Stored {
  using Wide = T;
  static T Load(T value) { return value; }
  static T Store(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      return IsNan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
    }
    return value;
  }
};

template <class T>
requires(std::is_same_v<T, Half> || std::is_same_v<T, Brain>) struct Stored<T> {
  using Wide = float;
  static float Load(T value) { return value.Wide(); }
  static T Store(float value) { return T::Of(value); }
};

/// The type in which integers are added and multiplied. Unsigned, it wraps; int is too narrow for
/// products of uint16_t.
template <class T>
using Wrapping = std::make_unsigned_t<decltype(T{} + 0u)>;

struct Sum {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};

struct Product {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};

// The larger number. Of two zeros with different signs it takes the right one; a NaN wins.
struct Maximum {
  template <class T>
  static T Of(T a, T b) {
    const T larger = a > b ? a : b;
    return IsNan(a) ? a : larger;  // a > NaN is false: the right one
  }
};

struct Minimum {
  template <class T>
  static T Of(T a, T b) {
    const T smaller = a < b ? a : b;
    return IsNan(a) ? a : smaller;
  }
};

template <class T, class Op>
class Tree {
  using Wide = typename Stored<T>::Wide;

 public:
  Tree(const void* const* inputs, uint64_t first, uint64_t count)
      : inputs_(inputs), first_(first), count_(count) {}

  void Store(uint32_t ranks, void* result) {
    Row(0, ranks, rows_[0]);
    auto* out = static_cast<std::byte*>(result) + first_ * sizeof(T);
    for (uint64_t i = 0; i < count_; ++i) {
      const T value = Stored<T>::Store(rows_[0][i]);
      std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    }
  }

 private:
  // Client memory need not be aligned.
  static Wide Load(const std::byte* from, uint64_t i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    return Stored<T>::Load(value);
  }

  const std::byte* Input(uint32_t rank) const {
    return static_cast<const std::byte*>(inputs_[rank]) + first_ * sizeof(T);
  }

  void Row(uint32_t begin, uint32_t end, Wide* row) {
    if (end - begin == 1) {
      const std::byte* from = Input(begin);
      for (uint64_t i = 0; i < count_; ++i) row[i] = Load(from, i);
      return;
    }
    const uint32_t middle = begin + std::bit_floor(end - begin - 1);
    Row(begin, middle, row);
    if (end - middle == 1) {
      const std::byte* from = Input(middle);
      for (uint64_t i = 0; i < count_; ++i) row[i] = Op::Of(row[i], Load(from, i));
      return;
    }
    Wide* const other = row + kBlock;
    Row(middle, end, other);
    for (uint64_t i = 0; i < count_; ++i) row[i] = Op::Of(row[i], other[i]);
  }

  const void* const* const inputs_;
  const uint64_t first_;
  const uint64_t count_;
  Wide rows_[kMaxLevels][kBlock];
};

template <class T, class Op>
void Reduce(const void* const* inputs, uint32_t ranks, uint64_t begin, uint64_t end, void* result) {
  for (uint64_t first = begin; first < end; first += kBlock) {
    Tree<T, Op>(inputs, first, std::min(kBlock, end - first)).Store(ranks, result);
  }
}

using Function = decltype(&Reduce<float, Sum>);

template <class T>
Function ForOp(HcclReduceOp op) {
  switch (op) {
    case HCCL_REDUCE_SUM:
      return Reduce<T, Sum>;
    case HCCL_REDUCE_PROD:
      return Reduce<T, Product>;
    case HCCL_REDUCE_MAX:
      return Reduce<T, Maximum>;
    default:
      return Reduce<T, Minimum>;
  }
}

Function ForType(HcclDataType type, HcclReduceOp op) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return ForOp<int8_t>(op);
    case HCCL_DATA_TYPE_INT16:
      return ForOp<int16_t>(op);
    case HCCL_DATA_TYPE_INT32:
      return ForOp<int32_t>(op);
    case HCCL_DATA_TYPE_INT64:
      return ForOp<int64_t>(op);
    case HCCL_DATA_TYPE_UINT8:
      return ForOp<uint8_t>(op);
    case HCCL_DATA_TYPE_UINT16:
      return ForOp<uint16_t>(op);
    case HCCL_DATA_TYPE_UINT32:
      return ForOp<uint32_t>(op);
    case HCCL_DATA_TYPE_UINT64:
      return ForOp<uint64_t>(op);
    case HCCL_DATA_TYPE_FP16:
      return ForOp<Half>(op);
    case HCCL_DATA_TYPE_BFP16:
      return ForOp<Brain>(op);
    case HCCL_DATA_TYPE_FP64:
      return ForOp<double>(op);
    default:
      return ForOp<float>(op);
  }
}

}  // namespace

void ReduceRanks(const void* const* inputs, uint32_t ranks, uint64_t begin, uint64_t end,
                 HcclDataType type, HcclReduceOp op, void* result) {
  ForType(type, op)(inputs, ranks, begin, end, result);
}

}  // namespace openaclnn
