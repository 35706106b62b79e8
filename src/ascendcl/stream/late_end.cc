// SPDX-License-Identifier: Apache-2.0
// Stream: the log tells what the end of a stream waits for.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascendcl/report/error.h"
#include "ascendcl/report/log.h"
#include "ascendcl/stream/stream.h"

namespace openaclnn {
namespace {

/// After so long the log tells for the first time, and then again where something has changed.
constexpr std::chrono::seconds kLateEnd{5};

/// The first tasks of a stream.
struct Part {
  std::shared_ptr<const Stream> stream;
  uint64_t tasks;
};

void Add(std::vector<Part>* parts, std::shared_ptr<const Stream> stream, uint64_t tasks) {
  const bool known = std::any_of(parts->begin(), parts->end(), [&](const Part& part) {
    return part.stream == stream && part.tasks >= tasks;
  });
  if (!known) parts->push_back({std::move(stream), tasks});
}

}  // namespace

std::string Stream::Name() const {
  if (handle_ != nullptr) return Concat("stream ", handle_);
  return Concat("the default stream of device ", device_id_);
}

std::string Stream::WaitsUntil() const {
  std::lock_guard lock(mutex_);
  if (state_ != State::kParked) return {};
  const Task& first = *queue_.front().task;
  std::string until = first.waits_until();
  return until.empty() ? Concat(first.name(), " is done") : until;
}

// The stream's own wait comes first, then the waits of those that its tasks await.
std::string Stream::Waits(uint64_t target) const {
  std::string words;
  std::vector<Part> parts = {{shared_from_this(), target}};
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part part = parts[i];
    if (part.stream->completed() >= part.tasks) continue;
    const bool named = std::any_of(parts.begin(), parts.begin() + i, [&](const Part& before) {
      return before.stream == part.stream;
    });
    const std::string until = named ? std::string() : part.stream->WaitsUntil();
    if (!until.empty()) words += Concat("; ", part.stream->Name(), " waits until ", until);
    std::vector<Task::Awaited> awaited;
    part.stream->AddAwaited(part.tasks, &awaited);
    for (const Task::Awaited& each : awaited) {
      if (each.called != nullptr) continue;
      if (auto stream = each.stream.lock()) Add(&parts, std::move(stream), each.task);
    }
  }
  return words;
}

void Stream::SleepTelling(uint64_t target) {
  std::string told;
  for (std::chrono::seconds slept = kLateEnd;
       !Sleep(target, std::chrono::steady_clock::now() + kLateEnd); slept += kLateEnd) {
    (void)Guard([&] {
      std::string waits = Waits(target);
      if (waits.empty() || waits == told) return Status();
      Log(LogModule::kAscendcl, LogLevel::kError,
          Concat("the end of ", Name(), " has waited ", slept.count(), " s for its work", waits));
      told.swap(waits);
      return Status();
    });
  }
}

}  // namespace openaclnn
