// Run::Open: from a descriptor's bytes to a run whose tables are open.
#include <cstring>

#include "levels/run.h"
#include "levels/run_format.h"
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

// Reads and checks the header and the checksum; null, or what is wrong.
const char* ReadDescriptor(const char* start, uint64_t span_bytes, RunHeader* header, std::string* bytes) {
  if (span_bytes < sizeof(*header)) return "span is smaller than a header";
  memcpy(header, start, sizeof(*header));
  if (header->magic != kRunMagic) return "magic";
  if (header->format_version != kFormatVersion) return "format version";
  const uint64_t wanted =
      sizeof(*header) + uint64_t{header->tables} * sizeof(TableReference) + header->live_lower_bytes;
  if (header->descriptor_bytes != wanted || wanted > span_bytes) return "descriptor_bytes";
  bytes->assign(start, header->descriptor_bytes);
  StoreFixed(&(*bytes)[offsetof(RunHeader, checksum)], uint32_t{0});
  if (Checksum32(bytes->data(), bytes->size()) != header->checksum) return "checksum";
  if (header->tables == 0) return "tables";
  return nullptr;
}

}  // namespace

Status Run::Open(const TableOptions& options, const Pool& pool, ExtentAllocator* extents, uint64_t descriptor,
                 std::shared_ptr<const Run>* run, std::vector<Span>* spans) {
  const std::string place = "run descriptor at " + std::to_string(descriptor);
  const std::vector<Span> groups = pool.Groups();
  spans->clear();
  const Span* const group = GroupOf(groups, descriptor);
  if (group == nullptr) return Status::Corruption(place, "outside the pool's groups");

  RunHeader header;
  std::string bytes;
  if (const char* what = ReadDescriptor(pool.At(descriptor), group->end() - descriptor, &header, &bytes)) {
    return Status::Corruption(place, what);
  }
  const uint64_t extent = pool.header().extent_bytes;
  spans->push_back({descriptor, (bytes.size() + extent - 1) / extent * extent});
  std::vector<TableReference> references(header.tables);
  memcpy(references.data(), bytes.data() + sizeof(header), header.tables * sizeof(TableReference));
  std::string live_lower = bytes.substr(sizeof(header) + header.tables * sizeof(TableReference));

  for (const TableReference& reference : references) {
    const Span span{reference.span_offset, reference.span_bytes};
    if (!InPool(groups, span)) {
      return Status::Corruption(
          place, "table " + std::to_string(reference.table_number) + " lies outside the pool's groups");
    }
    spans->push_back(span);
  }
  std::vector<TableRef> tables;
  for (const TableReference& reference : references) {
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
  auto opened = std::make_shared<const Run>(options.comparator, header.number, std::move(tables),
                                            (header.flags & kRunHasLiveLower) != 0, std::move(live_lower));
  if (opened->entries() != header.entries || opened->bytes() != header.spans_bytes) {
    return Status::Corruption(place, "totals");
  }
  *run = std::move(opened);
  return Status::OK();
}

}  // namespace pmlsm
