// SPDX-License-Identifier: Apache-2.0
// Starts this program again as the ranks of a job, and ends it.
#include "hccl/processes/processes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "hccl/processes/networks.h"

extern char** environ;

namespace openaclnn::ranks {
namespace {

constexpr const char* kFolder = "OPENACLNN_TEST_RANKS";

std::string OutputOf(const std::string& folder, uint32_t rank) {
  return folder + "/said." + std::to_string(rank);
}

}  // namespace

std::string Job::Folder() { return std::getenv(kFolder); }

std::string Job::PathOfInfo(uint32_t number) {
  return Folder() + "/info." + std::to_string(number);
}

Processes::Processes(const std::string& role, uint32_t ranks, uint32_t missing)
    : processes_(ranks, -1) {
  std::string name = (std::filesystem::temp_directory_path() / "openaclnn-ranks-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  setenv(kFolder, folder_.c_str(), 1);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (rank == missing) continue;
    std::string count = std::to_string(ranks), number = std::to_string(rank), called = role;
    std::string program = "/proc/self/exe";
    char* const arguments[] = {program.data(), called.data(), count.data(), number.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, OutputOf(folder_, rank).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const WithinNetwork network(rank);
    if (posix_spawn(&processes_[rank], program.c_str(), &actions, nullptr, arguments, environ) !=
        0) {
      processes_[rank] = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
  }
}

Processes::~Processes() {
  for (uint32_t rank = 0; rank < processes_.size(); ++rank) {
    if (processes_[rank] <= 0) continue;
    Signal(rank, SIGKILL);
    waitpid(processes_[rank], nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Processes::Signal(uint32_t rank, int signal) const {
  if (processes_[rank] > 0) kill(processes_[rank], signal);  // -1 is all of the user's
}

void Processes::Stop(uint32_t rank) const {
  Signal(rank, SIGSTOP);
  AwaitStop(rank);
}

void Processes::AwaitStop(uint32_t rank) const {
  if (processes_[rank] <= 0) return;
  const auto process = static_cast<id_t>(processes_[rank]);
  siginfo_t stopped;
  while (waitid(P_PID, process, &stopped, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

int Processes::Await(uint32_t rank, std::chrono::milliseconds time) {
  constexpr int kLate = -1000;
  const auto deadline = Clock::now() + time;
  int status = 0;
  while (waitpid(processes_[rank], &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) return kLate;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  processes_[rank] = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool Processes::Reached(const std::string& file, std::chrono::milliseconds time) const {
  const auto deadline = Clock::now() + time;
  while (!std::filesystem::exists(folder_ + "/" + file)) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void Processes::Make(const std::string& file) const { std::ofstream(folder_ + "/" + file) << "go"; }

std::string Processes::Said(uint32_t rank) const {
  std::ostringstream said;
  said << std::ifstream(OutputOf(folder_, rank)).rdbuf();
  return said.str();
}

int Times(const char* variable, int everyday) {
  const char* const asked = std::getenv(variable);
  return asked != nullptr ? std::atoi(asked) : everyday;
}

std::mt19937 Seeded(uint32_t test) {
  constexpr uint32_t kTests = 100;
  return std::mt19937(test + kTests * static_cast<uint32_t>(Times("OPENACLNN_TEST_SEED", 0)));
}

std::string WhyNoProcesses() {
  void* const library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "LEFT OUT: libucp.so.0 (Debian: libucx0) is not installed";
  dlclose(library);
#if __has_include(<ucp/api/ucp.h>)
  return "";
#else
  return "LEFT OUT: the library was built without UCX (Debian: libucx-dev)";
#endif
}

}  // namespace openaclnn::ranks
