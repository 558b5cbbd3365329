-- W2: PutItem of a new order header, which enters two indexes, and a third one if the order is open.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
local number
function init() number = orders.begin_thread() end
function request()
  number = number + 1
  return orders.request("PutItem", '{"TableName":"Order","Item":' .. (orders.header(number)) .. "}")
end
