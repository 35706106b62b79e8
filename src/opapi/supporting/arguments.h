// SPDX-License-Identifier: Apache-2.0
// The arguments of one kind that a call has, in their order, each in a place that it keeps.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace openaclnn::supporting {

/// The first kInline lie in the object, so that most calls need no memory for them.
template <class T, size_t kInline>
class Arguments {
  template <class List, class Element>
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::remove_const_t<Element>;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator(List* list, size_t index) : list_(list), index_(index) {}
    Element& operator*() const { return (*list_)[index_]; }
    Element* operator->() const { return &**this; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    List* list_;
    size_t index_;
  };

 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  ~Arguments() {
    for (size_t i = 0; i < size_ && i < kInline; ++i) Place(i)->~T();
  }

  template <class... Given>
  T& emplace_back(Given&&... given) {
    T* made = nullptr;
    if (size_ < kInline) {
      made = new (&places_[size_]) T(std::forward<Given>(given)...);
    } else {
      if (further_ == nullptr) further_ = std::make_unique<std::deque<T>>();
      made = &further_->emplace_back(std::forward<Given>(given)...);
    }
    ++size_;
    return *made;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const {
    return i < kInline ? *std::launder(reinterpret_cast<const T*>(&places_[i]))
                       : (*further_)[i - kInline];
  }
  T& operator[](size_t i) { return const_cast<T&>(std::as_const(*this)[i]); }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T& back() { return (*this)[size_ - 1]; }
  auto begin() const { return Iterator<const Arguments, const T>(this, 0); }
  auto end() const { return Iterator<const Arguments, const T>(this, size_); }

 private:
  T* Place(size_t i) { return std::launder(reinterpret_cast<T*>(&places_[i])); }

  struct alignas(T) Bytes {
    std::byte bytes[sizeof(T)];
  };

  size_t size_ = 0;
  std::array<Bytes, kInline> places_;  // of those that were made
  std::unique_ptr<std::deque<T>> further_;
};

}  // namespace openaclnn::supporting
