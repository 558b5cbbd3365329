// Encodes a nested value from front to back. Each byte is copied once at the end, and not once per level.
#pragma once

#include <string>
#include <vector>

#include "storage/values/wire.h"

namespace itemdb::storage::partiql {

class ValueWriter {
 public:
  // The bytes encoded so far, without the lengths of fields begun by Open. The caller appends to them.
  std::string* bytes() { return &bytes_; }

  // Begins a length-delimited field and returns its number, with which Close ends the field.
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

  // Returns the encoded value, with all lengths. Every field must be closed.
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
    // Position in `bytes_` where the length is to be inserted.
    size_t at;
    // The value of `missing_` when the field began.
    size_t missing_before;
    size_t value = 0;
  };

  std::string bytes_;
  // In the order of their positions.
  std::vector<Length> lengths_;
  // Bytes that the lengths of the closed fields take once they are encoded.
  size_t missing_ = 0;
};

}  // namespace itemdb::storage::partiql
