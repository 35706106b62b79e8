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

/// False where no file is known. What it reads goes where another thread unloads the file: only
/// handlers of signals, which must not wait, call it outside WhileFilesStay.
bool FindSymbol(const void* address, Symbol* symbol) noexcept;

/// From now on FindSymbol takes no lock, if the C library can do so.
void PrepareSymbols() noexcept;

/// Does the work while no file is unloaded.
void WhileFilesStay(void (*work)(void* state), void* state) noexcept;
template <class Work>
void WhileFilesStay(Work work) noexcept {
  WhileFilesStay([](void* given) { (*static_cast<Work*>(given))(); }, &work);
}

}  // namespace openaclnn
