// A message on its way out.
#pragma once

#include "api/attached.hpp"
#include "api/elements.hpp"
#include "api/wire.hpp"

namespace taut::api {

struct SendArguments {
  const void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int dest, tag;
  MPI_Comm comm;
};

// Stays where it is until MPI is done with it.
class OutMessage {
 public:
  // `attached`: null if there is no policy. `site`: where the program called from.
  OutMessage(Attached* attached, const SendArguments& arguments, const void* site) noexcept
      : arguments_(arguments), attached_(attached), site_(site) {}
  OutMessage(const OutMessage&) = delete;

  // Blocks, and drives the calls in flight. MPI codes that are raised already; throw Error.
  int send();
  int start(MPI_Request* request);

 private:
  template <class HandOver>
  int run(bool keep, HandOver hand_over);
  bool describe() noexcept;
  bool contiguous() const noexcept { return elements_ && elements_->dense; }
  ConstSlice values_in_a_row(Buffer& memory);
  EncodedMessage prepare(bool keep);
  void prepare_plain();
  void keep_coded(EncodedMessage& made, bool keep);
  Bytes room(std::size_t bytes);
  void account(const EncodedMessage& made, std::uint64_t begin, std::uint64_t prepared) noexcept;

  SendArguments arguments_;
  Attached* attached_;
  const void* site_;
  Call call_;  // the message as it is counted
  Envelope envelope_;
  std::optional<Elements> elements_;  // none: not looked into, or several kinds of values
  Wire wire_;                         // of what lies below, or in the user's memory
  Buffer buffer_;
  alignas(8) std::byte inline_[envelope_bytes + 104];  // the envelope, and the values of a small message
};

}  // namespace taut::api
