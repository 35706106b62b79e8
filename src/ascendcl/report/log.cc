// SPDX-License-Identifier: Apache-2.0
// Log: levels from the environment, files of bounded size and number.
#include "ascendcl/report/log.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>

#include "acl/acl_base.h"
#include "ascendcl/process/fork.h"
#include "common/descriptor.h"
#include "common/folder.h"
#include "common/hold_during_fork.h"
#include "common/status.h"
#include "common/uncancelled.h"
#include "common/write_quietly.h"

namespace openaclnn {
namespace {

constexpr const char* kLevelNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
constexpr const char* kModuleNames[] = {"ASCENDCL", "OP", "APP"};
constexpr size_t kModules = std::size(kModuleNames);
constexpr off_t kMaxFileBytes = off_t{20} << 20;
constexpr size_t kDefaultFiles = 10;

std::string Environment(const char* name) {
  // Whoever starts a program with more rights than his own may not choose where it writes.
  const char* value = secure_getenv(name);
  return value != nullptr ? value : "";
}

/// "0" to "4"; anything else leaves the level as it is.
void ReadLevel(std::string_view text, LogLevel* level) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '4') {
    *level = static_cast<LogLevel>(text[0] - '0');
  }
}

struct Settings {
  std::array<LogLevel, kModules> levels;
  bool to_stdout = false;
  size_t max_files = kDefaultFiles;
  std::string folder;  // empty: nowhere
};

/// "OP=0:RUNTIME=1": the levels of single modules.
void ReadModuleLevels(std::string_view text, std::array<LogLevel, kModules>* levels) {
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    for (size_t i = 0; i < kModules; ++i) {
      if (entry.substr(0, equals) == kModuleNames[i]) {
        ReadLevel(entry.substr(equals + 1), &(*levels)[i]);
      }
    }
  }
}

Settings ReadSettings() {
  Settings settings;
  LogLevel level = LogLevel::kError;
  ReadLevel(Environment("ASCEND_GLOBAL_LOG_LEVEL"), &level);
  settings.levels.fill(level);
  ReadModuleLevels(Environment("ASCEND_MODULE_LOG_LEVEL"), &settings.levels);
  settings.to_stdout = Environment("ASCEND_SLOG_PRINT_TO_STDOUT") == "1" ||
                       Environment("ASCEND_LOG_PRINT_TO_STDOUT") == "1";
  const std::string files = Environment("ASCEND_HOST_LOG_FILE_NUM");
  const long count = std::strtol(files.c_str(), nullptr, 10);
  if (count > 0 && count <= 1000) settings.max_files = static_cast<size_t>(count);
  const std::string path = Environment("ASCEND_PROCESS_LOG_PATH");
  const std::string work = Environment("ASCEND_WORK_PATH");
  const std::string home = Environment("HOME");
  if (!path.empty()) {
    settings.folder = path;
  } else if (!work.empty()) {
    settings.folder = work + "/log";
  } else if (!home.empty()) {
    settings.folder = home + "/ascend/log";
  }
  return settings;
}

struct Moment {
  char line[32];  // yyyy-mm-dd-hh:mm:ss.mmm.uuu
  char file[32];  // yyyymmddhhmmssmmm
};

Moment Now() {
  timeval time{};
  gettimeofday(&time, nullptr);
  tm parts{};
  localtime_r(&time.tv_sec, &parts);
  const auto milliseconds = static_cast<int>(time.tv_usec / 1000);
  const auto microseconds = static_cast<int>(time.tv_usec % 1000);
  Moment moment{};
  size_t length = strftime(moment.line, sizeof(moment.line), "%Y-%m-%d-%H:%M:%S", &parts);
  snprintf(moment.line + length, sizeof(moment.line) - length, ".%03d.%03d", milliseconds,
           microseconds);
  length = strftime(moment.file, sizeof(moment.file), "%Y%m%d%H%M%S", &parts);
  snprintf(moment.file + length, sizeof(moment.file) - length, "%03d", milliseconds);
  return moment;
}

