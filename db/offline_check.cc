// CheckDB: every structure that the manifest reaches, one after the other.
#include "db/offline.h"
#include "db/offline_db.h"

namespace pmlsm {
namespace {

// 1. Filter and index by their checksums. 2. Nodes and entries. 3. If all of them verify, the rules that tie
// them together.
void CheckTable(OfflineDB* db, const OfflineTable& table, OfflineReport* report) {
  ++report->tables;
  const size_t damages_before = report->damages.size();
  if (table.table != nullptr) {
    for (const Damage& damage : table.table->FindRoutingDamage()) {
      db->AddDamage(table.name + ", place " + std::to_string(damage.place),
                    table.reference.span_offset + damage.place, damage.what, false);
    }
  }
  const std::unique_ptr<TableScan> scan = db->Scan(table);
  for (Entry entry; scan->Next(&entry);) ++report->entries;
  db->ReportLost(table, *scan, false);
  if (table.table == nullptr || report->damages.size() != damages_before) return;
  const Status s = table.table->Check();
  if (!s.ok()) db->AddDamage(table.name, table.reference.span_offset, s.ToString(), false);
}

}  // namespace

Status CheckDB(const Options& options, const std::string& name, OfflineReport* report) {
  *report = OfflineReport();
  std::unique_ptr<OfflineDB> db;
  Status s = OfflineDB::Open(options, name, report, &db);
  if (!s.ok()) return s;
  for (const OfflineTable& table : db->tables()) CheckTable(db.get(), table, report);
  db->ReadLog([](const std::vector<LoggedEntry>&) {});
  db->CheckSpans();
  db->ReportLostBytes();
  return Status::OK();
}

}  // namespace pmlsm
