// The audit log: a file that says who did what, from where, when, and with which outcome. It has one JSON
// object a line, never the content of items:
//
//   {"time":"2026-11-24T10:11:12.345678Z","event":"call","key_id":"AKADMIN","peer":"ipv4:10.0.0.7:40312",
//    "operation":"itemdb.v1.Tables/CreateTable","table":"Orders","outcome":"OK","previous":"...","hash":"..."}
//
// `previous` is the hash of the record before. `hash` is the SHA-256, in hex, of the line up to `,"hash"`, so
// a record that is changed, removed or inserted breaks the chain (`itemctl audit verify`). The chain has no
// secret: someone who may write the file can make a new chain from any record on, and only a copy of a later
// hash that was kept elsewhere shows that. The first record of a new file has 64 zeros, or, when the log was
// rotated, the last hash of the file before.
//
// Members that have no value are left out, also `trace_id`, the trace that the caller says its call is a part
// of. Events: "call" and "refused" (a call that was not authorised, with a `reason`); "opened", "reopened"
// and "closed" of the log itself; "lost", the `count` of records that were not written, because the queue was
// full or the disk refused them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/log/log.h"
#include "daemon/process/descriptor.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// What a record says about a call. Texts are cut at kMaxAuditTextBytes.
struct AuditedCall {
  // The access key; empty without one.
  std::string key_id = {};
  // "ipv4:10.0.0.7:40312", "unix:".
  std::string peer = {};
  // "itemdb.v1.Tables/CreateTable", "http/CreateTable".
  std::string operation = {};
  // As in log lines; empty: the request names none.
  std::string table = {};
  // The name of the status code: "OK".
  std::string outcome = {};
  // Why a call was refused; empty for other calls.
  std::string reason = {};
  // The trace that the call is a part of, 32 hexadecimal digits; empty: none.
  std::string trace_id = {};
};

inline constexpr size_t kMaxAuditTextBytes = 256;
// Records that wait for the disk; further records are lost and counted. At most 6 MiB.
inline constexpr size_t kMaxAuditQueue = 4'096;

class AuditLog {
 public:
  // Continues the file `path`, or creates it with mode 0600, and starts the thread that writes it. A last
  // line without its end, which a crash has left, is removed.
  //
  // UNAVAILABLE: the file cannot be opened or read, or another process writes it. INVALID_ARGUMENT: it is not
  // a regular file, or its last line is not a record. Messages name the file.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path, common::Log log);
  // Writes the records that wait, and one that the log was closed.
  ~AuditLog();

  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Adds a record with the current time. Thread-safe; never waits for the disk.
  void Add(AuditedCall call);

  // Opens `path` again after the records that wait are written: for log rotation, which renames the file. The
  // chain goes on. If that fails, the error is logged and the open file is used on. Thread-safe; does not
  // wait.
  void Reopen();

  // Records that were written, and that were lost, since Open().
  int64_t written() const { return written_.load(std::memory_order_relaxed); }
  int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct File {
    Descriptor fd;
    // The hash of its last record; empty: it has none.
    std::string last_hash;
  };
  // A record without time, previous and hash.
  struct Entry {
    int64_t time_us = 0;
    std::string_view event;
    AuditedCall call = {};
    int64_t count = 0;
  };

  AuditLog(std::string path, File file, common::Log log);
  static absl::StatusOr<File> OpenFile(const std::string& path);

  void Run();
  void ReopenNow();
  void Write(const Entry& entry);
  bool WriteLine(const std::string& line);
  void WriteLosses(bool at_once);

  const std::string path_;
  const common::Log log_;

  // Used by the thread only.
  Descriptor fd_;
  std::string last_hash_;
  // Lost records that no record tells of yet, and whether the last write failed.
  int64_t untold_ = 0;
  bool failing_ = false;
  std::chrono::steady_clock::time_point losses_told_;

  std::atomic<int64_t> written_ = 0;
  std::atomic<int64_t> lost_ = 0;

  storage::Mutex mutex_;
  storage::CondVar wake_;
  std::vector<Entry> queue_ ABSL_GUARDED_BY(mutex_);
  // Records that found the queue full since the thread last looked.
  int64_t overflow_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reopen_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb::daemon
