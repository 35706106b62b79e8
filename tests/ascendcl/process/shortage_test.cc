// SPDX-License-Identifier: Apache-2.0
// Memory runs short in each group of the API, at each allocation, in any thread, and the kernel
// refuses.
#include "tests/ascendcl/process/shortage.h"

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"

namespace openaclnn {
namespace {

class Contexts : public CallGroup {
 public:
  bool Use() override {
    if (!Ok("aclrtGetCurrentContext", aclrtGetCurrentContext(&home_))) return false;
    set_ = Ok("aclrtSetDevice", aclrtSetDevice(1));
    return set_ && Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(nullptr)) &&
           Ok("aclrtCreateContext", aclrtCreateContext(&context_, 0)) &&
           Ok("aclrtCreateStream", aclrtCreateStream(&stream_)) &&
           Ok("aclrtSynchronizeDevice", aclrtSynchronizeDevice());
  }
  bool End() override {
    stream_ = nullptr;  // its context ends it
    bool done = Gone("aclrtDestroyContext", context_, aclrtDestroyContext);
    if (home_ != nullptr) done &= Ok("aclrtSetCurrentContext", aclrtSetCurrentContext(home_));
    if (set_) set_ = !Ok("aclrtResetDevice", aclrtResetDevice(1));
    return done && !set_;
  }

 private:
  void *home_ = nullptr, *context_ = nullptr, *stream_ = nullptr;
  bool set_ = false;
};

class Streams : public CallGroup {
 public:
  bool Use() override {
    for (aclrtStream& stream : streams_) {
      if (!Ok("aclrtCreateStream", aclrtCreateStream(&stream)) ||
          !Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(stream))) {
        return false;
      }
    }
    return Ok("aclrtSynchronizeDevice", aclrtSynchronizeDevice());
  }
  bool End() override {
    bool done = Gone("aclrtDestroyStreamForce", streams_[0], aclrtDestroyStreamForce);
    for (aclrtStream& stream : streams_) {
      done &= Gone("aclrtDestroyStream", stream, aclrtDestroyStream);
    }
    return done;
  }

 private:
  std::array<aclrtStream, 5> streams_{};
};

class Events : public CallGroup {
 public:
  bool Use() override {
    constexpr uint32_t kFlags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;
    if (!Ok("aclrtCreateStream", aclrtCreateStream(&first_)) ||
        !Ok("aclrtCreateStream", aclrtCreateStream(&second_)) ||
        !Ok("aclrtCreateEventExWithFlag", aclrtCreateEventExWithFlag(&event_, kFlags))) {
      return false;
    }
    for (int i = 0; i < 70; ++i) {  // a queue needs memory only now and then
      if (!Ok("aclrtRecordEvent", aclrtRecordEvent(event_, first_)) ||
          !Ok("aclrtStreamWaitEvent", aclrtStreamWaitEvent(second_, event_)) ||
          !Ok("aclrtResetEvent", aclrtResetEvent(event_, second_))) {
        return false;
      }
    }
    return Ok("aclrtSynchronizeEvent", aclrtSynchronizeEvent(event_)) &&
           Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(first_)) &&
           Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(second_));
  }
  bool End() override {
    bool done = Gone("aclrtDestroyEvent", event_, aclrtDestroyEvent);
    done &= Gone("aclrtDestroyStream", first_, aclrtDestroyStream);
    return Gone("aclrtDestroyStream", second_, aclrtDestroyStream) && done;
  }

 private:
  void *first_ = nullptr, *second_ = nullptr, *event_ = nullptr;
};

