// SPDX-License-Identifier: Apache-2.0
// AllReduce, Reduce and ReduceScatter: every type and reduction, bit for bit against the tree over
// ranks of the specification.
#include <gtest/gtest.h>

#include <algorithm>

#include "hccl/fixture.h"

namespace openaclnn {
namespace {

using ranks::Bf16;
using ranks::Fp16;
using ranks::Vectors;

constexpr HcclReduceOp kOps[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX,
                                 HCCL_REDUCE_MIN};

template <class T, HcclDataType kTypeOfT>
struct Type {
  using Element = T;
  static constexpr HcclDataType kType = kTypeOfT;
};

template <class Tested>
class ReduceTest : public RanksTest {
 protected:
  using T = typename Tested::Element;
  static constexpr HcclDataType kType = Tested::kType;

  static void AllReduce(const Vectors<T>& inputs, HcclReduceOp op, bool in_place) {
    const Ranks ranks(static_cast<uint32_t>(inputs.size()));
    const size_t count = inputs[0].size();
    const Buffers<T> sends = Upload(inputs);
    const Buffers<T> others = in_place ? Buffers<T>() : Empty<T>(ranks.size(), count);
    const Buffers<T>& recvs = in_place ? sends : others;
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      ASSERT_EQ(HcclAllReduce(sends[rank]->data(), recvs[rank]->data(), count, kType, op,
                              ranks.comm(rank), ranks.stream(rank)),
                HCCL_SUCCESS)
          << TakeMessage();
    }
    ranks.AwaitAll();
    const std::vector<T> expected = Expected(inputs, op);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      EXPECT_TRUE(ranks::SameBits(recvs[rank]->Read(), expected)) << "rank " << rank;
    }
  }

  static void Reduce(const Vectors<T>& inputs, HcclReduceOp op, uint32_t root) {
    const Ranks ranks(static_cast<uint32_t>(inputs.size()));
    const size_t count = inputs[0].size();
    const Buffers<T> sends = Upload(inputs), recvs = Empty<T>(ranks.size(), count);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      ASSERT_EQ(HcclReduce(sends[rank]->data(), rank == root ? recvs[rank]->data() : nullptr, count,
                           kType, op, root, ranks.comm(rank), ranks.stream(rank)),
                HCCL_SUCCESS)
          << TakeMessage();
    }
    ranks.AwaitAll();
    EXPECT_TRUE(ranks::SameBits(recvs[root]->Read(), Expected(inputs, op)));
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      EXPECT_TRUE(ranks::SameBits(sends[rank]->Read(), inputs[rank])) << "rank " << rank;
    }
  }

  static void ReduceScatter(const Vectors<T>& inputs, HcclReduceOp op, bool in_place) {
    const Ranks ranks(static_cast<uint32_t>(inputs.size()));
    const size_t count = inputs[0].size() / ranks.size();
    const Buffers<T> sends = Upload(inputs), others = Empty<T>(ranks.size(), count);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      T* const recv = in_place ? sends[rank]->data() + rank * count : others[rank]->data();
      ASSERT_EQ(HcclReduceScatter(sends[rank]->data(), recv, count, kType, op, ranks.comm(rank),
                                  ranks.stream(rank)),
                HCCL_SUCCESS)
          << TakeMessage();
    }
    ranks.AwaitAll();
    const std::vector<T> expected = Expected(inputs, op);
    for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const std::vector<T> all = (in_place ? sends : others)[rank]->Read();
      const auto begin = all.begin() + static_cast<ptrdiff_t>(in_place ? rank * count : 0);
      const auto first = expected.begin() + static_cast<ptrdiff_t>(rank * count);
      EXPECT_TRUE(ranks::SameBits(std::vector<T>(begin, begin + static_cast<ptrdiff_t>(count)),
                                  std::vector<T>(first, first + static_cast<ptrdiff_t>(count))))
          << "rank " << rank;
    }
  }

 private:
  /// Of one rank the elements stay what they are, NaN included.
  static std::vector<T> Expected(const Vectors<T>& inputs, HcclReduceOp op) {
    return inputs.size() == 1 ? inputs[0] : ranks::Reduced(inputs, op);
  }
};

