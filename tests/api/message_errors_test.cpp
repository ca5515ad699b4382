// Messages that do not fit their receive, or are none: an error that names what is wrong, nothing written
// beyond the buffer, and a communicator that goes on.
#include <cstdio>

#include "api/messages.hpp"
#include "comm/message_coder.hpp"

namespace taut::test {
namespace {

// Between ranks 0 and 1; the others look on.
class MessageErrors : public testing::Test {
 protected:
  MessageErrors() : comm_("abs:1e-3,checksum=on") {}

  // Whether there are two ranks, and which one this is.
  bool sends() const { return comm_.rank() == 0 && comm_.size() > 1; }
  bool receives() const { return comm_.rank() == 1; }

  void TearDown() override {  // all is as before
    if (!sends() && !receives()) return;
    std::vector<float> x(50000, 2.5f), y(x.size());
    for (const int count : {3, 50000}) {
      if (sends()) {
        EXPECT_EQ(TAUT_Send(x.data(), count, MPI_FLOAT, 1, 9, comm_), MPI_SUCCESS);
      } else {
        MPI_Status status;
        EXPECT_EQ(TAUT_Recv(y.data(), 50000, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &status),
                  MPI_SUCCESS);
        EXPECT_EQ(count_of(status, MPI_FLOAT), count);
        EXPECT_NEAR(y[2], 2.5, 1e-3);
      }
    }
  }

  // Receives floats where there is room for `count`, blocking and not.
  int receive(int count, bool blocking, MPI_Datatype type = MPI_FLOAT) {
    int size = 0;
    MPI_Type_size(type, &size);
    const Guarded room(static_cast<std::size_t>(count * size));
    TAUT_Request request = TAUT_REQUEST_NULL;
    MPI_Status status;
    const int code = blocking ? TAUT_Recv(room.bytes().data(), count, type, 0, 1, comm_, &status)
                     : TAUT_Irecv(room.bytes().data(), count, type, 0, 1, comm_, &request) == MPI_SUCCESS
                         ? TAUT_Wait(&request, &status)
                         : MPI_ERR_OTHER;
    EXPECT_TRUE(room.intact());
    return code;
  }

  Comm comm_;
};

TEST_F(MessageErrors, ALongerMessageIsTruncated) {
  for (const Pattern pattern : {Pattern::smooth, Pattern::wild}) {
    const Values values = make_values(DType::f32, 100000, pattern, 1);
    for (const auto& [sent, room] :
         {std::pair{11, 10}, {10, 0}, {100000, 10}, {100000, 99999}, {100000, 20000}}) {
      for (const bool blocking : {true, false}) {
        if (sends()) {
          EXPECT_EQ(TAUT_Send(values.slice().data, sent, MPI_FLOAT, 1, 1, comm_), MPI_SUCCESS);
        }
        if (receives()) {
          EXPECT_EQ(class_of(receive(room, blocking)), MPI_ERR_TRUNCATE) << sent << " for " << room;
        }
      }
    }
  }
}

TEST_F(MessageErrors, AnotherTypeIsNamed) {
  const Values values = make_values(DType::f32, 100000, Pattern::smooth, 1);
  for (const int count : {2, 100000}) {
    for (const bool blocking : {true, false}) {
      if (sends()) {
        EXPECT_EQ(TAUT_Send(values.slice().data, count, MPI_FLOAT, 1, 1, comm_), MPI_SUCCESS);
      }
      if (receives()) {
        const int code = receive(count, blocking, MPI_DOUBLE);
        EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_FRAME_MISMATCH);
        EXPECT_EQ(error_text(code), "Taut: a message of type f32, received as f64");
      }
    }
  }
}

// Bytes take anything, as under MPI.
TEST_F(MessageErrors, BytesAreNoOtherType) {
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 1);
  for (const int count : {2, 50000}) {
    if (sends()) {
      EXPECT_EQ(TAUT_Send(values.slice().data, count, MPI_FLOAT, 1, 1, comm_), MPI_SUCCESS);
    }
    if (!receives()) continue;
    std::vector<std::byte> got(200001);
    MPI_Status status;
    EXPECT_EQ(TAUT_Recv(got.data() + 1, 200000, MPI_BYTE, 0, 1, comm_, &status), MPI_SUCCESS);
    EXPECT_EQ(count_of(status, MPI_BYTE), 4 * count);
    float last = 0;
    std::memcpy(&last, got.data() + 1 + 4 * (count - 1), 4);
    EXPECT_NEAR(last, values.at(static_cast<std::size_t>(count) - 1), 1e-3);
  }
}

