// SPDX-License-Identifier: Apache-2.0
// The UCX engine: a worker for each communicator, an endpoint for each peer, tagged messages.
#include "hccl/engine/ucx_engine.h"

#include <utility>

#include "hccl/hccl_types.h"

#if __has_include(<ucp/api/ucp.h>)

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "ascendcl/report/error.h"
#include "hccl/engine/descriptors.h"
#include "hccl/engine/failure.h"
#include "hccl/engine/first_messages.h"
#include "hccl/engine/notices.h"
#include "hccl/engine/ucx_failure.h"
#include "hccl/engine/ucx_library.h"

namespace openaclnn {
namespace {

using std::chrono::steady_clock;

// For messages of a communicator that ends to reach those that are there still.
constexpr std::chrono::seconds kFlushTime{1};
// While the ranks connect or leave: rounds without anything to move before this one sleeps, and for
// how long, since not all that UCX has to do is told by its descriptor: with 20 ms of it a
// communicator took 50 ms to make over TCP, not 12.
constexpr uint32_t kConnectRounds = 50;
constexpr int kConnectSleepMs = 1;
// Calls of ucp_worker_progress for one of the lock.
constexpr int kProgressTurns = 8;

class UcxEngine final : public Engine {
 public:
  /// `timeout`: for all ranks to connect, once they have met.
  UcxEngine(UcxLibrary& ucx, uint32_t rank, std::chrono::seconds timeout)
      : ucx_(ucx), rank_(rank), timeout_(timeout) {}
  ~UcxEngine() override;

  Status Start();
  void Watch(Meeting meeting) { notices_ = std::make_shared<Notices>(rank_, std::move(meeting)); }

  /// The address that the other ranks need to reach this one.
  const std::string& address() const { return address_; }
  /// With everybody's, in the order of the ranks.
  Status Connect(const std::vector<std::string>& addresses);
  void Begin(Transfer* transfer) override;
  void Cancel(Transfer* transfer) override;
  bool Progress() override;
  bool needs_progress() const override { return true; }
  bool peers_need_progress() const override { return notices_->others_prepare(); }
  void LookAtPeers() override { notices_->Read(); }
  PeerState peer_state(uint32_t peer) const override { return notices_->state(peer); }
  bool AddDescriptors(bool messages, std::vector<pollfd>* descriptors) override;
  Cause cause() const override { return notices_->cause(); }
  void GiveUp(const Status& cause) override;
  void Leave() override;
  void Quit() override;

 private:
  /// The lock of all of UCX, for which the thread that makes progress stands back.
  class Call {
   public:
    explicit Call(UcxEngine& engine) : engine_(engine) {
      engine_.callers_.fetch_add(1, std::memory_order_relaxed);
      engine_.ucx_.mutex.lock();
    }
    Call(const Call&) = delete;
    ~Call() {
      engine_.ucx_.mutex.unlock();
      engine_.callers_.fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    UcxEngine& engine_;
  };

  Status MakeEndpoints(const std::vector<std::string>& addresses);
  Status ConnectSteps(const std::vector<std::string>& addresses);
  /// Until all ranks have come so far.
  Status Gather(bool moves);
  /// Until this rank is connected to all others.
  Status Flush();
  Status Greet();
  /// Moves messages, if `moves`, until `done`, or a rank is lost, or late. `awaited`: one that this
  /// rank waits for itself, else this rank.
  template <class Done, class Awaited>
  Status ConnectUntil(bool moves, Done done, Awaited awaited);
  Status Unreachable(uint32_t peer, ucs_status_t status) const;
  ucs_status_ptr_t Send(Transfer* transfer);
  ucs_status_ptr_t Receive(Transfer* transfer);
  void Ended(Transfer* transfer, ucs_status_t status, size_t length);
  std::string WordsOfLost(uint32_t peer, ucs_status_t status);
  void CloseEndpoints();
  void AwaitClosed();
  /// False when it had ended before.
  bool End();

