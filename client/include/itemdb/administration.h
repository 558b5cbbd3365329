// Everything that administrators ask for: tables, changes, and the daemon itself. The operations are in
// client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include "itemdb/activity.h"
#include "itemdb/changes.h"
#include "itemdb/daemon_status.h"
#include "itemdb/maintenance.h"
#include "itemdb/table_settings.h"
