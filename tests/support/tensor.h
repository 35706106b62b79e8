// SPDX-License-Identifier: Apache-2.0
// Tensors for tests: descriptions of good and bad ones, and views in guarded device memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "tests/support/layout.h"

namespace openaclnn::test {

/// The arguments of aclCreateTensor, or a handle that is none.
struct TensorSpec {
  enum Given { kTensor, kNull, kDestroyed, kForeign };

  Dims dims = {};
  aclDataType dtype = ACL_FLOAT;
  std::optional<Dims> strides = {};  // dense if not given
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  std::optional<Dims> storage = {};  // dims if not given
  void* data = nullptr;
  Given given = kTensor;
};

class TensorHandle {
 public:
  explicit TensorHandle(const TensorSpec& spec);
  TensorHandle(TensorHandle&& other) noexcept;
  ~TensorHandle();

  aclTensor* get() const { return handle_; }
  /// Destroys the tensor now.
  void Reset();

 private:
  aclTensor* handle_ = nullptr;
  bool owned_ = false;
};

/// Device memory; its last byte lies before the guard page if `bytes` is a multiple of 64.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  std::byte* address() const { return address_; }
  void Write(const std::vector<std::byte>& content) const;
  std::vector<std::byte> Read() const;

 private:
  std::byte* address_ = nullptr;
  size_t bytes_;
};

/// A view in memory of its own. The last byte that it reaches is the last before the guard page, or
/// is followed by bytes that belong to nobody; every byte that is not one of its elements is known,
/// so that a stray write shows.
class DeviceTensor {
 public:
  /// `after`: bytes between the view and the end of its memory.
  DeviceTensor(aclDataType dtype, const Layout& layout, size_t after = 0);

  const aclTensor* handle() const { return handle_.get(); }
  aclDataType dtype() const { return dtype_; }
  const Layout& layout() const { return layout_; }
  /// Address that the tensor was created with; null for a view without elements.
  void* data() const { return data_; }
  void DestroyHandle() { handle_.Reset(); }

  /// Sets all elements, in row-major order. Where elements coincide the last one stays.
  void Write(const std::vector<std::byte>& elements);
  /// Fills the memory, elements included, with a known pattern.
  void Scramble();
  /// All elements, in row-major order.
  std::vector<std::byte> Read() const;

  /// Empty, or which byte beside the elements differs from what Write or Scramble left.
  std::string Damage() const { return Compare(true); }
  /// Empty, or which byte differs, elements included.
  std::string Change() const { return Compare(false); }

 private:
  TensorSpec Spec() const;
  std::string Compare(bool beside_elements) const;
  std::byte* At(std::vector<std::byte>* memory, int64_t element) const;

  aclDataType dtype_;
  Layout layout_;
  size_t element_bytes_;
  size_t lead_;  // bytes from the memory's begin to the storage's
  DeviceBuffer buffer_;
  void* data_;
  TensorHandle handle_;
  std::vector<std::byte> image_;  // what the memory holds as far as the test knows
};

}  // namespace openaclnn::test
