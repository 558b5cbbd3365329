// The output of a run: tables for people, or one JSON object per line.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace itemdb::bench {

inline constexpr double kKiBPerMiB = 1024;

// Statistics of one measurement over several rounds.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
// `values` must not be empty.
Spread SpreadOf(std::vector<double> values);

// Formats a value with three significant digits, or as a whole number: "3.42", "34.2", "342", "34200".
std::string Figure(double value);
// "342 (301-360)".
std::string Figure(const Spread& spread);
// {"median": 342, "min": 301, "max": 360}.
nlohmann::ordered_json ToJson(const Spread& spread);

// Each column is as wide as its widest cell. The first column is aligned left, the others right.
struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  // Sentences below the table.
  std::vector<std::string> notes;
};

class Report {
 public:
  enum class Format { kText, kJsonLines };

  Report(Format format, std::ostream* out) : format_(format), out_(out) {}

  // Prints a result: `table` in text format, `lines` in JSON format.
  void Add(const TextTable& table, const std::vector<nlohmann::ordered_json>& lines);

 private:
  const Format format_;
  std::ostream* const out_;
};

}  // namespace itemdb::bench
