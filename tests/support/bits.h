// SPDX-License-Identifier: Apache-2.0
// Settings of the machine that may not change a result, and how to run under each of them.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/device.h"

namespace openaclnn::test {

/// Numbers of threads, and instruction sets.
inline std::vector<std::vector<Variable>> BitSettings() {
  std::vector<std::vector<Variable>> settings;
  for (const char* threads : {"1", "2", "3", "7"}) {
    settings.push_back({{"OPENACLNN_NUM_THREADS", threads}});
  }
  for (const char* simd : {"baseline", "avx2", "avx512", "avx512bf16", "amx"}) {
    settings.push_back({{"OPENACLNN_SIMD", simd}, {"OPENACLNN_NUM_THREADS", "2"}});
  }
  return settings;
}

/// Whether products are fused with sums under a setting, by its name: the baseline has no FMA, and
/// bits of its own where there is any.
inline bool IsFused(std::string_view setting) { return setting != "OPENACLNN_SIMD=baseline"; }

/// Calls body(name, device) under each setting that this machine has; the first one twice.
template <class Body>
void UnderEachSetting(Body&& body) {
  std::vector<std::vector<Variable>> settings = BitSettings();
  settings.push_back(settings.front());
  for (const std::vector<Variable>& setting : settings) {
    const std::string name = std::string(setting[0].name) + "=" + setting[0].value;
    std::unique_ptr<Device> device;
    try {
      device = std::make_unique<Device>(setting);
    } catch (const std::runtime_error& error) {
      const std::string why = error.what();
      if (why.find("expected one that this machine has") == std::string::npos) throw;
      continue;
    }
    body(name, *device);
  }
}

}  // namespace openaclnn::test
