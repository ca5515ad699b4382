// Output operations of a decoder: decoded words replace the values in memory, or are added to them.
//
//   Word                                  unsigned integer with the bits of a value in memory
//   put(word, x), put(quad, x)            outputs one word, or 16 bytes of words, to memory of the GPU
#pragma once

#include "compressor/gpu/mpc/chunk.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::mpc::cuda {

template <class W>
struct Replace {
  using Word = W;
  template <class V>
  TAUT_DEVICE static void put(V& there, const V& x) {
    there = x;
  }
};

// Adds as reduce_values() does. T is a floating-point type, or, for integers, the word type, whose sums wrap
// around.
template <class T>
struct Add {
  using Word = WordOf<sizeof(T)>;
  TAUT_DEVICE static void put(Word& there, Word x) {
    there = std::bit_cast<Word>(combine(Reduction::sum, std::bit_cast<T>(there), std::bit_cast<T>(x)));
  }
  TAUT_DEVICE static void put(Quad& there, const Quad& x) {
    auto sums = std::bit_cast<WordsOfQuad>(there);
    const auto words = std::bit_cast<WordsOfQuad>(x);
    for (unsigned i = 0; i < sizeof(Quad) / sizeof(Word); ++i) put(sums.of[i], words.of[i]);
    there = std::bit_cast<Quad>(sums);
  }

 private:
  struct WordsOfQuad {
    Word of[sizeof(Quad) / sizeof(Word)];
  };
};

}  // namespace taut::mpc::cuda
