-- header columns only (index-only scan)
\set c random(0, :customers - 1)
\set d random(0, 437)
SELECT order_id, order_date, status, total_amount, shard FROM orders WHERE customer_id = :c AND order_date BETWEEN '2024-01-01Z'::timestamptz + :d * interval '1 day' AND '2024-01-01Z'::timestamptz + (:d + 292) * interval '1 day' ORDER BY order_date;
