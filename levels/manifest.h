// Manifest: the one persistent statement of what the DB consists of (doc/FORMAT.md, "Manifest"): the level
// arrays of Figure 4 of the paper, the live log segments, and the next numbers.
//
// Publish, stores in order: 1. Copy the new state into the twin that is not in force. 2. Flush and fence it.
// 3. Publisher::Publish flips `current` (8 B): the one step that makes the state visible.
// CRASH before 3: the old state; the half-written twin is never read. After 3: the new state.
//
// Thread safety: none; the DB's mutex serialises Publish.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "levels/manifest_format.h"
#include "pmem/pool.h"
#include "pmem/publish.h"
#include "pmem/store.h"
#include "pmlsm/status.h"

namespace pmlsm {

struct FamilyState {
  uint32_t id = 0;
  std::string name = "default";
  std::string comparator;
  uint64_t oldest_segment = 0;
  uint64_t flushed_sequence = 0;
  // levels[level][slot] = offset of a run descriptor; 0 = free. All levels have the same number of slots.
  std::vector<std::vector<uint64_t>> levels;
};

struct ManifestState {
  uint64_t generation = 0;  // set by Publish and Load
  uint64_t last_sequence = 0;
  uint64_t next_run_number = 1;
  uint64_t next_table_number = 1;
  uint64_t next_segment_number = 1;
  uint32_t next_family_id = 1;
  uint64_t clean_end = 0;
  std::vector<SegmentRecord> segments;  // ascending
  std::vector<FamilyState> families;
};

class Manifest {
 public:
  Manifest(Pool* pool, Publisher* publisher, Medium medium, PersistCounters* counters);

  // *found = false if nothing has been published. Corruption: what and where.
  static Status Load(const Pool& pool, ManifestState* state, bool* found);

  // On success state->generation is the new one. On failure the old state stays in force; NotSupported if the
  // state does not fit a twin, or has levels or slots that Load would refuse.
  Status Publish(ManifestState* state);

 private:
  Pool* const pool_;
  Publisher* const publisher_;
  Store store_;
};

// The word that puts a generation in force, and back; 0 if it is damaged.
uint64_t GenerationWord(uint64_t generation);
uint64_t GenerationOfWord(uint64_t word);

// The bytes of a twin, and back. Exposed for the golden-bytes test.
std::string EncodeManifest(const ManifestState& state);
Status DecodeManifest(const Slice& twin, ManifestState* state);

}  // namespace pmlsm
