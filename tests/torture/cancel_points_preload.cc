// SPDX-License-Identifier: Apache-2.0
// Cancellation points of the C library for a process that preloads them: it ends with a line where
// a thread of the program's could be cancelled inside the libraries, but in the waits that may be.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::array<std::string_view, 7> kLibraries = {
    "libascendcl.so", "libnnopbase.so",         "libopapi.so", "libhccl.so", "libacl_",
    "libhcomm.so",    "libopenaclnn_capture.so"};
constexpr std::array<std::string_view, 6> kBetween = {
    "libcancel_points", "libc.so.", "libstdc++.so.", "libgcc_s.so.", "libm.so.", "ld-linux"};
constexpr std::array<std::string_view, 7> kWaits = {
    "aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout",
    "aclrtSynchronizeDevice", "aclrtSynchronizeDeviceWithTimeout",
    "aclrtSynchronizeEvent",  "aclrtSynchronizeEventWithTimeout",
    "aclrtProcessReport"};

enum class Place { kLibrary, kBetween, kProgram };

struct Frame {
  explicit Frame(void* address) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
    const std::string_view path = info.dli_fname;
    file = path.substr(path.rfind('/') + 1);
    if (info.dli_sname != nullptr) function = info.dli_sname;
    const auto begins = [this](std::string_view name) { return file.starts_with(name); };
    if (std::any_of(kLibraries.begin(), kLibraries.end(), begins)) place = Place::kLibrary;
    if (std::any_of(kBetween.begin(), kBetween.end(), begins)) place = Place::kBetween;
  }

  std::string_view file, function;  // the function if its name is to be seen
  Place place = Place::kProgram;
};

// Of the calling thread.
thread_local bool t_looking = false;
thread_local bool t_of_library = false;  // which the program cannot cancel

/// What called the point, from within; the libraries' functions alone.
struct Caller {
  Caller() {
    // Not on the stack, which a child of clone may have 4 KiB of.
    static thread_local std::array<void*, 64> frames;
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    for (int i = 0; i < count; ++i) {
      const Frame frame(frames[static_cast<size_t>(i)]);
      if (frame.place == Place::kBetween && !found) continue;
      if (frame.place == Place::kProgram) break;
      found = true;
      // The outermost is the function that the program called.
      if (frame.place == Place::kLibrary) outermost = frame;
    }
  }

  bool found = false;
  Frame outermost{nullptr};
};

/// Before a cancellation point, which `from` has called.
void Look(std::string_view point, void* from) {
  if (t_looking || t_of_library) return;
  t_looking = true;
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  if (state == PTHREAD_CANCEL_ENABLE && Frame(from).place != Place::kProgram) {
    const Caller caller;
    const bool waits =
        point.starts_with("pthread_cond_") &&
        std::find(kWaits.begin(), kWaits.end(), caller.outermost.function) != kWaits.end();
    if (caller.found && !waits) {
      dprintf(STDERR_FILENO, "cancel_points: %.*s in %.*s of %.*s ends a cancelled thread\n",
              static_cast<int>(point.size()), point.data(),
              static_cast<int>(caller.outermost.function.size()), caller.outermost.function.data(),
              static_cast<int>(caller.outermost.file.size()), caller.outermost.file.data());
      abort();
    }
  }
  pthread_setcancelstate(state, nullptr);
  t_looking = false;
}

template <class Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* RunOfLibrary(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  t_of_library = true;
  return start.function(start.argument);
}

mode_t Mode(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define NEXT(name) static const auto next = Next<decltype(&name)>(#name)
#define POINT(result, name, parameters, arguments) \
  result name parameters {                         \
    NEXT(name);                                    \
    Look(#name, __builtin_return_address(0));      \
    return next arguments;                         \
  }
#define POINT_WITH_MODE(name, parameters, arguments) \
  int name parameters {                              \
    NEXT(name);                                      \
    Look(#name, __builtin_return_address(0));        \
    va_list rest;                                    \
    va_start(rest, flags);                           \
    const mode_t mode = Mode(flags, rest);           \
    va_end(rest);                                    \
    return next arguments;                           \
  }

extern "C" {

POINT(ssize_t, read, (int fd, void* to, size_t bytes), (fd, to, bytes))
POINT(ssize_t, write, (int fd, const void* from, size_t bytes), (fd, from, bytes))
POINT(ssize_t, pread, (int fd, void* to, size_t bytes, off_t at), (fd, to, bytes, at))
POINT(ssize_t, pwrite, (int fd, const void* from, size_t bytes, off_t at), (fd, from, bytes, at))
POINT(ssize_t, writev, (int fd, const iovec* parts, int count), (fd, parts, count))
POINT(int, close, (int fd), (fd))
POINT(int, fsync, (int fd), (fd))
POINT(int, poll, (pollfd * all, nfds_t count, int timeout), (all, count, timeout))
POINT(int, connect, (int fd, const sockaddr* to, socklen_t bytes), (fd, to, bytes))
POINT(int, accept4, (int fd, sockaddr* from, socklen_t* bytes, int flags), (fd, from, bytes, flags))
POINT(ssize_t, recv, (int fd, void* to, size_t bytes, int flags), (fd, to, bytes, flags))
POINT(ssize_t, send, (int fd, const void* from, size_t bytes, int flags), (fd, from, bytes, flags))
POINT(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), (fd, message, flags))
POINT(int, nanosleep, (const timespec* time, timespec* left), (time, left))
POINT(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left),
      (clock, flags, time, left))
POINT(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options))
POINT(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* time),
      (set, info, time))
POINT(int, pthread_join, (pthread_t thread, void** result), (thread, result))
POINT(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex),
      (condition, mutex))
POINT(int, pthread_cond_timedwait,
      (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
      (condition, mutex, until))
POINT(int, pthread_cond_clockwait,
      (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until),
      (condition, mutex, clock, until))
POINT(FILE*, fopen64, (const char* path, const char* mode), (path, mode))
POINT(int, fclose, (FILE * file), (file))
POINT(int, fflush, (FILE * file), (file))
POINT(size_t, fread, (void* to, size_t size, size_t count, FILE* file), (to, size, count, file))
POINT(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* file),
      (from, size, count, file))
POINT(int, fputs, (const char* text, FILE* file), (text, file))
POINT(int, fputc, (int letter, FILE* file), (letter, file))
POINT(int, fgetc, (FILE * file), (file))
POINT(int, getc, (FILE * file), (file))
POINT(DIR*, opendir, (const char* path), (path))
POINT(dirent*, readdir, (DIR * folder), (folder))
POINT(int, closedir, (DIR * folder), (folder))
POINT(void*, dlopen, (const char* file, int flags), (file, flags))
POINT(int, dlclose, (void* library), (library))
POINT_WITH_MODE(open, (const char* path, int flags, ...), (path, flags, mode))
POINT_WITH_MODE(open64, (const char* path, int flags, ...), (path, flags, mode))
POINT_WITH_MODE(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  NEXT(pthread_create);
  if (!Caller().found) return next(thread, attributes, function, argument);
  auto* const start = new Start{function, argument};
  const int code = next(thread, attributes, RunOfLibrary, start);
  if (code != 0) delete start;
  return code;
}
}
