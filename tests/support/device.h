// SPDX-License-Identifier: Apache-2.0
// The runtime for the length of a scope: initialised under given variables, with a stream.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace openaclnn::test {

/// What a call returned, with aclGetRecentErrMsg's text if it failed.
struct Outcome {
  int code = 0;
  std::string message;

  bool ok() const { return code == 0; }
};

/// Takes the message that belongs to the code from the calling thread.
Outcome TakeOutcome(int code);

/// An environment variable, put back as it was in the end.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value);
  ScopedVariable(const ScopedVariable&) = delete;
  ~ScopedVariable();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

struct Variable {
  const char* name;
  std::string value;
};

/// One at a time: the library is initialised by the constructor and finalised by the destructor.
class Device {
 public:
  /// Throws std::runtime_error with the library's message when the environment is refused.
  explicit Device(const std::vector<Variable>& environment);
  Device(std::initializer_list<Variable> environment = {})
      : Device(std::vector<Variable>(environment)) {}
  Device(const Device&) = delete;
  ~Device();

  aclrtStream stream() const { return stream_; }
  Outcome Synchronize() const;

 private:
  std::vector<std::unique_ptr<ScopedVariable>> variables_;
  aclrtStream stream_ = nullptr;
};

/// Keeps a stream from running what is queued after it, until Open or the end of the scope.
class Gate {
 public:
  explicit Gate(aclrtStream stream);
  Gate(const Gate&) = delete;
  ~Gate();

  void Open();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace openaclnn::test
