// Stands between a client and a daemon, passes bytes on unchanged, and cuts connections at random: before a
// piece of a request is passed on, after it, or when the reply has come and before it is passed back.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

namespace itemdb {

class CuttingProxy {
 public:
  struct Options {
    // Where the daemon listens, "127.0.0.1:PORT".
    std::string daemon_endpoint;
    uint64_t seed = 1;
    // A connection is cut about once in so many pieces of bytes, and never within its first ten, so that
    // every connection gets something done.
    int pieces_per_cut = 100;
  };
  // Listens on a port of 127.0.0.1 that the kernel chose.
  explicit CuttingProxy(const Options& options);
  ~CuttingProxy();

  const std::string& endpoint() const { return endpoint_; }
  // Connections cut so far: before a request piece was passed on, after one was, on a reply piece.
  int cuts_before_request() const { return cuts_[0]; }
  int cuts_after_request() const { return cuts_[1]; }
  int cuts_of_replies() const { return cuts_[2]; }

 private:
  struct Link;

  void Run();
  // Passes on what can be read on one side of `link`. False when the link is at its end.
  bool PassOn(Link& link, bool from_client);
  bool CutNow(const Link& link);

  const Options options_;
  std::mt19937_64 random_;
  std::atomic<int> cuts_[3] = {};
  int listener_ = -1;
  int stop_pipe_[2] = {-1, -1};
  std::string endpoint_;
  std::thread thread_;  // Last: runs as soon as it is made.
};

}  // namespace itemdb
