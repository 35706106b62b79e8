// SPDX-License-Identifier: Apache-2.0
// Collectives of one rank as C programs call them: each result is looked at, then calls are timed.
//
//   RANK=0 WORLD_SIZE=2 ranks_bench FOLDER LEAST MOST COLLECTIVES [check]
//
// Sizes, of the larger buffer: none, one element, an odd number, and LEAST to MOST bytes by fours.
// With `check` every type and reduction, by steps of 32, once each. compare.py starts the ranks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "ranks/calls.h"
#include "ranks/rank.h"

namespace openaclnn::ranks {

void Publish(const Place& place, const std::string& name, const std::string& content) {
  const std::string path = place.folder + "/" + name;
  std::ofstream(path + ".new", std::ios::binary) << content;
  std::filesystem::rename(path + ".new", path);
}

std::string AwaitFile(const Place& place, const std::string& name) {
  const std::string path = place.folder + "/" + name;
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(Seconds(0.001));
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Print(const std::string& what, size_t bytes, double seconds) {
  std::printf("%s %zu %.9f\n", what.c_str(), bytes, seconds);
}

namespace {

struct Chosen {
  size_t least, most;
  std::string collectives;
  bool check;
};

std::vector<size_t> SizesOf(const Chosen& chosen) {
  std::vector<size_t> sizes;
  for (size_t bytes = chosen.least; bytes < chosen.most; bytes *= chosen.check ? 32 : 4) {
    sizes.push_back(bytes);
  }
  sizes.push_back(chosen.most);
  return sizes;
}

/// One call whose result is looked at; then, unless that was enough, as many as are timed.
template <class T>
void Run(const std::string& what, const Call<T>& call, const Job<T>& job, bool in_place,
         bool once) {
  const Rank& here = job.here;
  const size_t sent = Count(call.sent), received = Count(call.received);
  const Buffer<T> recv(in_place ? std::max(sent, received) : received), send(in_place ? 0 : sent);
  // The smaller of the two lies where this rank's share of the larger one does.
  T* const from = in_place ? recv.at(sent < received ? here.rank * sent : 0) : send.at(0);
  T* const to = in_place ? recv.at(received < sent ? here.rank * received : 0) : recv.at(0);
  Write(from, call.sent);
  const auto run = [&] {
    Require(call.run(from, to));
    Require(aclrtSynchronizeStream(here.stream));
  };
  const size_t bytes = job.count * sizeof(T);
  double seconds = MedianSeconds(1, run);
  const bool right = Holds(to, call.received) && (in_place || Holds(from, call.sent)) &&
                     recv.EndIsOld() && send.EndIsOld();
  if (!right) {
    std::fprintf(stderr, "rank %u: %s of %zu bytes has given wrong numbers\n", here.rank,
                 what.c_str(), bytes);
    std::exit(1);
  }
  if (!once) seconds = MedianSeconds(CallsOf(bytes), run);
  Print(what, bytes, seconds);
}

template <class T>
void RunSizes(const std::string& what, const Collective<T>& collective, Job<T>* job,
              const Chosen& chosen) {
  constexpr size_t kOdd = 3 * kPeriod - 8;
  std::vector<size_t> counts = {0, 1, kOdd};
  for (const size_t bytes : SizesOf(chosen)) counts.push_back((bytes + sizeof(T) - 1) / sizeof(T));
  for (const size_t count : counts) {
    job->count = count;
    const Call<T> call = collective.make(*job);
    if (collective.out) Run(what + " out", call, *job, false, chosen.check);
    if (collective.in) Run(what + " in", call, *job, true, chosen.check);
  }
}

constexpr const char* kOps[] = {"SUM", "PROD", "MAX", "MIN"};

template <class T>
void RunType(const char* name, HcclDataType type, const Rank& here, const Chosen& chosen) {
  Job<T> job{here, type, HCCL_REDUCE_SUM, 0, {}, {}};
  for (uint32_t rank = 0; rank < here.ranks; ++rank) job.inputs.push_back(Elements<T>(rank));
  for (const Collective<T>& collective : CollectivesOf<T>()) {
    if (chosen.collectives.find(std::string(collective.name) + ",") == std::string::npos) continue;
    if (here.ranks < collective.ranks) continue;
    const std::string what = std::string(collective.name) + " " + name + " ";
    if (!collective.reduces) RunSizes(what + "-", collective, &job, chosen);
    if constexpr (kIsReduced<T>) {
      for (int op = 0; collective.reduces && op < (chosen.check ? 4 : 1); ++op) {
        job.op = static_cast<HcclReduceOp>(op);
        job.sums = Reduced(job.inputs, job.op);
        RunSizes(what + kOps[op], collective, &job, chosen);
      }
    }
  }
}

Rank Start(const Place& place) {
  Rank here{place.ranks, place.rank, nullptr, nullptr};
  HcclRootInfo info;
  Require(aclInit(nullptr));
  Require(aclrtSetDevice(0));
  Require(aclrtCreateStream(&here.stream));
  if (place.rank == 0) {
    Require(HcclGetRootInfo(&info));
    Publish(place, "info", std::string(info.internal, sizeof(info.internal)));
  }
  AwaitFile(place, "info").copy(info.internal, sizeof(info.internal));
  Require(HcclCommInitRootInfo(place.ranks, &info, place.rank, &here.comm));
  return here;
}

void RunAll(const Place& place, const Chosen& chosen) {
  if (!chosen.check) MeasureSocket(place, SizesOf(chosen));
  const Rank here = Start(place);
  RunType<float>("FP32", HCCL_DATA_TYPE_FP32, here, chosen);
  if (chosen.check) {
    RunType<int8_t>("INT8", HCCL_DATA_TYPE_INT8, here, chosen);
    RunType<int16_t>("INT16", HCCL_DATA_TYPE_INT16, here, chosen);
    RunType<int32_t>("INT32", HCCL_DATA_TYPE_INT32, here, chosen);
    RunType<int64_t>("INT64", HCCL_DATA_TYPE_INT64, here, chosen);
    RunType<uint8_t>("UINT8", HCCL_DATA_TYPE_UINT8, here, chosen);
    RunType<uint16_t>("UINT16", HCCL_DATA_TYPE_UINT16, here, chosen);
    RunType<uint32_t>("UINT32", HCCL_DATA_TYPE_UINT32, here, chosen);
    RunType<uint64_t>("UINT64", HCCL_DATA_TYPE_UINT64, here, chosen);
    RunType<Fp16>("FP16", HCCL_DATA_TYPE_FP16, here, chosen);
    RunType<Bf16>("BFP16", HCCL_DATA_TYPE_BFP16, here, chosen);
    RunType<double>("FP64", HCCL_DATA_TYPE_FP64, here, chosen);
    RunType<Moved<16>>("INT128", HCCL_DATA_TYPE_INT128, here, chosen);
    RunType<Moved<1>>("HIF8", HCCL_DATA_TYPE_HIF8, here, chosen);
    RunType<Moved<1>>("FP8E4M3", HCCL_DATA_TYPE_FP8E4M3, here, chosen);
    RunType<Moved<1>>("FP8E5M2", HCCL_DATA_TYPE_FP8E5M2, here, chosen);
    RunType<Moved<1>>("FP8E8M0", HCCL_DATA_TYPE_FP8E8M0, here, chosen);
  }
  Require(HcclCommDestroy(here.comm));
}

uint32_t NumberOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? static_cast<uint32_t>(std::atoi(value)) : 0;
}

}  // namespace
}  // namespace openaclnn::ranks

int main(int argc, char** argv) {
  using openaclnn::ranks::NumberOf;
  if (argc < 5 || NumberOf("WORLD_SIZE") == 0) {
    std::fprintf(stderr, "RANK=… WORLD_SIZE=… %s FOLDER LEAST MOST COLLECTIVES [check]\n", argv[0]);
    return 2;
  }
  const std::string collectives = std::string(argv[4]) + ",";
  openaclnn::ranks::RunAll({NumberOf("WORLD_SIZE"), NumberOf("RANK"), argv[1]},
                           {std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10),
                            collectives, argc > 5});
  return 0;
}
