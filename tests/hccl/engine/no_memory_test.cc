// SPDX-License-Identifier: Apache-2.0
// The thread of messages where the process has no memory any more: it tells what fails, and ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "hccl/communicator/operation.h"
#include "hccl/engine/progress.h"
#include "hccl/hccl_types.h"
#include "tests/ascendcl/fixture.h"
#include "tests/hccl/communicator/submit_plan.h"
#include "tests/support/short_memory.h"

namespace openaclnn {
namespace {

using std::chrono::seconds;
using test::Shortage, test::ShortMemory;

/// Nothing arrives, and its list of descriptors never fits.
class SilentEngine final : public Engine {
 public:
  void Begin(Transfer*) override { ++begun; }
  void Cancel(Transfer*) override {}
  bool Progress() override { return false; }
  bool needs_progress() const override { return true; }
  PeerState peer_state(uint32_t) const override { return state; }
  bool AddDescriptors(bool, std::vector<pollfd>* descriptors) override {
    ++looked;
    std::vector<pollfd> more = *descriptors;
    descriptors->swap(more);
    return true;
  }
  Cause cause() const override { return {}; }
  void GiveUp(const Status&) override {}
  void Leave() override {}

  std::atomic<int> begun{0}, looked{0};
  std::atomic<PeerState> state{PeerState::kAlive};
};

class NoMemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    auto engine = std::make_unique<SilentEngine>();
    engine_ = engine.get();
    const Communicator::Settings settings = {"test", timeout_, true, "0123"};
    communicator_ = std::make_shared<Communicator>(2, 0, settings, std::move(engine));
    ASSERT_TRUE(MessageMover::Get().Add(communicator_).ok());
    stream_ = NewStream();
    Plan plan;
    plan.steps.emplace_back().moves = {SendTo(1, bytes_, sizeof(bytes_)),
                                       ReceiveFrom(1, bytes_, sizeof(bytes_))};
    ASSERT_NO_FATAL_FAILURE(ranks::SubmitPlan(communicator_, std::move(plan), stream_));
    while (engine_->begun < 2) std::this_thread::yield();
  }

  static constexpr Shortage kNone = {0, Shortage::Fails::kFromThenOn, Shortage::Threads::kAll};

  seconds timeout_{1};
  std::byte bytes_[8] = {};
  SilentEngine* engine_ = nullptr;
  std::shared_ptr<Communicator> communicator_;
  aclrtStream stream_ = nullptr;
};

TEST_F(NoMemoryTest, ATimeOutIsTold) {
  int code = 0, looks = 0;
  {
    const ShortMemory none(kNone);
    const int before = engine_->looked;
    code = aclrtSynchronizeStreamWithTimeout(stream_, 5000);
    looks = engine_->looked - before;
  }
  EXPECT_EQ(code, ACL_ERROR_RT_TASK_TIMEOUT) << TakeMessage();
  EXPECT_LT(looks, 3000) << "it sleeps in between";
  EXPECT_GT(ShortMemory::failures(), 0);
  communicator_->Close();
}

class DeathWithoutMemoryTest : public NoMemoryTest {
 protected:
  DeathWithoutMemoryTest() { timeout_ = seconds(60); }
};

TEST_F(DeathWithoutMemoryTest, IsTold) {
  int code = 0;
  {
    const ShortMemory none(kNone);
    engine_->state = PeerState::kDied;
    code = aclrtSynchronizeStreamWithTimeout(stream_, 30'000);
  }
  EXPECT_EQ(code, ACL_ERROR_RT_SUSPECT_REMOTE_ERROR) << TakeMessage();
  EXPECT_EQ(communicator_->async_error(), HCCL_E_REMOTE);
  communicator_->Close();
}

TEST_F(NoMemoryTest, ACommunicatorIsDestroyed) {
  {
    const ShortMemory none(kNone);
    communicator_->Close();
  }
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5000), ACL_ERROR_RT_TASK_TIMEOUT)
      << TakeMessage();
}

}  // namespace
}  // namespace openaclnn
