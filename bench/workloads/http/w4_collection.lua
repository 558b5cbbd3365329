-- W4: Query of the header and the three lines of an order.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
function init() orders.begin_thread() end
function request()
  return orders.request("Query", '{"TableName":"Order","KeyConditionExpression":"PK = :p","ExpressionAttributeValues":' ..
    '{":p":{"S":"' .. orders.order_id(math.random(0, orders.count - 1)) .. '"}}}')
end
