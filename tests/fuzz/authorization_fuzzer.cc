// What is sent as Authorization, up to the first line end, and as X-Amz-Date behind it. No header makes the
// daemon read what is not there, and none without the secret is let in.
#include <cstdint>
#include <string>

#include "daemon/http/signature/signature_check.h"
#include "storage/base/check.h"

namespace itemdb {
namespace {

void Run(std::string_view authorization, std::string_view date) {
  static const SignatureCheck* const check = new SignatureCheck(*AccessKeys::Make(
      {{.id = "AK", .secret = "a secret that is not in the corpus", .role = Role::kAdmin}}));
  HttpHead head{.method = "POST",
                .target = "/?b=2&a",
                .headers = {{"Host", "localhost"},
                            {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
                            {"X-Amz-Date", date},
                            {"Authorization", authorization},
                            {"X-Twice", " a  b "},
                            {"x-twice", "c"}}};
  Signature signature;
  if (ReadSignature(head, signature).has_value()) return;
  ITEMDB_CHECK(!signature.key_id.empty() && !signature.value.empty() && !signature.header_names.empty());
  ITEMDB_CHECK(signature.time_text.size() >= sizeof("20261122T010203Z") - 1);
  Sha256 key = DeriveSigningKey("another secret", signature);
  if (auto signed_value = Sign(head, "{}", signature, key)) {
    ITEMDB_CHECK(signed_value->size() == 64);
    ITEMDB_CHECK(Sign(head, "{}", signature, key) == signed_value &&
                 Sign(head, "{ }", signature, key) != signed_value);
  }
  // At the time that it says itself.
  if (check->CheckClaim(head, signature, signature.time).has_value()) return;
  Caller caller;
  ITEMDB_CHECK(
      check->Check(head, signature, "{}", {.name = "GetItem", .role = Role::kRead}, &caller).has_value());
}

}  // namespace
}  // namespace itemdb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  size_t end = bytes.find('\n');
  itemdb::Run(bytes.substr(0, end), end == std::string_view::npos ? "" : bytes.substr(end + 1));
  return 0;
}
