-- one ordered range of the partial index gives what five shards and a merge give
\set win 63072000 * 100 / (:orders / 5)
\set s random(0, 63072000 - :win)
SELECT order_id, order_date, customer_id, account_rep_id, total_amount, shard FROM orders WHERE status = 'OPEN' AND order_date BETWEEN '2024-01-01Z'::timestamptz + :s * interval '1 second' AND '2024-01-01Z'::timestamptz + (:s::bigint + :win::bigint) * interval '1 second' ORDER BY order_date;
