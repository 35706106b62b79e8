// SPDX-License-Identifier: Apache-2.0
// The table of functions that libnnopbase.so offers the operators.
#include "nnopbase/interface.h"

#include <cstring>

#include "ascendcl/message.h"
#include "client/client.h"
#include "nnopbase/array.h"
#include "nnopbase/executor/executor.h"
#include "nnopbase/handles.h"
#include "nnopbase/list.h"

namespace openaclnn {
namespace {

/// Pins the object behind a handle and hands it to `read`.
template <class T, class Read>
OpenaclnnFound PinObject(const void* handle, void** out, Read&& read) {
  HandleTable::Pin pin;
  switch (MetaHandles().Find(T::kKind, handle, &pin)) {
    case Found::kLive:
      read(*static_cast<const T*>(pin.object()));
      *out = pin.Detach();
      return OPENACLNN_LIVE;
    case Found::kNull:
      return OPENACLNN_NULL;
    case Found::kForeign:
      return OPENACLNN_FOREIGN;
    case Found::kStale:
      break;
  }
  return OPENACLNN_STALE;
}

OpenaclnnFound PinTensor(const aclTensor* handle, OpenaclnnTensor* tensor, void** pin) {
  return PinObject<Tensor>(handle, pin, [&](const Tensor& object) { *tensor = object.view(); });
}

template <class Array, class Handle, class T>
OpenaclnnFound PinArray(const Handle* handle, const T** values, uint64_t* count, void** pin) {
  return PinObject<Array>(handle, pin, [&](const Array& object) {
    *values = object.values.data();
    *count = object.values.size();
  });
}

template <class List, class Handle, class Member>
OpenaclnnFound PinList(const Handle* handle, const Member* const** members, uint64_t* count,
                       void** pin) {
  return PinObject<List>(handle, pin, [&](const List& object) {
    *members = reinterpret_cast<const Member* const*>(object.members.data());
    *count = object.members.size();
  });
}

OpenaclnnFound ReadScalar(const aclScalar* handle, OpenaclnnScalar* scalar) {
  void* pin = nullptr;
  const OpenaclnnFound found = PinObject<Scalar>(handle, &pin, [&](const Scalar& object) {
    scalar->dtype = object.dtype;
    std::memcpy(scalar->value, object.value.data(), sizeof(scalar->value));
  });
  if (found == OPENACLNN_LIVE) HandleTable::Pin::Attach(MetaHandles(), pin);
  return found;
}

void SetViewShape(const aclTensor* handle, const int64_t* dims, uint32_t rank) {
  Dims shape(dims, rank), strides(dims, rank);
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    strides.data()[i] = stride;
    stride *= dims[i];
  }
  Pinned<Tensor> tensor;  // threads of the program may read it
  if (FindObjectAlone(MetaHandles(), handle, &tensor) != Found::kLive) return;
  tensor->dims = std::move(shape);
  tensor->strides = std::move(strides);
}

/// Turns the body's status into a code and a message: nothing is thrown across the border.
template <class Body>
int Answer(OpenaclnnMessage* message, Body&& body) {
  const Status status = Guard(body);
  if (!status.ok()) Write(message, status.text());
  return status.code();
}

Status MakeExecutor(const OpenaclnnCall* call, aclOpExecutor** executor) {
  // The plan is this function's, also where memory is short.
  std::unique_ptr<void, void (*)(void*)> plan(call->plan, call->destroy);
  if (call->operand_count > Executor::kMaxOperands) {
    return Status(ACLNN_ERR_INNER_CREATE_EXECUTOR,
                  Concat("operand count is ", call->operand_count, ", expected at most ",
                         Executor::kMaxOperands));
  }
  auto shared = std::make_shared<const PlannedCall>(*call);
  (void)plan.release();
  auto planned = std::make_unique<Executor>(*call, std::move(shared));
  if (Tracing()) Runtime().note_arguments(planned->Describe().c_str());
  void* handle = InsertObject(MetaHandles(), std::move(planned));
  if (handle == nullptr) {
    return Status(ACLNN_ERR_INNER_CREATE_EXECUTOR, "no handle is left for an executor");
  }
  *executor = static_cast<aclOpExecutor*>(handle);
  return {};
}

int CreateExecutor(const OpenaclnnCall* call, aclOpExecutor** executor, OpenaclnnMessage* message) {
  return Answer(message, [&] { return MakeExecutor(call, executor); });
}

int Execute(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
            void* stream, OpenaclnnMessage* message) {
  return Answer(message, [&] {
    Pinned<Executor> object;
    Status status = FindExecutor(executor, ACLNN_ERR_PARAM_NULLPTR, &object);
    bool spent = false;
    if (status.ok()) status = object->Execute(api, workspace, workspace_size, stream, &spent);
    if (spent) MetaHandles().Remove(Executor::kKind, executor);
    return status;
  });
}

}  // namespace
}  // namespace openaclnn

const OpenaclnnMeta* openaclnn_meta(uint32_t version) {
  static const OpenaclnnMeta meta = {
      .runtime = &openaclnn::Runtime(),
      .pin_tensor = openaclnn::PinTensor,
      .pin_int_array = openaclnn::PinArray<openaclnn::IntArray>,
      .pin_bool_array = openaclnn::PinArray<openaclnn::BoolArray>,
      .unpin =
          [](void* pin) { openaclnn::HandleTable::Pin::Attach(openaclnn::MetaHandles(), pin); },
      .read_scalar = openaclnn::ReadScalar,
      .pin_tensor_list = openaclnn::PinList<openaclnn::TensorList>,
      .pin_scalar_list = openaclnn::PinList<openaclnn::ScalarList>,
      .set_view_shape = openaclnn::SetViewShape,
      .create_executor = openaclnn::CreateExecutor,
      .execute = openaclnn::Execute,
  };
  return version == OPENACLNN_META_INTERFACE ? &meta : nullptr;
}