TEST_F(MessageErrors, AMessageOfMpisOwnIsNamed) {
  std::vector<float> x(100000, 1.0f);
  for (const int count : {0, 1, 100, 90000}) {
    for (const bool blocking : {true, false}) {
      if (sends()) MPI_Send(x.data(), count, MPI_FLOAT, 1, 1, comm_);
      if (receives()) {
        const int code = receive(100000, blocking);
        EXPECT_EQ(TAUT_Error_status(code), TAUT_ERR_FRAME);
        EXPECT_NE(error_text(code).find("was it sent by MPI_Send?"), std::string::npos);
      }
    }
  }
}

// What a sender would have sent, changed on its way.
TEST_F(MessageErrors, DamagedMessagesAreRefused) {
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 1);
  const Policy policy = parse_policy("abs:1e-3,checksum=on");
  HostPlace place;
  MessageCoder coder(policy, place, "", 1);
  const EncodedMessage made = coder.encode(values.slice());
  ASSERT_EQ(made.plain, Plain::no);
  write_envelope({Envelope::coded, 1, 200000, 0}, {}, made.buffer.bytes());
  const Bytes good = made.buffer.bytes().first(made.bytes);
  std::vector<std::byte> plain(envelope_bytes + 80);
  write_envelope({Envelope::checksummed, 1, 80, 0}, ConstBytes(plain).subspan(envelope_bytes), plain);

  std::vector<std::vector<std::byte>> damaged;
  for (const std::size_t at : {0u, 5u, 9u, 20u, 30u, 50u, 100u, 1000u}) {
    damaged.emplace_back(good.begin(), good.end())[at] ^= std::byte{4};
    if (at < plain.size()) damaged.emplace_back(plain)[at] ^= std::byte{4};
  }
  damaged.emplace_back(good.begin(), good.end() - 1);
  damaged.emplace_back(good.begin(), good.end()).push_back(std::byte{0});
  damaged.emplace_back(good.begin(), good.begin() + envelope_bytes);
  for (const auto& message : damaged) {
    for (const bool blocking : {true, false}) {
      if (sends()) MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 1, 1, comm_);
      if (receives()) {
        const int status = TAUT_Error_status(receive(50000, blocking));
        EXPECT_TRUE(status == TAUT_ERR_FRAME || status == TAUT_ERR_FRAME_MISMATCH ||
                    status == TAUT_ERR_VERSION)
            << status;
      }
    }
  }
}

TEST_F(MessageErrors, OneOfManyRequestsFails) {
  const Values values = make_values(DType::f32, 50000, Pattern::smooth, 1);
  TAUT_Request requests[3];
  if (sends()) {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(TAUT_Isend(values.slice().data, 50000, MPI_FLOAT, 1, i, comm_, &requests[i]), MPI_SUCCESS);
    EXPECT_EQ(TAUT_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  }
  if (receives()) {
    std::vector<float> got(150000);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(
          TAUT_Irecv(got.data() + 50000 * i, i == 1 ? 100 : 50000, MPI_FLOAT, 0, i, comm_, &requests[i]),
          MPI_SUCCESS);
    MPI_Status statuses[3];
    EXPECT_EQ(TAUT_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
    EXPECT_EQ(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
    EXPECT_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
    EXPECT_EQ(count_of(statuses[2], MPI_FLOAT), 50000);
    EXPECT_NEAR(got[149999], values.at(49999), 1e-3);
  }
}

}  // namespace
}  // namespace taut::test
