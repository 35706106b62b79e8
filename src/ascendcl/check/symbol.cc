// SPDX-License-Identifier: Apache-2.0
// Symbols, read from the tables that the loader has in memory.
#include "ascendcl/check/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cerrno>

#if __GLIBC_PREREQ(2, 35)
// Weak: an older C library does without.
extern "C" __attribute__((weak)) int _dl_find_object(void* address, dl_find_object* found) noexcept;
#endif

namespace openaclnn {
namespace {

/// What a file exports.
struct Exports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  uint32_t count = 0;
};

/// The table ends with the last chain.
uint32_t CountByGnuHash(const uint32_t* table) {
  const uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
  const uint32_t* const bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* const chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last < first) return 0;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

Exports ExportsOf(const link_map& file) {
  Exports exports;
  if (file.l_ld == nullptr) return exports;
  for (const ElfW(Dyn)* entry = file.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // Some loaders leave these as they are in the file.
    const ElfW(Addr) at =
        entry->d_un.d_ptr < file.l_addr ? entry->d_un.d_ptr + file.l_addr : entry->d_un.d_ptr;
    const auto* const numbers = reinterpret_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_SYMTAB) exports.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) exports.names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) exports.count = CountByGnuHash(numbers);
    if (entry->d_tag == DT_HASH && exports.count == 0) exports.count = numbers[1];
  }
  if (exports.symbols == nullptr || exports.names == nullptr) exports.count = 0;
  return exports;
}

void FindFunction(const link_map& file, Symbol* symbol) {
  const Exports exports = ExportsOf(file);
  for (uint32_t i = 0; i < exports.count; ++i) {
    const ElfW(Sym)& each = exports.symbols[i];
    const uint64_t offset = symbol->in_file - each.st_value;
    if (ELF64_ST_TYPE(each.st_info) != STT_FUNC || each.st_shndx == SHN_UNDEF) continue;
    if (offset >= each.st_size) continue;
    symbol->function = exports.names + each.st_name;
    symbol->in_function = offset;
    return;
  }
}

const link_map* FileAt(const void* address) {
#if __GLIBC_PREREQ(2, 35)
  dl_find_object found = {};
  if (_dl_find_object != nullptr) {
    const bool known = _dl_find_object(const_cast<void*>(address), &found) == 0;
    return known ? found.dlfo_link_map : nullptr;
  }
#endif
  // It may wait for who opens a file.
  Dl_info unused = {};
  link_map* file = nullptr;
  const int known = dladdr1(address, &unused, reinterpret_cast<void**>(&file), RTLD_DL_LINKMAP);
  return known != 0 ? file : nullptr;
}

}  // namespace

bool FindSymbol(const void* address, Symbol* symbol) noexcept {
  const link_map* const file = FileAt(address);
  if (file == nullptr) return false;
  const bool program = file->l_name == nullptr || *file->l_name == '\0';
  *symbol = {};
  symbol->file = file;
  symbol->path = program ? program_invocation_name : file->l_name;
  symbol->in_file = reinterpret_cast<uintptr_t>(address) - file->l_addr;
  FindFunction(*file, symbol);
  return true;
}

}  // namespace openaclnn
