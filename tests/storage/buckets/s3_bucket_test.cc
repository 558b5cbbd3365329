// Buckets of a store: objects small and large, and every way in which requests fail.
#include "storage/buckets/s3_bucket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "storage/buckets/open_bucket.h"
#include "tests/s3/s3_process.h"
#include "tests/support/test_certificates.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::S3Process;
using ::testing::SizeIs;

constexpr size_t kManyObjects = 1'000;
constexpr size_t kMiB = 1 << 20;

class S3BucketTest : public ::testing::Test {
 protected:
  S3BucketTest() { server_.MakeBucket("bucket"); }

  S3Options Options() const {
    S3Options options;
    options.endpoint = "http://" + server_.address();
    options.region = testing::kS3Region;
    options.credentials = [] {
      return S3Credentials{.key_id = testing::kS3KeyId, .secret = testing::kS3Secret, .session_token = ""};
    };
    options.retry_pause = std::chrono::milliseconds(10);
    return options;
  }
  std::unique_ptr<S3Bucket> OpenS3(const S3Options& options, const std::string& name = "bucket") const {
    auto bucket = S3Bucket::Open(options, name, cancellation_);
    EXPECT_TRUE(bucket.ok()) << bucket.status();
    return *std::move(bucket);
  }
  std::unique_ptr<S3Bucket> OpenS3() const { return OpenS3(Options()); }
  std::vector<std::string> Keys(const std::string& prefix = "") const {
    const auto objects = OpenS3()->List(prefix, kManyObjects);
    EXPECT_TRUE(objects.ok()) << objects.status();
    std::vector<std::string> keys;
    if (objects.ok())
      for (const BucketObject& object : *objects) keys.push_back(object.key);
    return keys;
  }
  absl::StatusOr<std::string> ReadWhole(const std::string& key) const {
    const auto bucket = OpenS3();
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<BucketObject> objects, bucket->List(key, kManyObjects));
    EXPECT_EQ(objects.size(), 1u);
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableObject> object, bucket->Open(objects.at(0)));
    std::string contents;
    for (std::string buffer(300'000, '\0');;) {
      ITEMDB_ASSIGN_OR_RETURN(const size_t count, object->Read(buffer.data(), buffer.size()));
      if (count == 0) return contents;
      contents.append(buffer, 0, count);
    }
  }
  // What the server has under a key.
  std::string Stored(const std::string& key) const {
    return testing::ReadFile(server_.BucketPath("bucket") + "/" + key);
  }
  static std::string Random(size_t size) {
    std::mt19937_64 random(size);
    std::string text(size, '\0');
    for (size_t i = 0; i < size; i += 8) {
      const uint64_t number = random();
      text.replace(i, 8, reinterpret_cast<const char*>(&number), std::min<size_t>(8, size - i));
    }
    text.resize(size);
    return text;
  }

  S3Process server_;
  Cancellation cancellation_;
};

TEST_F(S3BucketTest, WritesListsReadsAndDeletes) {
  const auto bucket = OpenS3();
  const std::vector<std::string> keys = {"a b+c", "a/1", "a/2", "a/3", "a/4", "b/\xC3\xA9&<", "c"};
  for (const std::string& key : keys) {
    const auto written = bucket->Write(key, "contents of " + key);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_EQ(written->bytes, static_cast<int64_t>(12 + key.size()));
  }
  EXPECT_EQ(Stored("a b+c"), "contents of a b+c");
  // In pages of three.
  EXPECT_EQ(Keys(), keys);
  EXPECT_THAT(Keys("a/"), ElementsAre("a/1", "a/2", "a/3", "a/4"));
  EXPECT_THAT(Keys("none"), IsEmpty());
  EXPECT_EQ(ReasonOf(bucket->List("", 6).status()), kReasonLimitExceeded);
  for (const std::string& key : keys) EXPECT_EQ(*ReadWhole(key), "contents of " + key);
  ASSERT_TRUE(bucket->Write("a/1", "").ok());
  EXPECT_EQ(Stored("a/1"), "");
  EXPECT_THAT(Keys("a/"), ElementsAre("a/2", "a/3", "a/4")) << "empty objects count nothing";
  ASSERT_TRUE(bucket->Delete("a/1").ok());
  ASSERT_TRUE(bucket->Delete("a/1").ok());
  EXPECT_THAT(Keys("a/"), ElementsAre("a/2", "a/3", "a/4"));
  EXPECT_EQ(ReasonOf(bucket->Create("a//b").status()), kReasonValidation);
}

