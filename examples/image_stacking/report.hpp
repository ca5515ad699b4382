// The output: a table for people, report.json for programs, raw images for plot.py.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stack.hpp"

namespace stacking {

// The setting of a run: problem, ranks, MPI and machine.
struct Setting {
  std::string what;   // "24 shots, 65 images of 161 x 401"
  std::string dtype;  // f32, f64
  std::vector<std::size_t> shape;
  std::size_t bytes = 0;  // bytes of a rank
  int ranks = 1;
  std::string mpi, link, processor;
  double load = 0;  // load of the machine when the comparison began
  int repeats = 1;
};

// A picture among the raw files in the output directory: rows x columns of the setting's type.
struct Picture {
  std::string name, file;
  std::size_t rows = 0, columns = 0;
};

Setting describe_machine();  // mpi, processor, load

void print_table(const Setting& setting, const std::vector<Row>& rows);
void write_json(const std::string& directory, const Setting& setting, const std::vector<Row>& rows,
                const std::vector<Picture>& pictures);
void write_raw(const std::string& directory, const std::string& file, std::span<const std::byte> bytes);

// Returns the name of a variant and bound in file names: plain, frames-1e-03.
std::string label(const Row& row);

}  // namespace stacking
