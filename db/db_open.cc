// Open and recovery. In order: 1. Lock the directory. 2. Open the pool. 3. Load the manifest and the runs
// that it names; all other space is free. 4. Replay the log into memtables (nothing is written to the
// pool). 5. Publish a manifest with a new log segment; recovery never appends to a replayed one. 6. Start
// background work, which flushes what was replayed like any frozen memtable. CRASH anywhere: the next open
// finds the same manifest and log, or the one of step 5, which names the same data.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "db/db_files.h"
#include "db/db_impl.h"
#include "db/wal_reader.h"
#include "db/write_batch_format.h"
#include "pmem/files.h"
#include "pmem/pool_set_file.h"
#include "util/check.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

PoolOptions MakePoolOptions(const DBOptions& options, const std::string& name) {
  PoolOptions pool;
  pool.set_dir = name;
  pool.pool_file = options.pool_file;
  pool.max_pmem_bytes = options.max_pmem_bytes;
  pool.extent_bytes = options.extent_bytes;
  pool.client_bytes = kManifestAreaBytes;
  pool.snapshots = options.failure_atomicity == FailureAtomicity::kTransaction;
  return pool;
}

// The directory exists and is one, or may be and was created.
Status CheckDirectory(const std::string& name, bool create) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  if (std::filesystem::is_directory(status)) return Status::OK();
  if (std::filesystem::exists(status)) return Status::InvalidArgument("not a directory", name);
  if (!create) return Status::InvalidArgument("DB does not exist (create_if_missing is false)", name);
  std::filesystem::create_directories(name, error);
  if (error) return Status::IOError("cannot create directory " + name, error.message());
  return Status::OK();
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* db) {
  return DBImpl::Open(options, name, db);
}

Status DB::Open(const Options& options, const std::string& name, DB** db) {
  *db = nullptr;
  std::unique_ptr<DB> opened;
  Status s = DBImpl::Open(options, name, &opened);
  if (s.ok()) *db = opened.release();
  return s;
}

DBImpl::DBImpl(const Options& options, const std::string& name)
    : name_(name), options_(options), default_options_(options), storage_(std::make_unique<Storage>()) {}

Status DBImpl::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* db) {
  db->reset();
  Status s = options.Validate();
  if (!s.ok()) return s;
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name));
  s = impl->OpenStorage();
  if (s.ok()) s = impl->LoadState();
  if (s.ok()) s = impl->ReplayLog();
  if (s.ok()) s = impl->StartFirstSegment();
  if (s.ok()) s = impl->WriteInfoFiles();
  if (s.ok()) {
    impl->StartBackground();
    *db = std::move(impl);
    return s;
  }
  if (impl->log_ != nullptr) impl->log_->Write("open failed: %s", s.ToString().c_str());
  return s;
}

// Steps 1 and 2.
Status DBImpl::OpenStorage() {
  PoolOptions pool_options = MakePoolOptions(options_, name_);
  Status s = CheckDirectory(name_, options_.create_if_missing);
  if (!s.ok()) return s;
  bool exists = false;
  s = Pool::Exists(pool_options, &exists);
  if (!s.ok()) return s;
  if (!exists && !options_.create_if_missing) {
    return Status::InvalidArgument("DB does not exist (create_if_missing is false)", name_);
  }
  if (exists && options_.error_if_exists) {
    return Status::InvalidArgument("DB exists (error_if_exists is true)", name_);
  }
  s = storage_->lock.Acquire(LockFileName(name_));
  if (!s.ok()) return s;
  pool_options.create = options_.create_if_missing;
  s = Pool::Open(pool_options, &storage_->pool);
  if (!s.ok()) return s;

  Pool* const pool = storage_->pool.get();
  storage_->extents = std::make_unique<ExtentAllocator>(pool);
  log_ = std::make_unique<InfoLog>(InfoLogFileName(name_));
  sizes_ = DerivedSizes(default_options_, pool->header());
  publisher_ = Publisher::New(options_.failure_atomicity, pool);
  manifest_ = std::make_unique<Manifest>(pool, publisher_.get(), pool->medium(), &counters_.manifest);
  MutexLock write_lock(&write_mutex_);
  wal_ = std::make_unique<WalWriter>(pool, pool->medium(), &counters_.log);
  return Status::OK();
}

// A family in its first state, without memtables and runs.
ColumnFamilyRef DBImpl::MakeFamily(uint32_t id, const std::string& name, const ColumnFamilyOptions& options) {
  const MergeChooser::Setting setting{storage_->pool->medium(), options_.failure_atomicity,
                                      options_.merge_order, options_.merge_destination};
  storage_->reads.push_back(std::make_unique<FamilyReads>());
  return std::make_shared<ColumnFamily>(id, name, options, DerivedSizes(options, storage_->pool->header()),
                                        setting, storage_->reads.back().get());
}

