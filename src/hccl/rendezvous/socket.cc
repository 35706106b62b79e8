// SPDX-License-Identifier: Apache-2.0
// Sockets: reading, writing, connecting, listening.
#include "hccl/rendezvous/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

void SetOption(const Socket& socket, int level, int option, int value) {
  (void)setsockopt(socket.get(), level, option, &value, sizeof(value));
}

/// Waits for one of the events; false when the time is over.
bool Await(const Socket& socket, short events, Deadline deadline) {
  pollfd descriptor = {socket.get(), events, 0};
  while (true) {
    const int ready = poll(&descriptor, 1, MillisecondsUntil(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

void SetPort(Address* address, uint16_t port) {
  if (address->storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address->storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&address->storage)->sin_port = htons(port);
  }
}

uint16_t PortOf(const Socket& socket) {
  Address address;
  address.length = sizeof(address.storage);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  return address.storage.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port)
             : ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string Address::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(storage);
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
    return Concat("[", text, "]:", ntohs(six.sin6_port));
  }
  const auto& four = reinterpret_cast<const sockaddr_in&>(storage);
  inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
  return Concat(text, ":", ntohs(four.sin_port));
}

int MillisecondsUntil(Deadline deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  return static_cast<int>(
      std::clamp<int64_t>(left / std::chrono::milliseconds(1) + 1, 0, INT32_MAX));
}

bool WriteAll(const Socket& socket, const void* data, size_t bytes, Deadline deadline) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = send(socket.get(), next, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) {
      next += written;
      bytes -= static_cast<size_t>(written);
    } else if (errno != EINTR) {
      if (errno != EAGAIN || !Await(socket, POLLOUT, deadline)) return false;
    }
  }
  return true;
}

bool ReadAll(const Socket& socket, void* data, size_t bytes, Deadline deadline) {
  auto* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(socket.get(), next, bytes, MSG_DONTWAIT);
    if (got > 0) {
      next += got;
      bytes -= static_cast<size_t>(got);
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      if (errno != EAGAIN || !Await(socket, POLLIN, deadline)) return false;
    }
  }
  return true;
}

void MakeDirect(const Socket& socket) {
  constexpr int kIdleSeconds = 10, kBetweenSeconds = 5, kProbes = 3;
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, kBetweenSeconds);
  SetOption(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

Socket ConnectTo(const Address& address, Deadline deadline) {
  Socket made(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return made;
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(made.get(), where, address.length) != 0) {
    int error = errno;
    socklen_t size = sizeof(error);
    if (error != EINPROGRESS || !Await(made, POLLOUT, deadline)) return Socket();
    if (getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      return Socket();
    }
  }
  MakeDirect(made);
  return made;
}

Status Listen(const HcclEnvironment& environment, std::vector<Address>* addresses,
              Socket* listening) {
  constexpr int kBacklog = 1024;
  const sa_family_t family = addresses->front().storage.ss_family;
  std::vector<uint16_t> ports = environment.ports;
  if (ports.empty()) ports.push_back(0);
  // Where an address was asked for, there alone.
  Address at = addresses->front();
  if (environment.address.empty()) {
    at.storage = {};
    at.storage.ss_family = family;
  }
  for (const uint16_t port : ports) {
    Socket made(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) break;
    SetOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
    SetPort(&at, port);
    if (bind(made.get(), reinterpret_cast<const sockaddr*>(&at.storage), at.length) != 0 ||
        listen(made.get(), kBacklog) != 0) {
      continue;
    }
    for (Address& address : *addresses) SetPort(&address, PortOf(made));
    *listening = std::move(made);
    return {};
  }
  if (errno == EADDRNOTAVAIL && !environment.address.empty()) {
    return Status(HCCL_E_PARA, Concat("HCCL_IF_IP value is ", Quoted{environment.address},
                                      ", expected an address of this machine"));
  }
  return Status(HCCL_E_UNAVAIL, Concat("port for the ranks to meet cannot be listened on at ",
                                       at.Text(), " (", std::strerror(errno),
                                       "), expected a free one of those that "
                                       "HCCL_HOST_SOCKET_PORT_RANGE or HCCL_IF_BASE_PORT allow"));
}

}  // namespace openaclnn
