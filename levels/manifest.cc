#include "levels/manifest.h"

#include <algorithm>

#include "util/coding.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr uint64_t kNamePadding = 8;
constexpr uint32_t kLevelsMax = 16;
constexpr uint32_t kSlotsMax = 4096;

template <typename T>
void Append(std::string* to, const T& value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendPadded(std::string* to, const std::string& text) {
  to->append(text);
  to->append((kNamePadding - text.size() % kNamePadding) % kNamePadding, '\0');
}

bool TakePadded(Slice* from, uint32_t bytes, std::string* text) {
  const uint64_t padded = (uint64_t{bytes} + kNamePadding - 1) / kNamePadding * kNamePadding;
  Slice value;
  if (!GetBytes(from, padded, &value)) return false;
  text->assign(value.data(), bytes);
  return true;
}

void AppendFamily(std::string* to, const FamilyState& family) {
  FamilyHeader header = {};
  header.id = family.id;
  header.name_bytes = static_cast<uint32_t>(family.name.size());
  header.comparator_bytes = static_cast<uint32_t>(family.comparator.size());
  header.levels = static_cast<uint32_t>(family.levels.size());
  header.slots = static_cast<uint32_t>(family.levels.empty() ? 0 : family.levels[0].size());
  header.oldest_segment = family.oldest_segment;
  header.flushed_sequence = family.flushed_sequence;
  Append(to, header);
  AppendPadded(to, family.name);
  AppendPadded(to, family.comparator);
  for (const auto& level : family.levels) {
    for (const uint64_t run : level) Append(to, run);
  }
}

// What TakeFamily accepts, and AppendFamily can say.
bool HasLegalLevels(const FamilyState& family) {
  if (family.levels.size() > kLevelsMax) return false;
  for (const auto& level : family.levels) {
    if (level.size() != family.levels[0].size() || level.size() > kSlotsMax) return false;
  }
  return true;
}

bool TakeFamily(Slice* from, FamilyState* family) {
  FamilyHeader header;
  if (!GetFixed(from, &header) || header.levels > kLevelsMax || header.slots > kSlotsMax) return false;
  family->id = header.id;
  family->oldest_segment = header.oldest_segment;
  family->flushed_sequence = header.flushed_sequence;
  if (!TakePadded(from, header.name_bytes, &family->name)) return false;
  if (!TakePadded(from, header.comparator_bytes, &family->comparator)) return false;
  family->levels.assign(header.levels, std::vector<uint64_t>(header.slots));
  for (auto& level : family->levels) {
    for (uint64_t& run : level) {
      if (!GetFixed(from, &run)) return false;
    }
  }
  return true;
}

uint32_t TwinChecksum(std::string twin, uint64_t generation) {
  StoreFixed<uint32_t>(twin.data() + offsetof(ManifestHeader, checksum), 0);
  return Checksum32(twin.data(), twin.size(), generation);
}

uint64_t TwinOffset(const Pool& pool, uint64_t generation) {
  return pool.header().client_offset + sizeof(ManifestRoot) + (generation & 1) * kManifestTwinBytes;
}

}  // namespace

uint64_t GenerationWord(uint64_t generation) {
  uint64_t check = kGenerationCheckSeed;
  for (int bit = 0; bit < kGenerationBits; bit += 8) check ^= generation >> bit & 0xff;
  return generation | check << kGenerationBits;
}

uint64_t GenerationOfWord(uint64_t word) {
  const uint64_t generation = word & ((uint64_t{1} << kGenerationBits) - 1);
  return word == GenerationWord(generation) ? generation : 0;
}

std::string EncodeManifest(const ManifestState& state) {
  ManifestHeader header = {};
  header.magic = kManifestMagic;
  header.format_version = kFormatVersion;
  header.generation = state.generation;
  header.last_sequence = state.last_sequence;
  header.next_run_number = state.next_run_number;
  header.next_table_number = state.next_table_number;
  header.next_segment_number = state.next_segment_number;
  header.clean_end = state.clean_end;
  header.segments = static_cast<uint32_t>(state.segments.size());
  header.families = static_cast<uint32_t>(state.families.size());
  header.next_family_id = state.next_family_id;

  std::string twin;
  Append(&twin, header);
  for (const SegmentRecord& segment : state.segments) Append(&twin, segment);
  for (const FamilyState& family : state.families) AppendFamily(&twin, family);
  StoreFixed<uint64_t>(twin.data() + offsetof(ManifestHeader, bytes), twin.size());
  StoreFixed<uint32_t>(twin.data() + offsetof(ManifestHeader, checksum),
                       TwinChecksum(twin, state.generation));
  return twin;
}

