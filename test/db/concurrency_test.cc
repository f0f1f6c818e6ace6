// Several threads at once, for answers and for ThreadSanitizer: reads against flushes and merges, visible
// before durable, and everything together.
#include <atomic>
#include <chrono>
#include <thread>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

class ConcurrencyTest : public ::testing::TestWithParam<MemTableType> {
 protected:
  ConcurrencyTest() {
    Options options = TinyOptions();
    options.memtable = GetParam();
    CHECK(DB::Open(options, dir_ / "db", &db_).ok());
  }
  uint64_t Read(const std::string& key) {
    std::string value;
    const Status s = db_->Get({}, key, &value);
    CHECK(s.ok() || s.IsNotFound());
    return s.ok() ? std::stoull(value) : 0;
  }

  TestDir dir_;
  std::unique_ptr<DB> db_;
};

TEST_P(ConcurrencyTest, CC1_AReadIsNeverOlderThanWhatWasAcknowledgedBeforeIt) {
  std::atomic<uint64_t> acknowledged{0};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 300; ++i) {
      CHECK(db_->Put({}, "k", std::to_string(i)).ok());
      acknowledged.store(i);
      CHECK(db_->Flush().ok());
    }
    done = true;
  });
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      while (!done) {
        const uint64_t least = acknowledged.load();
        if (r == 0) {
          CHECK(Read("k") >= least);
          continue;
        }
        const std::unique_ptr<Iterator> it(db_->NewIterator({}));
        it->Seek("k");
        CHECK(it->status().ok());
        CHECK(it->Valid() == (least != 0) || least == 0);
        if (it->Valid()) CHECK(std::stoull(it->value().ToString()) >= least);
      }
    });
  }
  writer.join();
  for (std::thread& reader : readers) reader.join();
}

TEST_P(ConcurrencyTest, PM2_ABatchIsSeenWholeOrNotAtAll) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 3000; ++i) {
      WriteBatch batch;
      CHECK(batch.Put("a", std::to_string(i)).ok());
      CHECK(batch.Put("b", std::to_string(i)).ok());
      CHECK(db_->Write({}, &batch).ok());
    }
    done = true;
  });
  std::thread reader([&] {
    while (!done) {
      ReadOptions options;
      options.snapshot = db_->GetSnapshot();
      std::string a, b;
      const Status s = db_->Get(options, "a", &a);
      CHECK(s == db_->Get(options, "b", &b));
      CHECK(a == b);
      db_->ReleaseSnapshot(options.snapshot);
      // b is read after a: never older.
      const uint64_t first = Read("a");
      CHECK(Read("b") >= first);
    }
  });
  writer.join();
  reader.join();
}

TEST_P(ConcurrencyTest, EverythingAtOnce) {
  constexpr int kKeysOfAWriter = 500;
  constexpr int kRounds = 6;
  std::atomic<int> writing{2};
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([&, w] {
      for (int round = 1; round <= kRounds; ++round) {
        for (int i = 0; i < kKeysOfAWriter; ++i) {
          const std::string key = std::to_string(w) + "." + std::to_string(i);
          if (round % 3 == 0 && i % 5 == 0) {
            CHECK(db_->Delete({}, key).ok());
          } else {
            CHECK(db_->Put({}, key, std::to_string(round) + std::string(100, 'v')).ok());
          }
        }
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    while (writing != 0) {
      CHECK(db_->Flush().ok());
      CHECK(db_->CompactRange({}, nullptr, nullptr).ok());
    }
  });
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Random random(r);
      PinnableSlice held;  // pinned while views come and go
      while (writing != 0) {
        const std::string key =
            std::to_string(random.Uniform(2)) + "." + std::to_string(random.Uniform(kKeysOfAWriter));
        const Status s = db_->Get({}, key, &held);
        CHECK(s.ok() || s.IsNotFound());
        if (s.ok()) CHECK(held.size() == 101);
        if (!random.OneIn(50)) continue;
        const std::unique_ptr<Iterator> it(db_->NewIterator({}));
        std::string last;
        bool first = true;
        for (it->SeekToFirst(); it->Valid(); it->Next(), first = false) {
          CHECK(first || Slice(last).compare(it->key()) < 0);
          last = it->key().ToString();
        }
        CHECK(it->status().ok());
        std::string text;
        CHECK(db_->GetProperty("pmlsm.stats", &text));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Model model;
  for (int w = 0; w < 2; ++w) {
    for (int i = 0; i < kKeysOfAWriter; ++i) {
      if (kRounds % 3 == 0 && i % 5 == 0) continue;
      model[std::to_string(w) + "." + std::to_string(i)] = std::to_string(kRounds) + std::string(100, 'v');
    }
  }
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model));
  ASSERT_OK(db_->Close());
}

// What a killed DB has in its log is flushed in the background as soon as the next one is open.
TEST_P(ConcurrencyTest, CloseWhileARecoveryFlushes) {
  for (int i = 0; i < 300; ++i) ASSERT_OK(db_->Put({}, std::to_string(i), "value"));
  CopyTree(dir_ / "db", dir_ / "killed");
  ASSERT_OK(db_->Close());  // a copy and its original cannot be open together
  for (int round = 0; round < 10; ++round) {
    CopyTree(dir_ / "killed", dir_ / "copy");
    std::unique_ptr<DB> copy;
    ASSERT_OK(DB::Open(TinyOptions(), dir_ / "copy", &copy));
    {
      const std::unique_ptr<Iterator> it(copy->NewIterator({}));
      uint64_t runs = 0;
      while (runs == 0) {
        ASSERT_TRUE(copy->Close().IsAborted()) << "an iterator is live";
        ASSERT_TRUE(copy->GetIntProperty("pmlsm.num-runs-at-level0", &runs));
      }
    }
    ASSERT_OK(copy->Close());
    std::filesystem::remove_all(dir_ / "copy");
  }
}

INSTANTIATE_TEST_SUITE_P(Memtables, ConcurrencyTest,
                         ::testing::Values(MemTableType::kSorted, MemTableType::kHash),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
