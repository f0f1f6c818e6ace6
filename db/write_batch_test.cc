// The write batch by its contract: changes come back in order, save points take back what they should, and
// bytes that are no batch are refused without a read outside them.
#include "pmlsm/write_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/write_batch_format.h"
#include "util/random.h"

namespace pmlsm {
namespace {

// One change as text.
std::string PutText(const Slice& key, const Slice& value) {
  return "put " + key.ToString() + "=" + value.ToString();
}
std::string DeleteText(const Slice& key) { return "delete " + key.ToString(); }

using Changes = std::vector<std::string>;

class Recorder final : public WriteBatch::Handler {
 public:
  explicit Recorder(size_t most = SIZE_MAX) : most_(most) {}
  void Put(const Slice& key, const Slice& value) override { changes.push_back(PutText(key, value)); }
  void Delete(const Slice& key) override { changes.push_back(DeleteText(key)); }
  bool Continue() override { return changes.size() < most_; }

  Changes changes;

 private:
  const size_t most_;
};

void ExpectChanges(const WriteBatch& batch, const Changes& changes) {
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(recorder.changes, changes);
  ASSERT_EQ(batch.Count(), changes.size());
  ASSERT_EQ(batch.GetDataSize(), batch.Data().size());
}

// A batch from bytes in memory of exactly their size, so that a sanitizer sees a read behind them.
Status IterateBytes(const std::string& bytes, Recorder* recorder) {
  std::string rep;
  rep.reserve(std::max<size_t>(bytes.size(), 16));  // not inside the string object
  rep.assign(bytes);
  rep.shrink_to_fit();
  return WriteBatch(std::move(rep)).Iterate(recorder);
}

WriteBatch SmallBatch() {
  WriteBatch batch;
  EXPECT_TRUE(batch.Put("key one", "value one").ok());
  EXPECT_TRUE(batch.Delete("key two").ok());
  EXPECT_TRUE(batch.Put("", std::string(200, 'v')).ok());  // a length of two bytes
  EXPECT_TRUE(batch.Delete("").ok());
  EXPECT_TRUE(batch.Put("key three", "").ok());
  EXPECT_TRUE(batch.SingleDelete("key four").ok());
  return batch;
}

TEST(WriteBatchTest, ChangesComeBackInTheirOrder) {
  WriteBatch batch;
  ExpectChanges(batch, {});
  Changes changes;
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string key(random.Uniform(300), static_cast<char>(random.Next()));
    const std::string value(random.Uniform(20000), static_cast<char>(random.Next()));
    if (random.OneIn(3)) {
      ASSERT_TRUE(batch.Delete(key).ok());
      changes.push_back(DeleteText(key));
    } else {
      ASSERT_TRUE(batch.Put(key, value).ok());
      changes.push_back(PutText(key, value));
    }
    ASSERT_EQ(batch.Count(), changes.size());
  }
  ExpectChanges(batch, changes);
  ExpectChanges(WriteBatch(batch.Data()), changes);
  const WriteBatch copy = batch;
  batch.Clear();
  ExpectChanges(batch, {});
  ExpectChanges(copy, changes);
}

// The bytes of a batch, for ever: doc/FORMAT.md.
TEST(WriteBatchTest, GoldenBytes) {
  WriteBatch batch;
  EXPECT_EQ(batch.Data(), std::string(12, '\0'));
  ASSERT_TRUE(batch.Put("k", "value").ok());
  ASSERT_TRUE(batch.Delete("key").ok());
  ASSERT_TRUE(batch.Put("", std::string(300, 'x')).ok());
  ASSERT_TRUE(batch.SingleDelete("once").ok());
  const std::string expected = std::string("\0\0\0\0\0\0\0\0\4\0\0\0", 12) +             // sequence, count
                               std::string("\1\0\1k\5value", 10) +                       // value
                               std::string("\0\0\3key", 6) +                             // deletion
                               std::string("\1\0\0\xac\2", 5) + std::string(300, 'x') +  // value, 300 = ac 02
                               std::string("\3\0\4once", 7);                             // single deletion
  EXPECT_EQ(batch.Data(), expected);
}

TEST(WriteBatchTest, AFalseContinueEndsTheWalkWithOk) {
  const WriteBatch batch = SmallBatch();
  Recorder whole;
  ASSERT_TRUE(batch.Iterate(&whole).ok());
  for (size_t most = 0; most <= whole.changes.size(); ++most) {
    Recorder some(most);
    ASSERT_TRUE(batch.Iterate(&some).ok());
    EXPECT_EQ(some.changes, Changes(whole.changes.begin(), whole.changes.begin() + most));
  }
}

TEST(WriteBatchTest, EmptyKeysAndValuesMayHaveNoAddress) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(std::string_view(), std::string_view()).ok());
  ASSERT_TRUE(batch.Delete(std::string_view()).ok());
  ExpectChanges(batch, {PutText("", ""), DeleteText("")});
}