  const ClosedStreams stay_;  // it opens what peers have laid into memory when it first needs it
  UcxLibrary& ucx_;
  const uint32_t rank_;
  const std::chrono::seconds timeout_;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::string address_;
  std::vector<ucp_ep_h> endpoints_;  // by rank; null for this one
  std::vector<ucs_status_ptr_t> closing_;
  std::shared_ptr<Notices> notices_;
  steady_clock::time_point arrived_by_;   // at the next gathering
  std::unique_ptr<FirstMessages> first_;  // while the ranks connect
  std::atomic<uint32_t> callers_{0};

  // Under UCX's lock.
  uint64_t under_way_ = 0;
  bool gave_up_ = false;
  bool ended_ = false;
  bool quit_ = false;  // nothing of UCX is called any more
};

Status UcxEngine::Start() {
  const Call call(*this);
  ucs_status_t status = CreateWorker(ucx_, &worker_);
  if (status != UCS_OK) return NoWorker(status);
  status = ucx_.worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK) return UcxFailed("ucp_worker_get_efd", status);
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  status = ucx_.worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return UcxFailed("ucp_worker_get_address", status);
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucx_.worker_release_address(worker_, address);
  return {};
}

// One that never came to be used.
UcxEngine::~UcxEngine() {
  if (worker_ == nullptr || ended_) return;
  const Call call(*this);
  ucx_.worker_destroy(worker_);
}

// UCX 1.13 ends the process where a peer dies, or this rank's worker is destroyed, while a message
// of its own protocol waits for a connection that is being made; and where a peer has died by the
// time that a connection is to be moved for the first time. So nothing is moved before all ranks
// have begun to connect, nothing is said before all are connected, and nothing else before
// everybody has said something to everybody: then all messages of that protocol have come.
Status UcxEngine::ConnectSteps(const std::vector<std::string>& addresses) {
  arrived_by_ = steady_clock::now() + timeout_;
  Status status = MakeEndpoints(addresses);
  if (status.ok()) status = Gather(/*moves=*/false);
  if (status.ok()) status = Flush();
  if (status.ok()) status = Gather(/*moves=*/true);
  if (status.ok()) status = Greet();
  if (status.ok()) status = Gather(/*moves=*/true);
  return status;
}

Status UcxEngine::Connect(const std::vector<std::string>& addresses) {
  Status status = Guard([&] { return ConnectSteps(addresses); });
  if (status.ok()) return status;
  notices_->Read();  // what others say is the cause of what was seen here
  Status heard = notices_->Failure();
  if (!heard.ok()) status = std::move(heard);
  notices_->Fail(status);
  GiveUp(status);
  Leave();
  return Status(status.code(), Concat(status.text(), ", while the communicator was made"));
}

Status UcxEngine::Gather(bool moves) {
  const uint32_t before = notices_->gatherings();
  notices_->Arrive();
  Status status = ConnectUntil(
      moves, [&] { return notices_->gatherings() > before; }, [&] { return rank_; });
  arrived_by_ = steady_clock::now() + timeout_;
  return status;
}

Status UcxEngine::Greet() {
  first_ = std::make_unique<FirstMessages>(endpoints_.size(), rank_);
  first_->Begin(this);
  Status status = ConnectUntil(
      true, [&] { return first_->done(); }, [&] { return first_->awaited(); });
  if (!status.ok()) return status;
  status = first_->failure();
  first_.reset();
  return status;
}

Status UcxEngine::Unreachable(uint32_t peer, ucs_status_t status) const {
  return Status(HCCL_E_REMOTE, Concat("rank ", peer, " has died or cannot be reached (UCX gives ",
                                      static_cast<int>(status),
                                      "), expected it to live and its address to be routed here: "
                                      "see UCX_LOG_LEVEL=info, UCX_TLS, UCX_NET_DEVICES"));
}

Status UcxEngine::MakeEndpoints(const std::vector<std::string>& addresses) {
  const Call call(*this);
  endpoints_.resize(addresses.size());
  closing_.reserve(addresses.size());  // to leave needs no memory
  for (uint32_t peer = 0; peer < addresses.size(); ++peer) {
    if (peer == rank_) continue;
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(addresses[peer].data());
    const ucs_status_t status = ucx_.ep_create(worker_, &params, &endpoints_[peer]);
    if (status != UCS_OK) return Unreachable(peer, status);
  }
  return {};
}

Status UcxEngine::Flush() {
  std::vector<ucs_status_ptr_t> requests(endpoints_.size());
  Status failed;
  {
    const Call call(*this);
    for (uint32_t peer = 0; peer < endpoints_.size(); ++peer) {
      const ucp_request_param_t param{};
      if (endpoints_[peer] != nullptr) requests[peer] = ucx_.ep_flush_nbx(endpoints_[peer], &param);
    }
  }
  // A callback would tell; without one the status is asked of the request.
  const auto flushed = [&] {
    const Call call(*this);
    for (uint32_t peer = 0; peer < requests.size(); ++peer) {
      ucs_status_ptr_t& request = requests[peer];
      if (request == nullptr) continue;
      const bool pending = UCS_PTR_IS_PTR(request);
      const ucs_status_t status =
          pending ? ucx_.request_check_status(request) : UCS_PTR_STATUS(request);
      if (status == UCS_INPROGRESS) return false;
      if (pending) ucx_.request_free(request);
      request = nullptr;
      if (status != UCS_OK && failed.ok()) failed = Unreachable(peer, status);
    }
    return true;
  };
  const auto awaited = [&] {
    const auto first =
        std::ranges::find_if(requests, [](auto request) { return request != nullptr; });
    return first != requests.end() ? static_cast<uint32_t>(first - requests.begin()) : rank_;
  };
  Status status = ConnectUntil(true, flushed, awaited);
  return status.ok() ? failed : status;
}

template <class Done, class Awaited>
Status UcxEngine::ConnectUntil(bool moves, Done done, Awaited awaited) {
  uint32_t idle = 0;
  bool told = false;
  while (true) {
    const bool any = moves && Progress();
    notices_->Read();
    if (done()) return {};
    Status status = notices_->Failure();
    if (!status.ok()) return status;
    const auto now = steady_clock::now();
    if (now >= arrived_by_) {
      if (!std::exchange(told, true) && awaited() != rank_) notices_->Miss(awaited());
      status = notices_->Late(timeout_, now - arrived_by_);
      if (!status.ok()) return status;
    }
    idle = any ? 0 : idle + 1;
    std::vector<pollfd> descriptors;
    if (idle < kConnectRounds) {
      std::this_thread::yield();
    } else if (AddDescriptors(moves, &descriptors)) {
      poll(descriptors.data(), descriptors.size(), kConnectSleepMs);
    }
  }
}

// Through UCX, which is C, nothing is thrown.
void UcxEngine::Ended(Transfer* transfer, ucs_status_t status, size_t length) {
  --under_way_;
  transfer->engine = nullptr;
  transfer->request = nullptr;
  Status result;
  if (status == UCS_ERR_CANCELED) {
    result = Status(HCCL_E_INTERNAL, "cancelled");
  } else if (status == UCS_ERR_MESSAGE_TRUNCATED ||
             (status == UCS_OK && length != transfer->bytes && !transfer->shorter)) {
    result = Worded(HCCL_E_PARA, [&] {
      return Concat("message size of rank ", transfer->peer, " is not ", transfer->bytes,
                    " bytes, expected as many as are awaited");
    });
  } else if (status != UCS_OK) {
    result = Worded(HCCL_E_REMOTE, [&] { return WordsOfLost(transfer->peer, status); });
  }
  transfer->owner->Done(*transfer, result);
}

std::string UcxEngine::WordsOfLost(uint32_t peer, ucs_status_t status) {
  notices_->Read();  // why, if that is known
  const PeerState state = notices_->fate(peer);
  if (state != PeerState::kAlive) {
    return Concat("rank ", peer, " ", WordsOf(state), ", expected all ranks to take part");
  }
  return Concat("link to rank ", peer, " has failed (UCX gives ", static_cast<int>(status),
                "), expected it to last");
}

ucs_status_ptr_t UcxEngine::Send(Transfer* transfer) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = transfer;
  param.cb.send = [](void* request, ucs_status_t status, void* user) {
    auto* const sent = static_cast<Transfer*>(user);
    auto& engine = *static_cast<UcxEngine*>(sent->engine);
    engine.Ended(sent, status, sent->bytes);
    engine.ucx_.request_free(request);
  };
  return ucx_.tag_send_sync_nbx(endpoints_[transfer->peer], transfer->data, transfer->bytes,
                                transfer->tag, &param);
}

// By the callback always, within the call too: UCX 1.13 does not tell the length of what it has
// received at once otherwise.
ucs_status_ptr_t UcxEngine::Receive(Transfer* transfer) {
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.user_data = transfer;
  param.cb.recv = [](void* request, ucs_status_t status, const ucp_tag_recv_info_t* got,
                     void* user) {
    auto* const received = static_cast<Transfer*>(user);
    auto& engine = *static_cast<UcxEngine*>(received->engine);
    engine.Ended(received, status, got->length);
    engine.ucx_.request_free(request);
  };
  constexpr ucp_tag_t kWholeTag = ~ucp_tag_t{0};
  return ucx_.tag_recv_nbx(worker_, transfer->data, transfer->bytes, transfer->tag, kWholeTag,
                           &param);
}

void UcxEngine::Begin(Transfer* transfer) {
  const Call call(*this);
  ++under_way_;
  transfer->engine = this;
  if (ended_ || gave_up_) return Ended(transfer, UCS_ERR_CONNECTION_RESET, transfer->bytes);
  ucs_status_ptr_t request = transfer->receives ? Receive(transfer) : Send(transfer);
  if (request == nullptr || UCS_PTR_IS_ERR(request)) {
    Ended(transfer, UCS_PTR_STATUS(request), transfer->bytes);
  } else if (transfer->engine != nullptr) {  // else it has ended within the call
    transfer->request = request;
  }
}

void UcxEngine::Cancel(Transfer* transfer) {
  const Call call(*this);
  if (!ended_ && transfer->receives && transfer->request != nullptr) {
    ucx_.request_cancel(worker_, transfer->request);
  }
}

bool UcxEngine::Progress() {
  if (callers_.load(std::memory_order_relaxed) > 0) return true;
  std::lock_guard lock(ucx_.mutex);
  if (ended_ || gave_up_) return false;
  int turns = 0;
  while (turns < kProgressTurns && ucx_.worker_progress(worker_) != 0) ++turns;
  return turns > 0;
}

bool UcxEngine::AddDescriptors(bool messages, std::vector<pollfd>* descriptors) {
  notices_->AddDescriptors(descriptors);
  if (!messages) return true;
  std::lock_guard lock(ucx_.mutex);
  if (ended_ || gave_up_) return true;
  if (ucx_.worker_arm(worker_) != UCS_OK) return false;
  descriptors->push_back({descriptor_, POLLIN, 0});
  return true;
}

// Under the lock. What this rank still has to say, acknowledgements, goes out before it does, which
// over TCP takes the other rank's progress.
void UcxEngine::CloseEndpoints() {
  notices_->PrepareToLeave();
  for (uint32_t peer = 0; peer < endpoints_.size(); ++peer) {
    const PeerState state = notices_->state(peer);
    const bool moves = state != PeerState::kDied && state != PeerState::kGaveUp;
    if (endpoints_[peer] == nullptr || !moves) continue;
    ucp_request_param_t param{};
    ucs_status_ptr_t request = ucx_.ep_close_nbx(endpoints_[peer], &param);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing_.push_back(request);
  }
}

// Other communicators go on meanwhile: the lock is held for a turn at a time. A callback would
// tell; without one the status is asked of the request.
void UcxEngine::AwaitClosed() {
  const auto deadline = steady_clock::now() + kFlushTime;
  for (uint32_t idle = 0; !closing_.empty(); ++idle) {
    notices_->Read();  // the root passes on what it hears
    {
      std::lock_guard lock(ucx_.mutex);
      if (quit_) return;
      if (ucx_.worker_progress(worker_) != 0) idle = 0;
      const bool late = steady_clock::now() >= deadline;
      std::erase_if(closing_, [&](ucs_status_ptr_t request) {
        const bool ends = late || ucx_.request_check_status(request) != UCS_INPROGRESS;
        if (ends) ucx_.request_free(request);
        return ends;
      });
    }
    const std::chrono::milliseconds rest(idle < kConnectRounds ? 0 : kConnectSleepMs);
    std::this_thread::sleep_for(rest);
  }
}

// UCX cannot cancel a send, nor a receive that has met its message. Without progress it does not
// touch their memory: over TCP and shared memory a processor copies, within ucp_worker_progress.
void UcxEngine::GiveUp(const Status& cause) {
  const Call call(*this);
  if (ended_ || std::exchange(gave_up_, true)) return;
  notices_->GiveUp(cause);
}

void UcxEngine::Leave() {
  notices_->Read();
  if (!End()) return;
  // Without UCX's lock, which comes after that of the thread.
  const Status relays = Guard([&] {
    if (!notices_->relays()) return Status(HCCL_E_UNAVAIL, "nobody needs them");
    return MessageMover::Get().Add(std::make_shared<Relay>(notices_));
  });
  if (!relays.ok()) notices_->Close();
}

// Messages cannot all be cancelled, but end with the worker: its requests are its own memory, and
// without it nobody else's is touched. Only who does not give up has anybody to wait for.
bool UcxEngine::End() {
  {
    const Call call(*this);
    if (std::exchange(ended_, true)) return false;
    if (under_way_ == 0 && !gave_up_) CloseEndpoints();
  }
  AwaitClosed();
  const Call call(*this);
  if (quit_) return true;
  notices_->Leave();  // first, since the others' links fail with the worker
  ucx_.worker_destroy(worker_);
  return true;
}

void UcxEngine::Quit() {
  const Call call(*this);
  quit_ = ended_ = true;
  notices_->Leave();
}

}  // namespace

