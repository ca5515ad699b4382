// Fuzz target: any bytes as a frame for every codec's decode and reduce. Each call gives an error status or
// values, the same from every kernel set; it accesses nothing outside the buffers and takes at most 2 (frame
// + values) + 1 MiB of memory. TAUT_Decode accepts the frames that the decoder in second/ accepts, which was
// written from the specification and knows all codecs but zfp, and gives its values where the format
// specifies them.
//
//   repairs u8 | type u8 | operator u8 | count u32 | frame
//
// With the repair `agree` the receiver posts what the header says, if it is not too much. The codec that the
// header names decodes the frame; if the operator is 240 or more, the other codecs try as well. A frame with
// references decodes behind the arrays of earlier.hpp; with the repair `refer` it names these.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include "compressor/frame/coding.hpp"
#include "earlier.hpp"
#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"
#include "memory_limit.hpp"
#include "readers.hpp"
#include "second/second.h"

namespace taut::fuzz {
namespace {

constexpr std::uint8_t agree = 8, refer = 16, least_for_all_codecs = 240;

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

// Returns the number of references that a frame names.
std::size_t named_references(const FrameHeader& header) {
  const CodecInfo* const codec = find_codec(header.codec);
  const bool takes = codec != nullptr && codec->takes_references;
  return takes ? std::min<std::size_t>(reference_count(header), max_references) : 0;
}

// Returns the frame, whose payload begins with the states of the references.
std::vector<std::byte> referring(ConstBytes frame, References references) {
  std::vector<std::byte> bytes(frame.begin(), frame.end());
  const StateNumbers states = state_numbers_of(references);
  if (bytes.size() >= frame_header_bytes + states.bytes())
    write_state_numbers(states, bytes.data() + frame_header_bytes);
  return bytes;
}

void read(const Codec& codec, ConstBytes frame, References references, const Receiver& receiver, Result& r) {
  r.reduced.reset();
  const MemoryLimit limit(scratch_for(frame.size() + r.decoded.bytes()));
  r.decoding = codec.decode(frame, references, r.decoded.slice());
  r.reducing = codec.reduce(frame, references, r.reduced.slice(), receiver.op);
}

void check(Result& r, const FrameHeader& header, ConstBytes frame, const Receiver& receiver,
           bool values_are_specified) {
  expect((r.decoding == Status::ok) == (r.reducing == Status::ok), "reduce takes what decode takes");
  if (r.decoding != Status::ok) return;
  Posted apart(receiver.type, receiver.count);
  reduce_values(apart.slice(), r.decoded.slice(), receiver.op);
  expect(apart == r.reduced || !values_are_specified, "reduce is decode, then the operator");
  expect(header.count == receiver.count && header.type == receiver.type, "only what was posted is accepted");
  if (header.has(FrameHeader::checksummed)) {
    const ConstBytes payload =
        frame.subspan(frame_header_bytes, static_cast<std::size_t>(header.payload_bytes));
    expect(crc32c(payload) == header.payload_checksum, "a wrong checksum is detected");
  }
}

// Outcome of TAUT_Decode.
struct ApiOutcome {
  bool decoded;
  bool values_are_specified;  // false: rejected, or accepted with values that the format leaves open
};

// Decodes by TAUT_Decode, and compares with the second decoder.
ApiOutcome decode_by_api(ConstBytes frame, References references, const Receiver& receiver, Posted& values) {
  std::vector<const void*> earlier;
  std::vector<second_reference> seconds;
  for (const Reference& reference : references) {
    earlier.push_back(reference.values.data);
    seconds.push_back({reference.state, reference.values.data});
  }
  const int status = TAUT_Decode_with_references(frame.data(), frame.size(), earlier.data(),
                                                 static_cast<int>(earlier.size()), values.slice().data,
                                                 receiver.count, static_cast<TAUT_Type>(receiver.type));
  Posted others(receiver.type, receiver.count);
  const second_verdict verdict = second_decode(reinterpret_cast<const std::uint8_t*>(frame.data()),
                                               frame.size(), static_cast<int>(receiver.type), receiver.count,
                                               seconds.data(), seconds.size(), others.slice().data);
  if (verdict != second_foreign)
    expect((verdict == second_rejected) == (status != TAUT_SUCCESS), "accepted is what the format allows");
  if (verdict == second_decoded) expect(values == others, "the values are those of the specification");
  return {status == TAUT_SUCCESS, verdict == second_decoded || verdict == second_foreign};
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
  const HostileFrame given(input.rest(), repairs);
  const FrameHeader header = given.header();
  const bool agreed = (repairs & agree) != 0;
  const DType posted = posted_type(agreed ? static_cast<std::uint8_t>(header.type) : type);
  const auto wanted = static_cast<Reduction>(1 + op % 3);
  const Receiver receiver{
      posted, static_cast<std::size_t>(std::min<std::uint64_t>(agreed ? header.count : count, most_values)),
      is_defined(wanted, posted) ? wanted : Reduction::sum};
  const Earlier earlier(receiver.type, receiver.count, named_references(header));
  const References references = earlier.references();
  const bool refers = (repairs & refer) != 0 && !references.empty();
  const HostileFrame frame(refers ? referring(given.bytes(), references) : given.bytes(), repairs);
  Posted by_api(receiver.type, receiver.count);
  const ApiOutcome api = decode_by_api(frame.bytes(), references, receiver, by_api);
  Result first(receiver), other(receiver);
  for (const Reader& reader : readers()) {
    if (reader.info->frame_id != header.codec && op < least_for_all_codecs) continue;
    read(*reader.kernel_sets[0], frame.bytes(), references, receiver, first);
    check(first, frame.header(), frame.bytes(), receiver, api.values_are_specified);
    for (std::size_t k = 1; k < reader.kernel_sets.size(); ++k) {
      read(*reader.kernel_sets[k], frame.bytes(), references, receiver, other);
      expect(other.decoding == first.decoding, "kernel sets give the same status");
      if (first.decoding != Status::ok) continue;
      expect(other.decoded == first.decoded && other.reduced == first.reduced,
             "kernel sets give the same values");
    }
    if (reader.info->frame_id == header.codec && api.decoded)
      expect(first.decoded == by_api, "TAUT_Decode gives the codec's values");
  }
  return 0;
}
