#include <algorithm>

#include "db/offline.h"
#include "pmlsm/slice.h"

namespace pmlsm {
namespace {

// Printable keys as they are, others in hexadecimal; long ones cut.
std::string KeyText(const std::string& key) {
  constexpr size_t kShownMax = 64;
  const bool printable =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f && c != '"'; });
  const std::string shown = key.substr(0, kShownMax);
  const std::string text = printable ? "\"" + shown + "\"" : "0x" + Slice(shown).ToString(true);
  return key.size() <= kShownMax ? text : text + "...";
}

}  // namespace

std::string DamagedPiece::ToString() const {
  std::string text = structure + ", " + place + ": " + what;
  if (!loses_data) return text + "; by itself this loses no entry";
  if (!from && !to) return text;
  text += "; keys ";
  if (from == to) return text + KeyText(*from);
  return text + (from ? "from " + KeyText(*from) : "from the first") +
         (to ? " to " + KeyText(*to) : " to the last");
}

bool OfflineReport::loses_data() const {
  return std::any_of(damages.begin(), damages.end(), [](const DamagedPiece& d) { return d.loses_data; });
}

}  // namespace pmlsm
