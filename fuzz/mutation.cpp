#include "mutation.hpp"

#include <algorithm>
#include <cstring>

namespace taut::fuzz {
namespace {

constexpr std::size_t header_area = 96;  // bytes with the fields of an input and its frame's header

}  // namespace

const Bytes8& Mutation::next() {
  const Bytes8 &one = corpus_[below(corpus_.size())], &other = corpus_[below(corpus_.size())];
  input_ = one.size() < other.size() ? one : other;  // small inputs take less time
  for (std::size_t n = 1 + below(6); n > 0; --n) change();
  if (input_.size() > most_bytes_) input_.resize(most_bytes_);
  return input_;
}

void Mutation::change() {
  if (input_.empty()) input_.push_back(0);
  // Every other change affects these fields.
  const std::size_t at = below(2) == 0 ? below(std::min(input_.size(), header_area)) : below(input_.size());
  switch (below(8)) {
    case 0: input_[at] ^= static_cast<std::uint8_t>(1u << below(8)); break;
    case 1: input_[at] = static_cast<std::uint8_t>(random_()); break;
    case 2: input_[at] = static_cast<std::uint8_t>(input_[at] + below(33) - 16); break;
    case 3: input_.resize(below(input_.size() + 1)); break;
    case 4: move_block(); break;
    case 5: take_from_another(); break;
    default: set_number(); break;
  }
}

// Sets a number. Lengths, offsets and counts are the weak points of decoders: the new number is 0, 1, the
// greatest, or near another number.
void Mutation::set_number() {
  const std::size_t width = std::size_t{1} << below(4);
  if (input_.size() < width) return;
  const std::size_t at = (below(2) == 0 ? below(input_.size() - width + 1)
                                        : below(std::min(input_.size() - width + 1, header_area)));
  std::uint64_t number = 0;
  std::memcpy(&number, input_.data() + at, width);
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - 8 * width);
  const std::uint64_t choices[] = {
      0,          1,          greatest,   greatest - 1, greatest / 2, greatest / 2 + 1,
      number + 1, number - 1, number * 2, number / 2,   number + 4,   number ^ greatest};
  number = choices[below(std::size(choices))];
  std::memcpy(input_.data() + at, &number, width);
}

void Mutation::move_block() {
  const std::size_t n = 1 + below(std::min<std::size_t>(input_.size(), 64));
  const std::size_t from = below(input_.size() - n + 1), to = below(input_.size() - n + 1);
  const Bytes8 block(input_.begin() + static_cast<std::ptrdiff_t>(from),
                     input_.begin() + static_cast<std::ptrdiff_t>(from + n));
  if (below(2) == 0)
    std::ranges::copy(block, input_.begin() + static_cast<std::ptrdiff_t>(to));
  else
    input_.insert(input_.begin() + static_cast<std::ptrdiff_t>(to), block.begin(), block.end());
}

void Mutation::take_from_another() {
  const Bytes8& other = corpus_[below(corpus_.size())];
  const std::size_t cut = below(std::min(input_.size(), other.size()) + 1);
  input_.resize(cut);
  input_.insert(input_.end(), other.begin() + static_cast<std::ptrdiff_t>(cut), other.end());
}

}  // namespace taut::fuzz
