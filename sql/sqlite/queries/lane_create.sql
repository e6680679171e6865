-- lane_create: every lane of every kind, free.
-- params: lane_count
INSERT INTO pawl_lane (kind, lane, owner, token, draining, high, moves)
WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1),
               work (kind) AS (VALUES (1), (2), (3))
SELECT kind, n, NULL, 0, 0, 0, 0 FROM work, number
