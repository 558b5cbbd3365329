#include "daemon/process/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "daemon/process/descriptor.h"

namespace itemdb::daemon {

void NotifyServiceManager(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address = {};
  if (path == nullptr || std::strlen(path) >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  const size_t path_bytes = std::strlen(path);
  std::memcpy(address.sun_path, path, path_bytes);
  // "@name" is a name in the abstract namespace.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_bytes));
}

}  // namespace itemdb::daemon
