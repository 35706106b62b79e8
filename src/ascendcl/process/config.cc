// SPDX-License-Identifier: Apache-2.0
// Reads the environment variables into a Config.
#include "ascendcl/process/config.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "acl/acl.h"
#include "ascendcl/process/first_use.h"
#include "ascendcl/process/usable_memory.h"
#include "ascendcl/watch/race_watch.h"
#include "ascendcl/watch/workspace_watch.h"
#include "ascendcl/watch/write_watch.h"
#include "common/hold_during_fork.h"
#include "common/uncancelled.h"

namespace openaclnn {
namespace {

constexpr const char* kDefaultProduct = "Ascend910B1";
constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxDevices = 64;

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

Status InvalidVariable(const char* name, std::string_view value, std::string_view expected) {
  return Status(ACL_ERROR_RT_SOC_VERSION, Concat("environment variable ", name, " is ",
                                                 Quoted{value}, ", expected ", expected));
}

Status ReadCount(const char* name, uint32_t max, uint32_t* count) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return {};
  const auto number = ParseNumber(value);
  if (!number || *number < 1 || *number > max) {
    return InvalidVariable(name, value, Concat("a number from 1 to ", max));
  }
  *count = static_cast<uint32_t>(*number);
  return {};
}

Status ReadFlag(const char* name, bool* flag) {
  const char* value = std::getenv(name);
  const std::string_view text = value != nullptr ? value : "";
  if (!text.empty() && text != "0" && text != "1") return InvalidVariable(name, text, "0 or 1");
  *flag = text == "1";
  return {};
}

/// Bytes, with an optional suffix K, M, G or T (powers of 1024).
std::optional<uint64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kSuffixes = "KMGT";
  int shift = 0;
  if (!text.empty()) {
    const size_t suffix = kSuffixes.find(text.back());
    if (suffix != std::string_view::npos) {
      shift = 10 * (static_cast<int>(suffix) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = ParseNumber(text);
  if (!number || *number == 0 || *number > UINT64_MAX >> shift) return std::nullopt;
  return *number << shift;
}

/// A fifth of what there is stays for the program itself.
Status ReadMemory(Config* config) {
  const char* value = std::getenv("OPENACLNN_DEVICE_MEMORY");
  const bool given = value != nullptr && *value != '\0';
  const auto parsed = given ? ParseBytes(value) : std::nullopt;
  if (given && !parsed) {
    return InvalidVariable("OPENACLNN_DEVICE_MEMORY", value,
                           "a number of bytes, or one followed by K, M, G or T");
  }
  uint64_t usable = 0;
  Status status = UsableMemory(&usable);
  if (!status.ok() && !given) return status;
  config->device_memory = given ? *parsed : usable / 10 * 8;
  config->pinned_memory = status.ok() ? usable / 10 * 8 : config->device_memory;
  return {};
}

Status ReadProduct(const Product** product) {
  const char* value = std::getenv("OPENACLNN_SOC");
  const std::string_view name = value != nullptr && *value != '\0' ? value : kDefaultProduct;
  *product = FindProduct(name);
  if (*product != nullptr) return {};
  return InvalidVariable("OPENACLNN_SOC", name, Concat("one of ", ProductNames()));
}

OpenaclnnSimd MachineSimd() {
#if defined(__x86_64__) && defined(__clang__)
  // Clang 14 knows no levels: their parts that processors are known to lack.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4 && __builtin_cpu_supports("avx512bf16")) return OPENACLNN_SIMD_AVX512_BF16;
  return v4 ? OPENACLNN_SIMD_AVX512 : v3 ? OPENACLNN_SIMD_AVX2 : OPENACLNN_SIMD_BASELINE;
#elif defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) {
    if (!__builtin_cpu_supports("avx512bf16")) return OPENACLNN_SIMD_AVX512;
    return __builtin_cpu_supports("amx-bf16") ? OPENACLNN_SIMD_AMX : OPENACLNN_SIMD_AVX512_BF16;
  }
  if (__builtin_cpu_supports("x86-64-v3")) return OPENACLNN_SIMD_AVX2;
  return OPENACLNN_SIMD_BASELINE;
#else
  return OPENACLNN_SIMD_BASELINE;
#endif
}

bool IsIntel() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

Status ReadSimd(OpenaclnnSimd* simd) {
  const OpenaclnnSimd best = MachineSimd();
  *simd = FastestSimd(best, IsIntel());
  const char* value = std::getenv("OPENACLNN_SIMD");
  if (value == nullptr || *value == '\0') return {};
  std::string known;
  for (int level = 0; level <= best; ++level) {
    *simd = static_cast<OpenaclnnSimd>(level);
    if (value == std::string_view(SimdName(*simd))) return {};
    known += Concat(level > 0 ? ", " : "", SimdName(*simd));
  }
  return InvalidVariable("OPENACLNN_SIMD", value, Concat("one that this machine has: ", known));
}

Status ReadCheck(CheckLevel* level) {
  const char* value = std::getenv("OPENACLNN_CHECK");
  const std::string_view name = value != nullptr && *value != '\0' ? value : "fast";
  *level = name == "off"    ? CheckLevel::kOff
           : name == "full" ? CheckLevel::kFull
                            : CheckLevel::kFast;
  if (name == "off" || name == "fast" || name == "full") return {};
  return InvalidVariable("OPENACLNN_CHECK", name, "off, fast or full");
}

Status ReadProducts(bool* lenient) {
  const char* value = std::getenv("OPENACLNN_PRODUCTS");
  const std::string_view name = value != nullptr && *value != '\0' ? value : "documented";
  *lenient = name == "lenient";
  if (*lenient || name == "documented") return {};
  return InvalidVariable("OPENACLNN_PRODUCTS", name, "documented or lenient");
}

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

constexpr const char* kApiErrors = "OPENACLNN_REPORT_API_ERRORS";

Status CheckApiErrors() {
  const std::string_view value = Variable(kApiErrors);
  if (value.empty() || value == "explicit" || value == "no") return {};
  return InvalidVariable(kApiErrors, value, "no or explicit");
}

std::atomic<bool> g_reports_api_errors{false};

void ReadApiErrors() {
  const bool reports = Variable(kApiErrors) == "explicit" && Variable("OPENACLNN_CHECK") != "off";
  g_reports_api_errors.store(reports, std::memory_order_relaxed);
}

// Calls before the configuration is read are reported too.
[[maybe_unused]] const int kAtLoad = [] {
  ReadApiErrors();
  return 0;
}();

/// ASCEND_RT_VISIBLE_DEVICES is a comma-separated, ascending list of device numbers; it counts up
/// to the first entry that is not a number, not ascending or not a device ("1, 2,3" is device 1).
uint32_t VisibleDevices(uint32_t num_devices) {
  const char* value = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (value == nullptr) return num_devices;
  std::string_view rest = value;
  uint32_t visible = 0;
  std::optional<uint64_t> last;
  while (true) {
    const size_t comma = rest.find(',');
    const auto id = ParseNumber(rest.substr(0, comma));
    if (!id || *id >= num_devices || (last && *id <= *last)) return visible;
    ++visible;
    last = id;
    if (comma == std::string_view::npos) return visible;
    rest.remove_prefix(comma + 1);
  }
}

/// OPENACLNN_CAPTURE asks for what only the preloaded library does; without it nothing would be
/// saved, and nobody told.
Status CheckCapture() {
  const char* value = secure_getenv("OPENACLNN_CAPTURE");
  if (value == nullptr || *value == '\0') return {};
  if (dlsym(RTLD_DEFAULT, "openaclnn_capture") != nullptr) return {};
  return InvalidVariable(
      "OPENACLNN_CAPTURE", value,
      "libopenaclnn_capture.so in LD_PRELOAD as well; 'openaclnn run' sees to it");
}

uint32_t UsableCpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return 1;
  return std::max(1, CPU_COUNT(&cpus));
}

std::mutex g_loading;  // for one load at a time
std::mutex g_mutex;    // guards what follows, held while nothing else is called
Config g_config;
bool g_loaded = false;
// Copies of parts of g_config, written under the lock and read without. g_product is null until it
// was loaded, and is written last.
std::atomic<const Product*> g_product{nullptr};
std::atomic<OpenaclnnSimd> g_simd{OPENACLNN_SIMD_BASELINE};
std::atomic<uint32_t> g_threads{1};

std::mutex& Mutex() { return g_mutex; }

[[maybe_unused]] const int kAtFork = HoldDuringFork<Mutex>();

bool GetLoaded(Config* config) {
  std::lock_guard lock(g_mutex);
  if (g_loaded) *config = g_config;
  return g_loaded;
}

/// With g_loading held.
Status Load(Config* config) {
  const Uncancelled whole;
  ReadApiErrors();  // also where the rest is refused
  Config read;
  Status status = ReadConfig(&read);
  if (!status.ok()) return status;
  WatchRaces(read.check == CheckLevel::kFull);
  WatchWorkspaces(read.check == CheckLevel::kFast);  // with full they are races
  ForgetUnwritten();  // it may have been written while nobody watched
  *config = read;
  std::lock_guard lock(g_mutex);
  g_config = read;
  g_loaded = true;
  g_simd.store(read.simd, std::memory_order_relaxed);
  g_threads.store(read.num_threads, std::memory_order_relaxed);
  g_product.store(read.product, std::memory_order_release);
  return {};
}

}  // namespace

