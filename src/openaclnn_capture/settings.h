// SPDX-License-Identifier: Apache-2.0
// Which calls are to be captured, and what is said when that fails.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace openaclnn::capture {

/// Code of a function that the libraries behind this one do not have (ACLNN_ERR_INNER).
inline constexpr int kMissing = 561000;

/// The settings of the environment, read once.
struct Settings {
  bool on = false;
  std::string folder;                     // OPENACLNN_CAPTURE
  std::string api;                        // OPENACLNN_CAPTURE_OPERATOR; empty: every operator
  uint64_t first = 1, last = UINT64_MAX;  // OPENACLNN_CAPTURE_CALL, counted from 1
};

/// Nothing is captured while there is no memory to read it.
const Settings& CurrentSettings() noexcept;

/// One line on standard error: over the vendor's libraries there is no log of ours.
void Say(const std::string& text) noexcept;

/// The program must not fail because capturing does.
template <class Work>
void Attempt(const Work& work) noexcept {
  try {
    work();
  } catch (const std::exception& failure) {
    Say(failure.what());
  }
}

}  // namespace openaclnn::capture
