// The manual pages of itemd, made from the table of settings.
#pragma once

#include <string>

namespace itemdb::daemon {

// itemd(8): flags, commands, signals, exit status; and itemd.toml(5). roff for man(7).
std::string DaemonManPage();
std::string ConfigFileManPage();

}  // namespace itemdb::daemon
