// SPDX-License-Identifier: Apache-2.0
// AllGather, Broadcast, Scatter, AlltoAll, AlltoAllV and messages: which bytes come where.
#include <gtest/gtest.h>

#include <algorithm>

#include "acl/acl.h"
#include "hccl/fixture.h"

namespace openaclnn {
namespace {

using Bytes = uint32_t;  // elements of four bytes
constexpr HcclDataType kType = HCCL_DATA_TYPE_UINT32;
constexpr uint32_t kRanks[] = {1, 2, 3, 8};
// 2,040 go with what the ranks tell each other, more do not; the last are broadcast in slices.
constexpr size_t kCounts[] = {1, 17, 2040, 2041, 16384, 100'003};

std::vector<Bytes> Concatenated(const ranks::Vectors<Bytes>& parts) {
  std::vector<Bytes> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Bytes> Part(const std::vector<Bytes>& all, size_t first, size_t count) {
  const auto begin = all.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

/// Calls for each rank, then waits for all.
template <class Call>
void OnAll(const Ranks& ranks, const Call& call) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    ASSERT_EQ(call(rank), HCCL_SUCCESS) << TakeMessage();
  }
  ranks.AwaitAll();
}

TEST_F(RanksTest, AllGatherConcatenatesInAndOutOfPlace) {
  for (const uint32_t size : kRanks) {
    for (const size_t count : kCounts) {
      const Ranks ranks(size);
      const auto inputs = RandomVectors<Bytes>(size, count);
      const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(size, count * size);
      OnAll(ranks, [&](uint32_t rank) {
        return HcclAllGather(sends[rank]->data(), recvs[rank]->data(), count, kType,
                             ranks.comm(rank), ranks.stream(rank));
      });
      const std::vector<Bytes> expected = Concatenated(inputs);
      for (const auto& recv : recvs) EXPECT_EQ(recv->Read(), expected);

      Buffers<Bytes> both;
      for (uint32_t rank = 0; rank < size; ++rank) {
        std::vector<Bytes> own(count * size);
        std::ranges::copy(inputs[rank], own.begin() + static_cast<ptrdiff_t>(rank * count));
        both.push_back(std::make_unique<DeviceArray<Bytes>>(own));
      }
      OnAll(ranks, [&](uint32_t rank) {
        return HcclAllGather(both[rank]->data() + rank * count, both[rank]->data(), count, kType,
                             ranks.comm(rank), ranks.stream(rank));
      });
      for (const auto& recv : both) EXPECT_EQ(recv->Read(), expected);
    }
  }
}

TEST_F(RanksTest, BroadcastGivesAllTheRootsBytes) {
  for (const uint32_t size : kRanks) {
    for (const size_t count : kCounts) {
      const Ranks ranks(size);
      const uint32_t root = size - 1;
      const auto inputs = RandomVectors<Bytes>(size, count);
      const Buffers<Bytes> buffers = Upload(inputs);
      OnAll(ranks, [&](uint32_t rank) {
        return HcclBroadcast(buffers[rank]->data(), count, kType, root, ranks.comm(rank),
                             ranks.stream(rank));
      });
      for (const auto& buffer : buffers) EXPECT_EQ(buffer->Read(), inputs[root]);
    }
  }
}

TEST_F(RanksTest, ScatterGivesEachItsPartOfTheRoots) {
  for (const uint32_t size : kRanks) {
    for (const size_t count : kCounts) {
      const Ranks ranks(size);
      const uint32_t root = size / 2;
      const std::vector<Bytes> input = ranks::Random<Bytes>(count * size, 5);
      const DeviceArray<Bytes> send(input);
      const Buffers<Bytes> recvs = Empty<Bytes>(size, count);
      OnAll(ranks, [&](uint32_t rank) {
        // What the others give is not looked at.
        void* const from = rank == root ? send.data() : reinterpret_cast<void*>(uintptr_t{64});
        return HcclScatter(from, recvs[rank]->data(), count, kType, root, ranks.comm(rank),
                           ranks.stream(rank));
      });
      for (uint32_t rank = 0; rank < size; ++rank) {
        EXPECT_EQ(recvs[rank]->Read(), Part(input, rank * count, count)) << "rank " << rank;
      }
    }
  }
}

TEST_F(RanksTest, AllToAllTransposes) {
  for (const uint32_t size : kRanks) {
    for (const size_t count : {1u, 17u, 5000u}) {
      const Ranks ranks(size);
      const auto inputs = RandomVectors<Bytes>(size, count * size);
      const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(size, count * size);
      OnAll(ranks, [&](uint32_t rank) {
        return HcclAlltoAll(sends[rank]->data(), count, kType, recvs[rank]->data(), count, kType,
                            ranks.comm(rank), ranks.stream(rank));
      });
      for (uint32_t rank = 0; rank < size; ++rank) {
        ranks::Vectors<Bytes> expected;
        for (const auto& input : inputs) expected.push_back(Part(input, rank * count, count));
        EXPECT_EQ(recvs[rank]->Read(), Concatenated(expected)) << "rank " << rank;
      }
    }
  }
}

/// Elements from one rank to another; none for some pairs, few or many for others.
size_t Between(uint32_t from, uint32_t to) { return (from * 5 + to * 3) % 4 * 900; }

TEST_F(RanksTest, AllToAllVTakesCountsAndPlacesAndCopiesThem) {
  constexpr uint32_t kSize = 4;
  constexpr size_t kRoom = 3000;  // for each peer
  const Ranks ranks(kSize);
  const auto inputs = RandomVectors<Bytes>(kSize, kRoom * kSize);
  const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(kSize, kRoom * kSize);
  std::vector<uint64_t> send_counts(kSize), recv_counts(kSize), send_at(kSize), recv_at(kSize);
  OnAll(ranks, [&](uint32_t rank) {
    for (uint32_t peer = 0; peer < kSize; ++peer) {
      send_counts[peer] = Between(rank, peer);
      recv_counts[peer] = Between(peer, rank);
      send_at[peer] = peer * kRoom;
      recv_at[peer] = (kSize - 1 - peer) * kRoom + 1;  // in another order
    }
    const HcclResult result = HcclAlltoAllV(
        sends[rank]->data(), send_counts.data(), send_at.data(), kType, recvs[rank]->data(),
        recv_counts.data(), recv_at.data(), kType, ranks.comm(rank), ranks.stream(rank));
    std::ranges::fill(send_counts, 99999);
    std::ranges::fill(recv_at, 99999);
    return result;
  });
  for (uint32_t rank = 0; rank < kSize; ++rank) {
    std::vector<Bytes> expected(kRoom * kSize);
    for (uint32_t peer = 0; peer < kSize; ++peer) {
      std::ranges::copy(Part(inputs[peer], rank * kRoom, Between(peer, rank)),
                        expected.begin() + static_cast<ptrdiff_t>((kSize - 1 - peer) * kRoom + 1));
    }
    EXPECT_EQ(recvs[rank]->Read(), expected) << "rank " << rank;
  }
}

// What is sent and what is received alternate, in one allocation, without room between them.
TEST_F(RanksTest, AllToAllVTakesBothFromOneAllocation) {
  constexpr uint32_t kSize = 4;
  constexpr size_t kMost = 2700;
  const Ranks ranks(kSize);
  const auto inputs = RandomVectors<Bytes>(kSize, 2 * kMost * kSize);
  const Buffers<Bytes> buffers = Upload(inputs);
  uint64_t send_at[kSize][kSize] = {}, recv_at[kSize][kSize] = {};
  OnAll(ranks, [&](uint32_t rank) {
    uint64_t send_counts[kSize], recv_counts[kSize], end = 0;
    for (uint32_t peer = 0; peer < kSize; ++peer) {
      send_counts[peer] = Between(rank, peer);
      recv_counts[peer] = Between(peer, rank);
      send_at[rank][peer] = end;
      recv_at[rank][peer] = end + send_counts[peer];
      end = recv_at[rank][peer] + recv_counts[peer];
    }
    Bytes* const data = buffers[rank]->data();
    return HcclAlltoAllV(data, send_counts, send_at[rank], kType, data, recv_counts, recv_at[rank],
                         kType, ranks.comm(rank), ranks.stream(rank));
  });
  for (uint32_t rank = 0; rank < kSize; ++rank) {
    std::vector<Bytes> expected = inputs[rank];
    for (uint32_t peer = 0; peer < kSize; ++peer) {
      std::ranges::copy(Part(inputs[peer], send_at[peer][rank], Between(peer, rank)),
                        expected.begin() + static_cast<ptrdiff_t>(recv_at[rank][peer]));
    }
    EXPECT_EQ(buffers[rank]->Read(), expected) << "rank " << rank;
  }
}

TEST_F(RanksTest, BarrierHoldsAllUntilTheLast) {
  const Ranks ranks(3);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(HcclBarrier(ranks.comm(rank), ranks.stream(rank)), HCCL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(ranks.stream(0), 50),
            ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(HcclBarrier(ranks.comm(2), ranks.stream(2)), HCCL_SUCCESS);
  ranks.AwaitAll();
}

TEST_F(RanksTest, MessagesOfAPairKeepTheirOrder) {
  const Ranks ranks(2);
  const auto inputs = RandomVectors<Bytes>(3, 100);
  const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(3, 100);
  for (const auto& send : sends) {
    ASSERT_EQ(HcclSend(send->data(), 100, kType, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  }
  for (const auto& recv : recvs) {
    ASSERT_EQ(HcclRecv(recv->data(), 100, kType, 0, ranks.comm(1), ranks.stream(1)), HCCL_SUCCESS);
  }
  ranks.AwaitAll();
  for (size_t i = 0; i < recvs.size(); ++i) EXPECT_EQ(recvs[i]->Read(), inputs[i]);
}

/// Items by which each rank sends to all, itself included, and receives from all.
std::vector<HcclSendRecvItem> Everything(const DeviceArray<Bytes>& send,
                                         const DeviceArray<Bytes>& recv, uint32_t ranks,
                                         size_t count) {
  std::vector<HcclSendRecvItem> items;
  for (uint32_t peer = 0; peer < ranks; ++peer) {
    items.push_back({HCCL_SEND, send.data() + peer * count, count, kType, peer});
    items.insert(items.begin(), {HCCL_RECV, recv.data() + peer * count, count, kType, peer});
  }
  return items;
}

TEST_F(RanksTest, ABatchTakesItemsInAnyOrder) {
  constexpr uint32_t kSize = 3;
  constexpr size_t kCount = 50;
  const Ranks ranks(kSize);
  const auto inputs = RandomVectors<Bytes>(kSize, kCount * kSize);
  const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(kSize, kCount * kSize);
  OnAll(ranks, [&](uint32_t rank) {
    auto items = Everything(*sends[rank], *recvs[rank], kSize, kCount);
    return HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), ranks.comm(rank),
                             ranks.stream(rank));
  });
  for (uint32_t rank = 0; rank < kSize; ++rank) {
    ranks::Vectors<Bytes> expected;
    for (const auto& input : inputs) expected.push_back(Part(input, rank * kCount, kCount));
    EXPECT_EQ(recvs[rank]->Read(), Concatenated(expected)) << "rank " << rank;
  }
}

// Of more bytes than go with what ranks tell each other: each message of the batch begins when the
// other rank has called it, and not when it has called all of them.
TEST_F(RanksTest, ABatchMeetsCallsOneAfterTheOther) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "5");
  constexpr size_t kCount = 5000;
  const Ranks ranks(2);
  const auto inputs = RandomVectors<Bytes>(2, kCount);
  const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(2, kCount);
  HcclSendRecvItem items[] = {{HCCL_RECV, recvs[0]->data(), kCount, kType, 1},
                              {HCCL_SEND, sends[0]->data(), kCount, kType, 1}};
  ASSERT_EQ(HcclBatchSendRecv(items, 2, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  const HcclComm comm = ranks.comm(1);
  const aclrtStream stream = ranks.stream(1);
  ASSERT_EQ(HcclRecv(recvs[1]->data(), kCount, kType, 0, comm, stream), HCCL_SUCCESS);
  ASSERT_EQ(HcclSend(sends[1]->data(), kCount, kType, 0, comm, stream), HCCL_SUCCESS);
  ranks.AwaitAll();
  EXPECT_EQ(recvs[0]->Read(), inputs[1]);
  EXPECT_EQ(recvs[1]->Read(), inputs[0]);
}

// Sent one after the other, each side would wait for the other's receive.
TEST_F(RanksTest, AGroupBeginsTogether) {
  const Ranks ranks(2);
  const auto inputs = RandomVectors<Bytes>(2, 64);
  const Buffers<Bytes> sends = Upload(inputs), recvs = Empty<Bytes>(2, 64);
  OnAll(ranks, [&](uint32_t rank) {
    EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    EXPECT_EQ(
        HcclSend(sends[rank]->data(), 64, kType, 1 - rank, ranks.comm(rank), ranks.stream(rank)),
        HCCL_SUCCESS);
    EXPECT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
    EXPECT_EQ(
        HcclRecv(recvs[rank]->data(), 64, kType, 1 - rank, ranks.comm(rank), ranks.stream(rank)),
        HCCL_SUCCESS);
    return HcclGroupEnd();
  });
  EXPECT_EQ(recvs[0]->Read(), inputs[1]);
  EXPECT_EQ(recvs[1]->Read(), inputs[0]);
}

}  // namespace
}  // namespace openaclnn
