// SPDX-License-Identifier: Apache-2.0
// What the machine's own TCP takes for the same bytes: no library can be quicker by it.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ranks/rank.h"

namespace openaclnn::ranks {
namespace {

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void MoveAll(int socket, char* data, size_t bytes, bool out) {
  while (bytes > 0) {
    const ssize_t moved = out ? send(socket, data, bytes, 0) : recv(socket, data, bytes, 0);
    if (moved <= 0) Fail("a socket of the bench");
    data += moved;
    bytes -= static_cast<size_t>(moved);
  }
}

/// Rank 0 listens where the launcher says that it is; rank 1 comes.
int Connect(const Place& place) {
  const char* const host = std::getenv("MASTER_ADDR");
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host != nullptr ? host : "127.0.0.1", &address.sin_addr);
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (place.rank == 0) {
    if (bind(end, where, length) != 0 || listen(end, 1) != 0) Fail("a port of the bench");
    getsockname(end, where, &length);
    Publish(place, "port", std::to_string(ntohs(address.sin_port)));
    const int other = accept4(end, nullptr, nullptr, SOCK_CLOEXEC);
    close(end);
    end = other;
  } else {
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(AwaitFile(place, "port"))));
    if (connect(end, where, length) != 0) Fail("a connection of the bench");
  }
  const int now = 1;
  setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));
  return end;
}

}  // namespace

void MeasureSocket(const Place& place, const std::vector<size_t>& sizes) {
  if (place.ranks < 2 || place.rank > 1) return;
  const int other = Connect(place);
  constexpr size_t kAnswer = 8;
  const bool first = place.rank == 0;
  for (const size_t bytes : sizes) {
    std::vector<char> data(std::max(bytes, kAnswer), 'x');
    const double seconds = MedianSeconds(CallsOf(bytes), [&] {
      MoveAll(other, data.data(), bytes, first);
      MoveAll(other, data.data(), kAnswer, !first);
    });
    Print("Socket - - out", bytes, seconds);
  }
  close(other);
}

}  // namespace openaclnn::ranks
