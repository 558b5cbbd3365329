-- one round trip: a plpgsql function
\set c random(:customers, 2 * :customers - 1)
\set rep :c % :representatives
\set sec 63072000 + random(0, 34559999)
\set open random(1, 5)
\set n random(0, 999)
\set tot random(1000, 99000)
\set p1 random(0, 9999)
\set p2 (:p1 + 1 + random(0, 3332)) % 10000
\set p3 (:p2 + 1 + random(0, 3332)) % 10000
\set a least(:p1, :p2, :p3)
\set z greatest(:p1, :p2, :p3)
\set m :p1 + :p2 + :p3 - :a - :z
\set q random(1, 10)
SELECT place_order(:c::int, :rep::int, '2024-01-01Z'::timestamptz + :sec * interval '1 second', CASE WHEN :open = 1 THEN 'OPEN' ELSE 'CLOSED' END, 'Main St, SEA', ARRAY[:a, :m, :z]::int[], ARRAY[:q, :q, :q]::int[]);
