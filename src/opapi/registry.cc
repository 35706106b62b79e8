// SPDX-License-Identifier: Apache-2.0
// Types and products that the operators of the library support, as JSON.
#include "opapi/registry.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ascendcl/report/error.h"
#include "frame/checker.h"
#include "frame/operand.h"

namespace openaclnn {
namespace {

/// By name.
std::vector<const Operator*> Registered() {
  std::vector<const Operator*> operators;
  for (const Registration* each = Registration::first(); each != nullptr; each = each->next()) {
    operators.push_back(&each->op());
  }
  std::sort(operators.begin(), operators.end(),
            [](const Operator* a, const Operator* b) { return std::string_view(a->api) < b->api; });
  return operators;
}

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
  for (const Operator* op : Registered()) operators.push_back(Describe(*op));
  nlohmann::ordered_json family;
  for (RecordedOperator& recorded : RecordedOperators()) {
    recorded.support.front().operand = recorded.support.size() == 1 ? "tensors" : "other tensors";
    family.push_back(Describe({recorded.api, recorded.support}));
  }
  return nlohmann::ordered_json(
             {{"products", products}, {"operators", operators}, {"supporting", family}})
      .dump();
}

}  // namespace
}  // namespace openaclnn

/// Products and operators with their types, for the command-line tool; null when the libraries are
/// of different versions or memory is short. The text lives as long as the process.
extern "C" __attribute__((visibility("default"))) const char* openaclnn_support_json() {
  const char* text = nullptr;
  openaclnn::Api("support table", [&]() -> openaclnn::Status {
    if (openaclnn::Meta() == nullptr) return {};
    static const auto* const json = new std::string(openaclnn::DescribeAll());
    text = json->c_str();
    return {};
  });
  return text;
}
