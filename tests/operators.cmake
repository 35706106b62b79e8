# SPDX-License-Identifier: Apache-2.0
# Tests of the operators' rooms and of the kernels that they share.
find_package(rapidcheck REQUIRED)

file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cc)
# What fails when a test says so is for the programs that name it; from a library any would take it.
list(FILTER support_sources EXCLUDE REGEX "(_test|/short_memory|/short_kernel)\\.cc$")
add_library(test_support STATIC ${support_sources})
target_include_directories(test_support PUBLIC
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/opapi
  ${CMAKE_BINARY_DIR}/src ${generated_headers})
target_link_libraries(test_support PUBLIC opapi nnopbase ascendcl GTest::gtest rapidcheck)
compile_unwatched(test_support)

# Random cases of a property; sanitizers and emulators cost many times the time of each. The same in
# each run, which decides about a change: to look for what nobody knows yet is `make torture`'s.
set(random_seed 1)
set(random_cases 500)
if(OPENACLNN_SANITIZE)
  set(random_cases 30)
elseif(CMAKE_CROSSCOMPILING)
  set(random_cases 20)
elseif(OPENACLNN_COVERAGE)
  set(random_cases 100)
endif()
add_custom_target(operator_tests)

# One test of a room or of kernels. Each allocation of a device ends at a page that nothing may
# touch.
function(add_operator_test name)
  add_native_test(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE test_support)
  add_dependencies(operator_tests ${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "OPENACLNN_GUARD_PAGES=1;RC_PARAMS=seed=${random_seed} max_success=${random_cases}")
endfunction()

# test_case.cc of a room is what its tests, its bench and the fuzzer call.
file(GLOB_RECURSE rooms CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/opapi
  ${PROJECT_SOURCE_DIR}/src/opapi/*/test.cc)
foreach(test IN LISTS rooms)
  cmake_path(GET test PARENT_PATH room)
  string(REPLACE / _ name ${room})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/opapi/${room}/*test.cc)
  add_operator_test(${name}_test LABELS operator SOURCES ${sources})
  set(case ${PROJECT_SOURCE_DIR}/src/opapi/${room}/test_case.cc)
  if(EXISTS ${case})
    add_library(${name}_case STATIC ${case})
    compile_unwatched(${name}_case)
    target_link_libraries(${name}_case PUBLIC test_support)
    target_link_libraries(${name}_test PRIVATE ${name}_case)
    list(APPEND room_cases ${name}_case)
  endif()
endforeach()

# The frame that operators are written in and the kernels that they share, these once for each
# instruction set that the libraries have.
foreach(target baseline avx2 avx512)
  if(TARGET kernels_${target})
    string(TOUPPER ${target} upper)
    add_library(lanes_${target} OBJECT ${PROJECT_SOURCE_DIR}/tests/kernels/lanes_target.cc)
    target_include_directories(lanes_${target} PRIVATE
      ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_compile_options(lanes_${target} PRIVATE
      $<TARGET_PROPERTY:kernels_${target},COMPILE_OPTIONS>)
    target_compile_definitions(lanes_${target} PRIVATE
      OPENACLNN_TARGET=${target} LANES_NAME="${target}")
    list(APPEND lanes $<TARGET_OBJECTS:lanes_${target}> $<TARGET_OBJECTS:kernels_${target}>)
    list(APPEND lanes_definitions LANES_${upper})
  endif()
endforeach()
file(GLOB shared_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/opapi/*/shared_test.cc)
list(TRANSFORM shared_tests REPLACE _test.cc .cc OUTPUT_VARIABLE shared)  # which opapi hides
file(GLOB sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/frame/*_test.cc
  ${PROJECT_SOURCE_DIR}/tests/kernels/*_test.cc ${PROJECT_SOURCE_DIR}/tests/support/*_test.cc)
# Tables of expressions name loops over complex numbers, which are compiled once.
add_operator_test(kernels_test LABELS operator
  SOURCES ${sources} ${shared_tests} ${shared} ${lanes}
    ${PROJECT_SOURCE_DIR}/src/opapi/supporting/pair_loops.cc)
target_compile_definitions(kernels_test PRIVATE ${lanes_definitions})
target_link_libraries(kernels_test PRIVATE frame)

# The tsan preset runs the shared kernels and one room, a minute of them.
set_property(TEST kernels_test embedding_forward_test APPEND PROPERTY LABELS threads)
add_dependencies(thread_tests kernels_test embedding_forward_test)

# The library as a whole.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/opapi/*_test.cc)
add_operator_test(opapi_test LABELS operator SOURCES ${sources})
target_link_libraries(opapi_test PRIVATE frame)

# Programs in order, of which nothing may be reported but what they ask for: memory that is none.
foreach(name masked_softmax_backward supporting_loss supporting_norm)
  add_test(NAME ${name}_checked COMMAND ${name}_test)
  set_tests_properties(${name}_checked PROPERTIES LABELS operator TIMEOUT 600
    ENVIRONMENT "OPENACLNN_CHECK=full;RC_PARAMS=seed=${random_seed} max_success=${random_cases}"
    FAIL_REGULAR_EXPRESSION "openaclnn: (race|init|sync)check;FAILED")
endforeach()
