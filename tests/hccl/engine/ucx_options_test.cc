// SPDX-License-Identifier: Apache-2.0
// What UCX is told: options of ours where the environment has none, and no more than that.
#if __has_include(<ucp/api/ucp.h>)
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "ascendcl/fixture.h"
#include "hccl/engine/ucx_library.h"
#include "hccl/hccl_types.h"

namespace openaclnn {
namespace {

using Options = std::map<std::string, std::string>;

// What the stand-ins for UCX's functions have been told.
struct Told {
  Options options;
  int held = 0;  // read and not released
  std::string refused;
} g_told;

ucs_status_t Read(const char*, const char*, ucp_config_t** options) {
  ++g_told.held;
  *options = nullptr;
  return UCS_OK;
}

ucs_status_t Modify(ucp_config_t*, const char* name, const char* value) {
  if (name == g_told.refused) return UCS_ERR_NO_ELEM;
  g_told.options[name] = value;
  return UCS_OK;
}

void Release(ucp_config_t*) { --g_told.held; }

class UcxOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    g_told = {};
    ucx_.config_read = Read;
    ucx_.config_modify = Modify;
    ucx_.config_release = Release;
  }

  Options Configured() {
    ucp_config_t* options = nullptr;
    EXPECT_TRUE(ConfigureUcx(ucx_, &options).ok());
    return g_told.options;
  }

  UcxLibrary ucx_{};
  const Variable tls_{"UCX_TLS", nullptr}, put_{"UCX_TCP_PUT_ENABLE", nullptr};
};

const std::pair<const std::string, std::string> kNoCma{"TLS", "^cma"};

TEST_F(UcxOptionsTest, AreOursWhereTheEnvironmentHasNone) {
  EXPECT_EQ(Configured(), (Options{kNoCma, {"PUT_ENABLE", "n"}, {"TCP_PUT_ENABLE", "n"}}));
}

TEST_F(UcxOptionsTest, AreTheEnvironmentsWhereItHasThem) {
  const Variable tls("UCX_TLS", "tcp,self");
  EXPECT_EQ(Configured(), (Options{{"PUT_ENABLE", "n"}, {"TCP_PUT_ENABLE", "n"}}));
}

TEST_F(UcxOptionsTest, OfATransportAreTheEnvironmentsByBothNames) {
  const Variable put("UCX_TCP_PUT_ENABLE", "y");
  EXPECT_EQ(Configured(), Options{kNoCma});
}

TEST_F(UcxOptionsTest, AreReleasedWhereOneIsRefused) {
  g_told.refused = "TLS";
  ucp_config_t* options = nullptr;
  const Status status = ConfigureUcx(ucx_, &options);
  EXPECT_EQ(status.code(), HCCL_E_UNAVAIL);
  EXPECT_NE(status.text().find("for TLS"), std::string::npos) << status.text();
  EXPECT_EQ(g_told.held, 0);
}

/// What UCX itself then has, as its own listing of options says.
std::string Listed(const UcxLibrary& ucx, void (*print)(const ucp_config_t*, FILE*, const char*,
                                                        ucs_config_print_flags_t)) {
  ucp_config_t* options = nullptr;
  EXPECT_TRUE(ConfigureUcx(ucx, &options).ok());
  char* text = nullptr;
  size_t bytes = 0;
  FILE* const stream = open_memstream(&text, &bytes);
  print(options, stream, nullptr, UCS_CONFIG_PRINT_CONFIG);
  fclose(stream);
  const std::string listed(text, bytes);
  std::free(text);
  ucx.config_release(options);
  return listed;
}

TEST_F(UcxOptionsTest, AreWhatUcxThenHas) {
  void* const library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "libucp.so.0 is not installed";
  const auto find = [&](const char* name, auto* function) {
    *function =
        reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(library, name));
    ASSERT_NE(*function, nullptr) << name;
  };
  decltype(&ucp_config_print) print = nullptr;
  find("ucp_config_print", &print);
  find("ucp_config_read", &ucx_.config_read);
  find("ucp_config_modify", &ucx_.config_modify);
  find("ucp_config_release", &ucx_.config_release);
  EXPECT_NE(Listed(ucx_, print).find("UCX_TLS=^cma\n"), std::string::npos);
  const Variable tls("UCX_TLS", "tcp,self");
  EXPECT_NE(Listed(ucx_, print).find("UCX_TLS=tcp,self\n"), std::string::npos);
}

}  // namespace
}  // namespace openaclnn
#endif
