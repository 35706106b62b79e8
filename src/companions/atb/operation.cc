// SPDX-License-Identifier: Apache-2.0
// libatb.so, fused operators for transformers: the C++ functions that a client links, which refuse.
#include <cstdint>

#include "ascendcl/unsupported.h"

// A template of hidden types would be hidden itself.
#pragma GCC visibility push(default)
namespace atb {

struct Context;
struct Operation;
struct Tensor;

namespace infer {
struct ElewiseParam;
struct GroupTopkParam;
struct LinearParam;
struct PagedAttentionParam;
struct ReshapeAndCacheParam;
struct RmsNormParam;
struct RopeParam;
struct SelfAttentionParam;
}  // namespace infer

int CreateContext(Context** context);
int DestroyContext(Context* context);
int DestroyOperation(Operation* operation);
template <class Param>
int CreateOperation(const Param& param, Operation** operation);
// In a namespace of its own there, whose name only the symbol keeps.
uint64_t GetTensorSize(const Tensor& tensor) __asm__("_ZN3atb5Utils13GetTensorSizeERKNS_6TensorE");

int CreateContext(Context**) { return openaclnn::Unsupported("atb::CreateContext"); }

int DestroyContext(Context*) { return openaclnn::Unsupported("atb::DestroyContext"); }

int DestroyOperation(Operation*) { return openaclnn::Unsupported("atb::DestroyOperation"); }

template <class Param>
int CreateOperation(const Param&, Operation**) {
  return openaclnn::Unsupported("atb::CreateOperation");
}

uint64_t GetTensorSize(const Tensor&) {
  (void)openaclnn::Unsupported("atb::Utils::GetTensorSize");
  return 0;
}

template int CreateOperation(const infer::ElewiseParam&, Operation**);
template int CreateOperation(const infer::GroupTopkParam&, Operation**);
template int CreateOperation(const infer::LinearParam&, Operation**);
template int CreateOperation(const infer::PagedAttentionParam&, Operation**);
template int CreateOperation(const infer::ReshapeAndCacheParam&, Operation**);
template int CreateOperation(const infer::RmsNormParam&, Operation**);
template int CreateOperation(const infer::RopeParam&, Operation**);
template int CreateOperation(const infer::SelfAttentionParam&, Operation**);

}  // namespace atb
#pragma GCC visibility pop
