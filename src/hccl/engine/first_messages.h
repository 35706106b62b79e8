// SPDX-License-Identifier: Apache-2.0
// First messages: what each rank says to each before anything else is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/status.h"
#include "hccl/engine/engine.h"

namespace openaclnn {

/// An empty message to and from every other rank.
class FirstMessages final : public TransferOwner {
 public:
  FirstMessages(uint32_t ranks, uint32_t rank) : rank_(rank), transfers_(size_t{2} * ranks) {}

  /// Receives come first, so that no message has to wait for one.
  void Begin(Engine* engine) {
    left_ = transfers_.size() - 2;
    const auto ranks = static_cast<uint32_t>(transfers_.size() / 2);
    for (const bool receives : {true, false}) {
      for (uint32_t peer = 0; peer < ranks; ++peer) {
        Transfer& transfer = transfers_[receives ? peer : ranks + peer];
        transfer.receives = receives;
        transfer.peer = peer;
        // No operation's: its number is the last of all.
        transfer.tag = ~uint64_t{receives ? peer : rank_};
        transfer.owner = this;
        if (peer != rank_) engine->Begin(&transfer);
      }
    }
  }
  void Done(Transfer&, const Status& status) override {
    if (failure_.ok()) failure_ = status;
    --left_;
  }

  bool done() const { return left_ == 0; }
  /// One that has not been heard, or has not heard this rank; this rank if there is none.
  uint32_t awaited() const {
    const auto ranks = static_cast<uint32_t>(transfers_.size() / 2);
    for (uint32_t peer = 0; peer < ranks; ++peer) {
      if (transfers_[peer].engine != nullptr || transfers_[ranks + peer].engine != nullptr) {
        return peer;
      }
    }
    return rank_;
  }
  const Status& failure() const { return failure_; }

 private:
  const uint32_t rank_;
  std::vector<Transfer> transfers_;
  size_t left_ = 0;
  Status failure_;
};

}  // namespace openaclnn
