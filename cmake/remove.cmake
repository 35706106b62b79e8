# SPDX-License-Identifier: Apache-2.0
# Removes installed files, and the directories that this leaves empty, below a prefix.

function(remove_installed prefix)
  set(directories)
  foreach(file IN LISTS ARGN)
    file(REMOVE "${prefix}/${file}")
    cmake_path(GET file PARENT_PATH directory)
    while(NOT directory STREQUAL "")
      list(APPEND directories "${directory}")
      cmake_path(GET directory PARENT_PATH directory)
    endwhile()
  endforeach()
  list(REMOVE_DUPLICATES directories)
  # Backwards, a directory comes after what is in it; rmdir keeps those that hold more.
  list(SORT directories ORDER DESCENDING)
  foreach(directory IN LISTS directories)
    execute_process(COMMAND rmdir "${prefix}/${directory}" ERROR_QUIET)
  endforeach()
endfunction()
