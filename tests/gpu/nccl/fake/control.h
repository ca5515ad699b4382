// Controls of the simulated NCCL, for tests.
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace taut::fake_nccl {

// Returns the rules that programs broke since the last call of this function, a line each; "" if
// nothing. A deadlock is listed with all messages that wait.
std::string take_report();

// Sets the time without any progress after which waiting messages count as a deadlock.
void set_patience(double seconds);

// Makes the n-th call from now on that moves data, or splits a communicator, fail with ncclInternalError; 1
// is the next one, 0: none.
void fail_at(unsigned long n);

// Inverts the first byte of the n-th message from now on between two ranks; 1 is the next one, 0: none.
void damage_message(unsigned long n);

// Number of calls so far that move data.
unsigned long calls();

// Number of bytes that ranks have sent to other ranks by ncclSend, and of messages.
unsigned long sent_bytes();
unsigned long sent_messages();

// Number of calls so far of a collective, by its name without the prefix; of all ranks.
unsigned long calls_of(const std::string& name);

}  // namespace taut::fake_nccl
#pragma GCC visibility pop
