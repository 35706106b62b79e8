// SPDX-License-Identifier: Apache-2.0
// libge_runner.so, with which graphs are compiled and run: the C++ functions that clients link,
// which refuse but for the first. Clients begin with it also where they run operators one by one.
#include <cstdint>

#include "ascendcl/refused_function.h"
#include "refused.inc"

/// ge::GEInitialize(options): there is nothing to make ready, and nobody has options for what
/// refuses.
extern "C" ACL_FUNC_VISIBILITY uint32_t
_ZN2ge12GEInitializeERKSt3mapISsSsSt4lessISsESaISt4pairIKSsSsEEE(const void*) {
  return 0;
}

/// ge::GEFinalize(), which ends what that one began.
extern "C" ACL_FUNC_VISIBILITY uint32_t _ZN2ge10GEFinalizeEv() { return 0; }

/// ge::Session::~Session: there is no session.
extern "C" ACL_FUNC_VISIBILITY void _ZN2ge7SessionD1Ev() {}
