\set i random(0, :orders - 1)
\set id (:i * 2654435761) & 4294967295
SELECT * FROM orders JOIN order_items USING (order_id) WHERE order_id = :id;
