// SPDX-License-Identifier: Apache-2.0
// Variables that mean nothing: their nearest names, and who is told.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/ascendcl/fixture.h"

extern "C" const char* openaclnn_unknown_variables_json();

namespace openaclnn {
namespace {

using ::testing::HasSubstr;

TEST(UnknownVariables, AreNamedWithTheNearestThatIsKnown) {
  const Variable check("OPENACLNN_CHEK", "full"), threads("OPENACLNN_THREADS", "2"),
      test("OPENACLNN_TEST_ANYTHING", "1"), known("OPENACLNN_SOC", ""), other("OPENACL", "1");
  const std::string text = openaclnn_unknown_variables_json();
  EXPECT_THAT(text, HasSubstr("environment variable OPENACLNN_CHEK is none that openaclnn reads; "
                              "the nearest that it reads is OPENACLNN_CHECK\""));
  EXPECT_THAT(text, HasSubstr("OPENACLNN_THREADS is none that openaclnn reads; "
                              "the nearest that it reads is OPENACLNN_"));
  for (const char* silent : {"ANYTHING", "OPENACLNN_SOC is", "OPENACL is"}) {
    EXPECT_EQ(text.find(silent), std::string::npos) << silent;
  }
}

/// In a process of its own, which has told nothing yet.
void InitTwice(const char* level) {
  setenv("OPENACLNN_CHECK", level, 1);
  setenv("OPENACLNN_CHEK", "full", 1);
  for (int i = 0; i < 2; ++i) {
    if (aclInit(nullptr) != 0 || aclFinalize() != 0) std::exit(1);
  }
  std::fprintf(stderr, "end\n");
  std::exit(0);
}

TEST(UnknownVariablesDeathTest, AreToldOnceWhereMistakesAre) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(InitTwice("fast"), testing::ExitedWithCode(0),
              "^openaclnn: environment variable OPENACLNN_CHEK is none [^\n]*\nend\n$");
  EXPECT_EXIT(InitTwice("off"), testing::ExitedWithCode(0), "^end\n$");
}

}  // namespace
}  // namespace openaclnn
