#include "communication/p2p/send.hpp"

namespace taut::p2p {

SendBuffer buffer_of(const EncodedMessage& made, MPI_Datatype type) {
  const bool predefined = api::known_datatype(type).has_value();
  const MPI_Count size = predefined ? api::bytes_of(1, type) : 1;
  return {made.message().data(), static_cast<api::pmpi::Count>(static_cast<MPI_Count>(made.bytes) / size),
          predefined ? type : MPI_BYTE};
}

int send(SendFunction function, const EncodedMessage& made, const SendArguments& message) {
  const SendBuffer coded = buffer_of(made, message.type);
  return function(coded.at, coded.count, coded.type, message.dest, message.tag, message.comm);
}

int start(StartFunction function, const EncodedMessage& made, const SendArguments& message,
          MPI_Request* request) {
  const SendBuffer coded = buffer_of(made, message.type);
  return function(coded.at, coded.count, coded.type, message.dest, message.tag, message.comm, request);
}

}  // namespace taut::p2p
