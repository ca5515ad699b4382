// GPU memory as an argument of the calls (docs/testing.md, the traps of MPI).
#include <string>

#include "support/device_memory.hpp"
#include "world.hpp"

namespace taut::test {
namespace device_test {

constexpr int count = 50000;

bool names_the_gpu(const std::string& message, const std::string& argument) {
  return message.find(argument + " is memory of a GPU") != std::string::npos;
}

// libtaut_cuda serves codec calls on GPU memory (tests/gpu/cuda_calls); here it is absent.
TEST(ValuesOnADevice, CodecCallsSayWhatIsMissing) {
  const DeviceMemory there(1 << 20);
  std::vector<float> here(count);
  std::vector<char> frame(TAUT_Max_bytes(TAUT_FLOAT32, count, 2));
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Encode(there.data(), count, TAUT_FLOAT32, "abs:1", frame.data(), frame.size(), &bytes),
            TAUT_ERR_ARGUMENT);
  EXPECT_TRUE(names_the_gpu(TAUT_Last_error(), "values")) << TAUT_Last_error();
  EXPECT_EQ(TAUT_Encode(here.data(), count, TAUT_FLOAT32, "abs:1", there.data(), frame.size(), &bytes),
            TAUT_ERR_ARGUMENT);
  EXPECT_TRUE(names_the_gpu(TAUT_Last_error(), "frame")) << TAUT_Last_error();
  ASSERT_EQ(TAUT_Encode(here.data(), count, TAUT_FLOAT32, "abs:1", frame.data(), frame.size(), &bytes),
            TAUT_SUCCESS);
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, there.data(), count, TAUT_FLOAT32), TAUT_ERR_ARGUMENT);
  EXPECT_TRUE(names_the_gpu(TAUT_Last_error(), "values")) << TAUT_Last_error();
  EXPECT_EQ(TAUT_Decode(there.data(), bytes, here.data(), count, TAUT_FLOAT32), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Frame_add(frame.data(), bytes, there.data(), bytes, frame.data(), frame.size(), &bytes),
            TAUT_ERR_ARGUMENT);
  EXPECT_TRUE(names_the_gpu(TAUT_Last_error(), "b")) << TAUT_Last_error();
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(TAUT_Frame_get_info(there.data(), bytes, &info), TAUT_ERR_ARGUMENT);
  const std::string said = TAUT_Last_error();
  EXPECT_NE(said.find("libtaut_cuda.so.0 could not be opened"), std::string::npos) << said;
  EXPECT_NE(said.find("-DTAUT_CUDA=ON"), std::string::npos) << said;
}

// Plain MPI, which may support GPU memory, here treats the values as host memory.
TEST(ValuesOnADevice, CollectivesAreLeftToMpi) {
  const Comm comm("abs:1e-3,when=always");
  std::vector<float> x(count, 0.1F), y(count);
  const SaidOfMemory said(x.data(), comm.rank() == 0 ? count * sizeof(float) : 0);
  ASSERT_EQ(TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_MAX, comm), MPI_SUCCESS);
  EXPECT_EQ(y[count / 2], 0.1F);
  TAUT_Request request = TAUT_REQUEST_NULL;
  ASSERT_EQ(TAUT_Iallreduce(x.data(), y.data(), count, MPI_FLOAT, MPI_MIN, comm, &request), MPI_SUCCESS);
  ASSERT_EQ(TAUT_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(y[count / 2], 0.1F);
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_vector(count / 2, 1, 2, MPI_FLOAT, &apart);
  MPI_Type_commit(&apart);
  ASSERT_EQ(TAUT_Bcast(x.data(), 1, apart, 0, comm), MPI_SUCCESS);
  MPI_Type_free(&apart);
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  EXPECT_EQ(comm.stats().plain_unsupported, comm.size() == 1 ? comm.stats().calls : 3u);
}

TEST(ValuesOnADevice, MeansAreLeftAsSumsAndSaidToBe) {
  const Comm comm("abs:1e-3,when=always");
  std::vector<float> x(count, 2), y(count);
  const SaidOfMemory said(y.data(), comm.rank() == 0 ? count * sizeof(float) : 0);
  const int code = TAUT_Allreduce(x.data(), y.data(), count, MPI_FLOAT, TAUT_Avg(), comm);
  EXPECT_EQ(TAUT_Error_status(code), comm.rank() == 0 ? TAUT_ERR_ARGUMENT : TAUT_SUCCESS);
  EXPECT_EQ(y[7], comm.rank() == 0 ? 2.F * static_cast<float>(comm.size()) : 2.F);
}

TEST(ValuesOnADevice, MessagesAreLeftToMpi) {
  const Comm comm("abs:1e-3");
  std::vector<float> x(count, 0.1F), y(count);
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  const auto exchange = [&] {
    return TAUT_Sendrecv(x.data(), count, MPI_FLOAT, next, 3, y.data(), count, MPI_FLOAT, before, 3, comm,
                         MPI_STATUS_IGNORE);
  };
  {
    const SaidOfMemory said(x.data(), count * sizeof(float));
    ASSERT_EQ(exchange(), MPI_SUCCESS);
  }
  EXPECT_EQ(y[count - 1], 0.1F);
  EXPECT_EQ(comm.stats().compressed_calls, 0u);
  const SaidOfMemory said(y.data(), count * sizeof(float));  // MPI packs and unpacks what arrives coded
  ASSERT_EQ(exchange(), MPI_SUCCESS);
  EXPECT_NEAR(y[count - 1], 0.1, 1e-3);
  EXPECT_EQ(comm.stats().compressed_calls, comm.size() == 1 ? 0u : 2u);
}

}  // namespace device_test
}  // namespace taut::test
