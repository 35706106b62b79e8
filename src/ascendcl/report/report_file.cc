// SPDX-License-Identifier: Apache-2.0
// Report file: opened for each line, by whoever has a finding, a handler of signals included. A
// descriptor that stayed open could be closed by a program that closes all it does not know, and
// its number be another file's by the next line.
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

/// A file that was asked for. Never given up: a handler of a signal may be using it.
struct ReportFile {
  std::string name;  // as the variable has it
  std::string said;  // the same for a message
  std::string path;  // from the root
  const ReportFile* before = nullptr;
  std::atomic<bool> refused{false};
};
std::atomic<ReportFile*> g_file{nullptr};
const ReportFile* g_last = nullptr;  // that was asked for

/// A file that cannot be opened or written is left alone until the next aclInit.
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
  const char* name = secure_getenv("OPENACLNN_CHECK_JSON");  // or anybody could have it write
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
