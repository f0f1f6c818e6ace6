// Column families: creating, dropping, handles, and what all families share.
//
// A family exists if the manifest in force names it. Its ID is never given again, so records of a dropped family that
// are still in the log are known for what they are, whatever has its name by then. Created: 1. Publish a manifest that
// names it, with the log segment in use as its oldest. 2. Take writes. Dropped: 1. Publish a manifest without it. 2.
// Its runs are obsolete: their space comes back when the last handle and reader are gone. CRASH before 1: as it was.
// After it: done; what no manifest names is free space.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "db/column_family_handle.h"
#include "db/db_impl.h"

namespace pmlsm {
namespace {

constexpr size_t kFamilyNameMax = 255;

std::string Quoted(const std::string& name) { return "\"" + name + "\""; }

// What the manifest keeps of a family beside its level array.
uint64_t ManifestBytes(const ColumnFamily& family) {
  constexpr uint64_t kPadding = 2 * 8;  // of the two names
  return sizeof(FamilyHeader) + family.name.size() + strlen(family.options.comparator->Name()) + kPadding;
}

}  // namespace

ColumnFamilyHandleImpl::~ColumnFamilyHandleImpl() {
  if (db_ != nullptr) db_->NoteHandleGone(this);
}

Status DB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                                std::vector<ColumnFamilyHandle*>* handles) {
  handles->clear();
  for (const ColumnFamilyDescriptor& family : families) {
    ColumnFamilyHandle* handle = nullptr;
    Status s = CreateColumnFamily(family.options, family.name, &handle);
    if (!s.ok()) return s;
    handles->push_back(handle);
  }
  return Status::OK();
}

Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* family : families) {
    Status s = DropColumnFamily(family);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status CheckFamilyDescriptor(const ColumnFamilyDescriptor& family) {
  if (family.name.empty() || family.name.size() > kFamilyNameMax) {
    return Status::InvalidArgument("column family name of " + std::to_string(family.name.size()) + " bytes",
                                   "must have 1 to " + std::to_string(kFamilyNameMax));
  }
  Status s = family.options.Validate();
  if (s.ok() || family.name == kDefaultColumnFamilyName) return s;
  return Status::InvalidArgument("column family " + Quoted(family.name), s.getState());
}

// A family in its first state, without memtables and runs.
ColumnFamilyRef DBImpl::MakeFamily(uint32_t id, const ColumnFamilyDescriptor& descriptor) {
  const MergeChooser::Setting setting{storage_->pool->medium(), options_.failure_atomicity,
                                      options_.merge_order, options_.merge_destination};
  storage_->reads.push_back(std::make_unique<FamilyReads>());
  return std::make_shared<ColumnFamily>(id, descriptor.name, descriptor.options,
                                        DerivedSizes(descriptor.options, storage_->pool->header()), setting,
                                        storage_->reads.back().get());
}

// Of a new family, without runs.
FamilyState DBImpl::MakeFamilyState(const ColumnFamily& family) {
  FamilyState state;
  state.id = family.id;
  state.name = family.name;
  state.comparator = family.options.comparator->Name();
  return state;
}

void DBImpl::UpdateSharedSizes() {
  std::vector<DerivedSizes> sizes;
  for (const ColumnFamilyRef& family : families_) sizes.push_back(family->sizes);
  static const uint64_t kMachineBytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  sizes_ = SharedSizes(options_, storage_->pool->header(), sizes, kMachineBytes);
  storage_->routing.SetLimit(sizes_.routing_bytes);
  storage_->extents->SetReserve(sizes_.reserve_bytes, sizes_.flush_bytes);
  if (!sizes_.shares_memtables) default_family_->memtable_limit = default_family_->sizes.write_buffer_bytes;
}

ColumnFamilyHandle* DBImpl::NewHandle(const ColumnFamilyRef& family) {
  auto* const handle = new ColumnFamilyHandleImpl(this, family);
  handles_.insert(handle);
  ++family->handles;
  return handle;
}

// The family of a handle, dropped or not.
Status DBImpl::FamilyOf(const ColumnFamilyHandle* handle, ColumnFamily** family) const {
  if (handle == nullptr) {
    return Status::InvalidArgument("column family handle = null", "must be a handle of this DB");
  }
  const auto* const ours = static_cast<const ColumnFamilyHandleImpl*>(handle);
  if (ours->db() != this) return Status::InvalidArgument("column family handle", "belongs to another DB");
  *family = ours->family();
  return Status::OK();
}

Status DBImpl::DroppedError(const ColumnFamily& family) {
  return Status::InvalidArgument("column family " + Quoted(family.name), "was dropped");
}

// By ID; null if there is none, or it was dropped.
ColumnFamily* DBImpl::FindLive(uint32_t id) const {
  for (const ColumnFamilyRef& family : families_) {
    if (family->id == id) return family.get();
  }
  return nullptr;
}

// Half of a manifest is for the level arrays, a quarter for names, a quarter for log segments.
Status DBImpl::CheckManifestRoom() const {
  uint64_t names = 0;
  uint64_t slots = 0;
  for (const ColumnFamilyRef& family : families_) {
    names += ManifestBytes(*family);
    slots += family->SlotBytes(0);
  }
  if (names <= kManifestTwinBytes / 4 && slots <= kManifestTwinBytes / 2) return Status::OK();
  return Status::NotSupported("column families = " + std::to_string(families_.size()),
                              "their names and levels must have room in the manifest");
}

Status DBImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  *handle = nullptr;
  const ColumnFamilyDescriptor descriptor(name, options);
  Status s = CheckFamilyDescriptor(descriptor);
  if (!s.ok()) return s;
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  if (!background_error_.ok()) return background_error_;
  for (const ColumnFamilyRef& family : families_) {
    if (family->name == name) return Status::InvalidArgument("column family " + Quoted(name), "exists");
  }
  ColumnFamilyRef family;
  s = AddFamily(descriptor, &family);
  if (s.ok()) *handle = NewHandle(family);
  return s;
}

