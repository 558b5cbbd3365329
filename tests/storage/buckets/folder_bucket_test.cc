// Buckets that are folders: objects appear whole, and nothing outside of the folder is read or written.
#include "storage/buckets/folder_bucket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "storage/buckets/open_bucket.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kMany = 1'000;

class FolderBucketTest : public ::testing::Test {
 protected:
  FolderBucketTest() { fs::create_directories(root_ + "/bucket"); }

  std::unique_ptr<FolderBucket> OpenFolder() {
    auto bucket = FolderBucket::Open(root_, "bucket", cancellation_);
    EXPECT_TRUE(bucket.ok()) << bucket.status();
    return *std::move(bucket);
  }
  void WriteFileOf(const std::string& key, const std::string& contents) {
    const fs::path path = root_ + "/bucket/" + key;
    fs::create_directories(path.parent_path());
    testing::WriteFile(path, contents);
  }
  std::vector<std::string> Keys(const std::string& prefix) {
    const auto objects = OpenFolder()->List(prefix, kMany);
    EXPECT_TRUE(objects.ok()) << objects.status();
    std::vector<std::string> keys;
    for (const BucketObject& object : *objects) keys.push_back(object.key);
    return keys;
  }
  BucketObject Listed(const std::string& key) {
    const auto objects = OpenFolder()->List(key, kMany);
    EXPECT_TRUE(objects.ok() && objects->size() == 1) << objects.status();
    return objects->at(0);
  }

  testing::TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/root";
  const Cancellation cancellation_;
};

std::string ReadAll(ReadableObject& object) {
  std::string contents;
  char buffer[7];
  for (;;) {
    const auto count = object.Read(buffer, sizeof buffer);
    EXPECT_TRUE(count.ok()) << count.status();
    if (!count.ok() || *count == 0) return contents;
    contents.append(buffer, *count);
  }
}

// IMP-10.
TEST_F(FolderBucketTest, ListsObjectsByTheirPrefix) {
  for (const char* key : {"data/1", "data2/x", "data.bak", "dat", "other", "data/deep/er/2"})
    WriteFileOf(key, "x");
  WriteFileOf("data/empty", "");
  EXPECT_THAT(Keys("data"), ElementsAre("data.bak", "data/1", "data/deep/er/2", "data2/x"));
  EXPECT_THAT(Keys("data/1"), ElementsAre("data/1"));
  EXPECT_THAT(Keys("data/deep/"), ElementsAre("data/deep/er/2"));
  EXPECT_THAT(Keys(""), ElementsAre("dat", "data.bak", "data/1", "data/deep/er/2", "data2/x", "other"));
  EXPECT_THAT(Keys("../bucket/data"), IsEmpty());
  EXPECT_THAT(Keys("/"), IsEmpty());
  EXPECT_EQ(ReasonOf(OpenFolder()->List("data", 3).status()), kReasonLimitExceeded);
}

TEST_F(FolderBucketTest, ReadsNamesThatAreTooLongToBeWritten) {
  const std::string key(250, 'n');
  WriteFileOf(key, "contents");
  WriteFileOf("empty", "");
  EXPECT_EQ(Keys(""), std::vector<std::string>{key});
  const auto object = OpenFolder()->Open(Listed(key));
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(ReadAll(**object), "contents");
  EXPECT_EQ(ReasonOf(OpenFolder()->Create(key).status()), kReasonValidation);
}

