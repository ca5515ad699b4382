#include "communication/team/own_thread.hpp"

#include <gtest/gtest.h>

namespace taut::test {
namespace {

TEST(OwnThread, TakesNoSignalOfTheProgram) {
  sigset_t there, here;
  start_own_thread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &there); }).join();
  pthread_sigmask(SIG_BLOCK, nullptr, &here);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD, SIGALRM}) {
    EXPECT_EQ(sigismember(&there, signal), 1) << signal;
    EXPECT_EQ(sigismember(&here, signal), 0) << signal;
  }
  EXPECT_EQ(sigismember(&there, SIGSEGV), 0);
}

}  // namespace
}  // namespace taut::test
