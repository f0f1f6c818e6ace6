#include "levels/table.h"

#include <algorithm>
#include <cstring>

#include "levels/table_iterator.h"
#include "pmem/pool_format.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr uint32_t kIndexLevelsMax = 32;

// A node is fetched whole before its header is looked at: its lines then arrive together.
constexpr size_t kPrefetchBytesMax = 1024;

// The first field that is wrong, or null.
const char* CheckHeader(const TableHeader& header, uint64_t span_bytes) {
  if (header.magic != kTableMagic) return "magic";
  if (header.format_version != kFormatVersion) return "format version";
  const auto outside = [&header](uint64_t place, uint64_t bytes) {
    return place < sizeof(TableHeader) || place > header.table_bytes || bytes > header.table_bytes - place;
  };
  if (header.table_bytes > span_bytes || header.table_bytes < sizeof(TableHeader)) return "table_bytes";
  if (outside(header.keys_place, uint64_t{header.smallest_bytes} + header.largest_bytes)) return "keys_place";
  return nullptr;
}

// What the checksum vouches for; checked all the same, since a crash or an endless loop would follow.
const char* CheckRegions(const TableHeader& header) {
  const auto outside = [&header](uint64_t place, uint64_t bytes) {
    return place % kLineBytes != 0 || bytes % kLineBytes != 0 || place < sizeof(TableHeader) ||
           place > header.table_bytes || bytes > header.table_bytes - place;
  };
  if (outside(header.nodes_place, header.nodes_bytes) || header.nodes_bytes == 0) return "nodes_place";
  if (outside(header.filter_place, header.filter_bytes)) return "filter_place";
  if (outside(header.index_place, header.index_bytes) || header.index_bytes == 0) return "index_place";
  if (header.index_levels == 0 || header.index_levels > kIndexLevelsMax) return "index_levels";
  if (header.nodes == 0 || header.entries < header.nodes) return "nodes";
  return nullptr;
}

Region RegionOf(const TableHeader& header, const char* start, uint64_t place, uint64_t bytes) {
  return Region{start, place, place + bytes, TableSeed(header.table_number)};
}

}  // namespace

Status Table::Open(const TableOptions& options, const char* start, Span span, std::unique_ptr<Table>* table) {
  TableHeader header;
  if (span.bytes < sizeof(header)) return Status::Corruption("table", "span is smaller than a header");
  memcpy(&header, start, sizeof(header));
  const std::string name = "table " + std::to_string(header.table_number);
  if (const char* field = CheckHeader(header, span.bytes)) {
    return Status::Corruption(name, std::string("header: ") + field);
  }
  TableHeader sealed_header = header;
  sealed_header.checksum = 0;
  std::string sealed(reinterpret_cast<const char*>(&sealed_header), sizeof(sealed_header));
  sealed.append(start + header.keys_place, size_t{header.smallest_bytes} + header.largest_bytes);
  if (Checksum32(sealed.data(), sealed.size(), header.table_number) != header.checksum) {
    return Status::Corruption(name, "header: checksum");
  }
  if (const char* field = CheckRegions(header)) {
    return Status::Corruption(name, std::string("header: ") + field);
  }
  table->reset(new Table(options, start, span, header));
  return Status::OK();
}

Table::Table(const TableOptions& options, const char* start, Span span, const TableHeader& header)
    : routing_budget_(TableRouting::Fits(header) ? options.routing_budget : nullptr),
      filter_(RegionOf(header, start, header.filter_place, header.filter_bytes), header.filter_probes),
      comparator_(options.comparator),
      bytewise_(options.comparator == BytewiseComparator()),
      prefetch_bytes_(static_cast<uint32_t>(RoundUpToLine(std::min(options.node_bytes, kPrefetchBytesMax)))),
      nodes_(RegionOf(header, start, header.nodes_place, header.nodes_bytes)),
      index_(RegionOf(header, start, header.index_place, header.index_bytes), header.index_root_place,
             header.index_levels, options.comparator),
      header_(header),
      start_(start),
      span_(span),
      smallest_(start + header.keys_place, header.smallest_bytes),
      largest_(start + header.keys_place + header.smallest_bytes, header.largest_bytes) {}

Table::~Table() {
  const TableRouting* const routing = this->routing();
  if (routing == nullptr) return;
  delete routing;
  routing_budget_->Return(TableRouting::BytesFor(header_));
}

Status Table::Corrupt(Damage damage, const char* piece) const {
  return Status::Corruption(
      "table " + std::to_string(header_.table_number),
      std::string(piece) + " at place " + std::to_string(damage.place) + ": " + damage.what);
}

bool Table::MayContain(uint64_t key_hash) const {
  bool damaged;
  const bool may = filter_.MayContain(key_hash, &damaged);
  if (__builtin_expect(damaged, 0)) damaged_filter_lines_.fetch_add(1, std::memory_order_relaxed);
  return may;
}