Status DBImpl::AddFamily(const ColumnFamilyDescriptor& descriptor, ColumnFamilyRef* added) {
  ManifestState next = state_;
  const ColumnFamilyRef family = MakeFamily(next.next_family_id++, descriptor);
  family->version = std::make_shared<const Version>(family->options.num_levels);
  family->StartMemTable(wal_->segment().number);
  next.families.push_back(MakeFamilyState(*family));
  next.families.back().flushed_sequence = last_sequence_.load(std::memory_order_relaxed);
  families_.push_back(family);
  Status s = CheckManifestRoom();
  if (s.ok()) s = PublishVersion(family.get(), family->version, &next);  // 1
  if (!s.ok()) {
    families_.pop_back();
    family->Close();
    return s;
  }
  UpdateSharedSizes();
  InstallView(family.get());  // 2
  log_->Write("%screated, column family %u", family->log_prefix.c_str(), family->id);
  *added = family;
  return s;
}

Status DBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  if (!s.ok()) return s;
  if (family == default_family_) {
    return Status::InvalidArgument("column family " + Quoted(family->name), "cannot be dropped");
  }
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  if (!background_error_.ok()) return background_error_;
  if (family->dropped) return DroppedError(*family);
  ManifestState next = state_;
  next.families.erase(std::remove_if(next.families.begin(), next.families.end(),
                                     [&](const FamilyState& state) { return state.id == family->id; }),
                      next.families.end());
  s = PublishState(&next);  // 1
  if (!s.ok()) return s;
  family->dropped = true;                                            // merges of it end at their next look
  for (int level = 0; level < family->version->levels(); ++level) {  // 2
    for (const PlacedRun& placed : family->version->runs(level)) {
      storage_->extents->Free(placed.descriptor);
      for (const TableRef& table : placed.run->tables()) table->MarkObsolete();
    }
  }
  families_.erase(std::find_if(families_.begin(), families_.end(),
                               [&](const ColumnFamilyRef& live) { return live.get() == family; }));
  UpdateSharedSizes();
  UpdatePace();
  log_->Write("%sdropped", family->log_prefix.c_str());
  work_.SignalAll();
  progress_.SignalAll();
  return s;
}

Status DBImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  if (!s.ok()) return s;
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument("column family handle", "of DefaultColumnFamily() belongs to the DB");
  }
  delete handle;
  return s;
}

// The last handle of a dropped family was all that held it, but for readers.
void DBImpl::NoteHandleGone(ColumnFamilyHandleImpl* handle) {
  MutexLock lock(&mutex_);
  handles_.erase(handle);
  ColumnFamily* const family = handle->family();
  if (--family->handles != 0 || !family->dropped || closed_) return;
  family->Close();
  storage_->Reclaim();
  work_.SignalAll();  // to look for what readers let go
  progress_.SignalAll();
}

void DBImpl::OrphanHandles() {
  MutexLock lock(&mutex_);
  for (ColumnFamilyHandleImpl* handle : handles_) handle->DBIsGone();
  handles_.clear();
}

}  // namespace pmlsm
