#include "tools/bench/outcome.h"

#include <sstream>

namespace pmlsm::bench {

PmemCountsByClass ParsePmemCounts(const std::string& text) {
  PmemCountsByClass counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    PmemCounts c;
    if (words >> name >> c.bytes >> c.lines >> c.blocks >> c.fences) counts[name] = c;
  }
  return counts;
}

PmemCountsByClass Difference(const PmemCountsByClass& after, const PmemCountsByClass& before) {
  PmemCountsByClass difference = after;
  for (auto& [name, counts] : difference) {
    const auto found = before.find(name);
    if (found == before.end()) continue;
    counts.bytes -= found->second.bytes;
    counts.lines -= found->second.lines;
    counts.blocks -= found->second.blocks;
    counts.fences -= found->second.fences;
  }
  return difference;
}

PmemCounts Sum(const PmemCountsByClass& counts) {
  PmemCounts sum;
  for (const auto& [name, c] : counts) {
    if (name == "total") continue;
    sum.bytes += c.bytes;
    sum.lines += c.lines;
    sum.blocks += c.blocks;
    sum.fences += c.fences;
  }
  return sum;
}

}  // namespace pmlsm::bench
