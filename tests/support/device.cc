// SPDX-License-Identifier: Apache-2.0
// Start and end of the runtime under given environment variables.
#include "tests/support/device.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

namespace openaclnn::test {
namespace {

void Require(int code) {
  if (code != 0) throw std::runtime_error(TakeOutcome(code).message);
}

}  // namespace

Outcome TakeOutcome(int code) {
  if (code == 0) return {};
  const char* message = aclGetRecentErrMsg();
  return {code, message != nullptr ? message : ""};
}

ScopedVariable::ScopedVariable(std::string name, const std::string& value)
    : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  setenv(name_.c_str(), value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  before_ ? setenv(name_.c_str(), before_->c_str(), 1) : unsetenv(name_.c_str());
}

Device::Device(const std::vector<Variable>& environment) {
  for (const Variable& variable : environment) {
    variables_.push_back(std::make_unique<ScopedVariable>(variable.name, variable.value));
  }
  Require(aclInit(nullptr));
  Require(aclrtSetDevice(0));
  Require(aclrtCreateStream(&stream_));
}

Device::~Device() {
  aclrtDestroyStream(stream_);
  aclrtResetDevice(0);
  aclFinalize();
}

Outcome Device::Synchronize() const { return TakeOutcome(aclrtSynchronizeStream(stream_)); }

struct Gate::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
};

Gate::Gate(aclrtStream stream) : state_(std::make_shared<State>()) {
  auto* shared = new std::shared_ptr<State>(state_);
  const auto wait = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<State>> owner(
        static_cast<std::shared_ptr<State>*>(argument));
    State& state = **owner;
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.open; });
  };
  Require(aclrtLaunchHostFunc(stream, wait, shared));
}

Gate::~Gate() { Open(); }

void Gate::Open() {
  std::lock_guard lock(state_->mutex);
  state_->open = true;
  state_->changed.notify_all();
}

}  // namespace openaclnn::test
