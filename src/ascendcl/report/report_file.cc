// SPDX-License-Identifier: Apache-2.0
// Report file: opened for each line, by any thread that has a finding, also in a signal handler. If
// the descriptor stayed open, a program that closes descriptors it does not know could close it,
// and by the next line its number could belong to another file.
#include "ascendcl/report/report_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "ascendcl/process/bounded_text.h"
#include "ascendcl/report/standard_error.h"
#include "common/descriptor.h"
#include "common/folder.h"
#include "common/text.h"
#include "common/uncancelled.h"
#include "common/write_quietly.h"

namespace openaclnn {
namespace {

/// A file that OPENACLNN_CHECK_JSON has named. Never freed: a signal handler may be using it.
struct ReportFile {
  std::string name;  // the variable's value
  std::string said;  // the value, quoted for messages
  std::string path;  // absolute
  const ReportFile* before = nullptr;
  std::atomic<bool> refused{false};
};
std::atomic<ReportFile*> g_file{nullptr};
const ReportFile* g_last = nullptr;  // the newest

/// Stops writing to a file that cannot be opened or written, until the next aclInit.
void Refuse(ReportFile* file, int error) {
  if (file->refused.exchange(true)) return;
  char room[1024];
  BoundedText text(room);
  text << "openaclnn: environment variable OPENACLNN_CHECK_JSON is " << file->said
       << ", expected a plain file, no link, that can be written (error " << uint64_t(error)
       << ")\n";
  WriteToStandardError(text.view());
}

}  // namespace

void ReloadReportFile() noexcept {
  // In a set-user-id program the caller must not choose the file.
  const char* name = secure_getenv("OPENACLNN_CHECK_JSON");
  if (name == nullptr || *name == '\0') return g_file.store(nullptr);
  ReportFile* const now = g_file.load();
  if (now != nullptr && now->name == name && !now->refused.load()) return;
  try {
    auto file = std::make_unique<ReportFile>();
    file->name = name;
    file->said = Concat(Quoted{name});
    file->path = FromRoot(name);
    file->before = g_last;
    g_last = file.get();
    g_file.store(file.release());
  } catch (const std::exception&) {  // no memory for the name
    g_file.store(nullptr);
  }
}

bool HasReportFile() noexcept { return g_file.load() != nullptr; }

void AppendToReportFile(std::string_view line) noexcept {
  const Uncancelled whole;
  const int error = errno;
  ReportFile* const file = g_file.load();
  int descriptor = -1;
  if (file != nullptr && !file->refused.load()) {
    descriptor = OpenPlainToWrite(file->path.c_str(), O_APPEND, 0600);
  }
  if (descriptor >= 0) {
    if (!WriteQuietly(descriptor, line)) Refuse(file, errno);
    close(descriptor);
  } else if (file != nullptr) {
    Refuse(file, errno);
  }
  errno = error;
}

}  // namespace openaclnn
