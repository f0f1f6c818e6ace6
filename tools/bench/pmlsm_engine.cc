#include "tools/bench/pmlsm_engine.h"

#include <gflags/gflags.h>

#include "pmlsm/db.h"
#include "tools/flag_check.h"
#include "tools/option_names.h"

DEFINE_string(memtablerep, ToString(pmlsm::Options().memtable), "Memtable: sorted or hash");
DEFINE_string(failure_atomicity, ToString(pmlsm::Options().failure_atomicity),
              "How new bytes become part of the DB: transaction, individual or atomic");
DEFINE_string(merge_order, ToString(pmlsm::Options().merge_order), "How runs are merged: 2way, kway or auto");
DEFINE_string(merge_destination, ToString(pmlsm::Options().merge_destination),
              "Where merged entries are put together: direct, buffered or auto");
DEFINE_string(compaction_style, ToString(pmlsm::Options().compaction_style),
              "tiered, leveled or lazy_leveled");
DEFINE_int32(size_ratio, pmlsm::Options().size_ratio, "Runs that fill a level; 2 to 32");
DEFINE_int32(num_levels, pmlsm::Options().num_levels, "Levels; 1 to 16");
DEFINE_uint32(
    max_size_amplification_percent, pmlsm::Options().max_size_amplification_percent,
    "Space of hidden entries, of that of all others, from which an idle DB merges; 10 to 4294967295 (never)");
DEFINE_uint64(target_table_bytes, pmlsm::Options().target_table_bytes, "A table's size; 16384 to 1073741824");
DEFINE_uint64(node_bytes, pmlsm::Options().node_bytes, "A data node's target size; 256 to 32768");
DEFINE_uint64(extent_bytes, pmlsm::Options().extent_bytes, "Unit of space; a power of two, 4096 to 67108864");
DEFINE_uint64(max_pmem_bytes, 0, "The pool's largest size; 0 = 90 % of the file system's size");
DEFINE_uint64(dram_budget_bytes, pmlsm::Options().dram_budget_bytes,
              "DRAM for memtables and the routing of reads; 0, or 1048576 to 70368744177664");
DEFINE_string(pool_file, "", "Pool file or device; empty = a set of files in the DB's directory");

namespace pmlsm::bench {
namespace {

// A flag whose text must be one of an enum's names.
template <typename Enum>
bool CheckName(const char* flag, const std::string& text) {
  Enum ignored;
  const Status s = ParseOptionName(text, &ignored);
  if (s.ok()) return true;
  return RefuseFlag(flag, text, s.getState());
}
bool CheckMemtable(const char* flag, const std::string& text) { return CheckName<MemTableType>(flag, text); }
bool CheckAtomicity(const char* flag, const std::string& text) {
  return CheckName<FailureAtomicity>(flag, text);
}
bool CheckMergeOrder(const char* flag, const std::string& text) { return CheckName<MergeOrder>(flag, text); }
bool CheckDestination(const char* flag, const std::string& text) {
  return CheckName<MergeDestination>(flag, text);
}
bool CheckStyle(const char* flag, const std::string& text) { return CheckName<CompactionStyle>(flag, text); }

}  // namespace
}  // namespace pmlsm::bench

DEFINE_validator(memtablerep, &pmlsm::bench::CheckMemtable);
DEFINE_validator(failure_atomicity, &pmlsm::bench::CheckAtomicity);
DEFINE_validator(merge_order, &pmlsm::bench::CheckMergeOrder);
DEFINE_validator(merge_destination, &pmlsm::bench::CheckDestination);
DEFINE_validator(compaction_style, &pmlsm::bench::CheckStyle);

