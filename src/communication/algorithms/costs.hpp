// Costs that several algorithms have in common.
#pragma once

#include "communication/team/algorithm.hpp"

namespace taut::algorithms {

// Cost of `steps` steps in each of which every rank sends one message of one frame.
constexpr Cost cost_of_exchanges(int P, int steps, int encodes, int combines, int decodes) noexcept {
  return {.steps = steps,
          .messages = P * steps,
          .messages_a_rank = steps,
          .frames = P * steps,
          .encodes = encodes,
          .combines = combines,
          .decodes = decodes};
}

// Cost of a chain: every rank but the last sends one message of one frame to the next rank.
constexpr Cost cost_of_chain(int P, int encodes, int combines, int decodes) noexcept {
  return {.steps = P - 1,
          .messages = P - 1,
          .messages_a_rank = P > 1,
          .frames = P - 1,
          .encodes = encodes,
          .combines = combines,
          .decodes = decodes};
}

}  // namespace taut::algorithms
