// SPDX-License-Identifier: Apache-2.0
// The functions of frameworks that end in graph operators which do not exist here.
#include <algorithm>
#include <iterator>
#include <utility>

#include "graph_operators.h"

namespace openaclnn {
namespace {

constexpr std::pair<std::string_view, std::string_view> kAbsent[] = {
    {"DynamicGRUV2", "torch.nn.GRU"},
    {"DynamicGRUV2Grad", "the gradient of torch.nn.GRU"},
    {"DynamicRNNV2", "torch.nn.LSTMCell"},
    {"DynamicRNNV2Grad", "the gradient of torch.nn.LSTMCell"},
};

}  // namespace

std::string_view CallerOfAbsent(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kAbsent), std::end(kAbsent),
                                         [&](const auto& each) { return each.first == name; });
  return found != std::end(kAbsent) ? found->second : std::string_view();
}

}  // namespace openaclnn
