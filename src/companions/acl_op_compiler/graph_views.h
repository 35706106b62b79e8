// SPDX-License-Identifier: Apache-2.0
// Functions that records call: windows of convolutions and pools, parts and shapes.
#pragma once

#include <string>
#include <string_view>

#include "graph_call.h"

namespace openaclnn {

/// The dimension of a tensor's channels: the last in a format that ends with C, else the second.
int64_t ChannelOf(const GraphTensor& tensor, std::string_view format);

/// Whether the first dimensions of a tensor are all of the other; whether the last are those of the
/// other but for the first few.
bool BeginsWith(const GraphTensor& tensor, const GraphTensor& other);
bool EndsWith(const GraphTensor& tensor, const GraphTensor& other, int64_t but);

/// The numbers of N, C, H, W and so on without the first two; 1 for each dimension of none.
Dims WithoutTwo(const Dims& values, size_t rank);

/// Whether strides, pads and dilations are those of a convolution of such images, N and C first.
bool IsConvolution(const Dims& images, const Dims& strides, const Dims& pads,
                   const Dims& dilations);
/// A convolution's steps and borders. libopapi's have a border that is even on both sides: of
/// another one `even` is false, and the images get it as elements.
struct ConvWindow {
  ConvWindow(const Dims& images, const Dims& strides, const Dims& pads, const Dims& dilations);
  Dims steps, pads, dilations, output_pads;
  bool even = true;
  Dims border;    // before and behind each dimension, the last one first
  Dims bordered;  // the dimensions with it
  Dims inside;    // indices of the first element within it
};

/// The value of one number that the host knows; see GraphTensor::values.
double NumberOf(const GraphTensor& tensor);

/// These axes; all of the tensor if there are none.
Dims AxesOr(const Dims& axes, const GraphTensor& tensor);
/// An output of a reduction; as one without dimensions if none is left.
GraphTensor Reduced(const GraphTensor& output, const GraphTensor& tensor, const Dims& axes,
                    bool kept);
/// The dimensions of tensors of one shape, one after the other.
Dims Joined(const std::vector<GraphTensor>& tensors);
/// A tensor's elements from these indices on, as many as the dimensions; the tensor if it has
/// fewer.
GraphTensor PartOf(const GraphTensor& tensor, const Dims& from, const Dims& dims);
/// Sizes before and behind each dimension, in the order from the last one that PyTorch has.
Dims LastFirst(const Dims& paddings);
/// Elements along a dimension from one on, so many; `squeezed`: without the dimension, which is 1.
GraphTensor Cut(const GraphTensor& tensor, int64_t dim, int64_t from, int64_t size, bool squeezed);
/// Rows of steps; those of one step may lack the dimension of steps.
GraphTensor Steps(const GraphTensor& rows);
/// The elements of an index of the first dimension.
GraphTensor Step(const GraphTensor& tensor, int64_t at);
/// Elements of a matrix that have the same index twice.
GraphTensor Diagonal(const GraphTensor& matrix);
/// Each of the indices that a row of the last dimension has, as a tensor of its own.
std::vector<GraphTensor> Columns(const GraphTensor& indices);
/// Sizes before each dimension: of pairs, or the first half.
Dims Before(const Dims& paddings, bool pairs);
/// The last two dimensions change places.
GraphTensor LastSwapped(const GraphTensor& tensor);

/// The dimensions from one on; a negative one counts from the last.
Dims DimsFrom(const GraphTensor& tensor, int64_t first);
/// Rows, and the elements of these last dimensions.
GraphTensor Grouped(const GraphTensor& tensor, const Dims& last);
/// A tensor of one element as one without dimensions.
GraphTensor One(const GraphTensor& tensor);
/// The seed of two, any other where both are 0.
int64_t SeedOf(int64_t seed, int64_t seed2);

/// Whether ksize and strides are those of a pool of images in NCHW.
bool IsPool(const GraphTensor& images, const Dims& ksize, const Dims& strides);
/// A pool's windows, and the border that SAME puts around the images.
struct PoolWindow {
  PoolWindow(const Dims& dims, const Dims& ksize, const Dims& strides, std::string_view padding);
  Dims kernel, steps;
  bool none = true;  // there is no border
  Dims border;       // left, right, above, below
  Dims bordered;     // the dimensions with it
  Dims inside;       // indices of the first element within it
};

/// Memory of a tensor that stands for one of another shape, of which the shape alone is wanted.
GraphTensor ShapeOf(const GraphTensor& like, const GraphTensor& some);

/// The power between a norm and the sum that it is the root of; extremes and counts have none.
double PowerOf(double p);

/// Operands of aclnnCdistBackward. All inputs of CdistGrad were copied to (…, P, R, M): each of the
/// P rows is a batch of its own, of which gradients and distances, that all M have, are taken once.
struct DistanceRows {
  DistanceRows(const GraphTensor& grad, const GraphTensor& x1, const GraphTensor& x2,
               const GraphTensor& cdist, const GraphTensor& out);
  GraphTensor grad, x1, x2, cdist, out;
};

}  // namespace openaclnn
