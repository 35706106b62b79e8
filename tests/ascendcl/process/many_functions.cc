// SPDX-License-Identifier: Apache-2.0
// A library with so many functions that to look through them takes a while.
#define FUNCTION(n) \
  extern "C" __attribute__((visibility("default"))) int function##n() { return 0; }
#define TEN(n)   \
  FUNCTION(n##0) \
  FUNCTION(n##1) \
  FUNCTION(n##2) \
  FUNCTION(n##3) \
  FUNCTION(n##4) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)
#define HUNDRED(n) \
  TEN(n##0)        \
  TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) \
  HUNDRED(n##0)     \
  HUNDRED(n##1)     \
  HUNDRED(n##2)     \
  HUNDRED(n##3) HUNDRED(n##4) HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)

THOUSAND(1)
THOUSAND(2)
THOUSAND(3)
THOUSAND(4)
