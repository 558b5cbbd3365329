// Messages with reflection for lite messages.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/message.h>

namespace itemdb {

// An empty message of the type, such as "itemdb.v1.GetItemRequest"; null if there is no such type.
//
// Of the descriptors of the program or, in the installed library, of its own: descriptors of the same names
// in the program would clash with registered ones.
std::unique_ptr<google::protobuf::Message> NewMessage(const std::string& type_name);

}  // namespace itemdb
