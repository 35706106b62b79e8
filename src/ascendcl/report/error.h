// SPDX-License-Identifier: Apache-2.0
// The guard at the door of every exported function: exceptions, forks, messages, the trace.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "ascendcl/process/fork.h"
#include "ascendcl/report/trace.h"
#include "common/status.h"
#include "common/uncancelled.h"

namespace openaclnn {

/// Records `<prefix of the code>: <api>: <text>` as the thread's recent message; returns the code.
/// libascendcl's own in error.cc; in the libraries above it client.cc's, through its interface.
int Report(const char* api, const Status& status);

/// Refusal of every function that is called in a child of fork.
inline Status ForkedError() {
  return Status(100001,
                "this process is a child of fork, which inherits neither device threads nor device "
                "memory; start it with spawn or exec and initialise there");
}

/// Runs a body that returns a Status; an exception becomes one. (Its texts are short enough to need
/// no memory.)
template <class Body>
Status Guard(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(200000, "out of memory");
  } catch (StatusException& failure) {
    return std::move(failure.status);
  } catch (const std::exception&) {
    return Status(500000, "internal error");
  }
}

/// As Api, for functions in which no thread is cancelled: they wait and use files nowhere, but in
/// what is Uncancelled itself. (For a small call of an operator Api takes 340 instructions of
/// 13,450 more.)
template <class Body>
int ShortApi(const char* api, Body&& body, const char* phase = "") {
  const int64_t start = TraceStart();
  const Status status = Forked() ? Guard(ForkedError) : Guard(body);
  if (!status.ok()) {
    (void)Guard([&] {
      Report(api, status);
      return Status();
    });
  }
  if (start != 0) [[unlikely]]
    TraceCall(api, phase, start, status.code());
  return status.code();
}

/// Body of an exported function: no exception leaves it, a failure is recorded for
/// aclGetRecentErrMsg under the function's name. `phase`: what a trace adds to that name.
template <class Body>
int Api(const char* api, Body&& body, const char* phase = "") {
  const UncancelledCall call;
  return ShortApi(api, std::forward<Body>(body), phase);
}

/// As Api, for functions that destroy or free: in a child of fork they do nothing and succeed.
template <class Body>
int ReleaseApi(const char* api, Body&& body) {
  return Forked() ? 0 : Api(api, std::forward<Body>(body));
}

}  // namespace openaclnn
