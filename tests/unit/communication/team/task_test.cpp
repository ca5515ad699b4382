#include "communication/team/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace taut {
namespace {

// A Waitable that is ready after a number of polls.
class After final : public Waitable {
 public:
  explicit After(int polls) : polls_(polls) {}
  bool ready() override { return polls_-- <= 0; }
  int result() const noexcept { return 42; }

 private:
  int polls_;
};

class Broken final : public Waitable {
 public:
  bool ready() override { return ++polls_ > 1 ? throw std::runtime_error("broken") : false; }
  void result() const noexcept {}

 private:
  int polls_ = 0;
};

Task<int> wait_for(int polls) {
  After after(polls);
  co_return co_await after;
}

Task<int> nested(int depth) {
  if (depth == 0) co_return co_await wait_for(2);
  const int below = co_await nested(depth - 1);
  co_return below + 1;
}

TEST(Task, IsLazyAndRunsUntilBlocked) {
  bool started = false;
  auto body = [](bool& flag) -> Task<> {
    flag = true;
    co_await After(1);
  };
  Task<> task = body(started);
  EXPECT_FALSE(started);
  EXPECT_FALSE(task.advance());
  EXPECT_TRUE(started);
  EXPECT_FALSE(task.done());
  EXPECT_TRUE(task.advance());
  EXPECT_TRUE(task.done());
}

TEST(Task, NestedTasksHandValuesUp) { EXPECT_EQ(nested(100).wait(), 142); }

TEST(Task, ExceptionsPassThroughNestedTasks) {
  auto thrower = []() -> Task<int> {
    co_await After(1);
    throw std::runtime_error("inner");
  };
  auto outer = [&]() -> Task<int> {
    const int value = co_await thrower();
    co_return value;
  };
  EXPECT_THROW(outer().wait(), std::runtime_error);
}

TEST(Task, FailureOfAPollArrivesWhereItIsAwaited) {
  bool caught = false;
  auto body = [](bool& flag) -> Task<> {
    Broken broken;
    try {
      co_await broken;
    } catch (const std::runtime_error&) {
      flag = true;
    }
  };
  body(caught).wait();
  EXPECT_TRUE(caught);
}

TEST(Task, UnfinishedTasksAreDestroyedWithAllTheyHold) {
  auto held = std::make_shared<int>(0);
  auto inner = [](std::shared_ptr<int> copy) -> Task<> {
    co_await After(1000);
    (void)copy;
  };
  auto outer = [&](std::shared_ptr<int> copy) -> Task<> { co_await inner(std::move(copy)); };
  {
    Task<> task = outer(held);
    EXPECT_FALSE(task.advance());
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(All, RunsSideBySide) {
  std::string order;
  auto body = [](std::string& text, char name, int polls) -> Task<> {
    for (int i = 0; i < polls; ++i) {
      After after(1);
      co_await after;
      text += name;
    }
  };
  Task<> tasks[] = {body(order, 'a', 3), body(order, 'b', 1), body(order, 'c', 2)};
  all(tasks).wait();
  EXPECT_EQ(order, "abcaca");
}

TEST(All, NothingToDo) { all({}).wait(); }

TEST(All, TheFirstExceptionEndsIt) {
  auto good = []() -> Task<> { co_await After(1000); };
  auto bad = []() -> Task<> {
    co_await After(1);
    throw std::logic_error("one of them");
  };
  Task<> tasks[] = {good(), bad()};
  EXPECT_THROW(all(tasks).wait(), std::logic_error);
}

}  // namespace
}  // namespace taut