Status MakeUcxEngine(uint32_t ranks, uint32_t rank, std::chrono::seconds timeout,
                     const MeetFunction& meet, std::unique_ptr<Engine>* engine) {
  UcxLibrary* ucx = nullptr;
  Status status = RequireDescriptors(ranks);
  if (status.ok()) status = OpenUcx(&ucx);
  if (!status.ok()) return status;
  auto made = std::make_unique<UcxEngine>(*ucx, rank, timeout);
  status = made->Start();
  if (!status.ok()) return status;
  Meeting meeting;
  status = meet(made->address(), &meeting);
  if (!status.ok()) return status;
  const std::vector<std::string> addresses = std::move(meeting.addresses);
  made->Watch(std::move(meeting));
  status = made->Connect(addresses);
  if (status.ok()) *engine = std::move(made);
  return status;
}

}  // namespace openaclnn

#else

namespace openaclnn {

Status MakeUcxEngine(uint32_t, uint32_t, std::chrono::seconds, const MeetFunction&,
                     std::unique_ptr<Engine>*) {
  return Status(HCCL_E_UNAVAIL,
                "this libhccl.so was built without UCX, which moves bytes between processes, "
                "expected one built where libucx-dev is installed (scripts/setup.sh does)");
}

}  // namespace openaclnn

#endif
