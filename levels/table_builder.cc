#include "levels/table_builder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "levels/filter.h"
#include "levels/index.h"
#include "levels/node.h"
#include "levels/table_format.h"
#include "levels/table_output.h"
#include "pmem/pool_format.h"
#include "util/check.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// A child's place is 31 bits of lines.
constexpr uint64_t kTableBytesMax = uint64_t{1} << 37;

// How an entry is stored in nodes of that size.
struct Shape {
  Shape(const TableOptions& options, const Entry& entry)
      : outside(entry.value.size() > options.node_bytes / 4),
        outside_bytes(outside ? entry.value.size() : 0),
        entry_bytes(NodeBuilder::EntryBytes(entry.key.size(),
                                            outside ? sizeof(ValueReference) : entry.value.size())) {}
  const bool outside;
  const uint64_t outside_bytes;
  const size_t entry_bytes;
};

// A key in (last, first], short: keys up to `last` sort before it.
void MakeSeparator(const Comparator* comparator, bool bytewise, const Slice& last, const Slice& first,
                   std::string* separator) {
  if (bytewise) {
    const size_t common_max = std::min(last.size(), first.size());
    size_t common = 0;
    while (common < common_max && last[common] == first[common]) ++common;
    separator->assign(first.data(), common + 1);
    return;
  }
  separator->assign(last.data(), last.size());
  comparator->FindShortestSeparator(separator, first);
  const bool usable = separator->size() < first.size() && comparator->Compare(last, *separator) < 0 &&
                      comparator->Compare(*separator, first) <= 0;
  if (!usable) separator->assign(first.data(), first.size());
}

}  // namespace

struct TableBuilder::Rep {
  Rep(const TableOptions& table_options, uint64_t number, uint64_t capacity_bytes, TableSink* table_sink)
      : options(table_options),
        bytewise(table_options.comparator == BytewiseComparator()),
        capacity(capacity_bytes),
        seed(TableSeed(number)),
        sink(table_sink),
        output(table_sink, sizeof(TableHeader), capacity_bytes),
        index(bytewise),
        filter(table_options.filter_bits_per_key) {
    memset(&header, 0, sizeof(header));
    header.magic = kTableMagic;
    header.format_version = kFormatVersion;
    header.table_number = number;
    header.sequence_min = kMaxSequenceNumber;
    header.nodes_place = sizeof(TableHeader);
  }

  // Whether the entry opens another node.
  bool StartsNode(const Shape& shape) const {
    return !node.empty() && node.UsedBytesWith(shape.entry_bytes) > options.node_bytes;
  }
  // The table's size if the nodes region ended at nodes_end.
  uint64_t Total(uint64_t nodes_end, uint64_t keys, uint64_t index_bytes, size_t largest_bytes) const {
    return nodes_end + FilterBuilder::Bytes(options.filter_bits_per_key, keys) + index_bytes +
           smallest.size() + largest_bytes;
  }
  void FlushNode(bool last_continues);

  const TableOptions options;
  const bool bytewise;
  const uint64_t capacity;
  const uint64_t seed;  // TableSeed
  TableSink* const sink;

  TableOutput output;
  NodeBuilder node;  // holds at least one entry once there is one
  IndexBuilder index;
  FilterBuilder filter;
  TableHeader header;
  std::string smallest;
  uint64_t last_hash = 0;
  // Of the node that is being put together.
  std::string separator;
  bool first_continues = false;
  // Of the index with that node in it.
  uint64_t index_bytes_max = 0;
};

TableBuilder::TableBuilder(const TableOptions& options, uint64_t table_number, uint64_t capacity,
                           TableSink* sink)
    : rep_(new Rep(options, table_number, capacity, sink)) {
  CHECK(options.comparator != nullptr);
  CHECK(options.node_bytes / 4 <= kEntryValueMask);
  CHECK(capacity <= kTableBytesMax);
  rep_->index_bytes_max = rep_->index.BytesMax() + IndexBuilder::BytesMaxOfAdd(0);
}

TableBuilder::~TableBuilder() = default;

uint64_t TableBuilder::BytesFor(const TableOptions& options, const Entry& entry) {
  const Shape shape(options, entry);
  const IndexBuilder index(true);
  return RoundUpToLine(sizeof(TableHeader) + shape.outside_bytes) +
         NodeBuilder::BytesOfOne(shape.entry_bytes) + FilterBuilder::Bytes(options.filter_bits_per_key, 1) +
         index.BytesMax() + IndexBuilder::BytesMaxOfAdd(0) + 2 * entry.key.size();
}

bool TableBuilder::Fits(const Entry& entry) const {
  const Rep& rep = *rep_;
  const Shape shape(rep.options, entry);
  uint64_t nodes_end;
  uint64_t index_bytes = rep.index_bytes_max;
  if (rep.StartsNode(shape)) {
    nodes_end = RoundUpToLine(rep.output.place()) + rep.node.Bytes();
    nodes_end = RoundUpToLine(nodes_end + shape.outside_bytes) + NodeBuilder::BytesOfOne(shape.entry_bytes);
    index_bytes += IndexBuilder::BytesMaxOfAdd(entry.key.size());
  } else {
    nodes_end =
        RoundUpToLine(rep.output.place() + shape.outside_bytes) + rep.node.BytesWith(shape.entry_bytes);
  }
  const size_t smallest_bytes = rep.header.entries == 0 ? entry.key.size() : 0;
  return rep.Total(nodes_end, rep.header.user_keys + 1, index_bytes, entry.key.size()) + smallest_bytes <=
         rep.capacity;
}

