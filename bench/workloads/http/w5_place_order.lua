-- W5: an order is placed by TransactWriteItems: its header, which must not exist, three lines, and for each line
-- the stock of a warehouse, which must suffice, and of the product.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
local number
function init() number = orders.begin_thread() end
function request()
  number = number + 1
  local item, id, lines, customer, date = orders.header(number)
  local parts = {
    '{"TransactItems":[{"Put":{"TableName":"Order","ConditionExpression":"attribute_not_exists(PK)","Item":', item, "}}",
  }
  for _, line in ipairs(lines) do
    local product = orders.product_id(line[1])
    parts[#parts + 1] = ',{"Put":{"TableName":"Order","Item":{"PK":{"S":"' .. id .. '"},"SK":{"S":"' .. product ..
      '"},"product_id":{"S":"' .. product .. '"},"quantity":{"N":"' .. line[2] ..
      '"},"price":{"N":"12.34"},"buyer_id":{"S":"' .. customer .. '"},"ordered_on":{"S":"' .. date ..
      '"}}}},{"Update":{"TableName":"Product","Key":{"product_id":{"S":"' .. product .. '"},"warehouse_id":{"S":"' ..
      orders.warehouse_id(line[1], 0) ..
      '"}},"UpdateExpression":"SET inventory_quantity = inventory_quantity - :q",' ..
      '"ConditionExpression":"inventory_quantity >= :q","ExpressionAttributeValues":{":q":{"N":"' .. line[2] ..
      '"}}}},{"Update":{"TableName":"Product","Key":{"product_id":{"S":"' .. product .. '"},"warehouse_id":{"S":"' ..
      product .. '"}},"UpdateExpression":"SET total_inventory = total_inventory - :q",' ..
      '"ExpressionAttributeValues":{":q":{"N":"' .. line[2] .. '"}}}}'
  end
  parts[#parts + 1] = "]}"
  return orders.request("TransactWriteItems", table.concat(parts))
end
