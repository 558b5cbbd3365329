#include "daemon/http/api/search_body.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/http/api/errors.h"
#include "storage/base/status.h"
#include "storage/json/json_values.h"

namespace itemdb::http {
namespace {

struct RequiredMember {
  std::string_view name;
  // As the service's reader calls its type.
  std::string_view type;
};
constexpr std::string_view kTableNameMember = "TableName";
constexpr RequiredMember kRequired[] = {{kTableNameMember, "a string"},
                                        {"IndexName", "a string"},
                                        {"SearchVector", "a sequence"},
                                        {"TopK", "i32"}};

// " at line 1 column 7" for the character that ends before `end`.
std::string PlaceBefore(std::string_view body, size_t end) {
  const std::string_view before = body.substr(0, end);
  const size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return absl::StrCat(" at line ", std::count(before.begin(), before.end(), '\n') + 1, " column ",
                      end - line_begin);
}

// Walks over the members of a JSON object that is known to be valid.
class MemberScan {
 public:
  explicit MemberScan(std::string_view body) : body_(body) {}

  // The name of the next member; its value begins at at(). Nothing: the object ends before at().
  std::optional<std::string_view> Next() {
    while (at_ < body_.size()) {
      const char c = body_[at_];
      if (c == '"' && depth_ == 1 && !in_value_) {
        const size_t begin = at_ + 1;
        SkipString();
        const std::string_view name = body_.substr(begin, at_ - 1 - begin);
        at_ = std::min(body_.find_first_not_of(" \t\r\n:", at_), body_.size());
        in_value_ = true;
        return name;
      }
      if (c == '"') {
        SkipString();
        continue;
      }
      if (c == '{' || c == '[') ++depth_;
      if (c == '}' || c == ']') --depth_;
      if (c == ',' && depth_ == 1) in_value_ = false;
      ++at_;
      if (depth_ == 0 && (c == '}' || c == ']')) break;
    }
    return std::nullopt;
  }
  size_t at() const { return at_; }

 private:
  void SkipString() {
    for (++at_; at_ < body_.size() && body_[at_] != '"'; ++at_) at_ += body_[at_] == '\\';
    ++at_;
  }

  const std::string_view body_;
  size_t at_ = 0;
  int depth_ = 0;
  bool in_value_ = false;
};

}  // namespace

absl::Status SearchBodyError(std::string_view body, absl::Status refused) {
  constexpr std::string_view kNull = "null";
  MemberScan scan(body);
  bool names_table = false;
  while (const std::optional<std::string_view> name = scan.Next()) {
    names_table = names_table || *name == kTableNameMember;
    for (const RequiredMember& member : kRequired) {
      if (*name != member.name || !body.substr(scan.at()).starts_with(kNull)) continue;
      return storage::WithRule("VEC-18", storage::SerializationError(absl::StrCat(
                                             "invalid type: null, expected ", std::string(member.type),
                                             PlaceBefore(body, scan.at() + kNull.size()))));
    }
  }
  if (names_table || IsSerializationError(refused)) return refused;
  return storage::ValidationError("VEC-18", absl::StrCat("missing field `", std::string(kTableNameMember),
                                                         "`", PlaceBefore(body, scan.at())));
}

}  // namespace itemdb::http
