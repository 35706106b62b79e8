# SPDX-License-Identifier: Apache-2.0
"""Reads a client's calls: the types of arguments in C++ and in schemas."""

from op_plugin_calls import calls_of, calls_of_schemas, read_checkout

SOURCE = """
at::Tensor &other(const at::Scalar& self) {
}
at::Tensor &turn_out(const at::Tensor& self, at::IntArrayRef dims,
                     c10::OptionalArrayRef<c10::SymInt> sizes, at::TensorList all) {
  // EXEC_NPU_CMD(aclnnNever, self);
  float alpha = 2;
  auto copied = self.contiguous();
  EXEC_NPU_CMD(aclnnTurn, self, dims, sizes, all, alpha, static_cast<int8_t>(way), true, 3, 0.5,
               make(copied, dims), copied, what);
}
"""
SCHEMAS = """
official:
  - func: turn.out(Tensor self, SymInt[2] dims, *, float? alpha=1, Tensor(a!) out) -> Tensor(a!)
    gen_opapi:
      exec: aclnnTurn
  - func: two(Tensor self, Scalar[] by) -> (Tensor, Tensor)
    gen_opapi:
      exec: aclnnTwo
  - func: named(Tensor self, bool way) -> Tensor
    gen_opapi:
      exec: aclnnNamed, way, true, self, out
  - func: other(Tensor self) -> Tensor
"""


def test_types_are_those_of_the_declarations_before_a_call():
    assert list(calls_of(SOURCE)) == [
        ("Turn", ["aclTensor*", "aclIntArray*", "aclIntArray*", "aclTensorList*", "float", "int8_t",
                  "bool", "integer", "real", "?", "aclTensor*", "?"]),
    ]  # fmt: skip


def test_schemas_have_their_results_last():
    assert list(calls_of_schemas(SCHEMAS)) == [
        ("Turn", ["aclTensor*", "aclIntArray*", "double", "aclTensor*"]),
        ("Two", ["aclTensor*", "aclScalarList*", "aclTensor*", "aclTensor*"]),
        ("Named", ["bool", "bool", "aclTensor*", "aclTensor*"]),
    ]


def test_of_calls_that_differ_the_one_that_tells_most_counts(tmp_path):
    (tmp_path / "op_plugin/config").mkdir(parents=True)
    (tmp_path / "op_plugin/config/op_plugin_functions.yaml").write_text(SCHEMAS)
    (tmp_path / "op_plugin/turn.cpp").write_text(SOURCE)
    facts = read_checkout(tmp_path, "1a2b")["Turn"]
    assert (facts.version, facts.where, facts.parameters.count(",")) == ("1a2b", "op_plugin/turn.cpp", 11)
