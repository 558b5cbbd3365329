// Encodes a value from front to back: what nests is not copied once a level, whatever its size.
#pragma once

#include <string>
#include <vector>

#include "storage/values/wire.h"

namespace itemdb::partiql {

class ValueWriter {
 public:
  // What is encoded so far, but for the lengths of fields; to be appended to.
  std::string* bytes() { return &bytes_; }

  // Begins a length-delimited field, which ends at Close with what this returned.
  size_t Open(uint32_t field) {
    wire::AppendVarint(wire::Tag(field, wire::kLengthDelimited), &bytes_);
    lengths_.push_back({.at = bytes_.size(), .missing_before = missing_});
    return lengths_.size() - 1;
  }
  void Close(size_t opened) {
    Length& length = lengths_[opened];
    length.value = bytes_.size() - length.at + (missing_ - length.missing_before);
    missing_ += wire::VarintSize(length.value);
  }

  // Every field must be closed.
  std::string Finish() const {
    std::string finished;
    finished.reserve(bytes_.size() + missing_);
    size_t copied = 0;
    for (const Length& length : lengths_) {
      finished.append(bytes_, copied, length.at - copied);
      wire::AppendVarint(length.value, &finished);
      copied = length.at;
    }
    return finished.append(bytes_, copied);
  }

 private:
  struct Length {
    // Where in `bytes_` it belongs.
    size_t at;
    // `missing_` when the field began.
    size_t missing_before;
    size_t value = 0;
  };

  std::string bytes_;
  // In the order of their places.
  std::vector<Length> lengths_;
  // Bytes of the lengths that are known.
  size_t missing_ = 0;
};

}  // namespace itemdb::partiql
