# SPDX-License-Identifier: Apache-2.0
# Makes sources and public headers of the supporting operators from their records, whenever CMake
# runs; a change of what they are made from runs it.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# Sources include them as generated/….
set(generated ${CMAKE_BINARY_DIR}/src/generated)
set(generated_headers ${CMAKE_BINARY_DIR}/include)

file(GLOB made_from CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/opapi/supporting/*/operators.toml)
list(APPEND made_from
  ${PROJECT_SOURCE_DIR}/scripts/operators/generate_operators.py
  ${PROJECT_SOURCE_DIR}/scripts/operators/operator_records.py
  ${PROJECT_SOURCE_DIR}/scripts/operators/check_records.py
  ${PROJECT_SOURCE_DIR}/scripts/operators/operator_headers.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${made_from})
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${Python3_EXECUTABLE} -B
  ${PROJECT_SOURCE_DIR}/scripts/operators/generate_operators.py ${generated} ${generated_headers})

# Of operators by their graph names: sources include them as graph_operators/….
set(graph_operators ${CMAKE_BINARY_DIR}/src/graph_operators)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/companions/acl_op_compiler/operators.toml
  ${PROJECT_SOURCE_DIR}/scripts/operators/generate_graph_operators.py
  ${PROJECT_SOURCE_DIR}/scripts/operators/graph_records.py
  ${PROJECT_SOURCE_DIR}/scripts/operators/generate_declarations.py)
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${Python3_EXECUTABLE} -B
  ${PROJECT_SOURCE_DIR}/scripts/operators/generate_graph_operators.py ${graph_operators}
  ${PROJECT_SOURCE_DIR}/include ${generated_headers})
