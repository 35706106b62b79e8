// SPDX-License-Identifier: Apache-2.0
// Gives a target the inputs of a corpus, lines of hexadecimal digits, without a fuzzer.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream corpus(argv[i]);
    for (std::string line; std::getline(corpus, line); ++inputs) {
      std::vector<uint8_t> bytes;
      for (size_t at = 0; at + 1 < line.size(); at += 2) {
        bytes.push_back(static_cast<uint8_t>(std::stoul(line.substr(at, 2), nullptr, 16)));
      }
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  }
  std::cout << inputs << " inputs\n";
  return inputs > 0 ? 0 : 1;
}
