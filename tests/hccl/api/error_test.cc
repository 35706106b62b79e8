// SPDX-License-Identifier: Apache-2.0
// Refusals: what a call says, what a stream says, and whom it names.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "acl/acl.h"
#include "hccl/fixture.h"

namespace openaclnn {
namespace {

constexpr HcclDataType kFloat = HCCL_DATA_TYPE_FP32;

void ExpectSays(int got, int code, const char* says) {
  const std::string message = TakeMessage();
  EXPECT_EQ(got, code) << message;
  EXPECT_NE(message.find(says), std::string::npos) << message;
  EXPECT_EQ(message.substr(0, 1), "E") << message;
}

class ErrorTest : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    ranks_ = std::make_unique<Ranks>(2);
    data_ = std::make_unique<DeviceArray<float>>(size_t{100}, 1.0f);
  }
  void TearDown() override {
    data_.reset();
    ranks_.reset();
    RanksTest::TearDown();
  }

  HcclResult AllReduce(void* send, void* recv, uint64_t count, HcclDataType type = kFloat,
                       HcclReduceOp op = HCCL_REDUCE_SUM) {
    return HcclAllReduce(send, recv, count, type, op, ranks_->comm(0), ranks_->stream(0));
  }

  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<DeviceArray<float>> data_;
};

TEST_F(ErrorTest, ArgumentsAreNamed) {
  float* const data = data_->data();
  ExpectSays(AllReduce(nullptr, data, 1), HCCL_E_PTR, "HcclAllReduce: sendBuf value is null");
  ExpectSays(AllReduce(data, nullptr, 1), HCCL_E_PTR, "recvBuf value is null");
  ExpectSays(AllReduce(data, data, 1, HcclDataType(13)), HCCL_E_PARA, "dataType value is 13");
  ExpectSays(AllReduce(data, data, 1, kFloat, HcclReduceOp(4)), HCCL_E_PARA, "op value is 4");
  ExpectSays(AllReduce(data, data, 1, HCCL_DATA_TYPE_FP8E4M3), HCCL_E_NOT_SUPPORT, "FP8E4M3");
  ExpectSays(AllReduce(data, data + 1, 10), HCCL_E_PARA, "recvBuf memory is shared in part");
  // Far beyond what an allocation is rounded up to.
  ExpectSays(AllReduce(data, data, uint64_t{1} << 40), HCCL_E_PARA, "leave their allocation");
  ExpectSays(AllReduce(data, data, UINT64_MAX), HCCL_E_PARA, "sendBuf count is");
  float on_host = 0;
  ExpectSays(AllReduce(&on_host, data, 1), HCCL_E_PARA, "not device memory");
}

TEST_F(ErrorTest, RanksAreNamed) {
  float* const data = data_->data();
  ExpectSays(HcclBroadcast(data, 1, kFloat, 2, ranks_->comm(0), ranks_->stream(0)), HCCL_E_PARA,
             "root value is 2, expected a rank below 2");
  ExpectSays(HcclSend(data, 1, kFloat, 2, ranks_->comm(0), ranks_->stream(0)), HCCL_E_PARA,
             "destRank value is 2");
  ExpectSays(HcclSend(data, 1, kFloat, 0, ranks_->comm(0), ranks_->stream(0)), HCCL_E_PARA,
             "the rank itself");
}

TEST_F(ErrorTest, HandlesAreToldApart) {
  float* const data = data_->data();
  const auto reduce = [&](HcclComm comm) {
    return HcclAllReduce(data, data, 1, kFloat, HCCL_REDUCE_SUM, comm, ranks_->stream(0));
  };
  ExpectSays(reduce(nullptr), HCCL_E_PTR, "comm value is null");
  ExpectSays(reduce(data), HCCL_E_PARA, "expected a live communicator");
  ExpectSays(reduce(ranks_->stream(0)), HCCL_E_PARA, "expected a live communicator");
  const HcclComm gone = ranks_->comm(0);
  ranks_->Destroy(0);
  ExpectSays(reduce(gone), HCCL_E_PARA, "which was destroyed");
  ExpectSays(HcclCommDestroy(gone), HCCL_E_PARA, "which was destroyed");
  ExpectSays(HcclAllReduce(data, data, 1, kFloat, HCCL_REDUCE_SUM, ranks_->comm(1), data),
             HCCL_E_PARA, "stream");
}

