// SPDX-License-Identifier: Apache-2.0
// What the processes of processes_test.cc do as ranks.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "hccl/processes/hangs.h"
#include "hccl/processes/role.h"

namespace openaclnn::ranks {
namespace {

template <class T>
void ReduceAll(const Here& here, HcclDataType type, HcclReduceOp op, size_t count) {
  const Vectors<T> inputs = Inputs<T>(here.ranks, count, 7);
  const Device<T> send(inputs[here.rank]), recv(inputs[0]);
  REQUIRE(HcclAllReduce(send.data(), recv.data(), count, type, op, here.comm, here.stream));
  REQUIRE(HcclAllReduce(send.data(), send.data(), count, type, op, here.comm, here.stream));
  REQUIRE(aclrtSynchronizeStream(here.stream));
  const std::vector<T> expected = Reduced(inputs, op);
  Require(SameBits(recv.Read(), expected), "AllReduce");
  Require(SameBits(send.Read(), expected), "AllReduce in place");
}

void MoveAll(const Here& here, size_t count) {
  const auto inputs = Inputs<uint32_t>(here.ranks, count * here.ranks, 3);
  const Device<uint32_t> send(inputs[here.rank]), recv(inputs[0]), all(inputs[0]);
  const std::vector<uint32_t> own(inputs[here.rank].begin(),
                                  inputs[here.rank].begin() + static_cast<ptrdiff_t>(count));
  const Device<uint32_t> small(own);
  constexpr HcclDataType kType = HCCL_DATA_TYPE_UINT32;
  REQUIRE(
      HcclAlltoAll(send.data(), count, kType, recv.data(), count, kType, here.comm, here.stream));
  REQUIRE(HcclAllGather(small.data(), all.data(), count, kType, here.comm, here.stream));
  REQUIRE(HcclBroadcast(send.data(), count * here.ranks, kType, here.ranks - 1, here.comm,
                        here.stream));
  REQUIRE(HcclBarrier(here.comm, here.stream));
  REQUIRE(aclrtSynchronizeStream(here.stream));
  std::vector<uint32_t> turned, gathered;
  for (const auto& input : inputs) {
    const auto part = input.begin() + static_cast<ptrdiff_t>(here.rank * count);
    turned.insert(turned.end(), part, part + static_cast<ptrdiff_t>(count));
    gathered.insert(gathered.end(), input.begin(), input.begin() + static_cast<ptrdiff_t>(count));
  }
  Require(recv.Read() == turned, "AlltoAll");
  Require(all.Read() == gathered, "AllGather");
  Require(send.Read() == inputs.back(), "Broadcast");
}

void Pass(const Here& here, size_t count) {
  const auto inputs = Inputs<uint32_t>(here.ranks, count, 5);
  const Device<uint32_t> send(inputs[here.rank]), recv(inputs[here.rank]);
  const uint32_t next = (here.rank + 1) % here.ranks,
                 last = (here.rank + here.ranks - 1) % here.ranks;
  HcclSendRecvItem items[] = {
      {HCCL_SEND, send.data(), count, HCCL_DATA_TYPE_UINT32, next},
      {HCCL_RECV, recv.data(), count, HCCL_DATA_TYPE_UINT32, last},
  };
  REQUIRE(HcclBatchSendRecv(items, 2, here.comm, here.stream));
  REQUIRE(aclrtSynchronizeStream(here.stream));
  Require(recv.Read() == inputs[last], "BatchSendRecv");
}

/// Of as many ranks as the machine has no processors for.
int Few(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Here here = {ranks, rank, MakeComm(ranks, rank, 0), stream};
  for (const size_t count : {1u, 20'011u}) {
    ReduceAll<float>(here, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, count);
    ReduceAll<Bf16>(here, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM, count);
    MoveAll(here, count);
    Pass(here, count);
  }
  REQUIRE(HcclCommDestroy(here.comm));
  return 0;
}

int Values(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const Here here = {ranks, rank, MakeComm(ranks, rank, 0), stream};
  for (const size_t count : {1u, 2u, 5000u, 300'001u}) {
    for (const HcclReduceOp op :
         {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
      ReduceAll<float>(here, HCCL_DATA_TYPE_FP32, op, count);
      ReduceAll<Bf16>(here, HCCL_DATA_TYPE_BFP16, op, count);
      ReduceAll<int8_t>(here, HCCL_DATA_TYPE_INT8, op, count);
    }
    MoveAll(here, count);
    Pass(here, count);
  }
  ReduceAll<float>(here, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, 3'000'000);
  REQUIRE(HcclCommDestroy(here.comm));
  return 0;
}

int Opposite(uint32_t ranks, uint32_t rank) {
  const aclrtStream first = Start();
  aclrtStream second = nullptr;
  REQUIRE(aclrtCreateStream(&second));
  const HcclComm comms[] = {MakeComm(ranks, rank, 0), MakeComm(ranks, rank, 1, ranks - 1)};
  const aclrtStream streams[] = {first, second};
  const Device<float> data[] = {Device<float>(std::vector<float>(70'000, 1)),
                                Device<float>(std::vector<float>(70'000, 2))};
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 2; ++i) {
      const int which = (i + static_cast<int>(rank)) % 2;
      REQUIRE(HcclAllReduce(data[which].data(), data[which].data(), 70'000, HCCL_DATA_TYPE_FP32,
                            HCCL_REDUCE_MAX, comms[which], streams[which]));
    }
  }
  for (const aclrtStream stream : streams) REQUIRE(aclrtSynchronizeStream(stream));
  for (int i = 0; i < 2; ++i) {
    Require(data[i].Read() == std::vector<float>(70'000, static_cast<float>(i + 1)), "values");
    REQUIRE(HcclCommDestroy(comms[i]));
  }
  return 0;
}

int Missing(uint32_t ranks, uint32_t rank) {
  Start();
  const HcclRootInfo info = MeetBy(0, rank == 0);
  HcclComm comm = nullptr;
  const int result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  const char* words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d %s\n", result, words != nullptr ? words : "");
  return result;
}

/// Reduces until a rank dies, which has to be seen in time; then there must be no way to hang.
int ReduceUntilLost(HcclComm comm, aclrtStream stream, uint32_t rank) {
  const Device<float> data(std::vector<float>(200'000, 1));
  int code = 0;
  for (uint64_t round = 0; code == 0; ++round) {
    const uint64_t count = round % 3 == 0 ? 1 : 200'000;
    REQUIRE(HcclAllReduce(data.data(), data.data(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                          comm, stream));
    if (round % 4 == 0) code = aclrtSynchronizeStream(stream);
    if (round == 20) Reach("running." + std::to_string(rank));
  }
  const char* words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d %s\n", code, words != nullptr ? words : "");
  Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
  Reach("told." + std::to_string(rank));
  HcclResult error = HCCL_SUCCESS;
  REQUIRE(HcclGetCommAsyncError(comm, &error));
  Require(error == HCCL_E_REMOTE, "asynchronous error", error);
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

int Survive(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  return ReduceUntilLost(MakeComm(ranks, rank, 0), stream, rank);
}

/// The same, but a rank may die while the communicator is made: then its code.
int Young(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclRootInfo info = MeetBy(0, rank == 0);
  Reach("running." + std::to_string(rank));
  HcclComm comm = nullptr;
  const int result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  if (result == HCCL_SUCCESS) return ReduceUntilLost(comm, stream, rank);
  const char* words = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d %s\n", result, words != nullptr ? words : "");
  Reach("told." + std::to_string(rank));
  return result;
}

/// Rank 2 dies, for which nobody waits: rank 0 waits for rank 1, and that one has yet to call. Who
/// was told stays, so that it is not its leaving that tells the other.
int Aside(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  if (rank == 0) REQUIRE(HcclRecv(data.data(), 10, HCCL_DATA_TYPE_FP32, 1, comm, stream));
  Reach("running." + std::to_string(rank));
  if (rank == 2) AwaitFile(Job::Folder() + "/never");
  if (rank == 1) AwaitFile(Job::Folder() + "/told.0");
  if (rank == 1) REQUIRE(HcclBarrier(comm, stream));
  const int code = aclrtSynchronizeStream(stream);
  Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
  Reach("told." + std::to_string(rank));
  AwaitFile(Job::Folder() + "/" + kEnoughFile);
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// Rank 0 has a communicator with each of the others, and waits for both in one group: rank 1 dies,
/// rank 2 calls when rank 0 has used its memory again.
int Group(uint32_t, uint32_t rank) {
  constexpr size_t kCount = 100'000;
  constexpr float kLater = 5;
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
  const aclrtStream stream = Start();
  std::vector<HcclComm> comms;
  for (const uint32_t other : {1u, 2u}) {
    if (rank != 0 && rank != other) continue;
    comms.push_back(MakeComm(2, rank == 0 ? 0 : 1, other));
  }
  const Device<float> data(std::vector<float>(2 * kCount, 1));
  REQUIRE(HcclGroupStart());
  for (size_t i = 0; i < comms.size(); ++i) {
    REQUIRE(HcclRecv(data.data() + i * kCount, kCount, kType, rank == 0 ? 1 : 0, comms[i], stream));
  }
  REQUIRE(HcclGroupEnd());
  Reach("running." + std::to_string(rank));
  const int code = aclrtSynchronizeStream(stream);
  Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
  data.Write(std::vector<float>(2 * kCount, kLater));
  Reach("told." + std::to_string(rank));
  if (rank == 2) {
    AwaitFile(Job::Folder() + "/told.0");
    REQUIRE(HcclSend(data.data(), kCount, kType, 0, comms[0], stream));
    Require(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code of a send");
  }
  AwaitFile(Job::Folder() + "/" + kEnoughFile);
  Require(data.Read() == std::vector<float>(2 * kCount, kLater), "memory is written");
  for (const HcclComm comm : comms) REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// Nothing is queued when the other dies: the asynchronous error alone tells.
int Idle(uint32_t ranks, uint32_t rank) {
  Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  Reach("running." + std::to_string(rank));
  HcclResult error = HCCL_SUCCESS;
  while (error == HCCL_SUCCESS) {
    REQUIRE(HcclGetCommAsyncError(comm, &error));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Require(error == HCCL_E_REMOTE, "asynchronous error", error);
  Reach("told." + std::to_string(rank));
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// Ends as programs do that destroy nothing: the others may not take that for a death.
int Leave(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  REQUIRE(HcclAllReduce(data.data(), data.data(), 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                        stream));
  REQUIRE(aclrtSynchronizeStream(stream));
  Require(data.Read() == std::vector<float>(10, static_cast<float>(ranks)), "values");
  if (rank == 1) std::exit(0);
  if (rank == 2) std::quick_exit(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  HcclResult error = HCCL_E_REMOTE;
  REQUIRE(HcclGetCommAsyncError(comm, &error));
  Require(error == HCCL_SUCCESS, "asynchronous error", error);
  return 0;
}

/// Rank 1 calls in many communicators and is stopped; then rank 0 does, whose operations are done,
/// and exits with what rank 1 has not received.
int Unheard(uint32_t ranks, uint32_t rank) {
  constexpr uint32_t kCommunicators = 4;
  const aclrtStream first = Start();
  const Device<float> data(std::vector<float>(10, 1));
  std::vector<Here> all;
  for (uint32_t number = 0; number < kCommunicators; ++number) {
    aclrtStream stream = first;
    if (number > 0) REQUIRE(aclrtCreateStream(&stream));
    all.push_back({ranks, rank, MakeComm(ranks, rank, number), stream});
  }
  if (rank == 0) AwaitFile(Job::Folder() + "/go");
  for (const Here& here : all) {
    REQUIRE(HcclBroadcast(data.data(), 10, HCCL_DATA_TYPE_FP32, 0, here.comm, here.stream));
  }
  if (rank == 0) {
    for (const Here& here : all) REQUIRE(aclrtSynchronizeStream(here.stream));
    Reach("exits");
    std::exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what it calls is on its way
  Reach("called");
  AwaitFile(Job::Folder() + "/never");
  return 0;
}

/// Ranks whose environments differ.
int Levels(uint32_t ranks, uint32_t rank) {
  setenv("OPENACLNN_CHECK", rank == 0 ? "off" : "fast", 1);
  return Values(ranks, rank);
}

/// The root's rank leaves, its process stays; then rank 2 dies, for which rank 1 waits.
int Orphan(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  if (rank == 0) REQUIRE(HcclCommDestroy(comm));
  if (rank == 1) {
    REQUIRE(HcclRecv(data.data(), 10, HCCL_DATA_TYPE_FP32, 2, comm, stream));
  }
  Reach("running." + std::to_string(rank));
  if (rank == 1) {
    const int code = aclrtSynchronizeStream(stream);
    Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
    REQUIRE(HcclCommDestroy(comm));
    Reach("told.1");
  }
  AwaitFile(Job::Folder() + "/told.1");
  if (rank == 0) Reach("told.0");
  return 0;
}

/// The root's rank gives up, for rank 3 has left, and dies; rank 1 waits for another one.
int Forsaken(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  const auto expect_loss = [&] {
    const int code = aclrtSynchronizeStream(stream);
    Require(code == ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "code", code);
  };
  if (rank == 3) REQUIRE(HcclCommDestroy(comm));
  if (rank < 2) {
    REQUIRE(HcclRecv(data.data(), 10, HCCL_DATA_TYPE_FP32, 3 - rank, comm, stream));
  }
  if (rank == 0) expect_loss();
  Reach("running." + std::to_string(rank));
  if (rank == 1) {
    expect_loss();
    REQUIRE(HcclCommDestroy(comm));
    Reach("told.1");
  }
  AwaitFile(Job::Folder() + "/told.1");
  if (rank == 2) REQUIRE(HcclCommDestroy(comm));
  Reach("told." + std::to_string(rank));
  return 0;
}

/// Half as many elements on rank 1, both more than one step moves: named, and nothing is kept.
int Differ(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const uint64_t count = rank == 0 ? 200'000 : 100'000;
  const std::string words = "count of rank " + std::to_string(1 - rank) + " is " +
                            (rank == 0 ? "100000, expected 200000" : "200000, expected 100000");
  size_t memory = 0, descriptors = 0;
  for (uint32_t number = 0; number < 6; ++number) {
    if (number == 2) memory = FreeMemory(), descriptors = OpenDescriptors();
    const HcclComm comm = MakeComm(ranks, rank, number);
    {
      const Device<float> data(std::vector<float>(200'000, 1));
      REQUIRE(HcclAllReduce(data.data(), data.data(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                            comm, stream));
      const int code = aclrtSynchronizeStream(stream);
      Require(code == ACL_ERROR_RT_PARAM_INVALID, "code", code);
      const char* said = aclGetRecentErrMsg();
      if (said == nullptr || std::string(said).find(words) == std::string::npos) {
        std::fprintf(stderr, "%s, expected %s\n", said != nullptr ? said : "", words.c_str());
        throw Failed();
      }
      Require(data.Read() == std::vector<float>(200'000, 1), "memory is written");
    }
    REQUIRE(HcclCommDestroy(comm));
  }
  Require(Soon([&] { return FreeMemory() >= memory; }), "memory is kept");
  Require(Soon([&] { return OpenDescriptors() <= descriptors; }), "descriptors are left");
  return 0;
}

/// What a static destructor waits for while the process ends.
struct LastWords {
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
  uint32_t kind = 0;
  ~LastWords() {
    if (stream == nullptr) return;
    const int code = kind == 2   ? static_cast<int>(HcclCommDestroy(comm))
                     : kind == 1 ? aclFinalize()
                                 : aclrtSynchronizeStream(stream);
    const char* words = aclGetRecentErrMsg();
    const bool told = kind != 0 || (code == ACL_ERROR_RT_LINK_ERROR && words != nullptr &&
                                    std::strstr(words, "process ends, expected") != nullptr);
    if (!told) std::fprintf(stderr, "%d %s\n", code, words != nullptr ? words : "");
  }
};

/// Each ends while it waits for the next one's message, which never comes.
int Quit(uint32_t ranks, uint32_t rank) {
  static LastWords last;
  const aclrtStream stream = Start();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  REQUIRE(HcclRecv(data.data(), 10, HCCL_DATA_TYPE_FP32, (rank + 1) % ranks, comm, stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (rank == 0) Reach("ends");
  if (rank != 0) AwaitFile(Job::Folder() + "/ends");  // whose own end rank 0 is not to hear of
  last.comm = comm;
  last.stream = stream;
  last.kind = rank;
  std::exit(0);
}

std::vector<std::string> Variables() {
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
  std::sort(variables.begin(), variables.end());
  return variables;
}

/// Whether this process has mapped memory as UCX shares it with others.
bool SharesMemory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/SYSV") != line.npos || line.find("ucx_shm") != line.npos) return true;
  }
  return false;
}

/// What UCX is told is not left to children, and what the environment tells it comes first.
int Inherit(uint32_t ranks, uint32_t rank) {
  const aclrtStream stream = Start();
  const std::vector<std::string> before = Variables();
  const HcclComm comm = MakeComm(ranks, rank, 0);
  const Device<float> data(std::vector<float>(10, 1));
  REQUIRE(HcclAllReduce(data.data(), data.data(), 10, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                        stream));
  REQUIRE(aclrtSynchronizeStream(stream));
  Require(Variables() == before, "variables");
  const bool by_tcp = std::getenv("UCX_TLS") != nullptr;
  Require(SharesMemory() != by_tcp, "shared memory", SharesMemory());
  REQUIRE(HcclCommDestroy(comm));
  return 0;
}

/// Each but the first ends at once, having destroyed its communicator.
int Gone(uint32_t ranks, uint32_t rank) {
  Start();
  const HcclComm kept = MakeComm(ranks, rank, 0), gone = MakeComm(ranks, rank, 1, 1);
  if (rank != 0) {
    REQUIRE(HcclCommDestroy(kept));
    REQUIRE(HcclCommDestroy(gone));
    _exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  for (const HcclComm comm : {kept, gone}) {
    HcclResult error = HCCL_E_REMOTE;
    REQUIRE(HcclGetCommAsyncError(comm, &error));
    Require(error == HCCL_SUCCESS, "asynchronous error", error);
    REQUIRE(HcclCommDestroy(comm));
  }
  return 0;
}

/// The root's rank names a transport that there is not.
int Rootless(uint32_t ranks, uint32_t rank) {
  const HcclRootInfo info = MeetBy(0, rank == 0);
  if (rank == 0) setenv("UCX_TLS", "bogus", 1);
  Start();
  HcclComm comm = nullptr;
  const HcclResult result = HcclCommInitRootInfo(ranks, &info, rank, &comm);
  std::fprintf(stderr, "%s\n", aclGetRecentErrMsg());
  return result;
}

/// Rank 1 comes when it is told to.
int Late(uint32_t ranks, uint32_t rank) {
  if (rank == 1) AwaitFile(Job::Folder() + "/go");
  Start();
  REQUIRE(HcclCommDestroy(MakeComm(ranks, rank, 0)));
  return 0;
}

const bool kEntered = [] {
  Roles().merge(std::map<std::string, Role>{
      {"values", Run<Values>},   {"opposite", Run<Opposite>}, {"missing", Run<Missing>},
      {"survive", Run<Survive>}, {"young", Run<Young>},       {"idle", Run<Idle>},
      {"aside", Run<Aside>},     {"group", Run<Group>},       {"leave", Run<Leave>},
      {"gone", Run<Gone>},       {"late", Run<Late>},         {"inherit", Run<Inherit>},
      {"differ", Run<Differ>},   {"quit", Run<Quit>},         {"levels", Run<Levels>},
      {"unheard", Run<Unheard>}, {"orphan", Run<Orphan>},     {"forsaken", Run<Forsaken>},
      {"few", Run<Few>},         {"rootless", Run<Rootless>},
  });
  return true;
}();

}  // namespace

Role FindRole(const std::string& name) {
  const auto found = Roles().find(name);
  return found != Roles().end() ? found->second : nullptr;
}

}  // namespace openaclnn::ranks
