// Signatures compared with values published by AWS or made by botocore, and signatures that are refused
// (ERR-17).
#include "daemon/http/signature/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "daemon/http/signature/signature_check.h"

namespace itemdb::http {
namespace {

using ::testing::HasSubstr;

constexpr char kSecret[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

std::string Hex(const Sha256& bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The example request of AWS's description of signing, with its signature.
HttpHead PublishedExample() {
  return {.method = "GET",
          .target = "/?Action=ListUsers&Version=2010-05-08",
          .headers = {{"Host", "iam.amazonaws.com"},
                      {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
                      {"X-Amz-Date", "20150830T123600Z"},
                      {"Authorization",
                       "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
                       "SignedHeaders=content-type;host;x-amz-date, "
                       "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"}}};
}

TEST(SignatureTest, HashesAndAuthenticates) {
  EXPECT_EQ(Hex(HashOf("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // RFC 4231, case 2.
  EXPECT_EQ(Hex(HmacOf("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(SignatureTest, SignsThePublishedExample) {
  HttpHead head = PublishedExample();
  Signature signature;
  ASSERT_FALSE(ReadSignature(head, signature).has_value());
  EXPECT_EQ(signature.key_id, "AKIDEXAMPLE");
  EXPECT_EQ(signature.region, "us-east-1");
  EXPECT_EQ(signature.service, "iam");
  EXPECT_EQ(absl::ToUnixSeconds(signature.time), 1440938160);
  Sha256 key = DeriveSigningKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", signature);
  EXPECT_EQ(Hex(key), "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
  EXPECT_EQ(Sign(head, "", signature, key), signature.value);
}

// What is signed of these requests is the same.
TEST(SignatureTest, OrderOfTheQueryAndSpacesInHeadersDoNotMatter) {
  Signature signature;
  signature.time_text = "20150830T123600Z";
  signature.date = "20150830";
  signature.region = "us-east-1";
  signature.service = "iam";
  signature.header_names = {"host", "my-header"};
  const Sha256 key = DeriveSigningKey("secret", signature);
  const auto sign = [&](const std::string& target, std::vector<HttpHeader> headers) {
    headers.insert(headers.begin(), {"Host", "example.com"});
    return Sign({.method = "GET", .target = target, .headers = std::move(headers)}, "", signature, key);
  };
  const std::optional<std::string> plain = sign("/?a=1&b=2&c=", {{"My-Header", "one two,three"}});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(sign("/?c&b=2&a=1", {{"My-Header", "one two,three"}}), plain);
  EXPECT_EQ(sign("/?a=1&b=2&c=", {{"My-Header", "\tone \t two"}, {"my-header", "three "}}), plain);
  EXPECT_NE(sign("/?a=1&b=2", {{"My-Header", "one two,three"}}), plain);
  EXPECT_NE(sign("/?a=1&b=2&c=", {{"My-Header", "onetwo,three"}}), plain);
}

// A request as SDKs send it, with a signature made by botocore.
class DynamoDbRequest {
 public:
  DynamoDbRequest() { Update(); }

  HttpHead head() const {
    HttpHead head{.method = "POST", .target = "/", .headers = {}};
    for (const auto& [name, value] : headers) head.headers.push_back({name, value});
    return head;
  }
  void Set(const std::string& name, const std::string& value) {
    for (auto& header : headers) {
      if (header.first == name) header.second = value;
    }
  }
  void Remove(const std::string& name) {
    std::erase_if(headers, [&](const auto& header) { return header.first == name; });
  }
  // Builds the Authorization header again.
  void Update() {
    Set("Authorization", absl::StrFormat("AWS4-HMAC-SHA256 Credential=%s, SignedHeaders=%s, Signature=%s",
                                         credential, signed_headers, value));
  }

  std::string credential = "AKORDERS/20261122/eu-central-1/dynamodb/aws4_request";
  std::string signed_headers = "content-type;host;x-amz-date;x-amz-target";
  std::string value = "6654e376c040f797507f973d0965fdd74645aa4dd545f53db6bfadb54c8e472c";
  std::string body = R"({"TableName": "Order", "Key": {"pk": {"S": "o#1"}}})";
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Host", "localhost:8000"},
      {"X-Amz-Target", "DynamoDB_20120810.GetItem"},
      {"Content-Type", "application/x-amz-json-1.0"},
      {"X-Amz-Date", "20261122T010203Z"},
      {"Authorization", ""},
  };
};

class SignatureCheckTest : public ::testing::Test {
 protected:
  // "" if the request is accepted, else "Exception: message".
  std::string AuthErrorOf(const DynamoDbRequest& request, daemon::Role needed = daemon::Role::kRead) {
    HttpHead head = request.head();
    Signature signature;
    std::optional<AuthError> refusal = ReadSignature(head, signature);
    if (!refusal.has_value()) refusal = check_.CheckHead(head, signature, now_);
    if (!refusal.has_value()) {
      refusal = check_.Check(head, signature, request.body, {.name = "GetItem", .role = needed}, &caller_);
    }
    return refusal.has_value() ? absl::StrFormat("%s: %s", refusal->exception, refusal->message) : "";
  }

  SignatureCheck check_{*daemon::AccessKeys::Make(
      {{.id = "AKORDERS", .secret = kSecret, .role = daemon::Role::kWrite},
       {.id = "AKREADER", .secret = "another secret, quite long", .role = daemon::Role::kRead}})};
  daemon::Caller caller_;
  absl::Time now_ = absl::FromCivil(absl::CivilSecond(2026, 11, 22, 1, 4, 0), absl::UTCTimeZone());
};

// A proxy could check one of two values, and this daemon the other.
TEST_F(SignatureCheckTest, RefusesTwoHeadersAuthorization) {
  DynamoDbRequest request;
  request.Update();
  for (const char* name : {"Authorization", "authorization"}) {
    DynamoDbRequest twice = request;
    twice.headers.emplace_back(name, "AWS4-HMAC-SHA256 Credential=other");
    EXPECT_THAT(AuthErrorOf(twice), HasSubstr("IncompleteSignatureException: The request has more than one"));
  }
  EXPECT_EQ(AuthErrorOf(request), "");
}

TEST_F(SignatureCheckTest, LetsInWhatBotocoreSigned) {
  DynamoDbRequest request;
  EXPECT_EQ(AuthErrorOf(request), "");
  EXPECT_EQ(caller_.key_id, "AKORDERS");
  EXPECT_EQ(caller_.role, daemon::Role::kWrite);
  // The second check uses the cached signing key of the first.
  EXPECT_EQ(AuthErrorOf(request), "");
}

TEST_F(SignatureCheckTest, RefusesWhateverDiffersFromWhatWasSigned) {
  const std::string mismatch =
      "InvalidSignatureException: The request signature we calculated does not match";
  auto changed = [&](const std::function<void(DynamoDbRequest&)>& change) {
    DynamoDbRequest request;
    change(request);
    request.Update();
    return AuthErrorOf(request);
  };
  EXPECT_THAT(changed([](auto& r) { r.body += ' '; }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.Set("Host", "localhost:8001"); }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.Set("X-Amz-Target", "DynamoDB_20120810.PutItem"); }),
              HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.Set("X-Amz-Date", "20261122T010204Z"); }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.Remove("Content-Type"); }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.value[0] = r.value[0] == 'a' ? 'b' : 'a'; }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.value.pop_back(); }), HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.credential = "AKREADER" + r.credential.substr(8); }),
              HasSubstr(mismatch));
  EXPECT_THAT(changed([](auto& r) { r.credential = "AKORDERS/20261122/us-east-1/dynamodb/aws4_request"; }),
              HasSubstr(mismatch));
  // A bad signature for another region does not damage the cached signing key.
  EXPECT_EQ(AuthErrorOf(DynamoDbRequest()), "");
}

TEST_F(SignatureCheckTest, RefusesKeysThatAreUnknown) {
  DynamoDbRequest request;
  request.credential = "AKNOBODY" + request.credential.substr(8);
  request.Update();
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("UnrecognizedClientException: "));
}

TEST_F(SignatureCheckTest, RefusesTimesMoreThanFiveMinutesAway) {
  DynamoDbRequest request;
  absl::Time signed_at = absl::FromCivil(absl::CivilSecond(2026, 11, 22, 1, 2, 3), absl::UTCTimeZone());
  for (absl::Duration skew : {absl::Minutes(-5), absl::Minutes(5)}) {
    now_ = signed_at + skew;
    EXPECT_EQ(AuthErrorOf(request), "") << skew;
  }
  now_ = signed_at + absl::Seconds(301);
  EXPECT_THAT(AuthErrorOf(request),
              HasSubstr("InvalidSignatureException: Signature expired: 20261122T010203Z"));
  now_ = signed_at - absl::Seconds(301);
  EXPECT_THAT(AuthErrorOf(request),
              HasSubstr("InvalidSignatureException: Signature not yet current: 20261122T010203Z"));
}

TEST_F(SignatureCheckTest, RefusesHeadersThatAreNamedAgainOrOutOfOrder) {
  for (std::string_view names :
       {"content-type;host;host;x-amz-date;x-amz-target", "host;content-type;x-amz-date;x-amz-target"}) {
    DynamoDbRequest request;
    request.signed_headers = names;
    request.Update();
    EXPECT_THAT(AuthErrorOf(request), HasSubstr("must name each header once, in order")) << names;
  }
}

TEST_F(SignatureCheckTest, RefusesWhenWhatMattersIsNotSigned) {
  for (std::string_view names : {"content-type;x-amz-date;x-amz-target", "content-type;host;x-amz-target",
                                 "content-type;host;x-amz-date", "x"}) {
    DynamoDbRequest request;
    request.signed_headers = names;
    request.Update();
    EXPECT_THAT(AuthErrorOf(request), HasSubstr("must be a 'SignedHeader'")) << names;
  }
  DynamoDbRequest request;
  request.signed_headers = "content-type;host;x-amz-target";
  request.Update();
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("'X-Amz-Date' must be"));
  request.Remove("X-Amz-Date");
  request.headers.push_back({"Date", "Sun, 22 Nov 2026 01:02:03 GMT"});
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("'Date' must be"));
  request = DynamoDbRequest();
  request.credential = "AKORDERS/20261122/eu-central-1/s3/aws4_request";
  request.Update();
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("'dynamodb'"));
  request.credential = "AKORDERS/20261121/eu-central-1/dynamodb/aws4_request";
  request.Update();
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("Date in Credential scope"));
}