TEST_F(ErrorTest, CommunicatorsAreChecked) {
  int32_t same[] = {0, 0};
  HcclComm comms[2];
  ExpectSays(HcclCommInitAll(2, same, comms), HCCL_E_PARA, "devices value is 0 twice");
  int32_t none[] = {0, 99};
  ExpectSays(HcclCommInitAll(2, none, comms), HCCL_E_PARA,
             "devices[1] value is 99, expected one of the 8 that");
  none[1] = -1;
  ExpectSays(HcclCommInitAll(2, none, comms), HCCL_E_PARA,
             "devices[1] value is -1, expected one of the 8 that");
  ExpectSays(HcclCommInitAll(0, same, comms), HCCL_E_PARA, "ndev value is 0, expected 1 to 65536");
  HcclRootInfo info = {};
  HcclComm comm = nullptr;
  ExpectSays(HcclCommInitRootInfo(2, nullptr, 0, &comm), HCCL_E_PTR, "rootInfo");
  ExpectSays(HcclCommInitRootInfo(2, &info, 2, &comm), HCCL_E_PARA, "rank value is 2");
  ExpectSays(HcclCommInitRootInfo(2, &info, 0, &comm), HCCL_E_PARA, "HcclGetRootInfo");
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.magic = 1;
  ExpectSays(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_E_PARA, "magic");
  HcclCommConfigInit(&config);
  config.size = 31;
  ExpectSays(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_E_PARA, "size is 31");
}

// Of exchanges between all, of batches and of groups.
TEST_F(ErrorTest, PartsAndMessagesAreNamed) {
  float* const data = data_->data();
  const HcclComm comm = ranks_->comm(0);
  const aclrtStream stream = ranks_->stream(0);
  ExpectSays(HcclAlltoAll(data, 4, kFloat, data + 50, 5, kFloat, comm, stream), HCCL_E_PARA,
             "recvCount value is 5, expected as many bytes as sendCount, 16");
  const auto exchange = [&](uint64_t own, uint64_t received, uint64_t place) {
    const uint64_t sends[] = {own, 1}, receives[] = {received, 1}, places[] = {place, 8};
    return HcclAlltoAllV(data, sends, places, kFloat, data + 50, receives, places, kFloat, comm,
                         stream);
  };
  ExpectSays(exchange(3, 2, 0), HCCL_E_PARA,
             "recvCounts value of the rank itself is 8 bytes, expected 12 as sendCounts has it");
  ExpectSays(exchange(uint64_t{1} << 62, 0, 0), HCCL_E_PARA, "sendCounts count is");
  ExpectSays(exchange(2, 2, uint64_t{1} << 40), HCCL_E_PARA, "leave their allocation");
  ExpectSays(exchange(2, 2, (uint64_t{1} << 61) - 1), HCCL_E_PARA, "sendBuf count is");
  ExpectSays(exchange(2, 2, uint64_t{1} << 61), HCCL_E_PARA, "sendCounts count is");
  const uint64_t counts[] = {4, 4}, places[] = {0, 4}, between[] = {8, 3}, beyond[] = {8, 1 << 20};
  ExpectSays(
      HcclAlltoAllV(data, counts, places, kFloat, data, counts, between, kFloat, comm, stream),
      HCCL_E_PARA,
      "recvBuf memory for rank 1 is shared with what sendBuf has for rank 0, expected");
  ExpectSays(
      HcclAlltoAllV(data, counts, between, kFloat, data, counts, places, kFloat, comm, stream),
      HCCL_E_PARA,
      "recvBuf memory for rank 0 is shared with what sendBuf has for rank 1, expected");
  ExpectSays(
      HcclAlltoAllV(data, counts, places, kFloat, data, counts, beyond, kFloat, comm, stream),
      HCCL_E_PARA, "leave their allocation");
  ExpectSays(HcclGroupEnd(), HCCL_E_PARA, "group state is closed, expected an HcclGroupStart");
  HcclSendRecvItem item = {HCCL_SEND, data, 1, HcclDataType(99), 1};
  ExpectSays(HcclBatchSendRecv(&item, 1, comm, stream), HCCL_E_PARA, "dataType value is 99");
  item = {HcclSendRecvType(2), data, 1, kFloat, 1};
  ExpectSays(HcclBatchSendRecv(&item, 1, comm, stream), HCCL_E_PARA,
             "sendRecvType value is 2, expected HCCL_SEND (0) or HCCL_RECV (1)");
  HcclConfigValue value = {2};
  ExpectSays(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA,
             "configValue value is 2, expected 0 or 1");
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::memset(config.hcclCommName, 'n', sizeof(config.hcclCommName));
  HcclRootInfo info = {};
  HcclComm made = nullptr;
  ExpectSays(HcclCommInitRootInfoConfig(1, &info, 0, &config, &made), HCCL_E_PARA,
             "config hcclCommName is longer than 127 characters, expected fewer");
  data_->Free();
  ExpectSays(AllReduce(data, data, 1), HCCL_E_PARA, "which is device memory that was freed");
}

