// Fuzz target: any bytes as a frame for every codec's decode and reduce. Each call gives an error status or
// values, the same from every kernel set; it accesses nothing outside the buffers and takes no memory beyond
// what was posted.
//
//   repairs u8 | type u8 | operator u8 | count u32 | frame
//
// With the repair `agree` the receiver posts what the header says, if it is not too much.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"
#include "memory_limit.hpp"
#include "readers.hpp"

namespace taut::fuzz {
namespace {

constexpr std::uint8_t agree = 8;
struct Receiver {
  DType type;
  std::size_t count;
  Reduction op;
};

struct Result {
  explicit Result(const Receiver& r) : decoded(r.type, r.count), reduced(r.type, r.count) {}
  Status decoding = Status::ok, reducing = Status::ok;
  Posted decoded, reduced;
};

void read(const Codec& codec, ConstBytes frame, const Receiver& receiver, Result& r) {
  r.reduced.reset();
  const MemoryLimit limit(scratch_for(frame.size() + r.decoded.bytes()));
  r.decoding = codec.decode(frame, r.decoded.slice());
  r.reducing = codec.reduce(frame, r.reduced.slice(), receiver.op);
}

void check(Result& r, const FrameHeader& header, ConstBytes frame, const Receiver& receiver) {
  expect((r.decoding == Status::ok) == (r.reducing == Status::ok), "reduce takes what decode takes");
  if (r.decoding != Status::ok) return;
  Posted apart(receiver.type, receiver.count);
  reduce_values(apart.slice(), r.decoded.slice(), receiver.op);
  expect(apart == r.reduced, "reduce is decode, then the operator");
  expect(header.count == receiver.count && header.type == receiver.type, "only what was posted is accepted");
  if (header.has(FrameHeader::checksummed)) {
    const ConstBytes payload =
        frame.subspan(frame_header_bytes, static_cast<std::size_t>(header.payload_bytes));
    expect(crc32c(payload) == header.payload_checksum, "a wrong checksum is detected");
  }
}

void call_api(const HostileFrame& frame, const Receiver& receiver, const Result& by_codec) {
  if (receiver.type != DType::f32 && receiver.type != DType::f64) return;  // taut.h has no other types
  Posted values(receiver.type, receiver.count);
  const int status = TAUT_Decode(frame.bytes().data(), frame.bytes().size(), values.slice().data,
                                 receiver.count, static_cast<TAUT_Type>(receiver.type));
  if (status == TAUT_SUCCESS) expect(values == by_codec.decoded, "TAUT_Decode gives the codec's values");
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>(), type = input.take<std::uint8_t>(),
             op = input.take<std::uint8_t>();
  const auto count = input.take<std::uint32_t>();
  const HostileFrame frame(input.rest(), repairs);
  const FrameHeader header = frame.header();
  const bool agreed = (repairs & agree) != 0;
  const DType posted = posted_type(agreed ? static_cast<std::uint8_t>(header.type) : type);
  const auto wanted = static_cast<Reduction>(1 + op % 3);
  const Receiver receiver{
      posted, static_cast<std::size_t>(std::min<std::uint64_t>(agreed ? header.count : count, most_values)),
      is_defined(wanted, posted) ? wanted : Reduction::sum};
  Result first(receiver), other(receiver);
  for (const Reader& reader : readers()) {
    read(*reader.kernel_sets[0], frame.bytes(), receiver, first);
    check(first, header, frame.bytes(), receiver);
    for (std::size_t k = 1; k < reader.kernel_sets.size(); ++k) {
      read(*reader.kernel_sets[k], frame.bytes(), receiver, other);
      expect(other.decoding == first.decoding, "kernel sets give the same status");
      if (first.decoding != Status::ok) continue;
      expect(other.decoded == first.decoded && other.reduced == first.reduced,
             "kernel sets give the same values");
    }
    if (reader.info->frame_id == header.codec) call_api(frame, receiver, first);
  }
  return 0;
}