// ---- Save points ----

TEST(WriteBatchTest, RollbackTakesBackWhatCameAfterTheNewestSavePoint) {
  WriteBatch batch;
  batch.SetSavePoint();  // of an empty batch
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  batch.SetSavePoint();  // twice at one place
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.Delete("c").ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ExpectChanges(batch, {PutText("a", "1")});
  ASSERT_TRUE(batch.Put("d", "3").ok());
  ExpectChanges(batch, {PutText("a", "1"), PutText("d", "3")});
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ExpectChanges(batch, {PutText("a", "1")});
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ExpectChanges(batch, {});
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  ExpectChanges(batch, {});
}

TEST(WriteBatchTest, PopDropsTheSavePointOnly) {
  WriteBatch batch;
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.PopSavePoint().ok());
  ExpectChanges(batch, {PutText("a", "1"), PutText("b", "2")});
  ASSERT_TRUE(batch.RollbackToSavePoint().ok()) << "to the outer one";
  ExpectChanges(batch, {});
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
}

TEST(WriteBatchTest, ClearDropsTheSavePoints) {
  WriteBatch batch;
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.Clear();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  ExpectChanges(batch, {PutText("b", "2")});
}

TEST(WriteBatchTest, RandomSavePointsAgreeWithAStackOfCopies) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    WriteBatch batch;
    Changes changes;
    std::vector<Changes> saved;
    for (int i = 0; i < 200; ++i) {
      switch (random.Uniform(8)) {
        case 0:
        case 1:
          batch.SetSavePoint();
          saved.push_back(changes);
          break;
        case 2:
          ASSERT_EQ(batch.RollbackToSavePoint().IsNotFound(), saved.empty());
          if (saved.empty()) break;
          changes = saved.back();
          saved.pop_back();
          break;
        case 3:
          ASSERT_EQ(batch.PopSavePoint().IsNotFound(), saved.empty());
          if (!saved.empty()) saved.pop_back();
          break;
        default: {
          const std::string key = std::to_string(i);
          ASSERT_TRUE((random.OneIn(2) ? batch.Put(key, key) : batch.Put(key, "")).ok());
          Recorder recorder;
          ASSERT_TRUE(batch.Iterate(&recorder).ok());
          changes.push_back(recorder.changes.back());
        }
      }
      ASSERT_NO_FATAL_FAILURE(ExpectChanges(batch, changes));
    }
  }
}

// ---- Limits ----

