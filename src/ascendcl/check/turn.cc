// SPDX-License-Identifier: Apache-2.0
// Turns: a list of those that compute, as long as there are threads.
#include "ascendcl/check/turn.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>

#include "common/lasting.h"

namespace openaclnn {
namespace {

struct Turns {
  std::mutex mutex;  // guards what follows
  std::condition_variable ended;
  OpenaclnnTurn* first = nullptr;
  uint32_t waiting = 0;
};

bool Collide(const OpenaclnnTurn& one, const OpenaclnnTurn& other) {
  const std::span<const OpenaclnnUsed> all(other.used, other.count);
  return std::any_of(one.used, one.used + one.count, [&](const OpenaclnnUsed& mine) {
    return std::any_of(all.begin(), all.end(), [&](const OpenaclnnUsed& its) {
      return mine.begin < its.end && its.begin < mine.end && (mine.writes != 0 || its.writes != 0);
    });
  });
}

const OpenaclnnTurn* Obstacle(const Turns& turns, const OpenaclnnTurn& turn) {
  const OpenaclnnTurn* other = turns.first;
  while (other != nullptr && !Collide(turn, *other)) other = other->next;
  return other;
}

}  // namespace

const char* BeginTurn(OpenaclnnTurn* turn) noexcept {
  Turns& turns = Lasting<Turns>();
  std::unique_lock lock(turns.mutex);
  const char* met = nullptr;
  while (const OpenaclnnTurn* const other = Obstacle(turns, *turn)) {
    met = other->api;
    ++turns.waiting;
    turns.ended.wait(lock);
    --turns.waiting;
  }
  turn->previous = nullptr;
  turn->next = turns.first;
  if (turn->next != nullptr) turn->next->previous = turn;
  turns.first = turn;
  return met;
}

void EndTurn(OpenaclnnTurn* turn) noexcept {
  Turns& turns = Lasting<Turns>();
  const std::lock_guard lock(turns.mutex);
  (turn->previous != nullptr ? turn->previous->next : turns.first) = turn->next;
  if (turn->next != nullptr) turn->next->previous = turn->previous;
  if (turns.waiting > 0) turns.ended.notify_all();
}

}  // namespace openaclnn
