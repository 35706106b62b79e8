// SPDX-License-Identifier: Apache-2.0
// Operations and streams: calls return at once, and what waits for a rank holds no thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "hccl/fixture.h"

namespace openaclnn {
namespace {

constexpr size_t kCount = 1000;

/// One rank's AllReduce in place.
void Begin(const Ranks& ranks, uint32_t rank, const DeviceArray<float>& data, aclrtStream stream) {
  ASSERT_EQ(HcclAllReduce(data.data(), data.data(), data.bytes() / sizeof(float),
                          HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, ranks.comm(rank), stream),
            HCCL_SUCCESS)
      << TakeMessage();
}

void ExpectAll(const DeviceArray<float>& data, float value) {
  EXPECT_EQ(data.Read(), std::vector<float>(data.bytes() / sizeof(float), value));
}

TEST_F(RanksTest, TwoCommunicatorsInOppositeOrderMakeProgress) {
  for (int round = 0; round < 20; ++round) {
    const Ranks first(2), second(2);
    const Buffers<float> a = Upload<float>({2, std::vector<float>(kCount, 1.0f)});
    const Buffers<float> b = Upload<float>({2, std::vector<float>(kCount, 2.0f)});
    Begin(first, 0, *a[0], first.stream(0));
    Begin(second, 0, *b[0], second.stream(0));
    Begin(second, 1, *b[1], second.stream(1));
    Begin(first, 1, *a[1], first.stream(1));
    first.AwaitAll();
    second.AwaitAll();
    for (const auto& data : a) ExpectAll(*data, 2.0f);
    for (const auto& data : b) ExpectAll(*data, 4.0f);
  }
}

TEST_F(RanksTest, AnotherStreamRunsWhileOneWaitsForARank) {
  const Ranks ranks(2);
  const DeviceArray<float> waits(kCount, 1.0f), other(kCount, 1.0f), copy(kCount, 0.0f);
  Begin(ranks, 0, waits, ranks.stream(0));
  EXPECT_EQ(aclrtMemcpyAsync(copy.data(), copy.bytes(), other.data(), other.bytes(),
                             ACL_MEMCPY_DEVICE_TO_DEVICE, ranks.stream(1)),
            0);
  EXPECT_EQ(aclrtSynchronizeStream(ranks.stream(1)), 0);
  ExpectAll(copy, 1.0f);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(ranks.stream(0), 20),
            ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  Begin(ranks, 1, other, ranks.stream(1));
  ranks.AwaitAll();
  ExpectAll(waits, 2.0f);
}

// As torch-npu does: events around, and no thread of the host waits in between.
TEST_F(RanksTest, EventsAreEnough) {
  const Ranks ranks(2);
  const Buffers<float> data = Upload<float>({2, std::vector<float>(kCount, 3.0f)});
  const Buffers<float> copies = Empty<float>(2, kCount);
  std::vector<aclrtStream> computes;
  std::vector<aclrtEvent> events;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    computes.push_back(NewStream());
    events.push_back(NewEvent());
    Begin(ranks, rank, *data[rank], ranks.stream(rank));
    EXPECT_EQ(aclrtRecordEvent(events[rank], ranks.stream(rank)), 0);
    EXPECT_EQ(aclrtStreamWaitEvent(computes[rank], events[rank]), 0);
    EXPECT_EQ(aclrtMemcpyAsync(copies[rank]->data(), copies[rank]->bytes(), data[rank]->data(),
                               data[rank]->bytes(), ACL_MEMCPY_DEVICE_TO_DEVICE, computes[rank]),
              0);
  }
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(aclrtSynchronizeStream(computes[rank]), 0);
    ExpectAll(*copies[rank], 6.0f);
    EXPECT_EQ(aclrtDestroyStream(computes[rank]), 0);
    EXPECT_EQ(aclrtDestroyEvent(events[rank]), 0);
  }
}

