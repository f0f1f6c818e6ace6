// Open and recovery. In order: 1. Lock the directory. 2. Open the pool. 3. Load the manifest and the runs
// that it names; all other space is free. 4. Replay the log into memtables (nothing is written to the
// pool). 5. Publish a manifest with a new log segment; recovery never appends to a replayed one. 6. Start
// background work, which flushes what was replayed like any frozen memtable. CRASH anywhere: the next open
// finds the same manifest and log, or the one of step 5, which names the same data.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "db/db_files.h"
#include "db/db_impl.h"
#include "db/write_batch_format.h"
#include "pmem/files.h"
#include "pmem/pool_set_file.h"
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

// Locks the directory and opens the pool.
Status OpenPool(const DBOptions& options, const std::string& name, bool create, Storage* storage) {
  PoolOptions pool_options = MakePoolOptions(options, name);
  pool_options.create = create;
  Status s = CheckDirectory(name, create);
  bool exists = false;
  if (s.ok()) s = Pool::Exists(pool_options, &exists);
  if (s.ok() && !exists && !create) s = Status::InvalidArgument("DB does not exist", name);
  if (s.ok()) s = storage->lock.Acquire(LockFileName(name));
  if (s.ok()) s = Pool::Open(pool_options, &storage->pool);
  return s;
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* db) {
  std::unique_ptr<DBImpl> opened;
  Status s = DBImpl::Open(options, name, {{kDefaultColumnFamilyName, options}}, &opened);
  *db = std::move(opened);
  return s;
}

Status DB::Open(const Options& options, const std::string& name, DB** db) {
  std::unique_ptr<DB> opened;
  Status s = Open(options, name, &opened);
  *db = opened.release();
  return s;
}

Status DB::Open(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  handles->clear();
  std::unique_ptr<DBImpl> opened;
  Status s = DBImpl::Open(options, name, families, &opened);
  if (s.ok()) *handles = opened->NewHandles(families);
  *db = std::move(opened);
  return s;
}

Status DB::Open(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  std::unique_ptr<DB> opened;
  Status s = Open(options, name, families, handles, &opened);
  *db = opened.release();
  return s;
}

Status DB::ListColumnFamilies(const DBOptions& options, const std::string& name,
                              std::vector<std::string>* families) {
  families->clear();
  Storage storage;
  Status s = OpenPool(options, name, false, &storage);
  if (!s.ok()) return s;
  ManifestState state;
  bool found = false;
  s = Manifest::Load(*storage.pool, &state, &found);
  if (!s.ok()) return s;
  for (const FamilyState& family : state.families) families->push_back(family.name);
  if (!found) families->push_back(kDefaultColumnFamilyName);  // its creation was interrupted
  return s;
}

DBImpl::DBImpl(const DBOptions& options, const std::string& name,
               const std::vector<ColumnFamilyDescriptor>& families)
    : name_(name), options_(options), asked_families_(families), storage_(std::make_unique<Storage>()) {}

