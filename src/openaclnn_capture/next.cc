// SPDX-License-Identifier: Apache-2.0
// Where the functions behind this library are: in those that the loader comes to next, or in one
// that the program itself opened, for which dlsym has to be stood in front of too.
#include "openaclnn_capture/next.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "common/hold_during_fork.h"
#include "common/lasting.h"
#include "common/uncancelled.h"

namespace openaclnn::capture {
namespace {

// noexcept lets dlsym end in a jump.
using Lookup = void* (*)(void*, const char*) noexcept;

/// The C library's dlsym, by the versions that its architectures and ages have.
Lookup FindDlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    void* const found = dlvsym(RTLD_NEXT, "dlsym", version);
    if (found != nullptr) return reinterpret_cast<Lookup>(found);
  }
  return nullptr;
}

Lookup Dlsym() {
  static const Lookup found = FindDlsym();
  return found;
}

/// This library's own function of that name, or null.
void* FindOwn(const char* name) {
  static std::atomic<void*> known{nullptr};  // twice does no harm; see NextFunction
  void* self = known.load(std::memory_order_relaxed);
  if (self == nullptr) {
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(&FindOwn), &info);
    self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    known.store(self, std::memory_order_relaxed);
  }
  return self == nullptr ? nullptr : Dlsym()(self, name);
}

/// Functions that programs found in libraries that they opened.
struct Found {
  std::mutex mutex;
  std::map<std::string, void*, std::less<>> functions;  // found by what is no std::string
};

Found& Opened() { return Lasting<Found>(); }

std::mutex& Mutex() { return Opened().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

/// Notes what the program found; false if there is no memory for it.
bool Note(const char* name, void* function) noexcept try {
  std::lock_guard lock(Opened().mutex);
  Opened().functions.emplace(name, function);
  return true;
} catch (const std::exception&) {
  return false;
}

/// dlsym for a name of the libraries: this library's function, if it has one and they do. Another
/// library's function of that name, a custom operator's, stays itself.
[[gnu::noinline]] void* FindInFront(void* handle, const char* name) noexcept {
  const Uncancelled whole;
  void* const found = Dlsym()(handle, name);
  if (found == nullptr) return nullptr;  // dlerror says why
  void* const own = FindOwn(name);
  void* result = found;
  if (own != nullptr && own != found) {
    void* const next = FindNext(name);
    if (next == nullptr ? Note(name, found) : next == found) result = own;
  }
  dlerror();  // what the searches here left
  return result;
}

}  // namespace

bool IsInFrontOf(const std::string& name) {
  const bool found = FindOwn(name.c_str()) != nullptr;
  dlerror();
  return found;
}

void* FindNext(const char* name) {
  const Uncancelled whole;  // the loader is the whole program's
  {
    std::lock_guard lock(Opened().mutex);
    const auto known = Opened().functions.find(name);
    if (known != Opened().functions.end()) return known->second;
  }
  if (void* const found = Dlsym()(RTLD_NEXT, name)) return found;
  // Opened without RTLD_GLOBAL.
  for (const char* file : {"libopapi.so", "libnnopbase.so", "libascendcl.so"}) {
    void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = Dlsym()(library, name);
    dlclose(library);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace openaclnn::capture

/// Programs that open the libraries, as torch-npu does, find their functions by this. It is not
/// counted for coverage: a count behind its last call would make that one no jump.
extern "C" __attribute__((visibility("default"), no_profile_instrument_function)) void* dlsym(
    void* __restrict handle, const char* __restrict name) noexcept {
  // Those two depend on who asks: RTLD_DEFAULT finds this library by itself, and who asks for the
  // next one stands in front of the libraries too.
  const bool by_caller = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  if (!by_caller && (strncmp(name, "acl", 3) == 0 || strncmp(name, "Acl", 3) == 0)) {
    return openaclnn::capture::FindInFront(handle, name);
  }
  // The C library looks who its caller is: this must be a jump, not a call.
  return openaclnn::capture::Dlsym()(handle, name);
}
