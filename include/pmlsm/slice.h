// Slice: a view of bytes that somebody else owns.
//
// Thread safety: const methods may run at the same time; anything else needs the caller's lock.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace pmlsm {

class Slice {
 public:
  Slice() = default;
  Slice(const char* data, size_t size) : data_(data), size_(size) {}
  Slice(const char* c_string) : data_(c_string), size_(strlen(c_string)) {}  // NOLINT: implicit as in RocksDB
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}          // NOLINT
  Slice(std::string_view s) : data_(s.data()), size_(s.size()) {}            // NOLINT

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char operator[](size_t i) const { return data_[i]; }
  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }

  void clear() { *this = Slice(); }
  void remove_prefix(size_t n) { data_ += n, size_ -= n; }
  void remove_suffix(size_t n) { size_ -= n; }

  std::string ToString() const { return std::string(data_, size_); }
  std::string ToString(bool hex) const;
  std::string_view ToStringView() const { return std::string_view(data_, size_); }

  // Unsigned bytes, shorter first: < 0, 0 or > 0.
  int compare(const Slice& other) const {
    const size_t common = size_ < other.size_ ? size_ : other.size_;
    const int order = common == 0 ? 0 : memcmp(data_, other.data_, common);
    if (order != 0) return order;
    return size_ < other.size_ ? -1 : size_ > other.size_;
  }
  bool starts_with(const Slice& prefix) const {
    return size_ >= prefix.size_ && (prefix.size_ == 0 || memcmp(data_, prefix.data_, prefix.size_) == 0);
  }

 private:
  const char* data_ = "";
  size_t size_ = 0;
};

inline std::string Slice::ToString(bool hex) const {
  if (!hex) return ToString();
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  text.reserve(2 * size_);
  for (const char c : *this) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

inline bool operator==(const Slice& a, const Slice& b) {
  return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size()) == 0);
}
inline bool operator!=(const Slice& a, const Slice& b) { return !(a == b); }

}  // namespace pmlsm
