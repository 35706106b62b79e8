// SPDX-License-Identifier: Apache-2.0
// Symbols, read from the tables that the loader has in memory.
#include "ascendcl/process/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace openaclnn {
namespace {

/// One that is loaded.
struct File {
  ElfW(Addr) base = 0;
  const char* path = nullptr;  // empty of the program
  const ElfW(Dyn) * dynamic = nullptr;
};

/// The symbols that a file exports.
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

Exports ExportsOf(const File& file) {
  Exports exports;
  if (file.dynamic == nullptr) return exports;
  for (const ElfW(Dyn)* entry = file.dynamic; entry->d_tag != DT_NULL; ++entry) {
    // Some loaders leave these as they are in the file.
    const ElfW(Addr) at =
        entry->d_un.d_ptr < file.base ? entry->d_un.d_ptr + file.base : entry->d_un.d_ptr;
    const auto* const numbers = reinterpret_cast<const uint32_t*>(at);
    if (entry->d_tag == DT_SYMTAB) exports.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) exports.names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) exports.count = CountByGnuHash(numbers);
    if (entry->d_tag == DT_HASH && exports.count == 0) exports.count = numbers[1];
  }
  if (exports.symbols == nullptr || exports.names == nullptr) exports.count = 0;
  return exports;
}

void FindFunction(const File& file, Symbol* symbol) {
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

#if __GLIBC_PREREQ(2, 35)
// Not linked: libraries that need it are loaded by no older C library, which does without.
std::atomic<decltype(&_dl_find_object)> g_find{nullptr};
#endif

struct Search {
  ElfW(Addr) address = 0;
  File found;
};

bool Holds(const dl_phdr_info& file, ElfW(Addr) address) {
  for (ElfW(Half) i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - file.dlpi_addr - part.p_vaddr < part.p_memsz)
      return true;
  }
  return false;
}

int LookInto(dl_phdr_info* file, size_t /*bytes*/, void* given) {
  auto& search = *static_cast<Search*>(given);
  if (!Holds(*file, search.address)) return 0;
  search.found = {file->dlpi_addr, file->dlpi_name, nullptr};
  for (ElfW(Half) i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file->dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    search.found.dynamic = reinterpret_cast<const ElfW(Dyn)*>(file->dlpi_addr + part.p_vaddr);
  }
  return 1;
}

bool FindFile(const void* address, File* file) {
#if __GLIBC_PREREQ(2, 35)
  if (const auto find = g_find.load(std::memory_order_acquire)) {
    dl_find_object found = {};
    if (find(const_cast<void*>(address), &found) != 0) return false;
    const link_map& known = *found.dlfo_link_map;
    *file = {known.l_addr, known.l_name, known.l_ld};
    return true;
  }
#endif
  Search search = {reinterpret_cast<ElfW(Addr)>(address), {}};
  if (dl_iterate_phdr(LookInto, &search) != 1) return false;
  *file = search.found;
  return true;
}

}  // namespace

void PrepareSymbols() noexcept {
#if __GLIBC_PREREQ(2, 35)
  void* const find = dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35");
  g_find.store(reinterpret_cast<decltype(&_dl_find_object)>(find), std::memory_order_release);
#endif
}

bool FindSymbol(const void* address, Symbol* symbol) noexcept {
  File file;
  if (!FindFile(address, &file)) return false;
  const bool program = file.path == nullptr || *file.path == '\0';
  *symbol = {};
  symbol->file = file.dynamic;
  symbol->path = program ? program_invocation_name : file.path;
  symbol->in_file = reinterpret_cast<uintptr_t>(address) - file.base;
  FindFunction(file, symbol);
  return true;
}

// The loader's list of files is locked while it is walked.
void WhileFilesStay(void (*work)(void* state), void* state) noexcept {
  struct Call {
    void (*work)(void* state);
    void* state;
  } call = {work, state};
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* given) {
        const auto& [function, argument] = *static_cast<Call*>(given);
        function(argument);
        return 1;  // no more files
      },
      &call);
}

}  // namespace openaclnn
