#include "daemon/http/message/request_id.h"

#include <gtest/gtest.h>

#include <set>

namespace itemdb::http {
namespace {

// The reply header x-amzn-RequestId (SEM-114).
TEST(RequestIdTest, Is52UpperCaseLettersAndDigitsAndNeverTheSame) {
  std::set<std::string> ids;
  std::set<char> characters;
  for (int i = 0; i < 1'000; ++i) {
    std::string id = NewRequestId();
    EXPECT_EQ(id.size(), 52u);
    for (char c : id) {
      EXPECT_TRUE((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) << id;
      characters.insert(c);
    }
    ids.insert(std::move(id));
  }
  EXPECT_EQ(ids.size(), 1'000u);
  EXPECT_EQ(characters.size(), 32u);
}

}  // namespace
}  // namespace itemdb::http
