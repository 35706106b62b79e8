// SPDX-License-Identifier: Apache-2.0
// The tile registers of processors with AMX, which Linux gives to processes that ask.
#pragma once

#include <cstdint>

namespace openaclnn {

/// Asks at the first call; false where the system refuses, as for a thread whose alternate signal
/// stack is too small for the registers.
bool HasTileRegisters();

#if defined(__x86_64__)
/// Gives this thread tile registers, all of 16 rows of 64 bytes. No class does and undoes it: what
/// has a destructor would name the C++ runtime's function that handles exceptions.
inline __attribute__((always_inline)) void TakeTileRegisters() {
  struct {
    uint8_t palette = 1, start_row = 0, zeros[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const shapes;
  asm volatile("ldtilecfg %0" : : "m"(shapes));
}

inline __attribute__((always_inline)) void ReleaseTileRegisters() { asm volatile("tilerelease"); }
#endif

}  // namespace openaclnn
