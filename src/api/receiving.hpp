// A message that is expected.
#pragma once

#include "api/attached.hpp"
#include "api/wire.hpp"

namespace taut::api {

struct RecvArguments {
  void* buf;
  MPI_Count count;
  MPI_Datatype type;
  int source, tag;
  MPI_Comm comm;
};

// Stays where it is until it has come.
class InMessage {
 public:
  // `attached`: null if there is no policy. `site`: where the program called from.
  InMessage(Attached* attached, const RecvArguments& arguments, const void* site) noexcept
      : arguments_(arguments), attached_(attached), site_(site) {}
  InMessage(const InMessage&) = delete;
  ~InMessage();

  // Blocks, and drives the calls in flight. An MPI code that is raised already; throws Error.
  int receive(MPI_Status* status);

  // The same in two steps. The datatype may be freed after the first. The second follows when the request is
  // complete without an error, and `came` is what MPI says of it; errors go to `raise_on`, none to
  // MPI_COMM_NULL. `status` may be MPI_STATUS_IGNORE.
  int start(MPI_Request* request);
  int finish(const MPI_Status& came, MPI_Comm raise_on, MPI_Status* status) noexcept;
  void abandon(MPI_Request& request) noexcept;  // instead, after a failure elsewhere

 private:
  // What a message turned out to be.
  struct Opened {
    Envelope envelope;
    ConstBytes payload;
    const CodecInfo* codec = nullptr;  // of frames; so is the next
    Bound bound;
    std::uint64_t begin = 0, end = 0;  // of decoding
  };

  bool describe() noexcept;
  void prepare();
  int unpack(const MPI_Status& came, MPI_Comm raise_on, MPI_Status* status, Opened& opened);
  void open(std::size_t bytes, Opened& opened);
  void decode(Opened& opened);
  void put(ConstBytes values);
  Buffer packed();
  void unpack_layout(ConstBytes values);
  void account(const Opened& opened, bool failed) noexcept;
  Messages& messages() noexcept { return *attached_->messages(); }

  RecvArguments arguments_;
  Attached* attached_;
  const void* site_;
  bool ours_ = false;        // it has an envelope
  bool contiguous_ = false;  // the user's memory is
  std::uint8_t type_ = 0;    // DType, if it has to be the sender's
  std::size_t capacity_ = 0;
  MPI_Datatype kept_type_ = MPI_DATATYPE_NULL;
  std::unique_ptr<ProbedMessage> probed_;
  Wire wire_;    // of what lies below, or also of the user's memory
  Bytes whole_;  // where all of it comes; empty: the envelope to inline_, the rest to the user's memory
  Buffer buffer_;
  std::uint64_t began_ = 0;                            // of a blocking one that is timed
  alignas(8) std::byte inline_[envelope_bytes + 104];  // the envelope, and the values of a small message
};

}  // namespace taut::api
