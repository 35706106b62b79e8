// SPDX-License-Identifier: Apache-2.0
// Placement of views in guarded memory, and the comparison with what was left there.
#include "tests/support/tensor.h"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "acl/acl.h"
#include "tests/support/device.h"

namespace openaclnn::test {
namespace {

// The device rounds the begin of a guarded allocation down to this.
constexpr size_t kAlignment = 64;

constexpr auto kScramble = std::byte{0x5A};

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Of a known size it is a move, not a call, which AddressSanitizer would look at.
void CopyElement(std::byte* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 2:
      return void(std::memcpy(to, from, 2));
    case 4:
      return void(std::memcpy(to, from, 4));
    case 8:
      return void(std::memcpy(to, from, 8));
    default:
      return void(std::memcpy(to, from, bytes));
  }
}

void Require(int code) {
  if (code != 0) throw std::runtime_error(TakeOutcome(code).message);
}

}  // namespace

TensorHandle::TensorHandle(const TensorSpec& spec) {
  if (spec.given == TensorSpec::kNull) return;
  if (spec.given == TensorSpec::kForeign) {
    handle_ = reinterpret_cast<aclTensor*>(uintptr_t{0x1230});
    return;
  }
  const Dims& storage = spec.storage ? *spec.storage : spec.dims;
  Dims strides = spec.strides.value_or(Dims());
  strides.resize(spec.dims.size());
  handle_ = aclCreateTensor(spec.dims.data(), spec.dims.size(), spec.dtype,
                            spec.strides ? strides.data() : nullptr, spec.offset, spec.format,
                            storage.data(), storage.size(), spec.data);
  if (handle_ == nullptr) throw std::runtime_error(TakeOutcome(-1).message);
  owned_ = true;
  if (spec.given == TensorSpec::kDestroyed) {
    aclDestroyTensor(handle_);
    owned_ = false;
  }
}

TensorHandle::TensorHandle(TensorHandle&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), owned_(std::exchange(other.owned_, false)) {}

TensorHandle::~TensorHandle() { Reset(); }

void TensorHandle::Reset() {
  if (owned_) aclDestroyTensor(handle_);
  owned_ = false;
}

DeviceBuffer::DeviceBuffer(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* address = nullptr;
  Require(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
  address_ = static_cast<std::byte*>(address);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), bytes_(other.bytes_) {}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != nullptr) aclrtFree(address_);
}

void DeviceBuffer::Write(const std::vector<std::byte>& content) const {
  if (content.empty()) return;
  Require(aclrtMemcpy(address_, bytes_, content.data(), content.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

std::vector<std::byte> DeviceBuffer::Read() const {
  std::vector<std::byte> content(bytes_);
  if (bytes_ == 0) return content;
  Require(aclrtMemcpy(content.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
  return content;
}

DeviceTensor::DeviceTensor(aclDataType dtype, const Layout& layout, size_t after)
    : dtype_(dtype),
      layout_(layout),
      element_bytes_(aclDataTypeSize(dtype)),
      lead_(RoundUp(kAlignment + static_cast<size_t>(layout.storage) * element_bytes_ + after) -
            static_cast<size_t>(layout.storage) * element_bytes_ - after),
      buffer_(lead_ + static_cast<size_t>(layout.storage) * element_bytes_ + after),
      data_(layout.count() > 0 ? buffer_.address() + lead_ : nullptr),
      handle_(Spec()),
      image_(lead_ + static_cast<size_t>(layout.storage) * element_bytes_ + after) {
  Scramble();
}

TensorSpec DeviceTensor::Spec() const {
  return {.dims = layout_.dims,
          .dtype = dtype_,
          .strides = layout_.strides,
          .offset = layout_.offset,
          .storage = Dims{layout_.storage},
          .data = data_};
}

std::byte* DeviceTensor::At(std::vector<std::byte>* memory, int64_t element) const {
  return memory->data() + lead_ + static_cast<size_t>(element) * element_bytes_;
}

void DeviceTensor::Write(const std::vector<std::byte>& elements) {
  ForEachElement(layout_, [&](int64_t at, int64_t i) {
    CopyElement(At(&image_, at), &elements[static_cast<size_t>(i) * element_bytes_],
                element_bytes_);
  });
  buffer_.Write(image_);
}

void DeviceTensor::Scramble() {
  image_.assign(image_.size(), kScramble);
  buffer_.Write(image_);
}

std::vector<std::byte> DeviceTensor::Read() const {
  std::vector<std::byte> memory = buffer_.Read();
  std::vector<std::byte> elements(static_cast<size_t>(layout_.count()) * element_bytes_);
  ForEachElement(layout_, [&](int64_t at, int64_t i) {
    CopyElement(&elements[static_cast<size_t>(i) * element_bytes_], At(&memory, at),
                element_bytes_);
  });
  return elements;
}

std::string DeviceTensor::Compare(bool beside_elements) const {
  std::vector<std::byte> memory = buffer_.Read();
  std::vector<std::byte> wanted = image_;
  if (beside_elements) {
    ForEachElement(layout_, [&](int64_t at, int64_t) {
      CopyElement(At(&wanted, at), At(&memory, at), element_bytes_);
    });
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] == wanted[i]) continue;
    return "byte " + std::to_string(static_cast<int64_t>(i) - static_cast<int64_t>(lead_)) +
           " of the storage is " + std::to_string(static_cast<int>(memory[i])) + ", was " +
           std::to_string(static_cast<int>(wanted[i]));
  }
  return "";
}

}  // namespace openaclnn::test
