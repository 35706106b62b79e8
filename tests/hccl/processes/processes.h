// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes: this program again, once for each, in a role.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace openaclnn::ranks {

/// What a process does with its rank; its result is the process's exit code, 0 when all is well.
using Role = int (*)(uint32_t ranks, uint32_t rank);
/// By name; null if there is none.
Role FindRole(const std::string& name);

/// In a role: the root info of the job's n-th communicator, which the rank `root` makes and the
/// others wait for.
struct Job {
  static std::string Folder();
  static std::string PathOfInfo(uint32_t number);
};

/// Starts the ranks; the folder is theirs alone and goes with this.
class Processes {
 public:
  using Clock = std::chrono::steady_clock;

  /// `missing`: a rank that never comes, or none.
  Processes(const std::string& role, uint32_t ranks, uint32_t missing = UINT32_MAX);
  Processes(const Processes&) = delete;
  ~Processes();

  void Signal(uint32_t rank, int signal) const;
  /// By SIGSTOP; returns once none of its threads runs any more, or it has ended.
  void Stop(uint32_t rank) const;
  /// The same where the rank stops itself.
  void AwaitStop(uint32_t rank) const;
  /// The rank's exit code, -signal when one ended it, or -1000 when the time is over.
  int Await(uint32_t rank, std::chrono::milliseconds time = std::chrono::seconds(60));
  /// Whether the rank has made the file: it is so far.
  bool Reached(const std::string& file, std::chrono::milliseconds time) const;
  /// Makes the file, for which ranks wait.
  void Make(const std::string& file) const;
  /// What the rank has written to its standard error.
  std::string Said(uint32_t rank) const;

 private:
  std::string folder_;
  std::vector<pid_t> processes_;
};

/// How often a test does what it does at random: the variable's number, or one for everyday.
int Times(const char* variable, int everyday);

/// The test's own numbers, others for each OPENACLNN_TEST_SEED.
std::mt19937 Seeded(uint32_t test);

/// Why there is nothing to test between processes; empty if there is.
std::string WhyNoProcesses();

}  // namespace openaclnn::ranks
