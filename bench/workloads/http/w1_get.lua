-- W1: GetItem of an order header, any of the loaded orders.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
function init() orders.begin_thread() end
function request()
  local id = orders.order_id(math.random(0, orders.count - 1))
  return orders.request("GetItem", '{"TableName":"Order","Key":{"PK":{"S":"' .. id .. '"},"SK":{"S":"' .. id .. '"}}}')
end
