// For tests that are gRPC servers or clients.
#pragma once

#include "storage.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"
