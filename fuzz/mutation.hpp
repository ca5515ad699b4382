// Mutations of inputs: bits, bytes and numbers of 1 to 8 bytes are changed; blocks are moved, cut or taken
// from other inputs. The same seed gives the same inputs on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace taut::fuzz {

using Bytes8 = std::vector<std::uint8_t>;

class Mutation {
 public:
  Mutation(const std::vector<Bytes8>& corpus, std::size_t most_bytes, std::uint64_t seed)
      : corpus_(corpus), most_bytes_(most_bytes), random_(seed) {}
  const Bytes8& next();  // the corpus must not be empty

 private:
  std::size_t below(std::size_t n) noexcept { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  void change();
  void set_number();
  void move_block();
  void take_from_another();

  const std::vector<Bytes8>& corpus_;
  std::size_t most_bytes_;
  std::mt19937_64 random_;
  Bytes8 input_;
};

}  // namespace taut::fuzz