class DeviceMemory : public CallGroup {
 public:
  bool Use() override {
    // Of a segment that blocks share, and of one of their own.
    constexpr size_t kBytes[] = {100, 100, size_t{100} << 20, 5000};
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!Ok("aclrtMalloc", aclrtMalloc(&blocks_[i], kBytes[i], ACL_MEM_MALLOC_HUGE_FIRST))) {
        return false;
      }
    }
    return Ok("aclrtMallocHost", aclrtMallocHost(&host_, 1000)) &&
           Ok("aclrtReserveMemAddress",
              aclrtReserveMemAddress(&reserved_, size_t{2} << 20, 0, nullptr, 0)) &&
           Ok("aclrtMemset", aclrtMemset(blocks_[0], 100, 1, 100)) &&
           Ok("aclrtMemcpy", aclrtMemcpy(host_, 100, blocks_[0], 100, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  bool End() override {
    bool done = Gone("aclrtFree", blocks_[1], aclrtFree);  // between two that are live
    for (void*& block : blocks_) done &= Gone("aclrtFree", block, aclrtFree);
    done &= Gone("aclrtFreeHost", host_, aclrtFreeHost);
    return Gone("aclrtReleaseMemAddress", reserved_, aclrtReleaseMemAddress) && done;
  }

 private:
  std::array<void*, 4> blocks_{};
  void *host_ = nullptr, *reserved_ = nullptr;
};

class MappedMemory : public CallGroup {
 public:
  bool Use() override {
    constexpr size_t kBytes = size_t{2} << 20;
    aclrtPhysicalMemProp prop = {};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    mapped_ =
        Ok("aclrtReserveMemAddress", aclrtReserveMemAddress(&reserved_, kBytes, 0, nullptr, 0)) &&
        Ok("aclrtMallocPhysical", aclrtMallocPhysical(&memory_, kBytes, &prop, 0)) &&
        Ok("aclrtMapMem", aclrtMapMem(reserved_, kBytes, 0, memory_, 0));
    return mapped_ && Ok("aclrtMemsetAsync", aclrtMemsetAsync(reserved_, 64, 1, 64, nullptr)) &&
           Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(nullptr));
  }
  bool End() override {
    if (mapped_) mapped_ = !Ok("aclrtUnmapMem", aclrtUnmapMem(reserved_));
    bool done = Gone("aclrtFreePhysical", memory_, aclrtFreePhysical);
    return Gone("aclrtReleaseMemAddress", reserved_, aclrtReleaseMemAddress) && done;
  }

 private:
  void *reserved_ = nullptr, *memory_ = nullptr;
  bool mapped_ = false;
};

/// What works on a stream with memory of the device and of the host.
class OnStream : public CallGroup {
 public:
  bool End() override {
    bool done = Gone("aclrtDestroyStream", stream_, aclrtDestroyStream);
    done &= Gone("aclrtFree", device_, aclrtFree);
    return Gone("aclrtFreeHost", host_, aclrtFreeHost) && done;
  }

 protected:
  static constexpr size_t kBytes = 4096;

  bool Begin() {
    return Ok("aclrtCreateStream", aclrtCreateStream(&stream_)) &&
           Ok("aclrtMalloc", aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)) &&
           Ok("aclrtMallocHost", aclrtMallocHost(&host_, kBytes));
  }
  bool Finish() { return Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(stream_)); }

  void *stream_ = nullptr, *device_ = nullptr, *host_ = nullptr;
};

class Copies : public OnStream {
 public:
  bool Use() override {
    if (!Begin()) return false;
    char pageable[16] = "";
    for (int i = 0; i < 70; ++i) {
      if (!Ok("aclrtMemsetAsync", aclrtMemsetAsync(device_, kBytes, i, kBytes, stream_)) ||
          !Ok("aclrtMemcpyAsync", aclrtMemcpyAsync(host_, kBytes, device_, kBytes,
                                                   ACL_MEMCPY_DEVICE_TO_HOST, stream_)) ||
          !Ok("aclrtMemcpy2dAsync", aclrtMemcpy2dAsync(device_, 64, host_, 64, 32, 4,
                                                       ACL_MEMCPY_HOST_TO_DEVICE, stream_))) {
        return false;
      }
    }
    return Ok("aclrtMemcpyAsync",
              aclrtMemcpyAsync(pageable, sizeof(pageable), device_, sizeof(pageable),
                               ACL_MEMCPY_DEVICE_TO_HOST, stream_)) &&
           Finish();
  }
};

