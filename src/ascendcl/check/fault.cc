// SPDX-License-Identifier: Apache-2.0
// Reports of accesses that fault, from a handler of SIGSEGV: by the host to device memory, by a
// task beside an allocation or to freed memory.
//
// A handler may interrupt anything: it allocates nothing and waits for no lock.
#include "ascendcl/check/fault.h"

#include <signal.h>
#include <ucontext.h>

#include <cerrno>
#include <mutex>

#include "ascendcl/memory/memory.h"
#include "ascendcl/memory/place.h"
#include "ascendcl/process/symbol.h"
#include "ascendcl/report/report.h"
#include "ascendcl/report/running_task.h"

namespace openaclnn {
namespace {

std::mutex g_mutex;  // guards g_watching, and g_previous while nothing is watched
bool g_watching = false;
struct sigaction g_previous;

const char* Verb([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWrites = 2;  // of a page fault's error code
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & kWrites) != 0 ? "writes" : "reads";
#else
  return "reads or writes";
#endif
}

bool Inside(const Place& place) {
  return place.offset >= 0 && static_cast<uint64_t>(place.offset) < place.bytes;
}

const char* Fix(const Place& place) {
  if (place.begin == nullptr || place.freed_by != nullptr) {
    return "free memory when nothing uses it any more";
  }
  if (!Inside(place)) return "look for a size, a stride or an index that leaves the allocation";
  return "copy it with aclrtMemcpy or aclrtMemcpyAsync; OPENACLNN_HOST_ACCESS=1 lets the host\n"
         "use device memory, which no device does";
}

void Tell(const void* address, const Place& place, const char* verb) {
  char titles[256], doings[256], places[1024];
  BoundedText title(titles), what(doings), where(places);
  const char* task = place.kernel ? RunningTask() : nullptr;
  title << (task != nullptr ? task : place.kernel ? "a task" : "the host") << " " << verb;
  if (place.kernel || place.location == Location::kPinnedHost) {
    const bool beside = place.begin != nullptr && place.freed_by == nullptr && !Inside(place);
    title << (beside ? " beside" : " freed");
  }
  title << (place.location == Location::kDevice ? " device" : " pinned") << " memory at "
        << address;
  if (place.freed_by != nullptr && place.last_task != nullptr) {
    what << "the last task that used the allocation is " << place.last_task;
  }
  WritePlace(address, 1, place, &where);
  ReportFromHandler({.check = Check::kMemcheck,
                     .title = title.view(),
                     .what = what.view(),
                     .where = where.view(),
                     .fix = Fix(place),
                     .code = 0,
                     .severity = Severity::kError});
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
  Place place;
  // Live pinned memory is the host's, and what it does there its own business.
  if (info->si_code > 0 && Memory::Get().TryFind(info->si_addr, &place) &&
      (place.location == Location::kDevice || place.freed_by != nullptr || !Inside(place))) {
    Tell(info->si_addr, place, Verb(context));
  }
  errno = error;
  Continue(signal, info, context);
}

}  // namespace

void WatchFaults() {
  std::lock_guard lock(g_mutex);
  if (g_watching) return;
  (void)Memory::Get();  // made here, not in the handler
  PrepareSymbols();
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
