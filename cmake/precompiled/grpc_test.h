// For tests that serve gRPC or call it.
#pragma once

#include "grpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
