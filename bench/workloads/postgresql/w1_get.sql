\set i random(0, :orders - 1)
\set id (:i * 2654435761) & 4294967295
SELECT * FROM orders WHERE order_id = :id;
