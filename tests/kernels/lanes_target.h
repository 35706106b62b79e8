// SPDX-License-Identifier: Apache-2.0
// The lanes of one instruction set behind plain functions, so that one test can call all of them.
#pragma once

#include <cstdint>

namespace openaclnn::test {

struct LaneFunctions {
  const char* name;
  // Sixteen lanes, of which the first n are in memory; n = 16 takes the path of whole groups.
  void (*load_half)(const uint16_t* from, int64_t n, float* to);
  void (*load_bfloat16)(const uint16_t* from, int64_t n, float* to);
  void (*load_float)(const float* from, int64_t n, float* to);
  void (*store_half)(const float* from, int64_t n, uint16_t* to);
  void (*store_bfloat16)(const float* from, int64_t n, uint16_t* to);
  void (*store_float)(const float* from, int64_t n, float* to);
  void (*result)(const float* from, float* to);
  // c = a op b
  void (*add)(const float* a, const float* b, float* c);
  void (*divide)(const float* a, const float* b, float* c);
  // The first n of memory or of sixteen lanes, and `rest` beyond.
  void (*load_rest)(const float* from, int64_t n, float rest, float* to);
  void (*until)(const float* from, int64_t n, float rest, float* to);
  // 1 where one of the first n bytes is 0 and beyond them, else 2.
  void (*select_tail)(const uint8_t* bytes, int64_t n, float* to);
  float (*largest)(const float* from);
};

}  // namespace openaclnn::test
