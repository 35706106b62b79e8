// SPDX-License-Identifier: Apache-2.0
// Functions that GCC 12's headers and libstdc++ need and glibc 2.27 lacks, for libraries that load
// there (OPENACLNN_GLIBC).
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

extern "C" {

// 2.32: shared_ptr counts without atomics while it is set; it is not.
char __libc_single_threaded = 0;

// 2.33: until then inline functions that name the layout of struct stat.
int __xstat(int version, const char* path, struct stat* result);
int __lxstat(int version, const char* path, struct stat* result);
int __fxstat(int version, int file, struct stat* result);

#ifdef __x86_64__
constexpr int kLayout = 1;
#else
constexpr int kLayout = 0;
#endif

int stat(const char* path, struct stat* result) { return __xstat(kLayout, path, result); }
int lstat(const char* path, struct stat* result) { return __lxstat(kLayout, path, result); }
int fstat(int file, struct stat* result) noexcept { return __fxstat(kLayout, file, result); }
int fstat64(int file, struct stat64* result) noexcept {
  static_assert(sizeof(struct stat) == sizeof(struct stat64));
  return __fxstat(kLayout, file, reinterpret_cast<struct stat*>(result));
}

// 2.28.
int statx(int folder, const char* path, int flags, unsigned what, struct statx* result) noexcept {
  return static_cast<int>(syscall(SYS_statx, folder, path, flags, what, result));
}

// 2.30.
pid_t gettid() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

// 2.30: std::condition_variable waits by the steady clock and looks at it again afterwards, so that
// a wall clock that is set meanwhile only wakes it early or late, as with older compilers.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  const int64_t left = (until->tv_sec - now.tv_sec) * kSecond + until->tv_nsec - now.tv_nsec;
  const int64_t end = wall.tv_sec * kSecond + wall.tv_nsec + left;
  wall = {.tv_sec = end / kSecond, .tv_nsec = end % kSecond};
  return pthread_cond_timedwait(condition, mutex, &wall);
}

// 2.36: std::random_device.
uint32_t arc4random() noexcept {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) continue;
  return value;
}

}  // extern "C"
