// Families under several threads: batches are seen whole by views of the same moment; families come and go under
// writers, readers, flushes and merges.
#include <atomic>

#include "test/db/family_test_support.h"

namespace pmlsm {
namespace {

class FamilyConcurrencyTest : public FamilyTest {};

// Whatever switches of memtables lie between two families' views.
TEST_F(FamilyConcurrencyTest, IteratorsOfOneMomentShowABatchWhole) {
  for (const char* name : {"default", "one", "two"}) family_options(name).write_buffer_size = 16 << 10;
  Open({"default", "one", "two"});
  const std::vector<ColumnFamilyHandle*> all = {handle("default"), handle("one"), handle("two")};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 4000; ++i) {
      WriteBatch batch;
      for (ColumnFamilyHandle* family : all) {
        ASSERT_OK(batch.Put(family, "counter", std::to_string(i)));
        ASSERT_OK(batch.Put(family, "filling" + std::to_string(i % 50), std::string(100 + i % 7, 'f')));
      }
      ASSERT_OK(db()->Write(WriteOptions(), &batch));
    }
    done = true;
  });
  uint64_t looks = 0;
  for (; !done || looks < 10; ++looks) {
    std::vector<Iterator*> iterators;
    ASSERT_OK(db()->NewIterators(ReadOptions(), all, &iterators));
    std::vector<std::string> seen;
    for (Iterator* raw : iterators) {
      const std::unique_ptr<Iterator> it(raw);
      it->Seek("counter");
      seen.push_back(it->Valid() && it->key() == "counter" ? it->value().ToString() : "none");
    }
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(seen[0], seen[2]);
  }
  writer.join();
}

TEST_F(FamilyConcurrencyTest, MultiGetShowsABatchWhole) {
  for (const char* name : {"default", "one"}) family_options(name).write_buffer_size = 16 << 10;
  Open({"default", "one"});
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 4000; ++i) {
      WriteBatch batch;
      for (const char* name : {"default", "one"}) {
        for (const char* key : {"a", "b"}) ASSERT_OK(batch.Put(handle(name), key, std::to_string(i)));
        ASSERT_OK(batch.Put(handle(name), "filling" + std::to_string(i % 50), std::string(100 + i % 7, 'f')));
      }
      ASSERT_OK(db()->Write(WriteOptions(), &batch));
    }
    done = true;
  });
  ColumnFamilyHandle* const one = handle("one");
  ColumnFamilyHandle* const other = handle("default");
  for (uint64_t looks = 0; !done || looks < 10; ++looks) {
    std::vector<std::string> values;
    db()->MultiGet(ReadOptions(), {one, other, one, other}, {"b", "a", "a", "b"}, &values);
    EXPECT_EQ(values, std::vector<std::string>(4, values[0]));
    db()->MultiGet(ReadOptions(), {"b", "a"}, &values);
    EXPECT_EQ(values, std::vector<std::string>(2, values[0]));
  }
  writer.join();
}

// Each thread has families of its own to create, fill and drop; all write to the default one and to a shared one.
TEST_F(FamilyConcurrencyTest, FamiliesComeAndGo) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 12;
  constexpr int kKeys = 300;
  options().db_write_buffer_size = 256 << 10;
  options().max_total_wal_bytes = 512 << 10;
  Open({"default", "shared"});
  ColumnFamilyHandle* const shared = handle("shared");
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string mine = "t" + std::to_string(thread);
      for (int round = 0; round < kRounds; ++round) {
        ColumnFamilyHandle* family = nullptr;
        ASSERT_OK(db()->CreateColumnFamily(FamilyOptions(), mine, &family));
        for (int i = 0; i < kKeys; ++i) {
          WriteBatch batch;
          ASSERT_OK(batch.Put(family, FillKey(i), FillValue(round)));
          ASSERT_OK(batch.Put(shared, mine + FillKey(i), FillValue(round)));
          ASSERT_OK(db()->Write(WriteOptions(), &batch));
        }
        if (round % 3 == 0) ASSERT_OK(db()->Flush(FlushOptions(), family));
        if (round % 3 == 1) ASSERT_OK(db()->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
        const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), family));
        ASSERT_OK(db()->DropColumnFamily(family));
        ASSERT_TRUE(db()->Put(WriteOptions(), family, "k", "v").IsInvalidArgument());
        Model model;
        for (int i = 0; i < kKeys; ++i) model[FillKey(i)] = FillValue(round);
        ASSERT_TRUE(FamilyHolds(db(), family, model));
        ASSERT_OK(db()->DestroyColumnFamilyHandle(family));
        int seen = 0;
        for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
        ASSERT_EQ(seen, kKeys);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Model model;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < kKeys; ++i) model["t" + std::to_string(thread) + FillKey(i)] = FillValue(kRounds - 1);
  }
  EXPECT_TRUE(Holds("shared", model));
  Reopen();
  EXPECT_TRUE(Holds("shared", model));
  EXPECT_EQ(IntProperty(db(), "pmlsm.num-column-families"), 2u);
}

// A drop meets flushes and merges of the family that are at work.
TEST_F(FamilyConcurrencyTest, ADropEndsWorkOnTheFamily) {
  options().max_background_jobs = 3;
  Open({"default"});
  for (int round = 0; round < 10; ++round) {
    Create("one");
    std::atomic<bool> dropped{false};
    std::thread compact([&] {
      while (!dropped) {
        const Status s = db()->CompactRange(CompactRangeOptions(), handle("one"), nullptr, nullptr);
        ASSERT_TRUE(s.ok() || s.IsInvalidArgument()) << s.ToString();
      }
    });
    std::thread flush([&] {
      while (!dropped) {
        const Status s = db()->Flush(FlushOptions(), handle("one"));
        ASSERT_TRUE(s.ok() || s.IsInvalidArgument()) << s.ToString();
      }
    });
    Fill("one", 1500);
    ASSERT_OK(db()->DropColumnFamily(handle("one")));
    dropped = true;
    compact.join();
    flush.join();
    Forget("one");
  }
  ASSERT_OK(db()->WaitForCompact());
  std::string check;
  ASSERT_TRUE(db()->GetProperty("pmlsm.check", &check));
  EXPECT_EQ(check, "OK");
}

}  // namespace
}  // namespace pmlsm
