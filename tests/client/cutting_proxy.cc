#include "tests/client/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace itemdb {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

void SendAtOnce(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool SendAll(int socket, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

}  // namespace

struct CuttingProxy::Link {
  Link(int client, int daemon, int silences) : client(client), daemon(daemon), silences(silences) {}
  ~Link() {
    close(client);
    close(daemon);
  }
  const int client;
  const int daemon;
  int pieces = 0;
  // A connection is silent if it was made before the last silence.
  const int silences;
};

CuttingProxy::CuttingProxy(const Options& options) : options_(options), random_(options.seed) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0 || pipe(stop_pipe_) != 0) {
    std::abort();
  }
  endpoint_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { Run(); });
}

CuttingProxy::~CuttingProxy() {
  close(stop_pipe_[1]);
  thread_.join();
  close(stop_pipe_[0]);
  close(listener_);
}

void CuttingProxy::Run() {
  const int port =
      std::atoi(options_.daemon_endpoint.substr(options_.daemon_endpoint.rfind(':') + 1).c_str());
  std::vector<std::unique_ptr<Link>> links;
  while (true) {
    std::vector<pollfd> polled = {{stop_pipe_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& link : links) {
      polled.push_back({link->client, POLLIN, 0});
      polled.push_back({link->daemon, POLLIN, 0});
    }
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    std::vector<std::unique_ptr<Link>> alive;
    for (size_t i = 0; i < links.size(); ++i) {
      const bool goes_on = (polled[2 + 2 * i].revents == 0 || PassOn(*links[i], /*from_client=*/true)) &&
                           (polled[3 + 2 * i].revents == 0 || PassOn(*links[i], /*from_client=*/false));
      if (goes_on) alive.push_back(std::move(links[i]));
    }
    links.swap(alive);
    if (polled[1].revents != 0) {
      const int client = accept(listener_, nullptr, nullptr);
      const int daemon = socket(AF_INET, SOCK_STREAM, 0);
      auto link = std::make_unique<Link>(client, daemon, silences_);
      const sockaddr_in address = Loopback(port);
      if (client < 0 || connect(daemon, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        continue;
      SendAtOnce(client);
      SendAtOnce(daemon);
      links.push_back(std::move(link));
    }
  }
}

bool CuttingProxy::CutNow(const Link& link) {
  return options_.pieces_per_cut > 0 && link.pieces > 10 &&
         random_() % static_cast<uint64_t>(options_.pieces_per_cut) == 0;
}

bool CuttingProxy::PassOn(Link& link, bool from_client) {
  char bytes[1 << 16];
  const ssize_t count = recv(from_client ? link.client : link.daemon, bytes, sizeof(bytes), 0);
  if (count <= 0) return false;
  if (link.silences != silences_) return true;
  ++link.pieces;
  const bool cut = CutNow(link);
  const bool before = random_() % 2 == 0;
  if (cut && (before || !from_client)) {
    ++cuts_[from_client ? 0 : 2];
    return false;
  }
  if (!SendAll(from_client ? link.daemon : link.client, bytes, static_cast<size_t>(count))) return false;
  if (cut) ++cuts_[1];
  return !cut;
}

}  // namespace itemdb
