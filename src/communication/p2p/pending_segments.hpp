// Segments that are sent after the send of their message is complete, and the end of all segments in
// MPI_Finalize.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "communication/comm/message_coder.hpp"

namespace taut::p2p {

class SegmentComm;

// Add and remove a communicator: at its construction and destruction.
void register_segments(SegmentComm& comm);
void unregister_segments(SegmentComm& comm) noexcept;

// Keeps a message until MPI has sent its segments.
void keep_pending(EncodedMessage made, std::vector<MPI_Request> sends) noexcept;

// Returns the size of the values whose messages are kept.
std::size_t pending_bytes() noexcept;

// Waits until the segments of this process are received and every other rank has no receive left to post;
// then frees the communicators. Called in MPI_Finalize by all ranks.
void finish_segments() noexcept;

}  // namespace taut::p2p