TEST_F(ErrorTest, AChildOfForkIsRefused) {
  const pid_t child = fork();
  if (child == 0) {
    HcclRootInfo info;
    const HcclResult code = HcclGetRootInfo(&info);
    const bool told = TakeMessage().find("child of fork") != std::string::npos;
    _exit(code == HCCL_E_NOT_SUPPORT && told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ErrorTest, OneRankNeedsNobody) {
  HcclRootInfo info;
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS) << TakeMessage();
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclCommName, "alone");
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm), HCCL_SUCCESS) << TakeMessage();
  char name[COMM_NAME_MAX_LENGTH] = "";
  uint32_t size = 9, rank = 9;
  EXPECT_EQ(HcclGetCommName(comm, name), HCCL_SUCCESS);
  EXPECT_STREQ(name, "alone");
  EXPECT_EQ(HcclGetRankSize(comm, &size), HCCL_SUCCESS);
  EXPECT_EQ(HcclGetRankId(comm, &rank), HCCL_SUCCESS);
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(rank, 0u);
  HcclResult error = HCCL_E_REMOTE;
  EXPECT_EQ(HcclGetCommAsyncError(comm, &error), HCCL_SUCCESS);
  EXPECT_EQ(error, HCCL_SUCCESS);
  const DeviceArray<float> other(100, 0.0f);
  EXPECT_EQ(HcclAllGather(data_->data(), other.data(), 100, kFloat, comm, ranks_->stream(0)),
            HCCL_SUCCESS);
  EXPECT_EQ(HcclBarrier(comm, ranks_->stream(0)), HCCL_SUCCESS);
  EXPECT_EQ(ranks_->Await(0), 0);
  EXPECT_EQ(other.Read(), data_->Read());
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

TEST_F(ErrorTest, SettingsAndNamesAreThere) {
  EXPECT_EQ(HcclGetCommConfigCapability(), 12u);
  EXPECT_STREQ(HcclGetErrorString(HCCL_E_REMOTE), "HCCL_E_REMOTE");
  EXPECT_STREQ(HcclGetErrorString(HcclResult(99)), "not an HcclResult");
  HcclConfigValue value = {1};
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS);
  value.value = 7;
  EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, &value), HCCL_SUCCESS);
  EXPECT_EQ(value.value, 1);
  ExpectSays(HcclSetConfig(HcclConfig(1), value), HCCL_E_PARA, "config value is 1");
  HcclComm comm = nullptr;
  ExpectSays(HcclCommInitClusterInfo("table", 0, &comm), HCCL_E_NOT_SUPPORT, "not supported");
}

// What differs between the ranks is named on both, before any byte of the buffers moves.
struct Mismatch {
  const char* what;
  std::function<HcclResult(HcclComm, aclrtStream, float*)> second;
  const char* said_by_first;
  const char* said_by_second;
};

