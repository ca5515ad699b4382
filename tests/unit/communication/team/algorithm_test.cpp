#include "communication/team/algorithm.hpp"

#include <gtest/gtest.h>

#include <array>

namespace taut {
namespace {

constexpr int P = 3;

Operands operands(ConstSlice in, Slice out, int root = 0) { return {.in = in, .out = out, .root = root}; }

class Inputs : public testing::Test {
 protected:
  Slice all() { return {{values.data(), values.size(), DType::f32}}; }
  Slice block_of(int rank) { return block(all(), static_cast<std::size_t>(rank), P); }

  std::array<float, 12> values{}, other{};
  const ConstSlice elsewhere{{other.data(), other.size(), DType::f32}};
};

TEST_F(Inputs, OfARootStayInPlace) {
  Operands data = operands(ConstSlice(all()), all(), 1);
  EXPECT_TRUE(has_input_in_result(Collective::bcast, data, 1, P));
  leave_input(Collective::bcast, data, 1, P);
  EXPECT_EQ(data.in.data, values.data());
  EXPECT_EQ(data.out.data, nullptr);
  EXPECT_EQ(data.out.count, values.size());
}

TEST_F(Inputs, OfOtherCallsAreNoneOfTheirResults) {
  Operands broadcast = operands(elsewhere, all(), 1), receiving = operands({}, all(), 1);
  leave_input(Collective::bcast, broadcast, 1, P);
  leave_input(Collective::bcast, receiving, 2, P);
  Operands sum = operands(ConstSlice(all()), all());
  leave_input(Collective::allreduce, sum, 0, P);
  for (const Operands& data : {broadcast, receiving, sum}) EXPECT_EQ(data.out.data, values.data());
}

TEST_F(Inputs, OfAGatherStayInTheirBlock) {
  for (int rank = 0; rank < P; ++rank) {
    Operands data = operands(ConstSlice(block_of(rank)), all());
    EXPECT_TRUE(has_input_in_result(Collective::allgather, data, rank, P));
    leave_input(Collective::allgather, data, rank, P);
    ASSERT_TRUE(data.own);
    EXPECT_EQ(*data.own, nullptr);
    EXPECT_EQ(data.out.data, values.data());
    EXPECT_FALSE(has_input_in_result(Collective::allgather, operands(elsewhere, all()), rank, P));
  }
}

}  // namespace
}  // namespace taut
