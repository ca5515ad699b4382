// A Target is what a decoder does with a decoded word: Replace writes it over the value in memory, Add adds
// it.
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
    const auto added = std::bit_cast<WordsOfQuad>(x);
    for (unsigned i = 0; i < sizeof(Quad) / sizeof(Word); ++i) put(sums.words[i], added.words[i]);
    there = std::bit_cast<Quad>(sums);
  }

 private:
  struct WordsOfQuad {
    Word words[sizeof(Quad) / sizeof(Word)];
  };
};

}  // namespace taut::mpc::cuda
