// SPDX-License-Identifier: Apache-2.0
// Decisions of a random case, which rapidcheck makes smaller; 0 is the plainest.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace openaclnn::test {

class Choices {
 public:
  explicit Choices(std::vector<uint32_t> given) : given_(std::move(given)) {}

  int64_t Below(int64_t count) { return Next() % static_cast<uint32_t>(count); }
  bool One(int64_t of) { return Below(of) == of - 1; }
  template <class List>
  const auto& Of(const List& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(std::size(list))))];
  }

 private:
  uint32_t Next() { return next_ < given_.size() ? given_[next_++] : 0; }

  std::vector<uint32_t> given_;
  size_t next_ = 0;
};

/// Where computing with numbers goes wrong, and beside it.
inline int64_t Extreme(Choices& choose) {
  constexpr std::array<int64_t, 14> kNumbers = {
      0,         1,         -1,        8,         int64_t{1} << 31, -(int64_t{1} << 31), 1LL << 32,
      1LL << 33, 1LL << 60, 1LL << 61, 1LL << 62, -(1LL << 62),     INT64_MAX,           INT64_MIN};
  const auto number = static_cast<uint64_t>(choose.Of(kNumbers));
  return static_cast<int64_t>(number + static_cast<uint64_t>(choose.Below(5)) - 2);
}

/// So many decisions, each of all sizes.
inline rc::Gen<std::vector<uint32_t>> Decisions(size_t count) {
  return rc::gen::container<std::vector<uint32_t>>(
      count, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint32_t>()));
}

}  // namespace openaclnn::test
