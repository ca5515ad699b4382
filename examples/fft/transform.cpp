#include "transform.hpp"

#include <fftw3.h>

#include <cmath>

namespace fft {

// The extents of one rank in each phase, and its communicators.
struct Transform::Layout {
  MPI_Comm rows = MPI_COMM_NULL, columns = MPI_COMM_NULL;
  Triple real{}, real_first{}, pencil{}, in_rows{}, in_columns{}, result_first{};

  Layout(MPI_Comm world, const Triple& whole, int p0, int p1) {
    int me = 0;
    MPI_Comm_rank(world, &me);
    const int r0 = me / p1, r1 = me % p1, half = whole[2] / 2 + 1;
    MPI_Comm_split(world, r0, r1, &rows);
    MPI_Comm_split(world, r1, r0, &columns);
    const Part of_0 = part(whole[0], p0, r0), of_1 = part(whole[1], p1, r1);
    const Part then_1 = part(whole[1], p0, r0), then_2 = part(half, p1, r1);
    real = {of_0.count, of_1.count, whole[2]};
    real_first = {of_0.first, of_1.first, 0};
    pencil = {of_0.count, of_1.count, half};
    in_rows = {of_0.count, whole[1], then_2.count};
    in_columns = {whole[0], then_1.count, then_2.count};
    result_first = {0, then_1.first, then_2.first};
  }
};

namespace {

fftw_complex* raw(Complex* values) { return reinterpret_cast<fftw_complex*>(values); }

void scale(std::span<double> values, double factor) {
  for (double& value : values) value *= factor;
}
void scale(std::vector<Complex>& values, int n) {
  scale({reinterpret_cast<double*>(values.data()), 2 * values.size()}, 1 / std::sqrt(n));
}

// Transforms `count` neighbouring series of n values, `stride` apart, in place.
void transform(Complex* at, int n, int count, int stride, int sign) {
  const fftw_plan plan = fftw_plan_many_dft(1, &n, count, raw(at), nullptr, stride, 1, raw(at), nullptr,
                                            stride, 1, sign, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

}  // namespace

Transform::Transform(MPI_Comm world, const Triple& whole, int p0, int p1)
    : Transform(world, Layout(world, whole, p0, p1)) {}

Transform::Transform(MPI_Comm, const Layout& layout)
    : rows_(layout.rows),
      columns_(layout.columns),
      real_(layout.real),
      real_first_(layout.real_first),
      pencil_extent_(layout.pencil),
      rows_extent_(layout.in_rows),
      columns_extent_(layout.in_columns),
      result_first_(layout.result_first),
      to_rows_(rows_, pencil_extent_, 2, rows_extent_, 1),
      to_columns_(columns_, rows_extent_, 1, columns_extent_, 0) {}

Transform::~Transform() {
  MPI_Comm_free(&rows_);
  MPI_Comm_free(&columns_);
}

std::vector<Complex> Transform::start(std::span<const double> values) const {
  std::vector<Complex> pencils(volume(pencil_extent_));
  std::vector<double> input(values.begin(), values.end());
  const int n = real_[2], series = real_[0] * real_[1];
  const fftw_plan plan =
      fftw_plan_many_dft_r2c(1, &n, series, input.data(), nullptr, 1, n, raw(pencils.data()), nullptr, 1,
                             pencil_extent_[2], FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  scale(pencils, n);
  return pencils;
}

std::vector<Complex> Transform::finish(const std::vector<Complex>& pencils, const TautComms& taut,
                                       double& seconds) const {
  std::vector<Complex> rows(volume(rows_extent_)), columns(volume(columns_extent_));
  const auto timed = [&](const Exchange& exchange, MPI_Comm comm, const std::vector<Complex>& from,
                         std::vector<Complex>& to, MPI_Comm ready) {
    MPI_Barrier(ready);
    const double start = MPI_Wtime();
    exchange.forward(from.data(), to.data(), comm);
    seconds += MPI_Wtime() - start;
  };
  timed(to_rows_, taut.rows, pencils, rows, rows_);
  along_axis_1(rows, FFTW_FORWARD);
  timed(to_columns_, taut.columns, rows, columns, columns_);
  along_axis_0(columns, FFTW_FORWARD);
  return columns;
}

std::vector<double> Transform::inverse(std::vector<Complex> result) const {
  std::vector<Complex> rows(volume(rows_extent_)), pencils(volume(pencil_extent_));
  along_axis_0(result, FFTW_BACKWARD);
  to_columns_.backward(result.data(), rows.data());
  along_axis_1(rows, FFTW_BACKWARD);
  to_rows_.backward(rows.data(), pencils.data());
  std::vector<double> values(volume(real_));
  const int n = real_[2], series = real_[0] * real_[1];
  const fftw_plan plan =
      fftw_plan_many_dft_c2r(1, &n, series, raw(pencils.data()), nullptr, 1, pencil_extent_[2], values.data(),
                             nullptr, 1, n, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  scale(values, 1 / std::sqrt(n));
  return values;
}

void Transform::along_axis_1(std::vector<Complex>& values, int sign) const {
  const int n = rows_extent_[1], stride = rows_extent_[2];
  for (int i = 0; i < rows_extent_[0]; ++i)
    transform(values.data() + static_cast<std::ptrdiff_t>(i) * n * stride, n, stride, stride, sign);
  scale(values, n);
}

void Transform::along_axis_0(std::vector<Complex>& values, int sign) const {
  const int series = columns_extent_[1] * columns_extent_[2];
  transform(values.data(), columns_extent_[0], series, series, sign);
  scale(values, columns_extent_[0]);
}

}  // namespace fft
