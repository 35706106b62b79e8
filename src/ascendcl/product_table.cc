// SPDX-License-Identifier: Apache-2.0
// The tables of products and of their families: names, core counts, and the rules that differ.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>

#include "ascendcl/product.h"
#include "common/status.h"

namespace openaclnn {
namespace {

// Sizes of ConvTbc, the row of the softmax and the bytes for counters are limits of the operators'
// pages; allocations are padded as the runtime's page says.
constexpr OpenaclnnFamilyRules kFamilies[] = {
    // clang-format off
    //  padding  HF32  softmax  taps  pad  dim         counters
    {"910",   0, 0,    4096,    0,    0,   0,          180192},
    {"A2",   32, 1,    4096,    255,  255, 2147483646, 0},
    {"A3",   32, 1,    4096,    255,  255, 2147483646, 0},
    {"950",   0, 1,    8192,    0,    0,   0,          0},
    {"310P", 32, 0,    4096,    0,    0,   0,          0},
    {"310B", 32, 0,    4096,    0,    0,   0,          0},
    // clang-format on
};
static_assert(std::size(kFamilies) == OPENACLNN_FAMILY_COUNT);

constexpr int32_t kCores950 = 32;

constexpr Product Of(const char* name, OpenaclnnFamily family, int32_t core_count) {
  return {name, family, core_count, &kFamilies[family]};
}

// Core counts of the 910 family decide how large scaleGradByFreq may be: 32 for names ending in A,
// 30 for those ending in B. The other counts are assumed; no result depends on them.
constexpr Product kProducts[] = {
    Of("Ascend910A", OPENACLNN_FAMILY_910, 32),
    Of("Ascend910B", OPENACLNN_FAMILY_910, 30),
    Of("Ascend910ProA", OPENACLNN_FAMILY_910, 32),
    Of("Ascend910ProB", OPENACLNN_FAMILY_910, 30),
    Of("Ascend910PremiumA", OPENACLNN_FAMILY_910, 32),
    Of("Ascend910B1", OPENACLNN_FAMILY_A2, 24),
    Of("Ascend910B2", OPENACLNN_FAMILY_A2, 24),
    Of("Ascend910B2C", OPENACLNN_FAMILY_A2, 24),
    Of("Ascend910B3", OPENACLNN_FAMILY_A2, 20),
    Of("Ascend910B4", OPENACLNN_FAMILY_A2, 20),
    Of("Ascend910B4-1", OPENACLNN_FAMILY_A2, 20),
    Of("Ascend910_9391", OPENACLNN_FAMILY_A3, 24),
    Of("Ascend910_9392", OPENACLNN_FAMILY_A3, 24),
    Of("Ascend910_9381", OPENACLNN_FAMILY_A3, 24),
    Of("Ascend910_9382", OPENACLNN_FAMILY_A3, 24),
    Of("Ascend910_9372", OPENACLNN_FAMILY_A3, 20),
    Of("Ascend910_9362", OPENACLNN_FAMILY_A3, 20),
    Of("Ascend910_9363", OPENACLNN_FAMILY_A3, 20),
    Of("Ascend310P1", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310P2", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310P3", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310P4", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310P5", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310P7", OPENACLNN_FAMILY_310P, 8),
    Of("Ascend310B1", OPENACLNN_FAMILY_310B, 1),
    Of("Ascend310B2", OPENACLNN_FAMILY_310B, 1),
    Of("Ascend310B3", OPENACLNN_FAMILY_310B, 1),
    Of("Ascend310B4", OPENACLNN_FAMILY_310B, 1),
    Of("Ascend950PR_9579", OPENACLNN_FAMILY_950, kCores950),
};

// Clients take any name that begins so for one of the 950 family.
constexpr std::string_view kFamily950 = "Ascend950";

/// A product that the table does not name; it lives for ever, as those of the table do.
const Product* Of950(std::string_view name) {
  static std::mutex mutex;
  static auto* const products = new std::map<std::string, Product, std::less<>>;
  std::lock_guard lock(mutex);
  auto found = products->find(name);
  if (found == products->end()) {
    found = products->emplace(name, Of(nullptr, OPENACLNN_FAMILY_950, kCores950)).first;
    found->second.name = found->first.c_str();
  }
  return &found->second;
}

}  // namespace

std::span<const Product> Products() { return kProducts; }

const Product* FindProduct(std::string_view name) {
  const auto* found = std::find_if(std::begin(kProducts), std::end(kProducts),
                                   [&](const Product& product) { return product.name == name; });
  if (found != std::end(kProducts)) return found;
  return name.starts_with(kFamily950) ? Of950(name) : nullptr;
}

const char* FamilyName(OpenaclnnFamily family) { return kFamilies[family].name; }

std::string ProductNames() {
  std::string names;
  for (const Product& product : kProducts) {
    if (!names.empty()) names += ", ";
    names += product.name;
  }
  return Concat(names, " or another that begins with ", kFamily950);
}

}  // namespace openaclnn
