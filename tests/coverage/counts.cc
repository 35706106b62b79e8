// SPDX-License-Identifier: Apache-2.0
// In each library of a coverage build: tells the program, where it is one of ends.cc, how this
// library's counts are written.
extern "C" void __gcov_dump();
extern "C" [[gnu::weak, gnu::visibility("default")]] void openaclnn_add_counts(void (*write)());

[[gnu::constructor]] static void AddCounts() {
  if (openaclnn_add_counts != nullptr) openaclnn_add_counts(&__gcov_dump);
}
