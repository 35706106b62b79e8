// SPDX-License-Identifier: Apache-2.0
// Trace: a file of JSON in the Trace Event Format, complete after each event.
#include "ascendcl/report/trace.h"

#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ascendcl/process/thread_end.h"
#include "ascendcl/report/log.h"
#include "common/descriptor.h"
#include "common/folder.h"
#include "common/status.h"
#include "common/uncancelled.h"
#include "common/write_quietly.h"

namespace openaclnn {

uint32_t g_tracing = 0;
const uint32_t* const kTracing = &g_tracing;

namespace {

// Streams are rows beside the threads of the process: numbers that no thread has.
constexpr int64_t kFirstStreamRow = 1'000'000'000;

// The end of the file behind the last event. The next one is written over it, so that the file is
// whole at any time: no program needs to end well for its trace.
constexpr std::string_view kEnd = "\n]\n";

void SetTracing(bool on) { __atomic_store_n(&g_tracing, on ? 1U : 0U, __ATOMIC_RELAXED); }

std::string Quote(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string ThreadName() {
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

/// All of it under `mutex`, which fork takes as well.
class TraceFile {
 public:
  std::mutex mutex;

  /// Takes the value of the variable; empty: no trace.
  void Configure(const std::string& name) {
    if (name != name_) {
      file_.Close();
      path_ = FromRoot(name);
      name_ = name;
    }
    SetTracing(!name.empty());
  }

  /// The file's number, counted from 1; made now if there is none.
  uint64_t Number() {
    if (!file_.kept() && Tracing()) Open();
    return number_;
  }

  /// An event in the file's format, without braces.
  void Write(const std::string& event) {
    if (!file_.kept()) return;
    const std::string text = Concat(size_ == 0 ? "[\n{" : ",\n{", event, "}", kEnd);
    const int file = file_.Descriptor();
    if (file < 0 || !WriteQuietly(file, text, size_)) return Fail(errno);
    size_ += static_cast<off_t>(text.size() - kEnd.size());
  }

  /// In a child of fork: the file is the parent's.
  void Disown() {
    if (!file_.kept()) return;
    file_.Close();
    SetTracing(false);
  }

 private:
  void Open() {
    std::string path = path_;
    const size_t process = path.find("%p", path.size() - name_.size());
    if (process != std::string::npos) path.replace(process, 2, Concat(getpid()));
    const int file = OpenPlainToWrite(path.c_str(), 0, 0644);
    size_ = 0;
    file_.Keep(file);
    if (file < 0) return Fail(errno);
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Fail(EWOULDBLOCK);
    if (ftruncate(file, 0) != 0) return Fail(errno);
    ++number_;
    Write(Concat(R"("ph":"M","name":"process_name","pid":)", getpid(),
                 R"(,"tid":0,"args":{"name":)", Quote(program_invocation_short_name), "}"));
  }

  // Keeps what was written, and stops until the next aclInit. Where another has cut the file it may
  // have to grow.
  void Fail(int error) {
    SetTracing(false);
    const int file = size_ > 0 ? file_.Descriptor() : -1;
    if (file >= 0 && ResizeQuietly(file, size_)) (void)WriteQuietly(file, kEnd, size_);
    file_.Close();
    Log(LogModule::kAscendcl, LogLevel::kError,
        Concat("environment variable OPENACLNN_TRACE is ", Quoted{name_}, ", expected a file that ",
               error == EWOULDBLOCK ? "no other process writes (%p in its name is the process)"
               : error == ELOOP     ? "is no symbolic link"
               : error == EBADF     ? "the program does not close"
                                    : "can be written",
               ": ", std::strerror(error)));
  }

  std::string name_;
  std::string path_;  // the name from the root
  KeptFile file_;
  off_t size_ = 0;  // without kEnd
  uint64_t number_ = 0;
};

TraceFile& TheFile() {
  static auto* file = new TraceFile;  // static destructors of the program may still call
  return *file;
}

/// The calling thread's row. Trivially destroyed: the program's static destructors may still call.
struct ThreadRow {
  int64_t id = 0;
  uint64_t file = 0;  // the file that has the row's name
};
thread_local ThreadRow t_row;

// As trivially destroyed; TraceCall takes it, or the end of a thread that was cancelled in the
// call.
thread_local std::string* t_arguments = nullptr;

constinit ThreadEnd g_thread_end([](void*) { delete std::exchange(t_arguments, nullptr); });

[[maybe_unused]] const int kAtLoad = [] {
  ReloadTrace();
  return pthread_atfork([] { TheFile().mutex.lock(); }, [] { TheFile().mutex.unlock(); },
                        [] {
                          const Uncancelled whole;  // or the child ends in fork
                          TheFile().Disown();
                          t_row = {};
                          TheFile().mutex.unlock();
                        });
}();

template <class... Parts>
void Note(const Parts&... members) noexcept {
  if (!Tracing()) return;
  try {
    if (t_arguments == nullptr) {
      t_arguments = new std::string;
      (void)g_thread_end.Watch(&g_thread_end);
    }
    *t_arguments += Concat(t_arguments->empty() ? "" : ",", members...);
  } catch (const std::exception&) {
    return;  // no memory for the note
  }
}

/// Microseconds, with three decimals.
std::string Microseconds(int64_t nanoseconds) {
  const std::string digits = Concat(nanoseconds % 1000 + 1000);
  return Concat(nanoseconds / 1000, ".", digits.substr(1));
}

/// One event on a row; `name` tells the row's name if the file does not have it yet.
template <class Name>
void Record(int64_t row, uint64_t* named_in, Name&& name, const std::string& event, int64_t start,
            int64_t end) {
  TraceFile& file = TheFile();
  const uint64_t number = file.Number();
  const std::string place = Concat(R"("pid":)", getpid(), R"(,"tid":)", row);
  if (std::exchange(*named_in, number) != number) {
    file.Write(Concat(R"("ph":"M","name":"thread_name",)", place, R"(,"args":{"name":)",
                      Quote(name()), "}"));
  }
  file.Write(Concat(R"("ph":"X",)", place, R"(,"ts":)", Microseconds(start), R"(,"dur":)",
                    Microseconds(end - start), ",", event));
}

std::string WithCode(int code, std::string arguments) {
  if (code == 0) return arguments;
  return Concat(R"("code":)", code, arguments.empty() ? "" : ",", arguments);
}

}  // namespace

void ReloadTrace() {
  const char* name = secure_getenv("OPENACLNN_TRACE");  // or anybody could have it write anywhere
  std::lock_guard lock(TheFile().mutex);
  TheFile().Configure(name != nullptr ? name : "");
}

void NoteArguments(const char* members) noexcept { Note(members); }

void NoteCopy(const char* kind, uint64_t bytes) noexcept {
  Note(R"("kind":")", kind, R"(","bytes":)", bytes);
}

void NoteSize(uint64_t bytes) noexcept { Note(R"("size":)", bytes); }

void TraceCall(const char* api, const char* phase, int64_t start, int code) {
  const Uncancelled whole;
  const int64_t end = TraceClock();
  const std::unique_ptr<std::string> noted(std::exchange(t_arguments, nullptr));
  try {
    std::string arguments = noted == nullptr ? "" : std::move(*noted);
    std::lock_guard lock(TheFile().mutex);
    if (t_row.id == 0) t_row.id = gettid();
    Record(t_row.id, &t_row.file, ThreadName,
           Concat(R"("cat":"call","name":")", api, phase, R"(","args":{)",
                  WithCode(code, std::move(arguments)), "}"),
           start, end);
  } catch (const std::exception&) {
    return;  // no memory for the event
  }
}

std::string TraceRow::Name() {
  static uint64_t count = 0;  // guarded, as the number, by the file's mutex
  if (number_ == 0) number_ = ++count;
  return Concat("stream ", number_, ", device ", device_id_);
}

// A call that looks its stream up again, to hold it and then to submit, says it once.
void TraceRow::Note() noexcept {
  constexpr const char* kKey = R"("stream":)";
  if (!Tracing() || (t_arguments != nullptr && t_arguments->find(kKey) != std::string::npos)) {
    return;
  }
  try {
    std::unique_lock lock(TheFile().mutex);
    const std::string name = Name();
    lock.unlock();
    openaclnn::Note(kKey, R"(")", name, R"(")");
  } catch (const std::exception&) {
    return;
  }
}

void TraceRow::Record(const TracedTask& task, int64_t start, int code) {
  const int64_t end = TraceClock();
  try {
    const std::string arguments = WithCode(code, task.arguments);
    const char* kind = task.only_waits ? "wait" : "task";
    std::lock_guard lock(TheFile().mutex);
    const std::string name = Name();
    openaclnn::Record(
        kFirstStreamRow + static_cast<int64_t>(number_), &file_, [&] { return name; },
        Concat(R"("cat":")", kind, R"(","name":")", task.name, R"(","args":{)", arguments, "}"),
        start, end);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace openaclnn
