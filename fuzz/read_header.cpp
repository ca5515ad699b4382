// Fuzz target: any bytes as a header, for read_header and TAUT_Frame_get_info. Both functions give the same
// result, except for failure notices, which have no values to tell of. Writing an accepted header gives the
// same bytes.
//
//   repairs u8 | frame
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <cmath>

#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

void check_accepted(const FrameHeader& header, ConstBytes frame, const TAUT_Frame_info& info) {
  std::byte again[frame_header_bytes];
  write_header(header, again);
  expect(std::memcmp(again, frame.data(), frame_header_bytes) == 0,
         "an accepted header is written as it was read");
  expect(header.payload_bytes <= frame.size() - frame_header_bytes, "the payload lies inside the frame");
  expect(header.count <= max_frame_values && min_frame_bytes(header.count) <= frame.size() + 3,
         "a payload of that size can hold so many values");
  expect(is_dtype(static_cast<std::uint8_t>(header.type)), "the type is known");
  expect(std::isfinite(header.bound.value) && header.bound.value >= 0, "the bound can be used");
  expect(std::isfinite(header.step) && header.step >= 0, "the step can be used");
  expect(info.type == static_cast<int>(header.type) && info.count == header.count &&
             info.bound == header.bound.value && info.addends == header.addends &&
             info.bytes == frame_header_bytes + header.payload_bytes,
         "TAUT_Frame_get_info says what the header says");
  expect(std::memchr(info.codec, 0, sizeof info.codec) != nullptr, "the codec's name ends");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>();
  const HostileFrame frame(input.rest(), repairs);
  FrameHeader header;
  const Status status = read_header(frame.bytes(), header);
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  const int api_status = TAUT_Frame_get_info(frame.bytes().data(), frame.bytes().size(), &info);
  const bool notice = status == Status::ok && header.has(FrameHeader::failed);
  const Status expected = notice ? Status::peer_failed : status;
  expect(frame.bytes().data() == nullptr || api_status == static_cast<int>(expected),
         "both give the same status");
  if (status == Status::ok && !notice) check_accepted(header, frame.bytes(), info);
  return 0;
}
