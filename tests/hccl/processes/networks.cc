// SPDX-License-Identifier: Apache-2.0
// Enters the networks that bench/ranks/ranks_networks.py has made, and looks at their switch.
#include "hccl/processes/networks.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace openaclnn::ranks {
namespace {

/// By rank; the script names them: "4,5".
std::vector<int> Descriptors() {
  const char* const named = std::getenv("OPENACLNN_TEST_NETWORKS");
  std::istringstream text(named != nullptr ? named : "");
  std::vector<int> descriptors;
  for (std::string one; std::getline(text, one, ',');) descriptors.push_back(std::stoi(one));
  return descriptors;
}

void Enter(int network) {
  if (setns(network, CLONE_NEWNET) == 0) return;
  std::perror("setns");
  std::abort();
}

}  // namespace

uint32_t CountNetworks() { return static_cast<uint32_t>(Descriptors().size()); }

std::string AddressOf(uint32_t rank) {
  return CountNetworks() == 0 ? "127.0.0.1" : "198.18.0." + std::to_string(rank + 1);
}

WithinNetwork::WithinNetwork(uint32_t rank) {
  const std::vector<int> descriptors = Descriptors();
  if (descriptors.empty()) return;
  before_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  Enter(descriptors.at(rank));
  transports_.emplace("UCX_TLS", "tcp,self");
}

WithinNetwork::~WithinNetwork() {
  if (before_ < 0) return;
  Enter(before_);
  close(before_);
}

// A thread's network goes with it.
bool WithinLoopback(bool up, const std::function<void()>& body) {
  bool made = false;
  std::thread within([&] {
    if (unshare(CLONE_NEWNET) != 0) return;
    if (up) {
      ifreq request{};
      std::strcpy(request.ifr_name, "lo");
      request.ifr_flags = IFF_UP;
      const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      made = ioctl(control, SIOCSIFFLAGS, &request) == 0;
      close(control);
      if (!made) return;
    }
    made = true;
    body();
  });
  within.join();
  return made;
}

Traffic TrafficOf(uint32_t rank) {
  const std::string port = "port" + std::to_string(rank) + ":";
  std::ifstream table("/proc/thread-self/net/dev");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != port) continue;
    // What the port receives the rank has sent: bytes, and seven other numbers before the sent.
    Traffic traffic{};
    words >> traffic.sent;
    for (int i = 0; i < 7; ++i) words >> word;
    words >> traffic.received;
    return traffic;
  }
  return {};
}

bool SetCable(uint32_t rank, bool in) {
  const std::string command =
      "PATH=$PATH:/usr/sbin:/sbin ip link set port" + std::to_string(rank) + (in ? " up" : " down");
  return std::system(command.c_str()) == 0;
}

}  // namespace openaclnn::ranks
