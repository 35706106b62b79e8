// SPDX-License-Identifier: Apache-2.0
// A client of libgraph.so and libge_runner.so, compiled as they are for strings of before C++11:
// makes descriptions of operators, and is refused a graph by an exception that it can catch.
#include <cstdio>
#include <cstring>
#include <exception>

#include "companions/graph/operator.h"

namespace ge {

// As clients declare them; of these only the names are the interface.
class OperatorFactory {
 public:
  static bool IsExistOp(const char* type);
  static Operator CreateOperator(const char* name, const char* type);
};
class Session {
 public:
  uint32_t CompileGraph(uint32_t id);
};
class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char* type,
                          const std::function<Operator(const AscendString&)>& create);
};

}  // namespace ge

namespace {

int g_failed = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED  %s\n", what);
  ++g_failed;
}

/// As clients describe an operator of their own, before main.
struct Described : ge::Operator {
  explicit Described(const ge::AscendString& name) : Operator(name, ge::AscendString("Described")) {
    InputRegister("x", "");
    OutputRegister("y", "");
    AttrRegister("axis", int64_t{-1});
    AttrRegister("mode", ge::AscendString("linear"));
  }
};
const ge::OperatorCreatorRegister g_register("Described",
                                             [](const ge::AscendString& name) -> ge::Operator {
                                               return Described(name);
                                             });

void Attributes() {
  Described op(ge::AscendString("first"));
  int64_t wide = 0;
  int32_t narrow = 0;
  Expect(op.GetAttr("axis", wide) == ge::kFound && wide == -1, "a default");
  Expect(op.GetAttr("axis", narrow) == ge::kFound && narrow == -1, "an integer of 32 bits");
  std::string text;
  Expect(op.GetAttr(std::string("mode"), text) == ge::kFound && text == "linear", "a text");
  op.SetAttr("axis", int32_t{3}).SetAttr("rate", 0.5F).SetAttr("flag", true);
  bool flag = false;
  float rate = 0;
  Expect(op.GetAttr("axis", wide) == ge::kFound && wide == 3, "an integer that was set");
  Expect(op.GetAttr("rate", rate) == ge::kFound && rate == 0.5F, "a float");
  Expect(op.GetAttr("flag", flag) == ge::kFound && flag, "a truth value");
  Expect(op.GetAttr("rate", wide) == ge::kNotFound, "a float is no integer");
  Expect(op.GetAttr("none", wide) == ge::kNotFound, "what nobody has set");
  op.SetAttr("pads", ge::Ints{1, 2}).SetAttr("sizes", std::vector<int32_t>{3, 4});
  ge::Ints pads;
  std::vector<int32_t> sizes;
  Expect(op.GetAttr("sizes", pads) == ge::kFound && pads == ge::Ints{3, 4}, "a list, wider");
  Expect(op.GetAttr("pads", sizes) == ge::kFound && sizes == std::vector<int32_t>{1, 2},
         "a list, narrower");
  const ge::Operator copy = op;  // shares what it is a copy of
  op.SetAttr("axis", int32_t{5});
  Expect(copy.GetAttr("axis", wide) == ge::kFound && wide == 5, "a copy");
  ge::AscendString name("");
  Expect(
      op.GetName() == "first" && op.GetName(name) == 0 && !std::strcmp(name.GetString(), "first"),
      "a name");
  Expect(op.GetOpType() == "Described", "a type");
  Expect(!ge::OperatorFactory::IsExistOp(nullptr), "no name");
}

void Factory() {
  Expect(ge::OperatorFactory::IsExistOp("BiasAdd"), "an operator that can be run");
  Expect(!ge::OperatorFactory::IsExistOp("Described"), "one that can not, though it is described");
  const ge::Operator made = ge::OperatorFactory::CreateOperator("add", "BiasAdd");
  Expect(made.GetOpType() == "BiasAdd" && made.GetName() == "add", "a description");
}

/// What a refusal says, or nothing.
template <class Call>
std::string Refusal(Call&& call) {
  try {
    call();
  } catch (const std::exception& refused) {
    return refused.what();
  }
  return "";
}

void Refusals() {
  ge::Session session;
  Expect(Refusal([&] {
           session.CompileGraph(0);
         }).find("ge::Session::CompileGraph is not supported by openaclnn") == 0,
         "a graph");
  Expect(Refusal([] {
           ge::OperatorFactory::CreateOperator("c", "Described");
         }).find("ge::OperatorFactory::CreateOperator is not supported") == 0,
         "an operator that cannot be run");
}

}  // namespace

int main() {
  Attributes();
  Factory();
  Refusals();
  return g_failed == 0 ? 0 : 1;
}
