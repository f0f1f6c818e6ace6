// EntryReader: entries from a text, one after another.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <string>

#include "pmlsm/status.h"

namespace pmlsm::cli {

class EntryReader {
 public:
  virtual ~EntryReader() = default;

  // False at the end of the text and after an error.
  virtual bool Next(std::string* key, std::string* value) = 0;
  // InvalidArgument with the line's number if the text is not of the expected form; IOError if it cannot be
  // read.
  const Status& status() const { return status_; }

 protected:
  explicit EntryReader(std::istream* input) : input_(input) {}
  bool NextLine(std::string* line);
  void Refuse(const std::string& what);

 private:
  std::istream* const input_;
  uint64_t line_number_ = 0;
  Status status_;
};

// Lines "key<TAB>value"; the value is all after the first tab. Empty lines are skipped.
std::unique_ptr<EntryReader> NewLineReader(std::istream* input);

// Paragraphs of Debian's control files: the value is the whole paragraph, each line ended by a newline; the
// key is what its "Package:" field says.
std::unique_ptr<EntryReader> NewStanzaReader(std::istream* input);

}  // namespace pmlsm::cli