// The sizes around those of parts.
TEST_F(S3BucketTest, LargeObjectsAreUploadedInParts) {
  const auto bucket = OpenS3();
  for (const size_t size : {8 * kMiB - 1, 8 * kMiB, 8 * kMiB + 1, 16 * kMiB, 21 * kMiB}) {
    const std::string contents = Random(size);
    const std::string key = "o" + std::to_string(size);
    const auto object = *bucket->Create(key);
    for (size_t at = 0; at < size; at += 1'000'003)
      ASSERT_TRUE(object->Append(std::string_view(contents).substr(at, 1'000'003)).ok());
    EXPECT_EQ(Stored(key), "") << "an object appears whole";
    const auto written = object->Finish();
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_TRUE(Stored(key) == contents) << size;
    EXPECT_EQ(written->bytes, static_cast<int64_t>(size));
    EXPECT_TRUE(*ReadWhole(key) == contents) << size;
  }
  EXPECT_THAT(server_.Requests("partNumber=3"), SizeIs(1));
  EXPECT_EQ(server_.Uploads(), 0u);
}

TEST_F(S3BucketTest, WhatIsNotFinishedIsDeleted) {
  const auto bucket = OpenS3();
  {
    const auto object = *bucket->Create("given/up");
    ASSERT_TRUE(object->Append(Random(9 * kMiB)).ok());
    EXPECT_EQ(server_.Uploads(), 1u);
  }
  EXPECT_EQ(server_.Uploads(), 0u);
  // Those of a process that ended: it cannot end its uploads.
  Cancellation ends;
  {
    const auto other = *S3Bucket::Open(Options(), "bucket", ends);
    std::vector<std::unique_ptr<WritableObject>> objects;
    for (const char* key : {"x/1", "x/2", "x/3", "x/4", "x/5", "y/1"}) {
      objects.push_back(*other->Create(key));
      ASSERT_TRUE(objects.back()->Append(Random(9 * kMiB)).ok());
    }
    ends.Cancel();
  }
  EXPECT_EQ(server_.Uploads(), 6u);
  // In pages of three.
  ASSERT_TRUE(bucket->RemoveLeftovers("x/").ok());
  EXPECT_EQ(server_.Uploads(), 1u);
  ASSERT_TRUE(bucket->RemoveLeftovers("").ok());
  EXPECT_EQ(server_.Uploads(), 0u);
  EXPECT_THAT(Keys(), IsEmpty());
  // A store that does not list uploads.
  server_.SetFaults(R"([{"method": "GET", "target": "uploads", "action": "501", "code": "NotImplemented"}])");
  EXPECT_TRUE(bucket->RemoveLeftovers("").ok());
}

