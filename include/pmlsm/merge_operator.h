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
  // False: the operands make no sense. A read of the key then answers Corruption; merges of runs keep value and
  // operands as they are, so that nothing else is held up and a better operator may make sense of them later.
  virtual bool FullMerge(const Slice& key, const Slice* existing_value, const std::vector<Slice>& operands,
                         std::string* new_value) const = 0;

  // Makes one operand of two neighbours, the left one older. *new_value is empty before. False: they stay as they
  // are.
  virtual bool PartialMerge(const Slice& key, const Slice& left, const Slice& right,
                            std::string* new_value) const {
    return false;
  }

  // The same for two or more neighbours, oldest first. By default pair by pair, which copies what has been
  // gathered once an operand; an operator whose operands grow does better by its own.
  virtual bool PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                                 std::string* new_value) const;
};

}  // namespace pmlsm
