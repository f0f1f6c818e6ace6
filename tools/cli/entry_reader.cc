#include "tools/cli/entry_reader.h"

namespace pmlsm::cli {
namespace {

class LineReader final : public EntryReader {
 public:
  explicit LineReader(std::istream* input) : EntryReader(input) {}

  bool Next(std::string* key, std::string* value) override {
    std::string line;
    do {
      if (!NextLine(&line)) return false;
    } while (line.empty());
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      Refuse("no tab between key and value");
      return false;
    }
    key->assign(line, 0, tab);
    value->assign(line, tab + 1);
    return true;
  }
};

class StanzaReader final : public EntryReader {
 public:
  explicit StanzaReader(std::istream* input) : EntryReader(input) {}

  bool Next(std::string* key, std::string* value) override {
    static constexpr char kField[] = "Package: ";
    constexpr size_t kFieldBytes = sizeof(kField) - 1;
    key->clear();
    value->clear();
    for (std::string line; NextLine(&line);) {
      if (!line.empty()) {
        if (line.compare(0, kFieldBytes, kField) == 0) key->assign(line, kFieldBytes);
        value->append(line).append("\n");
      } else if (!value->empty()) {
        break;
      }
    }
    if (value->empty() || !status().ok()) return false;
    if (key->empty()) {
      Refuse("no Package field in the stanza that ends here");
      return false;
    }
    return true;
  }
};

}  // namespace

bool EntryReader::NextLine(std::string* line) {
  if (!status_.ok()) return false;
  if (std::getline(*input_, *line)) {
    ++line_number_;
    return true;
  }
  if (input_->bad()) status_ = Status::IOError("cannot read", "line " + std::to_string(line_number_ + 1));
  return false;
}

void EntryReader::Refuse(const std::string& what) {
  status_ = Status::InvalidArgument("line " + std::to_string(line_number_), what);
}

std::unique_ptr<EntryReader> NewLineReader(std::istream* input) {
  return std::make_unique<LineReader>(input);
}
std::unique_ptr<EntryReader> NewStanzaReader(std::istream* input) {
  return std::make_unique<StanzaReader>(input);
}

}  // namespace pmlsm::cli