namespace pmlsm::bench {
namespace {

template <typename Enum>
Enum FromName(const std::string& text) {
  Enum value{};
  ParseOptionName(text, &value).PermitUncheckedError();  // the flag's validator has looked
  return value;
}

template <typename Flag, typename Option>
void SetUnlessDefault(Flag flag, Option* option) {
  if (flag != 0) *option = static_cast<Option>(flag);
}

Options OptionsFromFlags(const EngineOptions& common) {
  Options options;
  options.create_if_missing = true;
  options.memtable = FromName<MemTableType>(FLAGS_memtablerep);
  options.failure_atomicity = FromName<FailureAtomicity>(FLAGS_failure_atomicity);
  options.merge_order = FromName<MergeOrder>(FLAGS_merge_order);
  options.merge_destination = FromName<MergeDestination>(FLAGS_merge_destination);
  options.compaction_style = FromName<CompactionStyle>(FLAGS_compaction_style);
  options.max_pmem_bytes = FLAGS_max_pmem_bytes;
  options.pool_file = FLAGS_pool_file;
  options.dram_budget_bytes = FLAGS_dram_budget_bytes;
  options.size_ratio = FLAGS_size_ratio;
  options.num_levels = FLAGS_num_levels;
  options.max_size_amplification_percent = FLAGS_max_size_amplification_percent;
  options.target_table_bytes = FLAGS_target_table_bytes;
  options.node_bytes = FLAGS_node_bytes;
  options.extent_bytes = FLAGS_extent_bytes;
  SetUnlessDefault(common.write_buffer_size, &options.write_buffer_size);
  SetUnlessDefault(common.max_write_buffer_number, &options.max_write_buffer_number);
  SetUnlessDefault(common.max_background_jobs, &options.max_background_jobs);
  if (common.bloom_bits >= 0) options.filter_bits_per_key = common.bloom_bits;
  return options;
}

std::string DurabilityOf(const EngineOptions& options) {
  if (options.disable_wal) return "no log: lost in a crash unless its memtable was flushed";
  if (!options.sync) return "survives a killed process; a power cut only with the next sync write";
  return "survives a power cut when it returns (one fence)";
}

class PmlsmSession final : public Session {
 public:
  PmlsmSession(DB* db, const EngineOptions& options) : db_(db) {
    write_options_.sync = options.sync && !options.disable_wal;
    write_options_.disableWAL = options.disable_wal;
    read_options_.verify_checksums = options.verify_checksum;
  }

  Status Put(const Slice& key, const Slice& value) override { return db_->Put(write_options_, key, value); }
  Status Delete(const Slice& key) override { return db_->Delete(write_options_, key); }
  Status Get(const Slice& key, Slice* value) override {
    value_.Reset();
    Status s = db_->Get(read_options_, key, &value_);
    *value = value_;
    return s;
  }
  Status BatchPut(const Slice& key, const Slice& value) override { return batch_.Put(key, value); }
  Status BatchDelete(const Slice& key) override { return batch_.Delete(key); }
  Status BatchWrite() override {
    Status s = db_->Write(write_options_, &batch_);
    batch_.Clear();
    return s;
  }
  std::unique_ptr<Iterator> NewIterator() override {
    return std::unique_ptr<Iterator>(db_->NewIterator(read_options_));
  }

 private:
  DB* const db_;
  WriteOptions write_options_;
  ReadOptions read_options_;
  PinnableSlice value_;
  pmlsm::WriteBatch batch_;
};

class PmlsmEngine final : public Engine {
 public:
  explicit PmlsmEngine(const EngineOptions& common) : common_(common), options_(OptionsFromFlags(common)) {}

  Status CheckOptions() const override { return options_.Validate(); }
  Status Open() override { return DB::Open(options_, common_.path, &db_); }
  Status Close() override {
    if (db_ == nullptr) return Status::OK();
    Status s = db_->Close();
    db_.reset();
    return s;
  }
  Status Destroy() override { return DestroyDB(common_.path, options_); }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<PmlsmSession>(db_.get(), common_);
  }

  Status Flush() override { return db_->Flush(FlushOptions()); }
  Status Compact() override { return db_->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  Status WaitForCompaction() override { return db_->WaitForCompact(); }
  bool GetProperty(const std::string& name, std::string* value) override {
    return db_->GetProperty("pmlsm." + name, value);
  }

  std::vector<std::pair<std::string, std::string>> Describe() override {
    std::string medium;
    if (!GetProperty("medium", &medium)) medium = "unknown";
    return {
        {"Medium", medium},
        {"Each Put", DurabilityOf(common_)},
        {"Failure atomicity", ToString(options_.failure_atomicity)},
        {"Memtablerep", std::string(ToString(options_.memtable)) + ", " +
                            std::to_string(options_.write_buffer_size) + " bytes, at most " +
                            std::to_string(options_.max_write_buffer_number)},
        {"Compaction", std::string(ToString(options_.compaction_style)) + ", size ratio " +
                           std::to_string(options_.size_ratio) + ", " + std::to_string(options_.num_levels) +
                           " levels, tables of " + std::to_string(options_.target_table_bytes) +
                           " bytes, nodes of " + std::to_string(options_.node_bytes) + " bytes"},
        {"Merge", std::string("order ") + ToString(options_.merge_order) + ", destination " +
                      ToString(options_.merge_destination) + ", " +
                      std::to_string(options_.max_background_jobs) + " background threads"},
        {"Filter", std::to_string(options_.filter_bits_per_key) + " bits a key"},
        {"Compression", "none"},
        {"Checksums", common_.verify_checksum ? "checked by every read" : "not checked by reads"},
    };
  }

 private:
  const EngineOptions common_;
  const Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewPmlsmEngine(const EngineOptions& options) {
  return std::make_unique<PmlsmEngine>(options);
}

}  // namespace pmlsm::bench