TEST(WriteBatchTest, KeysAndValuesOverTheirLimitsLeaveTheBatchAsItWas) {
  WriteBatch batch = SmallBatch();
  const std::string before = batch.Data();
  const std::string long_key(kMaxKeyBytes + 1, 'k');
  EXPECT_TRUE(batch.Put(long_key, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Delete(long_key).IsInvalidArgument());
  EXPECT_TRUE(batch.SingleDelete(long_key).IsInvalidArgument());
  // Refused by its size: its bytes are not looked at.
  EXPECT_TRUE(batch.Put("k", Slice("", kMaxValueBytes + 1)).IsInvalidArgument());
  EXPECT_EQ(batch.Data(), before);
  ASSERT_TRUE(batch.Put(Slice(long_key.data(), kMaxKeyBytes), "v").ok());
  ASSERT_TRUE(batch.Delete(Slice(long_key.data(), kMaxKeyBytes)).ok());
  EXPECT_EQ(batch.Count(), 8u);
}

// ---- Damaged bytes ----

TEST(WriteBatchTest, EveryTruncationIsCorruption) {
  const std::string bytes = SmallBatch().Data();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Recorder recorder;
    const Status s = IterateBytes(bytes.substr(0, size), &recorder);
    ASSERT_TRUE(s.IsCorruption()) << size << " bytes: " << s.ToString();
  }
}

// A batch has no checksum (the log adds one): another key may come, but never bytes from outside, nor OK with
// another number of changes than Count().
TEST(WriteBatchTest, NoDamagedByteLeadsOutsideTheBatch) {
  const std::string bytes = SmallBatch().Data();
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (int mask = 1; mask < 256; ++mask) {
      std::string damaged = bytes;
      damaged[place] ^= static_cast<char>(mask);
      Recorder recorder;
      const Status s = IterateBytes(damaged, &recorder);
      if (s.ok()) {
        ASSERT_EQ(recorder.changes.size(), WriteBatch(damaged).Count()) << place << ", mask " << mask;
      } else {
        ASSERT_TRUE(s.IsCorruption() || s.IsNotSupported() || s.IsInvalidArgument())
            << place << ", mask " << mask << ": " << s.ToString();
      }
      if (place >= kBatchCountPlace && place < kBatchHeaderBytes) {
        ASSERT_TRUE(s.IsCorruption()) << "count";
      }
    }
  }
}

TEST(WriteBatchTest, RandomBytesAreRefusedOrCounted) {
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    Random random(seed);
    std::string bytes(random.Uniform(60), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.OneIn(2) ? random.Uniform(4) : random.Next());
    Recorder recorder;
    if (IterateBytes(bytes, &recorder).ok()) {
      ASSERT_EQ(recorder.changes.size(), WriteBatch(bytes).Count()) << "seed " << seed;
    }
  }
}

// What `record` alone makes of a batch that promises one change.
Status IterateRecord(const std::string& record) {
  std::string bytes(kBatchHeaderBytes, '\0');
  bytes[kBatchCountPlace] = 1;
  Recorder recorder;
  return IterateBytes(bytes + record, &recorder);
}

TEST(WriteBatchTest, RecordTypesThatAreNotBuiltAreNotSupported) {
  for (int type = 0; type < 256; ++type) {
    const Status s = IterateRecord(std::string(1, static_cast<char>(type)) + std::string("\0\1k\1v", 5));
    if (type <= kValueTypeMax && IsDeletion(static_cast<ValueType>(type))) {
      EXPECT_TRUE(s.IsCorruption()) << "a value behind a deletion is another record";
    } else if (type == static_cast<int>(ValueType::kValue)) {
      EXPECT_TRUE(s.ok()) << s.ToString();
    } else if (type <= kValueTypeMax) {
      EXPECT_TRUE(s.IsNotSupported()) << type << ": " << s.ToString();
    } else {
      EXPECT_TRUE(s.IsCorruption()) << type << ": " << s.ToString();
    }
  }
}

// The handler cannot tell column families apart: a change of another one must not look like one of the
// default.
TEST(WriteBatchTest, RecordsOfAnotherColumnFamilyAreRefused) {
  EXPECT_TRUE(IterateRecord(std::string("\1\0\1k\1v", 6)).ok());
  EXPECT_TRUE(IterateRecord(std::string("\1\1\1k\1v", 6)).IsInvalidArgument());
  EXPECT_TRUE(IterateRecord(std::string("\0\x80\1\1k", 5)).IsInvalidArgument());
}