std::string ProcessName() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::mutex g_mutex;  // guards the making of the sink, and what of it changes
std::mutex& Mutex() { return g_mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

/// Its functions are called under the lock, but for Enabled.
class Sink {
 public:
  Sink() { Reload(); }

  bool Enabled(LogModule module, LogLevel level) const {
    return level >= levels_[static_cast<size_t>(module)].load(std::memory_order_relaxed);
  }

  void Reload() {
    Settings settings = ReadSettings();
    std::string process = ProcessName();
    // A name that stays leads where it led, wherever the program is by now.
    std::string folder = settings.folder == settings_.folder ? folder_ : FromRoot(settings.folder);
    for (size_t i = 0; i < kModules; ++i) levels_[i] = settings.levels[i];
    if (folder != folder_) file_.Close();
    folder_ = std::move(folder);
    settings_ = std::move(settings);
    process_ = std::move(process);
  }

  void Write(LogModule module, LogLevel level, std::string_view text, const char* file,
             int line_number) {
    const Moment now = Now();
    const std::string_view path = file;
    const std::string line = Concat(
        "[", kLevelNames[static_cast<int>(level)], "] ", kModuleNames[static_cast<int>(module)],
        "(", getpid(), ",", Escaped{process_}, "):", now.line, " [",
        Escaped{path.substr(path.rfind('/') + 1)}, ":", line_number, "]", Escaped{text}, "\n");
    if (settings_.to_stdout) return (void)WriteQuietly(STDOUT_FILENO, line);
    const int descriptor = FileFor(static_cast<off_t>(line.size()), now);
    if (descriptor >= 0) (void)WriteQuietly(descriptor, line);
  }

 private:
  // The file that goes on, if a line fits and the program has not closed it, or a new one.
  int FileFor(off_t bytes, const Moment& now) {
    const int file = file_.Descriptor();
    if (file >= 0 && lseek(file, 0, SEEK_END) + bytes <= kMaxFileBytes) return file;
    file_.Close();
    OpenFile(now);
    return file_.Descriptor();
  }

  // A new file; the oldest of this process go when there are too many.
  void OpenFile(const Moment& now) {
    if (folder_.empty()) return;
    const std::string folder = folder_ + "/debug/plog";
    MakeFolders(folder, 0750);
    const std::string path = Concat(folder, "/plog-", getpid(), "_", now.file, ".log");
    file_.Keep(OpenPlainToWrite(path.c_str(), O_APPEND, 0640));
    if (!file_.kept()) return;
    if (files_.empty() || files_.back() != path) files_.push_back(path);
    for (; files_.size() > settings_.max_files; files_.pop_front()) unlink(files_.front().c_str());
  }

  std::array<std::atomic<LogLevel>, kModules> levels_;
  Settings settings_;
  std::string folder_;  // of the settings, from the root
  std::string process_;
  KeptFile file_;
  std::deque<std::string> files_;
};

// Never destroyed: static destructors of the program may still log.
std::atomic<Sink*> g_sink{nullptr};

/// Made under the lock, so that no child of fork waits for what another thread is making there.
Sink& TheSink() {
  Sink* sink = g_sink.load(std::memory_order_acquire);
  if (sink != nullptr) return *sink;
  const Uncancelled whole;
  std::lock_guard lock(g_mutex);
  sink = g_sink.load(std::memory_order_relaxed);
  if (sink == nullptr) {
    sink = new Sink;
    g_sink.store(sink, std::memory_order_release);
  }
  return *sink;
}

}  // namespace

// The child of a process that has used the runtime writes nothing into its parent's file.
bool LogEnabled(LogModule module, LogLevel level) {
  try {
    return !Forked() && TheSink().Enabled(module, level);
  } catch (const std::exception&) {
    return false;  // no memory for the log
  }
}

void Log(LogModule module, LogLevel level, std::string_view text, const char* file, int line) {
  if (!LogEnabled(module, level)) return;
  try {
    const Uncancelled whole;
    std::lock_guard lock(g_mutex);
    g_sink.load(std::memory_order_relaxed)->Write(module, level, text, file, line);
  } catch (const std::exception&) {
    return;  // no memory for the line
  }
}

void ReloadLog() {
  Sink& sink = TheSink();
  std::lock_guard lock(g_mutex);
  sink.Reload();
}

}  // namespace openaclnn

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  using openaclnn::LogLevel;
  if (fmt == nullptr || logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
  const auto level = static_cast<LogLevel>(logLevel);
  if (!openaclnn::LogEnabled(openaclnn::LogModule::kApp, level)) return;
  char text[1024];
  const int lead = snprintf(text, sizeof(text), "%s%s", func != nullptr ? func : "",
                            func != nullptr ? ": " : "");
  const size_t used = std::min<size_t>(static_cast<size_t>(lead), sizeof(text) - 1);
  va_list arguments;
  va_start(arguments, fmt);
  vsnprintf(text + used, sizeof(text) - used, fmt, arguments);
  va_end(arguments);
  openaclnn::Log(openaclnn::LogModule::kApp, level, text, file != nullptr ? file : "",
                 static_cast<int>(line));
}
