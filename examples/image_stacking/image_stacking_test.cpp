// Tests of the physics: waves travel with the model's speed, leave through the sponge, and migrate to where
// they came from. Tests of the quality check: a wrong image does not pass.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "migration.hpp"
#include "quality.hpp"
#include "wave_solver.hpp"

namespace stacking {
namespace {

constexpr float spacing = 10;  // m

VelocityModel uniform_model(int nx, int nz, float velocity) { return {Field(nx, nz, velocity), spacing}; }

// Returns the time of a trace's peak, in steps; between samples by the parabola through the three greatest
// values.
double time_of_peak(const std::vector<float>& trace) {
  const auto i = std::max_element(trace.begin() + 1, trace.end() - 1) - trace.begin();
  const auto at = [&](std::ptrdiff_t k) { return static_cast<double>(trace[static_cast<std::size_t>(k)]); };
  return static_cast<double>(i) + (at(i - 1) - at(i + 1)) / (2 * (at(i - 1) - 2 * at(i) + at(i + 1)));
}

TEST(WaveSolver, PlaneWaveHasTheModelsSpeed) {
  const float velocity = 2000, dt = WaveSolver::stable_time_step(velocity, spacing) / 2;
  const int nx = 301, nz = 121;
  WaveSolver wave(uniform_model(nx, nz, velocity), dt);
  const std::vector<float> front(nx, 1);
  std::vector<float> amplitude(nx), upper, lower;
  for (int step = 0; step < 700; ++step) {
    wave.step();
    std::fill(amplitude.begin(), amplitude.end(), ricker(static_cast<float>(step) * dt, 15));
    wave.add_row(5, amplitude.data());
    upper.push_back(wave.at(nx / 2, 30));
    lower.push_back(wave.at(nx / 2, 90));
  }
  const double seconds = (time_of_peak(lower) - time_of_peak(upper)) * static_cast<double>(dt);
  EXPECT_NEAR(60 * static_cast<double>(spacing) / seconds, static_cast<double>(velocity), 0.01 * 2000);
}

TEST(WaveSolver, SpongeTakesTheWaveAway) {
  const float velocity = 2000, dt = WaveSolver::stable_time_step(velocity, spacing);
  WaveSolver wave(uniform_model(101, 101, velocity), dt);
  float passing = 0, left_over = 0;
  for (int step = 0; step < 1500; ++step) {
    wave.step();
    wave.add(50, 50, ricker(static_cast<float>(step) * dt, 15));
    const float pressure = std::fabs(wave.at(80, 50));
    passing = std::max(passing, pressure);
    if (step > 700) left_over = std::max(left_over, pressure);
  }
  EXPECT_GT(passing, 0);
  EXPECT_LT(left_over, 0.01F * passing);
}

// u_tt / v^2 - Laplace(u) = source / v^2 is symmetric, so source and receiver are interchangeable.
TEST(WaveSolver, SourceAndReceiverMayChangePlaces) {
  const VelocityModel model = layered_model(101, 81, spacing);
  const float dt = WaveSolver::stable_time_step(fastest(model), spacing);
  WaveSolver there(model, dt), back(model, dt);
  float error = 0, size = 0;
  const float v_top = model.velocity.at(20, 5), v_bottom = model.velocity.at(75, 60);
  for (int step = 0; step < 500; ++step) {
    const float source = ricker(static_cast<float>(step) * dt, 12);
    there.step();
    back.step();
    there.add(20, 5, source * v_top * v_top * 1e-6F);
    back.add(75, 60, source * v_bottom * v_bottom * 1e-6F);
    error = std::max(error, std::fabs(there.at(75, 60) - back.at(20, 5)));
    size = std::max(size, std::fabs(there.at(75, 60)));
  }
  EXPECT_GT(size, 0);
  EXPECT_LT(error, 1e-3F * size);
}

TEST(Migration, FlatReflectorComesToItsDepth) {
  const int nx = 141, nz = 81, depth = 50;
  Survey survey{uniform_model(nx, nz, 2000), uniform_model(nx, nz, 2000), 15, 0, 0, 0, 2};
  for (int z = depth; z < nz; ++z) std::fill_n(survey.truth.velocity.row(z), nx, 2600.0F);
  survey.time_step = WaveSolver::stable_time_step(2600, spacing);
  survey.steps = static_cast<int>(0.8F / survey.time_step);
  survey.every = 4;
  ImageVolume image(2, nz, nx);
  for (const int source : {50, 70, 90}) migrate_shot(survey, source, image);
  filter(image);
  int brightest = 0;
  for (int z = 0; z < nz; ++z)
    if (std::fabs(image.row(0, z)[nx / 2]) > std::fabs(image.row(0, brightest)[nx / 2])) brightest = z;
  EXPECT_NEAR(brightest, depth, 2);
}

TEST(Quality, ABoundIsKeptOrNot) {
  const std::vector<double> exact{0, 1, 2, 4};
  const std::vector<double> good{0.1, 1, 1.9, 4}, bad{0, 1, 2, 4.2};
  EXPECT_TRUE(compare<double>(good, exact, 0.11).within);
  EXPECT_FALSE(compare<double>(bad, exact, 0.11).within);
  const Quality quality = compare<double>(bad, exact, 0.11);
  EXPECT_NEAR(quality.max_error, 0.2, 1e-12);
  EXPECT_NEAR(quality.nrmse, 0.1 / 4, 1e-12);
  EXPECT_NEAR(quality.psnr, 20 * std::log10(4 / 0.1), 1e-9);
}

TEST(Quality, RoundingToTheTypeIsAllowed) {
  const std::vector<double> exact{16777217.0, 0};  // between two floats
  const std::vector<float> rounded{16777216.0F, 0}, next_but_one{16777219.0F, 0};
  EXPECT_TRUE(compare<float>(rounded, exact, 1e-6).within);
  EXPECT_FALSE(compare<float>(next_but_one, exact, 1e-6).within);
}

TEST(Quality, NotANumberIsNotNear) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> exact{nan, infinity, 1, 2}, lost{nan, infinity, nan, 2}, found{0, infinity, 1, 2};
  EXPECT_TRUE(compare<double>(exact, exact, 0.1).within);
  EXPECT_FALSE(compare<double>(lost, exact, 0.1).within);
  EXPECT_FALSE(compare<double>(found, exact, 0.1).within);
}

}  // namespace
}  // namespace stacking
