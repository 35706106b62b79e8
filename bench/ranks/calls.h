// SPDX-License-Identifier: Apache-2.0
// The collectives: what each rank gives, what it has afterwards, and the call.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/numbers.h"
#include "runtime/require.h"

namespace openaclnn::ranks {

// Elements repeat after so many: a prime, so that no share of a buffer looks as another does.
inline constexpr size_t kPeriod = 4099;
inline constexpr uint8_t kOld = 0xA5;    // bytes of what nobody has written
inline constexpr size_t kEndBytes = 64;  // of that behind a buffer

/// An element that is moved and never reduced.
template <size_t kBytes>
struct Moved {
  std::array<uint8_t, kBytes> bytes;
};

template <class T>
inline constexpr bool kIsReduced = kIsSmall<T> || std::is_arithmetic_v<T>;

/// What a rank's elements repeat.
template <class T>
std::vector<T> Elements(uint32_t rank) {
  if constexpr (kIsReduced<T>) {
    return Random<T>(kPeriod, rank + 1);
  } else {
    const std::vector<uint8_t> bytes = Random<uint8_t>(kPeriod * sizeof(T), rank + 1);
    std::vector<T> elements(kPeriod);
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
}

/// A part of a buffer: values again and again, from one of them on.
template <class T>
struct Part {
  const std::vector<T>* values;
  size_t first, count;
};
template <class T>
using Parts = std::vector<Part<T>>;

template <class T>
size_t Count(const Parts<T>& parts) {
  size_t count = 0;
  for (const Part<T>& part : parts) count += part.count;
  return count;
}

template <class T>
std::vector<T> Whole(const Parts<T>& parts) {
  std::vector<T> whole;
  whole.reserve(Count(parts));
  for (const Part<T>& part : parts) {
    size_t from = part.first % kPeriod;
    for (size_t left = part.count; left > 0; from = 0) {
      const size_t run = std::min(left, kPeriod - from);
      const auto begin = part.values->begin() + static_cast<ptrdiff_t>(from);
      whole.insert(whole.end(), begin, begin + static_cast<ptrdiff_t>(run));
      left -= run;
    }
  }
  return whole;
}

/// Device memory, with an end that nobody may write.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : bytes_(count * sizeof(T)) {
    Require(aclrtMalloc(&data_, bytes_ + kEndBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    Require(aclrtMemset(data_, bytes_ + kEndBytes, kOld, bytes_ + kEndBytes));
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { Require(aclrtFree(data_)); }

  T* at(size_t element) const { return static_cast<T*>(data_) + element; }
  bool EndIsOld() const {
    std::array<uint8_t, kEndBytes> end;
    Require(aclrtMemcpy(end.data(), kEndBytes, static_cast<uint8_t*>(data_) + bytes_, kEndBytes,
                        ACL_MEMCPY_DEVICE_TO_HOST));
    return std::ranges::count(end, kOld) == kEndBytes;
  }

 private:
  const size_t bytes_;
  void* data_ = nullptr;
};

template <class T>
void Write(T* device, const Parts<T>& parts) {
  const std::vector<T> whole = Whole(parts);
  const size_t bytes = whole.size() * sizeof(T);
  if (bytes > 0)
    Require(aclrtMemcpy(device, bytes, whole.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

template <class T>
bool Holds(const T* device, const Parts<T>& parts) {
  const std::vector<T> whole = Whole(parts);
  const size_t bytes = whole.size() * sizeof(T);
  std::vector<T> got(whole.size());
  if (bytes > 0) Require(aclrtMemcpy(got.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return bytes == 0 || std::memcmp(got.data(), whole.data(), bytes) == 0;
}

struct Rank {
  uint32_t ranks, rank;
  HcclComm comm;
  aclrtStream stream;
};

/// What the calls are made of.
template <class T>
struct Job {
  Rank here;
  HcclDataType type;
  HcclReduceOp op;
  size_t count;  // of the larger buffer, to be rounded up to shares of all ranks
  Vectors<T> inputs;
  std::vector<T> sums;

  size_t Share() const { return (count + here.ranks - 1) / here.ranks; }
  size_t Shares() const { return Share() * here.ranks; }
  Part<T> Own(size_t elements) const { return Of(here.rank, 0, elements); }
  Part<T> Of(uint32_t rank, size_t first, size_t elements) const {
    return {&inputs[rank], first, elements};
  }
  Part<T> Sums(size_t first, size_t elements) const { return {&sums, first, elements}; }
};

template <class T>
struct Call {
  Parts<T> sent, received;
  std::function<int(T* send, T* recv)> run;
};

template <class T>
Call<T> AllReduce(const Job<T>& job) {
  const size_t count = job.count;
  return {{job.Own(count)}, {job.Sums(0, count)}, [count, &job](T* send, T* recv) {
            return HcclAllReduce(send, recv, count, job.type, job.op, job.here.comm,
                                 job.here.stream);
          }};
}

template <class T>
Call<T> ReduceScatter(const Job<T>& job) {
  const size_t share = job.Share();
  return {{job.Own(job.Shares())},
          {job.Sums(job.here.rank * share, share)},
          [share, &job](T* send, T* recv) {
            return HcclReduceScatter(send, recv, share, job.type, job.op, job.here.comm,
                                     job.here.stream);
          }};
}

template <class T>
Call<T> AllGather(const Job<T>& job) {
  const size_t share = job.Share();
  Parts<T> all;
  for (uint32_t rank = 0; rank < job.here.ranks; ++rank) all.push_back(job.Of(rank, 0, share));
  return {{job.Own(share)}, all, [share, &job](T* send, T* recv) {
            return HcclAllGather(send, recv, share, job.type, job.here.comm, job.here.stream);
          }};
}

template <class T>
Call<T> Broadcast(const Job<T>& job) {
  const size_t count = job.count;
  const uint32_t root = job.here.ranks - 1;
  return {{job.Own(count)}, {job.Of(root, 0, count)}, [count, root, &job](T*, T* recv) {
            return HcclBroadcast(recv, count, job.type, root, job.here.comm, job.here.stream);
          }};
}

template <class T>
Call<T> AllToAll(const Job<T>& job) {
  const size_t share = job.Share();
  Parts<T> turned;
  for (uint32_t rank = 0; rank < job.here.ranks; ++rank) {
    turned.push_back(job.Of(rank, job.here.rank * share, share));
  }
  return {{job.Own(job.Shares())}, turned, [share, &job](T* send, T* recv) {
            return HcclAlltoAll(send, share, job.type, recv, share, job.type, job.here.comm,
                                job.here.stream);
          }};
}

/// From each rank to the next one; even ranks send first.
template <class T>
Call<T> SendRecv(const Job<T>& job) {
  const size_t count = job.count;
  const uint32_t ranks = job.here.ranks, next = (job.here.rank + 1) % ranks,
                 before = (job.here.rank + ranks - 1) % ranks;
  return {
      {job.Own(count)}, {job.Of(before, 0, count)}, [count, next, before, &job](T* send, T* recv) {
        const Rank& here = job.here;
        const auto give = [&] {
          return HcclSend(send, count, job.type, next, here.comm, here.stream);
        };
        const bool first = here.rank % 2 == 0;
        if (const int code = first ? give() : 0; code != 0) return code;
        const int code = HcclRecv(recv, count, job.type, before, here.comm, here.stream);
        return code == 0 && !first ? static_cast<int>(give()) : static_cast<int>(code);
      }};
}

template <class T>
struct Collective {
  const char* name;
  Call<T> (*make)(const Job<T>&);
  bool reduces, out, in;
  uint32_t ranks;  // at least
};

template <class T>
const std::array<Collective<T>, 6>& CollectivesOf() {
  static const std::array<Collective<T>, 6> all = {{
      {"AllReduce", AllReduce<T>, true, true, true, 1},
      {"ReduceScatter", ReduceScatter<T>, true, true, true, 1},
      {"AllGather", AllGather<T>, false, true, true, 1},
      {"Broadcast", Broadcast<T>, false, false, true, 1},
      {"AlltoAll", AllToAll<T>, false, true, false, 1},
      {"SendRecv", SendRecv<T>, false, true, false, 2},
  }};
  return all;
}

}  // namespace openaclnn::ranks
