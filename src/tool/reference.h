// SPDX-License-Identifier: Apache-2.0
// Tools of the rooms' reference.cc: C functions that the command-line tool calls.
//
// Each gives the value of an output and, where its terms are rounded, their magnitude: the formula
// over absolute values. A null magnitude is not wanted. Numbers are int64_t or double throughout;
// the caller has checked values that are positions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

/// Begins the definition of a function that the tool finds by its name.
#define OPENACLNN_REFERENCE extern "C" __attribute__((visibility("default")))

namespace openaclnn::reference {

/// Nonzero instead of an exception.
template <class Body>
int Guard(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

inline std::vector<double> Absolute(const double* values, int64_t count) {
  std::vector<double> absolute(static_cast<size_t>(count));
  for (size_t i = 0; i < absolute.size(); ++i) absolute[i] = std::abs(values[i]);
  return absolute;
}

}  // namespace openaclnn::reference
