// Column families: maps of their own in one DB, each with its own order of keys, memtables, runs and options. They
// share the log, and so a WriteBatch changes several of them as one, and one flush of the log makes all durable.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "pmlsm/comparator.h"
#include "pmlsm/export.h"
#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

// The family that every DB has, that cannot be dropped, and that calls without a handle mean.
inline constexpr char kDefaultColumnFamilyName[] = "default";

// A name is 1 to 255 bytes of any kind.
struct ColumnFamilyDescriptor {
  std::string name = kDefaultColumnFamilyName;
  ColumnFamilyOptions options;

  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(std::string name, const ColumnFamilyOptions& options)
      : name(std::move(name)), options(options) {}
};

// Names a family to the calls of the DB that made the handle. It holds what it names: after DropColumnFamily reads
// and new iterators still work by it, and the family's space comes back when the last handle, iterator and pinned
// slice are gone.
//
// Given back by DB::DestroyColumnFamilyHandle or deleted; not while a call uses it. That may be after Close, and after
// the DB is gone: all that still works then is what this class has.
//
// Thread safety: immutable, so any thread may use it.
class PMLSM_EXPORT ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;
  ColumnFamilyHandle(const ColumnFamilyHandle&) = delete;
  ColumnFamilyHandle& operator=(const ColumnFamilyHandle&) = delete;

  virtual const std::string& GetName() const = 0;
  // 0 for the default family. Never given to another family of the DB.
  virtual uint32_t GetID() const = 0;
  // Name, and options as they were given.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const = 0;
  virtual const Comparator* GetComparator() const = 0;

 protected:
  ColumnFamilyHandle() = default;
};

}  // namespace pmlsm