TEST_F(SignatureCheckTest, RefusesOperationsBeyondTheRole) {
  EXPECT_EQ(AuthErrorOf(DynamoDbRequest(), daemon::Role::kWrite), "");
  EXPECT_THAT(
      AuthErrorOf(DynamoDbRequest(), daemon::Role::kAdmin),
      HasSubstr("AccessDeniedException: User: AKORDERS is not authorized to perform: dynamodb:GetItem"));
}

// Parameters are separated by commas, spaces or both.
TEST_F(SignatureCheckTest, AcceptsParametersThatAreSeparatedBySpaces) {
  for (const std::string separator : {" ", ",", "  ,\t "}) {
    DynamoDbRequest request;
    request.Set("Authorization", "AWS4-HMAC-SHA256 Credential=" + request.credential + separator +
                                     "SignedHeaders=" + request.signed_headers + separator +
                                     "Signature=" + request.value);
    EXPECT_EQ(AuthErrorOf(request), "") << separator;
  }
}

TEST_F(SignatureCheckTest, RefusesHeadersThatAreNoSignature) {
  struct Case {
    std::string authorization;
    std::string says;
  };
  const std::string good = "Credential=A/20261122/r/dynamodb/aws4_request, SignedHeaders=host, Signature=00";
  const Case cases[] = {
      {"", "MissingAuthenticationTokenException"},
      {"Basic dXNlcjpwYXNz", "MissingAuthenticationTokenException"},
      {"AWS4-HMAC-SHA512 " + good, "MissingAuthenticationTokenException"},
      {"AWS4-HMAC-SHA256", "'Credential' parameter. Authorization header requires 'Signature'"},
      {"AWS4-HMAC-SHA256 Credential=,SignedHeaders=host,Signature=00", "'Credential'"},
      {"AWS4-HMAC-SHA256 Credential=A/20261122/r/dynamodb/aws4_request, Signature=00", "'SignedHeaders'"},
      {"AWS4-HMAC-SHA256 Credential=A/20261122/r/dynamodb/aws4_request, SignedHeaders=host", "'Signature'"},
      {"AWS4-HMAC-SHA256 Credential=A/r/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
       "5 slash-delimited"},
      {"AWS4-HMAC-SHA256 Credential=A/1/r/dynamodb/aws5_request, SignedHeaders=host, Signature=00",
       "5 slash-delimited"},
      {"AWS4-HMAC-SHA256 Credential=/1/r/dynamodb/aws4_request, SignedHeaders=host, Signature=00",
       "5 slash-delimited"},
      {"AWS4-HMAC-SHA256 Credential=A/1/r/dynamodb/aws4_request, SignedHeaders=" + std::string(200, ';') +
           ", Signature=00",
       "at most 100"},
  };
  for (const Case& c : cases) {
    DynamoDbRequest request;
    request.Set("Authorization", c.authorization);
    EXPECT_THAT(AuthErrorOf(request), HasSubstr(c.says)) << c.authorization;
  }
  DynamoDbRequest request;
  for (const char* date :
       {"yesterday", "", "20261122", "20261122T010203", "20261322T010203Z", "20261122T01020aZ",
        "20261122T010261Z", "20261122 010203Z", "20261122T010203z", "infinite-future"}) {
    request.Set("X-Amz-Date", date);
    EXPECT_THAT(AuthErrorOf(request), HasSubstr("IncompleteSignatureException: Date must be")) << date;
  }
  request.Remove("X-Amz-Date");
  EXPECT_THAT(AuthErrorOf(request), HasSubstr("existence of either a 'X-Amz-Date' or a 'Date' header"));
}

TEST_F(SignatureCheckTest, SaysThatSignaturesInTheQueryStringAreNotSupported) {
  DynamoDbRequest request;
  request.Set("Authorization", "");
  HttpHead head = request.head();
  head.target =
      "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKORDERS%2F20261122%2Feu-central-1%2Fdynamodb%"
      "2Faws4_"
      "request&X-Amz-Date=20261122T010203Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00";
  Signature signature;
  std::optional<AuthError> refusal = ReadSignature(head, signature);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->exception, "MissingAuthenticationTokenException");
  EXPECT_THAT(refusal->message, HasSubstr("(X-Amz-Signature) is not supported"));
}

TEST_F(SignatureCheckTest, TakesTheTimeFromTheDateHeader) {
  DynamoDbRequest request;
  request.Remove("X-Amz-Date");
  request.headers.push_back({"Date", "Sun, 22 Nov 2026 01:02:03 GMT"});
  request.signed_headers = "date;host;x-amz-target";
  request.value = "2e7218c5b25c677d0a7e3d9db8a2ccde7e705149aa389516676d81ea5a041efa";
  request.Update();
  EXPECT_EQ(AuthErrorOf(request), "");
}

}  // namespace
}  // namespace itemdb::http
