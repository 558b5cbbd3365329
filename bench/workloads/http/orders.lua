-- What the workloads share: keys of the order-entry data (data.py writes the same), heads of requests, and the
-- line of figures at the end. The environment sets:
--   WORKLOAD_ORDERS  orders that were loaded
--   WORKLOAD_FIRST   number of the first order that this run may create; no other run creates the same
--   WORKLOAD_SEED    seed of the run
local ffi = require("ffi")
local orders = {}

orders.count = tonumber(os.getenv("WORKLOAD_ORDERS"))
orders.customers = math.max(1, math.floor(orders.count / 50))
orders.representatives = math.max(1, math.floor(orders.customers / 100))
orders.products = 10000
orders.days = 730
local first_second = 1704067200  -- 2024-01-01

local days = {}
for day = 0, orders.days + 400 do days[day] = os.date("!%Y-%m-%d", first_second + day * 86400) end
function orders.day(number) return days[number] end
function orders.timestamp(second) return os.date("!%Y-%m-%dT%H:%M:%SZ", first_second + second) end

-- Orders are not loaded in the order of their keys.
function orders.order_id(number)
  return string.format("ord_%08x", tonumber((ffi.cast("uint64_t", number) * 2654435761ULL) % 4294967296ULL))
end
function orders.customer_id(number) return string.format("cust_%07d", number) end
function orders.representative_id(number) return string.format("rep_%04d", number) end
function orders.product_id(number) return string.format("prod_%06d", number) end
-- Each product is in four warehouses.
function orders.warehouse_id(product, which) return string.format("wh_%02d", (product % 10 + 3 * which) % 10) end

-- The signature is not checked: itemd is started without access keys, and so are the others.
function orders.request(operation, body)
  return "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810." .. operation ..
    "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n" ..
    "Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, " ..
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

-- The header of a new order, its id, its products as {number, quantity}, its customer and its date. New orders
-- belong to customers and days that no loaded order has, so queries of loaded orders find the same after any
-- number of writes.
function orders.header(number)
  local random = math.random
  local customer = random(orders.customers, 2 * orders.customers - 1)
  local first = random(0, orders.products - 1)
  local second = (first + 1 + random(0, 3332)) % orders.products
  local third = (second + 1 + random(0, 3332)) % orders.products
  local lines = { { first, random(1, 10) }, { second, random(1, 10) }, { third, random(1, 10) } }
  local id, open, shard = orders.order_id(number), random(1, 5) == 1, random(0, 4)
  local date = days[random(orders.days, orders.days + 399)] ..
    string.format("T%02d:%02d:%02dZ", random(0, 23), random(0, 59), random(0, 59))
  local items = {}
  for i, line in ipairs(lines) do
    items[i] = '{"M":{"product_id":{"S":"' .. orders.product_id(line[1]) .. '"},"qty":{"N":"' .. line[2] .. '"}}}'
  end
  local item = '{"PK":{"S":"' .. id .. '"},"SK":{"S":"' .. id .. '"},"customer_id":{"S":"' ..
    orders.customer_id(customer) .. '"},"order_date":{"S":"' .. date .. '"},"status":{"S":"' ..
    (open and "OPEN" or "CLOSED") .. '"},"account_rep_id":{"S":"' ..
    orders.representative_id(customer % orders.representatives) .. '"},"total_amount":{"N":"' ..
    string.format("%d.%02d", random(10, 990), random(0, 99)) .. '"},"order_items":{"L":[' .. table.concat(items, ",") ..
    ']},"ship_to":{"S":"' .. string.format("%03d", random(0, 999)) .. ' Main St, SEA"}' ..
    (open and ',"shard":{"N":"' .. shard .. '"},"open_shard":{"S":"OPEN#' .. shard .. '"}' or "") .. "}"
  return item, id, lines, orders.customer_id(customer), date
end

-- wrk calls setup() once for each thread, and init() in each thread.
local threads = 0
function setup(thread)
  thread:set("thread_number", threads)
  threads = threads + 1
end
-- Seeds the thread, and returns the number before the first order that it may create.
function orders.begin_thread()
  math.randomseed(tonumber(os.getenv("WORKLOAD_SEED")) * 1009 + thread_number)
  for _ = 1, 8 do math.random() end
  return tonumber(os.getenv("WORKLOAD_FIRST")) + thread_number * 1000000
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('FIGURES {"requests":%d,"seconds":%.3f,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, e.connect + e.read + e.write + e.status + e.timeout))
end
return orders
