// The bytes of a Pmwcas: its descriptors, and what a word holds while a descriptor works on it. Constants and structs
// only. All numbers are little-endian; all words are aligned and stored whole.
//
//   area         PmwcasDescriptor[kPmwcasDescriptors], 256-byte aligned, zero at first
//   status       bits 0-1 state, 2-37 version; the version rises with each use of the descriptor
//   plain word   the two top bits are 0
//   reference    bit 63; bits 0-5 descriptor, 25-60 version
//   install      bit 62; bits 0-5 descriptor, 6-8 which of its words, 9-12 participant, 13-24 attempt, 25-60 version
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm::primitives {

inline constexpr uint32_t kPmwcasWordsMax = 8;
inline constexpr uint32_t kPmwcasThreadsMax = 16;
inline constexpr uint32_t kPmwcasDescriptorsEach = 4;  // of a thread
inline constexpr uint32_t kPmwcasDescriptors = kPmwcasThreadsMax * kPmwcasDescriptorsEach;

struct PmwcasDescriptor {
  struct Word {
    uint64_t offset;  // of the word, from the memory's start
    uint64_t old_value;
    uint64_t new_value;
  };
  uint64_t status;
  uint64_t count;               // words in use
  Word words[kPmwcasWordsMax];  // ascending offsets
  uint64_t reserved[6];         // zero
};
static_assert(sizeof(PmwcasDescriptor) == 256);
static_assert(offsetof(PmwcasDescriptor, words) == 16);

enum class PmwcasState : uint64_t { kUnused = 0, kUndecided = 1, kSucceeded = 2, kFailed = 3 };

inline constexpr uint64_t kPmwcasReference = uint64_t{1} << 63;
inline constexpr uint64_t kPmwcasInstall = uint64_t{1} << 62;
inline constexpr uint64_t kPmwcasFlags = kPmwcasReference | kPmwcasInstall;

inline constexpr uint64_t kPmwcasVersions = uint64_t{1} << 36;
inline constexpr int kPmwcasWordShift = 6;
inline constexpr int kPmwcasThreadShift = 9;
inline constexpr int kPmwcasAttemptShift = 13;
inline constexpr uint64_t kPmwcasAttempts = uint64_t{1} << 12;
inline constexpr int kPmwcasVersionShift = 25;
static_assert(kPmwcasDescriptors <= 1 << kPmwcasWordShift);
static_assert(kPmwcasWordsMax <= 1 << (kPmwcasThreadShift - kPmwcasWordShift));
static_assert(kPmwcasThreadsMax <= 1 << (kPmwcasAttemptShift - kPmwcasThreadShift));

inline uint64_t PmwcasStatus(uint64_t version, PmwcasState state) {
  return version << 2 | static_cast<uint64_t>(state);
}
inline PmwcasState StateOf(uint64_t status) { return static_cast<PmwcasState>(status & 3); }
inline uint64_t VersionOfStatus(uint64_t status) { return status >> 2; }

inline uint64_t PmwcasReferenceTo(uint32_t descriptor, uint64_t version) {
  return kPmwcasReference | version << kPmwcasVersionShift | descriptor;
}
// Of a reference or an install.
inline uint32_t DescriptorOf(uint64_t word) { return word & ((1 << kPmwcasWordShift) - 1); }
inline uint32_t WordIndexOf(uint64_t install) { return install >> kPmwcasWordShift & (kPmwcasWordsMax - 1); }
inline uint64_t VersionOf(uint64_t word) { return word >> kPmwcasVersionShift & (kPmwcasVersions - 1); }

}  // namespace pmlsm::primitives