class Callbacks : public OnStream {
 public:
  bool Use() override {
    if (!Begin()) return false;
    const auto nothing = [](void*) {};
    subscribed_ = Ok("aclrtSubscribeReport", aclrtSubscribeReport(pthread_self(), stream_));
    for (int i = 0; i < 12 && subscribed_; ++i) {
      // Posted by whoever runs the stream; where that fails the stream says so.
      if (!Ok("aclrtLaunchCallback",
              aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_NO_BLOCK, stream_)) ||
          !Finish() || !Ok("aclrtProcessReport", aclrtProcessReport(0))) {
        return false;
      }
    }
    return subscribed_;
  }
  bool End() override {
    if (subscribed_) {
      subscribed_ = !Ok("aclrtUnSubscribeReport", aclrtUnSubscribeReport(pthread_self(), stream_));
    }
    return !subscribed_ && OnStream::End();
  }

 private:
  bool subscribed_ = false;
};

class HostFunctions : public OnStream {
 public:
  bool Use() override {
    const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
    if (!Begin()) return false;
    for (int i = 0; i < 4; ++i) {
      if (!Ok("aclrtLaunchHostFunc", aclrtLaunchHostFunc(stream_, count, &counted_))) return false;
    }
    return Finish();
  }

 private:
  int counted_ = 0;
};

class Objects : public CallGroup {
 public:
  bool Use() override {
    const int64_t dims[] = {1, 1, 1, 1, 1, 1, 1, 1, 2};  // more than a tensor has room for
    float value = 1;
    int64_t* shape = nullptr;
    uint64_t rank = 0;
    const bool made =
        Made("aclCreateTensor",
             aclCreateTensor(dims, 9, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 9, nullptr),
             &tensor_) &&
        Made("aclCreateTensor",
             aclCreateTensor(dims + 8, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 9, nullptr),
             &member_) &&
        Ok("aclInitTensor",
           aclInitTensor(member_, dims, 9, ACL_INT64, dims, 0, ACL_FORMAT_ND, dims, 9, nullptr)) &&
        Made("aclCreateScalar", aclCreateScalar(&value, ACL_FLOAT), &scalar_) &&
        Made("aclCreateIntArray", aclCreateIntArray(dims, 9), &integers_) &&
        Ok("aclGetViewShape", aclGetViewShape(tensor_, &shape, &rank));
    delete[] shape;
    if (!made || !Made("aclCreateTensorList", aclCreateTensorList(&member_, 1), &list_)) {
      return false;
    }
    member_ = nullptr;  // the list's
    return true;
  }
  bool End() override {
    bool done = Gone("aclDestroyTensor", tensor_, aclDestroyTensor);
    done &= Gone("aclDestroyTensor", member_, aclDestroyTensor);
    done &= Gone("aclDestroyTensorList", list_, aclDestroyTensorList);
    done &= Gone("aclDestroyScalar", scalar_, aclDestroyScalar);
    return Gone("aclDestroyIntArray", integers_, aclDestroyIntArray) && done;
  }

 private:
  aclTensor *tensor_ = nullptr, *member_ = nullptr;
  aclTensorList* list_ = nullptr;
  aclScalar* scalar_ = nullptr;
  aclIntArray* integers_ = nullptr;
};

class Operator : public OnStream {
 public:
  bool Use() override {
    const int64_t dims[] = {2, 3};
    float one = 1;
    const auto tensor = [&] {
      return aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, device_);
    };
    if (!Begin() || !Made("aclCreateTensor", tensor(), &self_) ||
        !Made("aclCreateScalar", aclCreateScalar(&one, ACL_FLOAT), &alpha_) ||
        !Ok("aclrtMemset", aclrtMemset(device_, kBytes, 0, kBytes))) {
      return false;
    }
    for (int i = 0; i < 70; ++i) {
      uint64_t bytes = 0;
      if (!Ok("aclnnAddGetWorkspaceSize",
              aclnnAddGetWorkspaceSize(self_, self_, alpha_, self_, &bytes, &executor_)) ||
          !Ok("aclnnAdd", aclnnAdd(nullptr, bytes, executor_, stream_))) {
        return false;
      }
      executor_ = nullptr;  // spent
    }
    return Finish();
  }
  bool End() override {
    bool done = Gone("aclDestroyAclOpExecutor", executor_, aclDestroyAclOpExecutor);
    done &= Gone("aclDestroyTensor", self_, aclDestroyTensor);
    done &= Gone("aclDestroyScalar", alpha_, aclDestroyScalar);
    return OnStream::End() && done;
  }

 private:
  aclTensor* self_ = nullptr;
  aclScalar* alpha_ = nullptr;
  aclOpExecutor* executor_ = nullptr;
};

