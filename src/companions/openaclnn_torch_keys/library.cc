// SPDX-License-Identifier: Apache-2.0
// libopenaclnn_torch_keys.so. Preloaded, as `openaclnn run` does, it lets torch-npu 2.13 and later
// load beside the CUDA build of PyTorch.
//
// Both backends register options of their memory allocators under the same keys, which PyTorch
// takes for a mistake and ends the process; its CPU build has one backend. This set is the one in
// which it looks for keys that came before: here it forgets them.
#include <string>
#include <unordered_set>

#pragma GCC visibility push(default)
// NOLINTNEXTLINE(readability-identifier-naming): PyTorch's
namespace c10::CachingAllocator {

struct AcceleratorAllocatorConfig {
  static std::unordered_set<std::string>& getMutableKeys();
};

std::unordered_set<std::string>& AcceleratorAllocatorConfig::getMutableKeys() {
  static std::unordered_set<std::string> keys;
  keys.clear();
  return keys;
}

}  // namespace c10::CachingAllocator
#pragma GCC visibility pop
