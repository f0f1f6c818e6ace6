// Index of a table: a static B+-tree over separators of its data nodes (doc/FORMAT.md, "Index").
//
// Readers do not verify it: they prove by the data nodes, whose checksums cover their place, ordinal and
// keys, that it led them right (table.cc), which is cheaper than a checksum a level and stronger. Here every
// place is checked against the bounds; Check verifies the checksums.
//
// Thread safety: Index is immutable; Cursors are values; an IndexBuilder belongs to one thread.
#pragma once

#include <string>
#include <vector>

#include "levels/index_format.h"
#include "levels/region.h"
#include "pmlsm/comparator.h"
#include "util/coding.h"

namespace pmlsm {

class Index {
 public:
  // `region` holds the index nodes only.
  Index(const Region& region, uint64_t root_place, uint32_t levels, const Comparator* comparator);

  // A data node's position in the index's lowest level.
  class Cursor {
   public:
    uint64_t place() const { return PlaceAt(child_); }
    // The place of the node after it if that is known without another load, else 0. A hint.
    uint64_t next_place() const { return child_ + 1 < children_ ? PlaceAt(child_ + 1) : 0; }

   private:
    friend class Index;
    uint64_t PlaceAt(uint32_t child) const {
      const uint32_t word = LoadFixed<uint32_t>(words_ + child * sizeof(uint32_t));
      return uint64_t{word & ~kChildAfter} * kLineBytes;
    }
    const char* words_ = nullptr;
    uint32_t child_ = 0;
    uint32_t children_ = 0;
    uint64_t leaf_place_ = 0;
    uint32_t leaf_bytes_ = 0;
    uint32_t leaf_previous_bytes_ = 0;
  };

  // The first data node that may hold key.
  Damage Find(const Slice& key, Cursor* cursor) const;
  Damage First(Cursor* cursor) const;
  Damage Last(Cursor* cursor) const;
  // One of all data nodes, chosen by the number: at random where that is; each about as likely as any other.
  Damage Any(uint64_t number, Cursor* cursor) const;
  // REQUIRES: there is one; the caller knows by the nodes' ordinals.
  Damage Next(Cursor* cursor) const;
  Damage Prev(Cursor* cursor) const;

  // Called in key order for each data node, and for each separator between two of them.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual Damage VisitNode(uint64_t place) = 0;
    virtual Damage VisitSeparator(const Slice& separator, bool after, uint64_t place) = 0;
  };
  // Verifies every index node (checksum, layout, links) and visits all that the root reaches.
  Damage Check(Visitor* visitor) const;

  // The nodes that fail their checksum, by their places. Nodes are found one behind the other, so several that
  // are damaged in a row count as one.
  std::vector<Damage> FindDamage() const;

 private:
  // An index node's parts, within its bounds.
  struct View {
    uint64_t place;
    IndexHeader header;
    const char* common;
    const char* heads;
    const char* words;
    const char* ends;
    const char* rests;
    uint32_t rests_bytes;

    uint32_t separators() const { return header.children - 1u; }
    uint64_t head(uint32_t i) const { return LoadFixed<uint64_t>(heads + i * sizeof(uint64_t)); }
    uint32_t word(uint32_t i) const { return LoadFixed<uint32_t>(words + i * sizeof(uint32_t)); }
    uint32_t end(uint32_t i) const;
    Slice rest(uint32_t i) const;
  };
  struct Walk;

  Damage Load(uint64_t place, View* view) const;
  bool ChecksumHolds(const View& view) const;
  Damage LoadLeaf(uint64_t place, View* view) const;
  uint32_t ChildFor(const View& view, const Slice& key) const;
  uint32_t ChildBytewise(const View& view, Slice key) const;
  uint32_t FirstNotBelow(const View& view, const Slice& rest, uint32_t low, uint32_t high) const;
  static void Place(const View& leaf, uint32_t child, Cursor* cursor);
  Damage CheckNode(uint64_t place, uint32_t level, Walk* walk) const;

  Region region_;
  uint64_t root_place_;
  uint32_t levels_;
  bool bytewise_;
  const Comparator* comparator_;
};

// Collects the index in DRAM, level by level. A separator is stored once: in the node that has children on
// both sides of it.
class IndexBuilder {
 public:
  explicit IndexBuilder(bool bytewise) : bytewise_(bytewise) {}

  // Data nodes come in key order. `separator` parts this one from the one before (ignored for the first);
  // `after`: the separator itself belongs to the node before.
  void Add(uint64_t place, const Slice& separator, bool after);

  // Upper bound of what Finish appends now, and after one more Add with a separator of that many bytes.
  uint64_t BytesMax() const;
  static uint64_t BytesMaxOfAdd(size_t separator_bytes) {
    return SeparatorBytes(separator_bytes) + kNodeOverhead;
  }

  // Appends all levels, lowest first; they will lie at `place` (a multiple of 64).
  void Finish(uint64_t place, uint64_t seed, std::string* to, uint64_t* root_place, uint32_t* levels);

 private:
  struct Level {
    std::string closed;           // nodes, with checksums still missing
    std::vector<size_t> starts;   // of nodes in closed
    std::vector<uint32_t> words;  // of the open node
    std::string separators;       // of the open node, whole
    std::vector<size_t> ends;
    size_t common_bytes = 0;  // shared by all separators of the open node
    std::string low;          // separator before the open node
    bool low_after = false;
    uint32_t previous_bytes = 0;
  };
  static constexpr uint64_t kNodeOverhead = 128;  // header, one child, padding
  static uint64_t SeparatorBytes(size_t bytes) { return sizeof(uint64_t) + 2 * sizeof(uint32_t) + bytes; }
  static uint64_t OpenBytes(const Level& level, size_t more_children, size_t more_bytes, size_t common_bytes);

  void AddTo(size_t level, uint32_t word, const Slice& separator, bool after);
  void CloseNode(size_t level);
  void EncodeOpenNode(size_t level, std::string* to) const;

  const bool bytewise_;
  std::vector<Level> levels_;
};

}  // namespace pmlsm
