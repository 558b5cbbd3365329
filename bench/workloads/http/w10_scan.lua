-- W10: Scan of Order in as many segments as there are threads, page by page, again and again. Figures count items.
-- Each thread has one connection. With WORKLOAD_COUNT replies have no items, so that the client costs nothing.
package.path = os.getenv("WORKLOAD_SCRIPTS") .. "/?.lua;" .. package.path
local orders = require("orders")
local count = os.getenv("WORKLOAD_COUNT") and ',"Select":"COUNT"' or ""
local segment, segments, start = nil, tonumber(os.getenv("WORKLOAD_SEGMENTS")), ""
scanned = 0
local all = {}
function setup(thread)
  thread:set("thread_number", #all)
  all[#all + 1] = thread
end
function init()
  orders.begin_thread()
  segment = thread_number
end
function request()
  return orders.request("Scan", '{"TableName":"Order","Segment":' .. segment .. ',"TotalSegments":' .. segments .. count .. start .. "}")
end
function response(status, headers, body)
  scanned = scanned + (tonumber(body:match('"ScannedCount":%s*(%d+)')) or 0)
  local key = body:match('"LastEvaluatedKey":%s*(%b{})')
  start = key and ',"ExclusiveStartKey":' .. key or ""
end
local counted = done
function done(summary, latency)
  local items = 0
  for _, thread in ipairs(all) do items = items + thread:get("scanned") end
  io.write(string.format('ITEMS %d\n', items))
  counted(summary, latency)
end