TEST_F(RanksTest, ADifferenceBetweenRanksIsNamed) {
  constexpr uint64_t kMost = 10'000;  // more than goes with what is told
  const auto reduce = [](uint64_t count, HcclDataType type, HcclReduceOp op) {
    return [=](HcclComm comm, aclrtStream stream, float* data) {
      return HcclAllReduce(data, data, count, type, op, comm, stream);
    };
  };
  const auto first = reduce(50, kFloat, HCCL_REDUCE_SUM);
  const Mismatch rows[] = {
      {"count", reduce(49, kFloat, HCCL_REDUCE_SUM),
       "count of rank 1 is 49, expected 50 as on rank 0",
       "count of rank 0 is 50, expected 49 as on rank 1"},
      {"count, of which only one is small", reduce(kMost, kFloat, HCCL_REDUCE_SUM),
       "count of rank 1 is 10000, expected 50 as on rank 0",
       "count of rank 0 is 50, expected 10000 as on rank 1"},
      {"count of nothing", reduce(0, kFloat, HCCL_REDUCE_SUM),
       "count of rank 1 is 0, expected 50 as on rank 0",
       "count of rank 0 is 50, expected 0 as on rank 1"},
      {"operation of nothing",
       [](HcclComm comm, aclrtStream stream, float*) {
         return HcclAllGather(nullptr, nullptr, 0, kFloat, comm, stream);
       },
       "operation of rank 1 is HcclAllGather, expected HcclAllReduce as on rank 0",
       "operation of rank 0 is HcclAllReduce"},
      {"type", reduce(50, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM),
       "type of rank 1 is INT32, expected FP32 as on rank 0", "type of rank 0 is FP32"},
      {"reduction", reduce(50, kFloat, HCCL_REDUCE_MAX),
       "reduction of rank 1 is MAX, expected SUM as on rank 0", "reduction of rank 0 is SUM"},
      {"operation",
       [](HcclComm comm, aclrtStream stream, float* data) {
         return HcclBroadcast(data, 50, kFloat, 0, comm, stream);
       },
       "operation of rank 1 is HcclBroadcast, expected HcclAllReduce as on rank 0",
       "operation of rank 0 is HcclAllReduce"},
  };
  for (const Mismatch& row : rows) {
    SCOPED_TRACE(row.what);
    const Ranks ranks(2);
    const DeviceArray<float> a(kMost, 1.0f), b(kMost, 2.0f);
    ASSERT_EQ(first(ranks.comm(0), ranks.stream(0), a.data()), HCCL_SUCCESS);
    ASSERT_EQ(row.second(ranks.comm(1), ranks.stream(1), b.data()), HCCL_SUCCESS);
    ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID, row.said_by_first);
    ExpectSays(ranks.Await(1), ACL_ERROR_RT_PARAM_INVALID, row.said_by_second);
    EXPECT_EQ(a.Read(), std::vector<float>(kMost, 1.0f));
    EXPECT_EQ(b.Read(), std::vector<float>(kMost, 2.0f));
  }
}

// What one sends is what the other receives.
TEST_F(RanksTest, ATypeOfAllToAllThatDiffersIsNamed) {
  constexpr HcclDataType kInt = HCCL_DATA_TYPE_INT32;
  struct Types {
    HcclDataType sends, receives;
  };
  const auto call = [](const Ranks& ranks, uint32_t rank, Types types, float* data, bool by_parts) {
    const uint64_t counts[] = {50, 50}, sends[] = {0, 50}, receives[] = {100, 150};
    if (!by_parts) {
      return HcclAlltoAll(data, 50, types.sends, data + 100, 50, types.receives, ranks.comm(rank),
                          ranks.stream(rank));
    }
    return HcclAlltoAllV(data, counts, sends, types.sends, data, counts, receives, types.receives,
                         ranks.comm(rank), ranks.stream(rank));
  };
  for (const bool by_parts : {false, true}) {
    const DeviceArray<float> a(200, 1.0f), b(200, 2.0f);
    const Ranks crossed(2), differing(2);
    ASSERT_EQ(call(crossed, 0, {kFloat, kInt}, a.data(), by_parts), HCCL_SUCCESS);
    ASSERT_EQ(call(crossed, 1, {kInt, kFloat}, b.data(), by_parts), HCCL_SUCCESS);
    crossed.AwaitAll();
    ASSERT_EQ(call(differing, 0, {kFloat, kFloat}, a.data(), by_parts), HCCL_SUCCESS);
    ASSERT_EQ(call(differing, 1, {kFloat, kInt}, b.data(), by_parts), HCCL_SUCCESS);
    ExpectSays(differing.Await(0), ACL_ERROR_RT_PARAM_INVALID,
               "recvType of rank 1 is INT32, expected FP32 as on rank 0");
    ExpectSays(differing.Await(1), ACL_ERROR_RT_PARAM_INVALID,
               "type of rank 0 is FP32, expected INT32 as on rank 1");
  }
}

