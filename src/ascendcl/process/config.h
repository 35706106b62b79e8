// SPDX-License-Identifier: Apache-2.0
// Configuration by the environment, read once at aclInit or at the first call that needs it.
#pragma once

#include <cstdint>

#include "ascendcl/product.h"
#include "common/status.h"

namespace openaclnn {

/// How thoroughly the runtime looks for what a device leaves undefined.
enum class CheckLevel { kOff, kFast, kFull };

struct Config {
  const Product* product = nullptr;              // OPENACLNN_SOC
  OpenaclnnSimd simd = OPENACLNN_SIMD_BASELINE;  // OPENACLNN_SIMD, else the fastest
  uint32_t num_threads = 1;              // OPENACLNN_NUM_THREADS: threads that compute at once
  uint32_t all_devices = 1;              // OPENACLNN_DEVICE_COUNT
  uint32_t num_devices = 1;              // as many as ASCEND_RT_VISIBLE_DEVICES leaves
  uint64_t device_memory = 0;            // OPENACLNN_DEVICE_MEMORY, in bytes, for each device
  uint64_t pinned_memory = 0;            // the most pinned memory of the host, in bytes
  CheckLevel check = CheckLevel::kFast;  // OPENACLNN_CHECK
  bool lenient_products = false;         // OPENACLNN_PRODUCTS: no product refuses an operator
  bool guard_pages = false;      // OPENACLNN_GUARD_PAGES or full: allocations end at guard pages
  bool launch_blocking = false;  // ASCEND_LAUNCH_BLOCKING: phase 2 waits for its task
  bool host_access = false;      // OPENACLNN_HOST_ACCESS: device addresses work on the host
};

/// The instruction set for a machine whose best is `best`. Intel's dot products of BFLOAT16 are
/// slower than the FMAs that give the same bits: one core of a Sapphire Rapids did 84 GFLOP/s of
/// them and 142 of FMAs, ConvTbc of T 256 B 16 512>1024 L 3 took 176 ms with and 99 without. On a
/// Zen 5 they do twice what FMAs do. Tile registers do ten times as much.
constexpr OpenaclnnSimd FastestSimd(OpenaclnnSimd best, bool intel) {
  return intel && best == OPENACLNN_SIMD_AVX512_BF16 ? OPENACLNN_SIMD_AVX512 : best;
}

/// As OPENACLNN_SIMD spells it.
const char* SimdName(OpenaclnnSimd simd);

/// Reads the environment. A value that cannot be used is an error that names the variable, what it
/// holds and what was expected.
Status ReadConfig(Config* config);

/// The configuration in force; read now if it has not been yet.
Status CurrentConfig(Config* config);

/// Whether mistakes are told under it: not with OPENACLNN_CHECK=off, nor where it is refused.
bool MistakesAreTold();

/// The product of that configuration, for every call of an operator: no lock once it was read.
Status ConfiguredProduct(const Product** product);
/// The baseline where the environment cannot be used.
OpenaclnnSimd ConfiguredSimd();
/// One where the environment cannot be used.
uint32_t ConfiguredThreads();

/// 107001 unless the number is that of a device.
Status CheckDeviceId(const char* operand, int32_t device_id);

/// Whether refused calls are reported: only where OPENACLNN_REPORT_API_ERRORS is explicit and
/// OPENACLNN_CHECK is not off. Most programs look at their codes, and tests provoke refusals on
/// purpose. Reading the configuration changes the answer, even if the rest of it is refused. Until
/// then the answer is that of the environment in which the library was loaded.
bool ReportsApiErrors();

/// Reads the environment anew for aclInit; the devices keep what they have.
Status ReloadConfig();

}  // namespace openaclnn
