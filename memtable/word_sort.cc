#include "memtable/word_sort.h"

#include <algorithm>
#include <array>

namespace pmlsm {
namespace {

constexpr int kDigits = 8;  // of 8 bits each
constexpr size_t kDigitValues = 256;

size_t Digit(uint64_t word, int digit) { return (word >> (8 * digit)) & (kDigitValues - 1); }

// The bytes that all keys share are left out, so that the words tell more of them apart.
void SetWords(const KeyOrder& order, std::vector<WordEntry>* entries) {
  const Slice first = entries->front().entry->key();
  size_t common = first.size();
  for (const WordEntry& at : *entries) {
    common = std::min(common, order.CommonPrefixBytes(Slice(first.data(), common), at.entry->key()));
    if (common == 0) break;
  }
  for (WordEntry& at : *entries) at.word = order.Word(at.entry->key(), common);
}

// Least significant digit first; each pass keeps the order of equal digits.
void RadixSort(std::vector<WordEntry>* entries) {
  std::array<std::array<uint32_t, kDigitValues>, kDigits> counts{};
  for (const WordEntry& at : *entries) {
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][Digit(at.word, digit)];
  }
  std::vector<WordEntry> other(entries->size());
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& places = counts[digit];
    if (places[Digit(entries->front().word, digit)] == entries->size()) continue;  // all the same
    uint32_t next = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = next;
      next += count;
    }
    for (const WordEntry& at : *entries) other[places[Digit(at.word, digit)]++] = at;
    entries->swap(other);
  }
}

}  // namespace

void SortEntries(const KeyOrder& order, std::vector<WordEntry>* entries) {
  if (entries->empty()) return;
  SetWords(order, entries);
  RadixSort(entries);
  for (auto start = entries->begin(); start != entries->end();) {
    auto end = start + 1;
    while (end != entries->end() && end->word == start->word) ++end;
    if (end - start > 1) {
      std::sort(start, end, [&](const WordEntry& a, const WordEntry& b) {
        return order.Compare(*a.entry, *b.entry) < 0;
      });
    }
    start = end;
  }
}

}  // namespace pmlsm
