#include "daemon/process/address_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

TEST(AddressFile, HoldsTheAddressesAndGoesAtTheEnd) {
  testing::TemporaryDirectory directory;
  std::string path = directory.path() + "/itemd.json";
  std::ofstream(path) << "left over";
  {
    AddressFile file(path, 0644);
    ASSERT_TRUE(file.Write({"127.0.0.1:4711", "unix:/tmp/s"}, {"127.0.0.1:4712"}).ok());
    std::ifstream in(path);
    nlohmann::json json = nlohmann::json::parse(in);
    EXPECT_EQ(json["grpc"], nlohmann::json::array({"127.0.0.1:4711", "unix:/tmp/s"}));
    EXPECT_EQ(json["http"], nlohmann::json::array({"127.0.0.1:4712"}));
    // There is no temporary file: the file was created by rename.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The next daemon may be started with the same file before this one has ended.
TEST(AddressFile, LeavesTheFileOfASuccessor) {
  testing::TemporaryDirectory directory;
  std::string path = directory.path() + "/itemd.json";
  AddressFile successor(path, 0644);
  {
    AddressFile file(path, 0644);
    ASSERT_TRUE(file.Write({"127.0.0.1:1"}, {}).ok());
    ASSERT_TRUE(successor.Write({"127.0.0.1:2"}, {}).ok());
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(AddressFile, NamesTheFileItCannotWrite) {
  AddressFile file("/nowhere/itemd.json", 0644);
  absl::Status status = file.Write({"127.0.0.1:1"}, {});
  EXPECT_NE(storage::MessageOf(status).find("/nowhere/itemd.json: No such file"), std::string::npos)
      << status;
}

TEST(AddressFile, IsNotWrittenUnlessAskedFor) {
  AddressFile file("", 0644);
  EXPECT_TRUE(file.Write({"127.0.0.1:1"}, {}).ok());
}

}  // namespace
}  // namespace itemdb::daemon