// Round i broadcasts a number of its root, in one buffer for all rounds, and adds it up over the
// ranks. An operation that does nothing, or is out of turn, leaves another sum.
TEST_F(RanksTest, ManyOperationsInARowKeepTheirOrder) {
  constexpr uint32_t kTimes = 200, kRanks = 3;
  const Ranks ranks(kRanks);
  std::vector<std::vector<float>> given(kRanks, std::vector<float>(kTimes));
  std::vector<float> expected(kTimes);
  for (uint32_t i = 0; i < kTimes; ++i) {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      given[rank][i] = static_cast<float>(10 * i + rank);
    }
    expected[i] = kRanks * given[i % kRanks][i];
  }
  const Buffers<float> inputs = Upload<float>(given);
  const Buffers<float> data = Empty<float>(kRanks, 1), results = Empty<float>(kRanks, kTimes);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      const aclrtStream stream = ranks.stream(rank);
      const auto copy = [stream](float* to, const float* from) {
        return aclrtMemcpyAsync(to, sizeof(float), from, sizeof(float), ACL_MEMCPY_DEVICE_TO_DEVICE,
                                stream);
      };
      float* const number = data[rank]->data();
      for (uint32_t i = 0; i < kTimes; ++i) {
        ASSERT_EQ(copy(number, inputs[rank]->data() + i), 0);
        ASSERT_EQ(
            HcclBroadcast(number, 1, HCCL_DATA_TYPE_FP32, i % kRanks, ranks.comm(rank), stream),
            HCCL_SUCCESS);
        Begin(ranks, rank, *data[rank], stream);
        ASSERT_EQ(copy(results[rank]->data() + i, number), 0);
      }
      ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
      ASSERT_EQ(aclrtResetDevice(0), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : results) EXPECT_EQ(one->Read(), expected);
}

TEST_F(RanksTest, BuffersMayBeFreedAtOnce) {
  const Ranks ranks(2);
  const size_t before = FreeMemory();
  {
    DeviceArray<float> first(kCount, 1.0f), second(kCount, 1.0f);
    Begin(ranks, 0, first, ranks.stream(0));
    first.Free();
    Begin(ranks, 1, second, ranks.stream(1));
    ranks.AwaitAll();
    ExpectAll(second, 2.0f);
  }
  EXPECT_EQ(FreeMemory(), before);
}

