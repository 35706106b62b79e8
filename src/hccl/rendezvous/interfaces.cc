// SPDX-License-Identifier: Apache-2.0
// The addresses of this machine's network interfaces, those that others can reach first.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "hccl/hccl_types.h"
#include "hccl/rendezvous/socket.h"

namespace openaclnn {
namespace {

/// A filter from HCCL_SOCKET_IFNAME: "eth" begins with it, "=eth0" is it; "^" turns either round.
class InterfaceFilter {
 public:
  explicit InterfaceFilter(std::string_view text) {
    excludes_ = text.starts_with('^');
    text.remove_prefix(excludes_ ? 1 : 0);
    exact_ = text.starts_with('=');
    text.remove_prefix(exact_ ? 1 : 0);
    while (!text.empty()) {
      const std::string_view name = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), name.size() + 1));
      if (!name.empty()) names_.push_back(name);
    }
  }

  bool empty() const { return names_.empty(); }

  /// The place of the first name that fits, or none.
  bool Takes(std::string_view interface, size_t* place) const {
    const auto found = std::ranges::find_if(names_, [&](std::string_view name) {
      return exact_ ? interface == name : interface.starts_with(name);
    });
    *place = excludes_ ? 0 : static_cast<size_t>(found - names_.begin());
    return (found != names_.end()) != excludes_;
  }

 private:
  bool excludes_ = false;
  bool exact_ = false;
  std::vector<std::string_view> names_;
};

/// Others can reach neither of the last two from another machine.
int Reach(std::string_view interface) {
  if (interface == "lo") return 2;
  return interface.starts_with("docker") ? 1 : 0;
}

struct Found {
  size_t place;
  int reach;
  std::string interface;
  Address address;
};

bool ReadAddress(const ifaddrs& entry, bool ipv6, Address* address) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  if (entry.ifa_addr->sa_family != (ipv6 ? AF_INET6 : AF_INET)) return false;
  address->length = ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&address->storage, entry.ifa_addr, address->length);
  // Those of one link need an interface's number, which means nothing to others.
  return !ipv6 || !IN6_IS_ADDR_LINKLOCAL(
                      &reinterpret_cast<const sockaddr_in6*>(&address->storage)->sin6_addr);
}

Status GivenAddress(const std::string& text, std::vector<Address>* addresses) {
  Address address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    address.length = sizeof(*four);
  } else if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    address.length = sizeof(*six);
  } else {
    return Status(HCCL_E_PARA, Concat("HCCL_IF_IP value is ", Quoted{text},
                                      ", expected an address of IPv4 or IPv6"));
  }
  addresses->push_back(address);
  return {};
}

using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

/// Null, and why in errno, where they cannot be listed.
Interfaces ListInterfaces() {
  ifaddrs* list = nullptr;
  return {getifaddrs(&list) == 0 ? list : nullptr, freeifaddrs};
}

Address Loopback(bool ipv6) {
  Address address;
  if (ipv6) {
    auto& six = reinterpret_cast<sockaddr_in6&>(address.storage);
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    address.length = sizeof(six);
  } else {
    auto& four = reinterpret_cast<sockaddr_in&>(address.storage);
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.length = sizeof(four);
  }
  return address;
}

}  // namespace

Status FindAddresses(const HcclEnvironment& environment, std::vector<Address>* addresses) {
  if (!environment.address.empty()) return GivenAddress(environment.address, addresses);
  const Interfaces list = ListInterfaces();
  if (list == nullptr) {
    return Status(HCCL_E_SYSCALL, Concat("network interfaces cannot be listed (",
                                         std::strerror(errno), "), expected getifaddrs to"));
  }
  const InterfaceFilter filter(environment.interfaces);
  std::vector<Found> found;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    Found one = {0, Reach(entry->ifa_name), entry->ifa_name, {}};
    if (!ReadAddress(*entry, environment.ipv6, &one.address)) continue;
    if (!filter.empty() && !filter.Takes(one.interface, &one.place)) continue;
    found.push_back(std::move(one));
  }
  std::ranges::stable_sort(
      found, {}, [](const Found& one) { return std::tuple(one.place, one.reach, one.interface); });
  for (const Found& one : found) addresses->push_back(one.address);
  // One rank needs no address, and where there is none there may be no others.
  if (addresses->empty() && filter.empty()) addresses->push_back(Loopback(environment.ipv6));
  if (!addresses->empty()) return {};
  return Status(HCCL_E_NOT_FOUND,
                Concat("network interface with an address of ", environment.ipv6 ? "IPv6" : "IPv4",
                       " is not found, expected one that HCCL_SOCKET_IFNAME names"));
}

size_t CountInterfaces() {
  const Interfaces list = ListInterfaces();
  std::set<std::string_view> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if ((entry->ifa_flags & IFF_UP) != 0) names.insert(entry->ifa_name);
  }
  return names.size();
}

}  // namespace openaclnn
