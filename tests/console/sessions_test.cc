// Sessions of the console: tokens, ends, keys.
#include "daemon/console/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace itemdb::daemon {
namespace {

class SessionsTest : public ::testing::Test {
 protected:
  SessionsTest()
      : sessions_({.longest = absl::Hours(8), .idle = absl::Minutes(30), .max_sessions = 3, .now = [this] {
                     return now_;
                   }}) {
    Use({{.id = "ADMIN", .secret = "a secret of the admin", .role = Role::kAdmin},
         {.id = "READER", .secret = "a secret of the reader", .role = Role::kRead},
         {.id = "ORDERS",
          .secret = "a secret of orders",
          .role = Role::kNone,
          .grants = TableGrants({{.names = {"Orders"}, .role = Role::kWrite}})}});
  }

  void Use(std::vector<AccessKey> keys) {
    auto made = AccessKeys::Make(std::move(keys));
    ASSERT_TRUE(made.ok()) << made.status();
    keys_ = *made;
    sessions_.SetKeys(*std::move(made));
  }
  NewSession Begin(const std::string& key_id) {
    std::optional<NewSession> begun = sessions_.Begin(*keys_->Find(key_id));
    EXPECT_TRUE(begun.has_value());
    return begun.value_or(NewSession());
  }
  std::optional<FoundSession> Find(const NewSession& session, bool by_person = true) {
    return sessions_.Find({.cookie = session.cookie, .page = session.page}, by_person);
  }

  std::shared_ptr<const AccessKeys> keys_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  Sessions sessions_;
};

TEST_F(SessionsTest, NeedBothTokens) {
  const NewSession mine = Begin("ADMIN");
  const NewSession other = Begin("ADMIN");
  EXPECT_GE(mine.cookie.size(), 43u);
  EXPECT_NE(mine.cookie, mine.page);
  EXPECT_NE(mine.cookie, other.cookie);
  ASSERT_TRUE(Find(mine).has_value());
  EXPECT_EQ(Find(mine)->caller.key_id, "ADMIN");
  EXPECT_FALSE(sessions_.Find({.cookie = mine.cookie, .page = ""}, true).has_value());
  EXPECT_FALSE(sessions_.Find({.cookie = "", .page = mine.page}, true).has_value());
  EXPECT_FALSE(sessions_.Find({.cookie = mine.cookie, .page = other.page}, true).has_value());
  EXPECT_FALSE(sessions_.Begin({.id = "NOBODY", .secret = "a secret of nobody"}).has_value());
}

TEST_F(SessionsTest, EndWithoutUseAndAfterTheLongestTime) {
  const NewSession idle = Begin("ADMIN");
  now_ += absl::Minutes(29);
  EXPECT_TRUE(Find(idle).has_value());
  now_ += absl::Minutes(29);
  // The page asks by itself: that does not keep a session.
  EXPECT_TRUE(Find(idle, /*by_person=*/false).has_value());
  now_ += absl::Minutes(1);
  EXPECT_FALSE(Find(idle).has_value());
  EXPECT_EQ(sessions_.size(), 0u);

  const NewSession used = Begin("ADMIN");
  for (int i = 0; i < 23; ++i) {
    now_ += absl::Minutes(20);
    EXPECT_TRUE(Find(used).has_value());
  }
  now_ += absl::Minutes(20);
  EXPECT_FALSE(Find(used).has_value()) << "eight hours are over";
}

TEST_F(SessionsTest, OnlyReadUntilAsked) {
  const NewSession admin = Begin("ADMIN");
  EXPECT_FALSE(Find(admin)->editing);
  EXPECT_TRUE(Find(admin)->may_edit);
  EXPECT_EQ(Find(admin)->effective().role, Role::kRead);
  EXPECT_EQ(Find(admin)->caller.role, Role::kAdmin);
  EXPECT_TRUE(sessions_.SetEditing({.cookie = admin.cookie, .page = admin.page}, true));
  EXPECT_EQ(Find(admin)->effective().role, Role::kAdmin);
  EXPECT_TRUE(sessions_.SetEditing({.cookie = admin.cookie, .page = admin.page}, false));
  EXPECT_EQ(Find(admin)->effective().role, Role::kRead);
  EXPECT_FALSE(sessions_.SetEditing({.cookie = admin.cookie, .page = ""}, true));

  const NewSession reader = Begin("READER");
  EXPECT_FALSE(Find(reader)->may_edit);
  EXPECT_FALSE(sessions_.SetEditing({.cookie = reader.cookie, .page = reader.page}, true));

  const NewSession orders = Begin("ORDERS");
  EXPECT_TRUE(Find(orders)->may_edit);
  EXPECT_EQ(Find(orders)->effective().grants->RoleOf("Orders"), Role::kRead);
  EXPECT_EQ(Find(orders)->effective().role, Role::kNone);
  EXPECT_TRUE(sessions_.SetEditing({.cookie = orders.cookie, .page = orders.page}, true));
  EXPECT_EQ(Find(orders)->effective().grants->RoleOf("Orders"), Role::kWrite);
}

TEST_F(SessionsTest, EndWhenTheirKeyChanges) {
  const NewSession admin = Begin("ADMIN");
  const NewSession reader = Begin("READER");
  Use({{.id = "ADMIN", .secret = "another secret of the admin", .role = Role::kAdmin},
       {.id = "READER", .secret = "a secret of the reader", .role = Role::kRead}});
  EXPECT_FALSE(Find(admin).has_value());
  EXPECT_TRUE(Find(reader).has_value());
  Use({{.id = "READER", .secret = "a secret of the reader", .role = Role::kWrite}});
  EXPECT_FALSE(Find(reader).has_value()) << "it would have a role that nobody has signed in for";
}

// A key that was checked before its file changed begins no session afterwards.
TEST_F(SessionsTest, DoNotBeginWithAKeyThatHasChanged) {
  const AccessKey shown = *keys_->Find("ADMIN");
  Use({{.id = "ADMIN", .secret = "another secret of the admin", .role = Role::kAdmin}});
  EXPECT_FALSE(sessions_.Begin(shown).has_value());
  EXPECT_TRUE(sessions_.Begin(*keys_->Find("ADMIN")).has_value());
  Use({{.id = "ADMIN", .secret = "another secret of the admin", .role = Role::kRead}});
  AccessKey as_admin = *keys_->Find("ADMIN");
  as_admin.role = Role::kAdmin;
  EXPECT_FALSE(sessions_.Begin(as_admin).has_value());
  sessions_.SetKeys(nullptr);
  EXPECT_FALSE(sessions_.Begin(shown).has_value());
  EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(SessionsTest, AreBounded) {
  const NewSession oldest = Begin("ADMIN");
  now_ += absl::Seconds(1);
  const NewSession second = Begin("ADMIN");
  now_ += absl::Seconds(1);
  EXPECT_TRUE(Find(oldest).has_value());
  Begin("ADMIN");
  Begin("ADMIN");
  EXPECT_EQ(sessions_.size(), 3u);
  EXPECT_FALSE(Find(second).has_value()) << "it was not used for the longest time";
  EXPECT_TRUE(Find(oldest).has_value());
}

TEST_F(SessionsTest, EndWhenAsked) {
  const NewSession admin = Begin("ADMIN");
  sessions_.End({.cookie = admin.cookie, .page = "x"});
  EXPECT_TRUE(Find(admin).has_value()) << "another page of this machine may have the cookie";
  sessions_.End({.cookie = admin.cookie, .page = admin.page});
  EXPECT_FALSE(Find(admin).has_value());
}

}  // namespace
}  // namespace itemdb::daemon