// Errors that may pass: each request is repeated.
TEST_F(S3BucketTest, RequestsAreRepeated) {
  const std::string contents = Random(9 * kMiB);
  for (const char* fault : {R"("action": "500")", R"("action": "503", "code": "SlowDown")",
                            R"("action": "503")", R"("action": "429", "code": "TooManyRequests")",
                            R"("action": "cut")", R"("action": "lose")", R"("action": "half")"}) {
    SCOPED_TRACE(fault);
    // The first three of each kind of request.
    std::string faults;
    for (const char* request : {R"("PUT", "target": "small")", R"("PUT", "target": "partNumber=1")",
                                R"("PUT", "target": "partNumber=2")", R"("POST", "target": "uploads=")",
                                R"("POST", "target": "uploadId=")", R"("GET", "target": "list-type")",
                                R"("GET", "target": "/large")", R"("DELETE", "target": "small")",
                                R"("GET", "target": "uploads")"}) {
      // Half of the reply to an upload that begins would be no document.
      faults += std::string(faults.empty() ? "[" : ",") + R"({"method": )" + request + R"(, "times": 3, )" +
                fault + "}";
    }
    server_.SetFaults(faults + "]");
    const auto bucket = OpenS3();
    ASSERT_TRUE(bucket->Write("small", "x").ok());
    const auto written = bucket->Write("large", contents);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_TRUE(*ReadWhole("large") == contents);
    ASSERT_TRUE(bucket->Delete("small").ok());
    EXPECT_THAT(Keys(), ElementsAre("large"));
    // Also those of which only the reply was lost.
    EXPECT_EQ(server_.Uploads(), 0u);
    ASSERT_TRUE(bucket->Delete("large").ok());
    server_.SetFaults("[]");
  }
}

// A reply of 200 to the end of an upload may still be an error.
TEST_F(S3BucketTest, AnErrorInsideOfAReplyIsOne) {
  const std::string contents = Random(9 * kMiB);
  server_.SetFaults(
      R"([{"method": "POST", "target": "uploadId=", "times": 2, "action": "late-error", "code": "InternalError"}])");
  EXPECT_TRUE(OpenS3()->Write("large", contents).ok());
  EXPECT_TRUE(Stored("large") == contents);
  server_.SetFaults(
      R"([{"method": "POST", "target": "uploadId=", "action": "late-error", "code": "AccessDenied"}])");
  EXPECT_FALSE(OpenS3()->Write("other", contents).ok());
  EXPECT_EQ(Stored("other"), "");
  EXPECT_EQ(server_.Uploads(), 0u);
}

// As by a lifecycle rule. The object can be written again.
TEST_F(S3BucketTest, AnUploadThatSomebodyEnds) {
  for (const size_t more : {size_t{1}, 9 * kMiB}) {
    const auto object = *OpenS3()->Create("key");
    ASSERT_TRUE(object->Append(Random(9 * kMiB)).ok());
    fs::remove_all(server_.directory() + "/uploads");
    absl::Status status = object->Append(Random(more));
    if (status.ok()) status = object->Finish().status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_EQ(Stored("key"), "");
  }
}

// A cut connection loses nothing, and nothing is read twice.
TEST_F(S3BucketTest, ReadingGoesOnWhereItWasCut) {
  const std::string contents = Random(17 * kMiB);
  ASSERT_TRUE(OpenS3()->Write("large", contents).ok());
  // More cuts than attempts: each of them makes progress, down to half of two bytes.
  server_.SetFaults(R"([{"method": "GET", "target": "/large", "times": 20, "action": "half"}])");
  EXPECT_TRUE(*ReadWhole("large") == contents);
  EXPECT_GE(server_.Requests("GET /bucket/large").size(), 23u);
}

TEST_F(S3BucketTest, AttemptsAreBounded) {
  server_.SetFaults(R"([{"action": "500"}])");
  const absl::Status status = OpenS3()->Write("key", "x").status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(MessageOf(status), HasSubstr("S3 answers 500 InternalError to PUT /bucket/key"));
  EXPECT_THAT(server_.Requests("PUT"), SizeIs(8));
}

// IMP-19.
TEST_F(S3BucketTest, AChangedObjectIsAnError) {
  const std::string contents = Random(9 * kMiB);
  const auto bucket = OpenS3();
  ASSERT_TRUE(bucket->Write("key", contents).ok());
  const BucketObject listed = bucket->List("key", kManyObjects)->at(0);
  EXPECT_GT(listed.modified_ns, 0);
  const auto object = *bucket->Open(listed);
  std::string buffer(8 * kMiB, '\0');
  ASSERT_EQ(*object->Read(buffer.data(), buffer.size()), buffer.size());
  ASSERT_TRUE(bucket->Write("key", Random(9 * kMiB - 1) + "x").ok());
  EXPECT_EQ(ReasonOf(object->Read(buffer.data(), buffer.size()).status()), kReasonObjectChanged);
  ASSERT_TRUE(bucket->Delete("key").ok());
  EXPECT_EQ(ReasonOf((*bucket->Open(listed))->Read(buffer.data(), 1).status()), kReasonObjectChanged);
}

