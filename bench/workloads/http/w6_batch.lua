-- W6: BatchWriteItem of 25 new order headers. Figures count requests.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
local number
function init() number = orders.begin_thread() end
function request()
  local parts = {}
  for i = 1, 25 do
    number = number + 1
    parts[i] = '{"PutRequest":{"Item":' .. (orders.header(number)) .. "}}"
  end
  return orders.request("BatchWriteItem", '{"RequestItems":{"Order":[' .. table.concat(parts, ",") .. "]}}")
end
