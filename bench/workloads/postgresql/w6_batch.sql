-- 25 new orders in one statement, whose values the server makes
INSERT INTO orders SELECT (nextval('new_order') * 2654435761) & 4294967295, :customers + (random() * (:customers - 1))::int,
  '2024-01-01Z'::timestamptz + (63072000 + random() * 34559999) * interval '1 second',
  CASE WHEN n % 5 = 0 THEN 'OPEN' ELSE 'CLOSED' END, (random() * (:representatives - 1))::int, 123.45, n || ' Main St, SEA',
  CASE WHEN n % 5 = 0 THEN n % 4 END FROM generate_series(1, 25) AS n;
