#include "compressor/file/chunking.hpp"

#include <gtest/gtest.h>

namespace taut::file {
namespace {

using Shape = std::vector<std::uint64_t>;

TEST(Pieces, CoverEachValueOnceInOrder) {
  for (const Shape& shape :
       {Shape{}, {1}, {7}, {10, 10}, {3, 5, 7}, {2, 100}, {100, 2}, {4, 1, 9, 1}, {1, 1, 23}}) {
    std::uint64_t next = 0, total = 1;
    for (const std::uint64_t extent : shape) total *= extent;
    for (const Piece& piece : pieces_of(shape, 10)) {
      EXPECT_EQ(piece.first, next);
      EXPECT_LE(piece.count(), 10u);
      next += piece.count();
    }
    EXPECT_EQ(next, total);
  }
}

TEST(Pieces, WholePlanesAndRowsStayTogether) {
  const auto planes = pieces_of({7, 2, 5}, 30);
  ASSERT_EQ(planes.size(), 3u);
  EXPECT_EQ(planes[0].extents, (std::vector<std::size_t>{3, 2, 5}));
  EXPECT_EQ(planes[2].extents, (std::vector<std::size_t>{2, 2, 5}));
  const auto rows = pieces_of({2, 6, 5}, 25);
  ASSERT_EQ(rows.size(), 4u);  // no chunk crosses the end of a plane
  EXPECT_EQ(rows[1].extents, (std::vector<std::size_t>{3, 5}));
}

TEST(Pieces, NoneOfNothing) {
  EXPECT_TRUE(pieces_of({0}).empty());
  EXPECT_TRUE(pieces_of({std::uint64_t{1} << 40, 0, 3}).empty());
}

TEST(Pieces, OneOfASmallArray) {
  EXPECT_EQ(pieces_of({16, 64, 64, 64}).size(), 1u);
  EXPECT_EQ(pieces_of({}).size(), 1u);
}

}  // namespace
}  // namespace taut::file
