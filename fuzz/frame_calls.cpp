// Fuzz target: any two byte strings as frames for the calls of taut.h and frame.hpp that take the count from
// the frame. Each call gives a result or an error status; the C++ forms give the same, or throw taut::Error.
// The memory that they take is bounded by the frames, whatever count and addends their headers name.
//
//   repairs u8 | bytes of the first frame u32 | first frame | second frame
#define TAUT_NO_MPI
#include <taut/frame.hpp>

#include <memory>

#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

// More values take too long to decode for each input. Headers that name more are read all the same.
constexpr std::size_t most_decoded = std::size_t{1} << 16;

template <class Result>
struct Outcome {
  int status = TAUT_SUCCESS;
  Result result{};
};

// Returns what `call` returns, or the status that it throws.
template <class Call>
auto outcome_of(Call call) {
  Outcome<decltype(call())> outcome;
  try {
    outcome.result = call();
  } catch (const cxx::Error& error) {
    outcome.status = error.status();
    expect(outcome.status != TAUT_SUCCESS, "an exception names an error");
  } catch (...) {
    expect(false, "only taut::Error is thrown");
  }
  return outcome;
}

// Memory with more room than the C++ forms take for frames of so many bytes.
struct Room {
  explicit Room(std::size_t frame_bytes)
      : bytes(2 * frame_bytes + 64 * most_decoded),
        data(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}
  std::size_t bytes;
  std::unique_ptr<std::byte[]> data;
};

void check_statistics(const Frame& frame) {
  TAUT_Frame_statistics found{};
  found.struct_size = sizeof found;
  const int status = TAUT_Frame_get_statistics(frame.data(), frame.size(), &found);
  const auto same = outcome_of([&] { return taut::statistics(frame); });
  expect(same.status == status, "the C++ form gives the same status");
  if (status != TAUT_SUCCESS) return;
  expect(found.count <= taut::info(frame).count, "no more values than the frame has");
  expect(found.count == same.result.count, "the C++ form gives the same statistics");
}

void check_scale(const Frame& frame, double factor) {
  const auto scaled = outcome_of([&] { return taut::scale(frame, factor); });
  const Room room(frame.size());
  std::size_t bytes = 0;
  const int status =
      TAUT_Frame_scale(frame.data(), frame.size(), factor, room.data.get(), room.bytes, &bytes);
  expect((scaled.status == TAUT_SUCCESS) == (status == TAUT_SUCCESS),
         "the C++ form has room for what the call writes");
  if (status != TAUT_SUCCESS) return;
  expect(std::equal(scaled.result.begin(), scaled.result.end(), room.data.get(), room.data.get() + bytes),
         "both write the same frame");
  expect(taut::info(scaled.result).count == taut::info(frame).count, "a frame keeps its count");
}

void check_add(const Frame& a, const Frame& b) {
  const auto sum = outcome_of([&] { return taut::add(a, b); });
  const Room room(a.size() + b.size());
  std::size_t bytes = 0;
  const int status =
      TAUT_Frame_add(a.data(), a.size(), b.data(), b.size(), room.data.get(), room.bytes, &bytes);
  expect((sum.status == TAUT_SUCCESS) == (status == TAUT_SUCCESS),
         "the C++ form has room for what the call writes");
  expect(status != TAUT_SUCCESS || bytes == sum.result.size(), "both write the same frame");
}

template <class T>
void check_decode(const Frame& frame) {
  const auto values = outcome_of([&] { return taut::decode<T>(frame); });
  if (values.status != TAUT_SUCCESS) return;
  std::vector<T> again(values.result.size());
  expect(TAUT_Decode(frame.data(), frame.size(), again.data(), again.size(), type_of<T>()) == TAUT_SUCCESS,
         "what the C++ form decodes is decoded");
  const std::vector<std::vector<T>> references{again};
  const auto ignored = outcome_of([&] {
    taut::decode_with_references(frame, references, again);
    return again.size();
  });
  expect(ignored.status == TAUT_SUCCESS, "a frame without references ignores those that are given");
}

void check(const Frame& frame) {
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  const int status = TAUT_Frame_get_info(frame.data(), frame.size(), &info);
  expect(outcome_of([&] { return taut::info(frame); }).status == status,
         "the C++ form gives the same status");
  if (status == TAUT_SUCCESS) {
    expect(min_frame_bytes(info.count) <= frame.size() + 3, "the frame can hold so many values");
    if (info.count > most_decoded) return;
  }
  check_statistics(frame);
  for (const double factor : {-1.0, 0.5, 3.7}) check_scale(frame, factor);
  check_decode<float>(frame);
  check_decode<double>(frame);
  check_decode<std::int32_t>(frame);
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>();
  const auto split = input.take<std::uint32_t>();
  const std::size_t first_bytes = std::min<std::size_t>(split, input.rest().size());
  const HostileFrame first(input.rest().first(first_bytes), repairs),
      second(input.rest().subspan(first_bytes), repairs);
  const Frame a(first.bytes().begin(), first.bytes().end()), b(second.bytes().begin(), second.bytes().end());
  check(a);
  if (first.header().count <= most_decoded) check_add(a, b);
  return 0;
}
