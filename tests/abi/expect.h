// SPDX-License-Identifier: Apache-2.0
// Expect: what programs without a test framework say of what is not so.
#pragma once

#include <cstdio>

inline bool g_well = true;

inline void Expect(bool well, const char* what) {
  if (well) return;
  std::fprintf(stderr, "not so: %s\n", what);
  g_well = false;
}
