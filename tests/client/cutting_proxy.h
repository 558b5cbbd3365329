// A proxy between a client and a daemon. It forwards bytes unchanged and cuts connections at random: before
// or after it forwards a piece of a request, or before it forwards a piece of a reply. It can also let
// connections fall silent, as on a network that loses every packet of them.
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
    // A connection is cut about once in this many pieces of bytes, but never within its first ten, so that
    // every connection makes progress.
    // 0: never.
    int pieces_per_cut = 100;
  };
  // Listens on a port of 127.0.0.1 that the kernel chooses.
  explicit CuttingProxy(const Options& options);
  ~CuttingProxy();

  const std::string& endpoint() const { return endpoint_; }

  // Every connection that exists now stays open and forwards nothing any more; later connections work. From
  // any thread.
  void SilenceConnections() { ++silences_; }

  // The numbers of connections cut so far, for each of the three places.
  int cuts_before_request() const { return cuts_[0]; }
  int cuts_after_request() const { return cuts_[1]; }
  int cuts_of_replies() const { return cuts_[2]; }

 private:
  struct Link;

  void Run();
  // Forwards the bytes that can be read on one side of `link`. False if the link has ended.
  bool PassOn(Link& link, bool from_client);
  bool CutNow(const Link& link);

  const Options options_;
  std::mt19937_64 random_;
  std::atomic<int> cuts_[3] = {};
  std::atomic<int> silences_ = 0;
  int listener_ = -1;
  int stop_pipe_[2] = {-1, -1};
  std::string endpoint_;
  std::thread thread_;  // Last, because it uses the other members as soon as it is constructed.
};

}  // namespace itemdb
