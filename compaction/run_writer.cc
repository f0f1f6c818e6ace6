#include "compaction/run_writer.h"

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace pmlsm {
namespace {

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

RunWriter::RunWriter(const JobContext& context, PersistCounters* counters)
    : context_(context), store_(context.pool->medium(), counters) {}

RunWriter::~RunWriter() {
  if (builder_ != nullptr) AbandonTable();
  // Tables that no run took over.
  for (const TableRef& table : tables_) table->MarkObsolete();
}

Status RunWriter::Add(const Entry& entry) {
  if (builder_ != nullptr && !builder_->Fits(entry)) {
    Status s = FinishTable();
    whole_ = s.ok();
    if (!s.ok()) return s;
  }
  if (builder_ == nullptr) {
    Status s = StartTable(entry);
    if (!s.ok()) return s;
  }
  builder_->Add(entry);
  return Status::OK();
}

Status RunWriter::Finish(std::vector<TableRef>* tables) {
  if (builder_ != nullptr) {
    Status s = FinishTable();
    if (!s.ok()) return s;
  }
  *tables = std::move(tables_);
  tables_.clear();
  return Status::OK();
}

Status RunWriter::StartTable(const Entry& first) {
  // In a full pool, a table as large as the largest piece of free space; crumbs are not worth it.
  constexpr uint64_t kLeastShare = 2;
  const uint64_t least = TableBuilder::BytesFor(context_.table_options, first);
  const uint64_t target =
      std::max(least, std::min(context_.table_bytes, context_.publisher->range_bytes_max()));
  Status s = context_.extents->AllocateUpTo(target, std::max(least, target / kLeastShare),
                                            ExtentAllocator::Use::kBackground, &span_);  // 1
  if (!s.ok()) return s;
  if (!buffered()) s = BeginRange(span_);  // 2
  if (!s.ok()) {
    context_.extents->Free(span_);
    return s;
  }
  sink_ = TableSink::New(context_.destination, context_.pool, span_, &store_);
  builder_ = std::make_unique<TableBuilder>(context_.table_options, context_.next_table_number(), span_.bytes,
                                            sink_.get());
  return Status::OK();
}

Status RunWriter::FinishTable() {
  const uint64_t table_bytes = builder_->Finish();
  Status s;
  if (buffered()) s = BeginRange({span_.offset, table_bytes});  // 2
  if (s.ok()) s = sink_->Finish();                              // 3
  if (!s.ok()) {
    AbandonTable();
    return s;
  }
  builder_.reset();
  sink_.reset();
  s = EndRange();  // 4
  Span used = span_;
  used.bytes = RoundUp(table_bytes, context_.extents->extent_bytes());
  std::unique_ptr<Table> table;
  if (s.ok()) s = Table::Open(context_.table_options, context_.pool->At(used.offset), used, &table);
  if (!s.ok()) {
    context_.extents->Free(span_);
    return s;
  }
  if (used.bytes < span_.bytes) context_.extents->Free({used.end(), span_.bytes - used.bytes});  // 5
  table->MakeRouting();
  tables_.push_back(std::make_shared<TableHandle>(std::move(table), context_.extents));
  bytes_ += used.bytes;
  return Status::OK();
}

void RunWriter::AbandonTable() {
  builder_.reset();
  sink_.reset();
  if (range_open_) context_.publisher->AbortRange();
  range_open_ = false;
  context_.extents->Free(span_);
}

Status RunWriter::BeginRange(Span range) {
  Status s = context_.publisher->BeginRange(range);
  range_open_ = s.ok();
  return s;
}

Status RunWriter::EndRange() {
  range_open_ = false;
  return context_.publisher->EndRange();
}

Status WriteDescriptor(const JobContext& context, const Run& run, PersistCounters* counters,
                       Span* descriptor) {
  const std::string bytes = run.EncodeDescriptor();
  Status s = context.extents->Allocate(bytes.size(), ExtentAllocator::Use::kBackground, descriptor);
  if (!s.ok()) return s;
  Store store(context.pool->medium(), counters);
  s = context.publisher->BeginRange({descriptor->offset, bytes.size()});
  if (s.ok()) {
    store.Stream(context.pool->Writable(descriptor->offset), bytes.data(), bytes.size());
    s = store.Fence();
    if (s.ok()) {
      s = context.publisher->EndRange();
    } else {
      context.publisher->AbortRange();
    }
  }
  if (!s.ok()) context.extents->Free(*descriptor);
  return s;
}

}  // namespace pmlsm
