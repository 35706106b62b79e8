// SPDX-License-Identifier: Apache-2.0
// The way of declarations to libascendcl.so.
#include "nnopbase/access.h"

// A libascendcl.so of another version may lack it: then nothing is declared.
extern "C" __attribute__((weak)) const OpenaclnnCheck* openaclnn_check(uint32_t version);

namespace openaclnn {
namespace {

constexpr uint32_t kNever = 0;
constexpr OpenaclnnCheck kUnwatched = {
    .watching_races = &kNever,
    .declare = [](const OpenaclnnAccess*, uint32_t) {},
};

const OpenaclnnCheck& Check() {
  static const OpenaclnnCheck* const check =
      openaclnn_check != nullptr ? openaclnn_check(OPENACLNN_CHECK_INTERFACE) : nullptr;
  return check != nullptr ? *check : kUnwatched;
}

}  // namespace

const uint32_t* const kWatchingRaces = Check().watching_races;

void DeclaredAccesses::Declare() const {
  static constexpr OpenaclnnAccess kUnknown = {};
  if (!accesses_) return Check().declare(&kUnknown, 1);
  Check().declare(accesses_->data(), static_cast<uint32_t>(accesses_->size()));
}

void DeclaredAccesses::Undeclare() { Check().declare(nullptr, 0); }

}  // namespace openaclnn
