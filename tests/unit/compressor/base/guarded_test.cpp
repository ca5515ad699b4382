#include "compressor/base/guarded.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(Guarded, ReturnsTheStatusOfAnException) {
  EXPECT_EQ(guarded([] {}), Status::ok);
  EXPECT_EQ(guarded([] { return Status::corrupt_frame; }), Status::corrupt_frame);
  EXPECT_EQ(guarded([] { throw Error(Status::invalid_count, "too many"); }), Status::invalid_count);
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), Status::out_of_memory);
  EXPECT_EQ(guarded([] { throw 1; }), Status::internal);
}

TEST(Guarded, KeepsTheTextOfAFailure) {
  EXPECT_EQ(guard([] { throw Error(Status::invalid_count, "too many"); }), 2);
  EXPECT_STREQ(last_error, "too many");
  EXPECT_EQ(guard([] { return Status::corrupt_frame; }), 20);
  EXPECT_STREQ(last_error, describe(Status::corrupt_frame));
  EXPECT_EQ(guard([] {}), 0);
  EXPECT_STREQ(last_error, describe(Status::corrupt_frame));
}

TEST(Attempt, LetsExceptionsOfTheProgramPass) {
  const auto failed = [](Status status, const char*) { return status; };
  EXPECT_EQ(attempt([]() -> Status { throw std::bad_alloc(); }, failed), Status::out_of_memory);
  EXPECT_THROW(attempt([]() -> Status { throw 1; }, failed), int);
}

}  // namespace
}  // namespace taut
