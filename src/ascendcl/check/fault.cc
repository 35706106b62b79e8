// SPDX-License-Identifier: Apache-2.0
// Reports of host accesses to device memory, from a handler of SIGSEGV.
//
// A handler may interrupt anything: it allocates nothing and waits for no lock.
#include "ascendcl/check/fault.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <string_view>

#include "ascendcl/check/standard_error.h"
#include "ascendcl/memory.h"

namespace openaclnn {
namespace {

std::mutex g_mutex;  // guards g_watching, and g_previous while nothing is watched
bool g_watching = false;
struct sigaction g_previous;

/// A text of bounded length; what is beyond it is dropped.
class FixedText {
 public:
  FixedText& operator<<(std::string_view text) {
    const size_t n = std::min(text.size(), sizeof(text_) - length_);
    std::copy_n(text.data(), n, text_ + length_);
    length_ += n;
    return *this;
  }
  FixedText& operator<<(uint64_t number) { return Number(number, 10); }
  FixedText& operator<<(const char* text) { return *this << std::string_view(text); }
  FixedText& operator<<(const void* address) {
    return (*this << std::string_view("0x")).Number(reinterpret_cast<uintptr_t>(address), 16);
  }

  std::string_view view() const { return {text_, length_}; }

 private:
  FixedText& Number(uint64_t number, int base) {
    char digits[20];  // of 2^64 - 1
    const auto end = std::to_chars(digits, digits + sizeof(digits), number, base).ptr;
    return *this << std::string_view(digits, static_cast<size_t>(end - digits));
  }

  char text_[1024];
  size_t length_ = 0;
};

const char* Verb([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrites = 2;  // of a page fault's error code
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & kWrites) != 0 ? "writes" : "reads";
#else
  return "reads or writes";
#endif
}

void Describe(const void* address, const Memory::Place& place, const char* verb, FixedText* text) {
  *text << "openaclnn: the host " << verb << " device memory at " << address << "\n  where: ";
  if (place.begin == nullptr) {
    *text << "no allocation is there now; it was freed, or was never made\n";
  } else {
    *text << "byte " << place.offset << " of the " << place.bytes << " that "
          << (place.reserved ? "were reserved at " : "were allocated at ") << place.begin
          << " on device " << uint64_t{place.device_id} << "\n";
  }
  *text << "  fix:   copy it with aclrtMemcpy or aclrtMemcpyAsync; OPENACLNN_HOST_ACCESS=1 lets "
           "the host\n         use device memory, which no device does\n";
}

void SetDefault(int signal) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

/// The handler that the program had, or what happens without one.
void Continue(int signal, siginfo_t* info, void* context) {
  if ((g_previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) SetDefault(signal);
  if ((g_previous.sa_flags & SA_SIGINFO) != 0)
    return g_previous.sa_sigaction(signal, info, context);
  const bool fault = info->si_code > 0;  // not sent by a process, which may be ignored
  if (g_previous.sa_handler == SIG_IGN && !fault) return;
  if (g_previous.sa_handler != SIG_IGN && g_previous.sa_handler != SIG_DFL) {
    return g_previous.sa_handler(signal);
  }
  SetDefault(signal);
  if (!fault) raise(signal);  // a fault comes again by itself
}

void OnFault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  Memory::Place place;
  if (info->si_code > 0 && Memory::Get().TryFind(info->si_addr, &place)) {
    FixedText text;
    Describe(info->si_addr, place, Verb(context), &text);
    WriteToStandardError(text.view());
  }
  errno = error;
  Continue(signal, info, context);
}

}  // namespace

void WatchFaults() {
  std::lock_guard lock(g_mutex);
  if (g_watching) return;
  (void)Memory::Get();  // made here, not in the handler
  if (sigaction(SIGSEGV, nullptr, &g_previous) != 0) return;
  // The program's handler runs under the mask that it asked for.
  struct sigaction ours = g_previous;
  ours.sa_sigaction = OnFault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (g_previous.sa_flags & (SA_NODEFER | SA_RESTART));
  g_watching = sigaction(SIGSEGV, &ours, nullptr) == 0;
}

void UnwatchFaults() {
  std::lock_guard lock(g_mutex);
  struct sigaction now = {};
  if (!g_watching || sigaction(SIGSEGV, nullptr, &now) != 0) return;
  // A handler above ours may call it still, and would be called by it if it were set again.
  if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != OnFault) return;
  if (sigaction(SIGSEGV, &g_previous, nullptr) == 0) g_watching = false;
}

}  // namespace openaclnn
