#include "subject.hpp"

#include <algorithm>
#include <cstring>

namespace bench {
namespace {

void fill(const Field& field, taut::DType type, Buffer& values, std::size_t count, std::size_t operand) {
  with_real(type, [&]<class T>() { field.fill(reinterpret_cast<T*>(values.data()), count, operand); });
}

}  // namespace

Subject::Subject(const Field& of, taut::DType as, std::size_t size, const taut::Codec& codec,
                 std::size_t operands)
    : field(of), type(as), count(size / size_of(as)), values(size), target(size), copy(size) {
  out = Buffer(codec.max_bytes(type, count, codec.arithmetic() != nullptr ? most_addends : 1));
  for (std::size_t k = operands; k-- > 0;) {  // operand 0 comes last, and its values are kept
    fill(field, type, values, count, k);
    const taut::SizeOrStatus encoded = codec.encode(source(), out.bytes());
    if (encoded.status != taut::Status::ok) throw taut::Error(encoded.status, describe(encoded.status));
    memory.emplace_back(encoded.bytes);
    std::memcpy(memory.back().data(), out.data(), encoded.bytes);
    frames.emplace_back(memory.back().bytes());
  }
  std::reverse(frames.begin(), frames.end());
}

}  // namespace bench
