// SPDX-License-Identifier: Apache-2.0
// Files of JSON that programs name: whether there is one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace openaclnn {

enum class JsonFile { kJson, kUnreadable, kNotJson };

/// Reads the file. Something else of that name is not read: a folder, or a pipe, which would wait
/// for a writer.
inline JsonFile CheckJsonFile(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return JsonFile::kUnreadable;
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(descriptor);
    return JsonFile::kUnreadable;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(descriptor, "r"), std::fclose);
  if (file == nullptr) {
    close(descriptor);
    return JsonFile::kUnreadable;
  }
  return nlohmann::json::accept(file.get()) ? JsonFile::kJson : JsonFile::kNotJson;
}

}  // namespace openaclnn
