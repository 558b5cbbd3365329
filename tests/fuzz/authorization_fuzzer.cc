// An input is the header Authorization up to the first line end, and X-Amz-Date after it. No header may cause
// an invalid memory access, and no header made without the secret may be accepted.
#include <cstdint>
#include <string>

#include "daemon/http/signature/signature_check.h"
#include "storage/base/check.h"

namespace itemdb::fuzz {
namespace {

void Run(std::string_view authorization, std::string_view date) {
  static const http::SignatureCheck* const check = new http::SignatureCheck(*daemon::AccessKeys::Make(
      {{.id = "AK", .secret = "a secret that is not in the corpus", .role = daemon::Role::kAdmin}}));
  http::HttpHead head{.method = "POST",
                      .target = "/?b=2&a",
                      .headers = {{"Host", "localhost"},
                                  {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
                                  {"X-Amz-Date", date},
                                  {"Authorization", authorization},
                                  {"X-Twice", " a  b "},
                                  {"x-twice", "c"}}};
  http::Signature signature;
  if (http::ReadSignature(head, signature).has_value()) return;
  ITEMDB_CHECK(!signature.key_id.empty() && !signature.value.empty() && !signature.header_names.empty());
  ITEMDB_CHECK(signature.time_text.size() >= sizeof("20261122T010203Z") - 1);
  http::Sha256 key = http::DeriveSigningKey("another secret", signature);
  if (auto signed_value = http::Sign(head, "{}", signature, key)) {
    ITEMDB_CHECK(signed_value->size() == 64);
    ITEMDB_CHECK(http::Sign(head, "{}", signature, key) == signed_value &&
                 http::Sign(head, "{ }", signature, key) != signed_value);
  }
  // Checked at the time that the signature claims.
  if (check->CheckHead(head, signature, signature.time).has_value()) return;
  daemon::Caller caller;
  ITEMDB_CHECK(check->Check(head, signature, "{}", {.name = "GetItem", .role = daemon::Role::kRead}, &caller)
                   .has_value());
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t end = bytes.find('\n');
  itemdb::fuzz::Run(bytes.substr(0, end), end == std::string_view::npos ? "" : bytes.substr(end + 1));
  return 0;
}
