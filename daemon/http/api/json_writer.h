// Replies, appended to one string as they are made; there is no document tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/values/value_view.h"

namespace itemdb {

// Appends `text`, which is UTF-8, as a JSON string: quotes, backslashes and control characters are escaped,
// everything else stays.
void AppendJsonString(std::string_view text, std::string* out);

// Appends a canonical item or attribute value as the service shows it: {"pk":{"S":"a"}}, {"S":"a"}.
void AppendJsonItem(ItemView item, std::string* out);
void AppendJsonValue(ValueView value, std::string* out);

// Appends members and elements, with the commas between them.
class JsonWriter {
 public:
  // `out` is borrowed.
  explicit JsonWriter(std::string* out) : out_(*out) {}

  std::string* out() { return &out_; }

  JsonWriter& BeginObject() { return Separate().Append('{'); }
  JsonWriter& EndObject() { return Append('}'); }
  JsonWriter& BeginArray() { return Separate().Append('['); }
  JsonWriter& EndArray() { return Append(']'); }

  // A member's name; its value follows.
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
  // With a fraction, as the service writes capacity: 1.0.
  JsonWriter& Real(double number);
  // A time as the service writes it: seconds, and milliseconds as their fraction.
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
  // No value ends in one of these characters: strings end in their quote.
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

}  // namespace itemdb