Damage Table::NextNode(bool verify, Index::Cursor* at, Node* node) const {
  const uint32_t ordinal = node->ordinal() + 1;
  if (Damage damage = index_.Next(at)) return damage;
  if (Damage damage = node->Load(nodes_, at->place(), verify)) return damage;
  if (node->ordinal() != ordinal) return {"node is not the next one", at->place()};
  return {};
}

Damage Table::PrevNode(bool verify, Index::Cursor* at, Node* node) const {
  const uint32_t ordinal = node->ordinal() - 1;
  if (Damage damage = index_.Prev(at)) return damage;
  if (Damage damage = node->Load(nodes_, at->place(), verify)) return damage;
  if (node->ordinal() != ordinal) return {"node is not the previous one", at->place()};
  return {};
}

Status Table::Get(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
                  bool* found) const {
  *found = false;
  if (const TableRouting* routing = this->routing()) {
    Hit hit;
    if (Damage damage = FindRouted(*routing, key, key_hash, snapshot, verify, entry, &hit)) {
      return Corrupt(damage, "entry");
    }
    *found = hit == Hit::kFound;
    if (hit != Hit::kTooNew) return Status::OK();
  } else {
    if (routing_budget_ != nullptr) NoteUnroutedGet();
    if (!MayContain(key_hash)) return Status::OK();
  }
  if (Damage damage = Find(key, key_hash, snapshot, verify, entry, found)) return Corrupt(damage);
  return Status::OK();
}

Status Table::SampleKey(uint64_t number, std::string* key) const {
  Index::Cursor at;
  if (Damage damage = index_.Any(number, &at)) return Corrupt(damage);
  Node node;
  if (Damage damage = node.Load(nodes_, at.place(), false)) return Corrupt(damage);
  Slice sampled;
  Tag tag;
  if (Damage damage = node.GetKey(static_cast<uint32_t>(number % node.count()), &sampled, &tag)) {
    return Corrupt(damage);
  }
  *key = sampled.ToString();
  return Status::OK();
}

// 1. The index names the first node that may hold the key. 2. The fingerprints there name candidates. 3. If
// all versions there are too new, they may continue in the next node. What a damaged index does is seen in
// step 2: the key's versions then seem to start before the node, or the key's neighbours are not around it.
Damage Table::Find(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
                   bool* found) const {
  Index::Cursor at;
  if (Damage damage = index_.Find(key, &at)) return damage;
  PrefetchNode(at.place());
  Node node;
  if (Damage damage = node.Load(nodes_, at.place(), verify)) return damage;
  for (bool first_node = true;; first_node = false) {
    Node::Versions versions;
    if (Damage damage = node.Find(key, Fingerprint(key_hash), snapshot, verify, entry, &versions))
      return damage;
    if (!versions.any) {
      if (!verify) return {};
      if (!first_node) return {"versions of a key do not continue", node.place()};
      return ProveAbsent(key, at, node);
    }
    if (first_node && versions.first == 0 && node.first_continues()) {
      return {"index leads past the key", node.place()};
    }
    if (versions.visible) {
      *found = true;
      return {};
    }
    if (versions.last + 1 != node.count() || !node.last_continues()) return {};
    if (Damage damage = NextNode(verify, &at, &node)) return damage;
  }
}

// The key is not in `node`. It is nowhere if the verified keys around its place are its neighbours.
Damage Table::ProveAbsent(const Slice& key, Index::Cursor at, const Node& node) const {
  Entry neighbour;
  if (Damage damage = node.GetHead(0, true, &neighbour)) return damage;
  if (CompareKeys(comparator_, bytewise_, key, neighbour.key) < 0) {
    if (node.ordinal() == 0) return {};
    Node previous = node;
    if (Damage damage = PrevNode(true, &at, &previous)) return damage;
    if (Damage damage = previous.GetHead(previous.count() - 1, true, &neighbour)) return damage;
    if (CompareKeys(comparator_, bytewise_, neighbour.key, key) < 0) return {};
    return {"index leads past the key", node.place()};
  }
  if (Damage damage = node.GetHead(node.count() - 1, true, &neighbour)) return damage;
  if (CompareKeys(comparator_, bytewise_, key, neighbour.key) < 0) return {};
  if (node.ordinal() + 1 == header_.nodes) return {};
  Node next = node;
  if (Damage damage = NextNode(true, &at, &next)) return damage;
  if (Damage damage = next.GetHead(0, true, &neighbour)) return damage;
  if (CompareKeys(comparator_, bytewise_, key, neighbour.key) < 0) return {};
  return {"index leads to before the key", node.place()};
}

std::unique_ptr<InternalIterator> Table::NewIterator(bool verify) const {
  return std::make_unique<TableIterator>(this, verify);
}

}  // namespace pmlsm
