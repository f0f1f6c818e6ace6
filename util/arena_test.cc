// Arena and ArenaBlockPool by their contracts.
#include "util/arena.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "util/arena_block_pool.h"

namespace pmlsm {
namespace {

constexpr size_t kBlock = ArenaBlockPool::kBlockBytes;

bool IsAligned(const char* at, size_t alignment) { return reinterpret_cast<uintptr_t>(at) % alignment == 0; }

TEST(ArenaTest, PiecesKeepTheirContentAndTheirAlignment) {
  ArenaBlockPool pool(kBlock);
  Arena arena(&pool);
  struct Piece {
    char* at;
    size_t bytes;
    char fill;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < 20000; ++i) {
    const size_t bytes = i % 1000 == 999 ? kBlock / 4 + i : 1 + i * 7919 % 700;
    char* const at = i % 10 == 0 ? arena.AllocateCacheLines(bytes) : arena.Allocate(bytes);
    ASSERT_TRUE(IsAligned(at, i % 10 == 0 ? Arena::kCacheLineBytes : Arena::kAlignment));
    memset(at, static_cast<char>(i), bytes);
    pieces.push_back({at, bytes, static_cast<char>(i)});
  }
  for (const Piece& piece : pieces) {
    ASSERT_EQ(piece.at[0], piece.fill);
    ASSERT_EQ(piece.at[piece.bytes - 1], piece.fill);
    ASSERT_EQ(memcmp(piece.at, piece.at + 1, piece.bytes - 1), 0);
  }
}

TEST(ArenaTest, SmallArenasTakeSmallBlocksAndCountWhatTheyHandOut) {
  Arena arena;
  EXPECT_EQ(arena.bytes_in_use(), 0u);
  EXPECT_EQ(arena.block_bytes(), 0u);
  arena.Allocate(1);
  EXPECT_EQ(arena.bytes_in_use(), 8u);
  EXPECT_LE(arena.block_bytes(), size_t{16} << 10);
  for (int i = 0; i < 100; ++i) arena.Allocate(1000);
  EXPECT_EQ(arena.bytes_in_use(), 100008u);
  EXPECT_LT(arena.block_bytes(), size_t{160} << 10);
}

TEST(ArenaTest, ALargePieceTakesItsOwnSizeAndLeavesTheBlockOpen) {
  Arena arena;
  const char* const before = arena.Allocate(8);
  const size_t blocks = arena.block_bytes();
  arena.Allocate(size_t{5} << 20);
  EXPECT_EQ(arena.block_bytes(), blocks + (size_t{5} << 20));
  EXPECT_EQ(arena.Allocate(8), before + 8);
}

TEST(ArenaBlockPoolTest, BlocksOfADeadArenaServeTheNext) {
  ArenaBlockPool pool(4 * kBlock);
  const auto fill = [&pool] {
    Arena arena(&pool);
    for (int i = 0; i < 30; ++i) arena.Allocate(kBlock / 10);
  };
  fill();
  const size_t kept = pool.free_bytes();
  EXPECT_GE(kept, 3 * kBlock);
  fill();
  EXPECT_EQ(pool.free_bytes(), kept);
}

TEST(ArenaBlockPoolTest, KeepsNoMoreThanItsLimit) {
  ArenaBlockPool pool(2 * kBlock);
  std::vector<char*> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(pool.Take());
    EXPECT_TRUE(IsAligned(blocks.back(), kBlock));
  }
  for (char* const block : blocks) pool.GiveBack(block);
  EXPECT_EQ(pool.free_bytes(), 2 * kBlock);
  pool.SetLimit(kBlock);
  EXPECT_EQ(pool.free_bytes(), kBlock);
  pool.SetLimit(0);
  EXPECT_EQ(pool.free_bytes(), 0u);
}

TEST(ArenaBlockPoolTest, WarmFillsUpToTheSmallerOfBytesAndLimit) {
  ArenaBlockPool pool(3 * kBlock);
  pool.Warm(2 * kBlock);
  EXPECT_EQ(pool.free_bytes(), 2 * kBlock);
  pool.Warm(10 * kBlock);
  EXPECT_EQ(pool.free_bytes(), 3 * kBlock);
}

}  // namespace
}  // namespace pmlsm
