// SPDX-License-Identifier: Apache-2.0
// Ends a program whose call has failed, with what the runtime says.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

inline void Require(int code) {
  if (code == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%d: %s\n", code, message != nullptr ? message : "");
  std::exit(1);
}
