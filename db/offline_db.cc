#include "db/offline_db.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/db_files.h"
#include "db/write_batch_format.h"
#include "levels/run_descriptor.h"
#include "pmlsm/column_family.h"
#include "util/coding.h"

namespace pmlsm {
namespace {

constexpr uint64_t kManifestAlignment = 256;
// Groups, and so tables, start at a multiple of it.
constexpr uint64_t kPageBytes = 4096;

std::string Number(uint64_t number) { return std::to_string(number); }

bool IsZero(const char* from, uint64_t bytes) {
  return std::all_of(from, from + bytes, [](char byte) { return byte == 0; });
}

const FamilyState* FindState(const ManifestState& manifest, uint32_t id) {
  for (const FamilyState& family : manifest.families) {
    if (family.id == id) return &family;
  }
  return nullptr;
}

}  // namespace

Status OfflineDB::Open(const Options& options, const std::string& name, OfflineReport* report,
                       std::unique_ptr<OfflineDB>* db) {
  std::unique_ptr<OfflineDB> opened(new OfflineDB);
  opened->report_ = report;
  Status s = opened->Lock(name);
  if (s.ok()) s = RawPool::Open(name, options.pool_file, &opened->pool_);
  if (!s.ok()) return s;
  std::vector<PoolDamage> damages;
  CheckPmdkStructures(*opened->pool_, &damages);
  opened->root_ = ReadRawRoot(*opened->pool_, &damages);
  for (const PoolDamage& damage : damages) {
    opened->AddDamage(damage.structure, damage.offset, damage.what, false);
  }
  if (opened->root_.header_ok && opened->root_.header.format_version > kFormatVersion) {
    return Status::InvalidArgument(name + ": format " + Number(opened->root_.header.format_version),
                                   "this build reads up to format " + Number(kFormatVersion));
  }
  opened->FindManifests();
  s = opened->ChooseManifest(options);
  if (s.ok()) *db = std::move(opened);
  return s;
}

// The file LOCK is not made if it is not there: nothing is written. The pool's own lock is taken with it.
Status OfflineDB::Lock(const std::string& name) {
  bool exists = false;
  Status s = PathExists(name, &exists);
  if (s.ok() && !exists) return Status::PathNotFound(name, "DB does not exist");
  if (s.ok()) s = PathExists(LockFileName(name), &exists);
  if (!s.ok() || !exists) return s;
  return lock_.Lock(LockFileName(name));
}

DamagedPiece OfflineDB::Piece(const std::string& structure, uint64_t offset, const std::string& what,
                              bool loses_data) const {
  DamagedPiece piece;
  piece.structure = structure;
  piece.place = "offset " + Number(offset) + " (" + pool_->FilePlace(offset) + ")";
  piece.what = what;
  piece.loses_data = loses_data;
  return piece;
}

DamagedPiece* OfflineDB::AddDamage(const std::string& structure, uint64_t offset, const std::string& what,
                                   bool loses_data) {
  report_->damages.push_back(Piece(structure, offset, what, loses_data));
  return &report_->damages.back();
}

// Where the root object says; if there is none, wherever a manifest verifies.
void OfflineDB::FindManifests() {
  uint64_t client = root_.client_offset;
  if (client == 0) {
    for (uint64_t at = 0; client == 0 && pool_->Holds(at, kManifestTwinBytes); at += kManifestAlignment) {
      ManifestState state;
      if (LoadFixed<uint64_t>(pool_->At(at)) != kManifestMagic) continue;
      if (!DecodeManifest(Slice(pool_->At(at), kManifestTwinBytes), &state).ok()) continue;
      const uint64_t before = sizeof(ManifestRoot) + (state.generation & 1) * kManifestTwinBytes;
      if (at > before) client = at - before;
    }
  }
  if (client == 0 || !pool_->Holds(client, kManifestAreaBytes)) return;
  word_ = pool_->At<ManifestRoot>(client)->current;
  current_ = GenerationOfWord(word_);
  for (uint64_t i = 0; i < 2; ++i) {
    Twin twin;
    twin.offset = client + sizeof(ManifestRoot) + i * kManifestTwinBytes;
    twin.status = DecodeManifest(Slice(pool_->At(twin.offset), kManifestTwinBytes), &twin.state);
    if (twin.status.ok() && (twin.state.generation & 1) != i) {
      twin.status = Status::Corruption("manifest", "lies in the wrong twin");
    }
    twins_.push_back(std::move(twin));
  }
}

// 1. The twin that the generation word names. 2. Else the one of which more can be read: what a manifest that
// is not in force leads to may have been overwritten since.
Status OfflineDB::ChooseManifest(const Options& options) {
  families_.assign(1, OfflineFamily{kDefaultFamily, kDefaultColumnFamilyName, options.comparator});
  if (NothingPublished()) {
    report_->notes.push_back("nothing has been published: the DB was being created");
    return Status::OK();
  }
  std::vector<State> candidates;
  for (const bool in_force : {true, false}) {
    for (const Twin& twin : twins_) {
      if (!twin.status.ok() || (in_force && twin.state.generation != current_)) continue;
      State state;
      state.manifest = twin.state;
      Status s = FindFamilies(options, twin.state, &state.families);
      if (!s.ok()) return s;
      LoadRuns(&state);
      candidates.push_back(std::move(state));
    }
    if (!candidates.empty()) break;
  }
  if (candidates.empty()) {
    AddDamage("manifest", twins_.empty() ? 0 : twins_[0].offset,
              "neither twin can be read: nothing tells what the DB consists of", true);
    return Status::OK();
  }
  State& chosen = *std::min_element(candidates.begin(), candidates.end(), [](const State& a, const State& b) {
    if (a.damages.size() != b.damages.size()) return a.damages.size() < b.damages.size();
    return a.manifest.generation > b.manifest.generation;
  });
  ReportTwins(chosen.manifest);
  report_->damages.insert(report_->damages.end(), chosen.damages.begin(), chosen.damages.end());
  has_manifest_ = true;
  manifest_ = std::move(chosen.manifest);
  families_ = std::move(chosen.families);
  tables_ = std::move(chosen.tables);
  spans_ = std::move(chosen.spans);
  return Status::OK();
}

// As Manifest::Load has it, but zeros must not be those of bytes that are lost.
bool OfflineDB::NothingPublished() const {
  if (twins_.empty() || word_ != 0 || !root_.header_ok || !pool_->lost().empty()) return false;
  return LoadFixed<uint64_t>(pool_->At(twins_[1].offset)) == 0;
}

void OfflineDB::ReportTwins(const ManifestState& chosen) {
  if (chosen.generation == current_) return CheckOtherTwin(chosen);
  const Twin& named = twins_[current_ & 1];
  const std::string used = "generation " + Number(chosen.generation) + " is used";
  const bool one_before = chosen.generation < current_ && current_ - chosen.generation == 1;
  if (!named.status.ok() && one_before) {
    AddDamage("manifest of generation " + Number(current_), named.offset,
              named.status.ToString() + "; " + used + ": what was published since is lost", true);
    return;
  }
  AddDamage("manifest's generation word", twins_[0].offset - sizeof(ManifestRoot),
            "is " + Number(word_) + ", which names no twin; " + used, true);
  for (const Twin& twin : twins_) {
    if (!twin.status.ok()) AddDamage("manifest twin", twin.offset, twin.status.ToString(), true);
  }
}

// A crash may leave it half-written. A clean close does not.
void OfflineDB::CheckOtherTwin(const ManifestState& chosen) {
  const Twin& other = twins_[(chosen.generation & 1) ^ 1];
  if (other.status.ok()) return;
  if (chosen.generation == kFirstGeneration && IsZero(pool_->At(other.offset), sizeof(ManifestHeader)))
    return;
  if (chosen.clean_end != 0) {
    AddDamage("manifest twin that is not in force", other.offset, other.status.ToString(), false);
  } else {
    report_->notes.push_back("the manifest twin that is not in force, at offset " + Number(other.offset) +
                             ", cannot be read: a publish was cut short, or it is damaged; nothing needs it");
  }
}

Status OfflineDB::FindFamilies(const Options& options, const ManifestState& manifest,
                               std::vector<OfflineFamily>* families) {
  for (const FamilyState& stored : manifest.families) {
    OfflineFamily family{stored.id, stored.name, nullptr};
    for (const Comparator* comparator :
         {options.comparator, BytewiseComparator(), ReverseBytewiseComparator()}) {
      if (comparator != nullptr && stored.comparator == comparator->Name()) family.comparator = comparator;
    }
    if (family.comparator == nullptr) {
      return Status::InvalidArgument("comparator: column family \"" + stored.name + "\" was made with \"" +
                                     stored.comparator + "\"");
    }
    const auto place = stored.id == kDefaultFamily ? families->begin() : families->end();
    families->insert(place, std::move(family));
  }
  return families->empty() ? Status::Corruption("manifest", "no column families") : Status::OK();
}

void OfflineDB::LoadRuns(State* state) const {
  for (const SegmentRecord& segment : state->manifest.segments) {
    state->spans.push_back({"log segment " + Number(segment.number), {segment.offset, segment.bytes}});
  }
  for (const OfflineFamily& family : state->families) {
    const auto& levels = FindState(state->manifest, family.id)->levels;
    for (size_t level = 0; level < levels.size(); ++level) {
      for (const uint64_t offset : levels[level]) {
        if (offset != 0) LoadRun(family, level, offset, state);
      }
    }
  }
}

void OfflineDB::LoadRun(const OfflineFamily& family, uint64_t level, uint64_t offset, State* state) const {
  const std::string of = family.id == kDefaultFamily ? "" : " of column family \"" + family.name + "\"";
  const std::string name = "run descriptor, level " + Number(level) + of;
  RunDescriptor descriptor;
  const char* what = "outside the pool";
  if (pool_->Holds(offset, sizeof(RunHeader))) {
    what = ReadRunDescriptor(pool_->At(offset), pool_->bytes() - offset, &descriptor);
  }
  if (what != nullptr) {
    state->damages.push_back(
        Piece(name, offset, std::string(what) + "; the run's tables are not known", true));
    return;
  }
  const uint64_t extent = root_.header_ok ? root_.header.extent_bytes : kPageBytes;
  const std::string run = "run " + Number(descriptor.number) + ", level " + Number(level) + of;
  state->spans.push_back(
      {"run descriptor of " + run, {offset, (descriptor.bytes + extent - 1) / extent * extent}});
  uint64_t entries = 0;
  bool all_open = true;
  const size_t first = state->tables.size();
  for (size_t i = 0; i < descriptor.tables.size(); ++i) {
    OfflineTable table;
    table.family = family.id;
    table.comparator = family.comparator;
    table.has_live_lower = descriptor.has_live_lower;
    table.live_lower = descriptor.live_lower;
    LoadTable(run, offset, descriptor.tables[i], state, &table);
    all_open = all_open && table.table != nullptr;
    if (table.table != nullptr) entries += table.table->header().entries;
    state->tables.push_back(std::move(table));
  }
  if (!all_open) return;
  if (entries != descriptor.entries) state->damages.push_back(Piece(name, offset, "totals", false));
  for (size_t i = first + 1; i < state->tables.size(); ++i) {
    const Table& table = *state->tables[i].table;
    if (family.comparator->Compare(state->tables[i - 1].table->largest(), table.smallest()) > 0) {
      state->damages.push_back(Piece(state->tables[i].name, table.span().offset,
                                     "its keys overlap those of the table before it", false));
    }
  }
}

void OfflineDB::LoadTable(const std::string& run, uint64_t descriptor, const TableReference& reference,
                          State* state, OfflineTable* table) const {
  const Span span{reference.span_offset, reference.span_bytes};
  table->name = "table " + Number(reference.table_number) + " of " + run;
  table->reference = reference;
  if (!pool_->Holds(span.offset, span.bytes) || span.bytes < sizeof(TableHeader)) {
    state->damages.push_back(
        Piece("run descriptor of " + run, descriptor, table->name + " lies outside the pool", true));
    table->reference.span_bytes = 0;
    return;
  }
  state->spans.push_back({table->name, span});
  Status s = Table::Open({table->comparator, 0, 0}, pool_->At(span.offset), span, &table->table);
  if (s.ok() && (table->table->header().table_number != reference.table_number ||
                 table->table->header().checksum != reference.header_checksum)) {
    s = Status::Corruption("another table, " + Number(table->table->header().table_number) + ", lies here");
    table->table.reset();
  }
  if (!s.ok()) {
    state->damages.push_back(Piece(table->name, span.offset,
                                   s.ToString() + "; its nodes are read without it, some may be missing",
                                   true));
  }
}

void OfflineDB::AddUnnamedTables() {
  std::set<uint64_t> named;
  for (const OfflineTable& table : tables_) named.insert(table.reference.span_offset);
  uint64_t found = 0;
  for (uint64_t at = 0; pool_->Holds(at, sizeof(TableHeader)); at += kPageBytes) {
    if (LoadFixed<uint64_t>(pool_->At(at)) != kTableMagic || named.count(at) != 0) continue;
    OfflineTable table;
    table.family = families_[0].id;
    table.comparator = families_[0].comparator;
    const Span span{at, pool_->bytes() - at};
    if (!Table::Open({table.comparator, 0, 0}, pool_->At(at), span, &table.table).ok()) continue;
    const TableHeader& header = table.table->header();
    table.name = "unnamed table " + Number(header.table_number);
    table.reference = {at, header.table_bytes, header.table_number, header.checksum, 0};
    tables_.push_back(std::move(table));
    ++found;
  }
  report_->notes.push_back(
      Number(found) + " tables that nothing names are read, too: deleted keys and old values may come back" +
      (families_.size() > 1 ? ", all of them in the default column family" : ""));
}

std::unique_ptr<TableScan> OfflineDB::Scan(const OfflineTable& table) const {
  const Span span{table.reference.span_offset, table.reference.span_bytes};
  if (table.table == nullptr) {
    return std::make_unique<TableScan>(pool_->At(span.bytes == 0 ? 0 : span.offset), span,
                                       table.reference.table_number, table.comparator);
  }
  return std::make_unique<TableScan>(pool_->At(span.offset), span, table.table->header(),
                                     table.table->smallest(), table.table->largest(), table.comparator);
}

void OfflineDB::ReportLost(const OfflineTable& table, const TableScan& scan, bool live_only) {
  for (const TableScan::Lost& lost : scan.lost()) {
    const bool dead =
        table.has_live_lower && lost.to && table.comparator->Compare(*lost.to, table.live_lower) < 0;
    if (dead && live_only) continue;
    const std::string what = lost.nodes == 0 ? std::string("entry of the node: ") + lost.what
                                             : Number(lost.nodes) + " " + lost.what + ", in places " +
                                                   Number(lost.place) + " to " + Number(lost.end);
    DamagedPiece* const piece = AddDamage(table.name + ", node at place " + Number(lost.place),
                                          table.reference.span_offset + lost.place, what, !dead);
    piece->from = lost.from;
    piece->to = lost.to;
  }
}

uint64_t OfflineDB::LogOffset(uint64_t position) const {
  uint64_t offset = 0;
  for (const SegmentRecord& segment : manifest_.segments) {
    if (position >= segment.base_position) offset = segment.offset + (position - segment.base_position);
  }
  return offset;
}

// Without what is in runs already, or of families that were dropped.
Status OfflineDB::ParseBatch(const WalReader::Record& record, std::vector<LoggedEntry>* batch) const {
  batch->clear();
  SequenceNumber sequence = record.first_sequence;
  for (Slice records = record.payload; !records.empty(); ++sequence) {
    BatchRecord taken;
    Status s = TakeBatchRecord(&records, &taken);
    if (!s.ok()) return s;
    const FamilyState* const family = FindState(manifest_, taken.family);
    if (family == nullptr && taken.family >= manifest_.next_family_id) {
      return Status::Corruption("write batch",
                                "column family " + Number(taken.family) + ", which there never was");
    }
    if (family == nullptr || sequence <= family->flushed_sequence) continue;
    batch->push_back({taken.family, {taken.key, MakeTag(sequence, taken.type), taken.value}});
  }
  const bool whole = sequence - record.first_sequence == record.count;
  return whole ? Status::OK() : Status::Corruption("write batch", "count");
}

void OfflineDB::ReadLog(const std::function<void(const std::vector<LoggedEntry>& batch)>& visit) {
  if (!has_manifest_) return;
  std::vector<SegmentRecord> segments;
  for (const SegmentRecord& segment : manifest_.segments) {
    if (pool_->Holds(segment.offset, segment.bytes)) {
      segments.push_back(segment);
    } else {
      AddDamage("manifest", segment.offset,
                "log segment " + Number(segment.number) + " lies outside the pool", true);
    }
  }
  WalReader reader(pool_->base(), segments, manifest_.clean_end);
  std::vector<LoggedEntry> batch;
  for (;;) {
    WalReader::Record record;
    while (reader.Next(&record)) {
      ++report_->log_records;
      const Status s = ParseBatch(record, &batch);
      if (s.ok()) {
        visit(batch);
      } else {
        AddDamage("log, log position " + Number(record.position), LogOffset(record.position), s.ToString(),
                  true);
      }
    }
    const std::optional<RawPool::Lost> unread = UnreadLogEnd(reader);
    if (reader.end() == WalReader::End::kClean && !unread) return;
    if (reader.end() == WalReader::End::kTornTail && !unread) {
      report_->notes.push_back("log: torn tail at " + reader.detail() + ", " +
                               Number(reader.dropped_bytes()) +
                               " bytes behind it that were not acknowledged; an open drops it");
      return;
    }
    const uint64_t offset = LogOffset(reader.damage_position());
    const std::string what = unread ? Number(unread->span.bytes) + " bytes at offset " +
                                          Number(unread->span.offset) +
                                          " cannot be read, and may have held records"
                                    : "record does not verify";
    const std::string behind = Number(reader.dropped_bytes()) + " bytes of records behind it";
    const std::string detail = reader.detail();
    const bool more = reader.SkipDamage();
    AddDamage(
        "log, " + detail, offset,
        what + (more ? "; " + behind + " verify: history has a hole here" : "; none behind it verifies"),
        true);
    if (!more) return;
  }
}

// What could not be read where the log seems to end, if no clean close tells the end: zeros stand there, so it
// looks like the end whatever there was.
std::optional<RawPool::Lost> OfflineDB::UnreadLogEnd(const WalReader& reader) const {
  if (reader.end() == WalReader::End::kDamage || manifest_.clean_end != 0) return std::nullopt;
  if (manifest_.segments.empty()) return std::nullopt;
  const SegmentRecord& newest = manifest_.segments.back();
  const uint64_t from = LogOffset(reader.damage_position());
  for (const RawPool::Lost& lost : pool_->lost()) {
    if (lost.span.end() > from && lost.span.offset < newest.offset + newest.bytes) return lost;
  }
  return std::nullopt;
}

void OfflineDB::ReportLostBytes() {
  for (const RawPool::Lost& lost : pool_->lost()) {
    AddDamage("pool", lost.span.offset, Number(lost.span.bytes) + " bytes are lost: " + lost.why, false);
  }
}

void OfflineDB::CheckSpans() {
  const auto in_group = [this](const Span& span) {
    return std::any_of(root_.groups.begin(), root_.groups.end(), [&span](const Span& group) {
      return span.offset >= group.offset && span.bytes <= group.bytes &&
             span.offset - group.offset <= group.bytes - span.bytes;
    });
  };
  std::sort(spans_.begin(), spans_.end(),
            [](const auto& a, const auto& b) { return a.second.offset < b.second.offset; });
  for (size_t i = 0; i < spans_.size(); ++i) {
    const auto& [name, span] = spans_[i];
    if (root_.offset != 0 && !in_group(span))
      AddDamage(name, span.offset, "lies outside the pool's groups", false);
    if (i > 0 && spans_[i - 1].second.end() > span.offset) {
      AddDamage(name, span.offset, "extents are reached twice: also by " + spans_[i - 1].first, false);
    }
  }
}

}  // namespace pmlsm
