// SPDX-License-Identifier: Apache-2.0
// Notices: reading what the sockets say, and passing it on.
#include "hccl/notices.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace openaclnn {

Notices::Notices(uint32_t rank, Meeting meeting)
    : rank_(rank),
      root_(meeting.root),
      states_(new std::atomic<PeerState>[meeting.sockets.size()]),
      lines_(meeting.sockets.size()) {
  for (uint32_t peer = 0; peer < lines_.size(); ++peer) {
    lines_[peer].socket = std::move(meeting.sockets[peer]);
    lines_[peer].open = static_cast<bool>(lines_[peer].socket);
    states_[peer].store(PeerState::kAlive, std::memory_order_relaxed);
  }
}

void Notices::AddDescriptors(std::vector<pollfd>* descriptors) const {
  std::lock_guard lock(mutex_);
  for (const Line& line : lines_) {
    if (line.open) descriptors->push_back({line.socket.get(), POLLIN, 0});
  }
}

bool Notices::relays() const {
  std::lock_guard lock(mutex_);
  return root_ && std::ranges::any_of(lines_, [](const Line& line) { return line.open; });
}

void Notices::Read() {
  std::lock_guard lock(mutex_);
  for (uint32_t peer = 0; peer < lines_.size(); ++peer) {
    if (lines_[peer].open) ReadLine(peer);
  }
}

void Notices::ReadLine(uint32_t peer) {
  Line& line = lines_[peer];
  while (line.open) {
    char bytes[512];
    const ssize_t got = recv(line.socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      line.open = false;
      line.socket = Socket();
      const bool died = state(peer) == PeerState::kAlive;  // else it has said that it leaves
      Learn(peer, PeerState::kDied);
      if (!died || root_) return;
      for (uint32_t other = 0; other < lines_.size(); ++other) Learn(other, PeerState::kUnheard);
      return;
    }
    line.said.append(bytes, static_cast<size_t>(got));
    Frame frame{};
    while (line.said.size() >= sizeof(frame)) {
      std::memcpy(&frame, line.said.data(), sizeof(frame));
      line.said.erase(0, sizeof(frame));
      Hear(peer, frame);
    }
  }
}

void Notices::Arrive() {
  std::lock_guard lock(mutex_);
  if (root_) return HearArrival();
  Say(News::kArrived);
}

uint32_t Notices::gatherings() const {
  std::lock_guard lock(mutex_);
  return gatherings_;
}

void Notices::Leave() const {
  std::lock_guard lock(mutex_);
  Say(News::kLeft);
}

void Notices::GiveUp() const {
  std::lock_guard lock(mutex_);
  Say(News::kGaveUp);
}

void Notices::Close() {
  std::lock_guard lock(mutex_);
  lines_.clear();
}

void Notices::HearArrival() {
  if (root_ && ++arrived_ < lines_.size()) return;
  arrived_ = 0;
  ++gatherings_;
  if (root_) Say(News::kArrived);
}

// Of itself a rank says that it leaves; of others only the root speaks.
void Notices::Hear(uint32_t from, const Frame& frame) {
  if (frame.rank >= lines_.size() || (root_ && frame.rank != from)) return;
  if (frame.news == News::kArrived) return HearArrival();
  Learn(frame.rank, StateOf(frame.news));
}

PeerState Notices::StateOf(News news) {
  if (news == News::kLeft) return PeerState::kLeft;
  return news == News::kGaveUp ? PeerState::kGaveUp : PeerState::kDied;
}

Notices::News Notices::NewsOf(PeerState state) {
  if (state == PeerState::kLeft) return News::kLeft;
  return state == PeerState::kGaveUp ? News::kGaveUp : News::kDied;
}

void Notices::Learn(uint32_t peer, PeerState state) {
  if (peer == rank_ || this->state(peer) != PeerState::kAlive) return;
  states_[peer].store(state, std::memory_order_release);
  if (!root_) return;
  const Frame frame = {NewsOf(state), peer};
  for (uint32_t other = 0; other < lines_.size(); ++other) {
    if (other != peer && lines_[other].open) Tell(lines_[other], frame);
  }
}

// Some bytes now and then always fit in the socket's buffer; who does not read them is stopped.
void Notices::Tell(const Line& line, const Frame& frame) {
  (void)send(line.socket.get(), &frame, sizeof(frame), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Notices::Say(News news) const {
  for (const Line& line : lines_) {
    if (line.open) Tell(line, {news, rank_});
  }
}

}  // namespace openaclnn
