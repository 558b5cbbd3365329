// The end of a thread that may itself destroy the object that owns it.
#pragma once

#include <thread>

#include "itemdb/export.h"

namespace itemdb {

// Joins `thread`, which was told to return. If it is the caller's own thread, a later EndThread joins it once
// it has returned, or the exit of the process does, which waits for it. So no such thread uses what the exit
// has taken away, for example OpenSSL, or code of this library after it was unloaded. Thread-safe.
ITEMDB_EXPORT void EndThread(std::thread thread);

// The exit joins them before it runs what was registered before this call. For libraries that such threads
// use and that register their own end; call it after their initialisation. Thread-safe.
ITEMDB_EXPORT void EndThreadsBeforeEarlierExitFunctions();

}  // namespace itemdb
