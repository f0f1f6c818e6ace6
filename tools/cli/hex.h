// Bytes as hexadecimal digits.
#pragma once

#include <string>

#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm::cli {

// The bytes that text stands for, if hex, else text itself. InvalidArgument if the digits are none or odd.
Status Decode(const std::string& text, bool hex, std::string* bytes);
// Writes bytes to stdout, as digits if hex.
void Print(const Slice& bytes, bool hex);

}  // namespace pmlsm::cli
