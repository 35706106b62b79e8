# SPDX-License-Identifier: Apache-2.0
# Removes an installation: cmake -DPREFIX=dir -P uninstall.cmake
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/remove.cmake")

cmake_path(ABSOLUTE_PATH PREFIX NORMALIZE)
set(manifest "${PREFIX}/lib64/openaclnn/manifest.txt")
if(NOT EXISTS "${manifest}")
  message(FATAL_ERROR "nothing to uninstall: there is no ${manifest}")
endif()
file(STRINGS "${manifest}" installed)
# With what the tool needs, and the byte code that its runs leave.
set(packages "${PREFIX}/python/site-packages")
file(REMOVE_RECURSE "${PREFIX}/lib64/openaclnn/requirements" "${packages}/openaclnn" "${packages}/acl")
remove_installed("${PREFIX}" ${installed})
