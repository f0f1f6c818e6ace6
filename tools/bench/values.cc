#include "tools/bench/values.h"

namespace pmlsm::bench {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
// Pieces of 100 bytes of which the second half repeats the first: db_bench's --compression_ratio=0.5.
constexpr size_t kPieceBytes = 100;

}  // namespace

ValueGenerator::ValueGenerator(size_t value_bytes, Random* random) : value_bytes_(value_bytes) {
  const size_t wanted = std::max(kBufferBytes, value_bytes);
  while (bytes_.size() < wanted) {
    std::string half;
    for (size_t i = 0; i < kPieceBytes / 2; ++i) half += static_cast<char>(' ' + random->Uniform(95));
    bytes_ += half + half;
  }
}

}  // namespace pmlsm::bench
