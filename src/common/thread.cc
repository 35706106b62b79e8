// SPDX-License-Identifier: Apache-2.0
// Threads of the libraries: pthread_create with a stack that is asked for.
#include "common/thread.h"

#include <algorithm>
#include <memory>

#include "common/stack.h"

namespace openaclnn {
namespace {

using Main = std::function<void()>;

void* Run(void* argument) {
  const std::unique_ptr<const Main> main(static_cast<const Main*>(argument));
  (*main)();
  return nullptr;
}

}  // namespace

int Thread::Start(Main main) {
  auto owned = std::make_unique<const Main>(std::move(main));
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  size_t usual = 0;
  (void)pthread_attr_getstacksize(&attributes, &usual);
  error = pthread_attr_setstacksize(&attributes, std::max(usual, kThreadStack));
  if (error == 0) {
    error = pthread_create(&thread_, &attributes, Run, const_cast<Main*>(owned.get()));
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) return error;
  (void)owned.release();  // the thread's now
  joinable_ = true;
  return 0;
}

void Thread::Join() {
  pthread_join(thread_, nullptr);
  joinable_ = false;
}

void Thread::Detach() {
  pthread_detach(thread_);
  joinable_ = false;
}

}  // namespace openaclnn
