// SPDX-License-Identifier: Apache-2.0
// The way of declarations to libascendcl.so.
#include "client/check.h"

// A libascendcl.so of another version may lack it: then nothing is declared.
extern "C" __attribute__((weak)) const OpenaclnnCheck* openaclnn_check(uint32_t version);

namespace openaclnn {
namespace {

constexpr uint32_t kNever = 0;
constexpr OpenaclnnCheck kUnwatched = {
    .watching_races = &kNever,
    .watching_workspaces = &kNever,
    .declare = [](const OpenaclnnAccess*, uint32_t) {},
    .has_other_addresses = [](const OpenaclnnPin*) { return 0; },
    .tell_left = [](const OpenaclnnLeft*) {},
    .tell_misaligned = [](const char*, const char*, const void*, uint64_t, uint64_t) {},
    .tell_shared_workspace = [](const char*, const char*, const void*, uint64_t) {},
    .refused = [](const char*, int, const char*, const void*, uint64_t) {},
    .bad_value = [](const char*, int, const char*, const OpenaclnnPin*) {},
    .begin_turn = [](OpenaclnnTurn*) -> const char* { return nullptr; },
    .end_turn = [](OpenaclnnTurn*) {},
    .forget_touches = [](const void*, uint64_t) {},
    .show_executors = [](void (*)(void (*)(const void*, const char*))) {},
};

}  // namespace

const OpenaclnnCheck& Check() {
  static const OpenaclnnCheck* const check =
      openaclnn_check != nullptr ? openaclnn_check(OPENACLNN_CHECK_INTERFACE) : nullptr;
  return check != nullptr ? *check : kUnwatched;
}

const uint32_t* const kWatchingRaces = Check().watching_races;

void DeclaredAccesses::Declare() const {
  static constexpr OpenaclnnAccess kUnknown = {};
  if (!accesses_) return Check().declare(&kUnknown, 1);
  Check().declare(accesses_->data(), static_cast<uint32_t>(accesses_->size()));
}

void DeclaredAccesses::Undeclare() { Check().declare(nullptr, 0); }

}  // namespace openaclnn
