// SPDX-License-Identifier: Apache-2.0
// Inside: a call that a host function makes; and tests that would hang.
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "tests/ascendcl/fixture.h"

namespace openaclnn {

/// What a host function does while its stream stands, and what it was told.
struct Inside {
  std::function<int()> call;
  aclrtContext context = nullptr;
  std::atomic<int> code{-1};
  std::string message;

  explicit Inside(std::function<int()> what) : call(std::move(what)) {
    EXPECT_EQ(aclrtGetCurrentContext(&context), 0);
  }
  static void Run(void* argument) {
    auto* self = static_cast<Inside*>(argument);
    EXPECT_EQ(aclrtSetCurrentContext(self->context), 0);
    TakeMessage();
    const int code = self->call();
    self->message = TakeMessage();
    self->code = code;
  }
  void Launch(aclrtStream stream) { ASSERT_EQ(aclrtLaunchHostFunc(stream, Run, this), 0); }
  void ExpectRefused(const std::string& api) const {
    EXPECT_EQ(code, ACL_ERROR_RT_NO_PERMISSION) << api;
    EXPECT_EQ(message.find("EE1001: " + api + ": calling thread is in a host function"), 0u)
        << message;
  }
};

/// Two streams and an event. Without what is tested with them calls hang: the program ends then.
template <class Base>
class HangTest : public Base {
 protected:
  void SetUp() override {
    alarm(120);
    Base::SetUp();
    first = Base::NewStream();
    second = Base::NewStream();
    event = Base::NewEvent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
    for (aclrtStream stream : {first, second}) {
      if (stream != nullptr) {
        EXPECT_EQ(aclrtDestroyStream(stream), 0) << TakeMessage();
      }
    }
    Base::TearDown();
    alarm(0);
  }

  aclrtStream first = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
};

}  // namespace openaclnn
