// Fuzz target: any bytes as a coded message between two ranks, into memory that a receive posted. It gives
// values or an error status; nothing outside the message and the posted memory is accessed.
//
//   repairs u8 | type u8 | posted bytes u16 | message
//
// With the repair 1 the message gets the mark and its checksum.
#include <memory>

#include "communication/comm/message_coder.hpp"
#include "exact_memory.hpp"
#include "expect.hpp"
#include "hostile_frame.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

constexpr std::uint64_t mark = 0x8000000000000001;
constexpr std::size_t most_posted = 40'000;

// Mends mark and checksum: the words of the envelope, of which the upper half of the last is the checksum.
void repair(Bytes message) {
  if (message.size() < envelope_bytes) return;
  std::memcpy(message.data(), &mark, sizeof mark);
  std::uint32_t padding = 0, checksum = 0;
  std::memcpy(&padding, message.data() + 16, sizeof padding);
  padding &= 0xFFFFFF;
  std::memcpy(message.data() + 20, &checksum, sizeof checksum);
  if (padding > message.size() - envelope_bytes) return;
  checksum = crc32c(ConstBytes(message).first(message.size() - padding));
  std::memcpy(message.data() + 20, &checksum, sizeof checksum);
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut;
  using namespace taut::fuzz;
  Input input(data, size);
  const auto repairs = input.take<std::uint8_t>(), type = input.take<std::uint8_t>();
  const std::size_t posted = input.take<std::uint16_t>() % most_posted;
  const ExactMemory message(input.rest().size());
  if (message.size() > 0) std::memcpy(message.data(), input.rest().data(), message.size());
  if ((repairs & 1) != 0) repair(message.bytes());
  const MessageFormat format{.mark = mark};
  static const Policy policy = parse_policy("lossless");
  static HostPlace place;
  static MessageCoder coder(policy, format, place, "", 1);
  const ExactMemory values(posted);
  ConstBytes frames = message.bytes();
  if (const auto envelope = open_message(format, message.bytes())) {
    expect(envelope->frames.data() >= message.data() &&
               envelope->frames.data() + envelope->frames.size() <= message.data() + message.size(),
           "the frames lie inside the message");
    expect(is_dtype(envelope->type), "the type is known");
    frames = envelope->frames;
  }
  coder.decode(frames, type % (dtypes + 1), values.bytes());
  return 0;
}
