// SPDX-License-Identifier: Apache-2.0
// Quiet writes: all of a text, at a place, or an error.
#include "common/write_quietly.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace {
// What the next call of write takes; all of it if negative.
thread_local ssize_t t_takes = -1;
}  // namespace

// Of this program, in front of the C library's.
extern "C" ssize_t write(int descriptor, const void* bytes, size_t size) {
  const ssize_t takes = std::exchange(t_takes, -1);
  if (takes == 0) return 0;
  return syscall(SYS_write, descriptor, bytes, takes > 0 ? static_cast<size_t>(takes) : size);
}

namespace openaclnn {
namespace {

class WriteQuietlyTest : public testing::Test {
 protected:
  ~WriteQuietlyTest() override { close(file_); }

  std::string Content() const {
    char bytes[64];
    const ssize_t read = pread(file_, bytes, sizeof(bytes), 0);
    return {bytes, static_cast<size_t>(read < 0 ? 0 : read)};
  }

  const int file_ = memfd_create("written", MFD_CLOEXEC);
};

TEST_F(WriteQuietlyTest, WritesWhatTheFirstCallLeaves) {
  t_takes = 2;
  EXPECT_TRUE(WriteQuietly(file_, "abcde"));
  EXPECT_EQ(Content(), "abcde");
  EXPECT_TRUE(WriteQuietly(file_, "xy", 3));
  EXPECT_EQ(Content(), "abcxy");
}

TEST_F(WriteQuietlyTest, GivesUpWhatTakesNothing) {
  t_takes = 0;
  EXPECT_FALSE(WriteQuietly(file_, "abcde"));
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(Content(), "");
  EXPECT_FALSE(WriteQuietly(-1, "abcde"));
  EXPECT_EQ(errno, EBADF);
}

TEST_F(WriteQuietlyTest, ResizesOrSaysWhyNot) {
  EXPECT_TRUE(ResizeQuietly(file_, 3));
  EXPECT_EQ(Content(), std::string(3, '\0'));
  EXPECT_FALSE(ResizeQuietly(file_, -1));
  EXPECT_EQ(errno, EINVAL);
}

bool Has(const sigset_t& set) { return sigismember(&set, SIGPIPE) == 1; }

// Its own signal, which waits because the program has blocked it, stays; another does not come.
TEST_F(WriteQuietlyTest, SignalsAreTheProgramsAlone) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[0]);
  sigset_t one, mask, pending;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  for (const bool blocked : {false, true}) {
    for (const bool waits : {false, true}) {
      if (waits && !blocked) continue;
      pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &one, nullptr);
      if (waits) raise(SIGPIPE);
      EXPECT_FALSE(WriteQuietly(pipe_ends[1], "abc"));
      EXPECT_EQ(errno, EPIPE);
      sigpending(&pending);
      pthread_sigmask(SIG_BLOCK, nullptr, &mask);
      EXPECT_EQ(Has(mask), blocked);
      EXPECT_EQ(Has(pending), waits);
    }
  }
  const timespec now = {};
  EXPECT_EQ(sigtimedwait(&one, nullptr, &now), SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace openaclnn
