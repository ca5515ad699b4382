// Public compressors behind the codec interface: one file each, built if its library was found.
#pragma once

#include "coder.hpp"

namespace bench {

class Peer : public taut::Codec {
 public:
  explicit Peer(taut::Contract contract) : contract_(contract) {}
  const taut::Contract& contract() const noexcept override { return contract_; }
  taut::Status reduce(taut::ConstBytes, taut::Slice, taut::Reduction) const noexcept override {
    return taut::Status::invalid_argument;
  }

 private:
  taut::Contract contract_;
};

Coder zfp();   // fixed accuracy, one dimension
Coder zstd();  // level 1, lossless

}  // namespace bench
