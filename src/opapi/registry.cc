// SPDX-License-Identifier: Apache-2.0
// The list of operators, one line each, and what they support as JSON.
#include "opapi/registry.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ascendcl/error.h"
#include "conv_tbc/backward/op.h"
#include "conv_tbc/forward/op.h"
#include "embedding/backward/op.h"
#include "embedding/forward/op.h"
#include "grouped_bias/backward/op.h"
#include "masked_softmax/backward/op.h"
#include "masked_softmax/forward/op.h"
#include "nsa_compress/backward/op.h"
#include "nsa_compress/forward/op.h"
#include "supporting/family.h"

namespace openaclnn {
namespace {

const Operator* const kOperators[] = {
    &conv_tbc::kOperator,
    &conv_tbc_backward::kOperator,
    &embedding::kOperator,
    &embedding_dense_backward::kOperator,
    &grouped_bias_add_grad::kOperator,
    &grouped_bias_add_grad::kOperatorV2,
    &nsa_compress::kOperator,
    &nsa_compress_grad::kOperator,
    &scaled_masked_softmax::kOperator,
    &scaled_masked_softmax_backward::kOperator,
};

std::vector<std::string> DtypeNames(DtypeSet set) {
  std::vector<std::string> names;
  for (const DataTypeInfo& info : data_type_table::kTypes) {
    if (Contains(set, info.type)) names.emplace_back(info.name);
  }
  return names;
}

nlohmann::ordered_json Describe(const Operator& op) {
  nlohmann::ordered_json operands;
  for (const OperandSupport& row : op.support) {
    nlohmann::ordered_json dtypes = nlohmann::ordered_json::object();
    for (int f = 0; f < OPENACLNN_FAMILY_COUNT; ++f) {
      const auto family = static_cast<OpenaclnnFamily>(f);
      if (row.dtypes[family] == 0) continue;
      dtypes[Meta()->runtime->family_name(family)] = DtypeNames(row.dtypes[family]);
    }
    operands.push_back({{"name", row.operand}, {"dtypes", dtypes}});
  }
  return {{"name", op.api}, {"operands", operands}};
}

std::string DescribeAll() {
  nlohmann::ordered_json products, operators;
  for (uint32_t i = 0; i < Meta()->runtime->product_count(); ++i) {
    const Product* product = Meta()->runtime->product_at(i);
    products.push_back(
        {{"name", product->name}, {"family", Meta()->runtime->family_name(product->family)}});
  }
  for (const Operator* op : kOperators) operators.push_back(Describe(*op));
  nlohmann::ordered_json family;
  for (const supporting::Row* row : supporting::Table()) {
    // All tensors take the types of the row that the product has.
    OperandSupport tensors = supporting::kEverywhere[0];
    for (DtypeSet& dtypes : tensors.dtypes) dtypes &= row->dtypes;
    family.push_back(Describe({row->op.api, {&tensors, 1}}));
  }
  return nlohmann::ordered_json(
             {{"products", products}, {"operators", operators}, {"supporting", family}})
      .dump();
}

}  // namespace

std::span<const Operator* const> Operators() { return kOperators; }

}  // namespace openaclnn

/// Products and operators with their types, for the command-line tool; null when the libraries are
/// of different versions or memory is short. The text lives as long as the process.
extern "C" __attribute__((visibility("default"))) const char* openaclnn_support_json() {
  const char* text = nullptr;
  openaclnn::Api("openaclnn_support_json", [&]() -> openaclnn::Status {
    if (openaclnn::Meta() == nullptr) return {};
    static const auto* const json = new std::string(openaclnn::DescribeAll());
    text = json->c_str();
    return {};
  });
  return text;
}
