// Sessions of the console: who has signed in with an access key, for how long, and whether the session may
// write.
//
// A session has two random tokens, and a request needs both. The browser keeps the cookie's token, which
// scripts cannot read. The page keeps the other one in the storage of its origin and sends it in a header:
// cookies do not tell ports apart, so another server of the same machine may get the cookie, but not this
// token. Only hashes of the tokens are kept here, in memory: sessions end with the process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "daemon/access/access_keys.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {

struct SessionOptions {
  // A session ends this long after the sign-in.
  absl::Duration longest = absl::Hours(8);
  // And this long after the last request that a person has caused.
  absl::Duration idle = absl::Minutes(30);
  // One more ends the session that was not used for the longest time.
  size_t max_sessions = 256;
  // For tests.
  std::function<absl::Time()> now = absl::Now;
};

// What a request shows of its session. Borrows.
struct SessionTokens {
  std::string_view cookie;
  std::string_view page;
};

// Of a session that was begun: 43 characters of base64url each.
struct NewSession {
  std::string cookie;
  std::string page;
};

struct FoundSession {
  // With the role and the grants of the key.
  Caller caller;
  // The same with nothing above the role read.
  Caller reader;
  // Whether the key has more than the role read, for all tables or for some.
  bool may_edit = false;
  // Whether the user has asked for it.
  bool editing = false;
  // When it ends at the latest.
  absl::Time end;

  const Caller& effective() const { return editing ? caller : reader; }
};

// Thread-safe.
class Sessions {
 public:
  explicit Sessions(SessionOptions options = {}) : options_(std::move(options)) {}

  // Ends the sessions whose key is not in `keys` as it was: removed, or with another secret, role or grant.
  void SetKeys(std::shared_ptr<const AccessKeys> keys);

  // Begins a session without editing. `key`: as the user has shown it. nullopt: there is no such key any
  // more, or it has another secret, role or grant by now.
  std::optional<NewSession> Begin(const AccessKey& key);
  // nullopt: there is no such session, or it has ended. `by_person` false: a request that the page sends by
  // itself, which does not make the session last longer.
  std::optional<FoundSession> Find(SessionTokens tokens, bool by_person);
  // False: there is no such session, or its key may not edit.
  bool SetEditing(SessionTokens tokens, bool editing);
  void End(SessionTokens tokens);

  size_t size() const;
  const SessionOptions& options() const { return options_; }

 private:
  struct Session {
    std::string page_hash;
    AccessKey key;
    absl::Time begun;
    absl::Time used;
    bool editing = false;
  };

  // Whether there is this key.
  bool HasKey(const AccessKey& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null: there is none. Removes a session that has ended.
  Session* FindLocked(SessionTokens tokens) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SessionOptions options_;
  mutable storage::Mutex mutex_;
  std::shared_ptr<const AccessKeys> keys_ ABSL_GUARDED_BY(mutex_);
  // By the hash of the cookie's token.
  std::map<std::string, Session, std::less<>> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::daemon
