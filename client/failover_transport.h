// Calls to the one of several daemons that takes them: a primary and its standbys.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "client/transport.h"

namespace itemdb {

// Sends to one daemon at a time, and from then on to the next one after a call that this daemon could not
// take: it was not reached, the connection was lost, or it answered a write with STANDBY or FENCED. It does
// not repeat calls; whoever repeats one (core.cc, resumed_stream.cc) reaches the next daemon.
class FailoverTransport : public Transport {
 public:
  // `transports` is not empty. `endpoint` names all of them.
  FailoverTransport(std::string endpoint, std::vector<std::unique_ptr<Transport>> transports)
      : endpoint_(std::move(endpoint)), transports_(std::move(transports)) {}

  // STANDBY and FENCED become UNAVAILABLE, with their reasons: nothing was applied, and trying again helps.
  Cancel Send(OutgoingCall call, Done done) override;
  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead,
                                            const std::string& traceparent) override;
  const std::string& endpoint() const override { return endpoint_; }

 private:
  class Stream;

  // Calls that begin from now on go to the daemon after `index`, unless another call has seen to that.
  void Leave(size_t index);

  const std::string endpoint_;
  const std::vector<std::unique_ptr<Transport>> transports_;
  std::atomic<size_t> current_ = 0;
};

}  // namespace itemdb
