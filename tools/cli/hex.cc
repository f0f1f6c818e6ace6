#include "tools/cli/hex.h"

#include <cctype>
#include <cstdio>

namespace pmlsm::cli {

Status Decode(const std::string& text, bool hex, std::string* bytes) {
  if (!hex) {
    *bytes = text;
    return Status::OK();
  }
  bytes->clear();
  if (text.size() % 2 != 0) return Status::InvalidArgument("odd number of hexadecimal digits", text);
  for (size_t i = 0; i < text.size(); i += 2) {
    const std::string digits = text.substr(i, 2);
    if (isxdigit(static_cast<unsigned char>(digits[0])) == 0 ||
        isxdigit(static_cast<unsigned char>(digits[1])) == 0)
      return Status::InvalidArgument("not hexadecimal digits", text);
    bytes->push_back(static_cast<char>(std::stoi(digits, nullptr, 16)));
  }
  return Status::OK();
}

void Print(const Slice& bytes, bool hex) {
  if (hex) {
    const std::string digits = bytes.ToString(true);
    fwrite(digits.data(), 1, digits.size(), stdout);
  } else {
    fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
}

}  // namespace pmlsm::cli
