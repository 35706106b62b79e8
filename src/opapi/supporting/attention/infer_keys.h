// SPDX-License-Identifier: Apache-2.0
// Inference: keys and values in a tensor for each batch, or behind those of a shared prefix; sinks.
#pragma once

#include "supporting/attention/infer.h"

namespace openaclnn::supporting {

/// The rows of the longest batch of keys, without those of the front.
int64_t MostKeys(const InferCall& call);

/// Checks that the lists have a tensor for each batch, and that only numbers of rows differ.
void CheckKeyList(const InferCall& call, Checker& checker);

/// Checks the lengths of batches of keys.
void CheckKeyLengths(const InferCall& call, Checker& checker);

/// Checks keys and values that all batches share, and what the page allows beside them.
void CheckFront(const InferCall& call, Checker& checker);

/// Checks the sinks of heads, and what the page allows beside them.
void CheckSink(const InferCall& call, Checker& checker);

/// Refuses a tensor beside something else.
void CheckBeside(const Tensor& tensor, bool beside, const char* what, Checker& checker);

}  // namespace openaclnn::supporting
