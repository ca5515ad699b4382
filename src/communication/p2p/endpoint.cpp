#include "communication/p2p/endpoint.hpp"

#include <atomic>

namespace taut::p2p {
namespace {

std::atomic<Endpoint*> of_the_program{nullptr};

}  // namespace

Endpoint* program_endpoint() noexcept { return of_the_program; }
void set_program_endpoint(Endpoint* endpoint) noexcept { of_the_program = endpoint; }

}  // namespace taut::p2p
