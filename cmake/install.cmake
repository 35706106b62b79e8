# SPDX-License-Identifier: Apache-2.0
# Installs what programs expect of the vendor's toolkit; no file of it names the prefix.

# Other names for libopapi.so, among which newer releases divide the operators.
set(split_names opapi_math opapi_nn opapi_transformer)

set(toolkit_arch ${CMAKE_SYSTEM_PROCESSOR})
set(toolkit_build_dir ${CMAKE_BINARY_DIR}/toolkit)
set(private_dir ${CMAKE_INSTALL_LIBDIR}/openaclnn)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/openaclnn)

# Four places state the version of openaclnn: programs, Python and CMake must not disagree.
function(check_version file pattern)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${file} lines REGEX "${pattern}")
  string(REGEX REPLACE "[^0-9.;]" "" found "${lines}")
  string(REPLACE ";" "." found "${found}")
  if(NOT found STREQUAL PROJECT_VERSION)
    message(FATAL_ERROR "${file} says version '${found}', project() says ${PROJECT_VERSION}")
  endif()
endfunction()
check_version(include/openaclnn/version.h "define OPENACLNN_VERSION_(MAJOR|MINOR|PATCH)")
check_version(include/openaclnn/version.h "define OPENACLNN_VERSION_STRING")
check_version(python/openaclnn/__init__.py "^__version__")
check_version(CITATION.cff "^version:")

# A symbolic link below the prefix. Wheels cannot hold links; there the plain names must do.
function(install_link link to)
  if(SKBUILD)
    return()
  endif()
  cmake_path(GET link PARENT_PATH directory)
  if(NOT directory)
    set(directory .)
  endif()
  file(MAKE_DIRECTORY ${toolkit_build_dir}/links/${directory})
  file(CREATE_LINK ${to} ${toolkit_build_dir}/links/${link} SYMBOLIC)
  install(FILES ${toolkit_build_dir}/links/${link} DESTINATION ${directory})
endfunction()

