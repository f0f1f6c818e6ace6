// pmlsm: looks into a DB and changes it from the command line. Exit code: 0, 1 = not found or damage, 2 = error.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "pmlsm/db.h"
#include "tools/cli/commands.h"
#include "tools/option_names.h"

namespace pmlsm::cli {
namespace {

// What a command line asks for.
struct Request {
  std::string db_path;
  Options options;
  LoadArguments load;
  KeyArguments key;
  ScanArguments scan;
  StatsArguments stats;
  SalvageArguments salvage;
  ProbeArguments probe;
  std::function<int(DB*)> command;
  std::function<int()> offline_command;  // instead of command: the DB is not opened
};

// An option whose text is an enum's name.
template <typename Enum>
void AddName(CLI::App* app, const std::string& name, Enum* value, const std::string& help) {
  app->add_option_function<std::string>(
         name,
         [name, value](const std::string& text) {
           const Status s = ParseOptionName(text, value);
           if (!s.ok()) throw CLI::ValidationError(name, "must be " + std::string(s.getState()));
         },
         help)
      ->type_name("NAME");
}

void AddSize(CLI::App* app, const std::string& name, uint64_t* value, const std::string& help) {
  app->add_option(name, *value, help)
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE")
      ->capture_default_str();
}

void AddDbOptions(CLI::App* app, Request* request) {
  Options& options = request->options;
  app->add_option("--db", request->db_path, "The DB's directory")->required();
  app->add_flag("--create", options.create_if_missing, "Create the DB if there is none");
  AddSize(app, "--max-pmem-bytes", &options.max_pmem_bytes,
          "Largest size of a new pool; 0 = 90 % of the file system");
  AddSize(app, "--extent-bytes", &options.extent_bytes, "Unit of space of a new DB");
  AddSize(app, "--write-buffer-size", &options.write_buffer_size, "Bytes of a memtable");
  AddSize(app, "--target-table-bytes", &options.target_table_bytes, "Bytes of a table");
  app->add_option("--pool-file", options.pool_file,
                  "Pool file or device instead of files in the DB's directory");
  AddName(app, "--memtable", &options.memtable, "sorted or hash");
  AddName(app, "--failure-atomicity", &options.failure_atomicity, "transaction, individual or atomic");
}

void AddLoad(CLI::App* app, Request* request) {
  CLI::App* const load = app->add_subcommand("load", "Put entries from a text: a line each, key<TAB>value");
  LoadArguments& arguments = request->load;
  load->add_option("file", arguments.file, "The text; - = stdin")->capture_default_str();
  load->add_flag(
      "--stanzas", arguments.stanzas,
      "Debian control stanzas, as apt-cache dumpavail prints them: key = Package, value = the stanza");
  load->add_option("--batch-size", arguments.batch_size, "Entries that go in as one")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  load->add_option("--progress-every", arguments.progress_every,
                   "A line on stderr after so many entries are durable; 0 = none")
      ->capture_default_str();
  load->callback([request] { request->command = [request](DB* db) { return Load(db, request->load); }; });
}

void AddKeyCommands(CLI::App* app, Request* request) {
  const auto add = [app, request](const char* name, const char* help, int (*run)(DB*, const KeyArguments&)) {
    CLI::App* const command = app->add_subcommand(name, help);
    command->add_option("key", request->key.key, "The key")->required();
    command->add_flag("--hex", request->key.hex, "Key and value are hexadecimal digits");
    command->callback(
        [request, run] { request->command = [request, run](DB* db) { return run(db, request->key); }; });
    return command;
  };
  add("get", "Print the value of a key; exit code 1 if it has none", Get);
  add("put", "Set a key's value", Put)->add_option("value", request->key.value, "The value")->required();
  add("del", "Remove a key; it need not be there", Delete);
}

void AddScan(CLI::App* app, Request* request) {
  CLI::App* const scan = app->add_subcommand("scan", "Print entries in order: a line each, key<TAB>value");
  ScanArguments& arguments = request->scan;
  scan->add_option("--prefix", arguments.prefix, "Only keys that start with this");
  scan->add_option("--from", arguments.from, "Only keys from this one on");
  scan->add_option("--to", arguments.to, "Only keys before this one");
  scan->add_option("--limit", arguments.limit, "At most so many; 0 = all")->capture_default_str();
  scan->add_flag("--reverse", arguments.reverse, "From the last key to the first");
  scan->add_flag("--keys-only", arguments.keys_only, "No values");
  scan->add_flag("--hex", arguments.hex, "What is given and what is printed are hexadecimal digits");
  scan->callback([request] { request->command = [request](DB* db) { return Scan(db, request->scan); }; });
}

void AddStats(CLI::App* app, Request* request) {
  CLI::App* const stats = app->add_subcommand("stats", "Print what the DB says about itself");
  stats->add_option("property", request->stats.properties, "Properties to print, such as pmlsm.stats");
  stats->callback([request] { request->command = [request](DB* db) { return Stats(db, request->stats); }; });
}

void AddOffline(CLI::App* app, Request* request) {
  CLI::App* const families =
      app->add_subcommand("families", "List the column families of a DB that is not open, a name a line");
  families->callback([request] {
    request->offline_command = [request] { return Families(request->db_path, request->options); };
  });
  CLI::App* const check = app->add_subcommand(
      "check", "Read all of a DB that is not open, and list all damage; exit code 1 if there is any");
  check->callback([request] {
    request->offline_command = [request] { return Check(request->db_path, request->options); };
  });
  CLI::App* const salvage = app->add_subcommand(
      "salvage",
      "Copy what can be read of a damaged DB to a new one, and list the damage; exit code 1 if there is any");
  salvage->add_option("newdir", request->salvage.new_path, "Directory of the new DB")->required();
  salvage->add_flag(
      "--unnamed-tables", request->salvage.unnamed_tables,
      "Also tables that nothing names, for a DB without a manifest: deleted keys may come back");
  salvage->callback([request] {
    request->offline_command = [request] {
      return Salvage(request->db_path, request->options, request->salvage);
    };
  });
}

void AddProbe(CLI::App* app, Request* request) {
  CLI::App* const probe = app->add_subcommand(
      "probe",
      "Measure reads and writes of the medium below the directory --db, which need not hold a DB, and print "
      "them as a device profile for node_counts --profile");
  probe->add_option("--bytes", request->probe.bytes, "Memory that is read and written at random")
      ->transform(CLI::AsSizeValue(false) & CLI::Range(uint64_t{1} << 20, uint64_t{1} << 40))
      ->type_name("SIZE")
      ->capture_default_str();
  probe->callback([request] {
    request->offline_command = [request] { return Probe(request->db_path, request->probe); };
  });
}

int FlushOutput(int exit_code) {
  if (fflush(stdout) == 0 && ferror(stdout) == 0) return exit_code;
  return Failed("stdout", Status::IOError("cannot write"));
}

int RunOnDb(const Request& request) {
  // All families must be opened, with the same options; commands are about the default one.
  std::vector<std::string> names;
  if (!DB::ListColumnFamilies(request.options, request.db_path, &names).ok())
    names = {kDefaultColumnFamilyName};
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, request.options);
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  Status s = DB::Open(request.options, request.db_path, families, &handles, &db);
  if (!s.ok()) return Failed(request.db_path, s);
  for (ColumnFamilyHandle* handle : handles) delete handle;
  int exit_code = request.command(db.get());
  s = db->Close();
  if (!s.ok()) exit_code = Failed(request.db_path, s);
  return FlushOutput(exit_code);
}

}  // namespace

int Failed(const std::string& what, const Status& s) {
  fprintf(stderr, "pmlsm: %s: %s\n", what.c_str(), s.ToString().c_str());
  return kExitError;
}

int Main(int argc, char** argv) {
  CLI::App app("Looks into a pmlsm DB and changes it. Exit code: 0, 1 = not found or damage, 2 = error.",
               "pmlsm");
  Request request;
  app.require_subcommand(1);
  app.fallthrough();  // so that --db may stand after the command
  AddDbOptions(&app, &request);
  AddLoad(&app, &request);
  AddKeyCommands(&app, &request);
  AddScan(&app, &request);
  AddStats(&app, &request);
  AddOffline(&app, &request);
  AddProbe(&app, &request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitError;
  }
  return request.offline_command ? FlushOutput(request.offline_command()) : RunOnDb(request);
}

}  // namespace pmlsm::cli

int main(int argc, char** argv) { return pmlsm::cli::Main(argc, argv); }
