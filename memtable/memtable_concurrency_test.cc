// One writer and several readers without a lock: nothing that was acknowledged is missing, nothing is seen
// half or twice. Run it under ThreadSanitizer too.
#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "memtable/memtable_rep.h"
#include "util/hash.h"
#include "util/random.h"

namespace pmlsm {
namespace {

constexpr int kReaders = 2;
constexpr uint64_t kInserts = 40000;

enum class KeyShape { kRandom, kAscending, kFewKeys };

class MemTableConcurrencyTest : public testing::TestWithParam<std::tuple<MemTableType, KeyShape>> {
 protected:
  MemTableConcurrencyTest()
      : rep_(MemTableRep::New(std::get<0>(GetParam()), BytewiseComparator())),
        seed_(testing::UnitTest::GetInstance()->random_seed() + 20240601) {
    printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }

  // Key and value of an insert follow from its sequence number, so that a reader can tell what must be there.
  std::string KeyOf(SequenceNumber sequence) const {
    const uint64_t hash = Hash64(&sequence, sizeof(sequence), seed_);
    switch (std::get<1>(GetParam())) {
      case KeyShape::kRandom:
        return std::string(reinterpret_cast<const char*>(&hash), sizeof(hash));
      case KeyShape::kAscending:
        return "a shared prefix/" + std::to_string(1000000 + sequence);
      case KeyShape::kFewKeys:
        return "key" + std::to_string(hash % 50);
    }
    return "";
  }
  static std::string ValueOf(SequenceNumber sequence) {
    return std::string(sequence % 50, static_cast<char>(sequence)) + std::to_string(sequence);
  }

  void Write() {
    while (readers_ready_.load() < kReaders) std::this_thread::yield();
    for (SequenceNumber sequence = 1; sequence <= kInserts; ++sequence) {
      rep_->Insert(KeyOf(sequence), MakeTag(sequence, ValueType::kValue), ValueOf(sequence));
      acknowledged_.store(sequence, std::memory_order_release);
    }
  }

  void Read(uint64_t seed) {
    Random random(seed);
    readers_ready_.fetch_add(1);
    bool done = false;
    do {
      done = acknowledged_.load() == kInserts;  // one more round after the end
      for (int i = 0; i < 500; ++i) ReadOne(&random);
      ScanAll(random.OneIn(2));
      for (int i = 0; i < 3; ++i) SeekOne(&random);
    } while (!done && !HasFailure());
  }

  void ReadOne(Random* random) const {
    const SequenceNumber acknowledged = acknowledged_.load(std::memory_order_acquire);
    if (acknowledged == 0) return;
    const SequenceNumber sequence = 1 + random->Uniform(acknowledged);
    const std::string key = KeyOf(sequence);
    Entry entry;
    ASSERT_TRUE(rep_->Get(key, sequence, &entry));
    ExpectWhole(entry);
    ASSERT_EQ(TagSequence(entry.tag), sequence);
    ASSERT_TRUE(rep_->Get(key, kMaxSequenceNumber, &entry));
    ExpectWhole(entry);
    ASSERT_GE(TagSequence(entry.tag), sequence);
  }

  void ScanAll(bool forward) const {
    const SequenceNumber acknowledged = acknowledged_.load(std::memory_order_acquire);
    const std::unique_ptr<InternalIterator> iterator = rep_->NewIterator();
    uint64_t seen = 0;
    Entry previous;
    for (forward ? iterator->SeekToFirst() : iterator->SeekToLast(); iterator->valid();
         forward ? iterator->Next() : iterator->Prev()) {
      const Entry& entry = iterator->entry();
      ExpectWhole(entry);
      if (previous.tag != 0) {
        const int order =
            CompareInternal(*BytewiseComparator(), previous.key, previous.tag, entry.key, entry.tag);
        ASSERT_TRUE(forward ? order < 0 : order > 0);
      }
      previous = entry;
      if (TagSequence(entry.tag) <= acknowledged) ++seen;
    }
    ASSERT_EQ(seen, acknowledged);
  }

  // Seek and SeekForPrev find an acknowledged entry itself; a step away and back comes to it again or to a
  // newcomer between.
  void SeekOne(Random* random) const {
    const SequenceNumber acknowledged = acknowledged_.load(std::memory_order_acquire);
    if (acknowledged == 0) return;
    const std::unique_ptr<InternalIterator> iterator = rep_->NewIterator();
    const SequenceNumber sequence = 1 + random->Uniform(acknowledged);
    const std::string key = KeyOf(sequence);
    const Tag tag = MakeTag(sequence, ValueType::kValue);
    iterator->Seek(key, tag);
    ASSERT_TRUE(iterator->valid());
    ASSERT_EQ(iterator->entry().tag, tag);
    iterator->SeekForPrev(key, tag);
    ASSERT_TRUE(iterator->valid());
    ASSERT_EQ(iterator->entry().tag, tag);
    iterator->Next();
    if (!iterator->valid()) return;
    iterator->Prev();
    ASSERT_TRUE(iterator->valid());
    ASSERT_GE(BytewiseComparator()->Compare(iterator->entry().key, key), 0);
  }

  void ExpectWhole(const Entry& entry) const {
    const SequenceNumber sequence = TagSequence(entry.tag);
    ASSERT_EQ(entry.key, Slice(KeyOf(sequence)));
    ASSERT_EQ(entry.value, Slice(ValueOf(sequence)));
  }

  const std::unique_ptr<MemTableRep> rep_;
  const uint64_t seed_;
  std::atomic<SequenceNumber> acknowledged_{0};
  std::atomic<int> readers_ready_{0};
};

TEST_P(MemTableConcurrencyTest, ReadersSeeAllThatWasAcknowledgedBeforeTheyBegan) {
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) readers.emplace_back([this, i] { Read(seed_ + i); });
  Write();
  for (std::thread& reader : readers) reader.join();
}

std::string ParamName(const testing::TestParamInfo<MemTableConcurrencyTest::ParamType>& info) {
  const char* const shapes[] = {"Random", "Ascending", "FewKeys"};
  const auto [type, shape] = info.param;
  return std::string(type == MemTableType::kSorted ? "Sorted" : "Hash") + shapes[static_cast<int>(shape)];
}

INSTANTIATE_TEST_SUITE_P(, MemTableConcurrencyTest,
                         testing::Combine(testing::Values(MemTableType::kSorted, MemTableType::kHash),
                                          testing::Values(KeyShape::kRandom, KeyShape::kAscending,
                                                          KeyShape::kFewKeys)),
                         ParamName);

}  // namespace
}  // namespace pmlsm
