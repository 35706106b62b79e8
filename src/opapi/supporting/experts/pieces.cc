// SPDX-License-Identifier: Apache-2.0
// The parts of a tensor, or of a list of tensors, that belong to groups.
#include "supporting/experts/pieces.h"

namespace openaclnn::supporting {

Pieces::Pieces(const std::vector<const Tensor*>& tensors, Slicing kind) {
  for (const Tensor* tensor : tensors) {
    GroupMatrix matrix = MatrixOfTensor(*tensor);
    if (kind == Slicing::kVector) matrix.row_step = 0;
    if (kind == Slicing::kJoined) {
      const int64_t step = Offsets(*tensor, tensor->rank() - 1).step();
      if (step != 0) matrix.row_step = step;
    }
    places_.push_back(tensor->place);
    matrices_.push_back(matrix);
  }
  const uint32_t sliced = kind == Slicing::kVector ? 2 : 3;
  if (kind != Slicing::kJoined && tensors.size() == 1 && tensors[0]->rank() == sliced) {
    slice_bytes_ = WrappingProduct(tensors[0]->tensor().strides[0], BytesOf(*tensors[0]));
  }
}

GroupMatrix Pieces::Of(const Buffers& buffers, size_t group) const {
  GroupMatrix matrix = Of(group);
  if (places_.empty()) return matrix;
  matrix.at = places_[Index(group)](buffers);
  if (matrix.at != nullptr) matrix.at += WrappingProduct(slice_bytes_, static_cast<int64_t>(group));
  return matrix;
}

void LoadRowOf(const GroupMatrix& matrix, int64_t columns, float* to) {
  if (matrix.at == nullptr) return;
  const auto bytes = static_cast<int64_t>(FindDataType(matrix.dtype)->bytes);
  LoaderOf<float>(matrix.dtype)(matrix.at, matrix.column_step * bytes, columns, to);
}

Extents ExtentsOf(const std::vector<const Tensor*>& tensors, size_t group) {
  const Tensor& tensor = *tensors[tensors.size() == 1 ? 0 : group];
  const uint32_t rank = tensor.rank();
  return {tensor.dim(rank - 2), tensor.dim(rank - 1)};
}

}  // namespace openaclnn::supporting
