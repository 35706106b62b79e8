// SPDX-License-Identifier: Apache-2.0
// Bounded text: words put together without memory of their own, for handlers of signals too.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

namespace openaclnn {

/// Text beyond the given room is dropped.
class BoundedText {
 public:
  explicit BoundedText(std::span<char> room) : room_(room) {}

  BoundedText& operator<<(std::string_view text) {
    const size_t n = std::min(text.size(), room_.size() - length_);
    std::copy_n(text.data(), n, room_.data() + length_);
    length_ += n;
    return *this;
  }
  BoundedText& operator<<(const char* text) { return *this << std::string_view(text); }
  BoundedText& operator<<(char letter) { return *this << std::string_view(&letter, 1); }
  BoundedText& operator<<(uint64_t number) { return Number(number, 10); }
  BoundedText& operator<<(const void* address) {
    return (*this << "0x").Number(reinterpret_cast<uintptr_t>(address), 16);
  }

  std::string_view view() const { return {room_.data(), length_}; }

 private:
  BoundedText& Number(uint64_t number, int base) {
    char digits[20];  // of 2^64 - 1
    const auto end = std::to_chars(digits, digits + sizeof(digits), number, base).ptr;
    return *this << std::string_view(digits, static_cast<size_t>(end - digits));
  }

  const std::span<char> room_;
  size_t length_ = 0;
};

}  // namespace openaclnn
