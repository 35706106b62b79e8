// SPDX-License-Identifier: Apache-2.0
// Reads the environment.
#include "openaclnn_capture/settings.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "common/folder.h"
#include "common/lasting.h"
#include "common/text.h"
#include "common/write_quietly.h"
#include "openaclnn_capture/next.h"

namespace openaclnn::capture {
namespace {

std::string Variable(const char* name) {
  const char* const value = secure_getenv(name);  // or anybody could have it write anywhere
  return value == nullptr ? "" : value;
}

/// A number from 1 on, from *text, which is moved behind it; 0 if there is none.
uint64_t ReadNumber(const char** text, const char* end) {
  uint64_t number = 0;
  const auto [behind, error] = std::from_chars(*text, end, number);
  if (error != std::errc()) return 0;
  *text = behind;
  return number;
}

/// "3" or "2-5"; false for anything else.
bool ReadCalls(const std::string& words, Settings* settings) {
  const char* text = words.data();
  const char* const end = text + words.size();
  settings->first = settings->last = ReadNumber(&text, end);
  if (text != end && *text == '-') settings->last = ReadNumber(&++text, end);
  return text == end && settings->first > 0 && settings->first <= settings->last;
}

/// The folder that was current as this library was loaded: the program may change it before its
/// first object. Null before that, and if there was no memory; never given back.
const std::string* g_started_in = nullptr;
[[maybe_unused]] const int kAtLoad = [] {
  Attempt([] { g_started_in = new std::string(CurrentFolder()); });
  return 0;
}();

Settings Read() {
  Settings settings;
  settings.folder = Variable("OPENACLNN_CAPTURE");
  settings.on = !settings.folder.empty();
  settings.folder = g_started_in == nullptr ? FromRoot(settings.folder)
                                            : FromRoot(settings.folder, *g_started_in);
  const std::string name = Variable("OPENACLNN_CAPTURE_OPERATOR");
  if (!name.empty()) settings.api = name.starts_with("aclnn") ? name : "aclnn" + name;
  if (settings.on && !name.empty() && !IsInFrontOf(settings.api)) {
    settings.on = false;
    Say(Concat("OPENACLNN_CAPTURE_OPERATOR is ", Quoted{name},
               ", expected an operator that this library knows, as NsaCompress; nothing is "
               "captured"));
  }
  const std::string calls = Variable("OPENACLNN_CAPTURE_CALL");
  if (settings.on && !calls.empty() && !ReadCalls(calls, &settings)) {
    settings.on = false;
    Say(Concat("OPENACLNN_CAPTURE_CALL is ", Quoted{calls},
               ", expected the number of a call, as 3, or a range, as 2-5; nothing is captured"));
  }
  return settings;
}

}  // namespace

const Settings& CurrentSettings() noexcept try {
  static std::atomic<const Settings*> known{nullptr};  // kept until the process ends
  const Settings* settings = known.load(std::memory_order_acquire);
  if (settings == nullptr) {
    auto read = std::make_unique<const Settings>(Read());
    // Two threads may have read: a guard could stay closed in a child of fork.
    if (known.compare_exchange_strong(settings, read.get())) settings = read.release();
  }
  return *settings;
} catch (const std::exception&) {
  return Lasting<Settings>();
}

void Say(const std::string& text) noexcept try {
  (void)WriteQuietly(STDERR_FILENO, Concat("openaclnn capture: ", Escaped{text}, "\n"));
} catch (...) {  // without memory for words nothing is said
}

}  // namespace openaclnn::capture

/// By its name libascendcl.so sees whether this library is in place.
extern "C" __attribute__((visibility("default"))) int openaclnn_capture() { return 1; }
