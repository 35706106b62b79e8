// SPDX-License-Identifier: Apache-2.0
// Captures calls: what phase 1 described waits with its executor for phase 2.
#include "openaclnn_capture/record.h"

#include <atomic>

#include "common/uncancelled.h"
#include "openaclnn_capture/executors.h"
#include "openaclnn_capture/message.h"
#include "openaclnn_capture/store.h"

namespace openaclnn::capture {
namespace {

/// The number of this call if it is one of those asked for, else 0.
uint64_t CountCall() {
  static std::atomic<uint64_t> calls = 0;
  const uint64_t number = ++calls;
  const Settings& settings = CurrentSettings();
  return number >= settings.first && number <= settings.last ? number : 0;
}

/// Whether an address is a device's, as far as the libraries tell: a copy from any other would read
/// what is there, or fault.
bool IsDeviceAddress(uintptr_t address) {
  const auto attributes_of = NEXT(aclrtPointerGetAttributes);
  aclrtPtrAttributes attributes = {};
  return attributes_of != nullptr &&
         attributes_of(reinterpret_cast<const void*>(address), &attributes) == 0 &&
         attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

bool IsReadable(const Memory& memory) {
  return IsDeviceAddress(memory.begin) && IsDeviceAddress(memory.end - 1);
}

/// Whether memory of a call that phase 1 let pass is readable; older libraries do not tell.
bool IsReadableOncePlanned(const Memory& memory) {
  return NEXT(aclrtPointerGetAttributes) == nullptr || IsReadable(memory);
}

/// Reads device memory; false if that is not possible.
bool ReadMemory(const Memory& memory, std::string* bytes) {
  const auto copy = NEXT(aclrtMemcpy);
  if (copy == nullptr) return false;
  bytes->resize(memory.end - memory.begin);
  const int code = copy(bytes->data(), bytes->size(), reinterpret_cast<const void*>(memory.begin),
                        bytes->size(), ACL_MEMCPY_DEVICE_TO_HOST);
  if (code != 0) *bytes = {};
  return code == 0;
}

std::vector<Memory> ReadBefore(const Call& call, bool planned) {
  std::vector<Memory> memory = FindMemory(call, planned ? IsReadableOncePlanned : IsReadable);
  for (Memory& each : memory) {
    each.readable = each.readable && ReadMemory(each, &each.before);
  }
  return memory;
}

void ReadAfter(std::vector<Memory>* memory) {
  for (Memory& each : *memory) {
    if (each.readable) each.readable = ReadMemory(each, &each.after);
  }
}

Outcome OutcomeOf(int code) noexcept {
  Outcome outcome = {code, {}};
  if (code != 0) Attempt([&] { outcome.message = PeekMessage(); });
  return outcome;
}

Outcome Synchronize(aclrtStream stream) noexcept {
  const auto synchronize = NEXT(aclrtSynchronizeStream);
  return OutcomeOf(synchronize == nullptr ? kMissing : synchronize(stream));
}

}  // namespace

bool Wanted(std::string_view api) {
  const Settings& settings = CurrentSettings();
  return settings.on && (settings.api.empty() || settings.api == api);
}

void Planned(Call call, aclnnStatus code, uint64_t workspace_size, aclOpExecutor* executor) {
  const Uncancelled whole;
  if (code == 0) {
    call.workspace_size = workspace_size;
    Keep(executor, std::move(call));
    return;
  }
  const Outcomes outcomes = {OutcomeOf(code), {}, {}};
  const uint64_t number = CountCall();
  if (number == 0) return;
  KeepMessage keep;  // reading memory that is none would put another in its place
  std::vector<Memory> memory = ReadBefore(call, false);
  for (Memory& each : memory) each.after = each.before;
  Store(call, memory, outcomes, number);
}

aclnnStatus Run(const char* api, RunFunction* next, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream) {
  if (next == nullptr) return kMissing;
  const Uncancelled whole;
  std::optional<Call> call;
  uint64_t number = 0;
  const bool on = CurrentSettings().on;
  if (on) {
    Attempt([&] {
      call = Find(executor);
      if (call && call->api == api) number = CountCall();
    });
  }
  if (number == 0) {
    const aclnnStatus code = next(workspace, workspace_size, executor, stream);
    if (code == 0 && on) Spend(executor);
    return code;
  }

  const Outcome earlier = Synchronize(stream);  // of what ran before: the program's to know
  std::vector<Memory> memory;
  bool read = false;
  Attempt([&] {
    KeepMessage keep;
    memory = ReadBefore(*call, true);
    read = true;
  });
  Outcomes outcomes;
  outcomes.phase_2 = OutcomeOf(next(workspace, workspace_size, executor, stream));
  if (outcomes.phase_2->code == 0) {
    Spend(executor);
    outcomes.synchronize = Synchronize(stream);
  }
  if (read) {
    KeepMessage keep;
    Attempt([&] {
      ReadAfter(&memory);
      Store(*call, memory, outcomes, number);
    });
  }
  if (earlier.code != 0) return earlier.code;
  return outcomes.phase_2->code != 0 ? outcomes.phase_2->code : outcomes.synchronize->code;
}

}  // namespace openaclnn::capture