TEST_F(RanksTest, MessagesOfDifferentSizesAreNamed) {
  for (const auto& [sent, received] : {std::pair(100, 60), std::pair(10'000, 60),
                                       std::pair(60, 10'000), std::pair(10'000, 9'999)}) {
    const Ranks ranks(2);
    const DeviceArray<float> a(10'000, 1.0f), b(10'000, 2.0f);
    ASSERT_EQ(HcclSend(a.data(), uint64_t(sent), kFloat, 1, ranks.comm(0), ranks.stream(0)),
              HCCL_SUCCESS);
    ASSERT_EQ(HcclRecv(b.data(), uint64_t(received), kFloat, 0, ranks.comm(1), ranks.stream(1)),
              HCCL_SUCCESS);
    const std::string sends = std::to_string(sent), receives = std::to_string(received);
    ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID,
               ("count of rank 1 is " + receives + ", expected " + sends).c_str());
    ExpectSays(ranks.Await(1), ACL_ERROR_RT_PARAM_INVALID,
               ("count of rank 0 is " + sends + ", expected " + receives).c_str());
    EXPECT_EQ(b.Read(), std::vector<float>(10'000, 2.0f));
  }
}

// Who has nothing to say to a rank, or to hear from it, need not be met.
TEST_F(RanksTest, AMessageOfNothingNeedsNoOther) {
  const Ranks ranks(2);
  ASSERT_EQ(HcclSend(nullptr, 0, kFloat, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(nullptr, 0, kFloat, 0, ranks.comm(1), ranks.stream(1)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(nullptr, 0, kFloat, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  for (const uint32_t rank : {0u, 1u}) EXPECT_EQ(ranks.Await(rank), 0);
}

// One of a batch differs, the last or the first of it; of that one no byte moves.
TEST_F(RanksTest, AMessageOfABatchThatDiffersIsNamed) {
  constexpr uint64_t kCount = 10'000;
  for (const bool last : {false, true}) {
    const Ranks ranks(2);
    const DeviceArray<float> send(2 * kCount, 1.0f), recv(2 * kCount, 2.0f);
    for (const uint32_t rank : {0u, 1u}) {
      const DeviceArray<float>& data = rank == 0 ? send : recv;
      HcclSendRecvItem items[2];
      for (uint64_t i = 0; i < 2; ++i) {
        const bool differs = rank == 1 && last == (i == 1);
        items[i] = {rank == 0 ? HCCL_SEND : HCCL_RECV, data.data() + i * kCount,
                    differs ? kCount - 1 : kCount, kFloat, 1 - rank};
      }
      ASSERT_EQ(HcclBatchSendRecv(items, 2, ranks.comm(rank), ranks.stream(rank)), HCCL_SUCCESS);
    }
    ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID,
               "count of rank 1 is 9999, expected 10000 as on rank 0");
    ExpectSays(ranks.Await(1), ACL_ERROR_RT_PARAM_INVALID,
               "count of rank 0 is 10000, expected 9999 as on rank 1");
    const std::vector<float> got = recv.Read();
    const auto differing = got.begin() + (last ? ptrdiff_t{kCount} : 0);
    EXPECT_EQ(std::count(differing, differing + ptrdiff_t{kCount}, 2.0f), ptrdiff_t{kCount});
  }
}

// Of which two ranks alone know: the third has all the time to wait.
TEST_F(RanksTest, ADifferenceOfTwoEndsTheOthers) {
  constexpr uint64_t kCount = 10'000;  // more than goes with what is told
  const Ranks ranks(3);
  const DeviceArray<float> data(6 * kCount, 1.0f);
  const uint64_t places[] = {0, kCount, 2 * kCount};
  for (const uint32_t rank : {0u, 1u, 2u}) {
    uint64_t sends[] = {kCount, kCount, kCount};
    const uint64_t receives[] = {kCount, kCount, kCount};
    if (rank == 0) sends[1] = 1;
    ASSERT_EQ(HcclAlltoAllV(data.data(), sends, places, kFloat, data.data() + 3 * kCount, receives,
                            places, kFloat, ranks.comm(rank), ranks.stream(rank)),
              HCCL_SUCCESS);
  }
  ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID, "count of rank 1 is 10000, expected 1 as");
  ExpectSays(ranks.Await(1), ACL_ERROR_RT_PARAM_INVALID, "count of rank 0 is 1, expected 10000 as");
  ExpectSays(ranks.Await(2), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "(count of rank ");
}

// The same of a batch, of which one message differs and the other has nobody to meet.
TEST_F(RanksTest, ABatchThatDiffersEndsTheOthers) {
  constexpr uint64_t kCount = 10'000;
  const Ranks ranks(3);
  const DeviceArray<float> data(4 * kCount, 1.0f);
  HcclSendRecvItem items[] = {{HCCL_SEND, data.data(), kCount, kFloat, 1},
                              {HCCL_RECV, data.data() + kCount, kCount, kFloat, 2}};
  ASSERT_EQ(HcclBatchSendRecv(items, 2, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  ASSERT_EQ(HcclRecv(data.data() + 2 * kCount, 49, kFloat, 0, ranks.comm(1), ranks.stream(1)),
            HCCL_SUCCESS);
  ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID, "count of rank 1 is 49, expected 10000");
  ExpectSays(ranks.Await(1), ACL_ERROR_RT_PARAM_INVALID, "count of rank 0 is 10000, expected 49");
  ASSERT_EQ(HcclSend(data.data() + 3 * kCount, kCount, kFloat, 0, ranks.comm(2), ranks.stream(2)),
            HCCL_SUCCESS);
  ExpectSays(ranks.Await(2), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "rank 0 of communicator");
  HcclResult error = HCCL_SUCCESS;
  EXPECT_EQ(HcclGetCommAsyncError(ranks.comm(0), &error), HCCL_SUCCESS);
  EXPECT_EQ(error, HCCL_E_REMOTE) << "no other operation can end";
}

// What a rank has sent to one that has waited in vain nobody takes any more.
TEST_F(RanksTest, WhoHasWaitedInVainIsNotWaitedFor) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  Ranks ranks(2);
  const DeviceArray<float> data(20, 1.0f);
  const auto reduce = [&](uint32_t rank) {
    float* const own = data.data() + rank * size_t{10};
    return HcclAllReduce(own, own, 10, kFloat, HCCL_REDUCE_SUM, ranks.comm(rank),
                         ranks.stream(rank));
  };
  ASSERT_EQ(reduce(1), HCCL_SUCCESS);
  ExpectSays(ranks.Await(1), ACL_ERROR_RT_TASK_TIMEOUT, "it waits for rank 0 of communicator");
  ASSERT_EQ(reduce(0), HCCL_SUCCESS);
  (void)ranks.Await(0);  // told, or done by what rank 1 had sent
  const auto begin = std::chrono::steady_clock::now();
  ranks.Destroy(0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
}

TEST_F(RanksTest, WhoDoesNotComeInTimeIsNamed) {
  const Variable timeout("HCCL_EXEC_TIMEOUT", "1");
  const Ranks ranks(3);
  const DeviceArray<float> a(100, 1.0f), b(100, 2.0f);
  for (const auto& [rank, data] : {std::pair(0u, &a), std::pair(2u, &b)}) {
    ASSERT_EQ(HcclAllReduce(data->data(), data->data(), 100, kFloat, HCCL_REDUCE_SUM,
                            ranks.comm(rank), ranks.stream(rank)),
              HCCL_SUCCESS);
  }
  ExpectSays(ranks.Await(0), ACL_ERROR_RT_TASK_TIMEOUT, "it waits for rank 1 of communicator");
  ExpectSays(ranks.Await(2), ACL_ERROR_RT_TASK_TIMEOUT, "it waits for rank 1 of communicator");
  EXPECT_EQ(a.Read(), std::vector<float>(100, 1.0f));
}

TEST_F(RanksTest, WhoHasLeftIsNamed) {
  Ranks ranks(2);
  const DeviceArray<float> a(100, 1.0f);
  ASSERT_EQ(HcclAllReduce(a.data(), a.data(), 100, kFloat, HCCL_REDUCE_SUM, ranks.comm(0),
                          ranks.stream(0)),
            HCCL_SUCCESS);
  ranks.Destroy(1);
  ExpectSays(ranks.Await(0), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
             "rank 1 of communicator openaclnn_");
}

TEST_F(RanksTest, WhatBeginsAfterItsCommunicatorIsToldSo) {
  Ranks ranks(2);
  const DeviceArray<float> a(100, 1.0f);
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  ASSERT_EQ(HcclSend(a.data(), 100, kFloat, 1, ranks.comm(0), ranks.stream(0)), HCCL_SUCCESS);
  ranks.Destroy(0);
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
  ExpectSays(ranks.Await(0), ACL_ERROR_RT_PARAM_INVALID, "was destroyed before the operation");
}

}  // namespace
}  // namespace openaclnn
