// SPDX-License-Identifier: Apache-2.0
// What an operation has sent when it ends: who leaves sees that it arrives, over an engine that the
// test holds up.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hccl/communicator/operation.h"
#include "hccl/hccl_types.h"
#include "tests/ascendcl/fixture.h"
#include "tests/hccl/communicator/submit_plan.h"

namespace openaclnn {
namespace {

using std::chrono::milliseconds;

/// Receives at once; what is sent arrives in the last of so many turns.
class SlowEngine final : public Engine {
 public:
  void Begin(Transfer* transfer) override {
    if (transfer->receives) {
      transfer->owner->Done(*transfer, {});
    } else {
      sent.push_back(transfer);
    }
  }
  void Cancel(Transfer*) override { ++cancelled; }
  bool Progress() override {
    if (turns == 0 || --turns > 0) return false;
    for (Transfer* transfer : std::exchange(sent, {})) transfer->owner->Done(*transfer, {});
    if (then) then();
    return true;
  }
  bool needs_progress() const override { return true; }
  PeerState peer_state(uint32_t) const override { return state; }
  bool AddDescriptors(bool, std::vector<pollfd>*) override { return true; }
  Cause cause() const override { return {}; }
  void GiveUp(const Status&) override { gave_up = true; }
  void Leave() override { left_with = static_cast<int>(sent.size()); }

  std::vector<Transfer*> sent;
  int turns = 0;  // 0: never
  std::function<void()> then;
  PeerState state = PeerState::kAlive;
  int left_with = -1;
  int cancelled = 0;
  bool gave_up = false;
};

class SentTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    communicator_ = NewCommunicator(&engine_);
    stream_ = NewStream();
  }

  static std::shared_ptr<Communicator> NewCommunicator(SlowEngine** slow, bool checked = true) {
    auto engine = std::make_unique<SlowEngine>();
    *slow = engine.get();
    const Communicator::Settings settings = {"test", std::chrono::seconds(60), checked, "0123"};
    return std::make_shared<Communicator>(2, 0, settings, std::move(engine));
  }

  /// As where the process ends.
  static void SendOutFor(milliseconds time, std::vector<Moved*> all) {
    SendOut(all, std::chrono::steady_clock::now() + time);
    for (Moved* const moved : all) moved->Quit();
  }

  /// A message to the other rank, from the plan's memory or the program's, and one from it.
  void Exchange(bool own, std::function<Status()> work = nullptr) {
    Plan plan;
    Step& step = plan.steps.emplace_back();
    step.moves = {SendTo(1, bytes_, sizeof(bytes_)), ReceiveFrom(1, bytes_, sizeof(bytes_))};
    step.moves[0].own = own;
    step.work = std::move(work);
    ranks::SubmitPlan(communicator_, std::move(plan), stream_);
  }

  std::byte bytes_[8] = {};
  SlowEngine* engine_ = nullptr;
  std::shared_ptr<Communicator> communicator_;
  aclrtStream stream_ = nullptr;
};

TEST_F(SentTest, OfItsOwnMemoryIsNotAwaited) {
  Exchange(true);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  EXPECT_EQ(engine_->sent.size(), 1u);
  engine_->turns = 1;
  communicator_->Close();
}

TEST_F(SentTest, OfTheProgramsIsAwaited) {
  Exchange(false);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 50), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  engine_->turns = 1;
  EXPECT_TRUE(engine_->Progress());
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  communicator_->Close();
}

TEST_F(SentTest, ArrivesBeforeItsRankLeaves) {
  Exchange(true);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  engine_->turns = 1500;  // the last of them a millisecond each
  communicator_->Close();
  EXPECT_EQ(engine_->left_with, 0);
}

// What a rank calls is told to the others where it was found to differ, too.
TEST_F(SentTest, ArrivesAfterAFailure) {
  Exchange(true, [] { return Status(HCCL_E_PARA, "calls differ, expected the same"); });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(engine_->cancelled, 0);
  engine_->turns = 2;
  communicator_->Close();
  EXPECT_EQ(engine_->left_with, 0);
}

// All see a difference where calls are compared; of another failure, and without, they need to
// hear.
TEST_F(SentTest, WhoFailsAloneGivesUp) {
  for (const auto& [code, checked, alone] :
       {std::tuple(HCCL_E_PARA, true, false), std::tuple(HCCL_E_PARA, false, true),
        std::tuple(HCCL_E_MEMORY, true, true), std::tuple(HCCL_E_INTERNAL, true, true)}) {
    communicator_ = NewCommunicator(&engine_, checked);
    const Status failure(code, "work has failed, expected it to end well");
    Exchange(true, [failure] { return failure; });
    EXPECT_NE(aclrtSynchronizeStream(stream_), 0);
    EXPECT_EQ(engine_->gave_up, alone) << code << " " << checked;
    engine_->turns = 1;
    communicator_->Close();
  }
}

TEST_F(SentTest, ArrivesBeforeTheProcessEnds) {
  Exchange(true);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  engine_->turns = 10;
  SendOutFor(milliseconds(5000), {communicator_.get()});
  EXPECT_TRUE(engine_->sent.empty());
}

TEST_F(SentTest, ToTheDeadIsForgotten) {
  Exchange(true);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  engine_->state = PeerState::kDied;
  communicator_->Close();
  EXPECT_EQ(engine_->left_with, 1);
}

// Nor for ever to one that stands still.
TEST_F(SentTest, DoesNotKeepAProcessThatEnds) {
  Exchange(true);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  const auto begin = std::chrono::steady_clock::now();
  SendOutFor(milliseconds(300), {communicator_.get()});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, milliseconds(250));
  EXPECT_LT(took, milliseconds(5000));
  engine_->turns = 1;
  communicator_->Close();  // else the message would hold all of this
}

TEST_F(SentTest, ArrivesBesideWhatDoesNot) {
  Exchange(true);
  SlowEngine* engine = nullptr;
  const auto stuck = std::exchange(communicator_, NewCommunicator(&engine));
  Exchange(true);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), 0) << TakeMessage();
  engine->turns = 1100;  // the last of them a millisecond each
  size_t stuck_then = 0;
  engine->then = [&] {
    stuck_then = engine_->sent.size();
    engine_->turns = 1;
  };
  SendOutFor(milliseconds(60'000), {stuck.get(), communicator_.get()});
  EXPECT_EQ(stuck_then, 1u);
  EXPECT_TRUE(engine->sent.empty());
  EXPECT_TRUE(engine_->sent.empty());
}

}  // namespace
}  // namespace openaclnn
