#include "pmlsm/merge_operator.h"

namespace pmlsm {

bool MergeOperator::PartialMergeMulti(const Slice& key, const std::vector<Slice>& operands,
                                      std::string* new_value) const {
  std::string gathered = operands.front().ToString();
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string both;
    if (!PartialMerge(key, gathered, operands[i], &both)) return false;
    gathered.swap(both);
  }
  new_value->swap(gathered);
  return true;
}

}  // namespace pmlsm
