// Fuzz target: sums of hostile frames. Every sum gives an error status or a frame that decodes. Any order of
// the operands gives the same values, and every kernel set the same bytes. A sum with values decodes as the
// sum with their frame does. Nothing outside the buffers is accessed.
//
//   repairs u8 | codec u8 | capacity u32 | bytes of the first frame u32 | first frame | second frame
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <map>

#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"
#include "memory_limit.hpp"
#include "readers.hpp"
#include "second/second.h"
#include "support/subjects.hpp"

namespace taut::fuzz {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

// Memory for a frame, exactly as large as its capacity.
struct Room {
  explicit Room(std::size_t capacity) : memory(capacity) {}
  Bytes bytes() const noexcept { return memory.bytes(); }
  ConstBytes frame() const noexcept { return bytes().first(size.bytes); }
  bool ok() const noexcept { return size.status == Status::ok; }
  bool operator==(const Room& other) const noexcept {
    return size.status == other.size.status && (!ok() || std::ranges::equal(frame(), other.frame()));
  }

  ExactMemory memory;
  SizeOrStatus size;
};

Room add(const Codec& codec, std::span<const ConstBytes> frames, std::size_t capacity) {
  Room room(capacity);
  std::size_t posted = capacity;
  for (const ConstBytes& frame : frames) posted += frame.size();
  const MemoryLimit limit(scratch_for(posted));
  room.size = codec.arithmetic()->sum(frames, room.bytes());
  expect(!room.ok() || room.size.bytes <= capacity, "a sum fits into its capacity");
  return room;
}

Room accumulate(const Codec& codec, ConstBytes frame, Slice values, std::size_t capacity) {
  Room room(capacity);
  const MemoryLimit limit(scratch_for(capacity + frame.size() + values.bytes()));
  room.size = codec.arithmetic()->accumulate(frame, values, room.bytes());
  expect(!room.ok() || room.size.bytes <= capacity, "a sum fits into its capacity");
  return room;
}

bool decodes(const Codec& codec, ConstBytes frame, Posted& values) {
  return codec.decode(frame, values.slice()) == Status::ok;
}

struct Operands {
  ConstBytes first, second;
  DType type;
  std::size_t count, capacity;
};

// Checks the promises of sums for one codec and kernel set.
void check(const Codec& codec, const Operands& operands, const Room& sum) {
  const ConstBytes turned[] = {operands.second, operands.first};
  const Room other = add(codec, turned, operands.capacity);
  Posted a(operands.type, operands.count), b = Posted(operands.type, operands.count);
  if (sum.ok() && decodes(codec, operands.first, a) && decodes(codec, operands.second, b)) {
    expect(decodes(codec, sum.frame(), a), "the sum of frames that decode decodes");
    if (other.ok()) expect(decodes(codec, other.frame(), b) && a == b, "a sum does not depend on the order");
  }
}

// Returns true if the format says nothing about the frame's values, though it accepts the frame: sums of its
// integers may then wrap around.
bool unspecified(const Operands& operands, ConstBytes frame) {
  Posted values(operands.type, operands.count);
  return second_decode(reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size(),
                       static_cast<int>(operands.type), operands.count, nullptr, 0,
                       values.slice().data) == second_unspecified;
}

// Checks that the first frame plus values decodes as the first frame plus the frame of these values does. The
// values are those of the second frame.
void check_accumulated(const Codec& codec, const Operands& operands) {
  Posted values(operands.type, operands.count), sum(operands.type, operands.count);
  if (!decodes(codec, operands.second, values)) return;
  const Room added = accumulate(codec, operands.first, values.slice(), operands.capacity);
  Room own(codec.max_bytes(operands.type, operands.count));
  own.size = codec.encode(values.slice(), own.bytes());
  if (!added.ok() || !own.ok()) return;
  const ConstBytes both[] = {operands.first, own.frame()};
  const Room total = add(codec, both, operands.capacity);
  if (total.ok() && decodes(codec, added.frame(), values) && decodes(codec, total.frame(), sum))
    expect(values == sum || unspecified(operands, operands.first),
           "a sum with values is a sum with their frame");
}

// Makes the codec instances that the header of the first frame describes, as TAUT_Frame_add does.
std::vector<std::unique_ptr<Codec>> instances_for(const CodecInfo& info, const FrameHeader& header) {
  const Coding options{.bound = header.bound, .checksum = header.has(FrameHeader::checksummed)};
  if (test::can_be_made(info, header.type, options)) return test::with_all_kernels(info, options);
  static std::map<const CodecInfo*, Coding> others;
  const auto found = others.find(&info);
  if (found != others.end()) return test::with_all_kernels(info, found->second);
  return test::with_all_kernels(info, others[&info] = test::subjects_of(info, false).front().options);
}

void run(std::span<const std::unique_ptr<Codec>> kernel_sets, const Operands& operands) {
  const ConstBytes both[] = {operands.first, operands.second};
  Posted values(operands.type, operands.count);
  const Codec& reference = *kernel_sets[0];
  const Room sum = add(reference, both, operands.capacity),
             added = accumulate(reference, operands.first, values.slice(), operands.capacity);
  check(reference, operands, sum);
  check_accumulated(reference, operands);
  Posted decoded(operands.type, operands.count);
  if (added.ok() && decodes(reference, operands.first, decoded))
    expect(decodes(reference, added.frame(), decoded),
           "a frame that decodes, and values, sum to one that decodes");
  for (const auto& codec : kernel_sets.subspan(1)) {
    expect(add(*codec, both, operands.capacity) == sum, "kernel sets give the same sum");
    expect(accumulate(*codec, operands.first, values.slice(), operands.capacity) == added,
           "kernel sets accumulate to the same bytes");
  }
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>(), codec = input.take<std::uint8_t>();
  const auto capacity = input.take<std::uint32_t>(), split = input.take<std::uint32_t>();
  const std::size_t first_bytes = std::min<std::size_t>(split, input.rest().size());
  const HostileFrame first(input.rest().first(first_bytes), repairs),
      second(input.rest().subspan(first_bytes), repairs);
  const FrameHeader header = first.header();
  if (header.count > most_values || posted_type(static_cast<std::uint8_t>(header.type)) != header.type)
    return 0;
  const Operands operands{first.bytes(), second.bytes(), header.type, static_cast<std::size_t>(header.count),
                          std::min<std::size_t>(capacity, most_bytes)};
  const auto kernel_sets = instances_for(codec_of(codec), header);
  if (kernel_sets[0]->arithmetic() != nullptr) run(kernel_sets, operands);
  Room out(operands.capacity);
  std::size_t bytes = 0;
  TAUT_Frame_add(first.bytes().data(), first.bytes().size(), second.bytes().data(), second.bytes().size(),
                 out.bytes().data(), out.bytes().size(), &bytes);
  return 0;
}
