#include "run.hpp"

#include <algorithm>
#include <stdexcept>

#include "../comparison/cores.hpp"

namespace wave3d {
namespace {

constexpr int stations_along = 4;  // stations on the surface, along each of x and y

// One variant while it runs.
struct Variant {
  Variant(MPI_Comm comm, const Box& box, const std::string& text)
      : name(text),
        policy(text.substr(0, text.find('/'))),
        way(text.ends_with("/collective") ? Way::collective : Way::messages),
        field(box),
        halo(comm, box, policy == "plain" ? "" : policy + ",min_bytes=1KiB,when=always", way) {}

  std::string name, policy;
  Way way;
  WaveField field;
  Halo halo;
  std::vector<double> halo_seconds, halo_without_core, step_seconds, energies;
  std::vector<float> seismograms, slice;
};

struct Scene {
  MPI_Comm comm;
  Box box;
  Medium medium;
  Triple source;
  std::vector<Triple> stations;
  int steps;
};

Scene make_scene(const Options& options, MPI_Comm world, Triple& ranks) {
  Scene scene{};
  int size = 1, me = 0;
  MPI_Comm_size(world, &size);
  ranks = options.ranks;
  if (std::ranges::count(ranks, 0) == 0 && ranks[0] * ranks[1] * ranks[2] != size)
    throw std::invalid_argument("--ranks does not multiply to the number of ranks");
  std::ranges::reverse(ranks);  // MPI gives the first axes the most ranks: here the last, whose faces are
  MPI_Dims_create(size, 3, ranks.data());  // contiguous in memory
  std::ranges::reverse(ranks);
  const Triple periods{};
  MPI_Cart_create(world, 3, ranks.data(), periods.data(), 0, &scene.comm);
  MPI_Comm_rank(scene.comm, &me);
  Triple place{};
  MPI_Cart_coords(scene.comm, me, 3, place.data());
  scene.box.extent = options.cells;
  for (std::size_t a = 0; a < 3; ++a) {
    scene.box.first[a] = place[a] * options.cells[a];
    scene.box.whole[a] = ranks[a] * options.cells[a];
  }
  scene.medium = make_medium(scene.box, options.sponge, options.free_surface);
  const Triple& whole = scene.box.whole;
  scene.source = {whole[0] * 2 / 5, whole[1] * 9 / 20, whole[2] / 2};
  for (int y = 0; y < stations_along; ++y)
    for (int x = 0; x < stations_along; ++x)
      scene.stations.push_back({(2 * x + 3) * whole[0] / 12, (2 * y + 3) * whole[1] / 12, 1});
  scene.steps = options.steps;
  return scene;
}

struct Times {
  double seconds, without_core;
  friend Times operator+(Times a, Times b) {
    return {a.seconds + b.seconds, a.without_core + b.without_core};
  }
};

// Calls `work` when all ranks are ready for it, and returns its times. A rank that is done waits for the
// others: where hosts share cores, its next computation would take the core that another still needs.
template <class Work>
Times timed(MPI_Comm comm, Work work) {
  comparison::barrier(comm);
  const double without_core = comparison::seconds_without_core();
  const double start = MPI_Wtime();
  work();
  const Times times{MPI_Wtime() - start, comparison::seconds_without_core() - without_core};
  comparison::barrier(comm);
  return times;
}

void advance(Variant& variant, const Scene& scene, int step) {
  constexpr std::array velocities{halo_velocities, halo_velocities, halo_velocities};
  const double start = MPI_Wtime();
  advance_velocities(variant.field, scene.medium);
  Times halo = timed(scene.comm, [&] { variant.halo.exchange(variant.field, velocities); });
  advance_stresses(variant.field, scene.medium);
  add_source(variant.field, scene.source, step);
  halo = halo + timed(scene.comm, [&] { variant.halo.exchange(variant.field, halo_stresses); });
  variant.step_seconds.push_back(MPI_Wtime() - start);
  variant.halo_seconds.push_back(halo.seconds);
  variant.halo_without_core.push_back(halo.without_core);
}

void record(Variant& variant, const Scene& scene, int step) {
  const Box& box = variant.field.box;
  const auto steps = static_cast<std::size_t>(scene.steps);
  variant.seismograms.resize(scene.stations.size() * 3 * steps);
  for (std::size_t s = 0; s < scene.stations.size(); ++s) {
    if (!box.holds(scene.stations[s])) continue;
    for (std::size_t c = 0; c < 3; ++c)
      variant.seismograms[(s * 3 + c) * steps + static_cast<std::size_t>(step)] =
          variant.field.values[halo_velocities[c]].read(
              static_cast<std::size_t>(box.at_whole(scene.stations[s])));
  }
}

// Keeps this rank's part of the vertical plane through the source.
void keep_slice(Variant& variant, const Scene& scene) {
  const Box& box = variant.field.box;
  const auto columns = static_cast<std::size_t>(box.whole[0]);
  const std::vector<float>& values = variant.field.values[vx].read();
  variant.slice.assign(columns * static_cast<std::size_t>(box.whole[2]), 0.0F);
  for (int z = 0; z < box.whole[2]; ++z)
    for (int x = 0; x < box.whole[0]; ++x) {
      const Triple cell{x, scene.source[1], z};
      if (box.holds(cell))
        variant.slice[static_cast<std::size_t>(z) * columns + static_cast<std::size_t>(x)] =
            values[static_cast<std::size_t>(box.at_whole(cell))];
    }
}

// Replaces the values of rank 0 by the reduction over all ranks.
template <class T>
void reduce(std::span<T> values, MPI_Op op, MPI_Comm comm) {
  int me = 0;
  MPI_Comm_rank(comm, &me);
  const MPI_Datatype type = sizeof(T) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
  MPI_Reduce(me == 0 ? MPI_IN_PLACE : values.data(), values.data(), static_cast<int>(values.size()), type, op,
             0, comm);
}

Outcome outcome_of(Variant& variant, MPI_Comm comm) {
  Outcome outcome;
  outcome.name = variant.name;
  outcome.policy = variant.policy == "plain" ? "" : variant.policy;
  outcome.way = variant.way;
  double most[2] = {variant.halo.plain_bytes(), variant.halo.sent_bytes()};
  double sums[2] = {variant.halo.plain_bytes(), variant.halo.coded_share() * variant.halo.plain_bytes()};
  reduce<double>(most, MPI_MAX, comm);
  reduce<double>(sums, MPI_SUM, comm);
  outcome.plain_bytes = most[0];
  outcome.sent_bytes = most[1];
  outcome.coded_share = sums[0] > 0 ? sums[1] / sums[0] : 0;
  reduce<double>(variant.halo_seconds, MPI_MAX, comm);
  reduce<double>(variant.halo_without_core, MPI_MAX, comm);
  reduce<double>(variant.step_seconds, MPI_MAX, comm);
  reduce<double>(variant.energies, MPI_SUM, comm);
  reduce<float>(variant.seismograms, MPI_SUM, comm);
  reduce<float>(variant.slice, MPI_SUM, comm);
  outcome.halo_seconds = std::move(variant.halo_seconds);
  outcome.halo_without_core = std::move(variant.halo_without_core);
  outcome.step_seconds = std::move(variant.step_seconds);
  outcome.energies = std::move(variant.energies);
  outcome.seismograms = std::move(variant.seismograms);
  outcome.slice = std::move(variant.slice);
  return outcome;
}

std::vector<std::unique_ptr<Variant>> make_variants(const Options& options, const Scene& scene, Run& run) {
  std::vector<std::unique_ptr<Variant>> variants;
  variants.push_back(std::make_unique<Variant>(scene.comm, scene.box, options.plain));
  variants.front()->name = "plain";
  for (const std::string& text : options.variants) {
    try {
      variants.push_back(std::make_unique<Variant>(scene.comm, scene.box, text));
    } catch (const std::invalid_argument& refusal) {  // on all ranks alike
      run.refused.push_back(refusal.what());
    }
  }
  return variants;
}

}  // namespace

Run run(const Options& options, MPI_Comm world) {
  choose_memory();
  Run run;
  Scene scene = make_scene(options, world, run.ranks);
  run.whole = scene.box.whole;
  run.stations = static_cast<int>(scene.stations.size());
  run.slice_step = options.steps / 2;
  run.energy_interval = std::max(1, options.steps / 50);
  {
    const auto variants = make_variants(options, scene, run);
    for (int step = 0; step < options.steps; ++step)
      for (std::size_t i = 0; i < variants.size(); ++i) {
        Variant& variant = *variants[(i + static_cast<std::size_t>(step)) % variants.size()];
        advance(variant, scene, step);
        record(variant, scene, step);
        if (step % run.energy_interval == 0) variant.energies.push_back(energy(variant.field, scene.medium));
        if (step == run.slice_step) keep_slice(variant, scene);
      }
    for (const auto& variant : variants) run.outcomes.push_back(outcome_of(*variant, scene.comm));
  }
  MPI_Comm_free(&scene.comm);
  return run;
}

}  // namespace wave3d
