// SPDX-License-Identifier: Apache-2.0
// Report file: opened at the first finding, by whoever has it, a handler of signals included.
#include "ascendcl/check/report_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "ascendcl/check/bounded_text.h"
#include "ascendcl/check/standard_error.h"
#include "common/descriptor.h"

namespace openaclnn {
namespace {

/// A file that was asked for. Never given up: a handler of a signal may be using it.
struct ReportFile {
  std::string name;  // as the variable has it
  std::string path;  // from the root
  const ReportFile* before = nullptr;
  std::atomic<int> descriptor{-1};
  std::atomic<bool> refused{false};
};
std::atomic<ReportFile*> g_file{nullptr};
const ReportFile* g_last = nullptr;  // that was asked for

/// What happened when it was opened stays so until the next aclInit.
void Refuse(ReportFile* file, int error) {
  if (file->refused.exchange(true)) return;
  char room[1024];
  BoundedText text(room);
  text << "openaclnn: environment variable OPENACLNN_CHECK_JSON is '" << file->name
       << "', expected a plain file, no link, that can be written (error " << uint64_t(error)
       << ")\n";
  WriteToStandardError(text.view());
}

/// Negative, with errno, where there is no plain file.
int OpenPlain(const ReportFile& file) {
  // Not blocking: it might be a pipe that nobody reads.
  const int made = OpenToWrite(file.path.c_str(), O_APPEND | O_NONBLOCK | O_NOCTTY, 0600);
  struct stat facts = {};
  if (made < 0 || (fstat(made, &facts) == 0 && S_ISREG(facts.st_mode))) return made;
  close(made);
  errno = EINVAL;
  return -1;
}

/// Of a file that has been moved or removed since it was opened: the name's is used from now on,
/// under the same number.
void Renew(const ReportFile& file) {
  const int descriptor = file.descriptor.load();
  struct stat open = {}, named = {};
  if (descriptor < 0 || fstat(descriptor, &open) != 0) return;
  const bool same = lstat(file.path.c_str(), &named) == 0 && named.st_dev == open.st_dev &&
                    named.st_ino == open.st_ino;
  const int made = same ? -1 : OpenPlain(file);
  if (made < 0) return;
  (void)dup3(made, descriptor, O_CLOEXEC);
  close(made);
}

int Open(ReportFile* file) {
  const int known = file->descriptor.load();
  if (known >= 0 || file->refused.load()) return known;
  const int made = OpenPlain(*file);
  if (made < 0) Refuse(file, errno);
  int before = -1;
  if (made >= 0 && !file->descriptor.compare_exchange_strong(before, made)) close(made);
  return file->descriptor.load();
}

}  // namespace

void ReloadReportFile() noexcept {
  const char* name = secure_getenv("OPENACLNN_CHECK_JSON");  // or anybody could have it write
  if (name == nullptr || *name == '\0') return g_file.store(nullptr);
  ReportFile* const now = g_file.load();
  if (now != nullptr && now->name == name && !now->refused.load()) return Renew(*now);
  try {
    auto* const file = new ReportFile;
    file->name = file->path = name;
    std::error_code error;
    const auto folder = std::filesystem::current_path(error);
    if (name[0] != '/' && !error) file->path = folder.string() + "/" + name;
    file->before = g_last;
    g_last = file;
    g_file.store(file);
  } catch (const std::exception&) {  // no memory for the name
    g_file.store(nullptr);
  }
}

bool HasReportFile() noexcept { return g_file.load() != nullptr; }

void AppendToReportFile(std::string_view line) noexcept {
  const int error = errno;
  ReportFile* const file = g_file.load();
  const int descriptor = file != nullptr ? Open(file) : -1;
  if (descriptor >= 0) {
    while (write(descriptor, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  }
  errno = error;
}

}  // namespace openaclnn
