-- W7: Query of one of five shards of the open orders, in a window with about 20 of them in each. Figures count
-- requests; five make one answer.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
local window = math.max(3600, math.floor(orders.days * 86400 * 100 / (0.2 * orders.count)))
local number, from, to = 0, nil, nil
function init() orders.begin_thread() end
function request()
  local shard = number % 5
  if shard == 0 then
    local second = math.random(0, orders.days * 86400 - window - 1)
    from, to = orders.timestamp(second), orders.timestamp(second + window)
  end
  number = number + 1
  return orders.request("Query", '{"TableName":"Order","IndexName":"OpenOrdersByDate","KeyConditionExpression":' ..
    '"open_shard = :p AND order_date BETWEEN :a AND :b","ExpressionAttributeValues":{":p":{"S":"OPEN#' .. shard ..
    '"},":a":{"S":"' .. from .. '"},":b":{"S":"' .. to .. '"}}}')
end