const char* SimdName(OpenaclnnSimd simd) {
  constexpr const char* kNames[] = {"baseline", "avx2", "avx512", "avx512bf16", "amx"};
  return kNames[simd];
}

Status ReadConfig(Config* config) {
  config->num_threads = UsableCpus();
  Status status = ReadProduct(&config->product);
  if (status.ok()) status = ReadSimd(&config->simd);
  if (status.ok()) status = ReadCount("OPENACLNN_NUM_THREADS", kMaxThreads, &config->num_threads);
  if (status.ok()) status = ReadCount("OPENACLNN_DEVICE_COUNT", kMaxDevices, &config->all_devices);
  if (status.ok()) status = ReadMemory(config);
  if (status.ok()) status = ReadCheck(&config->check);
  if (status.ok()) status = ReadProducts(&config->lenient_products);
  if (status.ok()) status = CheckApiErrors();
  if (status.ok()) status = ReadFlag("OPENACLNN_GUARD_PAGES", &config->guard_pages);
  config->guard_pages = config->guard_pages || config->check == CheckLevel::kFull;
  if (status.ok()) status = ReadFlag("OPENACLNN_HOST_ACCESS", &config->host_access);
  if (status.ok()) status = ReadFlag("ASCEND_LAUNCH_BLOCKING", &config->launch_blocking);
  if (status.ok()) status = CheckCapture();
  if (status.ok()) config->num_devices = VisibleDevices(config->all_devices);
  return status;
}

