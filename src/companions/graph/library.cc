// SPDX-License-Identifier: Apache-2.0
// libgraph.so, with which graphs are described: the C++ functions that clients link. Descriptions
// of single operators are made; what makes a graph of them refuses.
#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "ascendcl/refused_function.h"
#include "graph_operators/names.h"
#include "operator.h"
#include "refused.inc"

/// ge::GraphBuffer::~GraphBuffer: there is no buffer.
extern "C" ACL_FUNC_VISIBILITY void _ZN2ge11GraphBufferD1Ev() {}

#pragma GCC visibility push(default)
namespace ge {

/// Meanings of codes. Clients add to it in code of their own, while they are loaded.
class StatusFactory {
 public:
  static StatusFactory* Instance();

 private:
  std::map<uint32_t, std::string> descriptions_;
};

StatusFactory* StatusFactory::Instance() {
  static auto* const instance = new StatusFactory;  // for as long as anybody may end
  return instance;
}

/// Says how an operator is described. Those that can be run have no descriptions of clients' own.
class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char* type,
                          const std::function<Operator(const AscendString&)>& create);
  OperatorCreatorRegister(const std::string& type,
                          const std::function<Operator(const std::string&)>& create);
};

/// Says how the shapes of an operator's results are told, which nobody asks here.
class InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const std::string& type, const std::function<Code(Operator&)>& infer);
};

/// Makes descriptions of the operators that can be run.
class OperatorFactory {
 public:
  static bool IsExistOp(const char* type);
  static bool IsExistOp(const std::string& type);
  static Operator CreateOperator(const char* name, const char* type);
  static Operator CreateOperator(const std::string& name, const std::string& type);
};

}  // namespace ge
#pragma GCC visibility pop

namespace ge {
OperatorCreatorRegister::OperatorCreatorRegister(
    const char*, const std::function<Operator(const AscendString&)>&) {}
OperatorCreatorRegister::OperatorCreatorRegister(
    const std::string&, const std::function<Operator(const std::string&)>&) {}

InferShapeFuncRegister::InferShapeFuncRegister(const std::string&,
                                               const std::function<Code(Operator&)>&) {}

bool OperatorFactory::IsExistOp(const char* type) {
  if (type == nullptr) return false;
  const std::span names = openaclnn::kGraphOperatorNames;
  return std::find(names.begin(), names.end(), std::string_view(type)) != names.end();
}
bool OperatorFactory::IsExistOp(const std::string& type) { return IsExistOp(type.c_str()); }

Operator OperatorFactory::CreateOperator(const char* name, const char* type) {
  if (!IsExistOp(type)) openaclnn::Refuse("ge::OperatorFactory::CreateOperator");
  return {name, type};
}
Operator OperatorFactory::CreateOperator(const std::string& name, const std::string& type) {
  return CreateOperator(name.c_str(), type.c_str());
}

}  // namespace ge
