#include "levels/run.h"

#include <algorithm>
#include <cstring>

#include "levels/run_format.h"
#include "levels/run_iterator.h"
#include "util/check.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

Slice CommonPrefix(const Slice& a, const Slice& b) {
  const size_t bytes_max = std::min(a.size(), b.size());
  size_t bytes = 0;
  while (bytes < bytes_max && a[bytes] == b[bytes]) ++bytes;
  return Slice(a.data(), bytes);
}

Slice Suffix(const Slice& key, size_t from) { return Slice(key.data() + from, key.size() - from); }

}  // namespace

TableHandle::~TableHandle() {
  if (obsolete_.load(std::memory_order_acquire)) extents_->Free(table_->span());
}

Run::Run(const Comparator* comparator, uint64_t number, std::vector<TableRef> tables, bool has_live_lower,
         std::string live_lower)
    : comparator_(comparator),
      number_(number),
      tables_(std::move(tables)),
      has_live_lower_(has_live_lower),
      live_lower_(std::move(live_lower)) {
  CHECK(!tables_.empty());
  const bool bytewise = comparator == BytewiseComparator();
  if (bytewise) prefix_ = CommonPrefix(tables_.front()->table().smallest(), largest());
  for (const TableRef& handle : tables_) {
    const Table& table = handle->table();
    direct_.push_back(&table);
    bytes_ += table.span().bytes;
    entries_ += table.header().entries;
    tombstones_ += table.header().tombstones;
    sequence_max_ = std::max<SequenceNumber>(sequence_max_, table.header().sequence_max);
    if (bytewise) largest_heads_.push_back(KeyHead(Suffix(table.largest(), prefix_.size())));
  }
}

Slice Run::smallest() const {
  const Slice first = tables_.front()->table().smallest();
  return BelowLive(first) ? Slice(live_lower_) : first;
}

Slice Run::largest() const { return tables_.back()->table().largest(); }

bool Run::Overlaps(const Slice* begin, const Slice* end) const {
  const size_t table = begin == nullptr || BelowLive(*begin) ? 0 : FindTable(*begin);
  if (table == tables_.size()) return false;
  if (end == nullptr) return true;
  return comparator_->Compare(table == 0 ? smallest() : tables_[table]->table().smallest(), *end) <= 0;
}

size_t Run::FindTable(const Slice& key) const {
  size_t low = 0;
  size_t high = tables_.size();
  if (!largest_heads_.empty()) {
    if (!key.starts_with(prefix_)) return key.compare(prefix_) < 0 ? low : high;
    // First head >= the key's, without a branch to mispredict; then, of the tables with that very head, by their
    // keys.
    const uint64_t head = KeyHead(Suffix(key, prefix_.size()));
    const uint64_t* const heads = largest_heads_.data();
    for (size_t left = high; left > 0;) {
      const size_t half = (left + 1) / 2;
      const bool below = heads[low + half - 1] < head;
      low = below ? low + half : low;
      left = below ? left - half : half - 1;
    }
    if (low == high || heads[low] != head) return low;
    high = std::upper_bound(heads + low, heads + high, head) - heads;
  }
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (comparator_->Compare(tables_[middle]->table().largest(), key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Status Run::FinishGet(size_t started, const Slice& key, uint64_t key_hash, SequenceNumber snapshot,
                      bool verify, Entry* entry, bool* found) const {
  *found = false;
  for (size_t i = started; i < direct_.size(); ++i) {
    const Table& table = *direct_[i];
    Status s = table.Get(key, key_hash, snapshot, verify, entry, found);
    if (!s.ok() || *found) return s;
    // Older versions may be in the next table, if the key is this one's last.
    if (table.largest() != key) break;
  }
  return Status::OK();
}

std::unique_ptr<InternalIterator> Run::NewIterator(bool verify) const {
  return std::make_unique<RunIterator>(this, verify);
}

Status Run::Check() const {
  const std::string name = "run " + std::to_string(number_);
  for (size_t i = 0; i < tables_.size(); ++i) {
    const Table& table = tables_[i]->table();
    if (Status s = table.Check(); !s.ok()) return s;
    if (BelowLive(table.largest())) return Status::Corruption(name, "a table lies wholly below live_lower");
    if (i == 0) continue;
    const int order = comparator_->Compare(tables_[i - 1]->table().largest(), table.smallest());
    if (order > 0) return Status::Corruption(name, "tables overlap");
    if (order < 0) continue;
    const std::unique_ptr<InternalIterator> before = tables_[i - 1]->table().NewIterator(true);
    const std::unique_ptr<InternalIterator> after = table.NewIterator(true);
    before->SeekToLast();
    after->SeekToFirst();
    if (!before->valid()) return before->status();
    if (!after->valid()) return after->status();
    if (before->entry().tag <= after->entry().tag) {
      return Status::Corruption(name, "versions of a key do not descend from table to table");
    }
  }
  return Status::OK();
}

std::string Run::EncodeDescriptor() const {
  RunHeader header = {};
  header.magic = kRunMagic;
  header.format_version = kFormatVersion;
  header.number = number_;
  header.descriptor_bytes = sizeof(header) + tables_.size() * sizeof(TableReference) + live_lower_.size();
  header.entries = entries_;
  header.spans_bytes = bytes_;
  header.tables = static_cast<uint32_t>(tables_.size());
  header.flags = has_live_lower_ ? kRunHasLiveLower : 0;
  header.live_lower_bytes = static_cast<uint32_t>(live_lower_.size());
  std::string descriptor(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const TableRef& handle : tables_) {
    const Table& table = handle->table();
    TableReference reference = {};
    reference.span_offset = table.span().offset;
    reference.span_bytes = table.span().bytes;
    reference.table_number = table.header().table_number;
    reference.header_checksum = table.header().checksum;
    descriptor.append(reinterpret_cast<const char*>(&reference), sizeof(reference));
  }
  descriptor += live_lower_;
  StoreFixed(&descriptor[offsetof(RunHeader, checksum)], Checksum32(descriptor.data(), descriptor.size()));
  return descriptor;
}

}  // namespace pmlsm
