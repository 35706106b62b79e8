// SPDX-License-Identifier: Apache-2.0
// What the environment says of communicators, the addresses that it chooses, the port of the root,
// and the bytes by which the others find it.
#include "hccl/rendezvous/environment.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ascendcl/fixture.h"
#include "hccl/hccl_types.h"
#include "hccl/rendezvous/root_info.h"
#include "hccl/rendezvous/socket.h"

namespace openaclnn {
namespace {

using Ports = std::vector<uint16_t>;

void ExpectRefused(const Status& status, int code, const std::string& says) {
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_NE(status.text().find(says), std::string::npos) << status.text();
}

class EnvironmentTest : public testing::Test {
 protected:
  static HcclEnvironment Read() {
    HcclEnvironment environment;
    const Status status = ReadHcclEnvironment(&environment);
    EXPECT_TRUE(status.ok()) << status.text();
    return environment;
  }

  // What whoever runs the tests has set.
  const Variable address_{"HCCL_IF_IP", nullptr}, interface_{"HCCL_SOCKET_IFNAME", nullptr},
      family_{"HCCL_SOCKET_FAMILY", nullptr}, connect_{"HCCL_CONNECT_TIMEOUT", nullptr},
      exec_{"HCCL_EXEC_TIMEOUT", nullptr}, range_{"HCCL_HOST_SOCKET_PORT_RANGE", nullptr},
      base_{"HCCL_IF_BASE_PORT", nullptr};
};

TEST_F(EnvironmentTest, NothingIsNeeded) {
  const HcclEnvironment environment = Read();
  EXPECT_EQ(environment.connect_timeout.count(), 120);
  EXPECT_EQ(environment.exec_timeout.count(), 1836);
  EXPECT_EQ(environment.address + environment.interfaces, "");
  EXPECT_FALSE(environment.ipv6);
  EXPECT_EQ(environment.ports, Ports());
}

TEST_F(EnvironmentTest, ValuesAreRead) {
  const Variable address("HCCL_IF_IP", "127.0.0.1"), interface("HCCL_SOCKET_IFNAME", "=lo");
  const Variable connect("HCCL_CONNECT_TIMEOUT", "7200"), exec("HCCL_EXEC_TIMEOUT", "0");
  for (const bool six : {false, true}) {
    const Variable family("HCCL_SOCKET_FAMILY", six ? "AF_INET6" : "AF_INET");
    const HcclEnvironment environment = Read();
    EXPECT_EQ(environment.connect_timeout.count(), 7200);
    EXPECT_EQ(environment.exec_timeout.count(), 0);
    EXPECT_EQ(environment.address, "127.0.0.1");
    EXPECT_EQ(environment.interfaces, "=lo");
    EXPECT_EQ(environment.ipv6, six);
  }
}

TEST_F(EnvironmentTest, PortsAreListed) {
  const auto ports = [](const char* range, const char* base) {
    const Variable list("HCCL_HOST_SOCKET_PORT_RANGE", range), first("HCCL_IF_BASE_PORT", base);
    return Read().ports;
  };
  EXPECT_EQ(ports("60000-60002,61000", nullptr), (Ports{60000, 60001, 60002, 61000}));
  EXPECT_EQ(ports("65535", "2000"), Ports{65535}) << "the range comes first";
  EXPECT_EQ(ports("auto", "2000"), Ports());
  Ports based(32);
  std::iota(based.begin(), based.end(), uint16_t{2000});
  EXPECT_EQ(ports(nullptr, "2000"), based);
  EXPECT_EQ(ports("", "65520"), Ports({65520, 65521, 65522, 65523, 65524, 65525, 65526, 65527,
                                       65528, 65529, 65530, 65531, 65532, 65533, 65534, 65535}));
}

TEST_F(EnvironmentTest, WhatCannotBeUsedIsNamed) {
  struct Row {
    const char *name, *value, *says;
  };
  const Row rows[] = {
      {"HCCL_SOCKET_FAMILY", "AF_UNIX", "expected AF_INET or AF_INET6"},
      {"HCCL_CONNECT_TIMEOUT", "0", "expected seconds, 1 to 7200"},
      {"HCCL_CONNECT_TIMEOUT", "7201", "expected seconds, 1 to 7200"},
      {"HCCL_CONNECT_TIMEOUT", "5s", "expected seconds, 1 to 7200"},
      {"HCCL_EXEC_TIMEOUT", "-1", "expected seconds, or 0 for ever"},
      {"HCCL_EXEC_TIMEOUT", "2147483648", "expected seconds, or 0 for ever"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "0", "expected auto, or ports and ranges"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "65536", "expected auto, or ports and ranges"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "7-6", "expected auto, or ports and ranges"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "7-", "expected auto, or ports and ranges"},
      {"HCCL_HOST_SOCKET_PORT_RANGE", "7,,8", "expected auto, or ports and ranges"},
      {"HCCL_IF_BASE_PORT", "1023", "expected a port, 1024 to 65520"},
      {"HCCL_IF_BASE_PORT", "65521", "expected a port, 1024 to 65520"},
  };
  for (const Row& row : rows) {
    const Variable variable(row.name, row.value);
    HcclEnvironment environment;
    const Status status = ReadHcclEnvironment(&environment);
    ExpectRefused(status, HCCL_E_PARA, std::string(row.name) + " value is '" + row.value + "'");
    ExpectRefused(status, HCCL_E_PARA, row.says);
  }
}

/// As text, without ports; none where the status says so.
std::vector<std::string> Found(const HcclEnvironment& environment, Status* status) {
  std::vector<Address> addresses;
  *status = FindAddresses(environment, &addresses);
  std::vector<std::string> found;
  for (const Address& address : addresses) {
    const std::string text = address.Text();
    found.push_back(text.substr(0, text.rfind(':')));
  }
  return found;
}

std::vector<std::string> FoundBy(const char* interfaces) {
  HcclEnvironment environment;
  environment.interfaces = interfaces;
  Status status;
  const auto found = Found(environment, &status);
  EXPECT_EQ(status.code(), found.empty() ? HCCL_E_NOT_FOUND : HCCL_SUCCESS) << status.text();
  return found;
}

constexpr const char* kLoopback = "127.0.0.1";

size_t CountLoopback(const std::vector<std::string>& found) {
  return static_cast<size_t>(std::count(found.begin(), found.end(), kLoopback));
}

TEST(AddressesTest, TheGivenOneIsTaken) {
  HcclEnvironment environment;
  environment.interfaces = "nosuch";  // says nothing then
  Status status;
  environment.address = "192.0.2.7";
  EXPECT_EQ(Found(environment, &status), std::vector<std::string>{"192.0.2.7"});
  environment.address = "2001:db8::7";
  EXPECT_EQ(Found(environment, &status), std::vector<std::string>{"[2001:db8::7]"});
  environment.address = "localhost";
  EXPECT_EQ(Found(environment, &status), std::vector<std::string>());
  ExpectRefused(status, HCCL_E_PARA, "HCCL_IF_IP value is 'localhost'");
}

TEST(AddressesTest, InterfacesAreChosenByName) {
  const auto all = FoundBy("");
  if (CountLoopback(all) == 0) GTEST_SKIP() << "no interface lo";
  EXPECT_EQ(all.back(), kLoopback) << "which nobody else can reach";
  const size_t others = all.size() - CountLoopback(all);
  for (const char* takes : {"=lo", "=nosuch,lo", ",=lo,"}) {
    // After "=" names are whole ones, all of them.
    const bool named = std::string_view(takes) != ",=lo,";
    EXPECT_EQ(CountLoopback(FoundBy(takes)), named ? CountLoopback(all) : 0) << takes;
  }
  EXPECT_EQ(CountLoopback(FoundBy("l")), CountLoopback(all)) << "they begin so";
  EXPECT_EQ(FoundBy("=l"), std::vector<std::string>());
  EXPECT_EQ(FoundBy("lo,")[0], kLoopback) << "in the order of the names";
  for (const char* leaves : {"^lo", "^=lo"}) {
    EXPECT_EQ(FoundBy(leaves).size(), others) << leaves;
    EXPECT_EQ(CountLoopback(FoundBy(leaves)), 0U) << leaves;
  }
  EXPECT_EQ(FoundBy("^nosuch"), all);
}

TEST(AddressesTest, WhereThereIsNoneItIsSaid) {
  HcclEnvironment environment;
  environment.interfaces = "nosuch";
  Status status;
  Found(environment, &status);
  ExpectRefused(status, HCCL_E_NOT_FOUND,
                "with an address of IPv4 is not found, expected one that HCCL_SOCKET_IFNAME names");
  environment.ipv6 = true;
  Found(environment, &status);
  ExpectRefused(status, HCCL_E_NOT_FOUND, "with an address of IPv6 is not found");
}

// In a child, since others here need the network.
TEST(AddressesTest, WithoutInterfacesLoopbackServes) {
  constexpr int kRight = 0, kWrong = 1, kLeftOut = 2;
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(kLeftOut);
    HcclEnvironment environment;
    HcclRootInfo info;
    Status status;
    bool right = Found(environment, &status) == std::vector<std::string>{kLoopback};
    right &= MakeRootInfo(environment, &info).ok();
    environment.ipv6 = true;
    right &= Found(environment, &status) == std::vector<std::string>{"[::1]"};
    environment.interfaces = "^nosuch";
    right &= Found(environment, &status).empty() && status.code() == HCCL_E_NOT_FOUND;
    _exit(right ? kRight : kWrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kLeftOut) GTEST_SKIP() << "LEFT OUT: no network may be made here";
  EXPECT_EQ(WEXITSTATUS(status), kRight);
}

TEST(AddressesTest, WhyTheyCannotBeListedIsSaid) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Status status;
  Found({}, &status);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ExpectRefused(status, HCCL_E_SYSCALL, "cannot be listed (Too many open files), expected");
}

class ListenTest : public testing::Test {
 protected:
  /// The port that was listened on, or 0.
  uint16_t Listen(const char* address, const Ports& ports, Socket* socket) {
    HcclEnvironment environment;
    environment.address = address;
    environment.ports = ports;
    std::vector<Address> addresses;
    status_ = FindAddresses(environment, &addresses);
    if (status_.ok()) status_ = openaclnn::Listen(environment, &addresses, socket);
    if (!status_.ok()) return 0;
    const std::string text = addresses[0].Text();
    return static_cast<uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
  }

