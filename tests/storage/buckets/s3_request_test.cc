// Signed requests, compared with the examples of Amazon's documentation, and the replies of a store.
#include "storage/buckets/s3_request.h"

#include "gmock/gmock.h"
#include "storage/base/s3_endpoint.h"
#include "storage/buckets/xml_element.h"

namespace itemdb::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" in the API
// reference of Amazon S3.
const S3Credentials kDocumentedCredentials = {.key_id = "AKIAIOSFODNN7EXAMPLE",
                                              .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                              .session_token = ""};

std::string AuthorizationOf(const S3Request& request) {
  const absl::Time time = absl::FromCivil(absl::CivilSecond(2013, 5, 24), absl::UTCTimeZone());
  const NamesAndValues headers =
      SignedHeadersOf(request, "examplebucket.s3.amazonaws.com", "us-east-1", kDocumentedCredentials, time);
  EXPECT_EQ(headers.back().first, "authorization");
  return headers.back().second;
}

std::string Documented(const std::string& names, const std::string& signature) {
  return "AWS4-HMAC-SHA256 "
         "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=" +
         names + ",Signature=" + signature;
}

TEST(S3RequestTest, IsSignedAsTheDocumentedExamples) {
  EXPECT_EQ(AuthorizationOf({.method = "GET", .path = "/test.txt", .headers = {{"range", "bytes=0-9"}}}),
            Documented("host;range;x-amz-content-sha256;x-amz-date",
                       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
  EXPECT_EQ(AuthorizationOf({.method = "PUT",
                             .path = "/test$file.text",
                             .headers = {{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                         {"date", "Fri, 24 May 2013 00:00:00 GMT"}},
                             .body = "Welcome to Amazon S3."}),
            Documented("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
  EXPECT_EQ(AuthorizationOf({.method = "GET", .path = "/", .query = {{"lifecycle", ""}}}),
            Documented("host;x-amz-content-sha256;x-amz-date",
                       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_EQ(AuthorizationOf({.method = "GET", .path = "/", .query = {{"prefix", "J"}, {"max-keys", "2"}}}),
            Documented("host;x-amz-content-sha256;x-amz-date",
                       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3RequestTest, TargetsAreEncoded) {
  EXPECT_EQ(TargetOf({.method = "GET", .path = "/b/a b/+\xC3\xA9~-._%2F"}), "/b/a%20b/%2B%C3%A9~-._%252F");
  EXPECT_EQ(TargetOf({.method = "GET", .path = "/b", .query = {{"prefix", "a/b&c="}, {"list-type", "2"}}}),
            "/b?list-type=2&prefix=a%2Fb%26c%3D");
  // A session token is sent and signed.
  const NamesAndValues headers =
      SignedHeadersOf({.method = "GET", .path = "/b"}, "h", "r",
                      {.key_id = "k", .secret = "s", .session_token = "token"}, absl::UnixEpoch());
  EXPECT_THAT(headers, ::testing::Contains(Pair("x-amz-security-token", "token")));
  EXPECT_THAT(headers.back().second, HasSubstr("x-amz-date;x-amz-security-token,"));
}

TEST(S3EndpointTest, IsSchemeHostAndPort) {
  const auto url = [](const std::string& text) {
    const auto endpoint = ParseS3Endpoint(text);
    EXPECT_TRUE(endpoint.ok()) << endpoint.status();
    return endpoint.ok() ? endpoint->url() : "";
  };
  EXPECT_EQ(url("https://s3.eu-central-1.amazonaws.com"), "https://s3.eu-central-1.amazonaws.com");
  EXPECT_EQ(url("https://s3.example.com:443/"), "https://s3.example.com");
  EXPECT_EQ(url("http://minio:9000"), "http://minio:9000");
  EXPECT_EQ(url("http://h:80"), "http://h");
  EXPECT_EQ(url("http://[::1]:9000"), "http://[::1]:9000");
  for (const char* text :
       {"", "s3.example.com", "ftp://h", "https://", "https:///", "http://h/path", "http://h:", "http://h:0",
        "http://h:65536", "http://h:9x", "http://user@h", "http://h?q", "http://h#f", "http://[::1",
        "http://[]", "http://[::1]9000", "http://a b", "http://:80"}) {
    const absl::Status status = ParseS3Endpoint(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(MessageOf(status), HasSubstr("http:// or https://")) << text;
  }
}

TEST(XmlTest, IsATreeOfElements) {
  const auto document = ParseXml(
      "<?xml version=\"1.0\"?><s3:List xmlns:s3=\"http://x\" a=\"1\"><Key>a &amp; b</Key><Key>&#233;</Key>"
      "<Deep><Er/></Deep></s3:List>");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->name, "List");
  EXPECT_EQ(document->TextOf("Key"), "a & b");
  EXPECT_EQ(document->children.at(1).text, "\xC3\xA9");
  EXPECT_NE(document->Find("Deep")->Find("Er"), nullptr);
  EXPECT_EQ(document->Find("Er"), nullptr);
  EXPECT_EQ(document->TextOf("Other"), "");
}

TEST(XmlTest, RefusesWhatIsNotXml) {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  std::string wide = "<a>";
  for (int i = 0; i < 100'000; ++i) wide += "<b/>";
  for (const std::string& text :
       std::vector<std::string>{"", "text", "<a>", "<a></b>", "<a/><b/>", "{}", deep, wide + "</a>",
                                "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
                                "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>"})
    EXPECT_TRUE(absl::IsDataLoss(ParseXml(text).status())) << text.substr(0, 100);
}

}  // namespace
}  // namespace itemdb::storage
