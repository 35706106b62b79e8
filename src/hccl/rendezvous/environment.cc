// SPDX-License-Identifier: Apache-2.0
// Reads the variables of HCCL.
#include "hccl/rendezvous/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

constexpr uint32_t kPortsOfBase = 32;

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Status Invalid(const char* name, std::string_view value, const char* expected) {
  return Status(HCCL_E_PARA, Concat(name, " value is ", Quoted{value}, ", expected ", expected));
}

bool ParseNumber(std::string_view text, uint32_t least, uint32_t most, uint32_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= least &&
         *number <= most;
}

Status ReadSeconds(const char* name, uint32_t least, uint32_t most, const char* expected,
                   std::chrono::seconds* seconds) {
  const std::string_view text = Variable(name);
  uint32_t number = 0;
  if (text.empty()) return {};
  if (!ParseNumber(text, least, most, &number)) return Invalid(name, text, expected);
  *seconds = std::chrono::seconds(number);
  return {};
}

/// "60000-60010,61000".
bool ParsePorts(std::string_view text, std::vector<uint16_t>* ports) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t dash = part.find('-');
    uint32_t first = 0, last = 0;
    if (!ParseNumber(part.substr(0, dash), 1, UINT16_MAX, &first)) return false;
    last = first;
    if (dash != part.npos && !ParseNumber(part.substr(dash + 1), first, UINT16_MAX, &last)) {
      return false;
    }
    for (uint32_t port = first; port <= last; ++port) ports->push_back(static_cast<uint16_t>(port));
  }
  return true;
}

Status ReadPorts(std::vector<uint16_t>* ports) {
  constexpr const char* kRange = "HCCL_HOST_SOCKET_PORT_RANGE";
  constexpr const char* kBase = "HCCL_IF_BASE_PORT";
  const std::string_view range = Variable(kRange), base = Variable(kBase);
  if (range == "auto") return {};
  if (!range.empty()) {
    if (ParsePorts(range, ports)) return {};
    return Invalid(kRange, range, "auto, or ports and ranges as in 60000-60010,61000");
  }
  if (base.empty()) return {};
  uint32_t first = 0;
  if (!ParseNumber(base, 1024, 65520, &first)) return Invalid(kBase, base, "a port, 1024 to 65520");
  for (uint32_t i = 0; i < kPortsOfBase && first + i <= UINT16_MAX; ++i) {
    ports->push_back(static_cast<uint16_t>(first + i));
  }
  return {};
}

}  // namespace

Status ReadHcclEnvironment(HcclEnvironment* environment) {
  constexpr const char* kFamily = "HCCL_SOCKET_FAMILY";
  environment->address = Variable("HCCL_IF_IP");
  environment->interfaces = Variable("HCCL_SOCKET_IFNAME");
  const std::string_view wanted = Variable(kFamily);
  environment->ipv6 = wanted == "AF_INET6";
  if (!wanted.empty() && !environment->ipv6 && wanted != "AF_INET") {
    return Invalid(kFamily, wanted, "AF_INET or AF_INET6");
  }
  Status status = ReadSeconds("HCCL_CONNECT_TIMEOUT", 1, 7200, "seconds, 1 to 7200",
                              &environment->connect_timeout);
  if (status.ok()) {
    status = ReadSeconds("HCCL_EXEC_TIMEOUT", 0, INT32_MAX, "seconds, or 0 for ever",
                         &environment->exec_timeout);
  }
  return status.ok() ? ReadPorts(&environment->ports) : status;
}

}  // namespace openaclnn
