\set c random(:customers, 2 * :customers - 1)
\set rep :c % :representatives
\set sec 63072000 + random(0, 34559999)
\set open random(1, 5)
\set n random(0, 999)
\set tot random(1000, 99000)
INSERT INTO orders VALUES ((nextval('new_order') * 2654435761) & 4294967295, :c, '2024-01-01Z'::timestamptz + :sec * interval '1 second', CASE WHEN :open = 1 THEN 'OPEN' ELSE 'CLOSED' END, :rep, :tot / 100.0, :n || ' Main St, SEA', CASE WHEN :open = 1 THEN :n % 5 END) ON CONFLICT (order_id) DO UPDATE SET customer_id = excluded.customer_id, order_date = excluded.order_date, status = excluded.status, account_rep_id = excluded.account_rep_id, total_amount = excluded.total_amount, ship_to = excluded.ship_to, shard = excluded.shard;
