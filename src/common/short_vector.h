// SPDX-License-Identifier: Apache-2.0
// A vector whose first elements need no allocation: shapes, and the operands of a call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace openaclnn {

/// As std::vector where it has the same functions; up to kInline elements lie in the object.
template <class T, size_t kInline>
class ShortVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  ShortVector() noexcept {}
  explicit ShortVector(size_t size, T value = T()) : ShortVector() { resize(size, value); }
  template <std::forward_iterator Iterator>
  ShortVector(Iterator first, Iterator last) : ShortVector() {
    Append(first, last);
  }
  ShortVector(std::initializer_list<T> values) : ShortVector(values.begin(), values.end()) {}
  ShortVector(const ShortVector& other) : ShortVector(other.begin(), other.end()) {}
  ShortVector(ShortVector&& other) noexcept : ShortVector() { Take(&other); }
  ShortVector& operator=(const ShortVector& other) {
    if (this != &other) *this = ShortVector(other);
    return *this;
  }
  ShortVector& operator=(ShortVector&& other) noexcept {
    if (this != &other) Take(&other);
    return *this;
  }
  ~ShortVector() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ != nullptr ? heap_.get() : inline_.elements; }
  const T* data() const { return heap_ != nullptr ? heap_.get() : inline_.elements; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, 2 * capacity_);
    auto larger = std::make_unique<T[]>(capacity);
    for (size_t i = 0; i < size_; ++i) larger[i] = data()[i];
    heap_ = std::move(larger);
    capacity_ = capacity;
  }
  void resize(size_t size, T value = T()) {
    reserve(size);
    for (size_t i = size_; i < size; ++i) data()[i] = value;
    size_ = size;
  }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  T* insert(const T* place, size_t count, T value) {
    const size_t at = static_cast<size_t>(place - data());
    resize(size_ + count);
    std::move_backward(data() + at, end() - count, end());
    std::fill_n(data() + at, count, value);
    return data() + at;
  }
  T* insert(const T* place, T value) { return insert(place, 1, value); }
  /// Inserts elements of another vector.
  template <std::forward_iterator Iterator>
  T* insert(const T* place, Iterator first, Iterator last) {
    T* const gap = insert(place, static_cast<size_t>(std::distance(first, last)), T());
    std::copy(first, last, gap);
    return gap;
  }
  T* erase(const T* first, const T* last) {
    T* const at = data() + (first - data());
    size_ = static_cast<size_t>(std::move(data() + (last - data()), end(), at) - data());
    return at;
  }
  T* erase(const T* place) { return erase(place, place + 1); }

  friend bool operator==(const ShortVector& a, const ShortVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  template <class Iterator>
  void Append(Iterator first, Iterator last) {
    reserve(size_ + static_cast<size_t>(std::distance(first, last)));
    for (T* to = end(); first != last; ++first, ++size_) *to++ = *first;
  }

  void Take(ShortVector* other) {
    heap_ = std::move(other->heap_);
    size_ = std::exchange(other->size_, 0);
    capacity_ = std::exchange(other->capacity_, kInline);
    if (heap_ != nullptr) return;
    for (size_t i = 0; i < size_ && i < kInline; ++i) {
      inline_.elements[i] = other->inline_.elements[i];
    }
  }

  std::unique_ptr<T[]> heap_;
  size_t size_ = 0;
  size_t capacity_ = kInline;
  // Only the elements that exist are ever written.
  union Inline {
    Inline() noexcept {}
    T elements[kInline];
  } inline_;
};

}  // namespace openaclnn
