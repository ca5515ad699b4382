#include "compressor/frame/coding_stack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace taut::test {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::uintptr_t here() noexcept {
  volatile char local = 0;
  return reinterpret_cast<std::uintptr_t>(&local);
}

TEST(CodingStack, IsAnotherOneThanThatOfTheCallerAlsoWhenNested) {
  static std::uintptr_t outer = 0, inner = 0;
  call_on_coding_stack(
      [](void*) noexcept {
        outer = here();
        call_on_coding_stack([](void*) noexcept { inner = here(); }, nullptr);
      },
      nullptr);
  const auto apart = [](std::uintptr_t a, std::uintptr_t b) { return std::max(a, b) - std::min(a, b); };
  EXPECT_GT(apart(outer, here()), 100000u);
  EXPECT_GT(apart(inner, here()), 100000u);
  EXPECT_GT(apart(inner, outer), 100000u);
}
#endif

TEST(CodingStack, HasRoomForLargeArrays) {
  int sum = 0;
  call_on_coding_stack(
      [](void* to) noexcept {
        volatile char many[512 << 10];
        std::memset(const_cast<char*>(many), 1, sizeof many);
        *static_cast<int*>(to) = many[0] + many[sizeof many - 1];
      },
      &sum);
  EXPECT_EQ(sum, 2);
}

TEST(CodingStack, CodecsGiveTheSameFramesAndArithmetic) {
  const std::vector<float> values(10000, 1.5F);
  const ConstSlice slice{{values.data(), values.size(), DType::f32}};
  for (const CodecInfo* info : registered_codecs()) {
    const Bound bound = info->serves(DType::f32, Bound::Kind::absolute) ? Bound(1e-3) : Bound();
    if (!info->serves(DType::f32, bound.kind)) continue;
    const auto codec = info->make({.bound = bound});
    const auto on_stack = on_coding_stack(info->make({.bound = bound}));
    std::vector<std::byte> frames[2];
    for (auto& frame : frames) frame.resize(codec->max_bytes(DType::f32, values.size()));
    frames[0].resize(codec->encode(slice, frames[0]).bytes);
    frames[1].resize(on_stack->encode(slice, frames[1]).bytes);
    EXPECT_EQ(frames[0], frames[1]) << info->name;
    std::vector<float> decoded(values.size());
    EXPECT_EQ(on_stack->decode(frames[1], {{decoded.data(), decoded.size(), DType::f32}}), Status::ok);
    EXPECT_NEAR(decoded.back(), 1.5, 1e-3);
    EXPECT_EQ(codec->arithmetic() != nullptr, on_stack->arithmetic() != nullptr) << info->name;
  }
}

}  // namespace
}  // namespace taut::test
