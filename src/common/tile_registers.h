// SPDX-License-Identifier: Apache-2.0
// The tile registers of processors with AMX, which Linux gives to processes that ask.
#pragma once

namespace openaclnn {

/// Asks at the first call; false where the system refuses, as for a thread whose alternate signal
/// stack is too small for the registers.
bool HasTileRegisters();

}  // namespace openaclnn
