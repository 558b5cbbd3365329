// Writes replies as JSON: each part is appended to one string at once, without a document tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Appends `text`, which is UTF-8, as a JSON string; escapes only quotes, backslashes, control characters.
void AppendJsonString(std::string_view text, std::string* out);

// Appends a canonical item or attribute value in the service's form: {"pk":{"S":"a"}}, {"S":"a"}.
void AppendJsonItem(ItemView item, std::string* out);
void AppendJsonValue(ValueView value, std::string* out);

// Appends members and elements, and the commas between them.
class JsonWriter {
 public:
  // `out` is borrowed.
  explicit JsonWriter(std::string* out) : out_(*out) {}

  std::string* out() { return &out_; }

  JsonWriter& BeginObject() { return Separate().Append('{'); }
  JsonWriter& EndObject() { return Append('}'); }
  JsonWriter& BeginArray() { return Separate().Append('['); }
  JsonWriter& EndArray() { return Append(']'); }

  // The name of a member. The next call must write its value.
  JsonWriter& Name(std::string_view name) {
    Separate();
    AppendJsonString(name, &out_);
    return Append(':');
  }
  JsonWriter& String(std::string_view text) {
    Separate();
    AppendJsonString(text, &out_);
    return *this;
  }
  JsonWriter& Integer(int64_t number);
  // A number with a fraction, as in the service's capacity units: 1.0.
  JsonWriter& Real(double number);
  // The shortest text that reads as this float.
  JsonWriter& Float(float number);
  // A time in the service's form: seconds, with the milliseconds as fraction.
  JsonWriter& Time(int64_t milliseconds);
  JsonWriter& Boolean(bool value) {
    Separate();
    out_.append(value ? "true" : "false");
    return *this;
  }
  // An encoded canonical item.
  JsonWriter& Item(std::string_view encoded) {
    Separate();
    AppendJsonItem(ItemView(encoded), &out_);
    return *this;
  }

 private:
  // Appends a comma unless this is the first element or the value of a member. A complete value never ends in
  // '{', '[' or ':', because a string ends in its quote.
  JsonWriter& Separate() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_.push_back(',');
    return *this;
  }
  JsonWriter& Append(char c) {
    out_.push_back(c);
    return *this;
  }

  std::string& out_;
};

}  // namespace itemdb::storage
