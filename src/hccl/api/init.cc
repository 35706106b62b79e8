// SPDX-License-Identifier: Apache-2.0
// HcclGetRootInfo, HcclCommInit… and HcclCommDestroy.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "client/client.h"
#include "hccl/api/config.h"
#include "hccl/communicator/communicator.h"
#include "hccl/communicator/known_wait.h"
#include "hccl/communicator/result.h"
#include "hccl/engine/descriptors.h"
#include "hccl/engine/process_engine.h"
#include "hccl/engine/progress.h"
#include "hccl/engine/ucx_engine.h"
#include "hccl/hccl.h"
#include "hccl/rendezvous/environment.h"
#include "hccl/rendezvous/rendezvous.h"
#include "hccl/rendezvous/root_info.h"

namespace openaclnn {
namespace {

constexpr uint32_t kMaxRanks = uint32_t{1} << 16;

std::string HexOf(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

/// The settings, which are the same on all ranks of the communicator. Other processes do not know
/// the nonce.
Communicator::Settings SettingsOf(const CommConfig& config, const Nonce& nonce,
                                  const HcclEnvironment& environment) {
  constexpr size_t kBytesOfName = 4, kBytesOfIdentifier = 8;
  const std::span all(nonce);
  Communicator::Settings settings;
  settings.name =
      config.name.empty() ? Concat("openaclnn_", HexOf(all.first(kBytesOfName))) : config.name;
  settings.identifier = HexOf(all.first(kBytesOfIdentifier));  // half of them stay the ranks' own
  settings.timeout = environment.exec_timeout;
  settings.checked = Runtime().check_level() != 0;
  if (config.exec_timeout) settings.timeout = std::chrono::seconds(*config.exec_timeout);
  return settings;
}

Status Publish(const std::shared_ptr<Communicator>& communicator, HcclComm* comm) {
  Status status = Guard(
      [&] { return communicator->alone() ? Status() : MessageMover::Get().Add(communicator); });
  if (!status.ok()) return status;
  status = Guard([&] {
    *comm = InsertCommunicator(communicator);
    return *comm != nullptr ? Status()
                            : Status(HCCL_E_UNAVAIL, "no handle is left for a communicator");
  });
  if (!status.ok()) communicator->Close();
  return status;
}

Status GetRootInfo(HcclRootInfo* blob) {
  const ClosedStreams stay;
  HcclEnvironment environment;
  Status status = RequirePointer("rootInfo", blob);
  if (status.ok()) status = ReadHcclEnvironment(&environment);
  return status.ok() ? MakeRootInfo(environment, blob) : status;
}

Status CheckRank(uint32_t ranks, uint32_t rank) {
  if (ranks == 0 || ranks > kMaxRanks) {
    return Status(HCCL_E_PARA, Concat("nRanks value is ", ranks, ", expected 1 to ", kMaxRanks));
  }
  if (rank < ranks) return {};
  return Status(HCCL_E_PARA,
                Concat("rank value is ", rank, ", expected one below nRanks, ", ranks));
}

Status InitRootInfo(uint32_t ranks, const HcclRootInfo* blob, uint32_t rank,
                    const CommConfig& config, HcclComm* comm) {
  const ClosedStreams stay;
  HcclEnvironment environment;
  RootInfo info;
  Status status = RequirePointer("rootInfo", blob);
  if (status.ok()) status = RequirePointer("comm", comm);
  if (status.ok()) status = CheckRank(ranks, rank);
  if (status.ok()) status = ReadRootInfo(*blob, &info);
  if (status.ok()) status = ReadHcclEnvironment(&environment);
  if (!status.ok()) return status;
  std::unique_ptr<Engine> engine;
  Communicator::Settings settings = SettingsOf(config, info.nonce, environment);
  if (ranks > 1) {
    const auto meet = [&](const std::string& address, Meeting* meeting) {
      Status met = Meet(environment, info, ranks, rank, address, meeting);
      settings.checked = meeting->checked;
      return met;
    };
    status = Guard(
        [&] { return MakeUcxEngine(ranks, rank, environment.connect_timeout, meet, &engine); });
    if (!status.ok()) {
      (void)Guard([&] {
        RefuseToMeet(environment, info, ranks, rank, status);
        return Status();
      });
    }
  } else {
    (void)TakeListener(info.nonce);  // nobody comes
  }
  if (!status.ok()) return status;
  return Publish(
      std::make_shared<Communicator>(ranks, rank, std::move(settings), std::move(engine)), comm);
}

Status CheckDevices(const std::vector<int32_t>& devices) {
  std::vector<int32_t> sorted = devices;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return Status(HCCL_E_PARA,
                  Concat("devices value is ", *twice, " twice, expected different devices"));
  }
  uint32_t all = 0;
  if (aclrtGetDeviceCount(&all) != 0) {
    const char* const why = aclGetRecentErrMsg();
    return Status(HCCL_E_RUNTIME, Concat("devices cannot be counted (", why != nullptr ? why : "",
                                         "), expected aclrtGetDeviceCount to"));
  }
  const auto no_device = std::ranges::find_if(devices, [all](int32_t device) {
    return device < 0 || static_cast<uint32_t>(device) >= all;
  });
  if (no_device == devices.end()) return {};
  return Status(HCCL_E_PARA, Concat("devices[", no_device - devices.begin(), "] value is ",
                                    *no_device, ", expected one of the ", all,
                                    " that aclrtGetDeviceCount counts, from 0 on"));
}

Status Destroy(HcclComm comm) {
  std::shared_ptr<Communicator> communicator;
  KnownWait wait;
  Status status = FindCommunicator(comm, &communicator);
  if (status.ok()) status = wait.Begin(*communicator);
  if (status.ok()) status = RemoveCommunicator(comm, &communicator);
  if (status.ok()) communicator->Close();
  return status;
}

Status InitAll(uint32_t count, const int32_t* devices, HcclComm* comms) {
  const ClosedStreams stay;
  HcclEnvironment environment;
  Status status = RequirePointer("devices", devices);
  if (status.ok()) status = RequirePointer("comms", comms);
  if (status.ok() && (count == 0 || count > kMaxRanks)) {
    status = Status(HCCL_E_PARA, Concat("ndev value is ", count, ", expected 1 to ", kMaxRanks));
  }
  if (status.ok()) status = ReadHcclEnvironment(&environment);
  if (status.ok()) status = CheckDevices({devices, devices + count});
  Nonce nonce{};
  if (status.ok()) status = NewNonce(&nonce);
  if (!status.ok()) return status;
  const Communicator::Settings settings = SettingsOf({}, nonce, environment);
  auto engines = count > 1 ? MakeProcessEngines(count) : std::vector<std::unique_ptr<Engine>>(1);
  uint32_t made = 0;
  while (made < count && status.ok()) {
    status = Guard([&] {
      return Publish(
          std::make_shared<Communicator>(count, made, settings, std::move(engines[made])),
          &comms[made]);
    });
    if (status.ok()) ++made;
  }
  for (uint32_t rank = 0; rank < made && !status.ok(); ++rank) {
    (void)Destroy(std::exchange(comms[rank], nullptr));
  }
  return status;
}

/// Refusal of the other ways to a communicator.
Status OnlyByRootInfo() {
  return Status(HCCL_E_NOT_SUPPORT,
                "function is not supported by openaclnn, expected HcclCommInitRootInfo");
}

}  // namespace
}  // namespace openaclnn

