#include "storage/buckets/xml_element.h"

#include <expat.h>

#include <memory>
#include <type_traits>

namespace itemdb::storage {
namespace {

constexpr size_t kMaxXmlLevels = 16;
constexpr int kMaxXmlElements = 100'000;

struct XmlReader {
  XML_Parser parser;
  XmlElement root;
  // The elements that have begun and not ended. A child is added to its parent when it ends, so the pointers
  // stay valid.
  std::vector<XmlElement> open;
  int elements = 0;
  const char* refusal = nullptr;

  void Refuse(const char* why) {
    refusal = why;
    (void)XML_StopParser(parser, XML_FALSE);
  }
};

void OnStart(void* data, const XML_Char* name, const XML_Char**) {
  auto& reader = *static_cast<XmlReader*>(data);
  if (reader.open.size() == kMaxXmlLevels) return reader.Refuse("it has too many levels");
  if (++reader.elements > kMaxXmlElements) return reader.Refuse("it has too many elements");
  std::string_view local(name);
  local.remove_prefix(local.find(':') == std::string_view::npos ? 0 : local.find(':') + 1);
  reader.open.push_back({.name = std::string(local), .text = {}, .children = {}});
}

void OnEnd(void* data, const XML_Char*) {
  auto& reader = *static_cast<XmlReader*>(data);
  XmlElement ended = std::move(reader.open.back());
  reader.open.pop_back();
  if (reader.open.empty()) {
    reader.root = std::move(ended);
  } else {
    reader.open.back().children.push_back(std::move(ended));
  }
}

void OnText(void* data, const XML_Char* text, int size) {
  auto& reader = *static_cast<XmlReader*>(data);
  if (!reader.open.empty()) reader.open.back().text.append(text, static_cast<size_t>(size));
}

void OnEntity(void* data, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
              const XML_Char*, const XML_Char*) {
  static_cast<XmlReader*>(data)->Refuse("it declares an entity");
}

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  for (const XmlElement& one : children)
    if (one.name == child) return &one;
  return nullptr;
}

std::string XmlElement::TextOf(std::string_view child) const {
  const XmlElement* const found = Find(child);
  return found == nullptr ? "" : found->text;
}

absl::StatusOr<XmlElement> ParseXml(std::string_view document) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  if (parser == nullptr) return DataLossError("there is no memory to read an XML document");
  XmlReader reader{.parser = parser.get(), .root = {}, .open = {}};
  XML_SetUserData(parser.get(), &reader);
  XML_SetElementHandler(parser.get(), OnStart, OnEnd);
  XML_SetCharacterDataHandler(parser.get(), OnText);
  XML_SetEntityDeclHandler(parser.get(), OnEntity);
  const XML_Status status =
      XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), /*isFinal=*/1);
  if (status == XML_STATUS_OK) return std::move(reader.root);
  return DataLossError(
      std::string("the XML document cannot be read: ") +
      (reader.refusal != nullptr ? reader.refusal : XML_ErrorString(XML_GetErrorCode(parser.get()))));
}

}  // namespace itemdb::storage
