#include "comparison.hpp"

#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "field.hpp"

namespace fft {
namespace {

double summed(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm);
  return value;
}
double greatest_of(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

// Variant: its figures, and its communicators, which have the policy.
struct Variant {
  Row row;
  TautComms comms;

  Variant(const Transform& transform, Row what) : row(std::move(what)) {
    if (row.policy.empty()) return;
    for (auto [from, to] :
         {std::pair(transform.rows(), &comms.rows), {transform.columns(), &comms.columns}}) {
      MPI_Comm_dup(from, to);
      MPI_Comm_set_errhandler(*to, MPI_ERRORS_RETURN);
      const int status = TAUT_Comm_set_policy(*to, row.policy.c_str());
      MPI_Comm_set_errhandler(*to, MPI_ERRORS_ARE_FATAL);
      if (status != MPI_SUCCESS)
        throw std::invalid_argument(row.policy + ": Taut does not accept this policy");
    }
  }
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;
  ~Variant() {
    for (MPI_Comm* comm : {&comms.rows, &comms.columns})
      if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }

  // Returns the bytes of values that travelled as frames, less those of the frames.
  double saved() const {
    double sum = 0;
    for (const MPI_Comm comm : {comms.rows, comms.columns}) {
      if (comm == MPI_COMM_NULL) continue;
      TAUT_Stats stats{};
      stats.struct_size = sizeof stats;
      TAUT_Comm_get_stats(comm, &stats);
      sum += static_cast<double>(stats.carried_bytes) - static_cast<double>(stats.sent_bytes);
    }
    return sum;
  }
};

// Returns a row whose bound is in units of the values: `scale` times that of the text.
Row row_of(const std::string& text, double scale) {
  Row row{.name = text, .policy = text};
  if (!text.starts_with("abs:")) return row;
  const std::size_t comma = std::min(text.find(','), text.size());
  row.bound = std::stod(text.substr(4, comma - 4)) * scale;
  char number[40];
  std::snprintf(number, sizeof number, "abs:%.17g", row.bound);
  row.policy = number + text.substr(comma);
  return row;
}

void measure_error(Row& row, const std::vector<Complex>& result, const std::vector<Complex>& exact,
                   double norm, double count, MPI_Comm world) {
  double squares = 0, greatest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::norm(result[i] - exact[i]);
    squares += error;
    greatest = std::max(greatest, error);
  }
  row.error = std::max(row.error, std::sqrt(summed(squares, world)) / norm);
  row.greatest = std::max(row.greatest, std::sqrt(greatest_of(greatest, world) * count) / norm);
}

// Returns the bound of theorem 9, relative to the norm, plus the greatest rounding error of the transforms.
double proven(double bound, const Transform& transform, double norm, MPI_Comm world) {
  double sum = 1e-14;
  for (const double travelling : transform.travelling())
    sum += bound * std::sqrt(2 * summed(travelling, world)) / norm;
  return sum;
}

struct Problem {
  std::vector<double> values;  // empty: the pencils are given
  std::vector<Complex> pencils;
  double scale = 1;  // root of the mean square of the field
};

Problem make_problem(const Options& options, const Transform& transform, MPI_Comm world) {
  Problem problem;
  const Triple& extent = transform.real_extent();
  if (options.data == "tight") {
    const std::size_t count = volume({extent[0], extent[1], options.shape[2] / 2 + 1});
    const double bound = options.variants.empty() ? -1 : row_of(options.variants.front(), 1).bound;
    if (bound <= 0) throw std::invalid_argument("--data tight: the first variant must be abs:E");
    problem.pencils = pencils_with_the_greatest_error(bound, count);
    return problem;
  }
  problem.values = field(options.data, options.shape, transform);
  double squares = 0;
  for (const double value : problem.values) squares += value * value;
  problem.scale = std::sqrt(summed(squares, world) / static_cast<double>(volume(options.shape)));
  if (!(problem.scale > 0)) throw std::invalid_argument("--data: the field is zero");
  return problem;
}

std::vector<Complex> transformed(Variant& variant, const Transform& transform, const Problem& problem,
                                 MPI_Comm world) {
  MPI_Barrier(world);
  double transposing = 0;
  const double start = MPI_Wtime();
  std::vector<Complex> result = transform.finish(
      problem.values.empty() ? problem.pencils : transform.start(problem.values), variant.comms, transposing);
  const double total = MPI_Wtime() - start;
  variant.row.total_seconds.push_back(greatest_of(total, world));
  variant.row.transpose_seconds.push_back(greatest_of(transposing, world));
  return result;
}

std::vector<std::unique_ptr<Variant>> make_variants(const Options& options, const Transform& transform,
                                                    double scale, std::vector<std::string>& refused) {
  std::vector<std::unique_ptr<Variant>> variants;
  variants.push_back(std::make_unique<Variant>(transform, Row{.name = "plain"}));
  for (const std::string& text : options.variants) {
    try {
      variants.push_back(std::make_unique<Variant>(transform, row_of(text, scale)));
    } catch (const std::invalid_argument& refusal) {  // on all ranks alike
      refused.push_back(refusal.what());
    }
  }
  return variants;
}

}  // namespace

std::vector<Row> compare(const Options& options, MPI_Comm world, std::vector<std::string>& refused) {
  int size = 1;
  MPI_Comm_size(world, &size);
  std::array<int, 2> ranks = options.ranks;
  if (ranks[0] * ranks[1] != 0 && ranks[0] * ranks[1] != size)
    throw std::invalid_argument("--ranks does not multiply to the number of ranks");
  MPI_Dims_create(size, 2, ranks.data());
  const Transform transform(world, options.shape, ranks[0], ranks[1]);
  const Problem problem = make_problem(options, transform, world);
  const auto variants = make_variants(options, transform, problem.scale, refused);

  const std::vector<Complex> exact = transformed(*variants[0], transform, problem, world);
  double squares = 0;
  for (const Complex& value : exact) squares += std::norm(value);
  const double norm = std::sqrt(summed(squares, world)),
               count = summed(static_cast<double>(exact.size()), world);
  for (const auto& variant : variants) {  // warms up, and lets Taut choose codec and algorithm
    transformed(*variant, transform, problem, world);
    variant->row.total_seconds.clear();
    variant->row.transpose_seconds.clear();
  }
  std::vector<double> saved;
  for (const auto& variant : variants) saved.push_back(variant->saved());
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    for (const auto& variant : variants) {
      const auto result = transformed(*variant, transform, problem, world);
      measure_error(variant->row, result, exact, norm, count, world);
    }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Row& row = variants[i]->row;
    const auto [first, second] = transform.travelling();
    const double bytes = (first + second) * sizeof(Complex);
    row.plain_bytes = greatest_of(bytes, world);
    row.sent_bytes = greatest_of(bytes - (variants[i]->saved() - saved[i]) / options.repeats, world);
    if (row.bound > 0) row.proven = proven(row.bound, transform, norm, world);
    if (row.policy.empty() || row.policy.starts_with("lossless")) row.proven = 0;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace fft
