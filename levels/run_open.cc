// Run::Open: from a descriptor's bytes to a run whose tables are open.
#include <cstring>

#include "levels/run.h"
#include "levels/run_descriptor.h"
#include "util/coding.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// The group that holds `offset`; null if none does.
const Span* GroupOf(const std::vector<Span>& groups, uint64_t offset) {
  for (const Span& group : groups) {
    if (offset >= group.offset && offset < group.end()) return &group;
  }
  return nullptr;
}

bool InPool(const std::vector<Span>& groups, const Span& span) {
  const Span* const group = GroupOf(groups, span.offset);
  return group != nullptr && span.bytes <= group->end() - span.offset;
}

}  // namespace

const char* ReadRunDescriptor(const char* start, uint64_t bytes_max, RunDescriptor* descriptor) {
  RunHeader header;
  if (bytes_max < sizeof(header)) return "span is smaller than a header";
  memcpy(&header, start, sizeof(header));
  if (header.magic != kRunMagic) return "magic";
  if (header.format_version != kFormatVersion) return "format version";
  const uint64_t references_bytes = uint64_t{header.tables} * sizeof(TableReference);
  const uint64_t wanted = sizeof(header) + references_bytes + header.live_lower_bytes;
  if (header.descriptor_bytes != wanted || wanted > bytes_max) return "descriptor_bytes";
  std::string bytes(start, header.descriptor_bytes);
  StoreFixed(&bytes[offsetof(RunHeader, checksum)], uint32_t{0});
  if (Checksum32(bytes.data(), bytes.size()) != header.checksum) return "checksum";
  if (header.tables == 0) return "tables";
  descriptor->number = header.number;
  descriptor->bytes = header.descriptor_bytes;
  descriptor->entries = header.entries;
  descriptor->spans_bytes = header.spans_bytes;
  descriptor->tables.resize(header.tables);
  memcpy(descriptor->tables.data(), bytes.data() + sizeof(header), references_bytes);
  descriptor->has_live_lower = (header.flags & kRunHasLiveLower) != 0;
  descriptor->live_lower = bytes.substr(sizeof(header) + references_bytes);
  return nullptr;
}

Status Run::Open(const TableOptions& options, const Pool& pool, ExtentAllocator* extents, uint64_t descriptor,
                 std::shared_ptr<const Run>* run, std::vector<Span>* spans) {
  const std::string place = "run descriptor at " + std::to_string(descriptor);
  const std::vector<Span> groups = pool.Groups();
  spans->clear();
  const Span* const group = GroupOf(groups, descriptor);
  if (group == nullptr) return Status::Corruption(place, "outside the pool's groups");

  RunDescriptor read;
  if (const char* what = ReadRunDescriptor(pool.At(descriptor), group->end() - descriptor, &read)) {
    return Status::Corruption(place, what);
  }
  const uint64_t extent = pool.header().extent_bytes;
  spans->push_back({descriptor, (read.bytes + extent - 1) / extent * extent});
  for (const TableReference& reference : read.tables) {
    const Span span{reference.span_offset, reference.span_bytes};
    if (!InPool(groups, span)) {
      return Status::Corruption(
          place, "table " + std::to_string(reference.table_number) + " lies outside the pool's groups");
    }
    spans->push_back(span);
  }
  std::vector<TableRef> tables;
  for (const TableReference& reference : read.tables) {
    const Span span{reference.span_offset, reference.span_bytes};
    std::unique_ptr<Table> table;
    if (Status s = Table::Open(options, pool.At(span.offset), span, &table); !s.ok()) {
      return Status::Corruption(place, s.getState());
    }
    if (table->header().table_number != reference.table_number ||
        table->header().checksum != reference.header_checksum) {
      return Status::Corruption(
          place, "another table lies where table " + std::to_string(reference.table_number) + " should");
    }
    tables.push_back(std::make_shared<const TableHandle>(std::move(table), extents));
  }
  for (size_t i = 1; i < tables.size(); ++i) {
    if (options.comparator->Compare(tables[i - 1]->table().largest(), tables[i]->table().smallest()) > 0) {
      return Status::Corruption(place, "tables overlap");
    }
  }
  auto opened = std::make_shared<const Run>(options.comparator, read.number, std::move(tables),
                                            read.has_live_lower, std::move(read.live_lower));
  if (opened->entries() != read.entries || opened->bytes() != read.spans_bytes) {
    return Status::Corruption(place, "totals");
  }
  *run = std::move(opened);
  return Status::OK();
}

}  // namespace pmlsm
