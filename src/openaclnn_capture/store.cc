// SPDX-License-Identifier: Apache-2.0
// Writes a captured call, under another name until it is whole.
#include "openaclnn_capture/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "acl/acl.h"
#include "common/folder.h"
#include "common/write_quietly.h"
#include "openaclnn/version.h"
#include "openaclnn_capture/json_text.h"
#include "openaclnn_capture/next.h"
#include "openaclnn_capture/settings.h"

namespace openaclnn::capture {
namespace {

namespace fs = std::filesystem;

/// The version of the files' form; python/openaclnn/replay/capture.py reads it.
constexpr int kFormat = 1;

/// The CRC-32 of zip and PNG, polynomial 0xEDB88320.
uint32_t Crc32(const std::string& bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table = {};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) {
        table[i] = table[i] >> 1 ^ (table[i] & 1) * 0xEDB88320u;
      }
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) crc = kTable[(crc ^ byte) & 255] ^ crc >> 8;
  return ~crc;
}

[[noreturn]] void Fail(const fs::path& path) {
  throw std::runtime_error("cannot write " + path.string() + ": " + strerror(errno));
}

/// A new file that nobody else can read. Its descriptor is no standard stream's, which the program
/// may have closed, and print to.
int MakeFile(const fs::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int file = open(path.c_str(), kFlags, 0600);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return above;
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  const int file = MakeFile(path);
  if (file < 0) Fail(path);
  const bool written = WriteQuietly(file, bytes);
  const int error = errno;
  const bool closed = close(file) == 0;
  if (!written) errno = error;
  if (!written || !closed) Fail(path);
}

std::string Product() {
  const auto name = NEXT(aclrtGetSocName);
  const char* const product = name == nullptr ? nullptr : name();
  return product == nullptr ? "" : product;
}

/// Makes a folder of a name that no finished call has, and removes it, whatever stops the work. If
/// the process is killed it stays; `openaclnn replay` names it.
class Unfinished {
 public:
  Unfinished(const fs::path& above, const std::string& name) {
    MakeFolders(above.string(), 0700);
    const std::string first = ".unfinished-" + std::to_string(getpid()) + "-" + name;
    for (int again = 1;; ++again) {
      folder_ = above / (again == 1 ? first : first + "." + std::to_string(again));
      if (mkdir(folder_.c_str(), 0700) == 0) return;
      if (errno != EEXIST) {
        throw std::runtime_error("cannot make " + folder_.string() + ": " + strerror(errno));
      }
    }
  }
  Unfinished(const Unfinished&) = delete;
  // Needs no memory, of which there may be none.
  ~Unfinished() {
    if (finished_) return;
    for (const fs::path& file : files_) unlink(file.c_str());
    rmdir(folder_.c_str());
  }

  void Write(const std::string& name, std::string_view bytes) {
    WriteFile(files_.emplace_back(folder_ / name), bytes);
  }

  /// Gives the folder that name, unless there is another: `error` says so.
  void Rename(const fs::path& name, std::error_code& error) {
    fs::rename(folder_, name, error);
    finished_ = !error;
  }

 private:
  fs::path folder_;
  std::vector<fs::path> files_;
  bool finished_ = false;
};

std::string Save(const std::string& name, const std::string& bytes, Unfinished* folder) {
  folder->Write(name, bytes);
  return JsonObject({{"file", Quote(name)}, {"crc32", Concat(Crc32(bytes))}});
}

/// Memory that does not change is saved once: `after` is null then.
std::string SaveMemory(size_t index, const Memory& memory, Unfinished* folder) {
  const std::string name = Concat("memory", index);
  std::string before = "null", after = "null";
  if (memory.readable) before = Save(name + ".before.bin", memory.before, folder);
  if (memory.readable && memory.after != memory.before) {
    after = Save(name + ".after.bin", memory.after, folder);
  }
  return JsonObject(
      {{"bytes", Concat(memory.end - memory.begin)}, {"before", before}, {"after", after}});
}

std::string Words(const std::optional<Outcome>& outcome) {
  if (!outcome) return "null";
  return JsonObject({{"code", Concat(outcome->code)}, {"message", Quote(outcome->message)}});
}

}  // namespace

void Store(const Call& call, const std::vector<Memory>& memory, const Outcomes& outcomes,
           uint64_t number) {
  const fs::path above = CurrentSettings().folder;
  const std::string digits = std::to_string(number);
  const std::string name =
      std::string(6 - std::min<size_t>(6, digits.size()), '0') + digits + "-" + call.api;
  Unfinished unfinished(above, name);
  std::vector<std::string> saved;
  for (size_t i = 0; i < memory.size(); ++i) {
    saved.push_back(SaveMemory(i, memory[i], &unfinished));
  }
  const std::string document =
      JsonObject({{"format", Concat(kFormat)},
                  {"made_by", Quote("openaclnn " OPENACLNN_VERSION_STRING)},
                  {"product", Quote(Product())},
                  {"api", Quote(call.api)},
                  {"arguments", DescribeArguments(call, memory)},
                  {"workspace_size", Concat(call.workspace_size)},
                  {"phase_1", Words(outcomes.phase_1)},
                  {"phase_2", Words(outcomes.phase_2)},
                  {"synchronize", Words(outcomes.synchronize)},
                  {"memory", JsonList(saved, "\n  ")}},
                 "\n ");
  unfinished.Write("call.json", document + "\n");
  // Earlier runs and other processes keep theirs.
  std::error_code error;
  for (int again = 1;; ++again) {
    const fs::path folder = above / (again == 1 ? name : name + "." + std::to_string(again));
    unfinished.Rename(folder, error);
    if (!error) return;
    if (error != std::errc::directory_not_empty && error != std::errc::file_exists) {
      throw std::runtime_error("cannot make " + folder.string() + ": " + error.message());
    }
  }
}

}  // namespace openaclnn::capture
