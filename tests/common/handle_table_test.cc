// SPDX-License-Identifier: Apache-2.0
// HandleTable: what each kind of bad handle is called, reuse, pins, and threads that race.
#include "common/handle_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/short_memory.h"

namespace openaclnn {
namespace {

struct Thing {
  static constexpr Kind kKind = Kind::kTensor;
  explicit Thing(std::atomic<int>* alive_in, int value_in = 0) : alive(alive_in), value(value_in) {
    ++*alive;
  }
  ~Thing() { --*alive; }
  std::atomic<int>* alive;
  int value;
};

struct Other {
  static constexpr Kind kKind = Kind::kScalar;
};

class HandleTableTest : public testing::Test {
 protected:
  void* Insert(int value = 0) {
    return InsertObject(table, std::make_unique<Thing>(&alive, value));
  }
  Found Find(const void* handle) {
    Pinned<Thing> thing;
    return FindObject(table, handle, &thing);
  }
  std::atomic<int> alive{0};
  HandleTable table;
};

TEST_F(HandleTableTest, TellsBadHandlesApart) {
  void* handle = Insert(7);
  void* other = InsertObject(table, std::make_unique<Other>());
  Pinned<Thing> thing;
  ASSERT_EQ(FindObject(table, handle, &thing), Found::kLive);
  EXPECT_EQ(thing->value, 7);
  EXPECT_EQ(Find(nullptr), Found::kNull);
  EXPECT_EQ(Find(other), Found::kForeign) << "of another kind";
  EXPECT_EQ(Find(&thing), Found::kForeign);
  EXPECT_EQ(Find(reinterpret_cast<void*>(~uintptr_t{0})), Found::kForeign);
  EXPECT_EQ(Find(reinterpret_cast<void*>(uintptr_t{1})), Found::kForeign);
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  EXPECT_NE(Find(reinterpret_cast<void*>(bits + 1)), Found::kLive) << "a slot that is free";
  EXPECT_EQ(Find(reinterpret_cast<void*>(bits | 0xFFF000)), Found::kForeign) << "no such slot";
  EXPECT_EQ(Find(reinterpret_cast<void*>(bits + (uintptr_t{1} << 24))), Found::kStale)
      << "a later generation";
  EXPECT_EQ(table.Remove(Kind::kScalar, handle), Found::kForeign);
  EXPECT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  EXPECT_EQ(table.Remove(Kind::kTensor, handle), Found::kStale);
  EXPECT_EQ(Find(handle), Found::kStale);
  EXPECT_EQ(table.Remove(Kind::kScalar, other), Found::kLive);
}

TEST_F(HandleTableTest, PinKeepsTheObject) {
  void* handle = Insert(3);
  Pinned<Thing> thing;
  ASSERT_EQ(FindObject(table, handle, &thing), Found::kLive);
  ASSERT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  EXPECT_EQ(Find(handle), Found::kStale);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(thing->value, 3);
  thing = Pinned<Thing>();
  EXPECT_EQ(alive, 0);
}

TEST_F(HandleTableTest, DetachedPinKeepsTheObject) {
  void* handle = Insert();
  HandleTable::Pin pin;
  ASSERT_EQ(table.Find(Kind::kTensor, handle, &pin), Found::kLive);
  void* detached = pin.Detach();
  EXPECT_EQ(pin.object(), nullptr);
  ASSERT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  EXPECT_EQ(alive, 1);
  HandleTable::Pin::Attach(table, detached);
  EXPECT_EQ(alive, 0);
}

TEST_F(HandleTableTest, ReusedSlotsGiveNewHandles) {
  std::set<void*> seen;
  for (int i = 0; i < 20'000; ++i) {
    void* handle = Insert(i);
    EXPECT_TRUE(seen.insert(handle).second) << "handed out before";
    ASSERT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  }
  for (void* handle : seen) ASSERT_EQ(Find(handle), Found::kStale);
  EXPECT_EQ(alive, 0);
}

TEST_F(HandleTableTest, ManyAtOnce) {
  std::vector<void*> handles;
  for (int i = 0; i < 50'000; ++i) handles.push_back(Insert(i));
  std::shuffle(handles.begin(), handles.end(), std::mt19937(1));
  EXPECT_EQ(std::set<void*>(handles.begin(), handles.end()).size(), handles.size());
  for (size_t i = 0; i < handles.size() / 2; ++i) {
    ASSERT_EQ(table.Remove(Kind::kTensor, handles[i]), Found::kLive);
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    ASSERT_EQ(Find(handles[i]), i < handles.size() / 2 ? Found::kStale : Found::kLive);
  }
  for (size_t i = handles.size() / 2; i < handles.size(); ++i) {
    ASSERT_EQ(table.Remove(Kind::kTensor, handles[i]), Found::kLive);
  }
}

// What a program makes of a handle by arithmetic is no other's, though all around it are live.
TEST_F(HandleTableTest, NeighboursAreNoHandles) {
  std::vector<uintptr_t> handles;
  for (int i = 0; i < 10'000; ++i) handles.push_back(reinterpret_cast<uintptr_t>(Insert(i)));
  for (const uintptr_t handle : handles) {
    for (const uintptr_t step : {1, 2, 4, 8, 16, 24, 32, 64, 128, 256, 4096}) {
      ASSERT_NE(Find(reinterpret_cast<void*>(handle + step)), Found::kLive) << step;
      ASSERT_NE(Find(reinterpret_cast<void*>(handle - step)), Found::kLive) << step;
    }
  }
  for (const uintptr_t handle : handles) {
    ASSERT_EQ(table.Remove(Kind::kTensor, reinterpret_cast<void*>(handle)), Found::kLive);
  }
}

TEST_F(HandleTableTest, RemovesAllOfAKind) {
  std::vector<void*> handles;
  for (int i = 0; i < 10'000; ++i) handles.push_back(Insert(i));
  void* other = InsertObject(table, std::make_unique<Other>());
  Pinned<Thing> pinned;
  ASSERT_EQ(FindObject(table, handles[5], &pinned), Found::kLive);
  table.RemoveAll(Kind::kTensor);
  for (void* handle : handles) ASSERT_EQ(Find(handle), Found::kStale);
  EXPECT_EQ(alive, 1) << "what is pinned lives on";
  pinned = Pinned<Thing>();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(table.Remove(Kind::kScalar, other), Found::kLive);
}

// Who changes an object has it alone; whoever looks it up meanwhile waits, also twice.
TEST_F(HandleTableTest, Alone) {
  constexpr int kRounds = 300;
  void* handle = Insert(0);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        Pinned<Thing> thing, again;
        if (t < 2) {
          ASSERT_EQ(FindObjectAlone(table, handle, &thing), Found::kLive);
          const int before = thing->value++;
          std::this_thread::yield();
          if (thing->value != before + 1) ++wrong;
        } else {
          ASSERT_EQ(FindObject(table, handle, &thing), Found::kLive);
          const int before = thing->value;
          std::this_thread::yield();
          ASSERT_EQ(FindObject(table, handle, &again), Found::kLive);
          if (again->value != before) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  Pinned<Thing> thing;
  ASSERT_EQ(FindObject(table, handle, &thing), Found::kLive);
  EXPECT_EQ(thing->value, 2 * kRounds);
  thing = Pinned<Thing>();
  EXPECT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  EXPECT_EQ(FindObjectAlone(table, handle, &thing), Found::kStale);
}

// What is free is handed out before memory for more is missed.
TEST_F(HandleTableTest, GrowsAfterAShortage) {
  std::vector<void*> handles;
  handles.reserve(15'000);
  handles.push_back(Insert());
  {
    const test::ShortMemory no_chunks(
        {.fails = test::Shortage::Fails::kFromThenOn, .least_bytes = 4097});
    for (int i = 1; i < 4096; ++i) handles.push_back(Insert());
    for (int i = 0; i < 5000; ++i) ASSERT_THROW(Insert(), std::bad_alloc);
  }
  EXPECT_EQ(alive, 4096);
  for (int i = 0; i < 10'000; ++i) {
    handles.push_back(Insert());
    ASSERT_NE(handles.back(), nullptr) << i;
  }
  for (void* handle : handles) ASSERT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
}

// Of several calls at the same moment one removes.
TEST_F(HandleTableTest, RemovedOnce) {
  constexpr int kThreads = 4, kRounds = 20'000;
  std::vector<void*> handles(kRounds);
  for (void*& handle : handles) handle = Insert();
  std::vector<std::atomic<int>> arrived(kRounds), removed(kRounds);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        ++arrived[i];
        // Two at least; waiting for all would take a turn of the scheduler each time.
        while (arrived[i] < 2) std::this_thread::yield();
        if (table.Remove(Kind::kTensor, handles[i]) == Found::kLive) ++removed[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : removed) ASSERT_EQ(count, 1);
  EXPECT_EQ(alive, 0);
}

// Threads look up, pin and remove the same handles; each is removed once, nothing dies pinned.
TEST_F(HandleTableTest, Races) {
  constexpr int kHandles = 64, kThreads = 6, kRounds = 4000;
  std::vector<std::atomic<void*>> shared(kHandles);
  for (auto& handle : shared) handle = Insert(1);
  std::atomic<int> removed{0}, inserted{kHandles};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < kRounds; ++i) {
        std::atomic<void*>& place = shared[random() % kHandles];
        void* handle = place;
        Pinned<Thing> thing;
        const Found found = FindObject(table, handle, &thing);
        if (found == Found::kLive) {
          EXPECT_EQ(thing->value, 1);
        }
        if (random() % 4 != 0) continue;
        if (table.Remove(Kind::kTensor, handle) != Found::kLive) continue;
        ++removed;
        place = Insert(1);
        ++inserted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alive, inserted - removed);
  EXPECT_EQ(alive, kHandles);
  for (auto& handle : shared) EXPECT_EQ(table.Remove(Kind::kTensor, handle), Found::kLive);
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace openaclnn
