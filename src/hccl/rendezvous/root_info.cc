// SPDX-License-Identifier: Apache-2.0
// Root info to bytes and back, and the sockets that wait for their Init.
#include "hccl/rendezvous/root_info.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {
namespace {

constexpr char kMagic[16] = "openaclnn ranks";
constexpr uint32_t kMaxAddresses = 32;

struct Entry {
  uint16_t ip;  // its version, 4 or 6
  uint16_t port;
  uint8_t bytes[16];
};

/// The bytes that ranks send each other; machines of one order of bytes.
struct Layout {
  char magic[16];
  uint32_t version;
  uint32_t count;
  Nonce nonce;
  Entry entries[kMaxAddresses];
};
static_assert(sizeof(Layout) <= HCCL_ROOT_INFO_BYTES);

Entry Pack(const Address& address) {
  Entry entry{};
  if (address.storage.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address.storage);
    entry.ip = 6;
    entry.port = six.sin6_port;
    std::memcpy(entry.bytes, &six.sin6_addr, sizeof(six.sin6_addr));
  } else {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address.storage);
    entry.ip = 4;
    entry.port = four.sin_port;
    std::memcpy(entry.bytes, &four.sin_addr, sizeof(four.sin_addr));
  }
  return entry;
}

Address Unpack(const Entry& entry) {
  Address address;
  if (entry.ip == 6) {
    auto& six = reinterpret_cast<sockaddr_in6&>(address.storage);
    six.sin6_family = AF_INET6;
    six.sin6_port = entry.port;
    std::memcpy(&six.sin6_addr, entry.bytes, sizeof(six.sin6_addr));
    address.length = sizeof(six);
  } else {
    auto& four = reinterpret_cast<sockaddr_in&>(address.storage);
    four.sin_family = AF_INET;
    four.sin_port = entry.port;
    std::memcpy(&four.sin_addr, entry.bytes, sizeof(four.sin_addr));
    address.length = sizeof(four);
  }
  return address;
}

struct Listeners {
  std::mutex mutex;
  std::map<Nonce, Socket> waiting;  // guarded by it
};

Listeners& AllListeners() { return Lasting<Listeners>(); }  // closed with the process

std::mutex& Mutex() { return AllListeners().mutex; }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

}  // namespace

Status NewNonce(Nonce* nonce) {
  if (getrandom(nonce->data(), nonce->size(), 0) == static_cast<ssize_t>(nonce->size())) return {};
  return Status(HCCL_E_SYSCALL, "random number is not to be had, expected getrandom to give one");
}

Status MakeRootInfo(const HcclEnvironment& environment, HcclRootInfo* blob) {
  RootInfo info;
  Socket socket;
  Status status = FindAddresses(environment, &info.addresses);
  if (status.ok()) status = Listen(environment, &info.addresses, &socket);
  if (!status.ok()) return status;
  Layout layout{};
  std::memcpy(layout.magic, kMagic, sizeof(kMagic));
  layout.version = kRendezvousVersion;
  layout.count = static_cast<uint32_t>(std::min<size_t>(info.addresses.size(), kMaxAddresses));
  status = NewNonce(&layout.nonce);
  if (!status.ok()) return status;
  std::transform(info.addresses.begin(), info.addresses.begin() + layout.count, layout.entries,
                 Pack);
  *blob = {};
  std::memcpy(blob->internal, &layout, sizeof(layout));
  Listeners& listeners = AllListeners();
  std::lock_guard lock(listeners.mutex);
  listeners.waiting.emplace(layout.nonce, std::move(socket));
  return {};
}

Status ReadRootInfo(const HcclRootInfo& blob, RootInfo* info) {
  Layout layout;
  std::memcpy(&layout, blob.internal, sizeof(layout));
  if (std::memcmp(layout.magic, kMagic, sizeof(kMagic)) != 0) {
    return Status(HCCL_E_PARA,
                  "rootInfo value is not what HcclGetRootInfo makes, expected its "
                  "4108 bytes as they are");
  }
  if (layout.version != kRendezvousVersion) {
    return Status(HCCL_E_PARA,
                  Concat("rootInfo version is ", layout.version, ", expected ", kRendezvousVersion,
                         ": libhccl.so of one installation on all ranks"));
  }
  const auto known = [](const Entry& entry) { return entry.ip == 4 || entry.ip == 6; };
  if (layout.count == 0 || layout.count > kMaxAddresses ||
      !std::all_of(layout.entries, layout.entries + layout.count, known)) {
    return Status(HCCL_E_PARA, Concat("rootInfo addresses are ", layout.count,
                                      " or of no known kind, expected 1 to ", kMaxAddresses,
                                      " of IPv4 or IPv6"));
  }
  info->nonce = layout.nonce;
  for (uint32_t i = 0; i < layout.count; ++i) info->addresses.push_back(Unpack(layout.entries[i]));
  return {};
}

Socket TakeListener(const Nonce& nonce) {
  Listeners& listeners = AllListeners();
  std::lock_guard lock(listeners.mutex);
  const auto found = listeners.waiting.find(nonce);
  if (found == listeners.waiting.end()) return Socket();
  Socket socket = std::move(found->second);
  listeners.waiting.erase(found);
  return socket;
}

}  // namespace openaclnn
