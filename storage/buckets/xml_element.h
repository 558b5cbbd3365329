// Small XML documents, such as the replies of a store like S3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace itemdb::storage {

struct XmlElement {
  // Without a prefix such as "s3:".
  std::string name;
  // The text directly in the element.
  std::string text;
  std::vector<XmlElement> children;

  // The first child of this name; null: there is none.
  const XmlElement* Find(std::string_view child) const;
  // Its text; empty: there is none.
  std::string TextOf(std::string_view child) const;
};

// The element that a document consists of. Attributes are left out. DATA_LOSS: it is not well-formed, has
// more than 16 levels or 100,000 elements, or declares entities.
absl::StatusOr<XmlElement> ParseXml(std::string_view document);

}  // namespace itemdb::storage
