// For itemctl.
#pragma once

#include "standard.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
