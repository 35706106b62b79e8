// SPDX-License-Identifier: Apache-2.0
// Strangers at the port where ranks meet: noise, silence, and ranks of other communicators.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "ascendcl/fixture.h"
#include "hccl/processes/networks.h"
#include "hccl/processes/processes.h"
#include "hccl/rendezvous/root_info.h"

namespace openaclnn {
namespace {

constexpr uint16_t kPort = 61017;

/// A connection to the root; tries until it listens.
int Connect() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  inet_pton(AF_INET, ranks::AddressOf(0).c_str(), &address.sin_addr);
  for (int i = 0; i < 20000; ++i) {
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(made, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return made;
    close(made);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return -1;
}

/// What the root answers until it closes.
std::string Answer(const std::string& said) {
  const int socket = Connect();
  EXPECT_GE(socket, 0);
  (void)send(socket, said.data(), said.size(), MSG_NOSIGNAL);
  std::string answer;
  char bytes[512];
  ssize_t got = 0;
  while ((got = recv(socket, bytes, sizeof(bytes), 0)) > 0) {
    answer.append(bytes, static_cast<size_t>(got));
  }
  close(socket);
  return answer;
}

/// The frame of a rank: 16 bytes of magic, version, ranks, rank, bytes of address, 16 of a nonce.
std::string Hello(uint32_t version, uint32_t ranks, uint32_t rank) {
  const uint32_t numbers[] = {version, ranks, rank, 0};
  std::string frame("openaclnn hello", 16);
  frame.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  return frame.append(16, 'n');
}

TEST(StrangersTest, AreSentAwayOrRefusedAndTheRanksMeet) {
  const Variable ip("HCCL_IF_IP", ranks::AddressOf(0).c_str());
  const Variable port("HCCL_HOST_SOCKET_PORT_RANGE", std::to_string(kPort).c_str());
  ranks::Processes processes("late", 2);  // rank 1 comes when the strangers have been
  const int silent = Connect();
  EXPECT_EQ(Answer("GET / HTTP/1.1\r\n\r\n"), "");
  const std::string other = "libhccl.so is 1, expected " + std::to_string(kRendezvousVersion);
  EXPECT_NE(Answer(Hello(1, 2, 1)).find(other), std::string::npos);
  EXPECT_NE(Answer(Hello(kRendezvousVersion, 2, 1)).find("of another communicator"),
            std::string::npos);
  processes.Make("go");
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(processes.Await(rank), 0) << processes.Said(rank);
  }
  close(silent);
}

}  // namespace
}  // namespace openaclnn
