// WriteBatch: a list of changes that DB::Write applies as one, atomically and in their order.
//
// Thread safety: const methods may run at the same time; anything else needs the caller's lock. Owns its
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/column_family.h"
#include "pmlsm/export.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm {

class PMLSM_EXPORT WriteBatch {
 public:
  explicit WriteBatch(size_t reserved_bytes = 0);
  // From what Data() returned; checked when it is iterated or written.
  explicit WriteBatch(std::string rep);

  // A key or value over its limit (types.h) is InvalidArgument and leaves the batch as it was; so does
  // Corruption, if the batch has no header: made from too few bytes, or moved from (Clear makes it usable).
  Status Put(const Slice& key, const Slice& value);
  Status Delete(const Slice& key);
  Status SingleDelete(const Slice& key);  // for keys that were put once: DB::SingleDelete
  // In a column family; null = the default one. The batch remembers its ID, not the handle.
  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value);
  Status Delete(ColumnFamilyHandle* family, const Slice& key);
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key);
  void Clear();

  // Save points nest. RollbackToSavePoint takes back all that came after the newest one and drops it;
  // PopSavePoint only drops it. NotFound if there is none.
  void SetSavePoint();
  Status RollbackToSavePoint();
  Status PopSavePoint();

  // Called for each change in order; a false Continue() ends the walk with OK, an error ends it with that. The calls
  // with a family's ID come first; unless overridden they pass the default family's changes on to the others, and
  // answer InvalidArgument for other families.
  class PMLSM_EXPORT Handler {
   public:
    virtual ~Handler() = default;
    virtual Status PutCF(uint32_t family, const Slice& key, const Slice& value);
    virtual Status DeleteCF(uint32_t family, const Slice& key);
    // Passes it on to DeleteCF, unless overridden.
    virtual Status SingleDeleteCF(uint32_t family, const Slice& key);
    virtual void Put(const Slice& key, const Slice& value) = 0;
    virtual void Delete(const Slice& key) = 0;
    virtual bool Continue() { return true; }
  };
  // Corruption if the bytes are not a batch; NotSupported if a record type is not built yet; or what the handler
  // answers.
  Status Iterate(Handler* handler) const;

  uint32_t Count() const;
  size_t GetDataSize() const { return rep_.size(); }
  // The batch as bytes (doc/FORMAT.md, "Write batch").
  const std::string& Data() const { return rep_; }

 private:
  struct SavePoint {
    size_t bytes;
    uint32_t count;
  };
  std::string rep_;
  std::vector<SavePoint> save_points_;
};

}  // namespace pmlsm