Status DecodeManifest(const Slice& twin, ManifestState* state) {
  const auto damaged = [](const char* where) { return Status::Corruption("manifest", where); };
  if (twin.size() < sizeof(ManifestHeader)) return damaged("shorter than its header");
  const auto header = LoadFixed<ManifestHeader>(twin.data());
  if (header.magic != kManifestMagic) return damaged("magic");
  if (header.bytes < sizeof(header) || header.bytes > twin.size()) return damaged("size");
  if (TwinChecksum(std::string(twin.data(), header.bytes), header.generation) != header.checksum) {
    return damaged("checksum");
  }
  if (header.format_version != kFormatVersion) {
    return Status::InvalidArgument("manifest has format " + std::to_string(header.format_version),
                                   "this library reads " + std::to_string(kFormatVersion));
  }
  ManifestState read;
  read.generation = header.generation;
  read.last_sequence = header.last_sequence;
  read.next_run_number = header.next_run_number;
  read.next_table_number = header.next_table_number;
  read.next_segment_number = header.next_segment_number;
  read.clean_end = header.clean_end;
  read.next_family_id = std::max(read.next_family_id, header.next_family_id);

  Slice rest(twin.data() + sizeof(header), header.bytes - sizeof(header));
  for (uint32_t i = 0; i < header.segments; ++i) {
    SegmentRecord segment;
    if (!GetFixed(&rest, &segment)) return damaged("segments");
    read.segments.push_back(segment);
  }
  for (uint32_t i = 0; i < header.families; ++i) {
    FamilyState family;
    if (!TakeFamily(&rest, &family)) return damaged("families");
    read.next_family_id = std::max(read.next_family_id, family.id + 1);
    read.families.push_back(std::move(family));
  }
  if (!rest.empty()) return damaged("bytes after the last family");
  *state = std::move(read);
  return Status::OK();
}

Manifest::Manifest(Pool* pool, Publisher* publisher, Medium medium, PersistCounters* counters)
    : pool_(pool), publisher_(publisher), store_(medium, counters) {}

Status Manifest::Load(const Pool& pool, ManifestState* state, bool* found) {
  const auto damaged = [](uint64_t offset, const std::string& what) {
    return Status::Corruption("manifest at offset " + std::to_string(offset), what);
  };
  if (pool.header().client_bytes < kManifestAreaBytes)
    return damaged(pool.header().client_offset, "area is too small");
  const uint64_t word = pool.At<ManifestRoot>(pool.header().client_offset)->current;
  *found = word != 0;
  if (word == 0) {
    // A DB whose creation ended before its first publish. The odd twin is written only after that.
    const bool used = pool.At<ManifestHeader>(TwinOffset(pool, kFirstGeneration + 1))->magic != 0;
    return used ? damaged(pool.header().client_offset, "generation word is zero") : Status::OK();
  }
  const uint64_t current = GenerationOfWord(word);
  if (current == 0) return damaged(pool.header().client_offset, "generation word");
  const uint64_t offset = TwinOffset(pool, current);
  Status s = DecodeManifest(Slice(pool.At(offset), kManifestTwinBytes), state);
  if (s.IsCorruption()) s = damaged(offset, s.getState());
  if (s.ok() && state->generation != current) {
    s = damaged(offset, "generation word names " + std::to_string(current) + ", its twin is " +
                            std::to_string(state->generation));
  }
  return s;
}

Status Manifest::Publish(ManifestState* state) {
  ManifestState next = *state;
  next.generation = state->generation == 0 ? kFirstGeneration : state->generation + 1;
  for (const FamilyState& family : next.families) {
    if (HasLegalLevels(family)) continue;
    return Status::NotSupported("manifest: levels of family \"" + family.name + "\"",
                                "at most " + std::to_string(kLevelsMax) + " levels of equally many slots, " +
                                    std::to_string(kSlotsMax));
  }
  const std::string twin = EncodeManifest(next);
  if (twin.size() > kManifestTwinBytes) {
    return Status::NotSupported("manifest of " + std::to_string(twin.size()) + " bytes",
                                "at most " + std::to_string(kManifestTwinBytes));
  }
  char* const destination = pool_->Writable(TwinOffset(*pool_, next.generation));
  const Span range{pool_->ToOffset(destination), twin.size()};
  Status s = publisher_->BeginRange(range);
  if (!s.ok()) return s;
  store_.Copy(destination, twin.data(), twin.size());  // 1
  store_.FlushLines(destination, twin.size());         // 2
  s = store_.Fence();
  if (!s.ok()) {
    publisher_->AbortRange();
    return s;
  }
  s = publisher_->EndRange();
  if (!s.ok()) return s;
  auto* const root = pool_->Writable<ManifestRoot>(pool_->header().client_offset);
  s = publisher_->Publish(&store_, &root->current, GenerationWord(next.generation));  // 3
  if (s.ok()) state->generation = next.generation;
  return s;
}

}  // namespace pmlsm