Status CurrentConfig(Config* config) {
  if (GetLoaded(config)) return {};
  const FirstUse use;
  std::lock_guard lock(g_loading);
  return GetLoaded(config) ? Status() : Load(config);
}

Status ConfiguredProduct(const Product** product) {
  *product = g_product.load(std::memory_order_acquire);
  if (*product != nullptr) return {};
  Config config;
  Status status = CurrentConfig(&config);
  if (status.ok()) *product = config.product;
  return status;
}

bool MistakesAreTold() {
  Config config;
  return CurrentConfig(&config).ok() && config.check != CheckLevel::kOff;
}

OpenaclnnSimd ConfiguredSimd() {
  if (g_product.load(std::memory_order_acquire) == nullptr) {
    Config config;
    if (!CurrentConfig(&config).ok()) return OPENACLNN_SIMD_BASELINE;
  }
  return g_simd.load(std::memory_order_relaxed);
}

uint32_t ConfiguredThreads() {
  if (g_product.load(std::memory_order_acquire) == nullptr) {
    Config config;
    if (!CurrentConfig(&config).ok()) return 1;
  }
  return g_threads.load(std::memory_order_relaxed);
}

bool ReportsApiErrors() { return g_reports_api_errors.load(std::memory_order_relaxed); }

Status ReloadConfig() {
  std::lock_guard lock(g_loading);
  Config config;
  return Load(&config);
}

Status CheckDeviceId(const char* operand, int32_t device_id) {
  Config config;
  Status status = CurrentConfig(&config);
  if (!status.ok()) return status;
  if (device_id >= 0 && static_cast<uint32_t>(device_id) < config.num_devices) return {};
  if (config.num_devices == 0) {
    return Status(ACL_ERROR_RT_INVALID_DEVICEID,
                  Concat(operand, " value is ", device_id,
                         ", expected ASCEND_RT_VISIBLE_DEVICES to show one of ", config.all_devices,
                         " devices, counted from 0; it shows none"));
  }
  return Status(ACL_ERROR_RT_INVALID_DEVICEID,
                Concat(operand, " value is ", device_id, ", expected 0 <= ", operand, " < ",
                       config.num_devices));
}

}  // namespace openaclnn
