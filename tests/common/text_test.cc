// SPDX-License-Identifier: Apache-2.0
// Text of others in messages: one line, and not endless.
#include "common/text.h"

#include <gtest/gtest.h>

namespace openaclnn {
namespace {

TEST(TextTest, QuotedTextIsOneLine) {
  EXPECT_EQ(Concat("a ", Quoted{"b"}, 1), "a 'b'1");
  EXPECT_EQ(Concat(Quoted{""}), "''");
  EXPECT_EQ(Concat(Quoted{"gr\xc3\xbc\xc3\x9f dich \\ '"}), "'gr\xc3\xbc\xc3\x9f dich \\ ''");
  EXPECT_EQ(Concat(Quoted{"a\n\x1b[2J\x7f"}), "'a\\x0a\\x1b[2J\\x7f'");
  EXPECT_EQ(Concat(Quoted{std::string_view("\0", 1)}), "'\\x00'");
  EXPECT_EQ(Concat(Quoted{"\xc2\x9b!"}), "'\\xc2\\x9b!'") << "CSI, as a terminal knows it";
}

TEST(TextTest, WhatIsNotUtf8IsEscaped) {
  for (const char* text : {"\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                           "\xff", "\xf4\x90\x80\x80", "\xe0\x9f\xbf"}) {
    EXPECT_EQ(Concat(Escaped{text}).size(), 4 * std::string_view(text).size()) << text;
  }
  for (const char* text : {"\xc2\xa0", "\xe2\x82\xac", "\xef\xbf\xbd", "\xf0\x9f\x99\x82"}) {
    EXPECT_EQ(Concat(Escaped{text}), text);
  }
}

TEST(TextTest, WhatMovesTextIsEscaped) {
  for (const char* text :
       {"\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"}) {
    EXPECT_EQ(Concat(Escaped{text}).size(), 4 * std::string_view(text).size()) << text;
  }
  for (const char* text : {"\u2027", "\u202f", "\u2065", "\u206a", "\u200d", "\u0628"}) {
    EXPECT_EQ(Concat(Escaped{text}), text);
  }
}

TEST(TextTest, OfLongTextTheBeginningIsQuoted) {
  const std::string most(Quoted::kMostBytes, 'a');
  EXPECT_EQ(Concat(Quoted{most}), "'" + most + "'");
  EXPECT_EQ(Concat(Quoted{most + "b"}), "'" + most + "...'");
  // Not within a character.
  const std::string less = most.substr(1);
  EXPECT_EQ(Concat(Quoted{less + "\xc3\xbc"}), "'" + less + "...'");
  EXPECT_EQ(Concat(Quoted{std::string(2000, '\x80')}).size(), 4 * 997 + 5) << "none is one";
}

TEST(TextTest, EscapedTextIsWhole) {
  EXPECT_EQ(Concat(Escaped{"a\tb"}, "."), "a\\x09b.");
  EXPECT_EQ(Concat(Escaped{std::string(3000, 'a')}), std::string(3000, 'a'));
}

}  // namespace
}  // namespace openaclnn
