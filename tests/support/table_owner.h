// One table that one thread creates, fills and deletes until itemd is killed, and the expected state of the
// table. A change that was answered has happened; an unanswered one has happened or not, but never partly.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "itemdb/client.h"
#include "tests/support/kills.h"

namespace itemdb::e2e {

class TableOwner {
 public:
  TableOwner(std::string name, uint64_t seed) : name_(std::move(name)), random_(seed) {}

  // Makes changes until the daemon no longer answers. Set `killed` immediately before the kill.
  void Run(const Client& client, const std::atomic<bool>& killed);

  // Compares the database with the answered changes, with GoogleTest failures for differences, and updates
  // the expected state.
  void Look(const Client& client);

  const std::string& name() const { return name_; }
  bool exists() const { return exists_; }
  int64_t answered() const { return answered_; }
  int64_t unanswered() const { return unanswered_; }

 private:
  // By primary key.
  using VersionByKey = std::map<std::string, int64_t>;
  // What the unanswered call would have changed.
  enum class Doubt { kNone, kTable, kIndex, kItem };

  absl::Status Step(const Client& client);
  absl::Status Create(const Client& client, bool with_index);
  absl::Status Delete(const Client& client);
  absl::Status ToggleIndex(const Client& client);
  absl::Status Put(const Client& client);
  template <typename Effect>
  void Answered(Effect effect) {
    effect();
    doubt_ = Doubt::kNone;
    ++answered_;
  }
  void LookAtIndex(const Client& client, bool is_there);
  void LookAtItems(const Client& client);
  static VersionByKey VersionsIn(ItemRange items);

  const std::string name_;
  Random random_;
  bool exists_ = false;
  bool has_index_ = false;
  VersionByKey items_;
  Doubt doubt_ = Doubt::kNone;
  // The unanswered call may have been executed.
  bool was_sent_ = false;
  std::string last_key_;
  int64_t last_version_ = 0;
  int64_t answered_ = 0;
  int64_t unanswered_ = 0;
};

}  // namespace itemdb::e2e
