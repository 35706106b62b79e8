// SPDX-License-Identifier: Apache-2.0
// Notices: reading what the sockets say, and passing it on.
#include "hccl/engine/notices.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "hccl/engine/failure.h"
#include "hccl/hccl_types.h"
#include "hccl/rendezvous/greeting.h"

namespace openaclnn {
namespace {

// Within which a rank that lives says whom it misses, once the time of a step is over, and the root
// what follows from it: ranks begin a step within some milliseconds.
constexpr std::chrono::seconds kPatience{1};
constexpr size_t kReadBytes = 512;  // at once

}  // namespace

Notices::Notices(uint32_t rank, Meeting meeting)
    : rank_(rank),
      root_(meeting.root),
      root_rank_(meeting.root_rank),
      states_(new std::atomic<PeerState>[meeting.sockets.size()]),
      gathering_(static_cast<uint32_t>(meeting.sockets.size())),
      lines_(meeting.sockets.size()) {
  for (uint32_t peer = 0; peer < lines_.size(); ++peer) {
    lines_[peer].socket = std::move(meeting.sockets[peer]);
    lines_[peer].open = static_cast<bool>(lines_[peer].socket);
    if (lines_[peer].open) lines_[peer].said.reserve(sizeof(Frame) + kMaxRefusalBytes + kReadBytes);
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
    char bytes[kReadBytes];
    const ssize_t got = recv(line.socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) line.said.append(bytes, static_cast<size_t>(got));
    if (got <= 0 || !HearFrames(peer)) Lose(peer);
  }
}

bool Notices::HearFrames(uint32_t peer) {
  std::string& said = lines_[peer].said;
  Frame frame{};
  while (said.size() >= sizeof(frame)) {
    std::memcpy(&frame, said.data(), sizeof(frame));
    if (frame.bytes > kMaxRefusalBytes) return false;
    if (said.size() - sizeof(frame) < frame.bytes) break;
    Hear(peer, frame, std::string_view(said).substr(sizeof(frame), frame.bytes));
    said.erase(0, sizeof(frame) + frame.bytes);
  }
  return true;
}

void Notices::Lose(uint32_t peer) {
  lines_[peer].open = false;
  lines_[peer].socket = Socket();
  const bool died = !lines_[peer].left;
  Learn(peer, PeerState::kDied);
  if (!died || root_) return;
  for (uint32_t other = 0; other < lines_.size(); ++other) Learn(other, PeerState::kUnheard);
}

void Notices::Arrive() {
  std::lock_guard lock(mutex_);
  if (root_) return HearArrival(rank_);
  Say(News::kArrived);
}

void Notices::Miss(uint32_t peer) {
  std::lock_guard lock(mutex_);
  if (root_) return gathering_.Miss(rank_, peer);
  Say(News::kMisses, peer);
}

Status Notices::Late(std::chrono::seconds timeout, std::chrono::nanoseconds over) const {
  std::lock_guard lock(mutex_);
  if (!root_)
    return over < 2 * kPatience ? Status() : Silent(Concat(root_rank_), lines_.size(), timeout);
  return over < kPatience && !gathering_.AllSpoke() ? Status() : gathering_.Late(timeout);
}

// A failure of this rank alone the others report as this rank's; they report any other failure in
// this rank's words.
void Notices::Fail(const Status& why) {
  std::lock_guard lock(mutex_);
  if (!failure_.ok()) return Say(News::kGaveUp);
  failure_ = why;
  failed_rank_ = rank_;
  const bool own = why.code() != HCCL_E_TIMEOUT && why.code() != HCCL_E_REMOTE;
  const std::string words =
      own ? Concat("rank ", rank_, " has failed (", why.text(), "), expected it to go on")
          : why.text();
  Say(News::kGaveUp, own ? HCCL_E_REMOTE : why.code(), words);
}

Status Notices::Failure() const {
  std::lock_guard lock(mutex_);
  if (!failure_.ok()) return failure_;
  uint32_t gone = rank_;
  for (uint32_t peer = 0; peer < lines_.size(); ++peer) {
    if (state(peer) == PeerState::kAlive) continue;
    if (gone == rank_ || state(peer) < state(gone)) gone = peer;  // causes come first
  }
  if (gone == rank_) return {};
  return Status(HCCL_E_REMOTE, Concat("rank ", gone, " ", WordsOf(state(gone)),
                                      ", expected all ranks to connect"));
}

uint32_t Notices::gatherings() const {
  std::lock_guard lock(mutex_);
  return gatherings_;
}

PeerState Notices::fate(uint32_t peer) const {
  std::lock_guard lock(mutex_);
  const bool leaves = peer < lines_.size() && lines_[peer].prepares;  // closed, there are none
  return leaves && state(peer) == PeerState::kAlive ? PeerState::kLeft : state(peer);
}

void Notices::PrepareToLeave() const {
  std::lock_guard lock(mutex_);
  Say(News::kPrepares);
}

void Notices::Leave() const {
  std::lock_guard lock(mutex_);
  Say(News::kLeft);
}

void Notices::GiveUp(const Status& why) {
  std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = CopyOf(why), failed_rank_ = rank_;
  Say(News::kGaveUp, static_cast<uint32_t>(why.code()), why.text());
}

Cause Notices::cause() const {
  std::lock_guard lock(mutex_);
  return {failed_rank_, failure_.text()};
}

void Notices::Close() {
  std::lock_guard lock(mutex_);
  lines_.clear();
  preparing_ = 0;
}

void Notices::HearArrival(uint32_t rank) {
  if (root_ && !gathering_.Arrive(rank)) return;
  ++gatherings_;
  if (root_) Say(News::kArrived);
}

// A rank speaks for itself when it leaves; only the root speaks of other ranks.
void Notices::Hear(uint32_t from, const Frame& frame, std::string_view words) {
  if (frame.rank >= lines_.size() || (root_ && frame.rank != from)) return;
  switch (frame.news) {
    case News::kArrived:
      return HearArrival(from);
    case News::kMisses:
      if (root_ && frame.value < lines_.size()) gathering_.Miss(from, frame.value);
      return;
    case News::kPrepares:
      if (frame.rank == rank_ || state(frame.rank) != PeerState::kAlive) return;
      if (!std::exchange(lines_[frame.rank].prepares, true)) ++preparing_;
      return PassOn(frame);
    default:
      if (frame.news == News::kGaveUp && !words.empty()) HearFailure(frame, words);
      if (frame.news == News::kLeft && frame.rank == from) lines_[from].left = true;
      return Learn(frame.rank, StateOf(frame.news));
  }
}

// The root passes on the first, before the news that the rank has given up.
void Notices::HearFailure(const Frame& frame, std::string_view words) {
  if (!failure_.ok()) return;
  const int code = frame.value == HCCL_E_TIMEOUT ? HCCL_E_TIMEOUT : HCCL_E_REMOTE;
  failure_ = Worded(code, [&] { return Concat(Escaped{words}); });
  failed_rank_ = frame.rank;
  PassOn(frame, words);
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
  if (lines_[peer].prepares) --preparing_;
  PassOn({NewsOf(state), peer, 0, 0});
}

void Notices::PassOn(const Frame& frame, std::string_view words) const {
  for (uint32_t other = 0; root_ && other < lines_.size(); ++other) {
    if (other != frame.rank && lines_[other].open) Tell(lines_[other], frame, words);
  }
}

// Some bytes now and then always fit in the socket's buffer; who does not read them is stopped.
void Notices::Tell(const Line& line, const Frame& frame, std::string_view words) {
  iovec parts[] = {{const_cast<Frame*>(&frame), sizeof(frame)},  // which is only read
                   {const_cast<char*>(words.data()), words.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = std::size(parts);
  (void)sendmsg(line.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Notices::Say(News news, uint32_t value, std::string_view words) const {
  words = words.substr(0, kMaxRefusalBytes);
  const Frame frame = {news, rank_, value, static_cast<uint32_t>(words.size())};
  for (const Line& line : lines_) {
    if (line.open) Tell(line, frame, words);
  }
}

}  // namespace openaclnn
