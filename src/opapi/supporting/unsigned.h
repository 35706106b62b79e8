// SPDX-License-Identifier: Apache-2.0
// UINT64 beside the types that all operators compute in: read and written by conversions.
#pragma once

#include "kernels/number/number.h"

namespace openaclnn::supporting {

/// LoaderOf, of UINT64 too, on the way to a type: to an integer the same bits, to DOUBLE the
/// nearest number, to narrower floats one that these round to as they would the integer.
template <class T>
LoadRow<T> WholeLoaderOf(int32_t dtype, int32_t to);

/// StorerOf, of UINT64 too: numbers from 2^63 on are converted, others are stored as INT64.
template <class T>
StoreRow<T> WholeStorerOf(int32_t dtype);

}  // namespace openaclnn::supporting
