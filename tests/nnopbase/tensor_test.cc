// SPDX-License-Identifier: Apache-2.0
// Tensors: create, read back, new view, addresses, and every refusal.
#include <atomic>
#include <climits>
#include <thread>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/fixture.h"

namespace openaclnn {
namespace {

using Dims = std::vector<int64_t>;
using Getter = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);

Dims Read(Getter getter, const aclTensor* tensor) {
  int64_t* values = nullptr;
  uint64_t count = 99;
  EXPECT_EQ(getter(tensor, &values, &count), 0) << TakeMessage();
  EXPECT_NE(values, nullptr);
  Dims dims(values, values + count);
  delete[] values;
  return dims;
}

aclTensor* Create(const Dims& view, const Dims& stride, int64_t offset, const Dims& storage,
                  void* data = nullptr) {
  return aclCreateTensor(view.data(), view.size(), ACL_FLOAT16,
                         stride.empty() ? nullptr : stride.data(), offset, ACL_FORMAT_NCHW,
                         storage.data(), storage.size(), data);
}

TEST(TensorTest, ReadsBackWhatItWasMadeOf) {
  int word = 0;
  aclTensor* tensor = nullptr;
  {
    const Dims view = {2, 3}, stride = {-5, 1}, storage = {4, 5};
    tensor = Create(view, stride, 7, storage, &word);
  }  // the arrays are copied
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(Read(aclGetViewShape, tensor), (Dims{2, 3}));
  EXPECT_EQ(Read(aclGetViewStrides, tensor), (Dims{-5, 1}));
  EXPECT_EQ(Read(aclGetStorageShape, tensor), (Dims{4, 5}));
  int64_t offset = 0;
  aclFormat format{};
  aclDataType type{};
  void* address = nullptr;
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), 0);
  EXPECT_EQ(aclGetFormat(tensor, &format), 0);
  EXPECT_EQ(aclGetDataType(tensor, &type), 0);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(offset, 7);
  EXPECT_EQ(format, ACL_FORMAT_NCHW);
  EXPECT_EQ(type, ACL_FLOAT16);
  EXPECT_EQ(address, &word);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST(TensorTest, NoStridesMeanDenseRows) {
  for (const Dims& view : {Dims{}, Dims{5}, Dims{2, 3, 4}, Dims{2, 0, 4}, Dims(12, 2)}) {
    Dims dense(view.size());
    int64_t stride = 1;
    for (size_t i = view.size(); i-- > 0;) {
      dense[i] = stride;
      stride *= view[i];
    }
    aclTensor* tensor = Create(view, {}, 0, view);
    ASSERT_NE(tensor, nullptr) << TakeMessage();
    EXPECT_EQ(Read(aclGetViewShape, tensor), view);
    EXPECT_EQ(Read(aclGetViewStrides, tensor), dense);
    EXPECT_EQ(Read(aclGetStorageShape, tensor), view);
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
}

// What the operators refuse is no failure here.
TEST(TensorTest, TakesWhatOnlyOperatorsRefuse) {
  const int64_t big = INT64_MAX;
  for (const Dims& view : {Dims{-1}, Dims{big, big, big}, Dims(100, 1)}) {
    aclTensor* tensor = Create(view, {}, -3, {1});
    ASSERT_NE(tensor, nullptr) << TakeMessage();
    EXPECT_EQ(Read(aclGetViewShape, tensor), view);
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
  aclTensor* odd = aclCreateTensor(nullptr, 0, static_cast<aclDataType>(999), nullptr, 0,
                                   static_cast<aclFormat>(-7), nullptr, 0, nullptr);
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(aclDestroyTensor(odd), 0);
}

TEST(TensorTest, InitGivesANewView) {
  aclTensor* tensor = Create({2, 3}, {}, 0, {2, 3});
  const int64_t dims[] = {4};
  int word = 0;
  ASSERT_EQ(aclInitTensor(tensor, dims, 1, ACL_INT64, nullptr, 2, ACL_FORMAT_ND, dims, 1, &word),
            0);
  EXPECT_EQ(Read(aclGetViewShape, tensor), Dims{4});
  aclDataType type{};
  EXPECT_EQ(aclGetDataType(tensor, &type), 0);
  EXPECT_EQ(type, ACL_INT64);
  ExpectRefused({"aclInitTensor",
                 [&] {
                   return aclInitTensor(tensor, nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        dims, 1, nullptr);
                 },
                 ACLNN_ERR_PARAM_NULLPTR, "viewDims value is null"});
  ExpectRefused({"aclInitTensor",
                 [&] {
                   return aclInitTensor(tensor, dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        nullptr, 1, nullptr);
                 },
                 ACLNN_ERR_PARAM_NULLPTR, "storageDims value is null"});
  EXPECT_EQ(aclGetDataType(tensor, &type), 0);
  EXPECT_EQ(type, ACL_INT64) << "a refusal leaves it as it was";
  EXPECT_EQ(Read(aclGetViewShape, tensor), Dims{4});
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// Readers see the tensor as it was or as it is, whole; more than 8 dimensions are on the heap.
TEST(TensorTest, InitWhileAnotherThreadReads) {
  const Dims few(2, 1), many(12, 2);
  aclTensor* tensor = Create(few, few, 0, few);
  ASSERT_NE(tensor, nullptr);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const Dims& dims = i % 2 == 0 ? many : few;
      EXPECT_EQ(aclInitTensor(tensor, dims.data(), dims.size(), ACL_FLOAT, dims.data(), 0,
                              ACL_FORMAT_ND, dims.data(), dims.size(), nullptr),
                0);
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    for (const Getter getter : {aclGetViewShape, aclGetViewStrides, aclGetStorageShape}) {
      const Dims read = Read(getter, tensor);
      if (read != few && read != many) {
        ADD_FAILURE() << "half a tensor, of rank " << read.size();
        i = INT_MAX - 1;
      }
    }
  }
  stop = true;
  writer.join();
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST(TensorTest, RawAddress) {
  aclTensor* tensor = Create({1}, {}, 0, {1});
  int word = 0;
  void* address = &word;
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, &word), 0);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), 0);
  EXPECT_EQ(address, &word);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, nullptr), 0) << "null is allowed";
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST(TensorTest, CreateFailures) {
  const int64_t dims[] = {1};
  struct Row {
    const int64_t* view;
    uint64_t view_rank;
    const int64_t* storage;
    uint64_t storage_rank;
    int code;
    const char* says;
  };
  for (const Row& row :
       {Row{nullptr, 1, dims, 1, ACLNN_ERR_PARAM_NULLPTR, "viewDims value is null"},
        Row{dims, 1, nullptr, 1, ACLNN_ERR_PARAM_NULLPTR, "storageDims value is null"},
        Row{dims, UINT64_MAX, dims, 1, ACLNN_ERR_PARAM_INVALID, "viewDimsNum value is"},
        Row{dims, 1, dims, 1u << 20, ACLNN_ERR_PARAM_INVALID, "storageDimsNum value is"}}) {
    ExpectRefused({"aclCreateTensor",
                   [&] {
                     EXPECT_EQ(
                         aclCreateTensor(row.view, row.view_rank, ACL_FLOAT, nullptr, 0,
                                         ACL_FORMAT_ND, row.storage, row.storage_rank, nullptr),
                         nullptr);
                     return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
                   },
                   row.code, row.says});
  }
}

