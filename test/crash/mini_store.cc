#include "test/crash/mini_store.h"

#include <libpmem.h>

#include <cstring>

#include "util/hash.h"

namespace pmlsm::crash {
namespace {

constexpr char kLayout[] = "mini";
constexpr uint64_t kMagic = 0x6d696e69;
constexpr uint64_t kSegmentBytes = 16 << 10;
constexpr size_t kLineBytes = 64;

struct RecordHeader {
  uint64_t checksum;  // of the value; seed: the number
  uint64_t number;
  uint64_t bytes;  // of the value
};

uint64_t RecordBytes(uint64_t value_bytes) { return (sizeof(RecordHeader) + value_bytes + 7) / 8 * 8; }

}  // namespace

struct MiniStore::Segment {
  PMEMoid next;
  uint64_t offset;  // behind the last record
  uint64_t number;
  uint64_t reserved[4];
  char records[kSegmentBytes];
};

struct MiniStore::Root {
  PMEMoid head;
  uint64_t segments;
  uint64_t magic;
};

bool MiniStore::Create(const std::string& path, size_t bytes) {
  pool_ = pmemobj_create(path.c_str(), kLayout, bytes, 0600);
  return pool_ != nullptr && LoadRoot();
}

bool MiniStore::Open(const std::string& path) {
  pool_ = pmemobj_open(path.c_str(), kLayout);
  return pool_ != nullptr && LoadRoot();
}

void MiniStore::Close() {
  if (pool_ != nullptr) pmemobj_close(pool_);
  pool_ = nullptr;
}

bool MiniStore::LoadRoot() {
  const PMEMoid root = pmemobj_root(pool_, sizeof(Root));
  if (OID_IS_NULL(root)) return false;
  root_ = static_cast<Root*>(pmemobj_direct(root));
  return true;
}

bool MiniStore::NewSegment() {
  if (pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) != 0) return false;
  pmemobj_tx_set_failure_behavior(POBJ_TX_FAILURE_RETURN);
  if (bug_ != PlantedBug::kRangeNotInTransaction) pmemobj_tx_add_range_direct(root_, sizeof(*root_));
  const PMEMoid id = pmemobj_tx_zalloc(sizeof(Segment), 1);
  if (!OID_IS_NULL(id)) {
    Segment* const segment = static_cast<Segment*>(pmemobj_direct(id));
    segment->next = root_->head;
    segment->number = root_->segments;
    root_->head = id;
    ++root_->segments;
    root_->magic = kMagic;
    segment_ = segment;
    pmemobj_tx_commit();
  }
  const bool done = pmemobj_tx_end() == 0;
  if (bug_ == PlantedBug::kRangeNotInTransaction) pmem_persist(root_, sizeof(*root_));
  return done;
}

// 1. Append the record, fenced. 2. Persist the offset behind it.
bool MiniStore::Put(uint64_t number, const std::string& value) {
  const uint64_t bytes = RecordBytes(value.size());
  if ((segment_ == nullptr || segment_->offset + bytes > kSegmentBytes) && !NewSegment()) return false;
  RecordHeader header = {Hash64(value.data(), value.size(), number), number, value.size()};
  std::string record(reinterpret_cast<const char*>(&header), sizeof(header));
  record.append(value);
  record.resize(bytes);
  const uint64_t end = segment_->offset + bytes;
  char* const to = segment_->records + segment_->offset;
  if (bug_ == PlantedBug::kPublishFirst) PublishOffset(end);
  Append(to, record);
  if (bug_ != PlantedBug::kPublishFirst) PublishOffset(end);
  return true;
}

void MiniStore::Append(char* to, const std::string& record) {
  switch (bug_) {
    case PlantedBug::kNoFenceBetween:
      pmem_memcpy_nodrain(to, record.data(), record.size());
      break;
    case PlantedBug::kLastLineUnflushed:
      memcpy(to, record.data(), record.size());
      pmem_persist(to, record.size() > kLineBytes ? record.size() - kLineBytes : 8);
      break;
    case PlantedBug::kChangedAfterFlush:
      memcpy(to, record.data(), record.size());
      reinterpret_cast<RecordHeader*>(to)->checksum = 0;
      pmem_flush(to, record.size());
      memcpy(to, record.data(), sizeof(uint64_t));
      pmem_drain();
      break;
    default:
      pmem_memcpy_persist(to, record.data(), record.size());
  }
}

void MiniStore::PublishOffset(uint64_t offset) {
  __atomic_store_n(&segment_->offset, offset, __ATOMIC_RELEASE);
  if (bug_ != PlantedBug::kOffsetUnflushed) pmem_persist(&segment_->offset, sizeof(segment_->offset));
}

std::string MiniStore::Scan(std::vector<uint64_t>* numbers) const {
  if (OID_IS_NULL(root_->head)) return root_->segments == 0 ? "" : "segments without a head";
  if (root_->magic != kMagic) return "magic";
  uint64_t left = root_->segments;
  for (PMEMoid id = root_->head; !OID_IS_NULL(id);) {
    const Segment* const segment = static_cast<const Segment*>(pmemobj_direct(id));
    if (left-- == 0 || segment->number != left) return "number of a segment";
    if (segment->offset > kSegmentBytes) return "offset of a segment";
    for (uint64_t place = 0; place < segment->offset;) {
      RecordHeader header;
      memcpy(&header, segment->records + place, sizeof(header));
      const char* const value = segment->records + place + sizeof(header);
      if (header.bytes > segment->offset - place - sizeof(header)) return "size of a record";
      if (Hash64(value, header.bytes, header.number) != header.checksum) return "checksum of a record";
      numbers->push_back(header.number);
      place += RecordBytes(header.bytes);
    }
    id = segment->next;
  }
  return left == 0 ? "" : "a segment is missing";
}

}  // namespace pmlsm::crash
