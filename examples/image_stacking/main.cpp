// Image stacking: each rank makes an image and an allreduce adds the images, by plain MPI and by Taut.
// Exit status: 0; 1 if a bound is violated or ranks hold different images; 2 for a wrong command line.

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "fair_baseline.hpp"
#include "migration.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "raw_input.hpp"
#include "report.hpp"
#include "stack.hpp"

namespace stacking {
namespace {

constexpr float section_width = 5000;  // m

struct World {
  int rank = 0, ranks = 1, on_this_host = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &on_this_host);
    MPI_Comm_free(&host);
  }
};

// Stacks a volume of images, of which `section` is shown.
template <class T>
struct Images {
  std::vector<T> values;
  std::vector<std::size_t> shape;
  std::string what;
  std::vector<Picture> pictures;  // pictures already written, beside the section

  std::size_t columns() const { return shape.back(); }
  std::size_t rows() const { return shape.size() > 1 ? shape[shape.size() - 2] : 1; }
  std::span<const T> section(std::span<const T> volume) const {
    const std::size_t size = rows() * columns();
    return volume.subspan(volume.size() / size / 2 * size, size);  // the middle image: offset 0
  }
};

Images<float> migrate(const Options& options, const World& world) {
  const float spacing = section_width / static_cast<float>(options.nx - 1);
  const Survey survey = plan_survey(options.nx, options.nz, spacing);
  ImageVolume volume(options.offsets, options.nz, options.nx);
  const double start = MPI_Wtime();
  {
    Progress progress(MPI_COMM_WORLD, options.shots, options.progress);
    for (int shot = 0; shot < options.shots; ++shot) {
      if (!mine(shot, world.rank, world.ranks)) continue;
      migrate_shot(survey, (2 * shot + 1) * options.nx / (2 * options.shots), volume);
      progress.shot_done();
    }
  }
  filter(volume);
  MPI_Barrier(MPI_COMM_WORLD);
  Images<float> images;
  if (world.rank == 0) {
    std::printf(
        "Migrated %d shots on %d ranks in %.1f s: %d x %d points of %.1f m, %d time steps of %.2f ms, %.1f "
        "Hz\n",
        options.shots, world.ranks, MPI_Wtime() - start, options.nx, options.nz, static_cast<double>(spacing),
        survey.steps, static_cast<double>(survey.time_step) * 1e3,
        static_cast<double>(survey.peak_frequency));
    write_raw(options.out, "velocity.f32", std::as_bytes(std::span(survey.truth.velocity.values)));
  }
  const auto nx = static_cast<std::size_t>(options.nx), nz = static_cast<std::size_t>(options.nz);
  const auto sections = static_cast<std::size_t>(volume.sections());
  images.values = std::move(volume.values);
  images.shape = {sections, nz, nx};
  images.what = std::to_string(options.shots) + " migrated shots: subsurface offset, depth, distance";
  images.pictures = {{"velocity", "velocity.f32", nz, nx}, {"volume", "volume.f32", sections * nz, nx}};
  return images;
}

template <class T>
Images<T> load(const Options& options, const World& world) {
  const std::size_t count = count_of<T>(options.input.front());
  Images<T> images;
  images.shape = options.shape.empty() ? std::vector{count} : options.shape;
  if (std::accumulate(images.shape.begin(), images.shape.end(), std::size_t{1}, std::multiplies<>()) != count)
    throw std::runtime_error(options.input.front() + ": the size does not fit the shape");
  images.values = share_of<T>(options.input, count, world.rank, world.ranks);
  images.what = "shares of " + std::filesystem::path(options.input.front()).filename().string();
  if (options.input.size() > 1) images.what += " and " + std::to_string(options.input.size() - 1) + " more";
  return images;
}

// Prints remarks on the result that the figures do not show by themselves.
void tell_what_to_make_of_it(const std::vector<Row>& rows, const Options& options, const World& world) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int ranks = options.mbit > 0 ? world.ranks : world.on_this_host;  // emulated hosts share one machine
  if (ranks > cores)
    std::printf("%d ranks take turns on %d cores here, so the times are rough; bytes and errors are not.\n",
                ranks, cores);
  const Row& plain = rows.front();
  double best = 0;
  for (const Row& row : rows)
    if (!row.policy.empty()) best = std::max(best, plain.median_seconds() / row.median_seconds());
  if (options.mbit > 0)
    std::printf("At %.0f Mbit/s an ideal ring of uncompressed data takes %.0f ms; plain MPI took %.0f ms.\n",
                options.mbit, plain.wire_bytes * 8e-3 / options.mbit, plain.median_seconds() * 1e3);
  else if (world.on_this_host < world.ranks)
    return;
  else if (best < 1)
    std::printf(
        "Here plain MPI is faster: these ranks share memory, so there is no wire to save. Try a real link:\n"
        "  make demo LINK=1gbit\n");
  else
    std::printf("These ranks share memory. Over a real link there is more to gain: make demo LINK=1gbit\n");
}

template <class T>
bool compare_stacks(const Images<T>& images, const Options& options, const World& world) {
  if (images.values.size() > 2'000'000'000) throw std::runtime_error("more than 2e9 values a rank");
  const std::string dtype = sizeof(T) == 4 ? "f32" : "f64";
  Setting setting = describe_machine();
  std::vector<Picture> pictures = images.pictures;
  const auto keep = [&](const Row& row, std::span<const T> volume) {
    pictures.push_back({label(row), label(row) + "." + dtype, images.rows(), images.columns()});
    write_raw(options.out, pictures.back().file, std::as_bytes(images.section(volume)));
    if (row.policy.empty() && !images.pictures.empty())
      write_raw(options.out, "volume.f32", std::as_bytes(volume));
  };
  const std::vector<Row> rows = stack_by_all<T>(images.values, {options.bounds, options.policies},
                                                options.repeats, MPI_COMM_WORLD, keep);
  bool good = true;
  for (const Row& row : rows) good = good && row.good();
  if (world.rank != 0) return good;

  setting.what = images.what;
  setting.dtype = dtype;
  setting.shape = images.shape;
  setting.bytes = images.values.size() * sizeof(T);
  setting.ranks = world.ranks;
  const char* joined_by = world.on_this_host == world.ranks ? "shared memory" : "a network";
  setting.link = options.link.empty() ? joined_by : options.link;
  setting.repeats = options.repeats;
  print_table(setting, rows);
  tell_what_to_make_of_it(rows, options, world);
  write_json(options.out, setting, rows, pictures);
  if (!good) std::printf("FAILED: see the last column\n");
  return good;
}

bool run(const Options& options, const World& world) {
  if (world.rank == 0) std::filesystem::create_directories(options.out);
  if (options.input.empty()) return compare_stacks(migrate(options, world), options, world);
  if (options.dtype == "f32") return compare_stacks(load<float>(options, world), options, world);
  return compare_stacks(load<double>(options, world), options, world);
}

int main_of_rank(int argc, char** argv) {
  const World world;
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::exception& error) {
    if (world.rank == 0) std::fprintf(stderr, "image_stacking: %s\n%s", error.what(), usage());
    return 2;
  }
  if (options.help) {
    if (world.rank == 0) std::fputs(usage(), stdout);
    return 0;
  }
  try {
    return run(options, world) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_stacking: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return 2;
}

}  // namespace
}  // namespace stacking

int main(int argc, char** argv) {
  stacking::let_waiting_ranks_yield();
  MPI_Init(&argc, &argv);
  const int status = stacking::main_of_rank(argc, argv);
  MPI_Finalize();
  return status;
}
