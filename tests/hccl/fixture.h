// SPDX-License-Identifier: Apache-2.0
// What tests of ranks in one process share: communicators, a stream for each rank, buffers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ascendcl/fixture.h"
#include "hccl/hccl.h"
#include "hccl/numbers.h"

namespace openaclnn {

/// All ranks of a communicator in this process, each with a stream.
class Ranks {
 public:
  explicit Ranks(uint32_t count) : comms_(count), streams_(count) {
    std::vector<int32_t> devices(count);
    std::iota(devices.begin(), devices.end(), 0);
    EXPECT_EQ(HcclCommInitAll(count, devices.data(), comms_.data()), HCCL_SUCCESS) << TakeMessage();
    for (aclrtStream& stream : streams_) EXPECT_EQ(aclrtCreateStream(&stream), 0) << TakeMessage();
  }
  Ranks(const Ranks&) = delete;
  ~Ranks() {
    for (const HcclComm comm : comms_) {
      if (comm == nullptr) continue;
      EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS) << TakeMessage();
    }
    for (const aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), 0);
  }

  uint32_t size() const { return static_cast<uint32_t>(comms_.size()); }
  HcclComm comm(uint32_t rank) const { return comms_[rank]; }
  aclrtStream stream(uint32_t rank) const { return streams_[rank]; }

  void Destroy(uint32_t rank) {
    EXPECT_EQ(HcclCommDestroy(std::exchange(comms_[rank], nullptr)), HCCL_SUCCESS) << TakeMessage();
  }
  /// The error of the rank's stream.
  int Await(uint32_t rank) const { return aclrtSynchronizeStream(streams_[rank]); }
  void AwaitAll() const {
    for (uint32_t rank = 0; rank < size(); ++rank) EXPECT_EQ(Await(rank), 0) << TakeMessage();
  }

 private:
  std::vector<HcclComm> comms_;
  std::vector<aclrtStream> streams_;
};

/// A buffer for each rank.
template <class T>
using Buffers = std::vector<std::unique_ptr<DeviceArray<T>>>;

template <class T>
Buffers<T> Upload(const ranks::Vectors<T>& values) {
  Buffers<T> buffers;
  for (const auto& one : values) buffers.push_back(std::make_unique<DeviceArray<T>>(one));
  return buffers;
}

template <class T>
Buffers<T> Empty(uint32_t ranks, size_t count) {
  return Upload(ranks::Vectors<T>(ranks, std::vector<T>(count)));
}

template <class T>
ranks::Vectors<T> RandomVectors(uint32_t ranks, size_t count, uint32_t seed = 1) {
  ranks::Vectors<T> vectors;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    vectors.push_back(ranks::Random<T>(count, seed * 1000 + rank));
  }
  return vectors;
}

/// Of a machine with devices for 8 ranks.
class RanksTest : public RuntimeTest {
  Variable devices_{"OPENACLNN_DEVICE_COUNT", "8"};
};

}  // namespace openaclnn
