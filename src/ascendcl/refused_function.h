// SPDX-License-Identifier: Apache-2.0
// C++ functions that a library exports because clients link them, and that only refuse.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "ascendcl/unsupported.h"

namespace openaclnn {

/// The name of a symbol without arguments, as in "ge::Session::AddGraph".
inline std::string FunctionOf(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  std::string function(name == nullptr ? symbol : name.get());
  return function.substr(0, function.find('('));
}

/// Most of these functions have no place for a code in their result, so this throws. what() names
/// the function, and so does the thread's recent error message.
/// @throws std::runtime_error always.
[[noreturn]] inline void Refuse(const char* symbol) {
  const std::string function = FunctionOf(symbol);
  (void)Unsupported(function.c_str());
  throw std::runtime_error(function +
                           " is not supported by openaclnn, which compiles no graphs: run "
                           "operators one by one, as PyNative mode does");
}

}  // namespace openaclnn

/// Defines the exported function of a mangled name, which refuses whatever its arguments.
#define REFUSED(symbol) \
  extern "C" ACL_FUNC_VISIBILITY void symbol() { openaclnn::Refuse(#symbol); }