using Types =
    testing::Types<Type<int8_t, HCCL_DATA_TYPE_INT8>, Type<int16_t, HCCL_DATA_TYPE_INT16>,
                   Type<int32_t, HCCL_DATA_TYPE_INT32>, Type<int64_t, HCCL_DATA_TYPE_INT64>,
                   Type<uint8_t, HCCL_DATA_TYPE_UINT8>, Type<uint16_t, HCCL_DATA_TYPE_UINT16>,
                   Type<uint32_t, HCCL_DATA_TYPE_UINT32>, Type<uint64_t, HCCL_DATA_TYPE_UINT64>,
                   Type<Fp16, HCCL_DATA_TYPE_FP16>, Type<Bf16, HCCL_DATA_TYPE_BFP16>,
                   Type<float, HCCL_DATA_TYPE_FP32>, Type<double, HCCL_DATA_TYPE_FP64>>;
TYPED_TEST_SUITE(ReduceTest, Types);

// 20,011 elements of two bytes go in slices, of one byte for two ranks or more too.
TYPED_TEST(ReduceTest, AllReduceIsTheTreeInAndOutOfPlace) {
  for (const uint32_t ranks : {1u, 2u, 3u, 5u, 8u}) {
    for (const size_t count : {1u, 7u, 1000u, 20011u}) {
      for (const HcclReduceOp op : kOps) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << count << ", op " << op);
        const auto inputs = RandomVectors<typename TypeParam::Element>(ranks, count);
        this->AllReduce(inputs, op, false);
        this->AllReduce(inputs, op, true);
      }
    }
  }
}

TYPED_TEST(ReduceTest, ReduceGivesTheRootTheSameAndNobodyElse) {
  for (const uint32_t ranks : {1u, 2u, 5u}) {
    for (const size_t count : {3u, 20011u}) {
      for (const HcclReduceOp op : kOps) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << count << ", op " << op);
        this->Reduce(RandomVectors<typename TypeParam::Element>(ranks, count), op, ranks / 2);
      }
    }
  }
}

TYPED_TEST(ReduceTest, ReduceScatterGivesEachRankItsPartOfTheSame) {
  for (const uint32_t ranks : {1u, 2u, 3u, 8u}) {
    for (const size_t count : {1u, 13u, 5003u}) {
      for (const HcclReduceOp op : kOps) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << count << ", op " << op);
        const auto inputs = RandomVectors<typename TypeParam::Element>(ranks, count * ranks);
        this->ReduceScatter(inputs, op, false);
        this->ReduceScatter(inputs, op, true);
      }
    }
  }
}

// Slices of several pieces, which overlap in time.
using LargeTest = ReduceTest<Type<float, HCCL_DATA_TYPE_FP32>>;

TEST_F(LargeTest, ManyPieces) {
  const auto inputs = RandomVectors<float>(3, 2'500'003);
  AllReduce(inputs, HCCL_REDUCE_SUM, true);
  AllReduce(inputs, HCCL_REDUCE_SUM, false);
  Reduce(inputs, HCCL_REDUCE_SUM, 1);
  const auto parts = RandomVectors<float>(3, 3 * 700'001);
  ReduceScatter(parts, HCCL_REDUCE_SUM, false);
  ReduceScatter(parts, HCCL_REDUCE_SUM, true);
}

// The order is the tree's and no other: ((a+b)+(c+d))+e, where any other gives another number.
TEST_F(LargeTest, TheOrderIsTheTrees) {
  const Vectors<float> inputs = {{0x1p24f}, {1.0f}, {1.0f}, {1.0f}, {1.0f}};
  ASSERT_EQ(ranks::Reduced(inputs, HCCL_REDUCE_SUM)[0], 0x1p24f + 4.0f);
  AllReduce(inputs, HCCL_REDUCE_SUM, false);
}

}  // namespace
}  // namespace openaclnn