// Step 3.
Status DBImpl::LoadState() {
  MutexLock lock(&mutex_);
  bool found = false;
  Status s = Manifest::Load(*storage_->pool, &state_, &found);
  if (!s.ok()) return s;
  families_ = {MakeFamily(kDefaultFamily, "default", default_options_)};
  default_family_ = families_[0].get();
  if (found) {
    if (state_.families.size() != 1) return Status::NotSupported("more than one column family", name_);
    s = LoadFamily(state_.families[0], default_family_);
  } else {
    ManifestState first = state_;
    first.families.push_back(MakeFamilyState(*default_family_));
    s = PublishVersion(default_family_, std::make_shared<const Version>(default_options_.num_levels), &first);
  }
  if (!s.ok()) return s;
  last_sequence_ = state_.last_sequence;
  next_table_number_ = state_.next_table_number;
  for (const SegmentRecord& segment : state_.segments) {
    s = storage_->extents->MarkUsed({segment.offset, segment.bytes});
    if (!s.ok()) return s;
  }
  storage_->extents->SetReserve(sizes_.reserve_bytes, sizes_.flush_bytes);
  return s;
}

// Of a new family, without runs.
FamilyState DBImpl::MakeFamilyState(const ColumnFamily& family) {
  FamilyState state;
  state.id = family.id;
  state.name = family.name;
  state.comparator = family.options.comparator->Name();
  return state;
}

Status DBImpl::CheckComparator(const std::string& stored, const ColumnFamily& family) const {
  if (stored == family.options.comparator->Name()) return Status::OK();
  return Status::InvalidArgument("comparator: the DB was made with \"" + stored + "\", options have \"" +
                                     family.options.comparator->Name() + "\"",
                                 name_);
}

Status DBImpl::LoadFamily(const FamilyState& stored, ColumnFamily* family) {
  Status s = CheckComparator(stored.comparator, *family);
  if (!s.ok()) return s;
  const int levels = std::max<int>(family->options.num_levels, static_cast<int>(stored.levels.size()));
  const TableOptions table_options{family->options.comparator, family->options.node_bytes,
                                   family->options.filter_bits_per_key};
  VersionEdit edit;
  for (size_t level = 0; level < stored.levels.size(); ++level) {
    for (const uint64_t offset : stored.levels[level]) {
      if (offset == 0) continue;
      PlacedRun placed;
      std::vector<Span> spans;
      s = Run::Open(table_options, *storage_->pool, storage_->extents.get(), offset, &placed.run, &spans);
      for (size_t i = 0; s.ok() && i < spans.size(); ++i) s = storage_->extents->MarkUsed(spans[i]);
      if (!s.ok()) return s;
      placed.descriptor = spans[0];
      edit.added.push_back({static_cast<int>(level), std::move(placed)});
    }
  }
  family->version = Version(levels).Apply(edit);
  return Status::OK();
}

// Step 4. Replayed memtables keep their segments in the manifest until they are flushed.
Status DBImpl::ReplayLog() {
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  const uint64_t first_segment =
      state_.segments.empty() ? state_.next_segment_number : state_.segments[0].number;
  for (const ColumnFamilyRef& family : families_) family->StartMemTable(first_segment);

  WalReader reader(storage_->pool.get(), state_.segments, state_.clean_end);
  WalReader::Record record;
  uint64_t records = 0;
  std::set<uint64_t> replayed;  // segments
  while (reader.Next(&record)) {
    const SequenceNumber last = record.first_sequence + record.count - 1;
    if (last > state_.families[0].flushed_sequence) {
      ReplayRecord(record.segment, record.first_sequence, record.payload);
      for (uint64_t number = record.segment; number <= record.last_segment; ++number) replayed.insert(number);
      ++records;
    }
    last_sequence_ = std::max(last_sequence_.load(), last);
  }
  // Exactly where the records that count end: the next open takes it for the end of the last of these
  // segments.
  log_end_ = state_.segments.empty() ? std::max(log_end_, state_.clean_end) : reader.end_position();
  log_->Write("log: %" PRIu64 " records replayed, %" PRIu64 " bytes behind the end dropped; %s", records,
              reader.dropped_bytes(),
              reader.end() == WalReader::End::kClean ? "whole" : reader.detail().c_str());

  const bool torn = reader.end() == WalReader::End::kTornTail;
  const bool damaged = reader.end() == WalReader::End::kDamage;
  const WALRecoveryMode mode = options_.wal_recovery_mode;
  if ((damaged && mode != WALRecoveryMode::kPointInTimeRecovery) ||
      (torn && mode == WALRecoveryMode::kAbsoluteConsistency)) {
    return Status::Corruption(
        "log", reader.detail() + ": record does not verify (wal_recovery_mode is " + ToString(mode) + ")");
  }
  DropSegmentsBut(replayed);
  return Status::OK();
}