TEST_F(RanksTest, CountsOfNothingDoNothing) {
  const Ranks ranks(2);
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  constexpr HcclReduceOp kSum = HCCL_REDUCE_SUM;
  for (const uint32_t rank : {0u, 1u}) {
    const HcclComm comm = ranks.comm(rank);
    const aclrtStream stream = ranks.stream(rank);
    EXPECT_EQ(HcclAllReduce(nullptr, nullptr, 0, kType, kSum, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclReduce(nullptr, nullptr, 0, kType, kSum, 1, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclReduceScatter(nullptr, nullptr, 0, kType, kSum, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclAllGather(nullptr, nullptr, 0, kType, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclBroadcast(nullptr, 0, kType, 0, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclScatter(nullptr, nullptr, 0, kType, 0, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclAlltoAll(nullptr, 0, kType, nullptr, 0, kType, comm, stream), HCCL_SUCCESS);
    const auto pass = rank == 0 ? HcclSend : HcclRecv;
    EXPECT_EQ(pass(nullptr, 0, kType, 1 - rank, comm, stream), HCCL_SUCCESS);
    EXPECT_EQ(HcclSend(nullptr, 0, kType, rank, comm, stream), HCCL_SUCCESS);
  }
  ranks.AwaitAll();
}

// Each rank has a communicator with either of the others, sends to the next one and receives from
// the last one.
TEST_F(RanksTest, AGroupOfSeveralCommunicatorsOnOneStreamBeginsTogether) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  for (const size_t count : {size_t{10}, size_t{100'000}}) {
    const Ranks links[] = {Ranks(2), Ranks(2), Ranks(2)};  // of ranks i and i + 1
    const Buffers<float> send =
        Upload<float>({std::vector<float>(count, 0.0f), std::vector<float>(count, 1.0f),
                       std::vector<float>(count, 2.0f)});
    const Buffers<float> recv = Empty<float>(3, count);
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const Ranks& before = links[(rank + 2) % 3];
      const aclrtStream stream = links[rank].stream(0);
      ASSERT_EQ(
          HcclSend(send[rank]->data(), count, HCCL_DATA_TYPE_FP32, 1, links[rank].comm(0), stream),
          HCCL_SUCCESS);
      ASSERT_EQ(HcclRecv(recv[rank]->data(), count, HCCL_DATA_TYPE_FP32, 0, before.comm(1), stream),
                HCCL_SUCCESS);
    }
    ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
    for (uint32_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(links[rank].Await(0), 0) << TakeMessage();
      EXPECT_EQ(recv[rank]->Read(), send[(rank + 2) % 3]->Read());
    }
  }
}

// Of a group the first failure is told, once all of it has ended.
TEST_F(RanksTest, AGroupOfSeveralCommunicatorsTellsWhatHasFailed) {
  const Ranks first(2), second(2);
  const DeviceArray<float> data(kCount, 1.0f), other(kCount, 2.0f);
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  ASSERT_EQ(HcclSend(data.data(), kCount, kType, 1, first.comm(0), first.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclSend(data.data(), kCount, kType, 1, second.comm(0), first.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(other.data(), 5, kType, 0, first.comm(1), first.stream(1)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(other.data(), kCount, kType, 0, second.comm(1), second.stream(1)),
            HCCL_SUCCESS);
  EXPECT_EQ(first.Await(0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(TakeMessage().find("count of rank 1 is 5, expected 1000"), std::string::npos);
  EXPECT_EQ(first.Await(1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(second.Await(1), 0);
  ExpectAll(other, 1.0f);
}

// A rank that is lost in one communicator ends the group at once, and who waits in another is told.
TEST_F(RanksTest, AGroupEndsWithTheFirstRankThatIsLost) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "30");  // which is another error
  Ranks first(2), second(2);
  const DeviceArray<float> a(kCount, 1.0f), b(kCount, 1.0f), other(kCount, 2.0f);
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  ASSERT_EQ(HcclRecv(other.data(), kCount, kType, 0, second.comm(1), second.stream(1)),
            HCCL_SUCCESS);
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(b.data(), kCount, kType, 1, second.comm(0), first.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(a.data(), kCount, kType, 1, first.comm(0), first.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
  first.Destroy(1);
  EXPECT_EQ(first.Await(0), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
  EXPECT_NE(TakeMessage().find("has destroyed its communicator"), std::string::npos);
  EXPECT_EQ(second.Await(1), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
  EXPECT_NE(TakeMessage().find("has given up, since an operation has failed there"),
            std::string::npos);
  ASSERT_EQ(HcclSend(other.data(), kCount, kType, 0, second.comm(1), second.stream(1)),
            HCCL_SUCCESS);
  EXPECT_EQ(second.Await(1), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
  ExpectAll(b, 1.0f);
}

/// A rank's device is the current one, as long as this lives.
class OnDevice {
 public:
  explicit OnDevice(int32_t device) { EXPECT_EQ(aclrtSetDevice(device), 0) << TakeMessage(); }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { EXPECT_EQ(aclrtSetDevice(0), 0) << TakeMessage(); }
};

/// Each rank on a device of its own, in a group that sends to the next one and receives from the
/// last.
void PassAround(const Ranks& ranks, const std::vector<aclrtStream>& streams) {
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const auto size = ranks.size();
  Buffers<float> send, recv;
  for (uint32_t rank = 0; rank < size; ++rank) {
    const OnDevice device(static_cast<int32_t>(rank));
    send.push_back(std::make_unique<DeviceArray<float>>(kCount, static_cast<float>(rank)));
    recv.push_back(std::make_unique<DeviceArray<float>>(kCount, -1.0f));
  }
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  for (uint32_t rank = 0; rank < size; ++rank) {
    const OnDevice device(static_cast<int32_t>(rank));
    const HcclComm comm = ranks.comm(rank);
    const aclrtStream stream = streams[rank];
    ASSERT_EQ(HcclSend(send[rank]->data(), kCount, kType, (rank + 1) % size, comm, stream), 0);
    ASSERT_EQ(HcclRecv(recv[rank]->data(), kCount, kType, (rank + size - 1) % size, comm, stream),
              0);
  }
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
  for (uint32_t rank = 0; rank < size; ++rank) {
    const OnDevice device(static_cast<int32_t>(rank));
    EXPECT_EQ(aclrtSynchronizeStream(streams[rank]), 0) << TakeMessage();
    ExpectAll(*recv[rank], static_cast<float>((rank + size - 1) % size));
  }
}

// By their own streams, and by the default ones, which have one name.
TEST_F(RanksTest, AGroupMayBeOfSeveralDevices) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  const Ranks ranks(3);
  std::vector<aclrtStream> streams;
  for (int32_t rank = 0; rank < 3; ++rank) {
    const OnDevice device(rank);
    streams.push_back(NewStream());
  }
  PassAround(ranks, streams);
  PassAround(ranks, {nullptr, nullptr, nullptr});
  for (int32_t rank = 1; rank < 3; ++rank) {
    ASSERT_EQ(aclrtSetDevice(rank), 0);
    EXPECT_EQ(aclrtDestroyStream(streams[static_cast<size_t>(rank)]), 0);
    EXPECT_EQ(aclrtResetDevice(rank), 0);
  }
  ASSERT_EQ(aclrtSetDevice(0), 0);
  EXPECT_EQ(aclrtDestroyStream(streams[0]), 0);
}

// What is wrong with one of a group is found before any of it is enqueued.
TEST_F(RanksTest, AGroupThatIsRefusedLeavesNothingBehind) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const Ranks ranks(2);
  const DeviceArray<float> sent(kCount, 1.0f), received(kCount, 2.0f);
  for (const bool own : {true, false}) {
    const aclrtStream second = NewStream();
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    ASSERT_EQ(HcclSend(sent.data(), 5, kType, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
    ASSERT_EQ(HcclSend(sent.data(), 5, kType, own ? 1 : 0, ranks.comm(1), second), HCCL_SUCCESS);
    const auto destroy = [&] { EXPECT_EQ(aclrtDestroyStream(second), 0); };
    if (!own) destroy();
    EXPECT_EQ(HcclGroupEnd(), HCCL_E_PARA);
    const std::string words = own ? "the rank itself, 1 times to send" : "was destroyed, expected";
    const std::string message = TakeMessage();
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(ranks.Await(0), 0) << TakeMessage();
    if (own) destroy();
  }
  ASSERT_EQ(HcclSend(sent.data(), kCount, kType, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(received.data(), kCount, kType, 0, ranks.comm(1), ranks.stream(1)),
            HCCL_SUCCESS);
  ranks.AwaitAll();
  ExpectAll(received, 1.0f);
}

// Its memory is the program's again.
TEST_F(RanksTest, AGroupThatIsLeftOpenEndsWithItsThread) {
  const Ranks ranks(2);
  const size_t before = FreeMemory();
  {
    const DeviceArray<float> data(size_t{1} << 20, 1.0f);
    std::thread([&] {
      ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), 0) << TakeMessage();
      ASSERT_EQ(HcclSend(data.data(), 100, HCCL_DATA_TYPE_FP32, 1, ranks.comm(0), ranks.stream(0)),
                HCCL_SUCCESS)
          << TakeMessage();
    }).join();
  }
  EXPECT_EQ(FreeMemory(), before);
}

// Whether it is refused, has nothing to do or something: the group is the last to need them.
TEST_F(RanksTest, AGroupOutlivesItsCommunicators) {
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const DeviceArray<float> data(kCount);
  const std::vector<uint64_t> counts = {0, 5, 5};
  const std::vector<uint32_t> peers = {1, 0, 1};
  const std::vector<int> codes = {HCCL_SUCCESS, HCCL_E_PARA, HCCL_SUCCESS};
  for (size_t i = 0; i < codes.size(); ++i) {
    Ranks ranks(2);
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    ASSERT_EQ(HcclSend(data.data(), counts[i], kType, peers[i], ranks.comm(0), ranks.stream(0)),
              HCCL_SUCCESS);
    ranks.Destroy(0);
    ranks.Destroy(1);
    EXPECT_EQ(HcclGroupEnd(), codes[i]) << i << ": " << TakeMessage();
    EXPECT_EQ(ranks.Await(0) != 0, i == 2) << i << ": " << TakeMessage();
  }
}

/// Streams that are captured, and none of whose captures is to end well.
class CapturedStreams {
 public:
  explicit CapturedStreams(std::vector<aclrtStream> streams) : streams_(std::move(streams)) {
    for (const aclrtStream stream : streams_) {
      EXPECT_EQ(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
    }
  }
  CapturedStreams(const CapturedStreams&) = delete;
  ~CapturedStreams() {
    for (const aclrtStream stream : streams_) {
      aclmdlRI model = nullptr;
      EXPECT_EQ(aclmdlRICaptureEnd(stream, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    }
  }

 private:
  const std::vector<aclrtStream> streams_;
};

// By collectives and by messages alike: nothing is enqueued, all captures are invalid, and later
// calls on the streams meet those of the other rank.
TEST_F(RanksTest, CapturedStreamsAreRefused) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const Ranks ranks(2);
  const DeviceArray<float> sent(kCount, 1.0f), received(kCount, 2.0f);
  const aclrtStream free = ranks.stream(0), first = NewStream(), second = NewStream();
  const auto refuse = [&](const char* api, const std::function<HcclResult()>& call,
                          const std::vector<aclrtStream>& captured) {
    SCOPED_TRACE(api);
    const CapturedStreams captures(captured);
    EXPECT_EQ(call(), HCCL_E_RUNTIME);
    const std::string message = TakeMessage();
    EXPECT_NE(message.find(api), std::string::npos) << message;
    EXPECT_NE(message.find(" cannot be captured, expected it outside of captures"),
              std::string::npos)
        << message;
  };
  const auto send = [&](size_t count, aclrtStream stream) {
    return HcclSend(sent.data(), count, kType, 1, ranks.comm(0), stream);
  };
  const auto group = [&](const std::vector<aclrtStream>& streams) {
    return [&send, streams] {
      EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      for (const aclrtStream stream : streams) EXPECT_EQ(send(5, stream), HCCL_SUCCESS);
      return HcclGroupEnd();
    };
  };
  const auto reduce = [&] {
    return HcclAllReduce(sent.data(), received.data(), 5, kType, HCCL_REDUCE_SUM, ranks.comm(0),
                         first);
  };
  refuse("HcclAllReduce", reduce, {first});
  refuse("HcclSend", [&] { return send(5, first); }, {first});
  refuse("HcclGroupEnd", group({free, first}), {first});
  refuse("HcclGroupEnd", group({first, free}), {first});
  refuse("HcclGroupEnd", group({first, free, second, first}), {first, second});
  for (const aclrtStream stream : {free, first, second}) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    ASSERT_EQ(send(kCount, stream), HCCL_SUCCESS) << TakeMessage();
    ASSERT_EQ(HcclRecv(received.data(), kCount, kType, 0, ranks.comm(1), ranks.stream(1)),
              HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0) << TakeMessage();
    EXPECT_EQ(ranks.Await(1), 0) << TakeMessage();
    ExpectAll(received, 1.0f);
  }
  for (const aclrtStream stream : {first, second}) EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

// Messages between two ranks meet in the order of calls, whatever streams they are on.
TEST_F(RanksTest, MessagesOfAGroupKeepTheirOrderOverStreams) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const Ranks ranks(2);
  const aclrtStream other = NewStream();
  const Buffers<float> sent = Upload<float>({{1.0f}, {2.0f}, {3.0f}});
  const Buffers<float> received = Empty<float>(3, 1);
  const aclrtStream streams[] = {ranks.stream(0), other, ranks.stream(0)};
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(HcclSend(sent[i]->data(), 1, kType, 1, ranks.comm(0), streams[i]), HCCL_SUCCESS);
    ASSERT_EQ(HcclRecv(received[i]->data(), 1, kType, 0, ranks.comm(1), ranks.stream(1)),
              HCCL_SUCCESS);
  }
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
  ranks.AwaitAll();
  EXPECT_EQ(aclrtSynchronizeStream(other), 0);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(received[i]->Read(), sent[i]->Read());
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

/// Launches wait for their tasks.
class BlockingRanksTest : public RanksTest {
  Variable blocking_{"ASCEND_LAUNCH_BLOCKING", "1"};
};

TEST_F(BlockingRanksTest, AGroupOverSeveralStreamsIsAwaitedAsAWhole) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const Ranks ranks(2);
  const DeviceArray<float> sent(kCount, 1.0f), received(kCount, 2.0f);
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  ASSERT_EQ(HcclSend(sent.data(), kCount, kType, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(received.data(), kCount, kType, 0, ranks.comm(1), ranks.stream(1)),
            HCCL_SUCCESS);
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeMessage();
  for (const uint32_t rank : {0u, 1u}) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT_EQ(aclrtStreamQuery(ranks.stream(rank), &status), 0);
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE) << "stream " << rank;
  }
  ranks.AwaitAll();
  ExpectAll(received, 1.0f);
}

// A call that waits for the other rank keeps nobody from the communicator.
TEST_F(BlockingRanksTest, TwoThreadsCallOnOneCommunicator) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "2");
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const Ranks ranks(2);
  const DeviceArray<float> sent(kCount, 1.0f), received(kCount, 2.0f);
  const aclrtStream second = NewStream();
  std::thread receives([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(HcclRecv(received.data(), kCount, kType, 1, ranks.comm(0), ranks.stream(0)), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread sends([&] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const DeviceArray<float> other(kCount, 3.0f);
    EXPECT_EQ(HcclSend(other.data(), kCount, kType, 1, ranks.comm(0), second), 0);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  });
  EXPECT_EQ(HcclRecv(received.data(), kCount, kType, 0, ranks.comm(1), ranks.stream(1)), 0);
  sends.join();
  EXPECT_EQ(HcclSend(sent.data(), kCount, kType, 0, ranks.comm(1), ranks.stream(1)), 0);
  receives.join();
  EXPECT_EQ(aclrtSynchronizeStream(second), 0) << TakeMessage();
  ranks.AwaitAll();
  ExpectAll(received, 1.0f);
  EXPECT_EQ(aclrtDestroyStream(second), 0);
}

}  // namespace
}  // namespace openaclnn
