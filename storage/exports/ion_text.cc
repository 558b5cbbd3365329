#include "storage/exports/ion_text.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/escaping.h"
#include "storage/json/json_writer.h"

namespace itemdb::storage {
namespace {

// A symbol without quotes. Names that begin with '$' are quoted: some of them are numbers of symbols.
bool IsIonIdentifier(std::string_view name) {
  constexpr std::string_view kKeywords[] = {"null", "true", "false", "nan"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_part) &&
         std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
}

// `text` is a canonical number. A number that ends in zeros before the point gets an exponent: 6d2.
void AppendIonDecimal(std::string_view text, std::string* out) {
  const size_t last = text.find_last_not_of('0');
  const bool has_point = text.find('.') != std::string_view::npos;
  if (has_point) {
    out->append(text);
  } else if (last == std::string_view::npos || last + 1 == text.size()) {
    out->append(text).push_back('.');
  } else {
    out->append(text.substr(0, last + 1)).append("d").append(std::to_string(text.size() - last - 1));
  }
}

void AppendIonBlob(std::string_view bytes, std::string* out) {
  out->append("{{").append(absl::Base64Escape({bytes.data(), bytes.size()})).append("}}");
}

// Ion's strings have the escapes of JSON's.
void AppendIonElement(ValueType type, std::string_view payload, std::string* out) {
  switch (type) {
    case ValueType::kN:
    case ValueType::kNS:
      return AppendIonDecimal(payload, out);
    case ValueType::kB:
    case ValueType::kBS:
      return AppendIonBlob(payload, out);
    default:
      return AppendJsonString(payload, out);
  }
}

void AppendIonSet(std::string_view annotation, ValueView value, std::string* out) {
  out->append(annotation).append("::[");
  bool first = true;
  for (std::string_view element : SetView(value.payload())) {
    if (!first) out->push_back(',');
    first = false;
    AppendIonElement(value.type(), element, out);
  }
  out->push_back(']');
}

}  // namespace

void AppendIonName(std::string_view name, std::string* out) {
  if (IsIonIdentifier(name)) {
    out->append(name);
    return;
  }
  // The text of a JSON string, in which only the quotes differ.
  std::string quoted;
  AppendJsonString(name, &quoted);
  out->push_back('\'');
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && quoted[i + 1] == '"') {
      out->push_back('"');
      ++i;
    } else if (quoted[i] == '\\') {
      out->append(quoted, i++, 2);
    } else {
      if (quoted[i] == '\'') out->push_back('\\');
      out->push_back(quoted[i]);
    }
  }
  out->push_back('\'');
}

void AppendIonValue(ValueView value, std::string* out) {
  switch (value.type()) {
    case ValueType::kS:
    case ValueType::kN:
    case ValueType::kB:
      return AppendIonElement(value.type(), value.payload(), out);
    case ValueType::kSS:
      return AppendIonSet("$dynamodb_SS", value, out);
    case ValueType::kNS:
      return AppendIonSet("$dynamodb_NS", value, out);
    case ValueType::kBS:
      return AppendIonSet("$dynamodb_BS", value, out);
    case ValueType::kL: {
      out->push_back('[');
      bool first = true;
      for (ValueView element : ListView(value.payload())) {
        if (!first) out->push_back(',');
        first = false;
        AppendIonValue(element, out);
      }
      out->push_back(']');
      return;
    }
    case ValueType::kM: {
      out->push_back('{');
      bool first = true;
      for (const AttributeView& attribute : ItemView(value.payload())) {
        if (!first) out->push_back(',');
        first = false;
        AppendIonName(attribute.name, out);
        out->push_back(':');
        AppendIonValue(attribute.value, out);
      }
      out->push_back('}');
      return;
    }
    case ValueType::kBool:
      out->append(value.boolean() ? "true" : "false");
      return;
    case ValueType::kNull:
      out->append("null");
      return;
  }
}

}  // namespace itemdb::storage
