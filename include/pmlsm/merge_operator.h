// MergeOperator: what the operands of merges mean. The value of a key is FullMerge of the value beneath its
// operands (or of nothing) and the operands.
//
// Thread safety: called from several threads at once. The object must outlive the DB. No exception may leave
// it. The outcome may depend on the arguments only: it is computed again by each read, until a merge folds it.
#pragma once

#include <string>
#include <vector>

#include "pmlsm/export.h"
#include "pmlsm/slice.h"

namespace pmlsm {

class PMLSM_EXPORT MergeOperator {
 public:
  virtual ~MergeOperator() = default;

  virtual const char* Name() const = 0;

  // Applies `operands`, oldest first, to *existing_value; null if there is none. *new_value is empty before.
  // False: the operands make no sense; a read answers Corruption, and a merge of runs ends with it.
  virtual bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                         std::string* new_value) const = 0;

  // Makes one operand of two neighbours, the left one older. False: they stay as they are.
  virtual bool PartialMerge(const Slice& key, const Slice& left, const Slice& right,
                            std::string* new_value) const {
    return false;
  }
};

}  // namespace pmlsm
