// SPDX-License-Identifier: Apache-2.0
// The table of address_rows.h.
#include "abi/address_rows.h"

#include <array>
#include <tuple>

#include "openaclnn/status.h"

namespace openaclnn {
namespace {

constexpr int kIsNull = ACL_ERROR_INVALID_PARAM, kWrong = ACL_ERROR_RT_PARAM_INVALID;
constexpr auto kKind = ACL_MEMCPY_DEFAULT;
constexpr size_t kBytes = kAddressBytes;

void AddEnds(std::vector<AddressRow>* rows) {
  const auto row = [&](const char* api, const char* argument, unsigned takes, auto call) {
    rows->push_back({api, argument, takes, call, kIsNull, kWrong});
  };
  row("aclrtFree", "devPtr", kDeviceStart, aclrtFree);
  row("aclrtFreeHost", "hostPtr", kPinnedStart, aclrtFreeHost);
  row("aclrtReleaseMemAddress", "virPtr", kReserved, aclrtReleaseMemAddress);
  row("aclrtUnmapMem", "virPtr", kMapped, aclrtUnmapMem);
}

void AddCopies(const AddressLive& live, std::vector<AddressRow>* rows) {
  void *stream = live.stream, *device = live.device;
  const auto row = [&](const char* api, const char* argument, auto call) {
    rows->push_back({api, argument, kLive, call, kIsNull, kWrong});
  };
  row("aclrtMemcpy", "dst", [=](void* a) { return aclrtMemcpy(a, 16, device, kBytes, kKind); });
  row("aclrtMemcpy", "src", [=](void* a) { return aclrtMemcpy(device, 16, a, kBytes, kKind); });
  row("aclrtMemcpyAsync", "dst",
      [=](void* a) { return aclrtMemcpyAsync(a, 16, device, kBytes, kKind, stream); });
  row("aclrtMemcpyAsync", "src",
      [=](void* a) { return aclrtMemcpyAsync(device, 16, a, kBytes, kKind, stream); });
  row("aclrtMemcpy2d", "dst", [=](void* a) { return aclrtMemcpy2d(a, 8, device, 8, 8, 2, kKind); });
  row("aclrtMemcpy2d", "src", [=](void* a) { return aclrtMemcpy2d(device, 8, a, 8, 8, 2, kKind); });
  row("aclrtMemcpy2dAsync", "dst",
      [=](void* a) { return aclrtMemcpy2dAsync(a, 8, device, 8, 8, 2, kKind, stream); });
  row("aclrtMemcpy2dAsync", "src",
      [=](void* a) { return aclrtMemcpy2dAsync(device, 8, a, 8, 8, 2, kKind, stream); });
  rows->push_back({"aclrtValueWrite", "devAddr", kLiveDevice,
                   [=](void* a) { return aclrtValueWrite(a, 0, 0, stream); }, kIsNull, kWrong});
  rows->push_back({"aclrtValueWait", "devAddr", kLiveDevice,
                   [=](void* a) { return aclrtValueWait(a, 0, ACL_STREAM_WAIT_VALUE_NOR, stream); },
                   kIsNull, kWrong});
  rows->push_back(
      {"aclrtCmoAsync", "src", kLiveDevice,
       [=](void* a) { return aclrtCmoAsync(a, kBytes, ACL_RT_CMO_TYPE_PREFETCH, stream); }, kIsNull,
       kWrong});
  row("aclrtMemset", "devPtr", [](void* a) { return aclrtMemset(a, kBytes, 1, kBytes); });
  row("aclrtMemsetAsync", "devPtr",
      [=](void* a) { return aclrtMemsetAsync(a, kBytes, 1, kBytes, stream); });
}

/// Addresses that are kept, or told, and read by nobody.
void AddUnread(const AddressLive& live, std::vector<AddressRow>* rows) {
  aclTensor* tensor = live.tensor;
  const auto any = [&](const char* api, const char* argument, std::function<int(void*)> call) {
    rows->push_back({api, argument, 0, std::move(call), 0, 0});
  };
  any("aclCreateDataBuffer", "data",
      [](void* a) { return aclDestroyDataBuffer(aclCreateDataBuffer(a, kBytes)); });
  any("aclCreateTensor", "tensorData",
      [](void* a) { return aclDestroyTensor(Gradient::Tensor({4}, ACL_FLOAT, a)); });
  any("aclInitTensor", "tensorData", [=](void* a) {
    return aclInitTensor(tensor, nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, a);
  });
  any("aclSetRawTensorAddr", "addr", [=](void* a) { return aclSetRawTensorAddr(tensor, a); });
  rows->push_back({"aclrtPointerGetAttributes", "ptr", 0,
                   [](void* a) {
                     aclrtPtrAttributes attributes = {};
                     return aclrtPointerGetAttributes(a, &attributes);
                   },
                   kWrong, 0});
}

void AddMaps(const AddressLive& live, std::vector<AddressRow>* rows) {
  constexpr size_t kPage = size_t{2} << 20;
  void* physical = live.physical;
  rows->push_back({"aclrtMapMem", "virPtr", kReserved | kReservedInside,
                   [=](void* a) { return aclrtMapMem(a, kPage, 0, physical, 0); }, kIsNull,
                   kWrong});
  rows->push_back({"aclrtReserveMemAddress", "expectPtr", kNull,
                   [](void* a) {
                     void* made = nullptr;
                     return aclrtReserveMemAddress(&made, kPage, 0, a, 0);
                   },
                   kWrong, kWrong});
}

/// Another address of an operand, given to the executor between the phases.
using Move = std::function<int(aclOpExecutor*, aclTensor* grad, aclTensor* out)>;

/// Both phases of a gradient with the address of one of its operands, or of its workspace.
int Launch(const AddressLive& live, size_t place, void* address, const Move& move = nullptr) {
  Gradient& gradient = *live.gradient;
  std::array<void*, 5> data = {gradient.grad().data(), gradient.indices().data(),
                               gradient.out().data(), live.workspace};
  data.at(place) = address;
  aclTensor* grad = Gradient::Tensor({1, 4}, ACL_FLOAT, data[0]);
  aclTensor* indices = Gradient::Tensor({1}, ACL_INT64, data[1]);
  aclTensor* out = Gradient::Tensor({2, 4}, ACL_FLOAT, data[2]);
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  int status = aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad, indices, 2, UINT64_MAX, false, out,
                                                           &bytes, &executor);
  EXPECT_EQ(status, 0) << TakeMessage();
  EXPECT_GT(bytes, 0u);
  if (move != nullptr) {
    EXPECT_EQ(move(executor, grad, out), 0) << TakeMessage();
  }
  status = aclnnEmbeddingDenseBackward(data[3], bytes, executor, live.stream);
  if (status != 0) {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
  for (const aclTensor* tensor : {grad, indices, out}) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  return status;
}

void AddOperands(const AddressLive& live, std::vector<AddressRow>* rows) {
  const char* const operands[] = {"grad", "indices", "out", "workspace"};
  for (size_t place = 0; place < std::size(operands); ++place) {
    rows->push_back({"aclnnEmbeddingDenseBackward", operands[place], kLiveDevice,
                     [=](void* a) { return Launch(live, place, a); }, ACLNN_ERR_PARAM_NULLPTR,
                     ACLNN_ERR_PARAM_INVALID});
  }
}

/// Addresses that an executor keeps: its next phase 2 looks at them.
void AddMoves(const AddressLive& live, std::vector<AddressRow>* rows) {
  using Set = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
  const std::tuple<const char*, Set, bool> setters[] = {
      {"aclSetInputTensorAddr", aclSetInputTensorAddr, true},
      {"AclSetInputTensorAddr", AclSetInputTensorAddr, true},
      {"aclSetTensorAddr", aclSetTensorAddr, true},
      {"AclSetTensorAddr", AclSetTensorAddr, true},
      {"aclSetOutputTensorAddr", aclSetOutputTensorAddr, false},
      {"AclSetOutputTensorAddr", AclSetOutputTensorAddr, false}};
  constexpr size_t kNoPlace = 4;
  for (const auto& [api, set, input] : setters) {
    const auto call = [=, set = set, input = input](void* a) {
      return Launch(live, kNoPlace, nullptr, [&](auto* executor, auto* grad, auto* out) {
        return set(executor, 0, input ? grad : out, a);
      });
    };
    rows->push_back({api, "addr", kLiveDevice, call, ACLNN_ERR_PARAM_NULLPTR,
                     ACLNN_ERR_PARAM_INVALID, "aclnnEmbeddingDenseBackward"});
  }
}

}  // namespace

std::vector<AddressRow> AddressRows(const AddressLive& live) {
  std::vector<AddressRow> rows;
  AddEnds(&rows);
  AddCopies(live, &rows);
  AddUnread(live, &rows);
  AddMaps(live, &rows);
  AddOperands(live, &rows);
  AddMoves(live, &rows);
  return rows;
}

}  // namespace openaclnn
