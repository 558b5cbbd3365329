-- with the lines of each order: the content that the GSI answer carries
\set c random(0, :customers - 1)
\set d random(0, 437)
SELECT o.order_id, o.order_date, o.status, o.total_amount, o.shard, (SELECT array_agg(ROW(i.product_id, i.quantity)) FROM order_items i WHERE i.order_id = o.order_id) FROM orders o WHERE o.customer_id = :c AND o.order_date BETWEEN '2024-01-01Z'::timestamptz + :d * interval '1 day' AND '2024-01-01Z'::timestamptz + (:d + 292) * interval '1 day' ORDER BY o.order_date;
