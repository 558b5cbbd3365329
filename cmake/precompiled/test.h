// For tests that need no gRPC.
#pragma once

#include "storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
