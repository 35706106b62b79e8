// SPDX-License-Identifier: Apache-2.0
// The table of products: name, family, core count.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>

#include "ascendcl/product.h"
#include "ascendcl/status.h"

namespace openaclnn {
namespace {

// Core counts of the 910 family decide how large scaleGradByFreq may be: 32 for names ending in A,
// 30 for those ending in B. The other counts are assumed; no result depends on them.
constexpr int32_t kCores950 = 32;
constexpr Product kProducts[] = {
    {"Ascend910A", OPENACLNN_FAMILY_910, 32},
    {"Ascend910B", OPENACLNN_FAMILY_910, 30},
    {"Ascend910ProA", OPENACLNN_FAMILY_910, 32},
    {"Ascend910ProB", OPENACLNN_FAMILY_910, 30},
    {"Ascend910PremiumA", OPENACLNN_FAMILY_910, 32},
    {"Ascend910B1", OPENACLNN_FAMILY_A2, 24},
    {"Ascend910B2", OPENACLNN_FAMILY_A2, 24},
    {"Ascend910B2C", OPENACLNN_FAMILY_A2, 24},
    {"Ascend910B3", OPENACLNN_FAMILY_A2, 20},
    {"Ascend910B4", OPENACLNN_FAMILY_A2, 20},
    {"Ascend910B4-1", OPENACLNN_FAMILY_A2, 20},
    {"Ascend910_9391", OPENACLNN_FAMILY_A3, 24},
    {"Ascend910_9392", OPENACLNN_FAMILY_A3, 24},
    {"Ascend910_9381", OPENACLNN_FAMILY_A3, 24},
    {"Ascend910_9382", OPENACLNN_FAMILY_A3, 24},
    {"Ascend910_9372", OPENACLNN_FAMILY_A3, 20},
    {"Ascend910_9362", OPENACLNN_FAMILY_A3, 20},
    {"Ascend910_9363", OPENACLNN_FAMILY_A3, 20},
    {"Ascend310P1", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310P2", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310P3", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310P4", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310P5", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310P7", OPENACLNN_FAMILY_310P, 8},
    {"Ascend310B1", OPENACLNN_FAMILY_310B, 1},
    {"Ascend310B2", OPENACLNN_FAMILY_310B, 1},
    {"Ascend310B3", OPENACLNN_FAMILY_310B, 1},
    {"Ascend310B4", OPENACLNN_FAMILY_310B, 1},
    {"Ascend950PR_9579", OPENACLNN_FAMILY_950, kCores950},
};

constexpr const char* kFamilyNames[] = {"910", "A2", "A3", "950", "310P", "310B"};
static_assert(std::size(kFamilyNames) == OPENACLNN_FAMILY_COUNT);

// Clients take any name that begins so for one of the 950 family.
constexpr std::string_view kFamily950 = "Ascend950";

/// A product that the table does not name; it lives for ever, as those of the table do.
const Product* Of950(std::string_view name) {
  static std::mutex mutex;
  static auto* const products = new std::map<std::string, Product, std::less<>>;
  std::lock_guard lock(mutex);
  auto found = products->find(name);
  if (found == products->end()) {
    found = products->emplace(name, Product{nullptr, OPENACLNN_FAMILY_950, kCores950}).first;
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

const char* FamilyName(OpenaclnnFamily family) { return kFamilyNames[family]; }

std::string ProductNames() {
  std::string names;
  for (const Product& product : kProducts) {
    if (!names.empty()) names += ", ";
    names += product.name;
  }
  return Concat(names, " or another that begins with ", kFamily950);
}

}  // namespace openaclnn
