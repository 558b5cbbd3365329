-- W3: Query of the orders of a customer in 292 of 730 days, through an index: about 20 items.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
function init() orders.begin_thread() end
function request()
  local day = math.random(0, orders.days - 293)
  return orders.request("Query", '{"TableName":"Order","IndexName":"OrderByCustomerDate","KeyConditionExpression":' ..
    '"customer_id = :c AND order_date BETWEEN :a AND :b","ExpressionAttributeValues":{":c":{"S":"' ..
    orders.customer_id(math.random(0, orders.customers - 1)) .. '"},":a":{"S":"' .. orders.day(day) ..
    '"},":b":{"S":"' .. orders.day(day + 292) .. '"}}}')
end