/// Of two streams, of which one joins the other's capture.
class Graphs : public OnStream {
 public:
  bool Use() override {
    if (!Begin() || !Ok("aclrtCreateStream", aclrtCreateStream(&side_)) ||
        !Ok("aclrtCreateEventExWithFlag", aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC)) ||
        !Ok("aclmdlRICaptureBegin",
            aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL))) {
      return false;
    }
    for (int i = 0; i < 3; ++i) {
      if (!Ok("aclrtMemsetAsync", aclrtMemsetAsync(device_, kBytes, i, kBytes, stream_)) ||
          !Order(stream_, side_) ||
          !Ok("aclrtMemcpyAsync",
              aclrtMemcpyAsync(host_, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, side_)) ||
          !Order(side_, stream_)) {
        return false;
      }
    }
    if (!Ok("aclmdlRICaptureEnd", aclmdlRICaptureEnd(stream_, &model_))) return false;
    for (int i = 0; i < 3; ++i) {
      if (!Ok("aclmdlRIExecuteAsync", aclmdlRIExecuteAsync(model_, i % 2 ? side_ : stream_))) {
        return false;
      }
    }
    return Finish() && Ok("aclrtSynchronizeStream", aclrtSynchronizeStream(side_));
  }
  bool End() override {
    bool done = Gone("aclmdlRIDestroy", model_, aclmdlRIDestroy);
    done &= Gone("aclrtDestroyStream", side_, aclrtDestroyStream);
    done &= Gone("aclrtDestroyEvent", event_, aclrtDestroyEvent);
    return OnStream::End() && done;
  }

 private:
  bool Order(aclrtStream before, aclrtStream behind) {
    return Ok("aclrtRecordEvent", aclrtRecordEvent(event_, before)) &&
           Ok("aclrtStreamWaitEvent", aclrtStreamWaitEvent(behind, event_));
  }

  void *side_ = nullptr, *event_ = nullptr, *model_ = nullptr;
};

TEST(Shortage, OfContexts) { EachShortage<Contexts>(); }
TEST(Shortage, OfStreams) { EachShortage<Streams>(); }
TEST(Shortage, OfEvents) { EachShortage<Events>(); }
TEST(Shortage, OfDeviceMemory) { EachShortage<DeviceMemory>(); }
TEST(Shortage, OfMappedMemory) { EachShortage<MappedMemory>(); }
TEST(Shortage, OfCopies) { EachShortage<Copies>(); }
TEST(Shortage, OfCallbacks) { EachShortage<Callbacks>(); }
TEST(Shortage, OfHostFunctions) { EachShortage<HostFunctions>(); }
TEST(Shortage, OfObjects) { EachShortage<Objects>(); }
TEST(Shortage, OfGraphs) { EachShortage<Graphs>(); }
TEST(Shortage, OfOperators) { EachShortage<Operator>(); }

// Groups that ask the kernel for nothing are left out: blocks share ranges of addresses, which
// stay.
TEST(KernelShortage, OfDeviceMemory) { EachShortage<DeviceMemory, test::ShortKernel>(); }
TEST(KernelShortage, OfMappedMemory) { EachShortage<MappedMemory, test::ShortKernel>(); }
TEST(KernelShortage, OfHostFunctions) { EachShortage<HostFunctions, test::ShortKernel>(); }

// With full each block has a range of its own. Large ones take long to fill.
class FullKernelShortage : public testing::Test {
  const Variable check_{"OPENACLNN_CHECK", "full"};
};
TEST_F(FullKernelShortage, OfMappedMemory) { EachShortage<MappedMemory, test::ShortKernel>(); }
TEST_F(FullKernelShortage, OfCopies) { EachShortage<Copies, test::ShortKernel>(); }
TEST_F(FullKernelShortage, OfCallbacks) { EachShortage<Callbacks, test::ShortKernel>(); }
TEST_F(FullKernelShortage, OfHostFunctions) { EachShortage<HostFunctions, test::ShortKernel>(); }
TEST_F(FullKernelShortage, OfOperators) { EachShortage<Operator, test::ShortKernel>(); }

}  // namespace
}  // namespace openaclnn