using openaclnn::HcclApi;

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return HcclApi("HcclGetRootInfo", [&] { return openaclnn::GetRootInfo(rootInfo); });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return HcclApi("HcclCommInitRootInfo",
                 [&] { return openaclnn::InitRootInfo(nRanks, rootInfo, rank, {}, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return HcclApi("HcclCommInitRootInfoConfig", [&] {
    openaclnn::CommConfig read;
    openaclnn::Status status = openaclnn::RequirePointer("config", config);
    if (status.ok()) status = openaclnn::ReadCommConfig(*config, &read);
    return status.ok() ? openaclnn::InitRootInfo(nRanks, rootInfo, rank, read, comm) : status;
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return HcclApi("HcclCommInitAll", [&] { return openaclnn::InitAll(ndev, devices, comms); });
}

HcclResult HcclCommInitClusterInfo(const char*, uint32_t, HcclComm*) {
  return HcclApi("HcclCommInitClusterInfo", openaclnn::OnlyByRootInfo);
}

HcclResult HcclCommInitClusterInfoConfig(const char*, uint32_t, HcclCommConfig*, HcclComm*) {
  return HcclApi("HcclCommInitClusterInfoConfig", openaclnn::OnlyByRootInfo);
}

HcclResult HcclCreateSubCommConfig(HcclComm*, uint32_t, uint32_t*, uint64_t, uint32_t,
                                   HcclCommConfig*, HcclComm*) {
  return HcclApi("HcclCreateSubCommConfig", openaclnn::OnlyByRootInfo);
}

HcclResult HcclCommDestroy(HcclComm comm) {
  // Objects that a child of fork has inherited belong to its parent.
  if (openaclnn::Forked() || openaclnn::MessageMover::StayedBehind()) return HCCL_SUCCESS;
  return HcclApi("HcclCommDestroy", [&] { return openaclnn::Destroy(comm); });
}