// Segments of which nothing was replayed: empty ones, left by opens that did not write, and those behind the
// place where point-in-time recovery stopped. Step 5 publishes a manifest without them; until then nothing is
// written to their space.
void DBImpl::DropSegmentsBut(const std::set<uint64_t>& replayed) {
  std::vector<SegmentRecord> kept;
  for (const SegmentRecord& segment : state_.segments) {
    if (replayed.count(segment.number) != 0) {
      kept.push_back(segment);
    } else {
      storage_->extents->Free({segment.offset, segment.bytes});
    }
  }
  state_.segments = std::move(kept);
}

void DBImpl::ReplayRecord(uint64_t segment, SequenceNumber first_sequence, Slice records) {
  for (const ColumnFamilyRef& family : families_) {
    const MemTableRep& rep = *family->active_rep;
    if (rep.ApproximateBytes() < family->sizes.write_buffer_bytes || rep.entries() == 0) continue;
    family->FreezeMemTable(first_sequence - 1);
    family->StartMemTable(segment);
  }
  InsertBatch(records, first_sequence);
}

// Step 5. What was replayed is frozen, so that the new segment belongs to a new memtable.
Status DBImpl::StartFirstSegment() {
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  Status s = SwitchSegment(0, ExtentAllocator::Use::kBackground);
  if (!s.ok()) return s;
  for (const ColumnFamilyRef& family : families_) {
    if (family->active_rep->entries() != 0) {
      family->FreezeMemTable(last_sequence_.load());
      family->StartMemTable(wal_->segment().number);
    }
    family->InstallView();
  }
  UpdatePace();
  hooks.Reached(HookPoint::kRecoveryPublished);
  return s;
}

std::string DBImpl::OptionsText() const {
  return options_.ToString() + default_family_->options.ToString() + default_family_->sizes.ToString();
}

Status DBImpl::WriteInfoFiles() const {
  char identity[2 * sizeof(PoolHeader::identity) + 1];
  for (size_t i = 0; i < sizeof(PoolHeader::identity); ++i) {
    snprintf(identity + 2 * i, 3, "%02x", storage_->pool->header().identity[i]);
  }
  Status s = WriteFileAtomically(IdentityFileName(name_), std::string(identity) + "\n");
  if (s.ok()) s = WriteFileAtomically(OptionsFileName(name_), OptionsText());
  // For people only: a full disk must not keep a DB shut.
  if (s.IsNoSpace()) {
    log_->Write("open: %s", s.ToString().c_str());
    s = Status::OK();
  }
  log_->Write("open: %s, medium %s, last sequence %" PRIu64 ", format %u", name_.c_str(),
              pmlsm::ToString(storage_->pool->medium()), last_sequence_.load(), kFormatVersion);
  log_->Write("options:\n%s", OptionsText().c_str());
  return s;
}

// Step 6.
void DBImpl::StartBackground() {
  opened_at_ = std::chrono::steady_clock::now();
  sequence_at_open_ = last_sequence_.load(std::memory_order_relaxed);
  for (int i = 0; i < options_.max_background_jobs; ++i)
    threads_.emplace_back([this, i] { BackgroundThread(i); });
}

Status DestroyDB(const std::string& name, const Options& options) {
  std::error_code error;
  if (!std::filesystem::exists(name, error)) return Status::OK();
  if (!std::filesystem::is_directory(name, error)) return Status::InvalidArgument("not a directory", name);
  if (options.pool_file.empty()) {
    // LOG and IDENTITY may be those of another kind of DB.
    bool ours = false;
    Status s = PoolSetHasRemains(PoolSetPaths(name), &ours);
    if (!s.ok() || !ours) return s;
  }
  DBLock lock;
  const bool has_lock = std::filesystem::exists(LockFileName(name), error);
  Status s = has_lock ? lock.Acquire(LockFileName(name)) : Status::OK();
  if (s.ok()) s = Pool::Destroy(MakePoolOptions(options, name));
  if (!s.ok()) return s;
  for (const std::string& file : InfoFileNames(name)) std::filesystem::remove(file, error);
  std::filesystem::remove(LockFileName(name), error);
  std::filesystem::remove(name, error);  // only if nothing else is in it
  return Status::OK();
}

}  // namespace pmlsm
