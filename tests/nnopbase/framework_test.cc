// SPDX-License-Identifier: Apache-2.0
// The symbols that framework adapters look up by name, and what else libnnopbase.so refuses or
// leaves alone.
#include <dlfcn.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "abi/exports.h"
#include "openaclnn/status.h"
#include "tests/ascendcl/gradient.h"

namespace openaclnn {
namespace {

/// Looked up as adapters do, through the library of the operators.
template <class Function>
Function* Symbol(const char* name) {
  static void* const library = dlopen("libopapi.so", RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  auto* symbol = reinterpret_cast<Function*>(dlsym(library, name));
  EXPECT_NE(symbol, nullptr) << name;
  return symbol;
}

/// What an adapter may count on: its ordinary path, with nothing cached and no pool.
struct Behaviour {
  const char* symbol;
  std::function<void(const char* symbol)> expect;
};

template <class... Arguments>
auto DoesNothing(Arguments... arguments) {
  return [=](const char* symbol) {
    Symbol<void(Arguments...)>(symbol)(arguments...);
    EXPECT_EQ(TakeMessage(), "");
  };
}

/// A look-up that misses leaves the size alone.
template <class... Key>
auto Misses(Key... key) {
  return [=](const char* symbol) {
    uint64_t size = 77;
    const auto find = Symbol<aclOpExecutor*(Key..., uint64_t*)>(symbol);
    EXPECT_EQ(find(key..., &size), nullptr);
    EXPECT_EQ(find(key..., nullptr), nullptr);
    EXPECT_EQ(size, 77u);
    EXPECT_EQ(TakeMessage(), "");
  };
}

void NothingMayBeCached(const char* symbol) {
  const auto may = Symbol<bool(const char*)>(symbol);
  for (const char* api : {"aclnnEmbedding", "", "no such api"}) EXPECT_FALSE(may(api));
  EXPECT_FALSE(may(nullptr));
}

void PoolIsReady(const char* symbol) {
  const auto init = Symbol<int(void*, bool)>(symbol);
  for (const bool sync : {false, true}) EXPECT_EQ(init(nullptr, sync), 0);
}

void HasNoKernelPackages(const char* symbol) {
  ExpectRefused({symbol, [=] { return Symbol<int()>(symbol)(); },
                 ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND, "kernel package is not used here"});
}

void HasNoKernelPackagesAt(const char* symbol) {
  const auto reselect = Symbol<int(const char*)>(symbol);
  ExpectRefused({symbol, [=] { return reselect("/a/path"); },
                 ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND, "path value is '/a/path'"});
  ExpectRefused(
      {symbol, [=] { return reselect(nullptr); }, ACLNN_ERR_PARAM_NULLPTR, "path value is null"});
}

uint8_t g_key[] = {1, 2, 3};

const std::vector<Behaviour> kBehaviours = {
    {"AddTensorAddrToCachedList", DoesNothing<void*>(g_key)},
    {"CanUsePTACache", NothingMayBeCached},
    {"InitHugeMemThreadLocal", PoolIsReady},
    {"InitPTACacheThreadLocal", DoesNothing<>()},
    {"PTAFindExecCache", Misses<uint8_t*, size_t>(g_key, sizeof(g_key))},
    {"PTAGetExecCache", Misses<uint64_t>(123)},
    {"ReleaseHugeMem", DoesNothing<void*, bool>(nullptr, false)},
    {"ResetCacheThreadLocal", DoesNothing<>()},
    {"SetPTACacheHashKey", DoesNothing<uint8_t*, size_t>(g_key, sizeof(g_key))},
    {"SetPTAHashKey", DoesNothing<uint64_t>(123)},
    {"UnInitHugeMemThreadLocal", DoesNothing<void*, bool>(nullptr, true)},
    {"UnInitPTACacheThreadLocal", DoesNothing<>()},
    {"aclnnReselectStaticKernel", HasNoKernelPackages},
    {"aclnnReselectStaticKernelWithPath", HasNoKernelPackagesAt},
};

TEST(FrameworkTest, EverySymbolDoesWhatItsRowSays) {
  for (const Behaviour& row : kBehaviours) {
    SCOPED_TRACE(row.symbol);
    TakeMessage();
    row.expect(row.symbol);
  }
}

// The meta API has headers and tests of its own; what else is exported has a row above.
TEST(FrameworkTest, TableHoldsEveryExportWithoutAHeader) {
  std::set<std::string> named, exported;
  for (const Behaviour& row : kBehaviours) named.insert(row.symbol);
  std::string headers;
  for (const char* header : {"acl_meta.h", "aclnn_base.h"}) {
    std::ifstream file(std::string(OPENACLNN_SOURCE_DIR "/include/aclnn/") + header);
    headers.append(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_FALSE(headers.empty());
  for (const std::string& symbol : ExportsOf("nnopbase")) {
    if (headers.find(' ' + symbol + '(') == std::string::npos) exported.insert(symbol);
  }
  EXPECT_EQ(named, exported);
}

// The order in which an adapter calls them around an operator, on a thread of its own.
class AdapterTest : public RuntimeTest {};

TEST_F(AdapterTest, CallsAroundAnOperator) {
  Symbol<void()>("InitPTACacheThreadLocal")();
  Symbol<void(uint64_t)>("SetPTAHashKey")(0);
  if (Symbol<bool(const char*)>("CanUsePTACache")("aclnnEmbeddingDenseBackward")) FAIL();
  ASSERT_EQ(Symbol<int(void*, bool)>("InitHugeMemThreadLocal")(nullptr, false), 0);
  Gradient gradient(1);
  ASSERT_EQ(gradient.Launch(nullptr), 0) << TakeMessage();
  Symbol<void(void*, bool)>("ReleaseHugeMem")(nullptr, false);
  Symbol<void(void*, bool)>("UnInitHugeMemThreadLocal")(nullptr, false);
  Symbol<void()>("UnInitPTACacheThreadLocal")();
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0) << TakeMessage();
  EXPECT_EQ(gradient.out().Read(), (std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4}));
}

TEST(DumpTest, IsRefusedWhateverItIsGiven) {
  const char* api = "aclDumpOpTensors";
  const int code = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  int number = 0;
  aclTensor* none = reinterpret_cast<aclTensor*>(&number);
  ExpectRefused({api, [&] { return aclDumpOpTensors("Add", "add_1", &none, 1, 0, &number); }, code,
                 "dump of opType 'Add' is not supported"});
  ExpectRefused({api, [] { return aclDumpOpTensors(nullptr, nullptr, nullptr, 1, 1, nullptr); },
                 code, "expected aclrtMemcpy"});
}

}  // namespace
}  // namespace openaclnn