# Headers. aclnnop/level2 is where some releases keep the operators' headers.
install(DIRECTORY include/ ${generated_headers}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
file(GLOB headers CONFIGURE_DEPENDS include/aclnnop/*.h ${generated_headers}/aclnnop/*.h)
foreach(path IN LISTS headers)
  cmake_path(GET path FILENAME header)
  set(forward ${toolkit_build_dir}/level2/${header})
  file(CONFIGURE OUTPUT ${forward} @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// The second place in which programs look for this header.
#include \"../${header}\"
")
  install(FILES ${forward} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/aclnnop/level2)
endforeach()

# The Python package, where set_env.sh has programs look, and what starts the tool that it has. A wheel
# has both in its own way.
if(NOT SKBUILD)
  install(DIRECTORY python/openaclnn DESTINATION python/site-packages
    FILES_MATCHING PATTERN "*.py" PATTERN "examples.json" PATTERN "__pycache__" EXCLUDE)
  configure_file(cmake/openaclnn.in ${toolkit_build_dir}/openaclnn @ONLY)
  install(PROGRAMS ${toolkit_build_dir}/openaclnn DESTINATION bin)
  install(FILES docs/openaclnn.1 DESTINATION share/man/man1)
else()  # into the environment, where `man` looks beside bin
  install(FILES docs/openaclnn.1 DESTINATION ${SKBUILD_DATA_DIR}/share/man/man1)
endif()
install(FILES data/alice29.txt DESTINATION share/openaclnn)  # what `openaclnn demo` reads
install(FILES ${generated}/topics.json DESTINATION share/openaclnn)  # what `openaclnn list` goes by
install(DIRECTORY examples DESTINATION share/openaclnn FILES_MATCHING PATTERN "*.[ch]"
  PATTERN ci EXCLUDE)
install(DIRECTORY examples/ci DESTINATION share/openaclnn/examples PATTERN "__pycache__" EXCLUDE)

# Libraries. The headers of each include those of the next, so linking with one brings the rest.
target_link_libraries(opapi INTERFACE nnopbase)
target_link_libraries(nnopbase INTERFACE ascendcl)
# Links, not filter libraries (-Wl,--filter): glibc's dlopen of a filter library crashed until 2020
# (BZ 16272), and a filter needs a definition of its own for each operator. Through a link the
# loader sees the same file, so there is one library in the process whatever names are used.
foreach(name IN LISTS split_names)
  install_link(${CMAKE_INSTALL_LIBDIR}/lib${name}.so libopapi.so)
endforeach()

# find_package and pkg-config.
install(EXPORT openaclnn NAMESPACE openaclnn:: DESTINATION ${package_dir}
  FILE openaclnn-targets.cmake)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/openaclnn-config.cmake.in
  ${toolkit_build_dir}/openaclnn-config.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${toolkit_build_dir}/openaclnn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${toolkit_build_dir}/openaclnn-config.cmake
  ${toolkit_build_dir}/openaclnn-config-version.cmake DESTINATION ${package_dir})
# Given the prefix alone, Debian's CMake looks into share but not into lib64.
install_link(share/cmake/openaclnn ../../${package_dir})
configure_file(cmake/openaclnn.pc.in ${toolkit_build_dir}/openaclnn.pc @ONLY)
install(FILES ${toolkit_build_dir}/openaclnn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What clients read and look into to learn which toolkit this is.
configure_file(cmake/set_env.sh.in ${toolkit_build_dir}/set_env.sh @ONLY)
configure_file(cmake/version.info.in ${toolkit_build_dir}/version.info @ONLY)
configure_file(cmake/ascend_toolkit_install.info.in
  ${toolkit_build_dir}/ascend_toolkit_install.info @ONLY)
install(FILES ${toolkit_build_dir}/set_env.sh DESTINATION .)
foreach(part runtime compiler opp)
  install(FILES ${toolkit_build_dir}/version.info DESTINATION ${part})
endforeach()
install(FILES ${toolkit_build_dir}/ascend_toolkit_install.info DESTINATION ${toolkit_arch}-linux)
install_link(ascend_toolkit_install.info ${toolkit_arch}-linux/ascend_toolkit_install.info)
install_link(${toolkit_arch}-linux/${CMAKE_INSTALL_INCLUDEDIR} ../${CMAKE_INSTALL_INCLUDEDIR})
install_link(${toolkit_arch}-linux/${CMAKE_INSTALL_LIBDIR} ../${CMAKE_INSTALL_LIBDIR})
# Where the CMake files of the vendor's samples look, below the toolkit that DDK_PATH names.
install_link(runtime/include ../${CMAKE_INSTALL_INCLUDEDIR})
install_link(runtime/lib64/stub ../../${CMAKE_INSTALL_LIBDIR})
# MindSpore finds the toolkit by "cann" or "latest" in the path by which libascendcl.so was loaded.
# set_env.sh has all loaded by these; in a wheel all lies in a folder of that name. Each library has
# its link: one to a folder above would be a circle for whoever follows links.
get_property(toolkit_libraries GLOBAL PROPERTY toolkit_libraries)
foreach(name IN LISTS toolkit_libraries split_names)
  install_link(${private_dir}/cann/lib64/lib${name}.so ../../../lib${name}.so)
endforeach()

# The module `acl` (pyACL), where the vendor's toolkit has it: a wheel has it too, for `openaclnn run`.
install(DIRECTORY python/acl DESTINATION python/site-packages FILES_MATCHING PATTERN "*.py"
  PATTERN "__pycache__" EXCLUDE)
# set_env.sh puts bin on PATH, in a wheel too: without an NPU's driver there is no other npu-smi.
install(PROGRAMS python/npu_smi.py DESTINATION bin RENAME npu-smi)
# A Python package that has nothing but a version, where the vendor's toolkit has its packages.
configure_file(cmake/hccl_sys_version.py.in ${toolkit_build_dir}/sys_version.py @ONLY)
file(WRITE ${toolkit_build_dir}/__init__.py "")
install(FILES ${toolkit_build_dir}/__init__.py ${toolkit_build_dir}/sys_version.py
  DESTINATION python/site-packages/hccl)

# Last, when CMake knows all that it put there: the list that uninstalling and reinstalling follow.
configure_file(cmake/manifest.cmake.in ${toolkit_build_dir}/manifest.cmake @ONLY)
install(SCRIPT ${toolkit_build_dir}/manifest.cmake)
