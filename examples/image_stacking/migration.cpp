#include "migration.hpp"

#include <algorithm>
#include <cmath>

#include "wave_solver.hpp"

namespace stacking {
namespace {

// Wavefields at the imaging times.
class History {
 public:
  History(const Survey& survey) : nx_(survey.smooth.velocity.nx), nz_(survey.smooth.velocity.nz) {
    times_ = survey.steps / survey.every;
    values_.resize(static_cast<std::size_t>(times_) * static_cast<std::size_t>(nz_) *
                   static_cast<std::size_t>(nx_));
  }
  int times() const noexcept { return times_; }
  // Returns the row of one depth at one time. Depth is the slower index: the imaging condition works row by
  // row.
  float* row(int z, int time) noexcept {
    return values_.data() + (static_cast<std::ptrdiff_t>(z) * times_ + time) * nx_;
  }
  void record(const WaveSolver& wave, int time) {
    for (int z = 0; z < nz_; ++z) wave.copy_row(z, row(z, time));
  }

 private:
  int nx_, nz_, times_ = 0;
  std::vector<float> values_;
};

// Pressure along the surface, one row a time step.
using Gather = Field;

// Fires the shot; returns the receivers' records, and keeps the wavefield if a history is given.
Gather model_shot(const Survey& survey, const VelocityModel& model, int source_x, History* history) {
  WaveSolver wave(model, survey.time_step);
  Gather gather(model.velocity.nx, survey.steps);
  for (int step = 0; step < survey.steps; ++step) {
    wave.step();
    wave.add(source_x, survey.surface,
             ricker(static_cast<float>(step) * survey.time_step, survey.peak_frequency));
    wave.copy_row(survey.surface, gather.row(step));
    if (history && step % survey.every == 0 && step / survey.every < history->times())
      history->record(wave, step / survey.every);
  }
  return gather;
}

void play_back(const Survey& survey, const Gather& data, History& history) {
  WaveSolver wave(survey.smooth, survey.time_step);
  for (int step = survey.steps - 1; step >= 0; --step) {
    wave.step();
    wave.add_row(survey.surface, data.row(step));
    if (step % survey.every == 0 && step / survey.every < history.times())
      history.record(wave, step / survey.every);
  }
}

// Computes sum += S(x - h) R(x + h) where both positions are inside the section.
void correlate_row(const float* source, const float* receiver, float* sum, int h, int nx) {
  const int first = std::abs(h), last = nx - std::abs(h);
  for (int x = first; x < last; ++x) sum[x] += source[x - h] * receiver[x + h];
}

// Returns the gain of the image: zero near the sources, where direct waves meet, in a zone that grows with
// the offset; below, it grows with depth.
float gain(int h, int z, int nz) {
  const float depth = static_cast<float>(z) / static_cast<float>(nz);
  const float muted = 0.07F + 0.30F * static_cast<float>(std::abs(h)) / static_cast<float>(nz);
  return std::clamp((depth - muted) / 0.06F, 0.0F, 1.0F) * depth * std::sqrt(depth);
}

// Computes out = gain times minus the five-point Laplacian; zero along the edges.
void filter_row(const float* above, const float* here, const float* below, float* out, int nx, float gain) {
  if (!below) gain = 0;
  out[0] = out[nx - 1] = 0;
  for (int x = 1; x < nx - 1; ++x)
    out[x] = gain == 0 ? 0 : gain * (4 * here[x] - here[x - 1] - here[x + 1] - above[x] - below[x]);
}

}  // namespace

ImageVolume::ImageVolume(int reach, int depth, int width) : offsets(reach), nz(depth), nx(width) {
  values.assign(
      static_cast<std::size_t>(sections()) * static_cast<std::size_t>(nz) * static_cast<std::size_t>(nx), 0);
}

float* ImageVolume::row(int offset, int z) noexcept {
  return values.data() + (static_cast<std::ptrdiff_t>(offset + offsets) * nz + z) * nx;
}

Survey plan_survey(int nx, int nz, float spacing) {
  Survey survey{layered_model(nx, nz, spacing), {}, 0, 0, 0, 0, 2};
  survey.smooth = smoothed(survey.truth, 90);
  // A Ricker wavelet has little energy above 2.5 f, and the eighth order needs 4.5 points for the shortest
  // wave.
  survey.peak_frequency = slowest(survey.truth) / (4.5F * spacing * 2.5F);
  survey.time_step = WaveSolver::stable_time_step(fastest(survey.truth), spacing);
  const float depth = static_cast<float>(nz) * spacing, width = static_cast<float>(nx) * spacing;
  const float mean_velocity = 2400;
  const float longest_path = 2 * std::hypot(depth, 0.2F * width);
  survey.steps =
      static_cast<int>((longest_path / mean_velocity + 1.2F / survey.peak_frequency) / survey.time_step);
  // The product of two fields with frequencies up to 2.5 f is summed without aliasing at 5 f samples a
  // second.
  survey.every = std::max(1, static_cast<int>(1 / (5.2F * survey.peak_frequency * survey.time_step)));
  return survey;
}

void migrate_shot(const Survey& survey, int source_x, ImageVolume& image) {
  History source(survey), receiver(survey);
  Gather data = model_shot(survey, survey.truth, source_x, nullptr);
  const Gather background = model_shot(survey, survey.smooth, source_x, &source);
  for (std::size_t i = 0; i < data.values.size(); ++i) data.values[i] -= background.values[i];
  play_back(survey, data, receiver);
  for (int z = 0; z < image.nz; ++z) {
    for (int time = 0; time < source.times(); ++time) {
      for (int h = -image.offsets; h <= image.offsets; ++h)
        correlate_row(source.row(z, time), receiver.row(z, time), image.row(h, z), h, image.nx);
    }
  }
}

void filter(ImageVolume& image) {
  std::vector<float> above(static_cast<std::size_t>(image.nx)), here(above.size());
  for (int h = -image.offsets; h <= image.offsets; ++h) {
    std::fill(here.begin(), here.end(), 0.0F);
    for (int z = 0; z < image.nz; ++z) {
      above.swap(here);
      std::copy_n(image.row(h, z), image.nx, here.begin());
      const float* below = z + 1 < image.nz ? image.row(h, z + 1) : nullptr;
      filter_row(above.data(), here.data(), below, image.row(h, z), image.nx, gain(h, z, image.nz));
    }
  }
}

}  // namespace stacking
