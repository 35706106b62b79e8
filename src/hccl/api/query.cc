// SPDX-License-Identifier: Apache-2.0
// Queries of a communicator, names of results, and settings of the process.
#include <atomic>
#include <cstring>
#include <memory>

#include "hccl/communicator/communicator.h"
#include "hccl/communicator/result.h"
#include "hccl/hccl.h"
#include "hccl/plan/data_type.h"

namespace openaclnn {
namespace {

// Whatever it is, results are the same from run to run.
std::atomic<int32_t> g_deterministic{0};

template <class Value, class Read>
HcclResult Query(const char* api, HcclComm comm, const char* operand, Value* out,
                 const Read& read) {
  return HcclApi(api, [&] {
    std::shared_ptr<Communicator> communicator;
    Status status = RequirePointer(operand, out);
    if (status.ok()) status = FindCommunicator(comm, &communicator);
    if (status.ok()) read(*communicator);
    return status;
  });
}

Status CheckSetting(HcclConfig config) {
  if (config == HCCL_DETERMINISTIC) return {};
  return Status(HCCL_E_PARA,
                Concat("config value is ", config, ", expected HCCL_DETERMINISTIC (0)"));
}

Status SetConfig(HcclConfig config, HcclConfigValue value) {
  Status status = CheckSetting(config);
  if (!status.ok()) return status;
  if (value.value != 0 && value.value != 1) {
    return Status(HCCL_E_PARA, Concat("configValue value is ", value.value, ", expected 0 or 1"));
  }
  g_deterministic.store(value.value, std::memory_order_relaxed);
  return {};
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Communicator;
using openaclnn::HcclApi;

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return openaclnn::Query("HcclGetRankSize", comm, "rankSize", rankSize,
                          [&](const Communicator& found) { *rankSize = found.size(); });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return openaclnn::Query("HcclGetRankId", comm, "rank", rank,
                          [&](const Communicator& found) { *rank = found.rank(); });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return openaclnn::Query("HcclGetCommName", comm, "commName", commName,
                          [&](const Communicator& found) {
                            std::strncpy(commName, found.name().c_str(), COMM_NAME_MAX_LENGTH);
                          });
}

// The call succeeds, and its words are those of the error: watchdogs print them.
HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  constexpr const char* kName = "HcclGetCommAsyncError";
  return openaclnn::Query(kName, comm, "asyncError", asyncError, [&](const Communicator& found) {
    *asyncError = static_cast<HcclResult>(found.async_error());
    if (*asyncError != HCCL_SUCCESS) openaclnn::Report(kName, found.remote_error());
  });
}

const char* HcclGetErrorString(HcclResult code) {
  const char* name = openaclnn::ResultName(code);
  return name != nullptr ? name : "not an HcclResult";
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return HcclApi("HcclSetConfig", [&] { return openaclnn::SetConfig(config, configValue); });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return HcclApi("HcclGetConfig", [&] {
    openaclnn::Status status = openaclnn::RequirePointer("configValue", configValue);
    if (status.ok()) status = openaclnn::CheckSetting(config);
    if (status.ok())
      configValue->value = openaclnn::g_deterministic.load(std::memory_order_relaxed);
    return status;
  });
}
