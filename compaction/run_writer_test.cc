// What RunWriter puts into a transaction, and when.
#include "compaction/run_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

constexpr uint64_t kTableBytes = 256 << 10;
constexpr uint64_t kExtentBytes = 4 << 10;

// Notes the ranges that the publisher behind it is asked for, and refuses them if told to.
class MeteredPublisher final : public Publisher {
 public:
  explicit MeteredPublisher(std::unique_ptr<Publisher> publisher) : publisher_(std::move(publisher)) {}

  Status BeginRange(Span range) override {
    if (refuses_) return Status::NoSpace("no room for a log");
    ranges_.push_back(range);
    ++open_;
    return publisher_->BeginRange(range);
  }
  Status EndRange() override {
    --open_;
    return publisher_->EndRange();
  }
  void AbortRange() override {
    EXPECT_EQ(open_, 1) << "nothing to abort";
    --open_;
    publisher_->AbortRange();
  }
  uint64_t range_bytes_max() const override { return publisher_->range_bytes_max(); }
  Status Publish(Store* store, uint64_t* word, uint64_t value) override {
    return publisher_->Publish(store, word, value);
  }

  void Refuse(bool refuses) { refuses_ = refuses; }
  const std::vector<Span>& ranges() const { return ranges_; }
  int open() const { return open_; }

 private:
  const std::unique_ptr<Publisher> publisher_;
  bool refuses_ = false;
  std::vector<Span> ranges_;
  int open_ = 0;
};

class RunWriterTest : public testing::TestWithParam<MergeDestination> {
 protected:
  RunWriterTest() {
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = 64 << 20;
    options.extent_bytes = kExtentBytes;
    options.client_bytes = 4096;
    EXPECT_TRUE(Pool::Open(options, &pool_).ok());
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
    publisher_ =
        std::make_unique<MeteredPublisher>(Publisher::New(FailureAtomicity::kTransaction, pool_.get()));
    context_.pool = pool_.get();
    context_.extents = extents_.get();
    context_.publisher = publisher_.get();
    context_.table_options.comparator = BytewiseComparator();
    context_.table_bytes = kTableBytes;
    context_.destination = GetParam();
    context_.next_table_number = [this] { return ++tables_; };
    context_.cancelled = [] { return false; };
  }
  bool buffered() const { return GetParam() == MergeDestination::kBuffered; }

  static Status Add(RunWriter* writer, int i) {
    const std::string key = "key" + std::to_string(1000000 + i);
    return writer->Add({key, MakeTag(static_cast<SequenceNumber>(i + 1), ValueType::kValue), value()});
  }
  static std::string value() { return std::string(100, 'v'); }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  std::unique_ptr<MeteredPublisher> publisher_;
  PersistCounters counters_;
  JobContext context_;
  uint64_t tables_ = 0;
};

TEST_P(RunWriterTest, ADirectTableIsSnapshottedAtItsTargetSizeABufferedOneToTheByte) {
  std::vector<TableRef> tables;
  {
    RunWriter writer(context_, &counters_);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Add(&writer, i).ok());
    EXPECT_EQ(publisher_->open(), buffered() ? 0 : 1);
    ASSERT_TRUE(writer.Finish(&tables).ok());
  }
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(publisher_->ranges().size(), 1u);
  const Table& table = tables[0]->table();
  const Span range = publisher_->ranges()[0];
  EXPECT_EQ(range.offset, table.span().offset);
  EXPECT_EQ(range.bytes, buffered() ? table.header().table_bytes : kTableBytes);
  EXPECT_EQ(table.header().entries, 100u);
  EXPECT_TRUE(table.Check().ok());
  // What the table did not need is free again.
  EXPECT_LT(table.span().bytes, table.header().table_bytes + kExtentBytes);
  EXPECT_EQ(extents_->used_bytes(), table.span().bytes);
  EXPECT_EQ(publisher_->open(), 0);
  tables[0]->MarkObsolete();
}

TEST_P(RunWriterTest, EachTableOfARunHasARangeOfItsOwn) {
  std::vector<TableRef> tables;
  {
    RunWriter writer(context_, &counters_);
    for (int i = 0; i < 6000; ++i) ASSERT_TRUE(Add(&writer, i).ok());
    ASSERT_TRUE(writer.Finish(&tables).ok());
  }
  ASSERT_GT(tables.size(), 2u);
  ASSERT_EQ(publisher_->ranges().size(), tables.size());
  uint64_t snapshot_bytes = 0;
  uint64_t table_bytes = 0;
  for (const Span& range : publisher_->ranges()) snapshot_bytes += range.bytes;
  for (const TableRef& table : tables) {
    table_bytes += table->table().header().table_bytes;
    EXPECT_TRUE(table->table().Check().ok());
    table->MarkObsolete();
  }
  EXPECT_EQ(snapshot_bytes, buffered() ? table_bytes : tables.size() * kTableBytes);
}

TEST_P(RunWriterTest, AWriterThatIsDroppedHalfWayLeavesNothingOpenAndNoSpaceUsed) {
  {
    RunWriter writer(context_, &counters_);
    for (int i = 0; i < 6000; ++i) ASSERT_TRUE(Add(&writer, i).ok());
  }
  EXPECT_EQ(publisher_->open(), 0);
  EXPECT_EQ(extents_->used_bytes(), 0u);
  extents_->Check();
}

TEST_P(RunWriterTest, NoRoomForTheSnapshotGivesTheSpaceBackAndSaysWhetherAnEntryIsMissing) {
  publisher_->Refuse(true);
  {
    RunWriter writer(context_, &counters_);
    Status s;
    for (int i = 0; i < 6000 && s.ok(); ++i) s = Add(&writer, i);
    EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
    EXPECT_EQ(writer.whole(), !buffered());
  }
  EXPECT_EQ(extents_->used_bytes(), 0u);
  publisher_->Refuse(false);
  std::vector<TableRef> tables;
  RunWriter writer(context_, &counters_);
  ASSERT_TRUE(Add(&writer, 0).ok());
  EXPECT_TRUE(writer.Finish(&tables).ok());
  for (const TableRef& table : tables) table->MarkObsolete();
}

INSTANTIATE_TEST_SUITE_P(Destinations, RunWriterTest,
                         testing::Values(MergeDestination::kDirect, MergeDestination::kBuffered),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