TEST(WriteBatchTest, LengthsThatNoVarint32HasAreCorruption) {
  EXPECT_TRUE(IterateRecord(std::string("\1\0\xff\xff\xff\xff\x0fk\1v", 10)).IsCorruption());
  EXPECT_TRUE(IterateRecord(std::string("\1\0\xff\xff\xff\xff\x7fk\1v", 10)).IsCorruption());
  EXPECT_TRUE(IterateRecord(std::string("\1\0\x81\x80\x80\x80\x80\x00k\1v", 11)).IsCorruption());
}

// Bytes shorter than a header are no batch, and nothing can be added to them.
TEST(WriteBatchTest, ABatchWithoutAHeaderTakesNoChanges) {
  for (size_t size = 0; size < kBatchHeaderBytes; ++size) {
    const std::string bytes(size, '\1');
    WriteBatch batch(bytes);
    batch.SetSavePoint();
    EXPECT_TRUE(batch.Put("a key of some length", "and a value").IsCorruption()) << size;
    EXPECT_TRUE(batch.Delete("a key of some length").IsCorruption()) << size;
    EXPECT_TRUE(batch.SingleDelete("a key of some length").IsCorruption()) << size;
    EXPECT_TRUE(batch.RollbackToSavePoint().ok());
    EXPECT_EQ(batch.Data(), bytes);
    EXPECT_EQ(batch.Count(), 0u);
    batch.Clear();
    ExpectChanges(batch, {});
  }
}

// A family by its ID alone: a batch asks for nothing else.
class FamilyWithId final : public ColumnFamilyHandle {
 public:
  explicit FamilyWithId(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor*) const override { return Status::NotSupported("a test's"); }
  const Comparator* GetComparator() const override { return nullptr; }

 private:
  const uint32_t id_;
  const std::string name_;
};

TEST(WriteBatchFamilies, HandlersHearOfTheFamily) {
  class FamilyRecorder final : public WriteBatch::Handler {
   public:
    void Put(const Slice&, const Slice&) override { ADD_FAILURE() << "PutCF is overridden"; }
    void Delete(const Slice&) override { ADD_FAILURE() << "DeleteCF is overridden"; }
    Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
      if (key == "stop") return Status::Aborted("here");
      heard.push_back(std::to_string(family) + " " + key.ToString() + "=" + value.ToString());
      return Status::OK();
    }
    Status DeleteCF(uint32_t family, const Slice& key) override {
      heard.push_back(std::to_string(family) + " -" + key.ToString());
      return Status::OK();
    }
    Status SingleDeleteCF(uint32_t family, const Slice& key) override {
      heard.push_back(std::to_string(family) + " --" + key.ToString());
      return Status::OK();
    }
    std::vector<std::string> heard;
  };
  FamilyWithId seven(7), large(UINT32_MAX);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put(&seven, "a", "2").ok());
  ASSERT_TRUE(batch.Delete(&large, "b").ok());
  ASSERT_TRUE(batch.Delete(nullptr, "c").ok());
  ASSERT_TRUE(batch.SingleDelete(&seven, "d").ok());
  ASSERT_TRUE(batch.SingleDelete("e").ok());
  EXPECT_EQ(batch.Count(), 6u);
  FamilyRecorder recorder;
  ASSERT_TRUE(batch.Iterate(&recorder).ok());
  EXPECT_EQ(recorder.heard,
            (std::vector<std::string>{"0 a=1", "7 a=2", "4294967295 -b", "0 -c", "7 --d", "0 --e"}));
  ASSERT_TRUE(batch.Put(&seven, "stop", "").ok());
  ASSERT_TRUE(batch.Put(&seven, "behind", "").ok());
  recorder.heard.clear();
  EXPECT_TRUE(batch.Iterate(&recorder).IsAborted());
  EXPECT_EQ(recorder.heard.size(), 6u);
}

TEST(WriteBatchFamilies, HandlersOfTheDefaultFamilyRefuseOthers) {
  FamilyWithId seven(7);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put(&seven, "a", "2").ok());
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("7"), std::string::npos) << s.ToString();
  EXPECT_EQ(recorder.changes.size(), 1u);
}

}  // namespace
}  // namespace pmlsm
