// SPDX-License-Identifier: Apache-2.0
// Numbers to text, the one way in which the libraries do it: no locale is asked.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace openaclnn {

/// Whether a character begins a line, or has text shown in another order than it is in (Unicode:
/// separators of lines and paragraphs, bidirectional formatting).
inline bool MovesText(uint32_t code) {
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0x200e || code == 0x200f || code == 0x061c;
}

/// The bytes of the character that a text begins with; 0 if that is none of UTF-8, would begin a
/// line or move a terminal's cursor, or MovesText. The text is not empty.
inline size_t PrintableBytes(std::string_view text) {
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};  // before 0xa0 the controls of C1
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const size_t bytes = first < 0xc0 || first > 0xf7 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (bytes == 0 || bytes > text.size()) return 0;
  uint32_t code = first & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool shown = code >= kLeast[bytes] && code <= 0x10ffff && !surrogate && !MovesText(code);
  return shown ? bytes : 0;
}

/// Another's text as an argument of Concat: with escapes for what is not printable.
struct Escaped {
  std::string_view text;
};

/// A text that a program or its user gave, as an argument of Concat. It is escaped and put between
/// quotes. Of a text longer than any sensible path only the beginning is written.
struct Quoted {
  static constexpr size_t kMostBytes = 1000;

  std::string_view text;
};

inline void Append(std::string* text, Escaped given) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::string_view rest = given.text; !rest.empty();) {
    const size_t bytes = PrintableBytes(rest);
    const auto code = static_cast<unsigned char>(rest[0]);
    *text += rest.substr(0, bytes);
    if (bytes == 0) *text += {'\\', 'x', kDigits[code / 16], kDigits[code % 16]};
    rest.remove_prefix(bytes == 0 ? 1 : bytes);
  }
}

inline void Append(std::string* text, Quoted given) {
  size_t end = given.text.size();
  if (end > Quoted::kMostBytes) {
    end = Quoted::kMostBytes;
    for (int i = 0; i < 3 && (given.text[end] & 0xc0) == 0x80; ++i)
      --end;  // not within a character
  }
  *text += '\'';
  Append(text, Escaped{given.text.substr(0, end)});
  *text += end < given.text.size() ? "...'" : "'";
}

/// Appends an argument of Concat: text as it is, an enumerator as its number, a pointer as 0x and
/// hexadecimal digits, a float with the fewest digits that give it back. A stream or printf would
/// follow the client's locale, which may group digits or write commas for points.
template <class Part>
void Append(std::string* text, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    *text += std::string_view(part);
  } else if constexpr (std::is_same_v<Part, char>) {
    *text += part;
  } else if constexpr (std::is_same_v<Part, bool>) {
    *text += part ? '1' : '0';
  } else if constexpr (std::is_enum_v<Part>) {
    Append(text, static_cast<std::underlying_type_t<Part>>(part));
  } else {
    char digits[64];
    char* end = digits;
    if constexpr (std::is_pointer_v<Part>) {
      *text += "0x";
      end =
          std::to_chars(digits, digits + sizeof(digits), reinterpret_cast<uintptr_t>(part), 16).ptr;
    } else {
      end = std::to_chars(digits, digits + sizeof(digits), part).ptr;
    }
    // Not append(digits, end): GCC 12 takes it for a copy onto itself and warns.
    *text += std::string_view(digits, static_cast<size_t>(end - digits));
  }
}

/// Joins the arguments, numbers as Append writes them.
template <class... Parts>
std::string Concat(const Parts&... parts) {
  std::string text;
  (Append(&text, parts), ...);
  return text;
}

}  // namespace openaclnn
