// SPDX-License-Identifier: Apache-2.0
// Call stacks: which frames are told of, how many, and in which words.
#include "ascendcl/process/call_stack.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace openaclnn {
namespace {

/// Of frames in a library of many functions, as well as in this program and the C library.
class CallStackTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << dlerror();
    Dl_info known = {};
    ASSERT_NE(dladdr(At("function1000", 0), &known), 0);
    first_byte_ = static_cast<char*>(known.dli_fbase);
  }
  ~CallStackTest() override { dlclose(library_); }

  char* At(const char* function, size_t offset) const {
    return static_cast<char*>(dlsym(library_, function)) + offset;
  }
  std::string TextOf(std::initializer_list<void*> frames) const {
    CallStack stack;
    stack.frames.fill(At("function4999", 1));  // those behind the last are nobody's
    for (void* frame : frames) stack.frames[stack.count++] = frame;
    char room[1024];
    BoundedText text(room);
    WriteCallStack(stack, &text);
    return std::string(text.view());
  }

  void* const library_ = dlopen(OPENACLNN_MANY_FUNCTIONS, RTLD_NOW);
  char* first_byte_ = nullptr;  // of the library, where there is no function
};

// A frame is the address behind a call: what is told is the function that holds the byte before it.
TEST_F(CallStackTest, FunctionsAndPlacesInFiles) {
  EXPECT_EQ(TextOf({At("function1234", 1), first_byte_ + 0x20}),
            "\nfrom function1234+0x1 in libmany_functions.so\nfrom libmany_functions.so+0x20");
}

TEST_F(CallStackTest, OwnFramesAndThoseOfTheCLibraryAreLeftOut) {
  char* const own = reinterpret_cast<char*>(&TakeCallStack) + 1;
  char* const c_library = static_cast<char*>(dlsym(RTLD_DEFAULT, "getopt_long_only")) + 1;
  EXPECT_EQ(TextOf({own, c_library, nullptr, At("function1000", 2)}),
            "\nfrom function1000+0x2 in libmany_functions.so");
}

TEST_F(CallStackTest, EightAreTold) {
  char* const frame = At("function1000", 1);
  const std::string each = "\nfrom function1000+0x1 in libmany_functions.so";
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += each;
  EXPECT_EQ(TextOf({frame, frame, frame, frame, frame, frame, frame, frame, frame}), eight);
}

}  // namespace
}  // namespace openaclnn
