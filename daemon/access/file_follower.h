// Files that take effect while the daemon runs: certificates and access keys.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb {

// Something made of files.
struct Followed {
  // How log lines name it: "certificates", and "tls_cert=/etc/itemdb/itemd.pem".
  std::string what;
  std::string where;
  // Reads the files again and puts what they hold into effect; false when that is in effect already. Called
  // by one thread.
  std::function<absl::StatusOr<bool>()> follow;
};

// A thread that looks every `interval`. What is fit for use takes effect and is logged; what is not is logged
// once, and what was in effect stays.
class FileFollower {
 public:
  FileFollower(std::vector<Followed> followed, absl::Duration interval, std::shared_ptr<spdlog::logger> log);
  ~FileFollower();

  FileFollower(const FileFollower&) = delete;
  FileFollower& operator=(const FileFollower&) = delete;

 private:
  void Run();
  void Look();

  const std::vector<Followed> followed_;
  // Of each, the last complaint, not to repeat it every interval.
  std::vector<std::string> complaints_;
  const absl::Duration interval_;
  const std::shared_ptr<spdlog::logger> log_;
  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Reads with `read`, StatusOr<Content>(), and puts into effect with `publish`, Status(const Content&), what
// differs from `last`, which is in effect.
template <typename Content, typename Read, typename Publish>
std::function<absl::StatusOr<bool>()> FollowWith(Content last, Read read, Publish publish) {
  return [last = std::move(last), read, publish]() mutable -> absl::StatusOr<bool> {
    ITEMDB_ASSIGN_OR_RETURN(Content content, read());
    if (content == last) return false;
    ITEMDB_RETURN_IF_ERROR(publish(content));
    last = std::move(content);
    return true;
  };
}

}  // namespace itemdb