void TableBuilder::Add(const Entry& entry) {
  Rep& rep = *rep_;
  TableHeader& header = rep.header;
  const Shape shape(rep.options, entry);
  const uint64_t hash = KeyHash(entry.key);
  const bool first = header.entries == 0;
  DCHECK(first || rep.options.comparator->Compare(rep.node.last_key(), entry.key) <= 0);
  const bool same_key = !first && hash == rep.last_hash && rep.node.last_key() == entry.key;
  if (first) rep.smallest = entry.key.ToString();

  if (rep.StartsNode(shape)) {
    std::string separator;
    if (same_key) {
      separator = entry.key.ToString();
    } else {
      MakeSeparator(rep.options.comparator, rep.bytewise, rep.node.last_key(), entry.key, &separator);
    }
    rep.FlushNode(same_key);
    rep.separator = std::move(separator);
    rep.first_continues = same_key;
    rep.index_bytes_max = rep.index.BytesMax() + IndexBuilder::BytesMaxOfAdd(rep.separator.size());
  }

  const uint8_t fingerprint = Fingerprint(hash);
  if (shape.outside) {
    ValueReference reference;
    reference.place = rep.output.place();
    reference.bytes = static_cast<uint32_t>(entry.value.size());
    reference.checksum = Seal(entry.value.data(), entry.value.size(), rep.seed);
    rep.output.Append(entry.value.data(), entry.value.size());
    const Slice bytes(reinterpret_cast<const char*>(&reference), sizeof(reference));
    rep.node.Add(entry.key, entry.tag, bytes, true, fingerprint);
  } else {
    rep.node.Add(entry.key, entry.tag, entry.value, false, fingerprint);
  }

  if (!same_key) {
    rep.filter.Add(hash);
    ++header.user_keys;
  }
  rep.last_hash = hash;
  ++header.entries;
  const ValueType type = TagType(entry.tag);
  if (IsDeletion(type)) ++header.tombstones;
  header.key_bytes += entry.key.size();
  header.value_bytes += entry.value.size();
  header.sequence_min = std::min(header.sequence_min, TagSequence(entry.tag));
  header.sequence_max = std::max(header.sequence_max, TagSequence(entry.tag));
}

void TableBuilder::Rep::FlushNode(bool last_continues) {
  output.PadToLine();
  const uint64_t place = output.place();
  char* const to = output.Reserve(node.Bytes());
  const uint16_t flags = static_cast<uint16_t>((first_continues ? kNodeFirstContinues : 0) |
                                               (last_continues ? kNodeLastContinues : 0));
  node.Finish(static_cast<uint32_t>(header.nodes), flags, place, seed, to);
  index.Add(place, separator, first_continues);
  ++header.nodes;
}

uint64_t TableBuilder::entries() const { return rep_->header.entries; }

uint64_t TableBuilder::EstimatedBytes() const {
  const Rep& rep = *rep_;
  if (rep.header.entries == 0) return rep.Total(sizeof(TableHeader), 0, rep.index_bytes_max, 0);
  const uint64_t nodes_end = RoundUpToLine(rep.output.place()) + rep.node.Bytes();
  return rep.Total(nodes_end, rep.header.user_keys, rep.index_bytes_max, rep.node.last_key().size());
}

// All but the header may reach the medium in any order: nothing refers to the table before a run descriptor
// that names it is published.
uint64_t TableBuilder::Finish() {
  Rep& rep = *rep_;
  TableHeader& header = rep.header;
  CHECK(header.entries > 0);
  const std::string largest = rep.node.last_key().ToString();
  rep.FlushNode(false);
  header.nodes_bytes = rep.output.place() - header.nodes_place;

  std::string tail;
  header.filter_place = rep.output.place();
  rep.filter.Finish(header.filter_place, rep.seed, &tail);
  header.filter_bytes = tail.size();
  header.filter_probes = header.filter_bytes == 0 ? 0 : rep.filter.probes();
  header.index_place = header.filter_place + header.filter_bytes;
  rep.index.Finish(header.index_place, rep.seed, &tail, &header.index_root_place, &header.index_levels);
  header.index_bytes = tail.size() - header.filter_bytes;
  header.keys_place = header.index_place + header.index_bytes;
  header.smallest_bytes = static_cast<uint32_t>(rep.smallest.size());
  header.largest_bytes = static_cast<uint32_t>(largest.size());
  tail += rep.smallest;
  tail += largest;
  header.table_bytes = header.filter_place + tail.size();
  CHECK(header.table_bytes <= rep.capacity);
  rep.output.Append(tail.data(), tail.size());
  rep.output.Flush();

  std::string sealed(reinterpret_cast<const char*>(&header), sizeof(header));
  sealed += rep.smallest;
  sealed += largest;
  header.checksum = Checksum32(sealed.data(), sealed.size(), header.table_number);
  rep.sink->Write(0, reinterpret_cast<const char*>(&header), sizeof(header));
  return header.table_bytes;
}

}  // namespace pmlsm
