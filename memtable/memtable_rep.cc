#include "memtable/memtable_rep.h"

#include "memtable/hash_rep.h"
#include "memtable/sorted_rep.h"
#include "util/check.h"

namespace pmlsm {

std::unique_ptr<MemTableRep> MemTableRep::New(MemTableType type, const Comparator* comparator) {
  switch (type) {
    case MemTableType::kSorted:
      return std::make_unique<SortedRep>(comparator);
    case MemTableType::kHash:
      return std::make_unique<HashRep>(comparator);
  }
  CHECK(!"a memtable type that Options::Validate refuses");
}

}  // namespace pmlsm
