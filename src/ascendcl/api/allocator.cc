// SPDX-License-Identifier: Apache-2.0
// Allocators of the program: the aclrtAllocator functions, descriptions and which stream has which.
#include "ascendcl/api/allocator.h"

#include <map>
#include <memory>
#include <mutex>

#include "acl/acl_rt.h"
#include "ascendcl/process/handles.h"
#include "ascendcl/report/error.h"
#include "ascendcl/stream/context.h"
#include "ascendcl/stream/stream.h"
#include "common/hold_during_fork.h"
#include "common/lasting.h"

namespace openaclnn {
namespace {

/// The descriptions of the process, each at its own address.
class Descriptions {
 public:
  static Descriptions& Get() { return Lasting<Descriptions>(); }
  std::mutex& mutex() { return mutex_; }

  aclrtAllocatorDesc Add() {
    auto made = std::make_unique<Allocator>();
    const aclrtAllocatorDesc address = made.get();
    std::lock_guard lock(mutex_);
    descriptions_.emplace(address, std::move(made));
    return address;
  }

  /// Calls use(allocator), or refuses.
  template <class Use>
  Status With(aclrtAllocatorDesc address, Use&& use) {
    if (address == nullptr) return RequireOut("allocatorDesc", address);
    std::lock_guard lock(mutex_);
    const auto found = descriptions_.find(address);
    if (found == descriptions_.end()) return NotLive(address);
    use(*found->second);
    return {};
  }

  Status Remove(aclrtAllocatorDesc address) {
    if (address == nullptr) return RequireOut("allocatorDesc", address);
    std::lock_guard lock(mutex_);
    return descriptions_.erase(address) == 1 ? Status() : NotLive(address);
  }

 private:
  static Status NotLive(aclrtAllocatorDesc address) {
    return Status(ACL_ERROR_RT_INVALID_HANDLE,
                  Concat("allocatorDesc value is ", address,
                         ", expected one of aclrtAllocatorCreateDesc that is not destroyed"));
  }

  std::mutex mutex_;  // guards what follows
  std::map<aclrtAllocatorDesc, std::unique_ptr<Allocator>> descriptions_;
};

std::mutex& Mutex() { return Descriptions::Get().mutex(); }
[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

template <class Member, class Value>
aclError Set(const char* api, aclrtAllocatorDesc desc, Member Allocator::*member, Value value) {
  return Api(api, [&] {
    return Descriptions::Get().With(desc, [&](Allocator& allocator) { allocator.*member = value; });
  });
}

/// Refuses an allocator without the functions that a stream needs.
Status CheckComplete(const Allocator& allocator) {
  const char* const missing = allocator.allocate == nullptr  ? "an allocFunc"
                              : allocator.free == nullptr    ? "a freeFunc"
                              : allocator.address == nullptr ? "a getAddrFromBlockFunc"
                                                             : nullptr;
  if (missing == nullptr) return {};
  return Status(ACL_ERROR_INVALID_PARAM,
                Concat("allocatorDesc function is missing, expected ", missing));
}

}  // namespace
}  // namespace openaclnn

using openaclnn::Allocator;
using openaclnn::Api;
using openaclnn::Descriptions;
using openaclnn::FindStream;
using openaclnn::Status;
using openaclnn::Stream;

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
  aclrtAllocatorDesc desc = nullptr;
  Api("aclrtAllocatorCreateDesc", [&] {
    desc = Descriptions::Get().Add();
    return Status();
  });
  return desc;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return openaclnn::ReleaseApi("aclrtAllocatorDestroyDesc",
                               [&] { return Descriptions::Get().Remove(allocatorDesc); });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return openaclnn::Set("aclrtAllocatorSetObjToDesc", allocatorDesc, &Allocator::object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func) {
  return openaclnn::Set("aclrtAllocatorSetAllocFuncToDesc", allocatorDesc, &Allocator::allocate,
                        func);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func) {
  return openaclnn::Set("aclrtAllocatorSetFreeFuncToDesc", allocatorDesc, &Allocator::free, func);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func) {
  return openaclnn::Set("aclrtAllocatorSetAllocAdviseFuncToDesc", allocatorDesc,
                        &Allocator::allocate_near, func);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return openaclnn::Set("aclrtAllocatorSetGetAddrFromBlockFuncToDesc", allocatorDesc,
                        &Allocator::address, func);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return Api("aclrtAllocatorRegister", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    Allocator allocator;
    if (status.ok()) {
      status = Descriptions::Get().With(allocatorDesc,
                                        [&](const Allocator& found) { allocator = found; });
    }
    if (status.ok()) status = openaclnn::CheckComplete(allocator);
    if (!status.ok()) return status;
    allocator.description = allocatorDesc;
    object->set_allocator(std::make_shared<const Allocator>(allocator));
    return status;
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return Api("aclrtAllocatorUnregister", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (status.ok()) object->set_allocator(nullptr);
    return status;
  });
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc,
                                   aclrtAllocator* allocator, aclrtAllocatorAllocFunc* allocFunc,
                                   aclrtAllocatorFreeFunc* freeFunc,
                                   aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc) {
  return Api("aclrtAllocatorGetByStream", [&] {
    std::shared_ptr<Stream> object;
    Status status = FindStream(stream, &object);
    if (!status.ok()) return status;
    const std::shared_ptr<const Allocator> found = object->allocator();
    const Allocator none, &given = found == nullptr ? none : *found;
    if (allocatorDesc != nullptr) *allocatorDesc = given.description;
    if (allocator != nullptr) *allocator = given.object;
    if (allocFunc != nullptr) *allocFunc = given.allocate;
    if (freeFunc != nullptr) *freeFunc = given.free;
    if (allocAdviseFunc != nullptr) *allocAdviseFunc = given.allocate_near;
    if (getAddrFromBlockFunc != nullptr) *getAddrFromBlockFunc = given.address;
    return status;
  });
}
