// The measured figures, as a table for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "compressor/values/bound.hpp"
#include "options.hpp"

namespace bench {

struct Row {
  std::string codec;   // planes, szx, ..; libzfp, libzstd
  std::string coding;  // codec and, where it serves several, the kind of bound
  std::string set;     // kernel set; any; peer: its name
  bool peer = false;
  std::string kernel;  // name of the operation
  taut::DType type = taut::DType::f32;
  std::string field;
  std::size_t bytes = 0;  // bytes of one operand's values
  taut::Bound bound;
  double ratio = 1;         // ratio of one operand
  double result_ratio = 1;  // if the result is a frame: values of one operand / bytes of that frame
  double seconds = 0, copy_seconds = 0;
  int samples = 0;
  double max_error = 0;  // over a sample of the result
  bool within_bound = true;

  double gb_per_s() const { return static_cast<double>(bytes) / seconds * 1e-9; }
  double copy_gb_per_s() const { return static_cast<double>(bytes) / copy_seconds * 1e-9; }
  double share() const { return copy_seconds / seconds; }  // share of the speed of memcpy
};

// Prints rows as they come in; rows of the same set and size share a line.
class Table {
 public:
  explicit Table(const std::vector<std::string>& sets);  // prints the heading
  void add(const Row& row);
  void finish();  // prints the unfinished line

 private:
  void print();
  std::vector<Row> line_;
  std::string group_;
};

// Throws std::runtime_error.
void write_json(const Options& options, const std::vector<std::string>& sets, const std::vector<Row>& rows);

}  // namespace bench
