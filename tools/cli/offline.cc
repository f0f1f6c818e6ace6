// families, check and salvage: commands on a DB that is not open.
#include "db/offline.h"

#include <cinttypes>
#include <cstdio>

#include "tools/cli/commands.h"

namespace pmlsm::cli {
namespace {

void PrintDamages(const OfflineReport& report) {
  for (const std::string& note : report.notes) printf("note: %s\n", note.c_str());
  for (const DamagedPiece& piece : report.damages) printf("damaged: %s\n", piece.ToString().c_str());
}

void PrintSummary(const OfflineReport& report) {
  printf("%s: %zu damaged pieces, %s; read %" PRIu64 " tables, %" PRIu64 " entries, %" PRIu64
         " log records\n",
         report.whole() ? "whole" : "damaged", report.damages.size(),
         report.loses_data() ? "entries are lost" : "no entry is lost", report.tables, report.entries,
         report.log_records);
}

}  // namespace

int Families(const std::string& db_path, const Options& options) {
  std::vector<std::string> names;
  const Status s = DB::ListColumnFamilies(options, db_path, &names);
  if (!s.ok()) return Failed("families", s);
  for (const std::string& name : names) printf("%s\n", name.c_str());
  return kExitOk;
}

int Check(const std::string& db_path, const Options& options) {
  OfflineReport report;
  const Status s = CheckDB(options, db_path, &report);
  PrintDamages(report);
  if (!s.ok()) return Failed("check", s);
  PrintSummary(report);
  return report.whole() ? kExitOk : kExitDamage;
}

int Salvage(const std::string& db_path, const Options& options, const SalvageArguments& arguments) {
  SalvageOptions salvage;
  salvage.options = options;
  salvage.unnamed_tables = arguments.unnamed_tables;
  OfflineReport report;
  const Status s = SalvageDB(salvage, db_path, arguments.new_path, &report);
  PrintDamages(report);
  if (!s.ok()) return Failed("salvage", s);
  PrintSummary(report);
  printf("copied %" PRIu64 " keys\n", report.keys_copied);
  return report.whole() ? kExitOk : kExitDamage;
}

}  // namespace pmlsm::cli
