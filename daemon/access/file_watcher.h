// A thread that reloads files while the daemon runs: certificates and access keys.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/log/log.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// One file, or several that take effect together.
struct WatchedFiles {
  // For log lines: "certificates", "/etc/itemdb/itemd.pem".
  std::string what;
  std::string path;
  // Reads the files again and puts their content into effect. True: new content is in effect; false: the
  // content has not changed. An error leaves the old content in effect. Called by one thread.
  std::function<absl::StatusOr<bool>()> reload;
};

// Starts a thread that calls every `reload` once per `interval`, and logs each change. An error is logged
// once, not again while it stays the same, unless PollSoon() asked. The destructor stops the thread.
class FileWatcher {
 public:
  FileWatcher(std::vector<WatchedFiles> watched, absl::Duration interval, common::Log log);
  ~FileWatcher();

  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // Makes the thread call every `reload` at once. Thread-safe; does not wait for it.
  void PollSoon();

 private:
  void Run();
  // With `asked`, errors are logged again.
  void PollOnce(bool asked);

  const std::vector<WatchedFiles> watched_;
  // The last error of each member of `watched_`, empty without one: an unchanged error is not logged again.
  std::vector<std::string> last_errors_;
  const absl::Duration interval_;
  const common::Log log_;
  storage::Mutex mutex_;
  // Notified when one of the two flags is set.
  storage::CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Makes a WatchedFiles::reload. `last` is the content that is in effect now, `read` is StatusOr<Content>(),
// and `publish`, a Status(const Content&), is called when the content read differs from the last one
// published.
template <typename Content, typename Read, typename Publish>
std::function<absl::StatusOr<bool>()> MakeReload(Content last, Read read, Publish publish) {
  return [last = std::move(last), read, publish]() mutable -> absl::StatusOr<bool> {
    ITEMDB_ASSIGN_OR_RETURN(Content content, read());
    if (content == last) return false;
    ITEMDB_RETURN_IF_ERROR(publish(content));
    last = std::move(content);
    return true;
  };
}

}  // namespace itemdb::daemon
