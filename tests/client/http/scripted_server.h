// An HTTP server whose answers a test writes down: one connection at a time, kept until an answer closes it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace itemdb {

struct ScriptedAnswer {
  // 0: the connection is closed without an answer, after the request has been read.
  int http_status = 200;
  std::string body = "{}";
  // "name: value\r\n" for each. Default: the right x-amz-crc32.
  std::string headers = "";
  bool with_checksum = true;
  // Closes the connection after the answer without saying so.
  bool closes_after = false;
  // Sends the answer once more after 5 ms, as a proxy may do.
  bool twice = false;
  // Nothing is answered until the client closes the connection.
  bool hangs = false;
};

// The body of an exception.
std::string ExceptionBody(const std::string& name, const std::string& message,
                          const std::string& more_members = "");

class ScriptedServer {
 public:
  // Requests beyond the answers get an InternalServerError.
  explicit ScriptedServer(std::deque<ScriptedAnswer> answers);
  // Waits for the thread; connections must be closed before, or a client has none open.
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  // "http://127.0.0.1:PORT".
  std::string endpoint() const;
  // Heads with bodies, in order.
  std::vector<std::string> requests() const;
  int connections() const { return connections_; }
  // Stops listening and closes the connection: the next connection is refused.
  void Stop();

 private:
  void Serve();
  // False: the connection is to be closed.
  bool AnswerOne(int connection, std::string* received);

  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<ScriptedAnswer> answers_;
  std::vector<std::string> requests_;
  std::atomic<int> connections_ = 0;
  std::atomic<int> open_ = -1;
  std::atomic<bool> stops_ = false;
  std::thread thread_;  // Last, because it uses the other members as soon as it is constructed.
};

}  // namespace itemdb