TEST_F(S3BucketTest, ErrorsOfTheStoreHaveTheirReasons) {
  const auto status_of = [&](const S3Options& options, const std::string& bucket) {
    const auto opened = OpenS3(options, bucket);
    const absl::Status written = opened->Write("key", "x").status();
    EXPECT_EQ(ReasonOf(opened->List("", kManyObjects).status()), ReasonOf(written)) << written;
    return written;
  };
  const absl::Status missing = status_of(Options(), "missing");
  EXPECT_EQ(BucketFailureCode(missing, ""), "S3NoSuchBucket");
  EXPECT_THAT(MessageOf(missing), HasSubstr("The specified bucket does not exist"));
  EXPECT_EQ(BucketFailureCode(S3Bucket::Open(Options(), "a/b", cancellation_).status(), ""),
            "S3NoSuchBucket");

  testing::WriteFile(server_.BucketPath("bucket.forbidden"), "");
  const absl::Status forbidden = status_of(Options(), "bucket");
  EXPECT_EQ(BucketFailureCode(forbidden, ""), "S3AccessDenied");
  EXPECT_THAT(MessageOf(forbidden), HasSubstr("403 AccessDenied to PUT /bucket/key: not for you"));
  fs::remove(server_.BucketPath("bucket.forbidden"));

  S3Options options = Options();
  options.credentials = [] { return S3Credentials{.key_id = "OTHER", .secret = "x", .session_token = ""}; };
  absl::Status status = status_of(options, "bucket");
  EXPECT_EQ(ReasonOf(status), kReasonBucketAccessDenied);
  EXPECT_THAT(MessageOf(status), HasSubstr("the endpoint does not know the access key OTHER"));

  options.credentials = [] {
    return S3Credentials{.key_id = testing::kS3KeyId, .secret = "another secret", .session_token = ""};
  };
  status = status_of(options, "bucket");
  EXPECT_EQ(ReasonOf(status), kReasonBucketAccessDenied);
  EXPECT_THAT(MessageOf(status), HasSubstr("the secret of the access key AKIDTEST is wrong"));
  EXPECT_THAT(MessageOf(status), ::testing::Not(HasSubstr("another secret")));

  options.credentials = [] { return absl::UnavailableError("/etc/key cannot be read"); };
  status = S3Bucket::Open(options, "bucket", cancellation_).status();
  EXPECT_EQ(ReasonOf(status), kReasonBucketAccessDenied);
  EXPECT_THAT(MessageOf(status), HasSubstr("/etc/key cannot be read"));

  options = Options();
  options.region = "elsewhere";
  EXPECT_THAT(MessageOf(status_of(options, "bucket")), HasSubstr("--s3-region is wrong"));

  server_.SetFaults(R"([{"action": "403", "code": "RequestTimeTooSkewed"}])");
  status = status_of(Options(), "bucket");
  EXPECT_EQ(ReasonOf(status), kReasonBucketAccessDenied);
  EXPECT_THAT(MessageOf(status), HasSubstr("the clock of this machine"));
  server_.SetFaults(R"([{"action": "403", "code": "ExpiredToken"}])");
  EXPECT_THAT(MessageOf(status_of(Options(), "bucket")), HasSubstr("the session token"));
  server_.SetFaults(R"([{"action": "400", "code": "InvalidRequest"}])");
  EXPECT_EQ(ReasonOf(status_of(Options(), "bucket")), kReasonBucketUnusable);
  server_.SetFaults(R"([{"action": "403", "code": "QuotaExceeded"}])");
  EXPECT_EQ(ReasonOf(status_of(Options(), "bucket")), kReasonDiskFull);
  // Neither the PUT nor the GET is repeated.
  const size_t before = server_.Requests("").size();
  server_.SetFaults(R"([{"action": "403", "code": "QuotaExceeded", "times": 8}])");
  EXPECT_EQ(ReasonOf(status_of(Options(), "bucket")), kReasonDiskFull);
  EXPECT_THAT(server_.Requests(""), SizeIs(before + 2));
}

