// SPDX-License-Identifier: Apache-2.0
// Sockets: descriptors that close themselves, whole frames before a deadline, and addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"
#include "hccl/rendezvous/environment.h"

namespace openaclnn {

/// A descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

using Deadline = std::chrono::steady_clock::time_point;

/// An address of IPv4 or IPv6, with a port.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string Text() const;
};

/// Milliseconds until then for poll, at least 0.
int MillisecondsUntil(Deadline deadline);

/// False when the time is over or the other side is gone.
bool WriteAll(const Socket& socket, const void* data, size_t bytes, Deadline deadline);
bool ReadAll(const Socket& socket, void* data, size_t bytes, Deadline deadline);

/// Null when nobody answers there before the deadline. What comes is small and at once, and a
/// machine that vanishes is noticed.
Socket ConnectTo(const Address& address, Deadline deadline);
void MakeDirect(const Socket& socket);

/// The addresses by which others may reach this machine, the best first.
Status FindAddresses(const HcclEnvironment& environment, std::vector<Address>* addresses);

/// The network interfaces that are up.
size_t CountInterfaces();

/// Listens on a port that the environment allows, which is written to all the addresses.
Status Listen(const HcclEnvironment& environment, std::vector<Address>* addresses, Socket* socket);

}  // namespace openaclnn