TEST_F(FolderBucketTest, AnObjectAppearsWhole) {
  const auto bucket = OpenFolder();
  auto object = bucket->Create("a/b/c");
  ASSERT_TRUE(object.ok()) << object.status();
  ASSERT_TRUE((*object)->Append("ab").ok());
  EXPECT_THAT(Keys(""), IsEmpty());
  ASSERT_TRUE((*object)->Append("c").ok());
  const auto written = (*object)->Finish();
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->key, "a/b/c");
  EXPECT_EQ(written->bytes, 3);
  // The test vectors of RFC 1321 and FIPS 180.
  EXPECT_EQ(absl::BytesToHexString(written->md5), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(absl::BytesToHexString(written->sha256),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(Keys(""), ElementsAre("a/b/c"));
  EXPECT_EQ(ReadAll(**bucket->Open(Listed("a/b/c"))), "abc");
  // Another takes its place.
  ASSERT_TRUE(bucket->Write("a/b/c", "other").ok());
  EXPECT_EQ(ReadAll(**bucket->Open(Listed("a/b/c"))), "other");
  ASSERT_TRUE(bucket->Delete("a/b/c").ok());
  EXPECT_THAT(Keys(""), IsEmpty());
  EXPECT_TRUE(bucket->Delete("a/b/c").ok());
  EXPECT_TRUE(bucket->Delete("no/folder").ok());
  EXPECT_FALSE(fs::exists(root_ + "/bucket/no"));
}

TEST_F(FolderBucketTest, WhatIsNotFinishedIsDeleted) {
  const auto bucket = OpenFolder();
  {
    const auto object = bucket->Create("a/given up");
    ASSERT_TRUE((*object)->Append("abc").ok());
  }
  EXPECT_TRUE(fs::is_empty(root_ + "/bucket/a"));
  // Of a process that ended.
  WriteFileOf("a/1.partial", "ab");
  WriteFileOf("a/2.partial", "ab");
  WriteFileOf("b/1.partial", "ab");
  EXPECT_THAT(Keys(""), IsEmpty());
  ASSERT_TRUE(bucket->Write("a/1", "abc").ok());
  EXPECT_FALSE(fs::exists(root_ + "/bucket/a/1.partial"));
  ASSERT_TRUE(bucket->RemoveLeftovers("a/").ok());
  EXPECT_FALSE(fs::exists(root_ + "/bucket/a/2.partial"));
  EXPECT_TRUE(fs::exists(root_ + "/bucket/b/1.partial"));
  EXPECT_THAT(Keys(""), ElementsAre("a/1"));
}

// Neither links nor names with dots lead out of a bucket, not at any part of a path.
TEST_F(FolderBucketTest, NothingOutsideIsReadOrWritten) {
  WriteFileOf("folder/inside", "x");
  const std::string secret = directory_.path() + "/secret";
  fs::create_directories(secret + "/deep");
  testing::WriteFile(secret + "/file", "x");
  testing::WriteFile(secret + "/deep/file", "x");
  fs::create_symlink(secret, root_ + "/bucket/link");
  fs::create_symlink(secret, root_ + "/bucket/folder/link");
  fs::create_symlink(secret + "/file", root_ + "/bucket/linked_file");
  ASSERT_EQ(mkfifo((root_ + "/bucket/pipe").c_str(), 0600), 0);
  EXPECT_THAT(Keys(""), ElementsAre("folder/inside"));
  const auto bucket = OpenFolder();
  for (const char* key : {"link/file", "link/deep/file", "folder/link/file", "linked_file", "../secret/file",
                          "folder/../../../secret/file", "/etc/passwd", "pipe"})
    EXPECT_EQ(ReasonOf(bucket->Open({.key = key, .bytes = 1}).status()), kReasonObjectChanged) << key;
  for (const char* key : {"link/new", "link/deep/new", "folder/link/new", "folder/link/deep/new"}) {
    EXPECT_EQ(ReasonOf(bucket->Create(key).status()), kReasonBucketAccessDenied) << key;
    EXPECT_EQ(ReasonOf(bucket->Delete(key)), kReasonBucketAccessDenied) << key;
  }
  for (const char* key : {"../secret/new", "folder/../../../secret/new", "/new", "a//b", "", "."})
    EXPECT_EQ(ReasonOf(bucket->Create(key).status()), kReasonValidation) << key;
  testing::WriteFile(secret + "/left.partial", "x");
  fs::create_symlink(secret + "/file", root_ + "/bucket/new.partial");
  ASSERT_TRUE(bucket->RemoveLeftovers("").ok());
  ASSERT_TRUE(bucket->Write("new", "contents").ok());
  // A link of the name of an object is replaced, not followed.
  ASSERT_TRUE(bucket->Write("linked_file", "contents").ok());
  EXPECT_EQ(testing::ReadFile(secret + "/file"), "x");
  EXPECT_TRUE(fs::exists(secret + "/left.partial"));
  EXPECT_FALSE(fs::exists(secret + "/new"));
}

// The same answers for exports and imports.
TEST_F(FolderBucketTest, IsOpenedByItsName) {
  WriteFileOf("folder/inside", "x");
  testing::WriteFile(root_ + "/file", "x");
  fs::create_symlink(root_ + "/bucket", root_ + "/link");
  DatabaseOptions options;
  options.export_directory = root_;
  EXPECT_TRUE(OpenBucket(options, "bucket", cancellation_).ok());
  for (const char* name : {"missing", "..", ".", "", "bucket/folder", "file"}) {
    const absl::Status status = OpenBucket(options, name, cancellation_).status();
    EXPECT_EQ(ReasonOf(status), kReasonNoSuchBucket) << name;
    EXPECT_EQ(BucketFailureCode(status, "other"), "S3NoSuchBucket");
    EXPECT_THAT(MessageOf(status), HasSubstr("The specified bucket does not exist"));
  }
  const absl::Status link = OpenBucket(options, "link", cancellation_).status();
  EXPECT_EQ(BucketFailureCode(link, "other"), "S3AccessDenied") << link;
  EXPECT_EQ(BucketFailureCode(absl::UnavailableError("x"), "other"), "other");
  // The directory itself may be anywhere, also behind a link.
  fs::create_symlink(root_, directory_.path() + "/linked_root");
  options.export_directory = directory_.path() + "/linked_root";
  EXPECT_TRUE(OpenBucket(options, "bucket", cancellation_).ok());
  options.export_directory = directory_.path() + "/missing";
  EXPECT_EQ(ReasonOf(OpenBucket(options, "bucket", cancellation_).status()), kReasonNoSuchBucket);
}

// IMP-19.
TEST_F(FolderBucketTest, AChangedObjectIsAnError) {
  const auto bucket = OpenFolder();
  WriteFileOf("object", "abc");
  const BucketObject listed = Listed("object");
  const auto object = bucket->Open(listed);
  ASSERT_TRUE(object.ok()) << object.status();
  char buffer[10];
  EXPECT_EQ(*(*object)->Read(buffer, 3), 3u);
  testing::WriteFile(root_ + "/bucket/object", "abcd");
  EXPECT_EQ(*(*object)->Read(buffer, 10), 1u);
  EXPECT_EQ(ReasonOf((*object)->Read(buffer, 10).status()), kReasonObjectChanged);
  EXPECT_EQ(ReasonOf(bucket->Open(listed).status()), kReasonObjectChanged);
  fs::remove(root_ + "/bucket/object");
  EXPECT_EQ(ReasonOf(bucket->Open(listed).status()), kReasonObjectChanged);
}

// Calls `operation` as a user to whom something can be forbidden.
template <typename Operation>
absl::Status AsAnotherUser(Operation operation) {
  const bool is_root = geteuid() == 0;
  EXPECT_TRUE(!is_root || seteuid(65534) == 0);
  const absl::Status status = operation();
  EXPECT_TRUE(!is_root || seteuid(0) == 0);
  return status;
}

TEST_F(FolderBucketTest, ErrorsOfTheFileSystemHaveTheirReasons) {
  const std::string folder = root_ + "/bucket/folder";
  WriteFileOf("folder/object", "x");
  const BucketObject listed = Listed("folder/object");
  ASSERT_EQ(chmod(directory_.path().c_str(), 0711), 0);
  ASSERT_EQ(chmod((folder + "/object").c_str(), 0), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  const auto bucket = OpenFolder();
  std::vector<absl::Status> statuses = {
      AsAnotherUser([&] { return bucket->Open(listed).status(); }),
      AsAnotherUser([&] { return bucket->Create("folder/new").status(); }),
      AsAnotherUser([&] { return bucket->Delete("folder/object"); }),
  };
  ASSERT_EQ(chmod(folder.c_str(), 0), 0);
  statuses.push_back(AsAnotherUser([&] { return bucket->List("", kMany).status(); }));
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  for (const absl::Status& status : statuses)
    EXPECT_EQ(ReasonOf(status), kReasonBucketAccessDenied) << status;
  Cancellation cancelled;
  cancelled.Cancel();
  const auto ended = FolderBucket::Open(root_, "bucket", cancelled);
  EXPECT_EQ(ReasonOf((*ended)->List("", kMany).status()), kReasonCancelled);
}

}  // namespace
}  // namespace itemdb::storage
