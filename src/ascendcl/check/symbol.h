// SPDX-License-Identifier: Apache-2.0
// Symbols: which file and which exported function an address of code lies in.
#pragma once

#include <cstdint>
#include <string_view>

namespace openaclnn {

/// Names live as long as the file is loaded.
struct Symbol {
  const void* file = nullptr;  // which of those that are loaded
  std::string_view path;
  uint64_t in_file = 0;            // the address, as debuggers count in the file
  const char* function = nullptr;  // null where none that is exported is there
  uint64_t in_function = 0;
};

/// False where no file is known. For handlers of signals too.
bool FindSymbol(const void* address, Symbol* symbol) noexcept;

/// From now on FindSymbol takes no lock, if the C library can do so.
void PrepareSymbols() noexcept;

}  // namespace openaclnn
