// The field that is transformed.
#pragma once

#include <string>
#include <vector>

#include "transform.hpp"

namespace fft {

// Returns this rank's part. `data`: turbulence (a spectrum of k^-11/6, random phases), noise, or the name of
// a file of raw values whose name ends in f32 or f64, slowest axis first. Throws std::invalid_argument if the
// file does not have the size of the array.
std::vector<double> field(const std::string& data, const Triple& whole, const Transform& transform);

// Returns pencils, the argument of Transform::finish, whose values all have nearly the greatest error that an
// absolute bound allows the codec planes.
std::vector<Complex> pencils_with_the_greatest_error(double bound, std::size_t count);

}  // namespace fft
