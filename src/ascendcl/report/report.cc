// SPDX-License-Identifier: Apache-2.0
// Reports of mistakes: their format, who is told, and how many there were.
#include "ascendcl/report/report.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "ascendcl/process/host_call.h"
#include "ascendcl/report/api_error_counts.h"
#include "ascendcl/report/error_table.h"
#include "ascendcl/report/log.h"
#include "ascendcl/report/report_file.h"
#include "ascendcl/report/standard_error.h"
#include "common/lasting.h"
#include "common/text.h"

namespace openaclnn {
namespace {

constexpr const char* kNames[] = {"memcheck", "racecheck", "initcheck", "synccheck", "apicheck"};
constexpr size_t kChecks = std::size(kNames);
constexpr uint64_t kMostTold = 100;  // of each check, so that none takes the others' place

std::atomic<uint64_t> g_found[kChecks];
std::atomic<uint64_t> g_told[kChecks];

/// Findings that were reported; its lock is held while nothing else is called.
struct Told {
  std::mutex mutex;
  std::set<std::string, std::less<>> keys[kChecks];
};

Told& AllTold() { return Lasting<Told>(); }

void CountAnew() {
  for (auto& found : g_found) found = 0;
  for (auto& told : g_told) told = 0;
}

// A child of fork does not count the parent's findings in its summary.
[[maybe_unused]] const int kAtLoad = [] {
  ReloadReportFile();
  return pthread_atfork([] { AllTold().mutex.lock(); }, [] { AllTold().mutex.unlock(); },
                        [] {
                          CountAnew();
                          AllTold().mutex.unlock();
                        });
}();

/// For programs that end without aclFinalize.
[[gnu::destructor]] void AtExit() { SummariseFindings(); }

void Count(Check check) { ++g_found[static_cast<size_t>(check)]; }

const char* Name(const FindingView& finding) { return kNames[static_cast<size_t>(finding.check)]; }

const char* Name(Severity severity) {
  switch (severity) {
    case Severity::kLeak:
      return "leak";
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      break;
  }
  return "warning";
}

FindingView ViewOf(const Finding& finding) {
  return {finding.check, finding.title, finding.what,    finding.where,
          finding.fix,   finding.code,  finding.severity};
}

/// The text with something for its line breaks, and a question mark for each byte, as of a file's
/// name, that a terminal would obey or not show.
void WriteText(std::string_view text, const char* line_break, BoundedText* out) {
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    if (bytes > 0) {
      *out << text.substr(0, bytes);
    } else {
      *out << (text[0] == '\n' ? line_break : "?");
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
}

/// The text, its further lines below the first one's words.
void WriteLines(const char* label, std::string_view text, BoundedText* out) {
  if (text.empty()) return;
  *out << label;
  WriteText(text, "\n         ", out);
  *out << '\n';
}

void WriteReport(const FindingView& finding, BoundedText* out) {
  *out << "openaclnn: " << Name(finding) << ": ";
  WriteLines("", finding.title, out);
  WriteLines("  what:  ", finding.what, out);
  WriteLines("  where: ", finding.where, out);
  WriteLines("  fix:   ", finding.fix, out);
}

/// One line: what breaks it in the report is a space here.
void WriteLine(const FindingView& finding, BoundedText* out) {
  *out << Name(finding) << ": ";
  WriteText(finding.title, " ", out);
  for (const auto& [label, text] :
       {std::pair{"what", finding.what}, std::pair{"where", finding.where},
        std::pair{"fix", finding.fix}}) {
    if (text.empty()) continue;
    *out << "; " << label << ": ";
    WriteText(text, " ", out);
  }
}

void WriteMember(const char* name, std::string_view text, BoundedText* out) {
  *out << ",\"" << name << "\":\"";
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    if (bytes == 0) {
      *out << (text[0] == '\n' ? ' ' : '?');
    } else if (text[0] == '"' || text[0] == '\\') {
      *out << '\\' << text[0];
    } else {
      *out << text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  *out << '"';
}

void WriteJson(const FindingView& finding, BoundedText* out) {
  *out << "{\"pid\":" << static_cast<uint64_t>(getpid());
  WriteMember("check", Name(finding), out);
  WriteMember("severity", Name(finding.severity), out);
  WriteMember("title", finding.title, out);
  WriteMember("what", finding.what, out);
  WriteMember("where", finding.where, out);
  WriteMember("fix", finding.fix, out);
  *out << ",\"code\":" << static_cast<uint64_t>(finding.code) << "}\n";
}

/// Standard error and the file, with room for the longer of the two.
void Write(const FindingView& finding, std::span<char> room) {
  if (finding.severity == Severity::kError) {
    BoundedText report(room);
    WriteReport(finding, &report);
    WriteToStandardError(report.view());
  }
  if (!HasReportFile()) return;
  BoundedText json(room);
  WriteJson(finding, &json);
  AppendToReportFile(json.view());
}

/// Room for a finding in any form: a line break takes ten letters.
std::vector<char> RoomFor(const Finding& finding) {
  const size_t letters =
      finding.title.size() + finding.what.size() + finding.where.size() + finding.fix.size();
  return std::vector<char>(10 * letters + 512);
}

std::string OneLine(const Finding& finding) {
  std::vector<char> room = RoomFor(finding);
  BoundedText line(room);
  WriteLine(ViewOf(finding), &line);
  return std::string(line.view());
}

/// For the calling thread; in a task, whose thread nobody asks, for the next synchronise. A
/// function of the program's that a task has called can ask for itself.
void LeaveMessage(const char* prefix, std::string line) {
  TaskFinding* const finding = HostCall::InTask() ? nullptr : FindingOfRunningTask();
  if (finding == nullptr) return RecordMessage(prefix, {line});
  if (finding->line.empty()) *finding = {prefix, std::move(line)};
}

bool IsPartOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string WithoutNumbers(std::string_view words) {
  std::string key;
  bool number = false;
  for (const char c : words) {
    const bool inside = !key.empty() && IsPartOfWord(key.back());
    number =
        number ? IsPartOfWord(c) : (std::isdigit(static_cast<unsigned char>(c)) != 0) && !inside;
    if (!number) key += c;
  }
  return key;
}

bool CountFinding(Check check, std::string_view key) noexcept {
  Count(check);
  try {
    Told& told = AllTold();
    std::lock_guard lock(told.mutex);
    const auto index = static_cast<size_t>(check);
    if (g_told[index] >= kMostTold || !told.keys[index].emplace(key).second) return false;
    ++g_told[index];
    return true;
  } catch (const std::exception&) {
    return false;  // without memory for the key there is none for words either
  }
}

void TellFinding(const Finding& finding) noexcept {
  try {
    std::vector<char> room = RoomFor(finding);
    Write(ViewOf(finding), room);
    std::string line = OneLine(finding);
    const bool error = finding.severity == Severity::kError;
    Log(LogModule::kAscendcl, error ? LogLevel::kError : LogLevel::kWarning, line);
    if (!error) return;
    LeaveMessage(finding.code != 0 ? FindError(finding.code).prefix : "openaclnn", std::move(line));
  } catch (const std::exception&) {  // without memory for words nothing is told; it was counted
  }
}

void TellAgain(const TaskFinding& found) noexcept {
  if (!found.line.empty()) RecordMessage(found.prefix, {found.line});
}

void ReportFinding(const Finding& finding) noexcept {
  if (finding.severity != Severity::kError) return TellFinding(finding);
  try {
    const std::string key = Concat(finding.title, "\n", finding.what, "\n", finding.where);
    if (CountFinding(finding.check, key)) TellFinding(finding);
  } catch (const std::exception&) {
    Count(finding.check);
  }
}

void ReportFromHandler(const FindingView& finding) noexcept {
  // Two threads at once are few: what one of them has to say may be lost, but not mixed.
  static std::atomic_flag busy = ATOMIC_FLAG_INIT;
  static char room[4096];
  Count(finding.check);
  auto& told = g_told[static_cast<size_t>(finding.check)];
  if (told >= kMostTold || busy.test_and_set(std::memory_order_acquire)) return;
  ++told;
  Write(finding, room);
  busy.clear(std::memory_order_release);
}

void SummariseFindings() noexcept {
  uint64_t counts[kChecks];
  uint64_t all = 0;
  for (size_t i = 0; i < kChecks; ++i) all += counts[i] = g_found[i].exchange(0);
  uint64_t told = 0;
  for (auto& each : g_told) told += each.exchange(0);
  if (all == 0) return;
  char words[256], line[1024];
  BoundedText text(words), json(line);
  text << "openaclnn: " << all << (all == 1 ? " error found (" : " errors found (");
  json << "{\"pid\":" << static_cast<uint64_t>(getpid()) << ",\"summary\":{";
  const char* comma = "";
  for (size_t i = 0; i < kChecks; ++i) {
    if (counts[i] == 0) continue;
    text << comma << (*comma == '\0' ? "" : " ") << kNames[i] << ' ' << counts[i];
    json << comma << '"' << kNames[i] << "\":" << counts[i];
    comma = ",";
  }
  text << "), " << told << " reported (each once, at most " << kMostTold << " of a check)\n";
  json << "}";
  try {
    const std::string codes = TakeApiErrorCounts();
    if (!codes.empty() && codes.size() < sizeof(line) / 2) json << ",\"codes\":" << codes;
  } catch (const std::exception&) {  // without memory the sum goes without them
  }
  json << ",\"reported\":" << told << "}\n";
  WriteToStandardError(text.view());
  AppendToReportFile(json.view());
  std::lock_guard lock(AllTold().mutex);
  for (auto& keys : AllTold().keys) keys.clear();
}

}  // namespace openaclnn
