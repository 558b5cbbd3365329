-- W8: UpdateItem of one counter, with a condition.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
function init() orders.begin_thread() end
function request()
  local product = 0
  return orders.request("UpdateItem", '{"TableName":"Product","Key":{"product_id":{"S":"' ..
    orders.product_id(product) .. '"},"warehouse_id":{"S":"' .. orders.warehouse_id(product, 0) ..
    '"}},"UpdateExpression":"SET inventory_quantity = inventory_quantity + :d",' ..
    '"ConditionExpression":"inventory_quantity >= :m","ExpressionAttributeValues":{":d":{"N":"1"},":m":{"N":"0"}},' ..
    '"ReturnValues":"UPDATED_NEW"}')
end
