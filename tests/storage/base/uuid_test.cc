#include "storage/base/uuid.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

// The first start of a database under a systemd unit with ProcSubset=pid once got an empty id, and the
// database could not be opened again.
TEST(Uuid, IsRandomAndHasTheFormOfVersion4) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const std::string id = NewUuid();
    EXPECT_THAT(
        id, ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
}

}  // namespace
}  // namespace itemdb::storage