TEST_F(S3BucketTest, AnEndpointThatIsNotThere) {
  S3Options options = Options();
  // A port that nobody listens at, and that nobody else gets meanwhile.
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  options.endpoint = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const absl::Status status = OpenS3(options)->List("", kManyObjects).status();
  close(taken);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(MessageOf(status), HasSubstr(options.endpoint + " cannot be reached"));
}

TEST_F(S3BucketTest, TlsIsVerified) {
  const TestAuthority authority("the right authority");
  const TestCertificate certificate = authority.Sign({.name = "localhost"});
  const testing::TemporaryDirectory files;
  testing::WriteFile(files.path() + "/c.pem", certificate.certificate);
  testing::WriteFile(files.path() + "/k.pem", certificate.key);
  testing::WriteFile(files.path() + "/ca.pem", authority.certificate());
  testing::WriteFile(files.path() + "/other.pem", TestAuthority("another one").certificate());
  S3Process server({"--certificate", files.path() + "/c.pem", "--key", files.path() + "/k.pem"});
  server.MakeBucket("bucket");
  const std::string port = server.address().substr(server.address().find(':'));
  S3Options options = Options();
  options.endpoint = "https://localhost" + port;
  options.ca_file = files.path() + "/ca.pem";
  EXPECT_TRUE(OpenS3(options)->Write("key", "x").ok());
  const auto message = [&] {
    const absl::Status status = OpenS3(options)->Write("key", "x").status();
    EXPECT_EQ(ReasonOf(status), kReasonBucketUnusable) << status;
    return MessageOf(status);
  };
  options.ca_file = files.path() + "/other.pem";
  EXPECT_THAT(message(), HasSubstr("the certificate of https://localhost" + port + " is not trusted"));
  options.ca_file = files.path() + "/missing.pem";
  EXPECT_THAT(message(), HasSubstr("the certificates of authorities cannot be used"));
  // The certificate is of another name.
  options.ca_file = files.path() + "/ca.pem";
  options.endpoint = "https://127.0.0.1" + port;
  EXPECT_THAT(message(), HasSubstr("is not trusted"));
}

// Also while it waits for a reply, and while it waits for the next attempt.
TEST_F(S3BucketTest, ACancellationEndsARequest) {
  for (const char* action : {"hang", "500"}) {
    server_.SetFaults(std::string(R"([{"action": ")") + action + "\"}]");
    S3Options options = Options();
    options.retry_pause = std::chrono::hours(1);
    Cancellation cancellation;
    const auto bucket = *S3Bucket::Open(options, "bucket", cancellation);
    std::thread cancels([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      cancellation.Cancel();
    });
    EXPECT_EQ(ReasonOf(bucket->Write("key", "x").status()), kReasonCancelled) << action;
    cancels.join();
  }
}

TEST_F(S3BucketTest, IsOpenedWhenThereIsAnEndpoint) {
  DatabaseOptions options;
  options.data_directory = "/nowhere";
  options.s3 = Options();
  const auto bucket = OpenBucket(options, "bucket", cancellation_);
  ASSERT_TRUE(bucket.ok()) << bucket.status();
  EXPECT_FALSE((*bucket)->device().has_value());
  EXPECT_TRUE((*bucket)->Write("key", "x").ok());
  EXPECT_EQ(Stored("key"), "x");
}

}  // namespace
}  // namespace itemdb::storage
