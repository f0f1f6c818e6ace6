// The persistent layout of the manifest (doc/FORMAT.md, "Manifest"). Constants and structs only.
//
// The pool's client area: ManifestRoot, then two twins of kManifestTwinBytes each. `current` names the
// generation of the twin in force; its parity picks the twin, and the twin's own generation must equal it.
// The word's highest byte is a check, so that a damaged byte never opens the older state.
//
//   twin   := ManifestHeader segment* family*
//   family := FamilyHeader name comparator-name (each padded with zeros to 8 B) run-offset[levels][slots]
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

inline constexpr uint64_t kManifestMagic = 0x7473656661696e6d /* "mniafest" */;
inline constexpr uint64_t kManifestTwinBytes = 64 << 10;
inline constexpr uint64_t kManifestAreaBytes = 256 + 2 * kManifestTwinBytes;
// Its word differs in two bytes from 0, the word of a DB without a manifest.
inline constexpr uint64_t kFirstGeneration = 0x10000;
// `current` = generation (56 bits) | check << 56; check = kGenerationCheckSeed ^ the generation's bytes.
inline constexpr int kGenerationBits = 56;
inline constexpr uint8_t kGenerationCheckSeed = 0xa5;

struct ManifestRoot {
  uint64_t current;  // generation and its check; 0 = nothing published yet
  uint8_t reserved[248];
};
static_assert(sizeof(ManifestRoot) == 256);
static_assert(offsetof(ManifestRoot, current) % 8 == 0, "stored as one aligned word");

struct ManifestHeader {
  uint64_t magic;
  uint32_t format_version;
  uint32_t checksum;  // Checksum32 of the whole twin, `bytes` long, with this field 0; seed: the generation
  uint64_t generation;
  uint64_t bytes;
  uint64_t last_sequence;  // at least that of all tables
  uint64_t next_run_number;
  uint64_t next_table_number;
  uint64_t next_segment_number;
  uint64_t clean_end;  // log position at which a clean close ended; 0 = not closed
  uint32_t segments;
  uint32_t families;
  uint32_t next_family_id;  // greater than all that were ever given; 0: the largest here + 1
  uint8_t reserved[44];     // zero
};
static_assert(sizeof(ManifestHeader) == 128);

struct SegmentRecord {
  uint64_t number;
  uint64_t offset;  // of its span
  uint64_t bytes;
  uint64_t base_position;  // log position of its first byte = exact end of the segment before it
  uint64_t salt;
  uint64_t reserved;  // zero
};
static_assert(sizeof(SegmentRecord) == 48);

struct FamilyHeader {
  uint32_t id;
  uint32_t name_bytes;
  uint32_t comparator_bytes;
  uint32_t levels;
  uint32_t slots;  // a level
  uint32_t reserved;
  uint64_t oldest_segment;    // log segments before it are not needed
  uint64_t flushed_sequence;  // everything up to it is in runs: replay skips it
};
static_assert(sizeof(FamilyHeader) == 40);

}  // namespace pmlsm
