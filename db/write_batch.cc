#include "pmlsm/write_batch.h"

#include "db/write_batch_format.h"
#include "pmlsm/types.h"

namespace pmlsm {
namespace {

// A batch made from bytes may be shorter: what was appended to it would be taken for its header.
Status CheckHeader(const std::string& rep) {
  if (rep.size() >= kBatchHeaderBytes) return Status::OK();
  return Status::Corruption("write batch", "shorter than its header");
}

void AppendRecord(std::string* rep, ValueType type, uint32_t family, const Slice& key, const Slice& value) {
  const size_t before = rep->size();
  rep->resize(before + BatchRecordBytes(type, family, key, value));
  StoreBatchRecord(rep->data() + before, type, family, key, value);
  StoreFixed<uint32_t>(rep->data() + kBatchCountPlace,
                       LoadFixed<uint32_t>(rep->data() + kBatchCountPlace) + 1);
}

uint32_t IdOf(const ColumnFamilyHandle* family) {
  return family == nullptr ? kDefaultFamily : family->GetID();
}

Status NotTaken(uint32_t family) {
  return Status::InvalidArgument("write batch handler",
                                 "does not take column family " + std::to_string(family));
}

Status Hand(const BatchRecord& record, WriteBatch::Handler* handler) {
  switch (record.type) {
    case ValueType::kValue:
      return handler->PutCF(record.family, record.key, record.value);
    case ValueType::kSingleDeletion:
      return handler->SingleDeleteCF(record.family, record.key);
    default:
      return handler->DeleteCF(record.family, record.key);
  }
}

}  // namespace

Status WriteBatch::Handler::PutCF(uint32_t family, const Slice& key, const Slice& value) {
  if (family != kDefaultFamily) return NotTaken(family);
  Put(key, value);
  return Status::OK();
}

Status WriteBatch::Handler::DeleteCF(uint32_t family, const Slice& key) {
  if (family != kDefaultFamily) return NotTaken(family);
  Delete(key);
  return Status::OK();
}

Status WriteBatch::Handler::SingleDeleteCF(uint32_t family, const Slice& key) {
  return DeleteCF(family, key);
}

WriteBatch::WriteBatch(size_t reserved_bytes) {
  rep_.reserve(reserved_bytes);
  Clear();
}

WriteBatch::WriteBatch(std::string rep) : rep_(std::move(rep)) {}

void WriteBatch::Clear() {
  rep_.assign(kBatchHeaderBytes, '\0');
  save_points_.clear();
}

Status WriteBatch::Put(const Slice& key, const Slice& value) { return Put(nullptr, key, value); }

Status WriteBatch::Delete(const Slice& key) { return Delete(nullptr, key); }

Status WriteBatch::SingleDelete(const Slice& key) { return SingleDelete(nullptr, key); }

Status WriteBatch::Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
  Status s = CheckHeader(rep_);
  if (s.ok()) s = CheckKeyBytes(key);
  if (s.ok()) s = CheckValueBytes(value);
  if (s.ok()) AppendRecord(&rep_, ValueType::kValue, IdOf(family), key, value);
  return s;
}

Status WriteBatch::Delete(ColumnFamilyHandle* family, const Slice& key) {
  Status s = CheckHeader(rep_);
  if (s.ok()) s = CheckKeyBytes(key);
  if (s.ok()) AppendRecord(&rep_, ValueType::kDeletion, IdOf(family), key, Slice());
  return s;
}

Status WriteBatch::SingleDelete(ColumnFamilyHandle* family, const Slice& key) {
  Status s = CheckHeader(rep_);
  if (s.ok()) s = CheckKeyBytes(key);
  if (s.ok()) AppendRecord(&rep_, ValueType::kSingleDeletion, IdOf(family), key, Slice());
  return s;
}

void WriteBatch::SetSavePoint() { save_points_.push_back({rep_.size(), Count()}); }

Status WriteBatch::RollbackToSavePoint() {
  if (save_points_.empty()) return Status::NotFound("no save point");
  const SavePoint point = save_points_.back();
  save_points_.pop_back();
  if (!CheckHeader(rep_).ok()) return Status::OK();  // nothing could be added
  rep_.resize(point.bytes);
  StoreFixed<uint32_t>(rep_.data() + kBatchCountPlace, point.count);
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (save_points_.empty()) return Status::NotFound("no save point");
  save_points_.pop_back();
  return Status::OK();
}

uint32_t WriteBatch::Count() const {
  return CheckHeader(rep_).ok() ? LoadFixed<uint32_t>(rep_.data() + kBatchCountPlace) : 0;
}

Status WriteBatch::Iterate(Handler* handler) const {
  const Status header = CheckHeader(rep_);
  if (!header.ok()) return header;
  Slice records(rep_.data() + kBatchHeaderBytes, rep_.size() - kBatchHeaderBytes);
  uint32_t seen = 0;
  for (; !records.empty() && handler->Continue(); ++seen) {
    BatchRecord record;
    Status s = TakeBatchRecord(&records, &record);
    if (!s.ok()) return s;
    s = Hand(record, handler);
    if (!s.ok()) return s;
  }
  if (records.empty() && seen != Count())
    return Status::Corruption("write batch", "count differs from its records");
  return Status::OK();
}

}  // namespace pmlsm
