#include "velocity_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stacking {
namespace {

struct Layer {
  float base;      // depth of the base as a share of the section's depth
  float velocity;  // m/s
};

// Layers from top to bottom. The slow fourth and seventh layers give reflections of the opposite sign.
constexpr std::array<Layer, 10> layers{{{0.16F, 1600},
                                        {0.26F, 1850},
                                        {0.36F, 2150},
                                        {0.44F, 1950},
                                        {0.53F, 2350},
                                        {0.62F, 2650},
                                        {0.70F, 2400},
                                        {0.80F, 2900},
                                        {0.90F, 3300},
                                        {9.00F, 3700}}};
constexpr float unconformity = 0.26F;  // the layers above are flat and not faulted

float bump(float x, float centre, float width) {
  return std::exp(-(x - centre) * (x - centre) / (width * width));
}

// Returns the depth of the rock at (x, z) before folding and faulting; x, z as shares of width and depth.
float original_depth(float x, float z) {
  const float sea_floor = 0.012F * std::sin(5.0F * x + 0.5F);
  if (z < unconformity + sea_floor) return z - sea_floor;
  const float burial = z - unconformity;
  const float anticline = 0.42F * burial * bump(x, 0.31F, 0.13F);
  const float dip = 0.10F * burial * (x - 0.5F);
  const bool right_of_fault = x > 0.70F - 0.16F * burial;
  const float throw_of_fault = right_of_fault ? 0.055F : 0.0F;
  return z + anticline + dip - throw_of_fault;
}

float velocity_at(float x, float z) {
  const float depth = original_depth(x, z);
  const auto layer =
      std::find_if(layers.begin(), layers.end(), [&](const Layer& l) { return depth < l.base; });
  const bool crest = std::fabs(x - 0.31F) < 0.07F;
  if (crest && depth > 0.44F && depth < 0.475F) return 1900;  // gas under the slow cap of the anticline
  const float ex = (x - 0.86F) / 0.085F, ez = (z - 0.53F) / 0.035F;
  if (ex * ex + ez * ez < 1) return 3600;  // a lens of volcanic rock
  return layer->velocity + 120.0F * depth;
}

constexpr int parts = 5;  // parts of a cell in each direction
float inside_cell(int part) { return (static_cast<float>(part) + 0.5F) / parts - 0.5F; }

std::vector<float> gaussian(float radius) {
  const int reach = static_cast<int>(std::ceil(3 * radius));
  std::vector<float> weights;
  for (int i = -reach; i <= reach; ++i) {
    const float t = static_cast<float>(i) / radius;
    weights.push_back(std::exp(-0.5F * t * t));
  }
  return weights;
}

// Smooths along x or along z; beyond an edge the outermost value is used.
Field smooth_along(const Field& in, const std::vector<float>& weights, bool along_x) {
  const int reach = static_cast<int>(weights.size() / 2);
  Field out(in.nx, in.nz);
  for (int z = 0; z < in.nz; ++z) {
    for (int x = 0; x < in.nx; ++x) {
      float sum = 0, total = 0;
      for (int i = -reach; i <= reach; ++i) {
        const float weight = weights[static_cast<std::size_t>(i + reach)];
        const int at_x = along_x ? std::clamp(x + i, 0, in.nx - 1) : x;
        const int at_z = along_x ? z : std::clamp(z + i, 0, in.nz - 1);
        sum += weight * in.at(at_x, at_z);
        total += weight;
      }
      out.at(x, z) = sum / total;
    }
  }
  return out;
}

}  // namespace

VelocityModel layered_model(int nx, int nz, float spacing) {
  VelocityModel model{Field(nx, nz), spacing};
  for (int z = 0; z < nz; ++z) {
    for (int x = 0; x < nx; ++x) {
      float slowness = 0;  // the mean over the point's cell, so that dipping interfaces have no steps
      for (int part = 0; part < parts * parts; ++part) {
        const float across = (static_cast<float>(x) + inside_cell(part % parts)) / static_cast<float>(nx - 1);
        const float down = (static_cast<float>(z) + inside_cell(part / parts)) / static_cast<float>(nz - 1);
        slowness += 1 / velocity_at(across, down);
      }
      model.velocity.at(x, z) = parts * parts / slowness;
    }
  }
  return model;
}

VelocityModel smoothed(const VelocityModel& model, float radius) {
  const std::vector<float> weights = gaussian(radius / model.spacing);
  Field slowness = model.velocity;
  for (float& v : slowness.values) v = 1 / v;
  slowness = smooth_along(smooth_along(slowness, weights, true), weights, false);
  for (float& s : slowness.values) s = 1 / s;
  return {slowness, model.spacing};
}

float slowest(const VelocityModel& model) {
  return *std::min_element(model.velocity.values.begin(), model.velocity.values.end());
}

float fastest(const VelocityModel& model) {
  return *std::max_element(model.velocity.values.begin(), model.velocity.values.end());
}

}  // namespace stacking