TEST(TensorTest, NullArguments) {
  aclTensor* t = Create({1}, {}, 0, {1});
  int64_t *values = nullptr, number = 0;
  uint64_t count = 0;
  void* address = nullptr;
  aclFormat format{};
  aclDataType type{};
  const int code = ACLNN_ERR_PARAM_NULLPTR;
  const char* tensor = "tensor value is null";
  for (const Refusal& row : std::vector<Refusal>{
           {"aclGetViewShape", [&] { return aclGetViewShape(nullptr, &values, &count); }, code,
            tensor},
           {"aclGetViewShape", [&] { return aclGetViewShape(t, nullptr, &count); }, code,
            "viewDims value is null"},
           {"aclGetViewShape", [&] { return aclGetViewShape(t, &values, nullptr); }, code,
            "viewDimsNum value is null"},
           {"aclGetStorageShape", [&] { return aclGetStorageShape(nullptr, &values, &count); },
            code, tensor},
           {"aclGetStorageShape", [&] { return aclGetStorageShape(t, nullptr, &count); }, code,
            "storageDims value is null"},
           {"aclGetStorageShape", [&] { return aclGetStorageShape(t, &values, nullptr); }, code,
            "storageDimsNum value is null"},
           {"aclGetViewStrides", [&] { return aclGetViewStrides(nullptr, &values, &count); }, code,
            tensor},
           {"aclGetViewStrides", [&] { return aclGetViewStrides(t, nullptr, &count); }, code,
            "stridesValue value is null"},
           {"aclGetViewStrides", [&] { return aclGetViewStrides(t, &values, nullptr); }, code,
            "stridesNum value is null"},
           {"aclGetViewOffset", [&] { return aclGetViewOffset(nullptr, &number); }, code, tensor},
           {"aclGetViewOffset", [&] { return aclGetViewOffset(t, nullptr); }, code, "offset value"},
           {"aclGetFormat", [&] { return aclGetFormat(nullptr, &format); }, code, tensor},
           {"aclGetFormat", [&] { return aclGetFormat(t, nullptr); }, code, "format value"},
           {"aclGetDataType", [&] { return aclGetDataType(nullptr, &type); }, code, tensor},
           {"aclGetDataType", [&] { return aclGetDataType(t, nullptr); }, code, "dataType value"},
           {"aclGetRawTensorAddr", [&] { return aclGetRawTensorAddr(nullptr, &address); }, code,
            tensor},
           {"aclGetRawTensorAddr", [&] { return aclGetRawTensorAddr(t, nullptr); }, code,
            "addr value is null"},
           {"aclSetRawTensorAddr", [&] { return aclSetRawTensorAddr(nullptr, &type); }, code,
            tensor},
           {"aclInitTensor",
            [&] {
              return aclInitTensor(nullptr, &number, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                   &number, 1, nullptr);
            },
            code, tensor},
       }) {
    ExpectRefused(row);
  }
  EXPECT_EQ(values, nullptr);
  EXPECT_EQ(aclDestroyTensor(nullptr), 0) << "null is no error";
  EXPECT_EQ(aclDestroyTensor(t), 0);
}

TEST(TensorTest, PassesBetweenThreads) {
  aclTensor* tensor = nullptr;
  std::thread([&] { tensor = Create({3}, {}, 0, {3}); }).join();
  EXPECT_EQ(Read(aclGetViewShape, tensor), Dims{3});
  std::thread([&] { EXPECT_EQ(aclDestroyTensor(tensor), 0); }).join();
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
}

TEST(MetaInitTest, IsOptionalAndRepeatable) {
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnInit(nullptr), 0);
  EXPECT_EQ(aclnnFinalize(), 0);
  EXPECT_EQ(aclnnFinalize(), 0);
  ExpectRefused({"aclnnInit", [] { return aclnnInit("/no/such/file"); }, ACLNN_ERR_PARAM_INVALID,
                 "configPath value is '/no/such/file'"});
}

}  // namespace
}  // namespace openaclnn
