// The families of an open (db_open.cc): those that the manifest names must all be asked for; those that are asked for
// and not there are created, if that is asked for as well.
#include <algorithm>
#include <set>

#include "db/db_impl.h"
#include "db/write_batch_format.h"

namespace pmlsm {

Status DBImpl::CheckDescriptors(const std::vector<ColumnFamilyDescriptor>& families) {
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : families) {
    Status s = CheckFamilyDescriptor(family);
    if (!s.ok()) return s;
    if (!names.insert(family.name).second) {
      return Status::InvalidArgument("column family \"" + family.name + "\"", "is there twice");
    }
  }
  if (names.count(kDefaultColumnFamilyName) != 0) return Status::OK();
  return Status::InvalidArgument("column families", "\"default\" must be among them");
}

Status DBImpl::MissingFamilyError(const std::vector<ColumnFamilyDescriptor>& families) {
  std::string names;
  for (const ColumnFamilyDescriptor& family : families) {
    if (family.name != kDefaultColumnFamilyName) names += (names.empty() ? "" : ", ") + family.name;
  }
  return Status::InvalidArgument(
      "column families that do not exist (create_missing_column_families is false)", names);
}

// A new DB has the default family; others that are asked for come later.
Status DBImpl::PublishFirstState() {
  for (const ColumnFamilyDescriptor& asked : asked_families_) {
    if (asked.name != kDefaultColumnFamilyName) continue;
    families_ = {MakeFamily(kDefaultFamily, asked)};
    default_family_ = families_[0].get();
  }
  ManifestState first = state_;
  first.families.push_back(MakeFamilyState(*default_family_));
  return PublishVersion(default_family_, std::make_shared<const Version>(default_family_->options.num_levels),
                        &first);
}

// All that the manifest names, and no others.
Status DBImpl::LoadFamilies() {
  std::string not_opened;
  for (const FamilyState& stored : state_.families) {
    const auto asked =
        std::find_if(asked_families_.begin(), asked_families_.end(),
                     [&](const ColumnFamilyDescriptor& each) { return each.name == stored.name; });
    if (asked == asked_families_.end()) {
      not_opened += (not_opened.empty() ? "" : ", ") + stored.name;
      continue;
    }
    families_.push_back(MakeFamily(stored.id, *asked));
    if (stored.id == kDefaultFamily) default_family_ = families_.back().get();
  }
  if (!not_opened.empty()) return Status::InvalidArgument("column families not opened", not_opened);
  if (families_.size() < asked_families_.size() && !options_.create_missing_column_families) {
    return MissingFamilyError(MissingFamilies());
  }
  Status s =
      default_family_ == nullptr ? Status::Corruption("manifest", "no default column family") : Status::OK();
  for (size_t i = 0; s.ok() && i < families_.size(); ++i)
    s = LoadFamily(state_.families[i], families_[i].get());
  return s.ok() ? CheckManifestRoom() : s;
}

// Asked for, but not there.
std::vector<ColumnFamilyDescriptor> DBImpl::MissingFamilies() const {
  std::vector<ColumnFamilyDescriptor> missing;
  for (const ColumnFamilyDescriptor& asked : asked_families_) {
    const bool there = std::any_of(families_.begin(), families_.end(),
                                   [&](const ColumnFamilyRef& family) { return family->name == asked.name; });
    if (!there) missing.push_back(asked);
  }
  return missing;
}

// As by CreateColumnFamily, after recovery.
Status DBImpl::CreateMissingFamilies() {
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  Status s;
  for (const ColumnFamilyDescriptor& missing : MissingFamilies()) {
    ColumnFamilyRef family;
    if (s.ok()) s = AddFamily(missing, &family);
  }
  return s;
}

std::vector<ColumnFamilyHandle*> DBImpl::NewHandles(const std::vector<ColumnFamilyDescriptor>& families) {
  MutexLock lock(&mutex_);
  std::vector<ColumnFamilyHandle*> handles;
  for (const ColumnFamilyDescriptor& asked : families) {
    for (const ColumnFamilyRef& family : families_) {
      if (family->name == asked.name) handles.push_back(NewHandle(family));
    }
  }
  return handles;
}

Status DBImpl::CheckComparator(const std::string& stored, const ColumnFamily& family) const {
  if (stored == family.options.comparator->Name()) return Status::OK();
  const std::string of = family.id == kDefaultFamily ? "" : " of column family \"" + family.name + "\"";
  return Status::InvalidArgument("comparator" + of + ": the DB was made with \"" + stored +
                                     "\", options have \"" + family.options.comparator->Name() + "\"",
                                 name_);
}

Status DBImpl::LoadFamily(const FamilyState& stored, ColumnFamily* family) {
  Status s = CheckComparator(stored.comparator, *family);
  if (!s.ok()) return s;
  const int levels = std::max<int>(family->options.num_levels, static_cast<int>(stored.levels.size()));
  const TableOptions table_options{family->options.comparator, family->options.node_bytes,
                                   family->options.filter_bits_per_key, &storage_->routing};
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

}  // namespace pmlsm
