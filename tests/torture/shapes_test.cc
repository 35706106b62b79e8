// SPDX-License-Identifier: Apache-2.0
// Any numbers for shapes, strides, offsets and storages: what an operator makes of them is what the
// definition says, and where it computes, each byte of memory.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_tril.h"
#include "tests/support/device.h"
#include "tests/torture/choices.h"
#include "tests/torture/view_oracle.h"

namespace openaclnn::test {
namespace {

constexpr int64_t kBlock = 2048;  // elements of the memory that all operands are in
constexpr int64_t kBytes = 4;
constexpr int kFine = 0, kNull = 161001, kInvalid = 161002;

Numbers Shape(Choices& choose) {
  constexpr std::array<int64_t, 8> kRanks = {1, 2, 3, 0, 4, 5, 8, 9};
  const int64_t rank = kRanks[choose.Below(kRanks.size())];
  Numbers dims(rank);
  for (int64_t& dim : dims) dim = 1 + choose.Below(rank > 3 ? 2 : 5);
  if (rank > 0 && choose.One(12)) dims[choose.Below(rank)] = 0;
  return dims;
}

/// What can be repeated to the shape, mostly itself.
Numbers Narrower(Choices& choose, Numbers dims) {
  if (!choose.One(3)) return dims;
  dims.erase(dims.begin(), dims.begin() + choose.Below(static_cast<int64_t>(dims.size()) + 1));
  for (int64_t& dim : dims) dim = choose.One(3) ? 1 : dim;
  return dims;
}

/// Steps in some order of the dimensions, with gaps, backwards, or standing still.
void LayOut(Choices& choose, GivenView* view) {
  const size_t rank = view->dims.size();
  view->strides.assign(rank, 0);
  const bool turned = choose.One(3), gaps = choose.One(3), odd = choose.One(4);
  int64_t step = 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = turned ? i : rank - 1 - i;
    int64_t& stride = view->strides[axis];
    stride = step * (gaps ? 1 + choose.Below(3) : 1);
    if (odd && choose.One(2)) stride = choose.Below(7) - 3;
    step = std::max<int64_t>(
        1, step * std::max<int64_t>(1, view->dims[axis]) * (gaps ? 1 + choose.Below(2) : 1));
    if (odd && choose.One(3)) stride = -stride;
  }
  Wide first = 0, last = 0;
  for (size_t i = 0; i < rank; ++i) {
    const Wide end = Wide{view->dims[i] - 1} * view->strides[i];
    (end < 0 ? first : last) += end;
  }
  view->offset = static_cast<int64_t>(-first) + (choose.One(4) ? choose.Below(9) - 2 : 0);
  const auto size = std::max<int64_t>(0, view->offset + static_cast<int64_t>(last) + 1);
  view->storage = choose.One(3) ? Numbers{size, 1} : Numbers{size};
  if (choose.One(5)) view->storage[0] += choose.Below(3) - 1;
  view->dense = choose.One(6);
  view->base = choose.One(8)   ? choose.Below(kBlock + 8)
               : choose.One(3) ? choose.Below(40)
                               : 8 * choose.Below(kBlock / 8);
  view->null = choose.One(40);
}

GivenView View(Choices& choose, const Numbers& dims) {
  GivenView view;
  view.dims = dims;
  LayOut(choose, &view);
  return view;
}

/// A number anywhere becomes another.
void Disturb(Choices& choose, GivenView* view) {
  Numbers* const lists[] = {&view->dims, &view->strides, &view->storage};
  const int64_t which = choose.Below(4);
  if (which == 3) {
    view->offset = Extreme(choose);
  } else if (Numbers& list = *lists[which]; !list.empty()) {
    list[choose.Below(static_cast<int64_t>(list.size()))] = Extreme(choose);
  }
}

/// The block of the device, and what it should hold.
class Memory {
 public:
  Memory() : expected_(kBlock) {
    RC_ASSERT(aclrtMalloc(&device_, kBlock * kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
  }
  ~Memory() { aclrtFree(device_); }
  Memory(const Memory&) = delete;

  void Fill() {
    for (int64_t i = 0; i < kBlock; ++i) expected_[i] = static_cast<float>(i % 509 + 1);
    Copy(device_, expected_.data(), ACL_MEMCPY_HOST_TO_DEVICE);
  }
  bool AsExpected() {
    std::vector<float> found(kBlock);
    Copy(found.data(), device_, ACL_MEMCPY_DEVICE_TO_HOST);
    return std::memcmp(found.data(), expected_.data(), kBlock * kBytes) == 0;
  }
  void* At(const GivenView& view) const {
    return view.null ? nullptr : static_cast<float*>(device_) + view.base;
  }
  std::vector<float> Read(const GivenView& view) const {
    std::vector<float> values;
    for (const Wide place : PlacesOf(view)) {
      values.push_back(expected_[static_cast<size_t>(view.base + place)]);
    }
    return values;
  }
  void Write(const GivenView& view, const std::vector<float>& values) {
    const std::vector<Wide> places = PlacesOf(view);
    for (size_t i = 0; i < places.size(); ++i) {
      expected_[static_cast<size_t>(view.base + places[i])] = values[i];
    }
  }

 private:
  static void Copy(void* to, const void* from, aclrtMemcpyKind kind) {
    RC_ASSERT(aclrtMemcpy(to, kBlock * kBytes, from, kBlock * kBytes, kind) == 0);
  }

  void* device_ = nullptr;
  std::vector<float> expected_;
};

/// The tensor of a view; its getters say what it was made of.
class Handle {
 public:
  Handle(const GivenView& view, const Memory& memory)
      : tensor_(aclCreateTensor(view.dims.data(), view.dims.size(), ACL_FLOAT,
                                view.dense ? nullptr : view.strides.data(), view.offset,
                                ACL_FORMAT_ND, view.storage.data(), view.storage.size(),
                                memory.At(view))) {
    RC_ASSERT((tensor_ != nullptr));
    RC_ASSERT(Got(aclGetViewShape) == view.dims);
    RC_ASSERT(Got(aclGetStorageShape) == view.storage);
    int64_t offset = 0;
    RC_ASSERT(aclGetViewOffset(tensor_, &offset) == 0);
    RC_ASSERT(offset == view.offset);
    if (!view.dense || RowsOf(view.dims)) RC_ASSERT(Got(aclGetViewStrides) == view.strides);
  }
  ~Handle() { aclDestroyTensor(tensor_); }
  Handle(const Handle&) = delete;

  const aclTensor* get() const { return tensor_; }
  aclTensor* get() { return tensor_; }

 private:
  Numbers Got(aclnnStatus (*getter)(const aclTensor*, int64_t**, uint64_t*)) const {
    int64_t* values = nullptr;
    uint64_t count = 0;
    RC_ASSERT(getter(tensor_, &values, &count) == 0);
    Numbers got(values, values + count);
    delete[] values;
    return got;
  }

  aclTensor* tensor_;
};

/// Of phase 1: ranks, shapes, then views; nothing where the definition is not followed that far.
std::optional<int> PlanCode(const std::vector<GivenView>& views, bool shapes_fit) {
  if (!shapes_fit) return kInvalid;
  for (const GivenView& view : views) {
    if (view.dims.size() > 8 || !FitsItsStorage(view, kBytes, kBlock)) return kInvalid;
  }
  const auto count = CountOf(views.back().dims);
  const Answer meets = *count == 0 ? Answer::kNo : MeetsItself(views.back(), *count);
  if (meets == Answer::kUnknown) return {};
  return meets == Answer::kYes ? kInvalid : kFine;
}

/// Of phase 2 after a phase 1 that was fine: addresses in order, then what shares memory.
int RunCode(const std::vector<GivenView>& views, bool may_be_same) {
  const GivenView& out = views.back();
  for (const GivenView& view : views) {
    if (*CountOf(view.dims) == 0) continue;
    if (view.null) return kNull;
    const auto [first, last] = ReachOf(view);
    if (view.base + first < 0 || view.base + last >= kBlock) return kInvalid;
  }
  if (*CountOf(out.dims) == 0) return kFine;
  std::set<Wide> written;
  for (const Wide place : PlacesOf(out)) written.insert(out.base + place);
  const auto shared = [&](const GivenView& view) {
    if (*CountOf(view.dims) == 0) return false;
    const std::vector<Wide> places = PlacesOf(view), own = PlacesOf(out);
    const bool same = view.dims == out.dims && view.base + places[0] == out.base + own[0] &&
                      std::equal(own.begin(), own.end(), places.begin(), places.end(),
                                 [&](Wide a, Wide b) { return out.base + a == view.base + b; });
    if (same && may_be_same) return false;
    return std::any_of(places.begin(), places.end(),
                       [&](Wide place) { return written.count(view.base + place) > 0; });
  };
  return std::any_of(views.begin(), views.end() - 1, shared) ? kInvalid : kFine;
}

std::string Text(const Numbers& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += ' ' + std::to_string(number);
  return text;
}

std::string Text(const GivenView& view) {
  return "shape" + Text(view.dims) + ", strides" + Text(view.strides) + ", offset " +
         std::to_string(view.offset) + ", storage" + Text(view.storage) + ", base " +
         std::to_string(view.base) + (view.dense ? ", dense" : "") + (view.null ? ", null" : "");
}

/// The view with the elements of dimensions that are repeated.
GivenView Repeated(GivenView view, const Numbers& dims) {
  view.dims.insert(view.dims.begin(), dims.size() - view.dims.size(), 1);
  view.strides.insert(view.strides.begin(), dims.size() - view.strides.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (view.dims[i] != dims[i]) view.strides[i] = 0;
  }
  view.dims = dims;
  return view;
}

struct Verdicts {
  int refused_plans = 0, refused_runs = 0, computed = 0, open = 0;
};

/// Both phases against what is said of them. Plan(tensors, size, executor); Compute(memory, views).
template <class Plan, class Run, class Compute>
void Try(Choices& choose, std::vector<GivenView> views, bool may_be_same, Memory& memory,
         const std::function<bool(const std::vector<GivenView>&)>& fit, Plan&& plan, Run&& run,
         Compute&& compute, Verdicts* verdicts) {
  const int64_t disturbed = std::max<int64_t>(0, choose.Below(4) - 1);
  for (int64_t i = 0; i < disturbed; ++i) {
    Disturb(choose, &views[choose.Below(static_cast<int64_t>(views.size()))]);
  }
  if (choose.One(6)) views.front() = views.back();
  std::vector<std::unique_ptr<Handle>> handles;
  for (GivenView& view : views) {
    if (view.dense) view.strides = RowsOf(view.dims).value_or(Numbers(view.dims.size()));
    RC_LOG(Text(view) + "\n");
    handles.push_back(std::make_unique<Handle>(view, memory));
  }
  uint64_t size = 77;
  aclOpExecutor* executor = nullptr;
  const int planned = plan(handles, &size, &executor);
  const std::optional<int> wanted = PlanCode(views, fit(views));
  RC_ASSERT(planned == kFine || planned == kInvalid);
  if (wanted) RC_ASSERT(planned == *wanted);
  if (planned != 0) {
    RC_ASSERT((size == 77U && executor == nullptr));
    ++verdicts->refused_plans;
    return;
  }
  if (!wanted) {
    ++verdicts->open;
    RC_ASSERT(aclDestroyAclOpExecutor(executor) == 0);
    return;
  }
  const int code = RunCode(views, may_be_same);
  memory.Fill();
  RC_ASSERT(run(nullptr, size, executor, nullptr) == code);
  if (code != 0) {
    RC_ASSERT(aclDestroyAclOpExecutor(executor) == 0);
    ++verdicts->refused_runs;
  } else {
    compute(memory, views);
    ++verdicts->computed;
  }
  RC_ASSERT(aclrtSynchronizeStream(nullptr) == 0);
  RC_ASSERT(memory.AsExpected());
}

/// The property over random decisions; says how often it was what.
template <class Body>
void Check(Body&& body) {
  const Device device({{"ASCEND_GLOBAL_LOG_LEVEL", "4"}, {"OPENACLNN_SOC", "Ascend910B1"}});
  Memory memory;
  Verdicts verdicts;
  const auto decisions = Decisions(80);
  EXPECT_TRUE(rc::check([&] { body(Choices(*decisions), memory, &verdicts); }));
  std::printf("%d refused by phase 1, %d by phase 2, %d computed, %d left open\n",
              verdicts.refused_plans, verdicts.refused_runs, verdicts.computed, verdicts.open);
}

TEST(Shapes, OfOneInput) {
  Check([](Choices choose, Memory& memory, Verdicts* verdicts) {
    const Numbers dims = Shape(choose);
    Try(
        choose, {View(choose, dims), View(choose, dims)}, true, memory,
        [](const auto& views) { return views[0].dims == views[1].dims; },
        [](auto& t, uint64_t* size, aclOpExecutor** executor) {
          return aclnnNegGetWorkspaceSize(t[0]->get(), t[1]->get(), size, executor);
        },
        aclnnNeg,
        [](Memory& memory, const auto& views) {
          std::vector<float> values = memory.Read(views[0]);
          for (float& value : values) value = -value;
          memory.Write(views[1], values);
        },
        verdicts);
  });
}

TEST(Shapes, OfTwoInputsThatAreRepeated) {
  const float one = 1;
  aclScalar* const alpha = aclCreateScalar(const_cast<float*>(&one), ACL_FLOAT);
  Check([alpha](Choices choose, Memory& memory, Verdicts* verdicts) {
    const Numbers dims = Shape(choose);
    Try(
        choose,
        {View(choose, Narrower(choose, dims)), View(choose, Narrower(choose, dims)),
         View(choose, dims)},
        true, memory,
        [](const auto& views) { return Together(views[0].dims, views[1].dims) == views[2].dims; },
        [alpha](auto& t, uint64_t* size, aclOpExecutor** executor) {
          return aclnnAddGetWorkspaceSize(t[0]->get(), t[1]->get(), alpha, t[2]->get(), size,
                                          executor);
        },
        aclnnAdd,
        [](Memory& memory, const auto& views) {
          std::vector<float> values = memory.Read(Repeated(views[0], views[2].dims));
          const std::vector<float> more = memory.Read(Repeated(views[1], views[2].dims));
          for (size_t i = 0; i < values.size(); ++i) values[i] += more[i];
          memory.Write(views[2], values);
        },
        verdicts);
  });
  EXPECT_EQ(aclDestroyScalar(alpha), 0);
}

// The output may not even be the very same view.
TEST(Shapes, OfElementsThatAreMoved) {
  Check([](Choices choose, Memory& memory, Verdicts* verdicts) {
    const Numbers dims = Shape(choose);
    Try(
        choose, {View(choose, dims), View(choose, dims)}, false, memory,
        [](const auto& views) {
          return views[0].dims == views[1].dims && views[0].dims.size() >= 2;
        },
        [](auto& t, uint64_t* size, aclOpExecutor** executor) {
          return aclnnTrilGetWorkspaceSize(t[0]->get(), INT64_MAX, t[1]->get(), size, executor);
        },
        aclnnTril,
        [](Memory& memory, const auto& views) { memory.Write(views[1], memory.Read(views[0])); },
        verdicts);
  });
}

}  // namespace
}  // namespace openaclnn::test