  Status status_;
};

TEST_F(ListenTest, TheFirstFreePortIsTaken) {
  Socket first, second, third;
  uint16_t taken = 0, next = 0;
  bool free = false;
  for (int i = 0; i < 20 && !free; ++i) {  // the next one may be another program's
    taken = Listen(kLoopback, {}, &first);
    ASSERT_NE(taken, 0) << status_.text();
    next = static_cast<uint16_t>(taken == UINT16_MAX ? taken - 1 : taken + 1);
    Socket probe;
    free = Listen(kLoopback, {next, next}, &probe) != 0;
  }
  EXPECT_EQ(Listen(kLoopback, {taken, next}, &second), next) << status_.text();
  EXPECT_EQ(Listen(kLoopback, {taken, next}, &third), 0);
  ExpectRefused(status_, HCCL_E_UNAVAIL, "cannot be listened on at 127.0.0.1:");
  ExpectRefused(status_, HCCL_E_UNAVAIL, "HCCL_HOST_SOCKET_PORT_RANGE");
}

TEST_F(ListenTest, AnAddressOfAnotherMachineIsRefused) {
  Socket socket;
  EXPECT_EQ(Listen("192.0.2.7", {}, &socket), 0);
  ExpectRefused(status_, HCCL_E_PARA,
                "HCCL_IF_IP value is '192.0.2.7', expected an address of this machine");
}

TEST_F(ListenTest, AlsoWithIPv6) {
  Socket socket;
  const uint16_t port = Listen("::1", {}, &socket);
  if (port == 0) GTEST_SKIP() << status_.text();
  Address address;
  auto& six = reinterpret_cast<sockaddr_in6&>(address.storage);
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  six.sin6_port = htons(port);
  address.length = sizeof(six);
  EXPECT_EQ(address.Text(), "[::1]:" + std::to_string(port));
  EXPECT_TRUE(static_cast<bool>(
      ConnectTo(address, std::chrono::steady_clock::now() + std::chrono::seconds(5))));
}

TEST(RootInfoTest, HasTheAddressesOfBothKinds) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    HcclEnvironment environment;
    environment.address = address;
    HcclRootInfo blob;
    const Status made = MakeRootInfo(environment, &blob);
    if (!made.ok() && address[0] == ':') GTEST_SKIP() << made.text();
    ASSERT_TRUE(made.ok()) << made.text();
    RootInfo info;
    ASSERT_TRUE(ReadRootInfo(blob, &info).ok());
    ASSERT_EQ(info.addresses.size(), 1U);
    EXPECT_NE(info.addresses[0].Text().find(address), std::string::npos);
    EXPECT_TRUE(static_cast<bool>(TakeListener(info.nonce)));
    EXPECT_FALSE(static_cast<bool>(TakeListener(info.nonce))) << "it was taken";
  }
}

TEST(RootInfoTest, OtherBytesAreRefused) {
  HcclEnvironment environment;
  environment.address = kLoopback;
  HcclRootInfo good;
  ASSERT_TRUE(MakeRootInfo(environment, &good).ok());
  // After 16 bytes of magic a version and a number of addresses; after 16 of a nonce their kinds.
  struct Row {
    size_t byte;
    char value;
    const char* says;
  };
  for (const Row& row : {Row{0, 'x', "not what HcclGetRootInfo makes"},
                         Row{16, 99, "rootInfo version is 99"}, Row{20, 0, "addresses are 0"},
                         Row{20, 33, "addresses are 33"}, Row{40, 5, "or of no known kind"}}) {
    HcclRootInfo bad = good;
    bad.internal[row.byte] = row.value;
    RootInfo info;
    ExpectRefused(ReadRootInfo(bad, &info), HCCL_E_PARA, row.says);
  }
}

}  // namespace
}  // namespace openaclnn
