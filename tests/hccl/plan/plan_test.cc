// SPDX-License-Identifier: Apache-2.0
// The messages that each rank sends by its plans, compared with the lines of plans.txt. The model
// of bench/ranks is compared with the same lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hccl/communicator/agreement.h"
#include "hccl/plan/collective.h"

namespace openaclnn {
namespace {

struct Call {
  std::string collective;
  uint32_t ranks;
  uint64_t bytes;
  uint32_t root;
};

constexpr Reduction kSum = {HCCL_DATA_TYPE_FP32, 4, HCCL_REDUCE_SUM};

Plan PlanOf(const Call& call, uint32_t rank) {
  const Place place = {call.ranks, rank};
  const uint64_t count = call.bytes / kSum.bytes;
  // Nothing is moved: addresses are only counted from.
  auto* const send = reinterpret_cast<std::byte*>(uintptr_t{1} << 40);
  auto* const recv = reinterpret_cast<std::byte*>(uintptr_t{1} << 41);
  if (call.collective == "AllReduce") return PlanAllReduce(place, kSum, count, send, recv);
  if (call.collective == "Reduce") return PlanReduce(place, kSum, count, call.root, send, recv);
  if (call.collective == "ReduceScatter") return PlanReduceScatter(place, kSum, count, send, recv);
  if (call.collective == "AllGather") return PlanAllGather(place, call.bytes, send, recv);
  if (call.collective == "Broadcast") return PlanBroadcast(place, call.bytes, call.root, send);
  if (call.collective == "Scatter") {
    return PlanScatter(place, call.bytes, call.root, send, recv);
  }
  std::vector<Part> parts;
  for (uint32_t peer = 0; peer < call.ranks; ++peer) {
    parts.push_back({peer * call.bytes, call.bytes});
  }
  return PlanAllToAll(place, parts, parts, send, recv);
}

Plan WithAgreements(const Call& call, uint32_t rank) {
  Plan plan = PlanOf(call, rank);
  std::vector<Agreement> agreements;
  for (uint32_t peer = 0; peer < call.ranks; ++peer) {
    if (peer != rank) agreements.push_back({peer, CallHeader{}});
  }
  AddAgreements({call.ranks, rank}, agreements, true, &plan);
  BeginWithTheNext({call.ranks, rank}, &plan);
  return plan;
}

/// The line of the call, from the plans of all ranks.
std::string LineOf(const Call& call) {
  std::ostringstream sent, messages;
  size_t steps = 0;
  for (uint32_t rank = 0; rank < call.ranks; ++rank) {
    const Plan plan = WithAgreements(call, rank);
    uint64_t bytes = 0, count = 0;
    for (const Step& step : plan.steps) {
      for (const auto* const moves : {&step.ahead, &step.moves}) {
        for (const Move& move : *moves) {
          if (move.receives) continue;
          bytes += move.bytes;
          ++count;
        }
      }
    }
    sent << ' ' << bytes;
    messages << ' ' << count;
    steps = std::max(steps, plan.steps.size());
  }
  std::ostringstream line;
  line << call.collective << " ranks " << call.ranks << " bytes " << call.bytes << " root "
       << call.root << " steps " << steps << ": sent" << sent.str() << "; messages"
       << messages.str();
  return line.str();
}

/// What is received, by pairs, is what is sent, and a message that may be shorter has room.
void ExpectPairs(const Call& call) {
  struct Message {
    size_t step;
    Move move;
  };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Message>> sent, received;
  for (uint32_t rank = 0; rank < call.ranks; ++rank) {
    const Plan plan = WithAgreements(call, rank);
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      for (const auto* const moves : {&plan.steps[i].ahead, &plan.steps[i].moves}) {
        for (const Move& move : *moves) {
          auto& ways = move.receives ? received[{move.peer, rank}] : sent[{rank, move.peer}];
          ways.push_back({i, move});
        }
      }
    }
  }
  const auto fits = [](const Message& out, const Message& in) {
    const size_t bytes = out.move.bytes, room = in.move.bytes;
    return out.step == in.step && (in.move.shorter ? bytes <= room : bytes == room);
  };
  EXPECT_EQ(sent.size(), received.size());
  for (const auto& [pair, messages] : sent) {
    EXPECT_TRUE(std::ranges::equal(messages, received[pair], fits))
        << call.collective << " from " << pair.first << " to " << pair.second;
  }
}

/// Whom a rank sends to in the step, in order.
std::vector<uint32_t> Receivers(const Step& step) {
  std::vector<uint32_t> receivers;
  for (const auto* const moves : {&step.ahead, &step.moves}) {
    for (const Move& move : *moves) {
      if (!move.receives) receivers.push_back(move.peer);
    }
  }
  return receivers;
}

TEST(PlanTest, NoTwoRanksSendToTheSameOneAtATime) {
  constexpr uint32_t kRanks = 5;
  for (const char* const collective : {"AllReduce", "ReduceScatter", "AllGather", "AlltoAll"}) {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      // Of so many bytes that nothing rides with the headers.
      const Plan plan = WithAgreements({collective, kRanks, 50'000, 0}, rank);
      for (const Step& step : plan.steps) {
        const std::vector<uint32_t> next = {(rank + 1) % kRanks, (rank + 2) % kRanks,
                                            (rank + 3) % kRanks, (rank + 4) % kRanks};
        EXPECT_EQ(Receivers(step), next) << collective;
      }
    }
  }
}

TEST(PlanTest, SendsWhatTheModelIsToldOf) {
  std::ifstream file(OPENACLNN_PLANS);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Call call;
    std::string word;
    words >> call.collective >> word >> call.ranks >> word >> call.bytes >> word >> call.root;
    EXPECT_EQ(LineOf(call), line);
    ExpectPairs(call);
    ++lines;
  }
  EXPECT_GT(lines, 100) << OPENACLNN_PLANS;
}

}  // namespace
}  // namespace openaclnn
