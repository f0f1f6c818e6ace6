#include <algorithm>
#include <cstdio>
#include <memory>

#include "tools/cli/commands.h"
#include "tools/cli/hex.h"

namespace pmlsm::cli {
namespace {

// The first key after all that start with prefix; "" if there is none.
std::string EndOfPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

struct Bounds {
  std::string from;  // "" = the first key
  std::string to;    // "" = no end
};

// What lies in [from, to) and starts with prefix.
Status MakeBounds(const ScanArguments& arguments, Bounds* bounds) {
  std::string prefix;
  Status s = Decode(arguments.prefix, arguments.hex, &prefix);
  if (s.ok()) s = Decode(arguments.from, arguments.hex, &bounds->from);
  if (s.ok()) s = Decode(arguments.to, arguments.hex, &bounds->to);
  if (!s.ok()) return s;
  bounds->from = std::max(bounds->from, prefix);
  const std::string end = EndOfPrefix(prefix);
  if (bounds->to.empty() || (!end.empty() && end < bounds->to)) bounds->to = end;
  return s;
}

void PrintEntry(const Iterator& it, const ScanArguments& arguments) {
  Print(it.key(), arguments.hex);
  if (!arguments.keys_only) {
    putchar('\t');
    Print(it.value(), arguments.hex);
  }
  putchar('\n');
}

}  // namespace

int Scan(DB* db, const ScanArguments& arguments) {
  Bounds bounds;
  Status s = MakeBounds(arguments, &bounds);
  if (!s.ok()) return Failed("scan", s);
  const Slice lower = bounds.from, upper = bounds.to;
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  if (!upper.empty()) options.iterate_upper_bound = &upper;

  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  uint64_t printed = 0;
  for (arguments.reverse ? it->SeekToLast() : it->SeekToFirst();
       it->Valid() && (arguments.limit == 0 || printed < arguments.limit);
       arguments.reverse ? it->Prev() : it->Next()) {
    PrintEntry(*it, arguments);
    ++printed;
  }
  s = it->status();
  return s.ok() ? kExitOk : Failed("scan", s);
}

}  // namespace pmlsm::cli
