// The handle that DBImpl makes. It holds the family; the DB forgets a handle that is destroyed, and tells those that
// outlive it.
//
// Thread safety: as ColumnFamilyHandle.
#pragma once

#include <string>
#include <utility>

#include "db/column_family.h"
#include "pmlsm/column_family.h"

namespace pmlsm {

class DBImpl;

class ColumnFamilyHandleImpl final : public ColumnFamilyHandle {
 public:
  ColumnFamilyHandleImpl(DBImpl* db, ColumnFamilyRef family) : db_(db), family_(std::move(family)) {}
  ~ColumnFamilyHandleImpl() override;

  const std::string& GetName() const override { return family_->name; }
  uint32_t GetID() const override { return family_->id; }
  Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const override {
    *descriptor = ColumnFamilyDescriptor(family_->name, family_->options);
    return Status::OK();
  }
  const Comparator* GetComparator() const override { return family_->options.comparator; }

  const DBImpl* db() const { return db_; }
  ColumnFamily* family() const { return family_.get(); }
  void DBIsGone() { db_ = nullptr; }

 private:
  DBImpl* db_;  // null once it is gone
  const ColumnFamilyRef family_;
};

}  // namespace pmlsm
