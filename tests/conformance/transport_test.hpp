// Tests of every transport. Each test is a task for one rank; a main program for each transport runs them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "communication/team/transport.hpp"

namespace taut::test {

using Message = std::vector<std::byte>;

inline Message message(std::size_t bytes, int salt) {
  Message m(bytes);
  for (std::size_t i = 0; i < bytes; ++i) m[i] = std::byte(i * 7 + static_cast<std::size_t>(salt));
  return m;
}

// Sends messages of all sizes to the right-hand neighbour, which is the rank itself if there is one rank.
inline Task<> neighbours_exchange(Transport& t) {
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  for (const std::size_t bytes : {0u, 1u, 63u, 4096u, 70000u, 300000u}) {
    const Message out = message(bytes, t.rank());
    Message in(bytes + 100);
    Pending receiving = t.recv(in, left, 0);
    Pending sending = t.send(out, right, 0);
    const SizeOrStatus moved = co_await receiving;
    co_await sending;
    EXPECT_EQ(moved.status, Status::ok);
    EXPECT_EQ(moved.bytes, bytes);
    in.resize(bytes);
    EXPECT_EQ(in, message(bytes, left));
  }
}

// Messages of a lane keep their order; lanes are independent, here received in the opposite order of sending.
inline Task<> lanes_are_independent_and_ordered(Transport& t) {
  constexpr int lanes_used = 5, messages = 4;
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  std::vector<Message> out;
  std::vector<Pending> sending;
  out.reserve(lanes_used * messages);
  for (int lane = 0; lane < lanes_used; ++lane) {
    for (int i = 0; i < messages; ++i) {
      out.push_back(message(static_cast<std::size_t>(1000 + 100 * i), 16 * lane + i));
      sending.push_back(t.send(out.back(), right, lane));
    }
  }
  for (int lane = lanes_used - 1; lane >= 0; --lane) {
    for (int i = 0; i < messages; ++i) {
      Message in(2000);
      Pending receiving = t.recv(in, left, lane);
      in.resize((co_await receiving).bytes);
      EXPECT_EQ(in, message(static_cast<std::size_t>(1000 + 100 * i), 16 * lane + i));
    }
  }
  for (Pending& pending : sending) co_await pending;
}

// Starts many operations at a time, on the highest lanes, and completes them in any order.
inline Task<> many_are_outstanding(Transport& t) {
  constexpr int n = 64;
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  std::vector<Message> in(n, Message(512)), out;
  std::vector<Pending> receiving, sending;
  for (int i = 0; i < n; ++i) out.push_back(message(512, i));
  for (int i = 0; i < n; ++i)
    receiving.push_back(t.recv(in[static_cast<std::size_t>(i)], left, lanes - 1 - i));
  for (int i = n - 1; i >= 0; --i)
    sending.push_back(t.send(out[static_cast<std::size_t>(i)], right, lanes - 1 - i));
  for (int i = n - 1; i >= 0; --i) co_await receiving[static_cast<std::size_t>(i)];
  for (Pending& pending : sending) co_await pending;
  for (int i = 0; i < n; ++i) EXPECT_EQ(in[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(i)]);
}

// Receives of a lane match in the order in which they were started, in whatever order they are tested.
inline Task<> receives_match_in_order(Transport& t) {
  constexpr std::size_t n = 10;
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  std::vector<Message> in(n, Message(100)), out;
  std::vector<Pending> receiving, sending;
  for (std::size_t i = 0; i < n; ++i) out.push_back(message(100, static_cast<int>(i)));
  for (std::size_t i = 0; i < n; ++i) receiving.push_back(t.recv(in[i], left, 1));
  for (std::size_t i = 0; i < n; ++i) sending.push_back(t.send(out[i], right, 1));
  for (std::size_t i = n; i-- > 0;) co_await receiving[i];
  for (Pending& pending : sending) co_await pending;
  EXPECT_EQ(in, out);
}

// A message longer than the capacity is consumed and reported, nothing is written beyond the buffer, and the
// lane stays usable.
inline Task<> too_long_messages_are_reported(Transport& t) {
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  for (const std::size_t bytes : {200u, 1000000u}) {
    const Message out = message(bytes, 1);
    Message in(101, std::byte{0xAA});
    Pending receiving = t.recv(Bytes(in).first(100), left, 2);
    Pending sending = t.send(out, right, 2);
    EXPECT_EQ((co_await receiving).status, Status::frame_mismatch);
    co_await sending;
    EXPECT_EQ(in[100], std::byte{0xAA});
  }
  Message in(100);
  const Message out = message(100, 5);
  Pending receiving = t.recv(in, left, 2);
  Pending sending = t.send(out, right, 2);
  EXPECT_EQ((co_await receiving).status, Status::ok);
  co_await sending;
  EXPECT_EQ(in, out);
}

inline Task<> traffic_is_counted(Transport& t) {
  const Traffic before = t.traffic();
  const Message out = message(300, 1);
  Message in(300);
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  Pending receiving = t.recv(in, left, 0);
  Pending sending = t.send(out, right, 0);
  co_await receiving;
  co_await sending;
  EXPECT_EQ(t.traffic().messages - before.messages, 1u);
  EXPECT_EQ(t.traffic().bytes - before.bytes, 300u);
}

struct TransportTest {
  const char* name;
  Task<> (*run)(Transport&);
};
inline void PrintTo(const TransportTest& test, std::ostream* out) { *out << test.name; }

inline constexpr TransportTest transport_tests[] = {
    {"neighbours_exchange", neighbours_exchange},
    {"lanes_are_independent_and_ordered", lanes_are_independent_and_ordered},
    {"many_are_outstanding", many_are_outstanding},
    {"receives_match_in_order", receives_match_in_order},
    {"too_long_messages_are_reported", too_long_messages_are_reported},
    {"traffic_is_counted", traffic_is_counted},
};

}  // namespace taut::test
