// The tables of a read view with their sizes.
#pragma once

#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "storage/store/size_statistics.h"

namespace itemdb::storage {

// In byte order of the names. A size that cannot be read is 0.
std::vector<v1::TableStatistics> DescribeTableSizes(const ReadView& view, const CurrentStatistics& current);

}  // namespace itemdb::storage