Status DBImpl::Open(const DBOptions& options, const std::string& name,
                    const std::vector<ColumnFamilyDescriptor>& families, std::unique_ptr<DBImpl>* db) {
  db->reset();
  Status s = options.Validate();
  if (s.ok()) s = CheckDescriptors(families);
  if (!s.ok()) return s;
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name, families));
  s = impl->OpenStorage();
  if (s.ok()) s = impl->LoadState();
  if (s.ok()) s = impl->ReplayLog();
  if (s.ok()) s = impl->StartFirstSegment();
  if (s.ok()) s = impl->CreateMissingFamilies();
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
  const bool may_create = options_.create_if_missing;
  Status s = CheckDirectory(name_, may_create);
  if (!s.ok()) return s;
  bool exists = false;
  s = Pool::Exists(MakePoolOptions(options_, name_), &exists);
  if (!s.ok()) return s;
  if (!exists && !may_create) {
    return Status::InvalidArgument("DB does not exist (create_if_missing is false)", name_);
  }
  if (exists && options_.error_if_exists) {
    return Status::InvalidArgument("DB exists (error_if_exists is true)", name_);
  }
  if (!exists && asked_families_.size() > 1 && !options_.create_missing_column_families) {
    return MissingFamilyError(asked_families_);
  }
  s = OpenPool(options_, name_, may_create, storage_.get());
  if (!s.ok()) return s;

  Pool* const pool = storage_->pool.get();
  storage_->extents = std::make_unique<ExtentAllocator>(pool);
  log_ = std::make_unique<InfoLog>(InfoLogFileName(name_));
  for (const ColumnFamilyDescriptor& family : asked_families_) {
    const DerivedSizes sizes(family.options, pool->header());
    segment_bytes_ = std::max(segment_bytes_, sizes.segment_bytes);
  }
  publisher_ = Publisher::New(options_.failure_atomicity, pool);
  manifest_ = std::make_unique<Manifest>(pool, publisher_.get(), pool->medium(), &counters_.manifest);
  MutexLock write_lock(&write_mutex_);
  wal_ = std::make_unique<WalWriter>(pool, pool->medium(), &counters_.log);
  return Status::OK();
}

// Step 3.
Status DBImpl::LoadState() {
  MutexLock lock(&mutex_);
  bool found = false;
  Status s = Manifest::Load(*storage_->pool, &state_, &found);
  if (!s.ok()) return s;
  s = found ? LoadFamilies() : PublishFirstState();
  if (!s.ok()) return s;
  last_sequence_ = state_.last_sequence;
  next_table_number_ = state_.next_table_number;
  for (const SegmentRecord& segment : state_.segments) {
    s = storage_->extents->MarkUsed({segment.offset, segment.bytes});
    if (!s.ok()) return s;
  }
  UpdateSharedSizes();
  return s;
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
    } else {
      family->active->first_segment = wal_->segment().number;  // nothing of it was replayed
    }
    family->InstallView();
  }
  UpdateSharedSizes();  // and limits of memtables
  UpdatePace();
  default_handle_.reset(NewHandle(families_[0]));
  hooks.Reached(HookPoint::kRecoveryPublished);
  return s;
}

// The DB's and a family's.
std::string DBImpl::OptionsText(const ColumnFamily& family) const {
  return options_.ToString() + "derived.segment_bytes=" + std::to_string(segment_bytes_) + "\n" +
         sizes_.ToString() + family.options.ToString() + family.sizes.ToString();
}

// The DB's and all families', the default one first.
std::string DBImpl::AllOptionsText() const {
  std::string text = OptionsText(*default_family_);
  for (const ColumnFamilyRef& family : families_) {
    if (family->id == kDefaultFamily) continue;
    text += "[" + family->name + "]\n" + family->options.ToString() + family->sizes.ToString();
  }
  return text;
}

Status DBImpl::WriteInfoFiles() {
  MutexLock lock(&mutex_);
  char identity[2 * sizeof(PoolHeader::identity) + 1];
  for (size_t i = 0; i < sizeof(PoolHeader::identity); ++i) {
    snprintf(identity + 2 * i, 3, "%02x", storage_->pool->header().identity[i]);
  }
  Status s = WriteFileAtomically(IdentityFileName(name_), std::string(identity) + "\n");
  if (s.ok()) s = WriteFileAtomically(OptionsFileName(name_), AllOptionsText());
  // For people only: a full disk must not keep a DB shut.
  if (s.IsNoSpace()) {
    log_->Write("open: %s", s.ToString().c_str());
    s = Status::OK();
  }
  log_->Write("open: %s, medium %s, last sequence %" PRIu64 ", format %u", name_.c_str(),
              pmlsm::ToString(storage_->pool->medium()), last_sequence_.load(), kFormatVersion);
  log_->Write("options:\n%s", AllOptionsText().c_str());
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
